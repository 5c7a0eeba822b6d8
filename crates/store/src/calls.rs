//! Calls that were answered: a repeat of a write gets the stored answer.

use model::{CallId, Code, OpError, limits};
use rusqlite::{OptionalExtension, params};

use crate::cells::Cells as _;
use crate::tx::{Rx, Tx};

pub(crate) const ANSWER: &str = "SELECT fingerprint, answer FROM answers WHERE id = ?1";
/// Rows are in order of time, so the first young one ends the search.
const FORGET: &str = "DELETE FROM answers WHERE seq < coalesce(\
     (SELECT seq FROM answers WHERE at >= ?1 ORDER BY seq LIMIT 1), \
     (SELECT max(seq) + 1 FROM answers))";

/// The stored answer of this call; `conflict` if its id was used for another one.
pub(crate) fn answer(
    rx: &Rx<'_>,
    call: CallId,
    fingerprint: i64,
) -> Result<Option<String>, OpError> {
    let stored: Option<(i64, String)> = rx.sql(|db| {
        let mut statement = db.prepare_cached(ANSWER)?;
        statement.query_row([call.0], |row| Ok((row.cell(0)?, row.cell(1)?))).optional()
    })?;
    match stored {
        Some((of, _)) if of != fingerprint => {
            Err(OpError::new(Code::Conflict, "this call id was used for another call")
                .hint("Give each call an id of its own; repeat one only with the same call."))
        }
        stored => Ok(stored.map(|(_, answer)| answer)),
    }
}

/// Keeps the answer of a call.
pub(crate) fn remember(
    tx: &Tx<'_>,
    (call, fingerprint): (CallId, i64),
    at: i64,
    answer: &str,
) -> Result<(), OpError> {
    tx.sql(|db| {
        db.prepare_cached(
            "INSERT INTO answers (id, fingerprint, at, answer) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![call.0, fingerprint, at, answer])
    })?;
    Ok(())
}

/// Removes answers that no repeat will ask for any more.
pub(crate) fn forget_old(tx: &Tx<'_>, now: i64) -> Result<(), OpError> {
    let memory = i64::try_from(limits::CALL_MEMORY.as_millis()).unwrap_or(i64::MAX);
    tx.sql(|db| db.prepare_cached(FORGET)?.execute([now.saturating_sub(memory)]))?;
    Ok(())
}

/// Removes the answers that hold this text, which is to be forgotten; `whole` if it counts only as a
/// string of its own, because it is so short that it may stand anywhere.
pub(crate) fn forget_with(tx: &Tx<'_>, text: &str, whole: bool) -> Result<(), OpError> {
    const FORGET: &str = "DELETE FROM answers WHERE instr(answer, ?1) > 0";
    let quoted = serde_json::Value::from(text).to_string();
    let inner = quoted.get(1..quoted.len() - 1).unwrap_or_default();
    let wanted = if whole { &quoted } else { inner };
    tx.sql(|db| db.prepare_cached(FORGET)?.execute([wanted]).map(drop))
}
