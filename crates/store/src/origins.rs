//! Where records come from. An [`Origin`] identifies a record at its agent, whatever session and file it is in, so that
//! a record is stored once even if a hook reports it and a transcript contains it.

use model::OpError;
use model::hook::{Happening, HookEvent};
use model::origin::Origin;
use rusqlite::{OptionalExtension, params};

use crate::aggregate::Aggregate;
use crate::cells::Cells as _;
use crate::tx::{Rx, Tx};

/// The row of the registry.
pub(crate) struct Origins;

impl Aggregate for Origins {
    fn name(&self) -> &'static str {
        "origins"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/origins.sql")
    }
}

/// The state of a known origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownOrigin {
    /// The record is in the store.
    Stored(i64),
    /// The user purged the record.
    Forgotten,
}

impl KnownOrigin {
    pub fn is_stored(&self) -> bool {
        matches!(self, KnownOrigin::Stored(_))
    }
}

pub(crate) const FIND: &str = "SELECT record FROM origins WHERE origin = ?1";
pub(crate) const OF_RECORD: &str = "SELECT origin FROM origins WHERE record = ?1 LIMIT 1";
/// The times of one event in a hook and in a transcript differ by at most this.
const SAME_EVENT_MS: i64 = 10_000;

/// The origin of an event's record; `None` if the event has no record, or nothing identifies it. `cause` is the prompt
/// that an answer is about.
pub fn of_event(
    rx: &Rx<'_>,
    event: &HookEvent,
    cause: Option<i64>,
) -> Result<Option<Origin>, OpError> {
    let named = Origin::of_event(event);
    if named.is_some() || !matches!(event.what, Happening::Answered(_)) {
        return Ok(named);
    }
    let turn = match Origin::turn(event) {
        Some(turn) => Some(turn),
        None => cause.map(|cause| of_record(rx, cause)).transpose()?.flatten(),
    };
    let (Some(turn), Happening::Answered(answer)) = (turn, &event.what) else { return Ok(None) };
    let mut position = answers(rx, cause, event.agent_id.as_deref())?.max(1);
    loop {
        let origin = turn.answer(position);
        match find(rx, origin)? {
            None => return Ok(Some(origin)),
            Some(KnownOrigin::Stored(record)) if has_text(rx, record, &answer.text)? => {
                return Ok(Some(origin));
            }
            Some(_) => position += 1,
        }
    }
}

/// How many answers a prompt has, of the agent or of a subagent.
fn answers(rx: &Rx<'_>, prompt: Option<i64>, subagent: Option<&str>) -> Result<u32, OpError> {
    const ANSWERS: &str = "SELECT count(*) FROM observations WHERE prompt = ?1 AND kind = 'answer' \
         AND agent_id IS ?2";
    let Some(prompt) = prompt else { return Ok(0) };
    rx.sql(|db| db.prepare_cached(ANSWERS)?.query_row(params![prompt, subagent], |row| row.cell(0)))
}

/// Whether a record has this text.
fn has_text(rx: &Rx<'_>, record: i64, text: &str) -> Result<bool, OpError> {
    const SAME: &str = "SELECT 1 FROM observations WHERE id = ?1 AND content = ?2";
    rx.sql(|db| db.prepare_cached(SAME)?.exists(params![record, text]))
}

fn of_record(rx: &Rx<'_>, record: i64) -> Result<Option<Origin>, OpError> {
    rx.sql(|db| {
        let mut select = db.prepare_cached(OF_RECORD)?;
        select.query_row([record], |row| row.cell(0).map(Origin)).optional()
    })
}

/// The origins of a record, in order.
pub(crate) fn all_of(rx: &Rx<'_>, record: i64) -> Result<Vec<Origin>, OpError> {
    const ALL: &str = "SELECT origin FROM origins WHERE record = ?1 ORDER BY origin";
    rx.sql(|db| {
        let mut select = db.prepare_cached(ALL)?;
        select.query_map([record], |row| row.cell(0).map(Origin))?.collect()
    })
}

/// The state of an origin; `None` if it is new.
pub fn find(rx: &Rx<'_>, origin: Origin) -> Result<Option<KnownOrigin>, OpError> {
    let found: Option<Option<i64>> = rx.sql(|db| {
        let mut select = db.prepare_cached(FIND)?;
        select.query_row([origin.0], |row| row.cell(0)).optional()
    })?;
    Ok(found.map(|record| record.map_or(KnownOrigin::Forgotten, KnownOrigin::Stored)))
}

/// The origin under which an event's record is stored, and the state of it. Some agents reuse an id, for a call of
/// another session or for a second prompt of a turn: then the session and the text become part of the origin. A record
/// of another session only counts as the same for a transcript, which repeats the records of the session that it was
/// forked from.
pub fn look_up(
    rx: &Rx<'_>,
    event: &HookEvent,
    origin: Origin,
) -> Result<(Origin, Option<KnownOrigin>), OpError> {
    const PROMPT: &str = "SELECT 1 FROM prompts q LEFT JOIN sessions s ON s.id = q.session \
         WHERE q.id = ?1 AND q.content = ?3 AND (s.name = ?2 OR ?4)";
    const OBSERVATION: &str = "SELECT 1 FROM observations o \
         LEFT JOIN sessions s ON s.id = o.session \
         WHERE o.id = ?1 AND (s.name = ?2 OR ?4 AND o.content = ?3)";
    let known = find(rx, origin)?;
    let Some(KnownOrigin::Stored(record)) = known else { return Ok((origin, known)) };
    let (query, text) = match &event.what {
        Happening::Prompted(text) => (PROMPT, text.as_str()),
        Happening::ToolUsed(tool) => (OBSERVATION, tool.content.as_str()),
        Happening::Answered(answer) => (OBSERVATION, answer.text.as_str()),
        _ => return Ok((origin, known)),
    };
    let given = params![record, event.session, text, event.transcript.is_some()];
    if rx.sql(|db| db.prepare_cached(query)?.exists(given))? {
        return Ok((origin, known));
    }
    let other = Origin::of(&["other", &origin.to_string(), &event.session, text]);
    Ok((other, find(rx, other)?))
}

/// The import that added a record.
pub fn batch_of(rx: &Rx<'_>, record: i64) -> Result<Option<i64>, OpError> {
    const BATCH: &str = "SELECT batch FROM origins WHERE record = ?1 ORDER BY batch LIMIT 1";
    let found: Option<Option<i64>> =
        rx.sql(|db| db.prepare_cached(BATCH)?.query_row([record], |row| row.cell(0)).optional())?;
    Ok(found.flatten())
}

/// The import that brought an origin.
pub(crate) fn batch_of_origin(rx: &Rx<'_>, origin: Origin) -> Result<Option<i64>, OpError> {
    const BATCH: &str = "SELECT batch FROM origins WHERE origin = ?1 AND batch IS NOT NULL";
    rx.sql(|db| {
        let mut select = db.prepare_cached(BATCH)?;
        select.query_row([origin.0], |row| row.cell(0)).optional()
    })
}

/// Whether a record has an origin.
pub fn has_any(rx: &Rx<'_>, record: i64) -> Result<bool, OpError> {
    rx.sql(|db| db.prepare_cached(OF_RECORD)?.exists([record]))
}

/// Stores the origin of a record, and the import that added it.
pub fn add(tx: &Tx<'_>, origin: Origin, record: i64, batch: Option<i64>) -> Result<(), OpError> {
    const ADD: &str = "INSERT INTO origins (origin, record, batch) VALUES (?1, ?2, ?3) \
         ON CONFLICT (origin) DO UPDATE SET record = excluded.record, batch = excluded.batch";
    tx.sql(|db| db.prepare_cached(ADD)?.execute(params![origin.0, record, batch]).map(drop))
}

/// Adds the origin `second` to the record with the origin `first`, even if `second` was an origin of a purged record.
/// The new origin belongs to the import that added the record, or else to the import `batch`.
pub fn add_second(tx: &Tx<'_>, first: Origin, second: Origin, batch: i64) -> Result<(), OpError> {
    const SECOND: &str = "INSERT INTO origins (origin, record, batch) \
         SELECT ?2, record, coalesce(batch, ?3) FROM origins \
         WHERE origin = ?1 AND record IS NOT NULL ON CONFLICT (origin) DO UPDATE \
         SET record = excluded.record, batch = excluded.batch WHERE origins.record IS NULL";
    tx.sql(|db| db.prepare_cached(SECOND)?.execute(params![first.0, second.0, batch]).map(drop))
}

/// Whether a session has a record without an origin. Only then can [`stored_before`] find a record for an event with an
/// id.
pub fn lacks_any(rx: &Rx<'_>, session: i64) -> Result<bool, OpError> {
    const LACKS: &str = "SELECT EXISTS (SELECT 1 FROM observations o WHERE o.session = ?1 \
           AND NOT EXISTS (SELECT 1 FROM origins WHERE record = o.id)) \
         OR EXISTS (SELECT 1 FROM prompts q WHERE q.session = ?1 \
           AND NOT EXISTS (SELECT 1 FROM origins WHERE record = q.id))";
    rx.sql(|db| db.prepare_cached(LACKS)?.query_row([session], |row| row.cell(0)))
}

/// The record of an event that a build without origins stored: of the same session and kind, with the same text, at
/// about the same time. For an event of a transcript without an id, the time does not count, see `nth_of_text`.
pub fn stored_before(rx: &Rx<'_>, event: &HookEvent, session: i64) -> Result<Option<i64>, OpError> {
    if let Some(repeat) = event.transcript.as_ref().and_then(|facts| facts.repeat) {
        return nth_of_text(rx, event, session, repeat);
    }
    const PROMPT: &str = "SELECT q.id FROM prompts q WHERE q.session = ?1 \
         AND q.at BETWEEN ?2 - ?4 AND ?2 + ?4 AND q.content = ?3 \
         AND NOT EXISTS (SELECT 1 FROM origins WHERE record = q.id) LIMIT 1";
    const OBSERVATION: &str = "SELECT o.id FROM observations o WHERE o.session = ?1 \
         AND o.at <= ?2 + ?4 AND coalesce(o.last_at, o.at) >= ?2 - ?4 AND o.content = ?3 \
         AND o.kind = ?5 AND NOT EXISTS (SELECT 1 FROM origins WHERE record = o.id) LIMIT 1";
    let (text, kind) = match &event.what {
        Happening::Prompted(text) => (text.as_str(), None),
        Happening::ToolUsed(tool) => (tool.content.as_str(), Some(tool.obs_type.word())),
        Happening::Answered(answer) => (answer.text.as_str(), Some("answer")),
        _ => return Ok(None),
    };
    rx.sql(|db| match kind {
        None => {
            let given = params![session, event.at, text, SAME_EVENT_MS];
            db.prepare_cached(PROMPT)?.query_row(given, |row| row.cell(0)).optional()
        }
        Some(kind) => {
            let given = params![session, event.at, text, SAME_EVENT_MS, kind];
            db.prepare_cached(OBSERVATION)?.query_row(given, |row| row.cell(0)).optional()
        }
    })
}

/// The record that a hook stored of an event which a fork copied: of the project and of the agent, with the same text,
/// at about the same time. A copy has the id of its line, which hooks do not know. A record that has the id of a line
/// already, from a transcript, is a different one.
pub fn before_copied(rx: &Rx<'_>, event: &HookEvent, project: i64) -> Result<Option<i64>, OpError> {
    const PROMPT: &str = "SELECT q.id FROM prompts q JOIN sessions s ON s.id = q.session \
         WHERE q.project = ?1 AND q.at BETWEEN ?2 - ?4 AND ?2 + ?4 AND q.content = ?3 \
         AND s.agent = ?5 AND EXISTS (SELECT 1 FROM origins WHERE record = q.id) \
         AND NOT EXISTS (SELECT 1 FROM origins WHERE record = q.id AND batch IS NOT NULL) \
         ORDER BY q.at, q.id LIMIT 1";
    const ANSWER: &str = "SELECT o.id FROM observations o JOIN sessions s ON s.id = o.session \
         WHERE o.project = ?1 AND o.kind = 'answer' AND o.at BETWEEN ?2 - ?4 AND ?2 + ?4 \
         AND o.content = ?3 AND s.agent = ?5 \
         AND EXISTS (SELECT 1 FROM origins WHERE record = o.id) \
         AND NOT EXISTS (SELECT 1 FROM origins WHERE record = o.id AND batch IS NOT NULL) \
         ORDER BY o.at, o.id LIMIT 1";
    let (query, text) = match &event.what {
        Happening::Prompted(text) => (PROMPT, text.as_str()),
        Happening::Answered(answer) => (ANSWER, answer.text.as_str()),
        _ => return Ok(None),
    };
    let given = params![project, event.at, text, SAME_EVENT_MS, event.agent];
    rx.sql(|db| db.prepare_cached(query)?.query_row(given, |row| row.cell(0)).optional())
}

/// The record with the text of an event that has no id: the first of the session for the first such event, and so on. A
/// hook may have stored it under an id that the transcript lacks.
fn nth_of_text(
    rx: &Rx<'_>,
    event: &HookEvent,
    session: i64,
    repeat: u32,
) -> Result<Option<i64>, OpError> {
    const PROMPT: &str = "SELECT id FROM prompts WHERE session = ?1 AND content = ?2 \
         ORDER BY at, id LIMIT 1 OFFSET ?3";
    const OBSERVATION: &str = "SELECT id FROM observations WHERE session = ?1 AND content = ?2 \
         AND kind = ?4 ORDER BY at, id LIMIT 1 OFFSET ?3";
    let before = repeat.saturating_sub(1);
    let read = |row: &rusqlite::Row<'_>| row.cell(0);
    rx.sql(|db| match &event.what {
        Happening::Prompted(text) => {
            let given = params![session, text.as_str(), before];
            db.prepare_cached(PROMPT)?.query_row(given, read).optional()
        }
        Happening::ToolUsed(tool) => {
            let given = params![session, tool.content.as_str(), before, tool.obs_type.word()];
            db.prepare_cached(OBSERVATION)?.query_row(given, read).optional()
        }
        Happening::Answered(answer) => {
            let given = params![session, answer.text.as_str(), before, "answer"];
            db.prepare_cached(OBSERVATION)?.query_row(given, read).optional()
        }
        _ => Ok(None),
    })
}

/// Notes that the user deletes these records: an import does not bring them back.
pub(crate) fn forget(tx: &Tx<'_>, records: &str) -> Result<(), OpError> {
    const FORGET: &str = "UPDATE origins SET record = NULL, batch = NULL \
         WHERE record IN (SELECT value FROM json_each(?1))";
    tx.sql(|db| db.prepare_cached(FORGET)?.execute([records]).map(drop))
}

/// Removes one origin.
pub(crate) fn drop_one(tx: &Tx<'_>, origin: Origin) -> Result<(), OpError> {
    const DROP: &str = "DELETE FROM origins WHERE origin = ?1";
    tx.sql(|db| db.prepare_cached(DROP)?.execute([origin.0]).map(drop))
}

/// Removes the origins of a deleted record, and the marks that it is unfinished.
pub(crate) fn remove(tx: &Tx<'_>, record: i64) -> Result<(), OpError> {
    const REMOVE: &str = "DELETE FROM origins WHERE record IN (?1, -?1)";
    tx.sql(|db| db.prepare_cached(REMOVE)?.execute([record]).map(drop))
}
