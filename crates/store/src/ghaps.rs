//! Ghaps in the store. An active one belongs to a session and a project; a resolved one is an experience. Callers have
//! refused secrets in every text.

mod aggregate;

use model::OpError;
use model::ghap::{
    ConfidenceTier, ExperienceAxis, Ghap, GhapDomain, GhapStatus, GhapStrategy, Resolution,
    RunEvidence, ghap_name,
};
use model::limits;
use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::aggregate::json_ids;
use crate::cells::Cells as _;
use crate::tx::{Rx, Tx};
use crate::{calls, passages, receipts, record_ids};

pub(crate) use aggregate::Ghaps;

/// The words for the kinds of these records: resolved and active ones.
pub const EXPERIENCE: &str = "experience";
pub const ACTIVE: &str = "ghap";

/// The scheme of their entries.
pub const SCHEME: &str = "ghap";

/// The path in the receipt of the suggestion to start a ghap. It is no entry: there is no ghap yet.
pub const SUGGESTION: &str = "ghap://new";

/// A ghap to be started.
#[derive(Clone, Copy, Debug)]
pub struct NewGhap<'a> {
    /// The session in the store.
    pub owner: i64,
    pub project: i64,
    /// The root of the project's directory, by which a split of the project moves it.
    pub root: Option<&'a str>,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    pub domain: GhapDomain,
    pub strategy: GhapStrategy,
    pub goal: &'a str,
    pub hypothesis: &'a str,
    pub action: &'a str,
    pub prediction: &'a str,
}

/// Stores a new active ghap. Returns its name.
pub fn start(tx: &Tx<'_>, new: &NewGhap<'_>) -> Result<String, OpError> {
    const START: &str = "INSERT INTO ghaps (id, name, owner, project, root, at, started_at, \
         changed_at, status, domain, strategy, goal, hypothesis, action, prediction, iteration, \
         history, notes, evidence) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?6, 'hypothesis', ?7, ?8, \
         ?9, ?10, ?11, ?12, 1, '[]', '[]', '[]')";
    let id = record_ids::next(tx)?;
    let name = ghap_name(id, new.at);
    let NewGhap { owner, project, root, at, domain, strategy, .. } = new;
    let NewGhap { goal, hypothesis, action, prediction, .. } = new;
    let (domain, strategy) = (domain.word(), strategy.word());
    let given = params![
        id, name, owner, project, root, at, domain, strategy, goal, hypothesis, action, prediction
    ];
    tx.sql(|db| db.prepare_cached(START)?.execute(given))?;
    passages::add(tx, id)?;
    Ok(name)
}

const COLUMNS: &str = "SELECT g.id, g.name, g.owner, coalesce(s.name, ''), g.project, \
     coalesce(p.name, ''), g.started_at, g.at, g.changed_at, g.status, g.domain, g.strategy, \
     g.goal, g.hypothesis, g.action, g.prediction, g.iteration, g.history, g.notes, g.evidence, \
     g.result, g.surprise, g.root_cause, g.lesson, g.tier FROM ghaps g \
     LEFT JOIN sessions s ON s.id = g.owner LEFT JOIN projects p ON p.id = g.project ";

fn read(row: &Row<'_>) -> rusqlite::Result<Ghap> {
    fn parsed<T: DeserializeOwned>(json: Option<String>) -> Option<T> {
        serde_json::from_str(&json?).ok()
    }
    let word = |column: usize| row.text(column);
    let result: Option<String> = row.cell(20)?;
    // An unknown status, which only damage produces, counts as resolved, so that the ghap does not block its session.
    let status = GhapStatus::parse(&word(9)?).unwrap_or(GhapStatus::Abandoned);
    let tier: Option<String> = row.cell(24)?;
    Ok(Ghap {
        id: row.cell(0)?,
        name: row.cell(1)?,
        owner: row.cell(2)?,
        session_id: row.cell(3)?,
        project: row.cell(4)?,
        project_name: row.cell(5)?,
        started_at: row.cell(6)?,
        at: row.cell(7)?,
        changed_at: row.cell(8)?,
        status,
        domain: GhapDomain::parse(&word(10)?).unwrap_or(GhapDomain::Debugging),
        strategy: GhapStrategy::parse(&word(11)?).unwrap_or(GhapStrategy::TrialAndError),
        goal: row.cell(12)?,
        hypothesis: row.cell(13)?,
        action: row.cell(14)?,
        prediction: row.cell(15)?,
        iteration: row.cell(16)?,
        history: parsed(row.cell(17)?).unwrap_or_default(),
        notes: parsed(row.cell(18)?).unwrap_or_default(),
        evidence: parsed(row.cell(19)?).unwrap_or_default(),
        result: result.or_else(|| (status != GhapStatus::Hypothesis).then(String::new)),
        surprise: row.cell(21)?,
        root_cause: parsed(row.cell(22)?),
        lesson: parsed(row.cell(23)?),
        tier: tier.as_deref().and_then(ConfidenceTier::parse),
    })
}

/// The order of active ghaps. The plus sign makes SQLite read the few active ghaps through their index, instead of
/// walking all ghaps of the project by time.
const ACTIVE_NEWEST: &str = "ORDER BY +g.at DESC, g.id DESC";

/// The active ghap of a session in a project. A merge of projects may leave two active ghaps: the newest is returned.
pub fn active(rx: &Rx<'_>, session: i64, project: i64) -> Result<Option<Ghap>, OpError> {
    let select = active_lookup();
    rx.sql(|db| db.prepare_cached(&select)?.query_row([session, project], read).optional())
}

pub(crate) fn active_lookup() -> String {
    format!(
        "{COLUMNS} WHERE g.owner = ?1 AND g.project = ?2 AND g.status = 'hypothesis' \
         {ACTIVE_NEWEST} LIMIT 1"
    )
}

/// Whether a session has an active ghap in a project.
pub fn has_active(rx: &Rx<'_>, session: i64, project: i64) -> Result<bool, OpError> {
    const HAS: &str = "SELECT EXISTS (SELECT 1 FROM ghaps \
         WHERE owner = ?1 AND project = ?2 AND status = 'hypothesis')";
    rx.sql(|db| db.prepare_cached(HAS)?.query_row([session, project], |row| row.cell(0)))
}

/// Whether any session has an active ghap.
pub fn is_any_active(rx: &Rx<'_>) -> Result<bool, OpError> {
    const ANY: &str = "SELECT EXISTS (SELECT 1 FROM ghaps WHERE status = 'hypothesis')";
    rx.sql(|db| db.prepare_cached(ANY)?.query_row([], |row| row.cell(0)))
}

/// The ghap with this name.
pub fn by_name(rx: &Rx<'_>, name: &str) -> Result<Option<Ghap>, OpError> {
    let select = format!("{COLUMNS} WHERE g.name = ?1");
    rx.sql(|db| db.prepare_cached(&select)?.query_row([name], read).optional())
}

/// The ghap with this record id.
pub fn by_id(rx: &Rx<'_>, id: i64) -> Result<Option<Ghap>, OpError> {
    let select = format!("{COLUMNS} WHERE g.id = ?1");
    rx.sql(|db| db.prepare_cached(&select)?.query_row([id], read).optional())
}

/// Which ghaps a list has.
#[derive(Clone, Copy, Debug, Default)]
pub struct GhapFilter<'a> {
    /// None for all projects.
    pub projects: Option<&'a [i64]>,
    /// None for all resolved ones.
    pub status: Option<GhapStatus>,
    pub domain: Option<GhapDomain>,
    /// Not before this time, in milliseconds since 1970.
    pub since: Option<i64>,
}

/// The newest ghaps that match, by the time of their resolution or, if they are active, of their start.
pub fn list(rx: &Rx<'_>, filter: &GhapFilter<'_>, limit: usize) -> Result<Vec<Ghap>, OpError> {
    // Only a literal lets SQLite use the index of the active ones.
    let (status, order) = match filter.status {
        Some(GhapStatus::Hypothesis) => ("g.status = 'hypothesis'", ACTIVE_NEWEST),
        _ => (
            "g.status <> 'hypothesis' AND (?2 IS NULL OR g.status = ?2)",
            "ORDER BY g.at DESC, g.id DESC",
        ),
    };
    let select = format!(
        "{COLUMNS} WHERE (?1 IS NULL OR g.project IN (SELECT value FROM json_each(?1))) \
         AND {status} AND (?3 IS NULL OR g.domain = ?3) AND (?4 IS NULL OR g.at >= ?4) \
         {order} LIMIT ?5"
    );
    let projects = filter.projects.map(|ids| json_ids(ids.iter().copied()));
    let (status, domain) =
        (filter.status.map(GhapStatus::word), filter.domain.map(GhapDomain::word));
    let given = params![projects, status, domain, filter.since, limit];
    rx.sql(|db| db.prepare_cached(&select)?.query_map(given, read)?.collect())
}

/// An experience on one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Experience {
    /// The record id.
    pub id: i64,
    pub name: String,
    /// Its text on the axis.
    pub text: String,
    /// The weight of its tier, from 0 to 1.
    pub weight: f64,
    /// The takeaway, else what worked, else the result.
    pub lesson: String,
}

/// The experiences of a project that have something to say on an axis, in order of their ids.
pub fn experiences(
    rx: &Rx<'_>,
    project: i64,
    axis: ExperienceAxis,
) -> Result<Vec<Experience>, OpError> {
    let select =
        format!("{COLUMNS} WHERE g.project = ?1 AND g.status <> 'hypothesis' ORDER BY g.id");
    let all: Vec<Ghap> =
        rx.sql(|db| db.prepare_cached(&select)?.query_map([project], read)?.collect())?;
    let on_axis = |ghap: Ghap| {
        Some(Experience {
            text: ghap.axis_text(axis)?,
            weight: ghap.tier.map_or(0.0, ConfidenceTier::weight),
            lesson: ghap.lesson_text().to_owned(),
            id: ghap.id,
            name: ghap.name,
        })
    };
    Ok(all.into_iter().filter_map(on_axis).collect())
}

/// How many ghaps are active and how many are resolved, in these projects or in all.
pub fn counts(rx: &Rx<'_>, projects: Option<&[i64]>) -> Result<(u64, u64), OpError> {
    const COUNTS: &str = "SELECT count(*) FILTER (WHERE status = 'hypothesis'), \
         count(*) FILTER (WHERE status <> 'hypothesis') FROM ghaps \
         WHERE ?1 IS NULL OR project IN (SELECT value FROM json_each(?1))";
    let projects = projects.map(|ids| json_ids(ids.iter().copied()));
    rx.sql(|db| {
        db.prepare_cached(COUNTS)?.query_row([projects], |row| Ok((row.cell(0)?, row.cell(1)?)))
    })
}

fn json<T: Serialize>(value: &T) -> Result<String, OpError> {
    serde_json::to_string(value)
        .map_err(|error| OpError::internal(format!("a ghap is not JSON: {error}")))
}

/// The newest of these, as many as a ghap may have.
fn newest<T>(list: &[T]) -> &[T] {
    list.get(list.len().saturating_sub(limits::GHAP_HISTORY_MAX)..).unwrap_or_default()
}

/// Stores the changed hypothesis, action, prediction, strategy and notes of an active ghap.
pub fn update(tx: &Tx<'_>, ghap: &Ghap) -> Result<(), OpError> {
    const UPDATE: &str = "UPDATE ghaps SET strategy = ?2, hypothesis = ?3, action = ?4, \
         prediction = ?5, iteration = ?6, changed_at = ?7, history = ?8, notes = ?9 \
         WHERE id = ?1 AND status = 'hypothesis'";
    let Ghap { id, hypothesis, action, prediction, iteration, changed_at, .. } = ghap;
    let (strategy, history) = (ghap.strategy.word(), json(&newest(&ghap.history))?);
    let notes = json(&newest(&ghap.notes))?;
    let given = params![
        id, strategy, hypothesis, action, prediction, iteration, changed_at, history, notes
    ];
    tx.sql(|db| db.prepare_cached(UPDATE)?.execute(given))?;
    passages::renewed(tx, *id)
}

/// Adds a run to the evidence of an active ghap. Runs with a time in the future are dropped from it, this one included.
pub fn add_evidence(tx: &Tx<'_>, ghap: &Ghap, run: &RunEvidence) -> Result<(), OpError> {
    const ADD: &str = "UPDATE ghaps SET evidence = ?2 WHERE id = ?1 AND status = 'hypothesis'";
    let mut evidence = ghap.evidence.clone();
    evidence.push(run.clone());
    // A run from the future is one of a clock that was ahead and has been set back since. When its time comes, it would count
    // as later than the runs that really followed it.
    evidence.retain(|run| run.at <= tx.at());
    // Spooled events may arrive late.
    evidence.sort_by_key(|run| run.at);
    let evidence = json(&newest(&evidence))?;
    tx.sql_on_row(|db| db.prepare_cached(ADD)?.execute(params![ghap.id, evidence])).map(drop)
}

/// Resolves an active ghap: it becomes an experience of this tier, which search finds on all its axes.
pub fn resolve(
    tx: &Tx<'_>,
    ghap: &Ghap,
    resolution: &Resolution,
    (tier, at): (ConfidenceTier, i64),
) -> Result<(), OpError> {
    const RESOLVE: &str = "UPDATE ghaps SET status = ?2, at = ?3, result = ?4, surprise = ?5, \
         root_cause = ?6, lesson = ?7, tier = ?8 WHERE id = ?1 AND status = 'hypothesis'";
    let status = GhapStatus::from(resolution.outcome).word();
    let cause = resolution.root_cause.as_ref().map(json).transpose()?;
    let lesson = resolution.lesson.as_ref().map(json).transpose()?;
    let Resolution { result, surprise, .. } = resolution;
    let given = params![ghap.id, status, at, result, surprise, cause, lesson, tier.word()];
    tx.sql(|db| db.prepare_cached(RESOLVE)?.execute(given))?;
    passages::renewed(tx, ghap.id)
}

/// Gives an active ghap to another session. Earlier evidence no longer counts.
pub fn adopt(tx: &Tx<'_>, ghap: &Ghap, session: i64, at: i64) -> Result<(), OpError> {
    const ADOPT: &str = "UPDATE ghaps SET owner = ?2, changed_at = ?3, evidence = '[]' \
         WHERE id = ?1 AND status = 'hypothesis'";
    tx.sql(|db| db.prepare_cached(ADOPT)?.execute(params![ghap.id, session, at]).map(drop))
}

/// The active ghaps of a project whose session has ended or was deleted, or has had no event since `quiet_since` while
/// another session of the project had one; the newest first. Those of `session` are not orphans.
pub fn orphans(
    rx: &Rx<'_>,
    project: i64,
    session: Option<i64>,
    quiet_since: i64,
) -> Result<Vec<Ghap>, OpError> {
    let select = orphans_lookup();
    let given = params![project, session, quiet_since, limits::GHAPS_LISTED_MAX];
    rx.sql(|db| db.prepare_cached(&select)?.query_map(given, read)?.collect())
}

pub(crate) fn orphans_lookup() -> String {
    format!(
        "{COLUMNS} WHERE g.project = ?1 AND g.status = 'hypothesis' \
         AND (?2 IS NULL OR g.owner <> ?2) AND (s.id IS NULL OR s.state = 'ended' \
         OR (s.last_at < ?3 AND EXISTS (SELECT 1 FROM sessions o WHERE o.project = ?1 \
         AND o.id <> s.id AND o.state <> 'ended' AND o.last_at >= ?3))) \
         {ACTIVE_NEWEST} LIMIT ?4"
    )
}

/// Removes a ghap, its words and its receipts.
pub fn remove(tx: &Tx<'_>, id: i64) -> Result<bool, OpError> {
    const REMOVE: &str = "DELETE FROM ghaps WHERE id = ?1 RETURNING name";
    passages::remove(tx, id)?;
    let name: Option<String> =
        tx.sql(|db| db.prepare_cached(REMOVE)?.query_row([id], |row| row.cell(0)).optional())?;
    let Some(name) = name else { return Ok(false) };
    receipts::forget_path(tx, &format!("{SCHEME}://{name}"))?;
    // Stored answers of calls may contain its texts.
    calls::forget_with(tx, &name, true)?;
    Ok(true)
}
