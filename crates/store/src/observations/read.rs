//! Reads observations: by id, by session and around an anchor.

use index::kind_of;
use model::observation::{ObsType, Observation};
use model::session::{Deed, Session, Summary};
use model::{OpError, limits};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Params, Row, params, params_from_iter};
use serde_json::{Map, Value};
use text::secrets::{redacted_rules, redacted_rules_json};

use crate::cells::{Cells as _, Watched};
use crate::recent::{self, RecentQuery, Taken};
use crate::tx::Rx;
use crate::{projects, prompts, sessions};

/// The query for [`observation`]; the caller appends the condition. Other tables are joined by id, so a record
/// with a damaged id is shown without its session or project.
pub(crate) const COLUMNS: &str = "SELECT o.id, o.at, s.name, o.project, p.name, o.kind, \
     o.source_event, o.tool, f.path, o.content, o.metadata, o.pinned, o.prompt, s.agent, o.agent_id, \
     o.count, o.last_at FROM observations o LEFT JOIN sessions s ON s.id = o.session \
     LEFT JOIN projects p ON p.id = o.project LEFT JOIN paths f ON f.id = o.file ";

/// The records with these ids, in the given order, each once; deleted records are left out. Prompts and
/// session summaries are records too.
pub fn get(rx: &Rx<'_>, ids: &[i64]) -> Result<Vec<Observation>, OpError> {
    let mut found: Vec<Observation> = Vec::with_capacity(ids.len());
    for (place, id) in ids.iter().enumerate() {
        if !ids.iter().take(place).any(|earlier| earlier == id)
            && let Some(record) = one(rx, *id)?
        {
            found.push(record);
        }
    }
    Ok(found)
}

/// The record with this id: an observation, a prompt, a session's summary or a record of another aggregate.
pub fn one(rx: &Rx<'_>, id: i64) -> Result<Option<Observation>, OpError> {
    if let Some(found) = select(rx, "WHERE o.id = ?1", [id])?.pop() {
        return Ok(Some(found));
    }
    if let Some(found) = prompt(rx, id)? {
        return Ok(Some(found));
    }
    if let Some(found) = summary(rx, id)? {
        return Ok(Some(found));
    }
    rx.registry().record(rx, id)
}

/// The record with this id, which is known to be of this kind: its table is asked first.
pub fn one_of_kind(rx: &Rx<'_>, id: i64, kind: ObsType) -> Result<Option<Observation>, OpError> {
    let found = match kind {
        ObsType::UserPrompt => prompt(rx, id)?,
        ObsType::SessionSummary => summary(rx, id)?,
        _ => None,
    };
    if found.is_some() { Ok(found) } else { one(rx, id) }
}

/// The pinned observations of these projects, project by project, at most `limit` of each, newest
/// first.
pub fn pinned(rx: &Rx<'_>, projects: &[i64], limit: usize) -> Result<Vec<Observation>, OpError> {
    const PINNED: &str =
        "WHERE o.project = ?1 AND o.pinned = 1 ORDER BY o.at DESC, o.id DESC LIMIT ?2";
    let mut found = Vec::new();
    for project in projects {
        found.extend(select(rx, PINNED, params![project, limit])?);
    }
    Ok(found)
}

pub(crate) const PINNED_TALK: &str = "SELECT id FROM prompts WHERE project = ?1 AND pinned = 1 \
     ORDER BY at DESC, id DESC LIMIT ?2";
pub(crate) const PINNED_SESSIONS: &str = "SELECT id FROM sessions \
     WHERE project = ?1 AND pinned = 1 ORDER BY last_at DESC, id DESC LIMIT ?2";

/// The newest pinned records of these projects, at most `limit`: observations, prompts and
/// summaries.
pub fn pinned_records(
    rx: &Rx<'_>,
    projects: &[i64],
    limit: usize,
) -> Result<Vec<Observation>, OpError> {
    let mut found = pinned(rx, projects, limit)?;
    for (project, query) in
        projects.iter().flat_map(|id| [(id, PINNED_TALK), (id, PINNED_SESSIONS)])
    {
        let ids: Vec<i64> = rx.sql(|db| {
            let mut select = db.prepare_cached(query)?;
            select.query_map(params![project, limit], |row| row.cell(0))?.collect()
        })?;
        found.extend(get(rx, &ids)?);
    }
    Ok(newest_first(found, limit))
}

/// The ids of those observations whose content contains `text`, which has to be in lower case.
/// ASCII case is ignored.
pub fn containing(rx: &Rx<'_>, ids: &[i64], text: &str) -> Result<Vec<i64>, OpError> {
    const CONTAINING: &str =
        "SELECT id FROM observations WHERE id = ?1 AND instr(lower(content), ?2) > 0";
    rx.sql(|db| {
        let mut select = db.prepare_cached(CONTAINING)?;
        let mut found = Vec::new();
        for id in ids {
            found.extend(select.query_row(params![id, text], |row| row.cell::<i64>(0)).optional()?);
        }
        Ok(found)
    })
}

pub(crate) const LATELY: &str = "WHERE o.project = ?1 AND o.kind = ?2 AND o.at >= ?3 \
     ORDER BY o.at DESC, o.id DESC LIMIT ?4";
/// Contains the condition of the index `observations_runs` literally; otherwise SQLite would not
/// use the index.
pub(crate) const RUNS: &str = "WHERE o.project = ?1 AND instr(o.metadata, '\"run\":{') > 0 \
     AND o.at >= ?2 ORDER BY o.at DESC, o.id DESC LIMIT ?3";

/// The newest observations of these kinds in these projects from this time on, newest first.
pub fn lately(
    rx: &Rx<'_>,
    projects: &[i64],
    kinds: &[ObsType],
    since: i64,
    limit: usize,
) -> Result<Vec<Observation>, OpError> {
    let mut found: Vec<Observation> = Vec::new();
    for project in projects {
        for kind in kinds {
            // Once the list is full, no record older than its last one can enter it.
            let enough = found.get(limit.saturating_sub(1)).map_or(since, |last| last.at_ms);
            found.extend(select(rx, LATELY, params![project, kind.word(), enough, limit])?);
            found = newest_first(found, limit);
        }
    }
    Ok(found)
}

/// The newest runs of tests and builds in these projects from this time on, newest first.
pub fn runs(
    rx: &Rx<'_>,
    projects: &[i64],
    since: i64,
    limit: usize,
) -> Result<Vec<Observation>, OpError> {
    let mut found = Vec::new();
    for project in projects {
        found.extend(select(rx, RUNS, params![project, since, limit])?);
    }
    Ok(newest_first(found, limit))
}

/// `+` keeps SQLite from reading all records of the project: those of a session are in an index of their own.
pub(crate) const OF_SESSION: &str = "WHERE o.session = ?1 AND +o.project = ?2 AND o.kind = ?3 \
     ORDER BY o.at DESC, o.id DESC LIMIT ?4";
/// Runs have an index of their own, which has far fewer rows than the session has records.
pub(crate) const RUNS_OF_SESSION: &str = "WHERE o.project = ?1 AND instr(o.metadata, '\"run\":{') > 0 \
     AND o.at >= ?2 AND +o.session = ?3 ORDER BY o.at DESC, o.id DESC LIMIT ?4";
pub(crate) const ANSWERS_OF_SESSION: &str = "WHERE o.session = ?1 AND +o.project = ?2 \
     AND o.kind = 'answer' AND o.failed = 0 AND (?3 OR o.agent_id IS NULL) \
     ORDER BY o.at DESC, o.id DESC LIMIT ?4";

/// A session, and the projects whose records of it are read.
#[derive(Clone, Copy, Debug)]
pub struct SessionScope<'a> {
    pub session: &'a Session,
    pub projects: &'a [i64],
}

/// The newest observations of these kinds in a session, newest first, however many other sessions followed.
pub fn of_session(
    rx: &Rx<'_>,
    scope: SessionScope<'_>,
    kinds: &[ObsType],
    limit: usize,
) -> Result<Vec<Observation>, OpError> {
    let mut found = Vec::new();
    for project in scope.projects {
        for kind in kinds {
            let given = params![scope.session.id, project, kind.word(), limit];
            found.extend(select(rx, OF_SESSION, given)?);
        }
    }
    Ok(newest_first(found, limit))
}

/// The newest runs of tests and builds in a session, newest first.
pub fn runs_of_session(
    rx: &Rx<'_>,
    scope: SessionScope<'_>,
    limit: usize,
) -> Result<Vec<Observation>, OpError> {
    let mut found = Vec::new();
    for project in scope.projects {
        let given = params![project, scope.session.started_at, scope.session.id, limit];
        found.extend(select(rx, RUNS_OF_SESSION, given)?);
    }
    Ok(newest_first(found, limit))
}

/// The newest answers in a session that did not fail, newest first; those of subagents only if they are asked for.
pub fn answers_of_session(
    rx: &Rx<'_>,
    scope: SessionScope<'_>,
    of_subagents: bool,
    limit: usize,
) -> Result<Vec<Observation>, OpError> {
    let mut found = Vec::new();
    for project in scope.projects {
        let given = params![scope.session.id, project, of_subagents, limit];
        found.extend(select(rx, ANSWERS_OF_SESSION, given)?);
    }
    Ok(newest_first(found, limit))
}

pub(crate) const NEXT_RUNS: &str = "WHERE o.project = ?1 AND instr(o.metadata, '\"run\":{') > 0 \
     AND o.at >= ?2 ORDER BY o.at, o.id LIMIT ?3";

/// The first runs of tests and builds in a project from this time on, in order.
pub fn next_runs(
    rx: &Rx<'_>,
    project: i64,
    since: i64,
    limit: usize,
) -> Result<Vec<Observation>, OpError> {
    select(rx, NEXT_RUNS, params![project, since, limit])
}

pub(crate) const EDITED_PATHS: &str = "SELECT f.path FROM observations o \
     JOIN paths f ON f.id = o.file WHERE o.project = ?1 AND o.kind = ?2 \
     ORDER BY o.at DESC, o.id DESC LIMIT ?3";

/// The paths that were edited last in a project and those that were written last, at most `limit`
/// each.
pub fn edited_paths(rx: &Rx<'_>, project: i64, limit: usize) -> Result<Vec<String>, OpError> {
    let mut paths = Vec::new();
    for kind in [ObsType::FileEdit, ObsType::FileWrite] {
        let given = params![project, kind.word(), limit];
        let found: Vec<String> = rx.sql(|db| {
            db.prepare_cached(EDITED_PATHS)?.query_map(given, |row| row.cell(0))?.collect()
        })?;
        paths.extend(found);
    }
    Ok(paths)
}

fn newest_first(mut found: Vec<Observation>, limit: usize) -> Vec<Observation> {
    found.sort_by_key(|seen| std::cmp::Reverse((seen.at_ms, seen.id)));
    found.truncate(limit);
    found
}

/// A prompt as an observation.
fn prompt(rx: &Rx<'_>, id: i64) -> Result<Option<Observation>, OpError> {
    let Some((prompt, source_event, agent)) = prompts::with_origin(rx, id)? else {
        return Ok(None);
    };
    let mut metadata = Map::new();
    metadata.insert("actions".into(), prompt.actions.into());
    if let Some(own) = prompt.agent_prompt_id {
        metadata.insert("agent_prompt_id".into(), own.into());
    }
    Ok(Some(with_rules(Observation {
        id,
        timestamp: prompt.at.div_euclid(1000),
        session_id: prompt.session_id,
        project: prompt.project,
        obs_type: ObsType::UserPrompt.into(),
        source_event,
        tool_name: None,
        file_path: None,
        content: prompt.content,
        metadata: Some(Value::Object(metadata)),
        is_pinned: prompt.is_pinned,
        prompt_id: Some(id),
        agent,
        agent_id: None,
        damaged: prompt.damaged,
        at_ms: prompt.at,
        project_row: prompt.project_id,
    })))
}

/// A session's summary as an observation of the whole session.
fn summary(rx: &Rx<'_>, id: i64) -> Result<Option<Observation>, OpError> {
    let Some(session) = sessions::by_id(rx, id)? else { return Ok(None) };
    let Some(summary) = session.summary else { return Ok(None) };
    let damaged = summary.is_damaged();
    Ok(Some(with_rules(Observation {
        id,
        timestamp: session.last_at.div_euclid(1000),
        session_id: session.session_id,
        project: session.project,
        obs_type: ObsType::SessionSummary.into(),
        source_event: "Stop".into(),
        tool_name: None,
        file_path: None,
        content: summary.told(),
        metadata: serde_json::to_value(summary).ok(),
        is_pinned: session.is_pinned,
        prompt_id: None,
        agent: session.agent,
        agent_id: None,
        damaged,
        at_ms: session.last_at,
        project_row: session.project_id,
    })))
}

/// The first later run of the same command in the session that succeeded. A run with an unknown result, such
/// as a commit that git did not make, does not count, nor does one that was interrupted or continues in the background.
pub fn worked_later(rx: &Rx<'_>, failed: &Observation) -> Result<Option<i64>, OpError> {
    const WORKED: &str = "SELECT id FROM observations \
         WHERE session = (SELECT id FROM sessions WHERE name = ?1) AND at > ?2 \
         AND kind IN ('command', 'git_commit', 'git_push', 'github') AND failed = 0 AND content = ?3 \
         AND CASE WHEN json_valid(metadata) THEN json_extract(metadata, '$.run.result') IS NOT 'unknown' \
         AND json_extract(metadata, '$.background') IS NOT 1 \
         AND json_extract(metadata, '$.is_interrupt') IS NOT 1 ELSE 1 END ORDER BY at, id LIMIT 1";
    let values = params![failed.session_id, failed.at_ms, failed.content];
    rx.sql(|db| db.prepare_cached(WORKED)?.query_row(values, |row| row.cell(0)).optional())
}

pub(crate) const BETWEEN: &str = "WHERE o.session = ?1 AND (o.at, o.id) > (?2, ?3) \
     AND (o.at, o.id) < (?4, ?5) ORDER BY o.at DESC, o.id DESC LIMIT ?6";

/// The observations of a session between two records, each given with its time; the last `limit` of them, in order of
/// time.
pub fn between(
    rx: &Rx<'_>,
    session: i64,
    (from, to): ((i64, i64), (i64, i64)),
    limit: usize,
) -> Result<Vec<Observation>, OpError> {
    let mut found = select(rx, BETWEEN, params![session, from.0, from.1, to.0, to.1, limit])?;
    found.reverse();
    Ok(found)
}

/// A record with its neighbours in the session, each side in order of time.
pub type Surroundings = (Observation, Vec<Observation>, Vec<Observation>);

pub(crate) const BEFORE: &str = "WHERE o.session = ?1 AND (o.at, o.id) < (?2, ?3) \
     ORDER BY o.at DESC, o.id DESC LIMIT ?4";
pub(crate) const AFTER: &str = "WHERE o.session = ?1 AND (o.at, o.id) > (?2, ?3) \
     ORDER BY o.at, o.id LIMIT ?4";

pub(crate) const SAID_BEFORE: &str = "SELECT id FROM prompts WHERE session = ?1 \
     AND (at, id) < (?2, ?3) ORDER BY at DESC, id DESC LIMIT ?4";
pub(crate) const SAID_AFTER: &str = "SELECT id FROM prompts WHERE session = ?1 \
     AND (at, id) > (?2, ?3) ORDER BY at, id LIMIT ?4";

/// The record with this id, and the observations and prompts of its session around it; none if it was deleted.
pub fn around(
    rx: &Rx<'_>,
    id: i64,
    before: usize,
    after: usize,
) -> Result<Option<Surroundings>, OpError> {
    let Some(anchor) = one(rx, id)? else { return Ok(None) };
    let session: Option<i64> = rx.sql(|db| {
        let mut select = db.prepare_cached("SELECT id FROM sessions WHERE name = ?1")?;
        select.query_row([&anchor.session_id], |row| row.cell(0)).optional()
    })?;
    let given =
        |limit: usize| params_from_iter([session, Some(anchor.at_ms), Some(id), count(limit)]);
    let mut earlier = select(rx, BEFORE, given(before))?;
    earlier.extend(said(rx, SAID_BEFORE, given(before))?);
    let mut later = select(rx, AFTER, given(after))?;
    later.extend(said(rx, SAID_AFTER, given(after))?);
    earlier.sort_by_key(|record| (record.at_ms, record.id));
    later.sort_by_key(|record| (record.at_ms, record.id));
    earlier.drain(..earlier.len().saturating_sub(before));
    later.truncate(after);
    Ok(Some((anchor, earlier, later)))
}

fn count(limit: usize) -> Option<i64> {
    i64::try_from(limit).ok()
}

/// The prompts that a statement selects by their ids.
fn said(rx: &Rx<'_>, sql: &str, given: impl Params) -> Result<Vec<Observation>, OpError> {
    let ids: Vec<i64> =
        rx.sql(|db| db.prepare_cached(sql)?.query_map(given, |row| row.cell(0))?.collect())?;
    ids.into_iter().filter_map(|id| prompt(rx, id).transpose()).collect()
}

/// The newest observations and prompts of these projects, within these times (neither end included, in
/// milliseconds), the newest first. Session events, such as a start, are left out; marks of users are not.
pub fn newest(
    rx: &Rx<'_>,
    projects: Option<&[i64]>,
    (before, after): (Option<i64>, Option<i64>),
    limit: usize,
) -> Result<Vec<Observation>, OpError> {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 fit a double exactly")]
    let query = RecentQuery { projects, before, after, score: &|_, _, at| at as f64 };
    let mut found = Vec::new();
    recent::best(rx, &query, |observation, _| {
        if !observation.obs_type.kind().is_mark() {
            found.push(observation);
        }
        if found.len() < limit { Taken::GoOn } else { Taken::Enough }
    })?;
    let (before, after) = (before.unwrap_or(i64::MAX), after.unwrap_or(i64::MIN));
    for project in projects::these_or_all(rx, projects)?.iter() {
        found.extend(said(rx, SAID_LATELY, params![project, before, after, limit])?);
    }
    found.sort_by_key(|record| std::cmp::Reverse((record.at_ms, record.id)));
    found.truncate(limit);
    Ok(found)
}

pub(crate) const SAID_LATELY: &str = "SELECT id FROM prompts WHERE project = ?1 AND at < ?2 \
     AND at > ?3 ORDER BY at DESC, id DESC LIMIT ?4";

pub(crate) const DONE: &str = "SELECT id, kind, failed, count, agent_id IS NULL FROM observations \
     WHERE session = ?1 ORDER BY at DESC, id DESC";
pub(crate) const DEED: &str = "SELECT f.path, o.content, \
     CASE WHEN o.failed OR o.kind = 'git_commit' THEN o.metadata END \
     FROM observations o LEFT JOIN paths f ON f.id = o.file WHERE o.id = ?1";

/// Adds a session's actions to its summary and counts them by kind, as [`counts_of_session`] does. Most
/// sessions have more actions than their summary shows, so details are read only for those it shows.
pub(crate) fn draw(
    rx: &Rx<'_>,
    session: i64,
    summary: &mut Summary,
) -> Result<Vec<(ObsType, u64)>, OpError> {
    let mut counted: Vec<(ObsType, u64)> = Vec::new();
    let mut looked_at = 0;
    rx.sql(|db| {
        let mut select = db.prepare_cached(DONE)?;
        let mut rows = select.query([session])?;
        while let Some(row) = rows.next()? {
            let kind = kind_of(&row.text(1)?);
            let (failed, count) = (row.cell(2)?, row.cell::<u64>(3)?);
            match counted.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, sum)) => *sum = sum.saturating_add(count),
                None => counted.push((kind, count)),
            }
            // A subagent's answer is not the session's outcome.
            let is_told = kind != ObsType::Answer || row.cell(4)?;
            if is_told && summary.wants(kind, failed) && looked_at < limits::SUMMARY_ROWS_MAX {
                looked_at += 1;
                summary.add(&deed(db, row.cell(0)?, (kind, failed))?);
            }
        }
        Ok(())
    })?;
    Ok(without_marks(counted))
}

fn deed(db: &Connection, id: i64, (kind, failed): (ObsType, bool)) -> rusqlite::Result<Deed> {
    let read = |row: &Row<'_>| {
        let metadata = row.text_or_null(2)?;
        Ok(Deed {
            kind,
            failed,
            file_path: row.cell(0)?,
            content: row.cell(1)?,
            metadata: metadata.and_then(|text| serde_json::from_str(&text).ok()),
        })
    };
    db.prepare_cached(DEED)?.query_row([id], read)
}

/// How many observations there are of each kind, repeats counted once; the most frequent first.
pub fn counts(rx: &Rx<'_>, projects: Option<&[i64]>) -> Result<Vec<(ObsType, u64)>, OpError> {
    const COUNTS: &str = "SELECT kind, count(*) FROM observations WHERE project = ?1 GROUP BY kind";
    let mut counted: Vec<(ObsType, u64)> = Vec::new();
    for project in projects::these_or_all(rx, projects)?.iter() {
        for (kind, count) in count_by_kind(rx, COUNTS, *project)? {
            match counted.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, sum)) => *sum = sum.saturating_add(count),
                None => counted.push((kind, count)),
            }
        }
    }
    most_first(&mut counted);
    Ok(counted)
}

/// The number of a session's actions by kind, repeats included, without marks such as its start.
pub(crate) fn counts_of_session(rx: &Rx<'_>, session: i64) -> Result<Vec<(ObsType, u64)>, OpError> {
    const COUNTS: &str =
        "SELECT kind, sum(count) FROM observations WHERE session = ?1 GROUP BY kind";
    Ok(without_marks(count_by_kind(rx, COUNTS, session)?))
}

fn without_marks(mut counted: Vec<(ObsType, u64)>) -> Vec<(ObsType, u64)> {
    counted.retain(|(kind, _)| !kind.is_mark());
    most_first(&mut counted);
    counted
}

fn count_by_kind(rx: &Rx<'_>, sql: &str, of: i64) -> Result<Vec<(ObsType, u64)>, OpError> {
    let read = |row: &Row<'_>| Ok((row.cell::<String>(0)?, row.cell(1)?));
    let counted: Vec<(String, u64)> =
        rx.sql(|db| db.prepare_cached(sql)?.query_map([of], read)?.collect())?;
    let mut known: Vec<(ObsType, u64)> = Vec::with_capacity(counted.len());
    for (kind, count) in counted {
        let kind = kind_of(&kind);
        match known.iter_mut().find(|(of, _)| *of == kind) {
            Some((_, sum)) => *sum = sum.saturating_add(count),
            None => known.push((kind, count)),
        }
    }
    Ok(known)
}

fn most_first(counted: &mut [(ObsType, u64)]) {
    counted.sort_by_key(|(kind, count)| (std::cmp::Reverse(*count), *kind));
}

/// The observations that match a condition on the table `o`, in the order that the condition states.
pub(crate) fn select(
    rx: &Rx<'_>,
    condition: &str,
    given: impl Params,
) -> Result<Vec<Observation>, OpError> {
    rx.sql(|db| {
        let mut select = db.prepare_cached(&[COLUMNS, condition].concat())?;
        select.query_map(given, observation)?.collect()
    })
}

/// A row of [`COLUMNS`]. Damage is shown in the text of the record.
pub(crate) fn observation(row: &Row<'_>) -> rusqlite::Result<Observation> {
    let own = Watched::new(row);
    let obs_type = kind(&own, 5)?;
    let (at, last_at) = (own.time(1)?, own.time_or_null(16)?);
    let mut metadata = json(&own, 10)?;
    if row.get_ref(2)? == ValueRef::Null || row.get_ref(4)? == ValueRef::Null {
        // Its session or its project does not exist.
        own.note_damage();
    }
    let count: u64 = own.cell(15)?;
    if count > 1 {
        let mut members = match metadata {
            Some(Value::Object(members)) => members,
            _ => Map::new(),
        };
        members.insert("count".into(), count.into());
        if let Some(last) = last_at {
            members.insert("last_timestamp".into(), last.div_euclid(1000).into());
        }
        metadata = Some(Value::Object(members));
    }
    let mut found = Observation {
        id: own.cell(0)?,
        timestamp: at.div_euclid(1000),
        // Joined columns: a damaged session or project does not make the record damaged.
        session_id: row.cell(2)?,
        project: projects::name(row, 4)?,
        obs_type: obs_type.into(),
        source_event: own.cell(6)?,
        tool_name: own.cell(7)?,
        file_path: row.cell(8)?,
        content: own.cell(9)?,
        metadata,
        is_pinned: own.cell(11)?,
        prompt_id: own.cell(12)?,
        agent: row.cell(13)?,
        agent_id: own.cell(14)?,
        damaged: false,
        at_ms: at,
        project_row: own.cell(3)?,
    };
    if own.is_damaged() {
        found.damaged = true;
        found.content = own.marked(found.content);
    }
    Ok(with_rules(found))
}

/// Lists the rules of the secret guard whose redactions the record contains, in `metadata.redacted`. The rules are read
/// from the texts, because a scrub or a new summary changes the texts later. If a record has only a part of its
/// command, capture has stored the rules of the whole command.
fn with_rules(mut record: Observation) -> Observation {
    let path = record.file_path.as_deref().unwrap_or_default();
    let mut rules = redacted_rules(&record.content);
    rules.extend(redacted_rules(path));
    rules.extend(record.metadata.iter().flat_map(redacted_rules_json));
    if rules.is_empty() {
        return record;
    }
    let stored = record.metadata.as_ref().and_then(|metadata| metadata.get("redacted")?.as_array());
    rules.extend(stored.into_iter().flatten().filter_map(Value::as_str));
    let rules: Value = rules.into_iter().collect();
    let metadata = record.metadata.get_or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(members) = metadata {
        members.insert("redacted".into(), rules);
    }
    record
}

/// The kind in this column.
pub(crate) fn kind(row: &Watched<'_, '_>, column: usize) -> rusqlite::Result<ObsType> {
    let word = row.text(column)?;
    if ObsType::parse(&word).is_none() {
        row.note_damage();
    }
    Ok(kind_of(&word))
}

/// The JSON in this column; `None` if it is invalid.
fn json(row: &Watched<'_, '_>, column: usize) -> rusqlite::Result<Option<Value>> {
    let text = row.text_or_null(column)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).map_err(|_| row.note_damage()).ok()))
}

/// When the host of a session last dropped its context, by a compaction or a clear.
pub fn context_dropped_at(rx: &Rx<'_>, session: i64) -> Result<Option<i64>, OpError> {
    const DROPPED: &str = "SELECT max(at) FROM observations \
         WHERE session = ?1 AND kind IN ('session_compact', 'session_clear')";
    rx.sql(|db| db.prepare_cached(DROPPED)?.query_row([session], |row| row.cell(0)))
}
