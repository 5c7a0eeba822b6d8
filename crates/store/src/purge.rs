//! Purge: deletes the records that match a filter, with every other row that repeats their text.
//!
//! Prompts are records too. A prompt is also deleted if all its observations are, answers included, and a session if
//! none of its records is left. Summaries are rebuilt from the remaining records. Pinned records are deleted
//! too. The file keeps no trace after [`crate::Store::compact`].

use std::collections::HashMap;

use model::observation::{Observation, RecordType};
use model::{OpError, limits};
use rusqlite::{Row, params};

use crate::aggregate::{Records, Removal, json_ids};
use crate::cells::Cells as _;
use crate::tx::{Rx, Tx};
use crate::{
    calls, events, hook_events, literal, observations, origins, passages, project_texts, projects,
    receipts, session_events, sessions,
};

/// Which records to delete: all conditions have to hold. A filter without any condition matches nothing.
#[derive(Clone, Debug, Default)]
pub struct PurgeFilter {
    pub projects: Option<Vec<i64>>,
    /// A session's id in the store.
    pub session: Option<i64>,
    /// Records, for example those that a search found.
    pub ids: Option<Vec<i64>>,
    pub kind: Option<RecordType>,
    /// Records before this time, in milliseconds since 1970.
    pub before: Option<i64>,
    /// The literal text that the records were found by, if any. It is also removed from rows about
    /// records, such as receipts, stored answers and the context of sessions.
    pub literal: Option<String>,
    /// Sessions that are deleted if none of their records is left, even if they never had one.
    pub whole_sessions: Vec<i64>,
}

impl PurgeFilter {
    pub fn is_empty(&self) -> bool {
        let PurgeFilter { projects, session, ids, kind, before, .. } = self;
        projects.is_none()
            && session.is_none()
            && ids.is_none()
            && kind.is_none()
            && before.is_none()
    }

    /// Whether the filter selects records by project, session or time only.
    fn is_sweeping(&self) -> bool {
        self.ids.is_none() && self.kind.is_none()
    }

    /// The projects of the filter if it matches all of their records.
    fn whole_projects(&self) -> &[i64] {
        let whole = self.is_sweeping() && self.session.is_none() && self.before.is_none();
        self.projects.as_deref().filter(|_| whole).unwrap_or_default()
    }
}

/// The rows that a purge deletes, or has deleted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Purged {
    /// How many records are deleted, by the name of their aggregate.
    pub records: Vec<(&'static str, usize)>,
    pub sessions: usize,
    /// Sessions whose summary is rebuilt.
    pub summaries: usize,
    /// Projects that are deleted with all their names.
    pub projects: usize,
    /// Rows about records and sessions with the literal text, such as receipts, stored answers and notices.
    pub notes: usize,
    /// Some of the records, the newest first.
    pub samples: Vec<Observation>,
}

impl Purged {
    /// Whether nothing matched.
    pub fn is_nothing(&self) -> bool {
        self.total() + self.sessions + self.summaries + self.projects + self.notes == 0
    }

    /// How many records are deleted.
    pub fn total(&self) -> usize {
        self.records.iter().map(|(_, count)| count).sum()
    }

    /// How many records of an aggregate are deleted.
    pub fn count(&self, aggregate: &str) -> usize {
        let found = self.records.iter().find(|(name, _)| *name == aggregate);
        found.map_or(0, |(_, count)| *count)
    }
}

/// The ids of the rows to delete, and of the sessions to summarise again.
#[derive(Default)]
struct Plan {
    records: Removal,
    sessions: Vec<i64>,
    summaries: Vec<i64>,
    projects: Vec<i64>,
}

const CONDITIONS: &str = "(?1 IS NULL OR project IN (SELECT value FROM json_each(?1))) \
     AND (?2 IS NULL OR session = ?2) \
     AND (?3 IS NULL OR id IN (SELECT value FROM json_each(?3))) \
     AND (?4 IS NULL OR at < ?4) AND (?5 IS NULL OR kind = ?5)";

/// Counts the rows that a purge with this filter would delete.
pub fn plan(rx: &Rx<'_>, filter: &PurgeFilter) -> Result<Purged, OpError> {
    let plan = draft(rx, filter)?;
    tell(rx, &plan, filter)
}

/// Deletes the records that match. An import does not bring them back.
pub fn run(tx: &Tx<'_>, filter: &PurgeFilter) -> Result<Purged, OpError> {
    let plan = draft(tx, filter)?;
    origins::forget(tx, &json_ids(plan.records.all()))?;
    // The session that the filter names leaves no id either.
    let gone = filter.session.filter(|id| plan.sessions.contains(id));
    let gone = gone.map(|id| sessions::by_id(tx, id)).transpose()?.flatten();
    let purged = execute(tx, filter, &plan)?;
    gone.map_or(Ok(()), |gone| session_id(tx, &gone.session_id))?;
    Ok(purged)
}

/// Deletes the matching records, which an import added. The import can be repeated.
pub(crate) fn undo(tx: &Tx<'_>, filter: &PurgeFilter) -> Result<Purged, OpError> {
    let plan = draft(tx, filter)?;
    execute(tx, filter, &plan)
}

fn execute(tx: &Tx<'_>, filter: &PurgeFilter, plan: &Plan) -> Result<Purged, OpError> {
    let mut purged = tell(tx, plan, filter)?;
    if purged.is_nothing() {
        return Ok(purged);
    }
    secure(tx, true)?;
    let removed = remove(tx, plan).and_then(|()| match &filter.literal {
        Some(text) => session_events::rewriting(tx, || literal::forget_notes(tx, text)),
        None => Ok(0),
    });
    secure(tx, false)?;
    // The count made before the purge includes notes that were deleted together with their records.
    purged.notes = purged.notes.min(removed?);
    Ok(purged)
}

/// Deletes a session with all its records, or without them, and the stored answers with its id.
pub fn session(tx: &Tx<'_>, session: i64, keep_records: bool) -> Result<(), OpError> {
    let Some(name) = sessions::by_id(tx, session)?.map(|session| session.session_id) else {
        return Ok(());
    };
    calls::forget_with(tx, &name, true)?;
    if !keep_records {
        let filter = PurgeFilter { session: Some(session), ..PurgeFilter::default() };
        return run(tx, &filter).map(drop);
    }
    one(tx, session, &mut || {
        let remove = |id| sessions::remove_alone(tx, id, tx.at());
        session_events::removing(tx, &[session], remove)
    })
}

/// Deletes a record with `remove`, so that neither its rows nor the index keep its words. The caller then rewrites the file
/// with [`crate::Store::compact`].
pub fn one(
    tx: &Tx<'_>,
    id: i64,
    remove: &mut dyn FnMut() -> Result<(), OpError>,
) -> Result<(), OpError> {
    secure(tx, true)?;
    let removed = passages::ensure_posted(tx, &[id])
        .and_then(|()| remove())
        .and_then(|()| passages::optimize(tx).map(drop));
    secure(tx, false)?;
    removed
}

/// Removes the agent's own id of a deleted session from the events about it.
pub(crate) fn session_id(tx: &Tx<'_>, name: &str) -> Result<(), OpError> {
    secure(tx, true)?;
    let removed = events::forget_session(tx, name).and_then(|()| hook_events::forget(tx, name));
    secure(tx, false)?;
    removed
}

/// Switches `secure_delete`: SQLite overwrites the data that it deletes.
fn secure(tx: &Tx<'_>, on: bool) -> Result<(), OpError> {
    tx.sql(|db| db.pragma_update(None, "secure_delete", on))
}

fn tell(rx: &Rx<'_>, plan: &Plan, filter: &PurgeFilter) -> Result<Purged, OpError> {
    let notes = filter.literal.as_deref().map(|text| literal::count_notes(rx, text));
    let mut newest: Vec<i64> = plan.records.all().collect();
    newest.sort_unstable_by(|a, b| b.cmp(a));
    newest.truncate(limits::PURGE_SAMPLES);
    let counts = parts(rx).map(|kind| (kind.name(), plan.records.count(kind.name())));
    Ok(Purged {
        records: counts.collect(),
        sessions: plan.sessions.len(),
        summaries: plan.summaries.len(),
        projects: plan.projects.len(),
        notes: notes.transpose()?.unwrap_or_default(),
        samples: observations::get(rx, &newest)?,
    })
}

/// All kinds of records except sessions, whose record is their summary.
fn parts<'a>(rx: &Rx<'a>) -> impl Iterator<Item = &'static dyn Records> + use<'a> {
    rx.registry().records().filter(|records| records.in_session())
}

/// The ids of the records and sessions that match, in no order.
pub fn matches(rx: &Rx<'_>, filter: &PurgeFilter) -> Result<Vec<i64>, OpError> {
    let mut found = Vec::new();
    for records in rx.registry().records() {
        found.extend(matching(rx, records, filter)?);
    }
    Ok(found)
}

fn draft(rx: &Rx<'_>, filter: &PurgeFilter) -> Result<Plan, OpError> {
    if filter.is_empty() {
        return Ok(Plan::default());
    }
    let mut plan = Plan::default();
    for records in parts(rx) {
        for id in matching(rx, records, filter)? {
            plan.records.add(records.name(), id);
        }
    }
    for records in parts(rx) {
        records.extend_removal(rx, &mut plan.records)?;
    }
    let mut losses = losses(rx, &plan.records)?;
    // A session's own row is the record of its summary.
    for sessions in rx.registry().records().filter(|records| !records.in_session()) {
        for id in matching(rx, sessions, filter)? {
            losses.entry(id).or_default();
        }
    }
    for (session, lost) in losses {
        let nothing_left = records_of(rx, session)? == lost;
        let whole = filter.is_sweeping() || filter.whole_sessions.contains(&session);
        if nothing_left && (lost > 0 || whole) {
            plan.sessions.push(session);
        } else {
            plan.summaries.push(session);
        }
    }
    plan.sessions.sort_unstable();
    plan.summaries.sort_unstable();
    plan.projects = filter.whole_projects().to_vec();
    Ok(plan)
}

/// The ids of the records of a kind that match.
fn matching(rx: &Rx<'_>, records: &dyn Records, filter: &PurgeFilter) -> Result<Vec<i64>, OpError> {
    let select = format!("SELECT id FROM ({}) WHERE {CONDITIONS}", records.documents());
    let list = |ids: &Option<Vec<i64>>| ids.as_ref().map(|ids| json_ids(ids.iter().copied()));
    let given = params![
        list(&filter.projects),
        filter.session,
        list(&filter.ids),
        filter.before,
        filter.kind.as_ref().map(RecordType::word)
    ];
    rx.sql(|db| db.prepare(&select)?.query_map(given, |row| row.cell(0))?.collect())
}

/// How many records each session loses.
fn losses(rx: &Rx<'_>, removal: &Removal) -> Result<HashMap<i64, u64>, OpError> {
    let mut losses: HashMap<i64, u64> = HashMap::new();
    for records in parts(rx).filter(|records| removal.count(records.name()) > 0) {
        let select = format!(
            "SELECT session, count(*) FROM ({}) WHERE session IS NOT NULL \
             AND id IN (SELECT value FROM json_each(?1)) GROUP BY session",
            records.documents()
        );
        let ids = json_ids(removal.of(records.name()));
        let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?));
        let found: Vec<(i64, u64)> =
            rx.sql(|db| db.prepare(&select)?.query_map([ids], read)?.collect())?;
        for (session, lost) in found {
            *losses.entry(session).or_default() += lost;
        }
    }
    Ok(losses)
}

/// How many records a session has.
fn records_of(rx: &Rx<'_>, session: i64) -> Result<u64, OpError> {
    parts(rx)
        .map(|records| {
            let count =
                format!("SELECT count(*) FROM ({}) WHERE session = ?1", records.documents());
            rx.sql(|db| db.prepare_cached(&count)?.query_row([session], |row| row.cell::<u64>(0)))
        })
        .sum()
}

/// Deletes children before their parents.
fn remove(tx: &Tx<'_>, plan: &Plan) -> Result<(), OpError> {
    let told = plan.sessions.iter().chain(&plan.summaries).copied();
    passages::ensure_posted(tx, &plan.records.all().chain(told).collect::<Vec<_>>())?;
    for records in parts(tx) {
        plan.records.of(records.name()).try_for_each(|id| records.remove(tx, id))?;
    }
    for (renew, id) in &plan.records.renewed {
        renew(tx, *id)?;
    }
    // A receipt says why a record was shown, in words of the record.
    for records in parts(tx) {
        receipts::forget(tx, records.scheme(), plan.records.of(records.name()))?;
    }
    session_events::removing(tx, &plan.sessions, |id| sessions::remove(tx, id))?;
    for id in &plan.summaries {
        sessions::summarise(tx, *id)?;
    }
    for id in &plan.projects {
        if let Some(project) = project_texts::project(tx, *id)? {
            project.forget_answers(tx)?;
        }
        projects::remove_empty(tx, *id)?;
    }
    passages::optimize(tx).map(drop)
}
