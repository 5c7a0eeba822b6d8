//! Finds records that contain a text byte for byte, even inside a longer word, where no index finds it.
//!
//! Only a purge uses this. It reads every row, so its time is linear in the size of the store.

use model::OpError;
use rusqlite::{Row, params};

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
        let quoted = serde_json::Value::from(text).to_string();
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
    const OF_SESSION: &str = "SELECT id FROM observations WHERE session = ?1 \
         UNION ALL SELECT id FROM prompts WHERE session = ?1";
    for session in &sessions {
        let own: Vec<i64> = rx.sql(|db| {
            db.prepare_cached(OF_SESSION)?.query_map([session], |row| row.cell(0))?.collect()
        })?;
        records.extend(own.into_iter().chain([*session]));
    }
    records.sort_unstable();
    records.dedup();
    Ok(LiteralMatches { records, sessions })
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
