//! Reads the stored texts again and replaces them, to redact them when there are new rules: records, and the columns of
//! other rows that their aggregates name.
//!
//! Projects are read with [`crate::project_texts`], summaries with [`crate::sessions::summaries_after`]: their texts
//! depend on each other. The old text leaves the file with [`crate::passages::optimize`] and [`crate::Store::compact`].

use model::OpError;
use rusqlite::params;
use text::secrets::Redacted;

use crate::aggregate::GuardedColumn;
use crate::cells::Cells as _;
use crate::tx::{Rx, Tx};
use crate::{calls, passages, session_events};

pub use crate::texts::{Replacement, Texts};

/// The texts of the next records of all kinds after this id, in order of their ids.
pub fn after(rx: &Rx<'_>, id: i64, limit: usize) -> Result<Vec<Texts>, OpError> {
    let mut found = Vec::new();
    for records in rx.registry().records() {
        found.extend(records.texts_after(rx, id, limit)?);
    }
    found.sort_by_key(|texts| texts.id);
    found.truncate(limit);
    Ok(found)
}

/// The id that is `count` below the newest one: at most `count` records have a higher id.
pub fn before_newest(rx: &Rx<'_>, count: usize) -> Result<i64, OpError> {
    let mut newest = 0;
    for records in rx.registry().records().filter(|records| records.in_session()) {
        let max = format!("SELECT coalesce(max(id), 0) FROM {}", records.name());
        newest = newest.max(rx.sql(|db| db.query_row(&max, [], |row| row.cell(0)))?);
    }
    Ok(newest - i64::try_from(count).unwrap_or(i64::MAX))
}

/// Replaces the texts of a record. Returns false if the record no longer exists or is too damaged to change.
pub fn replace(tx: &Tx<'_>, id: i64, new: &Replacement) -> Result<bool, OpError> {
    passages::ensure_posted(tx, &[id])?;
    for records in tx.registry().records() {
        if let Some(replaced) = records.replace_texts(tx, id, new)? {
            return Ok(replaced);
        }
    }
    Ok(false)
}

/// All columns with texts of rows that are no records.
pub fn columns(rx: &Rx<'_>) -> Vec<&'static GuardedColumn> {
    rx.registry().iter().flat_map(|aggregate| aggregate.guarded_columns()).collect()
}

/// The next texts of a column after this id, in order of their ids.
pub fn column_texts_after(
    rx: &Rx<'_>,
    GuardedColumn { table, column, .. }: &GuardedColumn,
    id: i64,
    limit: usize,
) -> Result<Vec<(i64, String)>, OpError> {
    let after = format!(
        "SELECT id, {column} FROM {table} WHERE id > ?1 AND {column} IS NOT NULL \
         ORDER BY id LIMIT ?2"
    );
    rx.sql(|db| {
        let mut select = db.prepare_cached(&after)?;
        select.query_map(params![id, limit], |row| Ok((row.cell(0)?, row.cell(1)?)))?.collect()
    })
}

/// The old and the new text of a cell.
pub type ReplacedText = (String, Redacted<String>);

/// Replaces texts of a column by the ids of their rows, deletes the stored answers with the old ones, and publishes the
/// changes of contexts and sessions.
pub fn replace_column_texts(
    tx: &Tx<'_>,
    GuardedColumn { table, column, .. }: &GuardedColumn,
    changes: &[(i64, ReplacedText)],
) -> Result<(), OpError> {
    let set = format!("UPDATE {table} SET {column} = ?2 WHERE id = ?1");
    tx.forget_cached();
    session_events::rewriting(tx, || {
        changes.iter().try_for_each(|(id, (old, new))| {
            calls::forget_with(tx, old, false)?;
            let given = params![id, new.as_str()];
            tx.sql_on_row(|db| db.prepare_cached(&set)?.execute(given)).map(drop)
        })
    })
}
