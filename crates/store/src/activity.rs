//! Activity: prompts, answers and observations of all sessions, newest first, one page at a time.
//!
//! Records are listed by time. Each index that lists a part of the wanted records is a *lane*, for example the records
//! of one type in a project. A heap holds the next record of every lane, so the cost of a page does not grow with the
//! store. With `after_id`, by which a client gets the records that it missed while disconnected, records are listed
//! in the order in which they were recorded: a spooled record may have an earlier time than the client's last one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use model::observation::{ObsType, Observation};
use model::{OpError, limits};
use rusqlite::{OptionalExtension, params};

use crate::cells::Cells as _;
use crate::observations::read;
use crate::tx::Rx;
use crate::{projects, recent, sessions};

/// Which records are wanted.
#[derive(Clone, Debug, Default)]
pub struct ActivityQuery {
    /// None for all projects.
    pub projects: Option<Vec<i64>>,
    pub session: Option<i64>,
    /// Without a type, records of session events (start, resume, clear, compact, fork, end) are left out.
    pub kind: Option<ObsType>,
    pub failed: Option<bool>,
    /// The name of an agent.
    pub agent: Option<String>,
    pub before: Option<ActivityBefore>,
    /// Only records that were recorded after this one.
    pub after_id: Option<i64>,
    pub limit: usize,
}

/// The position before which a page lists records.
#[derive(Clone, Copy, Debug)]
pub enum ActivityBefore {
    /// The id of a record, which is not included.
    Record(i64),
    /// Milliseconds since 1970, not included.
    Time(i64),
}

/// A page of records.
#[derive(Clone, Debug, Default)]
pub struct ActivityPage {
    pub records: Vec<Observation>,
    /// The id before which the next page begins, not always that of a listed record; none if there are no more.
    pub next: Option<i64>,
}

/// Records that one index lists by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lane {
    /// One type of record in a project.
    Kind(i64, ObsType),
    /// Failures in a project.
    Failed(i64),
    Prompts(i64),
    OfSession(i64),
    PromptsOfSession(i64),
}

/// The next record of a lane: time, id, lane. An id of [`UNSEEN`] means that nothing of the lane was read yet; its time is
/// then an upper bound.
type LaneHead = (i64, i64, Reverse<Lane>);

/// The id of a lane that was not read yet. Among equal times it sorts first, because the lane's record may be the
/// newest.
const UNSEEN: i64 = i64::MAX;

const KIND: &str = "SELECT at, id FROM observations WHERE project = ?1 AND kind = ?2 \
     AND (at, id) < (?3, ?4) AND (?5 IS NULL OR failed = ?5) ORDER BY at DESC, id DESC LIMIT 1";
const FAILURES: &str = "SELECT at, id FROM observations WHERE project = ?1 AND failed = 1 \
     AND (at, id) < (?2, ?3) AND (?4 IS NULL OR kind = ?4) ORDER BY at DESC, id DESC LIMIT 1";
const PROMPTS: &str = "SELECT at, id FROM prompts WHERE project = ?1 \
     AND (at, id) < (?2, ?3) ORDER BY at DESC, id DESC LIMIT 1";
const OF_SESSION: &str = "SELECT at, id FROM observations WHERE session = ?1 \
     AND (at, id) < (?2, ?3) AND (?4 IS NULL OR kind = ?4) AND (?4 NOT NULL OR kind NOT IN \
     ('session_start', 'session_resume', 'session_clear', 'session_compact', 'session_fork', 'session_end')) \
     AND (?5 IS NULL OR failed = ?5) ORDER BY at DESC, id DESC LIMIT 1";
const PROMPTS_OF_SESSION: &str = "SELECT at, id FROM prompts WHERE session = ?1 \
     AND (at, id) < (?2, ?3) ORDER BY at DESC, id DESC LIMIT 1";
/// The sessions of an agent, each with the time of its last event or mark. A mark is not an event of its session.
const OF_AGENT: &str = "SELECT s.id, max(s.last_at, ifnull((SELECT max(at) FROM observations o \
     WHERE o.session = s.id), s.last_at)), s.project FROM sessions s WHERE s.agent = ?1";
/// Records in the order of their ids.
const RECORDED: &str = "SELECT o.id FROM observations o WHERE o.id > ?1 AND o.id < ?2 \
     AND (?3 IS NULL OR o.kind = ?3) AND (?3 NOT NULL OR o.kind NOT IN \
     ('session_start', 'session_resume', 'session_clear', 'session_compact', 'session_fork', 'session_end')) \
     AND (?4 IS NULL OR o.failed = ?4) AND (?5 IS NULL OR o.session = ?5) AND o.at < ?6 \
     ORDER BY o.id DESC";
const PROMPTED: &str = "SELECT o.id FROM prompts o WHERE o.id > ?1 AND o.id < ?2 \
     AND (?3 IS NULL OR o.session = ?3) AND o.at < ?4 ORDER BY o.id DESC";
const LAST_OBSERVATION: &str =
    "SELECT id, at FROM observations WHERE id < ?1 ORDER BY id DESC LIMIT 1";
const LAST_PROMPT: &str = "SELECT id, at FROM prompts WHERE id < ?1 ORDER BY id DESC LIMIT 1";

/// All queries of this file, for the test that none scans.
#[cfg(test)]
pub(crate) const LOOKUPS: [&str; 11] = [
    KIND,
    FAILURES,
    PROMPTS,
    OF_SESSION,
    PROMPTS_OF_SESSION,
    OF_AGENT,
    RECORDED,
    PROMPTED,
    LAST_OBSERVATION,
    LAST_PROMPT,
    SESSION_OF,
];

/// One page of records.
pub fn page(rx: &Rx<'_>, query: &ActivityQuery) -> Result<ActivityPage, OpError> {
    match query.after_id {
        Some(after) => recorded_since(rx, query, after),
        None => newest(rx, query),
    }
}

/// The id of the newest record; 0 if there is none.
pub fn last_id(rx: &Rx<'_>) -> Result<i64, OpError> {
    Ok(below(rx, i64::MAX)?.map_or(0, |(id, _)| id))
}

/// The number of records that match a query and were recorded after the id `after`, regardless of the query's limit.
pub fn count_since(rx: &Rx<'_>, query: &ActivityQuery, after: i64) -> Result<usize, OpError> {
    Ok(ids_between(rx, query, (after, i64::MAX))?.len())
}

/// The newest record below this id, with its time.
fn below(rx: &Rx<'_>, id: i64) -> Result<Option<(i64, i64)>, OpError> {
    let mut last = None;
    for select in [LAST_OBSERVATION, LAST_PROMPT] {
        let found = rx.sql(|db| {
            let mut select = db.prepare_cached(select)?;
            select.query_row([id], |row| Ok((row.cell(0)?, row.cell(1)?))).optional()
        })?;
        last = last.max(found);
    }
    Ok(last)
}

fn newest(rx: &Rx<'_>, query: &ActivityQuery) -> Result<ActivityPage, OpError> {
    let before = match query.before {
        None => (i64::MAX, UNSEEN),
        Some(ActivityBefore::Time(at)) => (at, i64::MIN),
        Some(ActivityBefore::Record(id)) => match read::one(rx, id)? {
            Some(record) => (record.at_ms, id),
            // The record was deleted: the page continues from the time of the record with the next lower id.
            None => match below(rx, id)? {
                Some((_, at)) => (at, UNSEEN),
                None => return Ok(ActivityPage::default()),
            },
        },
    };
    let mut heads = lanes(rx, query, before)?;
    let mut page = ActivityPage::default();
    while let Some((at, id, Reverse(lane))) = heads.pop() {
        let bound = if id == UNSEEN { before } else { (at, id) };
        heads.extend(next(rx, query, lane, bound)?);
        if id == UNSEEN {
            continue;
        }
        if page.records.len() == query.limit {
            page.next = page.records.last().map(|record| record.id);
            return Ok(page);
        }
        let kind = match lane {
            Lane::Prompts(_) | Lane::PromptsOfSession(_) => ObsType::UserPrompt,
            _ => ObsType::ToolOther,
        };
        page.records.extend(read::one_of_kind(rx, id, kind)?);
    }
    Ok(page)
}

/// The lanes of a query, each with an upper bound for the time of its newest record.
fn lanes(
    rx: &Rx<'_>,
    query: &ActivityQuery,
    before: (i64, i64),
) -> Result<BinaryHeap<LaneHead>, OpError> {
    let observes = query.kind != Some(ObsType::UserPrompt);
    let prompts =
        query.failed != Some(true) && query.kind.is_none_or(|kind| kind == ObsType::UserPrompt);
    let mut heads = BinaryHeap::new();
    let mut add = |lane: Lane, at: i64| heads.push((at.min(before.0), UNSEEN, Reverse(lane)));
    for (session, last_at) in wanted_sessions(rx, query)?.into_iter().flatten() {
        observes.then(|| add(Lane::OfSession(session), last_at));
        prompts.then(|| add(Lane::PromptsOfSession(session), last_at));
    }
    if query.session.is_some() || query.agent.is_some() {
        return Ok(heads);
    }
    for project in projects::these_or_all(rx, query.projects.as_deref())?.iter().copied() {
        let Some(last) = recent::last_active(rx, project)? else { continue };
        prompts.then(|| add(Lane::Prompts(project), last));
        match query.kind {
            _ if query.failed == Some(true) && observes => add(Lane::Failed(project), last),
            Some(kind) if observes => add(Lane::Kind(project, kind), last),
            None => {
                let listed = ObsType::ALL.iter().filter(|kind| !kind.is_mark());
                listed.for_each(|kind| add(Lane::Kind(project, *kind), last));
            }
            Some(_) => {}
        }
    }
    Ok(heads)
}

/// The sessions of a query that names a session or an agent, with the times when they were last active.
fn wanted_sessions(rx: &Rx<'_>, query: &ActivityQuery) -> Result<Option<Vec<(i64, i64)>>, OpError> {
    let in_scope = |project: i64| query.projects.as_ref().is_none_or(|ids| ids.contains(&project));
    if let Some(session) = query.session {
        let found = sessions::by_id(rx, session)?;
        let found = found.filter(|session| {
            in_scope(session.project_id)
                && query.agent.as_ref().is_none_or(|agent| session.agent == *agent)
        });
        // Its records may be newer than the session says if the clock jumped back.
        return Ok(Some(found.map(|_| (session, i64::MAX)).into_iter().collect()));
    }
    let Some(agent) = &query.agent else { return Ok(None) };
    let all: Vec<(i64, i64, i64)> = rx.sql(|db| {
        let mut select = db.prepare_cached(OF_AGENT)?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.cell(0)?, row.cell(1)?, row.cell(2)?));
        select.query_map([agent], read)?.collect()
    })?;
    let wanted = all.into_iter().filter(|(_, _, project)| in_scope(*project));
    Ok(Some(wanted.map(|(session, last_at, _)| (session, last_at)).collect()))
}

/// The newest record of a lane before this time and id.
fn next(
    rx: &Rx<'_>,
    query: &ActivityQuery,
    lane: Lane,
    (at, id): (i64, i64),
) -> Result<Option<LaneHead>, OpError> {
    let (kind, failed) = (query.kind.map(ObsType::word), query.failed);
    let found: Option<(i64, i64)> = rx.sql(|db| {
        let read = |row: &rusqlite::Row<'_>| Ok((row.cell(0)?, row.cell(1)?));
        match lane {
            Lane::Kind(project, kind) => db
                .prepare_cached(KIND)?
                .query_row(params![project, kind.word(), at, id, failed], read)
                .optional(),
            Lane::Failed(project) => db
                .prepare_cached(FAILURES)?
                .query_row(params![project, at, id, kind], read)
                .optional(),
            Lane::Prompts(project) => {
                db.prepare_cached(PROMPTS)?.query_row(params![project, at, id], read).optional()
            }
            Lane::OfSession(session) => db
                .prepare_cached(OF_SESSION)?
                .query_row(params![session, at, id, kind, failed], read)
                .optional(),
            Lane::PromptsOfSession(session) => db
                .prepare_cached(PROMPTS_OF_SESSION)?
                .query_row(params![session, at, id], read)
                .optional(),
        }
    })?;
    Ok(found.map(|(at, id)| (at, id, Reverse(lane))))
}

/// The records with ids above `after`, the last recorded first. At most [`limits::ACTIVITY_GAP_MAX`] ids are checked,
/// so a page may have fewer records than the limit although there is a next page.
fn recorded_since(rx: &Rx<'_>, query: &ActivityQuery, after: i64) -> Result<ActivityPage, OpError> {
    let before = match query.before {
        Some(ActivityBefore::Record(id)) => id,
        _ => last_id(rx)?.saturating_add(1),
    };
    let from = after.max(before.saturating_sub(limits::ACTIVITY_GAP_MAX));
    let ids = ids_between(rx, query, (from, before))?;
    let mut page = ActivityPage::default();
    for id in ids.iter().take(query.limit) {
        page.records.extend(read::one(rx, *id)?);
    }
    page.next = match ids.get(query.limit) {
        Some(_) => page.records.last().map(|record| record.id),
        None => (from > after).then_some(from + 1),
    };
    Ok(page)
}

/// The ids of the records between two ids, neither included, the highest first.
fn ids_between(
    rx: &Rx<'_>,
    query: &ActivityQuery,
    (after, before): (i64, i64),
) -> Result<Vec<i64>, OpError> {
    let (kind, failed, session) = (query.kind.map(ObsType::word), query.failed, query.session);
    let time = match query.before {
        Some(ActivityBefore::Time(at)) => at,
        _ => i64::MAX,
    };
    let mut ids: Vec<i64> = Vec::new();
    rx.sql(|db| {
        if query.kind != Some(ObsType::UserPrompt) {
            let mut select = db.prepare_cached(RECORDED)?;
            let given = params![after, before, kind, failed, session, time];
            for id in select.query_map(given, |row| row.cell(0))? {
                ids.push(id?);
            }
        }
        if query.failed != Some(true) && query.kind.is_none_or(|kind| kind == ObsType::UserPrompt) {
            let mut select = db.prepare_cached(PROMPTED)?;
            for id in select.query_map(params![after, before, session, time], |row| row.cell(0))? {
                ids.push(id?);
            }
        }
        Ok(())
    })?;
    ids.sort_unstable_by_key(|id| Reverse(*id));
    if query.projects.is_some() || query.agent.is_some() {
        let mut kept = Vec::with_capacity(ids.len());
        let mut known = std::collections::HashMap::new();
        for id in ids {
            let Some(session) = session_of(rx, id)? else { continue };
            let wanted = match known.get(&session) {
                Some(wanted) => *wanted,
                None => {
                    let of_session = ActivityQuery { session: Some(session), ..query.clone() };
                    let wanted =
                        wanted_sessions(rx, &of_session)?.is_some_and(|found| !found.is_empty());
                    known.insert(session, wanted);
                    wanted
                }
            };
            if wanted {
                kept.push(id);
            }
        }
        ids = kept;
    }
    Ok(ids)
}

const SESSION_OF: &str = "SELECT session FROM observations WHERE id = ?1 \
     UNION ALL SELECT session FROM prompts WHERE id = ?1";

fn session_of(rx: &Rx<'_>, id: i64) -> Result<Option<i64>, OpError> {
    rx.sql(|db| db.prepare_cached(SESSION_OF)?.query_row([id], |row| row.cell(0)).optional())
}
