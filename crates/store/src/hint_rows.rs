//! Rows of hints whose cells have the right types, but contradict each other or are out of range: such a hint is not
//! shown, or comes back after it was deleted. `doctor` counts these rows, and a repair derives the cells again.

use model::hint::{HintMeta, HintName};
use rusqlite::{Connection, Row, params};
use serde::de::IgnoredAny;

use crate::cells::{Cells as _, Watched};

/// The kind of the event that follows a repair of rows of hints: a copy in memory is outdated then.
pub const REPAIRED: &str = "hint/repaired";

const ROWS: &str = "SELECT id, component, key, scope, meta, ttl, expires_at, version, updated_at, use_count, value \
     FROM hint_variants NOT INDEXED";

/// A row of a hint with the columns that are wrong.
pub(crate) struct DamagedHintRow {
    pub(crate) id: i64,
    pub(crate) columns: Vec<String>,
    name: HintName,
    /// `None` if the meta cannot be read: then the hint is lost.
    meta: Option<HintMeta>,
    updated_at: i64,
}

impl DamagedHintRow {
    /// Reads a row; `None` if it is sound, or if a cell has the wrong type, which every table is checked for.
    fn read(row: &Row<'_>) -> rusqlite::Result<Option<DamagedHintRow>> {
        let row = Watched::new(row);
        let name = HintName { component: row.cell(1)?, key: row.cell(2)? };
        let (scope, text, ttl) = (row.text(3)?, row.text(4)?, row.text(5)?);
        let expires_at: Option<i64> = row.cell(6)?;
        let (version, updated_at, use_count): (i64, i64, i64) =
            (row.cell(7)?, row.cell(8)?, row.cell(9)?);
        let is_json = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
        let (scope_reads, meta_reads) = (is_json(&scope), is_json(&text));
        if !(scope_reads && meta_reads && is_json(&row.text(10)?)) || row.is_damaged() {
            return Ok(None);
        }
        let meta: Option<HintMeta> = serde_json::from_str(&text).ok();
        let wrong = match &meta {
            None => vec![("meta", true)],
            Some(meta) => vec![
                ("scope", scope != meta.variant()),
                ("ttl", ttl != meta.lifetime().as_str()),
                ("expires_at", expires_at != meta.lifetime().ends_at(updated_at)),
            ],
        };
        let ranges = [("version", version < 1), ("use_count", use_count < 0)];
        let columns: Vec<String> = (wrong.into_iter().chain(ranges))
            .filter(|(_, is_wrong)| *is_wrong)
            .map(|(column, _)| column.to_owned())
            .collect();
        let id = row.cell(0)?;
        let damaged = DamagedHintRow { id, columns, name, meta, updated_at };
        Ok((!damaged.columns.is_empty()).then_some(damaged))
    }
}

/// All rows of hints with cells that contradict each other or are out of range.
pub(crate) fn find(db: &Connection) -> rusqlite::Result<Vec<DamagedHintRow>> {
    let mut select = db.prepare(ROWS)?;
    select.query_map([], DamagedHintRow::read)?.filter_map(Result::transpose).collect()
}

/// Derives the cells of a row from its meta again. Deletes a hint whose meta cannot be read, and one whose scope
/// another row of the key has already. Returns the name of a deleted hint.
pub(crate) fn mend(db: &Connection, row: &DamagedHintRow) -> rusqlite::Result<Option<HintName>> {
    const DERIVE: &str = "UPDATE OR IGNORE hint_variants SET scope = ?2, ttl = ?3, expires_at = ?4, \
         version = max(version, 1), use_count = max(use_count, 0) WHERE id = ?1";
    const REMOVE: &str = "DELETE FROM hint_variants WHERE id = ?1";
    let derived = match &row.meta {
        Some(meta) => {
            let (scope, lifetime) = (meta.variant(), meta.lifetime());
            let end = lifetime.ends_at(row.updated_at);
            db.execute(DERIVE, params![row.id, scope, lifetime.as_str(), end])?
        }
        None => 0,
    };
    if derived > 0 {
        return Ok(None);
    }
    db.execute(REMOVE, [row.id])?;
    Ok(Some(row.name.clone()))
}
