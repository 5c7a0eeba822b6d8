//! Calls that were answered: a repeat of a write gets the stored answer.

use model::hint::HintName;
use model::{CallId, Code, OpError, limits};
use rusqlite::{OptionalExtension, Params, params};
use serde_json::Value;

use crate::aggregate::Aggregate;
use crate::cells::Cells as _;
use crate::deferred::Deferred;
use crate::table_info::TextColumns;
use crate::tx::{Rx, Tx};

/// The row of the registry.
pub(crate) struct Calls;

impl Aggregate for Calls {
    fn name(&self) -> &'static str {
        "answers"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/calls.sql")
    }

    fn notes(&self) -> &'static [TextColumns] {
        const NOTES: &[TextColumns] = &[
            TextColumns {
                from: "answers",
                id: "seq",
                plain: &["answer"],
                json: &["answer"],
                indexed: &[],
                unindexed: &[],
            },
            TextColumns {
                from: "quoted_hints",
                id: "answer",
                plain: &["component", "key"],
                json: &[],
                indexed: &[],
                unindexed: &[],
            },
        ];
        NOTES
    }

    fn prune(&self, tx: &Tx<'_>, now: i64) -> Result<(), OpError> {
        forget_old(tx, now)
    }
}

/// Hints that a write stores, which its answer may quote.
#[derive(Default)]
struct QuotedHints(Vec<HintName>);

impl Deferred for QuotedHints {
    fn add(&mut self, later: QuotedHints) {
        self.0.extend(later.0);
    }
}

/// Notes that the answer of this write may quote a hint.
pub(crate) fn quote_hint(tx: &Tx<'_>, name: &HintName) {
    tx.defer(|quoted: &mut QuotedHints| quoted.0.push(name.clone()));
}

pub(crate) const ANSWER: &str = "SELECT fingerprint, answer FROM answers WHERE id = ?1";
/// Rows are in order of time, so the search ends at the first row within the age limit.
const FORGET: &str = "DELETE FROM answers WHERE seq < coalesce(\
     (SELECT seq FROM answers WHERE at >= ?1 ORDER BY seq LIMIT 1), \
     (SELECT max(seq) + 1 FROM answers))";

/// The stored answer of this call; the error `conflict` if another call had its id.
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
    const ADD: &str = "INSERT INTO answers (id, fingerprint, at, answer) VALUES (?1, ?2, ?3, ?4)";
    const QUOTE: &str =
        "INSERT OR IGNORE INTO quoted_hints (answer, component, key) VALUES (?1, ?2, ?3)";
    let QuotedHints(quoted) = tx.take_deferred();
    tx.sql(|db| {
        let seq = db.prepare_cached(ADD)?.insert(params![call.0, fingerprint, at, answer])?;
        for HintName { component, key } in &quoted {
            // An answer without a `value`, such as the counts of an import, cannot quote a hint.
            if answer.contains("\"value\"") {
                db.prepare_cached(QUOTE)?.execute(params![seq, component, key])?;
            }
        }
        Ok(())
    })
}

/// Removes answers that are too old to be needed for a retry.
fn forget_old(tx: &Tx<'_>, now: i64) -> Result<(), OpError> {
    const UNQUOTE: &str = "DELETE FROM quoted_hints WHERE answer < \
         coalesce((SELECT min(seq) FROM answers), 9223372036854775807)";
    let memory = i64::try_from(limits::CALL_MEMORY.as_millis()).unwrap_or(i64::MAX);
    tx.sql(|db| {
        db.prepare_cached(FORGET)?.execute([now.saturating_sub(memory)])?;
        db.prepare_cached(UNQUOTE)?.execute([]).map(drop)
    })
}

/// Removes the value of a deleted hint from the stored answers, whichever call they answer. The answers themselves
/// stay: a retry of the call that set the hint must not set it again.
pub(crate) fn forget_value(tx: &Tx<'_>, value: &Value) -> Result<(), OpError> {
    const HOLDING: &str = "SELECT seq, answer FROM answers WHERE instr(answer, ?1) > 0";
    let holding = holding(tx, HOLDING, [value.to_string()])?;
    blank(tx, holding, |held| held == value)
}

/// Removes every value that a hint of this name ever had from the stored answers of the calls that changed it.
pub(crate) fn forget_hint(tx: &Tx<'_>, name: &HintName) -> Result<(), OpError> {
    const HOLDING: &str = "SELECT seq, answer FROM answers WHERE seq IN \
         (SELECT answer FROM quoted_hints WHERE component = ?1 AND key = ?2)";
    const FORGET: &str = "DELETE FROM quoted_hints WHERE component = ?1 AND key = ?2";
    let given = [&name.component, &name.key];
    let holding = holding(tx, HOLDING, given)?;
    blank(tx, holding, |_| true)?;
    tx.sql(|db| db.prepare_cached(FORGET)?.execute(given).map(drop))
}

/// The sequence number and the text of each answer that a query selects.
fn holding(tx: &Tx<'_>, select: &str, given: impl Params) -> Result<Vec<(i64, String)>, OpError> {
    tx.sql(|db| {
        let mut select = db.prepare_cached(select)?;
        select.query_map(given, |row| Ok((row.cell(0)?, row.cell(1)?)))?.collect()
    })
}

/// Clears the hints whose values `is_gone` matches in stored answers.
fn blank(
    tx: &Tx<'_>,
    answers: Vec<(i64, String)>,
    is_gone: impl Fn(&Value) -> bool,
) -> Result<(), OpError> {
    const REPLACE: &str = "UPDATE answers SET answer = ?2 WHERE seq = ?1";
    for (seq, answer) in answers {
        let Ok(mut answer) = serde_json::from_str(&answer) else { continue };
        if take_hints_out(&mut answer, &is_gone) {
            let given = params![seq, answer.to_string()];
            tx.sql_on_row(|db| db.prepare_cached(REPLACE)?.execute(given))?;
        }
    }
    Ok(())
}

/// Clears value and reason of the hints whose values `is_gone` matches in an answer. Returns whether there were any.
fn take_hints_out(answer: &mut Value, is_gone: &dyn Fn(&Value) -> bool) -> bool {
    let mut found = false;
    match answer {
        Value::Object(members) => {
            if members.contains_key("meta") && members.get("value").is_some_and(is_gone) {
                members.insert("value".into(), Value::Null);
                if let Some(meta) = members.get_mut("meta").and_then(Value::as_object_mut) {
                    meta.remove("reason");
                }
                found = true;
            }
            for member in members.values_mut() {
                found |= take_hints_out(member, is_gone);
            }
        }
        Value::Array(items) => {
            for item in items {
                found |= take_hints_out(item, is_gone);
            }
        }
        _ => {}
    }
    found
}

/// Deletes the stored answers that contain this text, which is being purged. With `whole`, the text has to
/// be a JSON string of its own: a short text may occur inside any other.
pub(crate) fn forget_with(tx: &Tx<'_>, text: &str, whole: bool) -> Result<(), OpError> {
    const FORGET: &str = "DELETE FROM answers WHERE instr(answer, ?1) > 0";
    let quoted = Value::from(text).to_string();
    let inner = quoted.get(1..quoted.len() - 1).unwrap_or_default();
    let wanted = if whole { &quoted } else { inner };
    tx.sql(|db| db.prepare_cached(FORGET)?.execute([wanted]).map(drop))
}
