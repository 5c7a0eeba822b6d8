//! Forgetting on purpose: what matches a filter goes, with everything that would still tell of it.
//!
//! A prompt is a record like any other here. What loses all it stood for goes too: a prompt whose
//! actions are gone, a session of which nothing is left. Summaries are drawn anew from what stays.
//! Pins do not protect. The file keeps no trace after [`crate::Store::compact`].

use std::collections::{BTreeSet, HashMap};

use model::observation::{ObsType, Observation};
use model::{OpError, limits};
use rusqlite::{Row, params};

use crate::cells::Cells as _;
use crate::tx::{Rx, Tx};
use crate::{literal, observations, passages, projects, prompts, scrub, sessions};

/// What is to go: all of this has to hold. A filter without any condition matches nothing.
#[derive(Clone, Debug, Default)]
pub struct PurgeFilter {
    pub projects: Option<Vec<i64>>,
    /// A session's id in the store.
    pub session: Option<i64>,
    /// Records, for example those that a search found.
    pub ids: Option<Vec<i64>>,
    pub kind: Option<ObsType>,
    /// Milliseconds since 1970; what happened earlier.
    pub before: Option<i64>,
    /// The literal text that the records were found by, if any. Receipts and stored answers that contain it are
    /// deleted too.
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

    /// Whether it names a place or a time and no single records or kinds.
    fn is_sweeping(&self) -> bool {
        self.ids.is_none() && self.kind.is_none()
    }

    /// The projects that it names and everything of which it matches.
    fn whole_projects(&self) -> &[i64] {
        let whole = self.is_sweeping() && self.session.is_none() && self.before.is_none();
        self.projects.as_deref().filter(|_| whole).unwrap_or_default()
    }
}

/// What goes, or went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Purged {
    pub observations: usize,
    pub prompts: usize,
    pub sessions: usize,
    /// Sessions whose summary is drawn anew.
    pub summaries: usize,
    /// Projects that are forgotten with all their names.
    pub projects: usize,
    /// Some of the records, the newest first.
    pub samples: Vec<Observation>,
}

impl Purged {
    /// Whether nothing matched.
    pub fn is_nothing(&self) -> bool {
        self.observations + self.prompts + self.sessions + self.summaries + self.projects == 0
    }
}

/// The rows that go.
#[derive(Default)]
struct Plan {
    observations: Vec<i64>,
    prompts: BTreeSet<i64>,
    /// Prompts that stay but lose actions.
    recounted: Vec<i64>,
    sessions: Vec<i64>,
    summaries: Vec<i64>,
    projects: Vec<i64>,
}

const CONDITIONS: &str = "(?1 IS NULL OR project IN (SELECT value FROM json_each(?1))) \
     AND (?2 IS NULL OR session = ?2) \
     AND (?3 IS NULL OR id IN (SELECT value FROM json_each(?3))) \
     AND (?4 IS NULL OR at < ?4) AND (?5 IS NULL OR kind = ?5)";

/// Prompts and sessions with the columns of [`CONDITIONS`].
const PROMPTS: &str = "(SELECT id, session, project, at, 'user_prompt' AS kind FROM prompts)";
const SESSIONS: &str = "(SELECT id, id AS session, project, last_at AS at, \
     'session_summary' AS kind FROM sessions)";

/// What a purge with this filter would remove.
pub fn plan(rx: &Rx<'_>, filter: &PurgeFilter) -> Result<Purged, OpError> {
    let plan = draft(rx, filter)?;
    tell(rx, &plan)
}

/// Removes what matches.
pub fn run(tx: &Tx<'_>, filter: &PurgeFilter) -> Result<Purged, OpError> {
    let plan = draft(tx, filter)?;
    let purged = tell(tx, &plan)?;
    if purged.is_nothing() {
        return Ok(purged);
    }
    secure(tx, true)?;
    let removed = remove(tx, &plan).and_then(|()| match &filter.literal {
        Some(text) => literal::forget_notes(tx, text),
        None => Ok(()),
    });
    secure(tx, false)?;
    removed.map(|()| purged)
}

/// Whether SQLite overwrites what it removes.
fn secure(tx: &Tx<'_>, on: bool) -> Result<(), OpError> {
    tx.sql(|db| db.pragma_update(None, "secure_delete", on))
}

fn tell(rx: &Rx<'_>, plan: &Plan) -> Result<Purged, OpError> {
    let mut newest: Vec<i64> = plan.observations.iter().chain(&plan.prompts).copied().collect();
    newest.sort_unstable_by(|a, b| b.cmp(a));
    newest.truncate(limits::PURGE_SAMPLES);
    Ok(Purged {
        observations: plan.observations.len(),
        prompts: plan.prompts.len(),
        sessions: plan.sessions.len(),
        summaries: plan.summaries.len(),
        projects: plan.projects.len(),
        samples: observations::get(rx, &newest)?,
    })
}

/// The ids of the observations, prompts and sessions that match, in no order.
pub fn matches(rx: &Rx<'_>, filter: &PurgeFilter) -> Result<Vec<i64>, OpError> {
    let mut found = Vec::new();
    for records in ["observations", PROMPTS, SESSIONS] {
        let select = format!("SELECT id, session, NULL FROM {records} WHERE {CONDITIONS}");
        found.extend(matching(rx, &select, filter)?.into_iter().map(|(id, _, _)| id));
    }
    Ok(found)
}

fn draft(rx: &Rx<'_>, filter: &PurgeFilter) -> Result<Plan, OpError> {
    if filter.is_empty() {
        return Ok(Plan::default());
    }
    let mut plan = Plan::default();
    // How many observations and prompts each session loses, and how many actions each prompt.
    let mut losses: HashMap<i64, (u64, u64)> = HashMap::new();
    let mut actions: HashMap<i64, u64> = HashMap::new();
    let select = format!("SELECT id, session, prompt FROM observations WHERE {CONDITIONS}");
    for (id, session, prompt) in matching(rx, &select, filter)? {
        plan.observations.push(id);
        losses.entry(session).or_default().0 += 1;
        if let Some(prompt) = prompt {
            *actions.entry(prompt).or_default() += 1;
        }
    }
    let select = format!("SELECT id, session, NULL FROM {PROMPTS} WHERE {CONDITIONS}");
    for (id, session, _) in matching(rx, &select, filter)? {
        plan.prompts.insert(id);
        losses.entry(session).or_default().1 += 1;
    }
    for (prompt, lost) in actions {
        if plan.prompts.contains(&prompt) {
            continue;
        }
        if number(rx, "SELECT count(*) FROM observations WHERE prompt = ?1", prompt)? > lost {
            plan.recounted.push(prompt);
            continue;
        }
        let session = number(rx, "SELECT session FROM prompts WHERE id = ?1", prompt)?;
        plan.prompts.insert(prompt);
        losses.entry(i64::try_from(session).unwrap_or_default()).or_default().1 += 1;
    }
    // The session's own row is a record of its summary.
    let select = format!("SELECT id, session, NULL FROM {SESSIONS} WHERE {CONDITIONS}");
    for (id, _, _) in matching(rx, &select, filter)? {
        losses.entry(id).or_default();
    }
    for (session, (seen, said)) in losses {
        let had = number(rx, "SELECT count(*) FROM observations WHERE session = ?1", session)?;
        let heard = number(rx, "SELECT count(*) FROM prompts WHERE session = ?1", session)?;
        let nothing_left = had == seen && heard == said;
        let whole = filter.is_sweeping() || filter.whole_sessions.contains(&session);
        if nothing_left && (seen + said > 0 || whole) {
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

type Match = (i64, i64, Option<i64>);

fn matching(rx: &Rx<'_>, select: &str, filter: &PurgeFilter) -> Result<Vec<Match>, OpError> {
    let list = |ids: &Option<Vec<i64>>| ids.as_ref().map(|ids| json(ids));
    let given = params![
        list(&filter.projects),
        filter.session,
        list(&filter.ids),
        filter.before,
        filter.kind.map(ObsType::word)
    ];
    let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?, row.cell(2)?));
    rx.sql(|db| db.prepare(select)?.query_map(given, read)?.collect())
}

fn json(ids: &[i64]) -> String {
    let words: Vec<String> = ids.iter().map(i64::to_string).collect();
    format!("[{}]", words.join(","))
}

fn number(rx: &Rx<'_>, sql: &str, of: i64) -> Result<u64, OpError> {
    rx.sql(|db| db.prepare_cached(sql)?.query_row([of], |row| row.cell(0)))
}

/// Children go before their parents.
fn remove(tx: &Tx<'_>, plan: &Plan) -> Result<(), OpError> {
    for id in &plan.observations {
        observations::remove(tx, *id)?;
    }
    for id in &plan.prompts {
        prompts::remove(tx, *id)?;
    }
    for id in &plan.recounted {
        prompts::recount(tx, *id)?;
    }
    forget_receipts(tx, plan)?;
    for id in &plan.sessions {
        sessions::remove(tx, *id)?;
    }
    for id in &plan.summaries {
        sessions::summarise(tx, *id)?;
    }
    for id in &plan.projects {
        if let Some(project) = scrub::project(tx, *id)? {
            project.forget_answers(tx)?;
        }
        projects::remove_empty(tx, *id)?;
    }
    passages::optimize(tx).map(drop)
}

/// A receipt says why a record was told, in words of the record.
fn forget_receipts(tx: &Tx<'_>, plan: &Plan) -> Result<(), OpError> {
    const FORGET: &str = "DELETE FROM receipts WHERE path IN \
         (SELECT 'obs://' || value FROM json_each(?1))";
    let gone: Vec<i64> = plan.observations.iter().chain(&plan.prompts).copied().collect();
    tx.sql(|db| db.execute(FORGET, [json(&gone)]).map(drop))
}
