//! Calls that were answered: a repeat of a write gets the stored answer.

use model::{CallId, OpError, limits};
use rusqlite::{OptionalExtension, params};

use crate::tx::{Rx, Tx};

pub(crate) const ANSWER: &str = "SELECT answer FROM calls WHERE id = ?1";
/// Rows are in order of time, so the first young one ends the search.
const FORGET: &str = "DELETE FROM calls WHERE seq < coalesce(\
     (SELECT seq FROM calls WHERE at >= ?1 ORDER BY seq LIMIT 1), \
     (SELECT max(seq) + 1 FROM calls))";

/// The stored answer of this call.
pub(crate) fn answer(rx: &Rx<'_>, call: CallId) -> Result<Option<String>, OpError> {
    rx.sql(|db| db.prepare_cached(ANSWER)?.query_row([call.0], |row| row.get(0)).optional())
}

/// Keeps the answer of a call.
pub(crate) fn remember(tx: &Tx<'_>, call: CallId, at: i64, answer: &str) -> Result<(), OpError> {
    tx.sql(|db| {
        db.prepare_cached("INSERT INTO calls (id, at, answer) VALUES (?1, ?2, ?3)")?
            .execute(params![call.0, at, answer])
    })?;
    Ok(())
}

/// Removes answers that no repeat will ask for any more.
pub(crate) fn forget_old(tx: &Tx<'_>, now: i64) -> Result<(), OpError> {
    let memory = i64::try_from(limits::CALL_MEMORY.as_millis()).unwrap_or(i64::MAX);
    tx.sql(|db| db.prepare_cached(FORGET)?.execute([now.saturating_sub(memory)]))?;
    Ok(())
}
