//! Finds records that contain a text byte for byte, even inside a longer word, where no index finds it.
//!
//! Only a purge uses this. It reads every row, so its time is linear in the size of the store.

use model::OpError;
use rusqlite::{Row, params};
use serde_json::Value;

use crate::cells::Cells as _;
use crate::tx::{Rx, Tx};

/// The records and sessions that contain the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiteralMatches {
    /// Observations, prompts and session summaries, in order of their ids.
    pub records: Vec<i64>,
    /// Sessions whose name or directory contains it: all their records are in [`Self::records`].
    pub sessions: Vec<i64>,
}

/// How many hints and projects contain the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiteralElsewhere {
    pub hints: usize,
    /// Projects by their names, keys, roots and aliases.
    pub projects: usize,
}

/// A text in its two stored forms: plain, and as a string in JSON.
pub(crate) struct Needle {
    pub(crate) raw: Vec<u8>,
    pub(crate) json: Vec<u8>,
}

impl Needle {
    pub(crate) fn of(text: &str) -> Needle {
        let quoted = Value::from(text).to_string();
        let inner = quoted.get(1..quoted.len() - 1).unwrap_or_default();
        Needle { raw: text.into(), json: inner.into() }
    }

    fn ids(&self, rx: &Rx<'_>, select: &str) -> Result<Vec<i64>, OpError> {
        let read = |row: &Row<'_>| row.cell(0);
        rx.sql(|db| db.prepare(select)?.query_map(params![self.raw, self.json], read)?.collect())
    }

    fn run(&self, tx: &Tx<'_>, statement: &str) -> Result<(), OpError> {
        tx.sql(|db| db.prepare(statement)?.execute(params![self.raw, self.json]).map(drop))
    }
}

/// The condition that one of these columns contains the text: `?1` is the plain form, `?2` the JSON form. The
/// columns are cast to blobs, so that `instr` compares bytes. A statement has to mention both parameters.
fn has(plain: &[&str], json: &[&str]) -> String {
    let found = |column: &str, needle| format!("instr(CAST({column} AS BLOB), {needle}) > 0");
    let plain = plain.iter().map(|column| found(column, "?1"));
    let json = json.iter().map(|column| found(column, "?2"));
    let all: Vec<String> = plain.chain(json).collect();
    format!("(({}) AND ?1 IS NOT NULL AND ?2 IS NOT NULL)", all.join(" OR "))
}

/// The records that contain this text.
pub fn matches(rx: &Rx<'_>, text: &str) -> Result<LiteralMatches, OpError> {
    let needle = Needle::of(text);
    let sessions = needle
        .ids(rx, &format!("SELECT id FROM sessions WHERE {}", has(&["name", "root"], &[])))?;
    let mut records = needle.ids(
        rx,
        &format!(
            "SELECT o.id FROM observations o LEFT JOIN paths f ON f.id = o.file WHERE {}",
            has(
                &["o.content", "f.path", "o.tool", "o.agent_id", "o.source_event", "o.metadata"],
                &["o.metadata"]
            )
        ),
    )?;
    records.extend(needle.ids(
        rx,
        &format!(
            "SELECT id FROM prompts WHERE {}",
            has(&["content", "agent_prompt_id", "source_event"], &[])
        ),
    )?);
    records.extend(
        needle.ids(
            rx,
            &format!("SELECT id FROM sessions WHERE {}", has(&["summary"], &["summary"])),
        )?,
    );
    for session in &sessions {
        records.extend(of_session(rx, *session)?);
    }
    records.sort_unstable();
    records.dedup();
    Ok(LiteralMatches { records, sessions })
}

/// The records that contain one of these words inside a longer word, in order of their ids. Words are compared as a
/// search compares them: without case and accents.
pub fn within_words(rx: &Rx<'_>, words: &[String]) -> Result<Vec<i64>, OpError> {
    const OBSERVED: &str = "SELECT o.id, o.content, f.path, o.tool, o.agent_id, o.metadata \
         FROM observations o LEFT JOIN paths f ON f.id = o.file";
    const SAID: &str = "SELECT id, content, agent_prompt_id FROM prompts";
    const SUMMARY: &str = "SELECT id, summary FROM sessions";
    const SESSIONS: &str = "SELECT id, name, root FROM sessions";
    let folded: Vec<String> = words.iter().map(|word| text::words::fold(word)).collect();
    let select = |sql: &str, columns: usize| -> Result<Vec<i64>, OpError> {
        let has = |row: &Row<'_>| {
            let mut found = false;
            for column in 1..=columns {
                found |= row.text_or_null(column)?.is_some_and(|text| is_within(&text, &folded));
            }
            Ok(if found { Some(row.cell::<i64>(0)?) } else { None })
        };
        rx.sql(|db| db.prepare(sql)?.query_map([], has)?.filter_map(Result::transpose).collect())
    };
    let mut records = select(OBSERVED, 5)?;
    records.extend(select(SAID, 2)?);
    records.extend(select(SUMMARY, 1)?);
    for session in select(SESSIONS, 2)? {
        records.extend(of_session(rx, session)?);
    }
    records.sort_unstable();
    records.dedup();
    Ok(records)
}

/// Whether a text, or a string in it if it is JSON, has one of the words inside a longer one.
fn is_within(text: &str, folded: &[String]) -> bool {
    if text.starts_with('{')
        && let Ok(value) = serde_json::from_str(text)
    {
        return is_within_json(&value, folded);
    }
    text::words::words(text).any(|(_, word)| {
        let word = text::words::fold(word);
        folded.iter().any(|part| word.len() > part.len() && word.contains(part.as_str()))
    })
}

fn is_within_json(value: &Value, folded: &[String]) -> bool {
    match value {
        Value::String(text) => is_within(text, folded),
        Value::Array(items) => items.iter().any(|item| is_within_json(item, folded)),
        Value::Object(members) => members
            .iter()
            .any(|(name, value)| is_within(name, folded) || is_within_json(value, folded)),
        _ => false,
    }
}

/// A session and all its records.
fn of_session(rx: &Rx<'_>, session: i64) -> Result<Vec<i64>, OpError> {
    const OF_SESSION: &str = "SELECT id FROM observations WHERE session = ?1 \
         UNION ALL SELECT id FROM prompts WHERE session = ?1 UNION ALL SELECT ?1";
    rx.sql(|db| db.prepare_cached(OF_SESSION)?.query_map([session], |row| row.cell(0))?.collect())
}

/// Counts the hints and projects that contain this text.
pub fn elsewhere(rx: &Rx<'_>, text: &str) -> Result<LiteralElsewhere, OpError> {
    let needle = Needle::of(text);
    let hints = has(&["component", "key", "value", "meta"], &["value", "meta"]);
    let hints = needle.ids(rx, &format!("SELECT id FROM hint_variants WHERE {hints}"))?.len();
    let projects = format!(
        "SELECT id FROM projects WHERE {} UNION SELECT project FROM project_aliases WHERE {}",
        has(&["key", "name", "root"], &[]),
        has(&["value"], &[])
    );
    let projects = needle.ids(rx, &projects)?.len();
    Ok(LiteralElsewhere { hints, projects })
}

/// Deletes data about records that contains this text: receipts, stored answers of calls, and the last event of
/// a session.
pub(crate) fn forget_notes(tx: &Tx<'_>, text: &str) -> Result<(), OpError> {
    let needle = Needle::of(text);
    for (table, plain, json) in [
        ("receipts", &["path", "reason"][..], &[][..]),
        ("answers", &["answer"], &["answer"]),
        ("hook_sessions", &["session"], &[]),
    ] {
        needle.run(tx, &format!("DELETE FROM {table} WHERE {}", has(plain, json)))?;
    }
    Ok(())
}
