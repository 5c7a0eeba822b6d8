//! Notices: texts about repairs and other events of the database file, stored so that later processes can show them, too.

use model::{OpError, limits, time};
use rusqlite::{Connection, params};

use crate::aggregate::Aggregate;
use crate::cells::Cells as _;
use crate::table_info::TextColumns;
use crate::tx::Rx;

/// The row of the registry.
pub(crate) struct Notices;

impl Aggregate for Notices {
    fn name(&self) -> &'static str {
        "notices"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/notices.sql")
    }

    fn notes(&self) -> &'static [TextColumns] {
        const NOTES: &[TextColumns] = &[TextColumns {
            from: "notices",
            id: "seq",
            plain: &["text"],
            json: &[],
            indexed: &[],
            unindexed: &[],
        }];
        NOTES
    }
}

/// Keeps a notice; it begins with its time.
pub(crate) fn add(db: &Connection, at: i64, text: &str) -> rusqlite::Result<()> {
    let text = format!("{}: {text}", time::rfc3339(at));
    carry(db, &[(at, text)])
}

/// All notices with their times, oldest first.
pub(crate) fn all(db: &Connection) -> rusqlite::Result<Vec<(i64, String)>> {
    db.prepare("SELECT at, text FROM notices ORDER BY seq")?
        .query_map([], |row| Ok((row.cell(0)?, row.cell(1)?)))?
        .collect()
}

/// Stores those notices of another database that are missing here, and deletes the oldest beyond the limit.
pub(crate) fn carry(db: &Connection, notices: &[(i64, String)]) -> rusqlite::Result<()> {
    if notices.is_empty() {
        return Ok(());
    }
    for (at, text) in notices {
        db.execute(
            "INSERT INTO notices (at, text) SELECT ?1, ?2 \
             WHERE NOT EXISTS (SELECT 1 FROM notices WHERE at = ?1 AND text = ?2)",
            params![at, text],
        )?;
    }
    db.execute(
        "DELETE FROM notices WHERE seq <= (SELECT max(seq) FROM notices) - ?1",
        [limits::NOTICES_KEPT],
    )?;
    Ok(())
}

/// Notices of the last month, oldest first.
pub(crate) fn recent(rx: &Rx<'_>, now: i64) -> Result<Vec<String>, OpError> {
    rx.sql(|db| {
        db.prepare_cached("SELECT text FROM notices WHERE at >= ?1 ORDER BY seq")?
            .query_map([now.saturating_sub(limits::NOTICES_SHOWN_MS)], |row| row.cell(0))?
            .collect()
    })
}
