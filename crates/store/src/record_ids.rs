//! The one sequence of ids that all records share: sessions, prompts, observations, memories, ghaps, values and those
//! of plugins. Clusters of experiences get their numbers from it, too.

use model::{OpError, limits};
use rusqlite::Connection;

use crate::aggregate::{Aggregate, Registry};
use crate::cells::Cells as _;
use crate::tx::{Rx, Tx};

/// The row of the registry.
pub(crate) struct RecordIds;

impl Aggregate for RecordIds {
    fn name(&self) -> &'static str {
        "record_ids"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/record_ids.sql")
    }

    fn before_commit(&self, tx: &Tx<'_>) -> Result<(), OpError> {
        keep(tx)
    }
}

/// The query for the last id in use. If the counter is lost or damaged, ids continue after the highest one of a record.
/// Records with an id above the limit are damaged and ignored: the ids of new records would be out of range, too.
fn last_id(registry: &Registry) -> &str {
    registry.last_id.get_or_init(|| {
        let highest: String = registry
            .records()
            .map(|kind| {
                format!(", (SELECT coalesce(max(id), 0) FROM {} WHERE id <= ?1)", kind.name())
            })
            .collect();
        format!(
            "SELECT max(coalesce((SELECT last FROM record_ids WHERE typeof(last) = 'integer' \
             AND last <= ?2), 0){highest})"
        )
    })
}

const KEEP: &str = "INSERT INTO record_ids (only, last) VALUES (1, ?1) \
     ON CONFLICT (only) DO UPDATE SET last = excluded.last";

/// An id that was never given out before.
pub(crate) fn next(tx: &Tx<'_>) -> Result<i64, OpError> {
    let new = last(tx)? + 1;
    tx.last_id().set(Some(new));
    Ok(new)
}

/// Lets the ids of a restored database go on after the last one of the database before it: clients pass the last id that
/// they saw.
pub(crate) fn go_on_after(tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
    tx.last_id().set(Some(last(tx)?.max(id)));
    Ok(())
}

fn last(tx: &Tx<'_>) -> Result<i64, OpError> {
    tx.last_id().get().map_or_else(|| stored_last(tx), Ok)
}

/// The last id that the database has given out.
pub(crate) fn stored_last(rx: &Rx<'_>) -> Result<i64, OpError> {
    let given = [limits::RECORD_ID_MAX, limits::RECORD_COUNTER_MAX];
    rx.sql(|db| db.prepare_cached(last_id(rx.registry()))?.query_row(given, |row| row.cell(0)))
}

/// The highest id that a sound record can have.
pub(crate) fn highest_sound(db: &Connection) -> rusqlite::Result<i64> {
    const HIGHEST: &str = "SELECT max(?1, coalesce((SELECT last FROM record_ids \
         WHERE typeof(last) = 'integer' AND last <= ?2), 0))";
    let given = [limits::RECORD_ID_MAX, limits::RECORD_COUNTER_MAX];
    db.prepare_cached(HIGHEST)?.query_row(given, |row| row.cell(0))
}

/// Whether the counter is a number that is out of range.
pub(crate) fn is_damaged(db: &Connection) -> rusqlite::Result<bool> {
    const DAMAGED: &str = "SELECT EXISTS (SELECT 1 FROM record_ids \
         WHERE typeof(last) = 'integer' AND last NOT BETWEEN 0 AND ?1)";
    db.prepare_cached(DAMAGED)?.query_row([limits::RECORD_COUNTER_MAX], |row| row.cell(0))
}

/// Sets a damaged counter back to the highest id of a sound record. Returns whether it was damaged.
pub(crate) fn repair(tx: &Tx<'_>) -> Result<bool, OpError> {
    let damaged = tx.sql(is_damaged)?;
    if damaged {
        tx.last_id().set(Some(last(tx)?));
    }
    Ok(damaged)
}

/// Stores the last id at the end of a group.
fn keep(tx: &Tx<'_>) -> Result<(), OpError> {
    match tx.last_id().get() {
        Some(last) => tx.sql(|db| db.prepare_cached(KEEP)?.execute([last]).map(drop)),
        None => Ok(()),
    }
}
