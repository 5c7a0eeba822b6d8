//! Hook events in the store, for deduplication: an event is ingested once. Its content is stored elsewhere.

use std::collections::BTreeMap;

use model::event::HookRecord;
use model::{CallId, OpError, limits};
use rusqlite::{OptionalExtension, Row, params};

use crate::aggregate::Aggregate;
use crate::cells::Cells as _;
use crate::deferred::Deferred;
use crate::hash;
use crate::table_info::TextColumns;
use crate::tx::{Rx, Tx};

/// The row of the registry.
pub(crate) struct HookEvents;

impl Aggregate for HookEvents {
    fn name(&self) -> &'static str {
        "hooks_seen"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/hook_events.sql")
    }

    fn notes(&self) -> &'static [TextColumns] {
        const NOTES: &[TextColumns] = &[TextColumns {
            from: "hook_sessions",
            id: "id",
            plain: &["session", "name"],
            json: &[],
            indexed: &[],
            unindexed: &[],
        }];
        NOTES
    }

    fn emptied_notes(&self) -> &'static [(&'static str, &'static str)] {
        &[("hooks_seen", "name")]
    }

    fn before_commit(&self, tx: &Tx<'_>) -> Result<(), OpError> {
        let LastEvents(last) = tx.take_deferred();
        last.values().try_for_each(|record| tx.unless_fault(note_last(tx, record)))
    }

    fn prune(&self, tx: &Tx<'_>, now: i64) -> Result<(), OpError> {
        forget_old(tx, now)
    }
}

/// The last event of each session in a group of writes.
#[derive(Default)]
struct LastEvents(BTreeMap<String, HookRecord>);

impl LastEvents {
    fn note(&mut self, record: HookRecord) {
        let session = record.session.as_deref().unwrap_or_default();
        match self.0.get_mut(session) {
            Some(known) if known.at <= record.at => *known = record,
            Some(_) => {}
            None => drop(self.0.insert(session.to_owned(), record)),
        }
    }
}

impl Deferred for LastEvents {
    fn add(&mut self, later: LastEvents) {
        later.0.into_values().for_each(|record| self.note(record));
    }
}

const RECORD: &str = "INSERT INTO hooks_seen (id, name, at, twin) VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT DO NOTHING";
const SEEN: &str = "INSERT INTO hook_sessions (session, event, name, at) VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT (session) DO UPDATE SET event = excluded.event, name = excluded.name, \
     at = excluded.at WHERE excluded.at >= at";
const LAST: &str =
    "SELECT event, name, session, at FROM hook_sessions ORDER BY at DESC, id DESC LIMIT 1";
const SINCE: &str =
    "SELECT event, name, session, at FROM hook_sessions WHERE at >= ?1 ORDER BY at, id";
const LATEST: &str = "SELECT name, at FROM hooks_seen ORDER BY seq DESC LIMIT ?1";
/// Events ingested during a pause belong to a session that is not stored, hence the LEFT JOIN.
const BY_AGENT: &str = "SELECT coalesce(s.agent, ''), max(h.at) FROM hook_sessions h \
     LEFT JOIN sessions s ON s.name = h.session GROUP BY 1 ORDER BY 1";
/// Two subqueries: SQLite looks `min` or `max` up in an index only if a query has one of them, and scans for both.
pub(crate) const COUNT: &str = "SELECT coalesce((SELECT max(seq) FROM hooks_seen) \
     - (SELECT min(seq) FROM hooks_seen) + 1, 0)";
/// Rows are in the order of arrival, so the first one within the age limit ends the search.
const FORGET: &str = "DELETE FROM hooks_seen WHERE seq < min( \
     (SELECT min(seq) FROM hooks_seen) + ?2, coalesce( \
       (SELECT seq FROM hooks_seen WHERE at >= ?1 ORDER BY seq LIMIT 1), \
       (SELECT max(seq) + 1 FROM hooks_seen)))";

/// Records the event unless it is a repeat, by its id or by its session, name and tool call. Returns
/// whether it is new.
pub fn record(tx: &Tx<'_>, event: HookRecord) -> Result<bool, OpError> {
    let session = event.session.as_deref().unwrap_or_default();
    let tool_use = event.tool_use_id.as_deref();
    let twin = tool_use.map(|tool_use| twin(session, &event.name, tool_use));
    let given = params![event.id.0, event.name, event.at, twin];
    let new = tx.sql(|db| db.prepare_cached(RECORD)?.execute(given))? == 1;
    if new {
        tx.defer(|last: &mut LastEvents| last.note(event));
    }
    Ok(new)
}

/// Stores the last event of a session.
fn note_last(tx: &Tx<'_>, event: &HookRecord) -> Result<(), OpError> {
    let session = event.session.as_deref().unwrap_or_default();
    let given = params![session, event.id.0, event.name, event.at];
    tx.sql_on_row(|db| db.prepare_cached(SEEN)?.execute(given)).map(drop)
}

/// A hash of a tool call's event. The upper quarter of its bits is the session's, so that the events of a
/// session are adjacent in the index.
fn twin(session: &str, name: &str, tool_use: &str) -> i64 {
    const OF_SESSION: i64 = !0 << 48;
    hash::of(&[session]) & OF_SESSION | hash::of(&[session, name, tool_use]) & !OF_SESSION
}

/// The event that happened last.
pub fn last(rx: &Rx<'_>) -> Result<Option<HookRecord>, OpError> {
    rx.sql(|db| db.prepare_cached(LAST)?.query_row([], read).optional())
}

/// The last event of each session that had one since this time, in the order they happened.
pub fn since(rx: &Rx<'_>, at: i64) -> Result<Vec<HookRecord>, OpError> {
    rx.sql(|db| db.prepare_cached(SINCE)?.query_map([at], read)?.collect())
}

/// The time of the last event of each name, among a bounded number of the latest events.
pub fn last_by_name(rx: &Rx<'_>) -> Result<Vec<(String, i64)>, OpError> {
    // SQLite would sort all these events to group them by a handful of names.
    let mut last: Vec<(String, i64)> = Vec::new();
    rx.sql(|db| {
        let mut latest = db.prepare_cached(LATEST)?;
        let mut rows = latest.query(params![limits::HOOK_EVENTS_LOOKED_AT])?;
        while let Some(row) = rows.next()? {
            let (name, at) = (row.text(0)?, row.cell::<i64>(1)?);
            match last.iter_mut().find(|(known, _)| *known == name) {
                Some((_, latest)) => *latest = at.max(*latest),
                None => last.push((name.into_owned(), at)),
            }
        }
        Ok(())
    })?;
    last.sort_unstable();
    Ok(last)
}

/// The time of each agent's last event. The empty name is for events whose session is not stored: their agent is
/// unknown.
pub fn last_by_agent(rx: &Rx<'_>) -> Result<Vec<(String, i64)>, OpError> {
    rx.sql(|db| db.prepare_cached(BY_AGENT)?.query_map([], pair)?.collect())
}

fn pair(row: &Row<'_>) -> rusqlite::Result<(String, i64)> {
    Ok((row.cell(0)?, row.cell(1)?))
}

/// How many events were ingested during the last month. Rows are numbered in the order of arrival and only the oldest
/// ones are deleted, so the first and the last number tell.
pub fn count(rx: &Rx<'_>) -> Result<u64, OpError> {
    rx.sql(|db| db.prepare_cached(COUNT)?.query_row([], |row| row.cell(0)))
}

/// Removes the last event of a session that is deleted.
pub(crate) fn forget(tx: &Tx<'_>, session: &str) -> Result<(), OpError> {
    const FORGET: &str = "DELETE FROM hook_sessions WHERE session = ?1";
    tx.sql(|db| db.prepare_cached(FORGET)?.execute([session]).map(drop))
}

/// Deletes events that are too old to be sent again, a bounded number at a time.
fn forget_old(tx: &Tx<'_>, now: i64) -> Result<(), OpError> {
    let old = now.saturating_sub(limits::HOOK_EVENTS_KEPT_MS);
    tx.sql(|db| {
        db.prepare_cached(FORGET)?.execute(params![old, limits::HOOK_EVENTS_PRUNED])?;
        db.prepare_cached("DELETE FROM hook_sessions WHERE at < ?1")?.execute([old]).map(drop)
    })
}

fn read(row: &Row<'_>) -> rusqlite::Result<HookRecord> {
    let session: String = row.cell(2)?;
    Ok(HookRecord {
        id: CallId(row.cell(0)?),
        name: row.cell(1)?,
        session: Some(session).filter(|session| !session.is_empty()),
        tool_use_id: None,
        at: row.cell(3)?,
    })
}
