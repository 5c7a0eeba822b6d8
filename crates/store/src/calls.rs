//! Calls that were answered: a repeat of a write gets the stored answer.

use model::{CallId, Code, OpError, limits};
use rusqlite::{OptionalExtension, params};
use serde_json::Value;

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

/// Removes the value of a deleted hint from the stored answers. The answers themselves stay: a retry of the call
/// that set the hint must not set it again.
pub(crate) fn forget_hint(tx: &Tx<'_>, value: &Value) -> Result<(), OpError> {
    const HOLDING: &str = "SELECT seq, answer FROM answers WHERE instr(answer, ?1) > 0";
    const REPLACE: &str = "UPDATE answers SET answer = ?2 WHERE seq = ?1";
    let holding: Vec<(i64, String)> = tx.sql(|db| {
        let mut select = db.prepare_cached(HOLDING)?;
        select.query_map([value.to_string()], |row| Ok((row.cell(0)?, row.cell(1)?)))?.collect()
    })?;
    for (seq, answer) in holding {
        let Ok(mut answer) = serde_json::from_str(&answer) else { continue };
        if take_hint_out(&mut answer, value) {
            let given = params![seq, answer.to_string()];
            tx.sql_on_row(|db| db.prepare_cached(REPLACE)?.execute(given))?;
        }
    }
    Ok(())
}

/// Clears value and reason of the hints with this value in an answer. Returns whether there were any.
fn take_hint_out(answer: &mut Value, value: &Value) -> bool {
    let mut found = false;
    match answer {
        Value::Object(members) => {
            if members.contains_key("meta") && members.get("value") == Some(value) {
                members.insert("value".into(), Value::Null);
                if let Some(meta) = members.get_mut("meta").and_then(Value::as_object_mut) {
                    meta.remove("reason");
                }
                found = true;
            }
            for member in members.values_mut() {
                found |= take_hint_out(member, value);
            }
        }
        Value::Array(items) => {
            for item in items {
                found |= take_hint_out(item, value);
            }
        }
        _ => {}
    }
    found
}

/// Removes the answers that hold this text, which is to be forgotten; `whole` if it counts only as a
/// string of its own, because it is so short that it may stand anywhere.
pub(crate) fn forget_with(tx: &Tx<'_>, text: &str, whole: bool) -> Result<(), OpError> {
    const FORGET: &str = "DELETE FROM answers WHERE instr(answer, ?1) > 0";
    let quoted = Value::from(text).to_string();
    let inner = quoted.get(1..quoted.len() - 1).unwrap_or_default();
    let wanted = if whole { &quoted } else { inner };
    tx.sql(|db| db.prepare_cached(FORGET)?.execute([wanted]).map(drop))
}
