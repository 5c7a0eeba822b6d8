//! Hook events in the store: the same event is recorded once.

use model::event::HookRecord;
use model::{CallId, OpError};
use rusqlite::{OptionalExtension, Row, params};

use crate::tx::{Rx, Tx};

const RECORD: &str = "INSERT INTO hook_events (id, name, session, tool_use_id, at) \
     VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
pub(crate) const LAST: &str = "SELECT id, name, session, tool_use_id, at FROM hook_events \
     ORDER BY at DESC, id DESC LIMIT 1";

const SINCE: &str = "SELECT id, name, session, tool_use_id, at FROM hook_events \
     WHERE at >= ?1 ORDER BY at, seq";

/// Records the event unless it is there, by its id or by its session, name and tool call; says
/// whether it is new.
pub fn record(tx: &Tx<'_>, event: &HookRecord) -> Result<bool, OpError> {
    let rows = tx.sql(|db| {
        db.prepare_cached(RECORD)?.execute(params![
            event.id.0,
            event.name,
            event.session,
            event.tool_use_id,
            event.at
        ])
    })?;
    Ok(rows == 1)
}

/// The event that happened last.
pub fn last(rx: &Rx<'_>) -> Result<Option<HookRecord>, OpError> {
    rx.sql(|db| db.prepare_cached(LAST)?.query_row([], read).optional())
}

/// The events since this time, in the order they happened.
pub fn since(rx: &Rx<'_>, at: i64) -> Result<Vec<HookRecord>, OpError> {
    rx.sql(|db| db.prepare_cached(SINCE)?.query_map([at], read)?.collect())
}

pub fn count(rx: &Rx<'_>) -> Result<u64, OpError> {
    rx.sql(|db| db.query_row("SELECT count(*) FROM hook_events", [], |row| row.get(0)))
}

fn read(row: &Row<'_>) -> rusqlite::Result<HookRecord> {
    Ok(HookRecord {
        id: CallId(row.get(0)?),
        name: row.get(1)?,
        session: row.get(2)?,
        tool_use_id: row.get(3)?,
        at: row.get(4)?,
    })
}
