//! Prompts in the store: their texts, and how many actions followed each.

mod aggregate;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::session::{Prompt, PromptSource, Session, tells_intent};
use model::{OpError, limits};
use rusqlite::{OptionalExtension, Row, params};
use serde_json::{Map, Value};
use text::secrets::Redacted;

use crate::cells::{Cells as _, Watched};
use crate::deferred::Deferred;
use crate::tx::{Rx, Tx};
use crate::{activity_counts, origins, passages, projects, record_ids, retention};

#[cfg(test)]
pub(crate) use aggregate::OLD_PROMPTS;
pub(crate) use aggregate::Prompts;

/// Work for the end of a group of writes: how many actions followed prompts.
#[derive(Default)]
struct ActionCounts {
    further: BTreeMap<i64, u32>,
    /// Prompts whose actions were recounted, including the actions of the group up to that time.
    recounted: BTreeSet<i64>,
}

impl ActionCounts {
    fn recount(&mut self, prompt: i64) {
        self.further.remove(&prompt);
        self.recounted.insert(prompt);
    }
}

impl Deferred for ActionCounts {
    fn add(&mut self, later: ActionCounts) {
        later.recounted.into_iter().for_each(|prompt| self.recount(prompt));
        for (prompt, times) in later.further {
            *self.further.entry(prompt).or_default() += times;
        }
    }
}

/// The user's newest prompt of each session, none if it has none, as far as a group of writes has looked.
#[derive(Default)]
struct NewestPrompts(RefCell<HashMap<i64, Option<Newest>>>);

/// A prompt to be stored.
#[derive(Clone, Copy, Debug)]
pub struct NewPrompt<'a> {
    pub session: i64,
    pub project: i64,
    pub at: i64,
    pub source: PromptSource,
    pub source_event: &'a str,
    pub content: &'a Redacted<String>,
    /// The agent's own id of it.
    pub agent_prompt_id: Option<&'a str>,
}

const COLUMNS: &str = "SELECT q.id, s.name, q.project, p.name, q.at, q.source, q.content, \
     q.agent_prompt_id, q.actions, q.pinned, q.source_event, s.agent FROM prompts q \
     LEFT JOIN sessions s ON s.id = q.session LEFT JOIN projects p ON p.id = q.project ";
pub(crate) const BY_AGENT_ID: &str =
    "SELECT id FROM prompts WHERE session = ?1 AND agent_prompt_id = ?2";
pub(crate) const NEWEST: &str = "SELECT id, agent_prompt_id, at FROM prompts \
     WHERE session = ?1 AND at <= ?2 AND source = 'user' ORDER BY at DESC, id DESC LIMIT 1";
pub(crate) const INTENTS: &str = "SELECT q.id, q.at FROM prompts q WHERE q.project = ?1 \
     AND q.at < ?2 AND q.actions > 0 AND q.source = 'user' ORDER BY q.at DESC, q.id DESC LIMIT ?3";

/// Stores a prompt and returns its id. A prompt that the agent reports again is stored once.
pub fn add(tx: &Tx<'_>, prompt: &NewPrompt<'_>) -> Result<i64, OpError> {
    const ADD: &str = "INSERT INTO prompts \
         (id, session, project, at, source, source_event, content, agent_prompt_id) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    if let Some(known) = by_agent_id(tx, prompt.session, prompt.agent_prompt_id)? {
        return Ok(known);
    }
    let id = record_ids::next(tx)?;
    tx.cached::<NewestPrompts>().0.borrow_mut().remove(&prompt.session);
    tx.sql(|db| {
        db.prepare_cached(ADD)?.execute(params![
            id,
            prompt.session,
            prompt.project,
            prompt.at,
            prompt.source.word(),
            prompt.source_event,
            prompt.content.as_str(),
            prompt.agent_prompt_id
        ])
    })?;
    passages::add(tx, id)?;
    Ok(id)
}

fn by_agent_id(rx: &Rx<'_>, session: i64, agent_id: Option<&str>) -> Result<Option<i64>, OpError> {
    let Some(agent_id) = agent_id else { return Ok(None) };
    rx.sql(|db| {
        let mut select = db.prepare_cached(BY_AGENT_ID)?;
        select.query_row(params![session, agent_id], |row| row.cell(0)).optional()
    })
}

/// The prompt that caused an action at this time: the one that the agent names, else the user's
/// newest one, unless the agent knows that under another id.
pub fn cause(
    tx: &Tx<'_>,
    session: i64,
    agent_prompt_id: Option<&str>,
    at: i64,
) -> Result<Option<i64>, OpError> {
    let known = tx.cached::<NewestPrompts>().0.borrow().get(&session).cloned();
    let last = match known {
        Some(known) => known,
        None => {
            let found = newest(tx, session, i64::MAX)?;
            tx.cached::<NewestPrompts>().0.borrow_mut().insert(session, found.clone());
            found
        }
    };
    let Some(last) = last else { return by_agent_id(tx, session, agent_prompt_id) };
    if agent_prompt_id.is_some() {
        if last.agent_id.as_deref() == agent_prompt_id {
            return Ok(Some(last.id));
        }
        if let Some(named) = by_agent_id(tx, session, agent_prompt_id)? {
            return Ok(Some(named));
        }
    }
    // If the clock was set back there may be none before this time.
    let then = if last.at <= at { last } else { newest(tx, session, at)?.unwrap_or(last) };
    Ok((then.agent_id.is_none() || agent_prompt_id.is_none()).then_some(then.id))
}

/// The parts of a user's prompt that are needed to find the cause of an action.
#[derive(Clone, Debug)]
struct Newest {
    id: i64,
    agent_id: Option<String>,
    at: i64,
}

/// The user's newest prompt of a session up to this time.
fn newest(rx: &Rx<'_>, session: i64, until: i64) -> Result<Option<Newest>, OpError> {
    let read =
        |row: &Row<'_>| Ok(Newest { id: row.cell(0)?, agent_id: row.cell(1)?, at: row.cell(2)? });
    rx.sql(|db| db.prepare_cached(NEWEST)?.query_row(params![session, until], read).optional())
}

/// Counts one more action of this prompt at the end of the group.
pub(crate) fn note_action(tx: &Tx<'_>, id: i64) {
    tx.defer(|counts: &mut ActionCounts| *counts.further.entry(id).or_default() += 1);
}

/// Adds further actions of this prompt.
fn acted(tx: &Tx<'_>, id: i64, times: u32) -> Result<(), OpError> {
    const ACTED: &str = "UPDATE prompts SET actions = actions + ?2 WHERE id = ?1";
    tx.sql_on_row(|db| db.prepare_cached(ACTED)?.execute([id, i64::from(times)])).map(drop)
}

/// The user's newest prompts that at least one action followed, newest first.
pub fn intents(
    rx: &Rx<'_>,
    projects: &[i64],
    before: Option<i64>,
    limit: usize,
) -> Result<Vec<Prompt>, OpError> {
    newest_of(rx, INTENTS, projects, before.unwrap_or(i64::MAX), limit)
}

pub(crate) const SAID_LATELY: &str = "SELECT id, at FROM prompts WHERE project = ?1 AND at >= ?2 \
     AND source = 'user' ORDER BY at DESC, id DESC LIMIT ?3";

/// The user's newest prompts in these projects from this time on, newest first.
pub fn lately(
    rx: &Rx<'_>,
    projects: &[i64],
    since: i64,
    limit: usize,
) -> Result<Vec<Prompt>, OpError> {
    newest_of(rx, SAID_LATELY, projects, since, limit)
}

pub(crate) const NEWEST_OF_SESSION: &str = "SELECT id FROM prompts WHERE session = ?1 \
     AND +project = ?2 AND source = 'user' ORDER BY at DESC, id DESC LIMIT ?3";
pub(crate) const FIRST_OF_SESSION: &str = "SELECT id FROM prompts WHERE session = ?1 \
     AND +project = ?2 AND source = 'user' ORDER BY at, id LIMIT ?3";

/// The user's newest prompts of a session in its project, newest first.
pub fn newest_of_session(
    rx: &Rx<'_>,
    session: &Session,
    limit: usize,
) -> Result<Vec<Prompt>, OpError> {
    in_session(rx, NEWEST_OF_SESSION, session, limit)
}

/// The user's first prompts of a session in its project, oldest first.
pub fn first_of_session(
    rx: &Rx<'_>,
    session: &Session,
    limit: usize,
) -> Result<Vec<Prompt>, OpError> {
    in_session(rx, FIRST_OF_SESSION, session, limit)
}

/// The prompts that a statement with the parameters session, project and limit selects, in its order.
fn in_session(
    rx: &Rx<'_>,
    sql: &str,
    session: &Session,
    limit: usize,
) -> Result<Vec<Prompt>, OpError> {
    let given = params![session.id, session.project_id, limit];
    let ids: Vec<i64> =
        rx.sql(|db| db.prepare_cached(sql)?.query_map(given, |row| row.cell(0))?.collect())?;
    ids.into_iter().filter_map(|id| by_id(rx, id).transpose()).collect()
}

/// The prompts that a statement with the parameters project, time and limit selects in any of these
/// projects, newest first.
fn newest_of(
    rx: &Rx<'_>,
    sql: &str,
    projects: &[i64],
    at: i64,
    limit: usize,
) -> Result<Vec<Prompt>, OpError> {
    let mut found: Vec<(i64, i64)> = Vec::new();
    for project in projects {
        rx.sql(|db| {
            let mut select = db.prepare_cached(sql)?;
            let given = params![project, at, limit];
            for row in select.query_map(given, |row| Ok((row.cell(1)?, row.cell(0)?)))? {
                found.push(row?);
            }
            Ok(())
        })?;
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.truncate(limit);
    found.into_iter().filter_map(|(_, id)| by_id(rx, id).transpose()).collect()
}

/// The user's last prompt of a session, preferably up to now. Prompts with later times were stored before the clock was
/// set back.
pub fn last(rx: &Rx<'_>, session: i64) -> Result<Option<Prompt>, OpError> {
    let soon = retention::clock(rx)?.saturating_add(limits::CLOCK_SLACK_MS);
    let last = newest(rx, session, soon)?;
    match last.map_or_else(|| newest(rx, session, i64::MAX), |last| Ok(Some(last)))? {
        Some(Newest { id, .. }) => by_id(rx, id),
        None => Ok(None),
    }
}

pub fn by_id(rx: &Rx<'_>, id: i64) -> Result<Option<Prompt>, OpError> {
    let select = format!("{COLUMNS} WHERE q.id = ?1");
    rx.sql(|db| db.prepare_cached(&select)?.query_row([id], read).optional())
}

/// A prompt with its source event and the agent of its session.
pub(crate) fn with_origin(
    rx: &Rx<'_>,
    id: i64,
) -> Result<Option<(Prompt, String, String)>, OpError> {
    let select = format!("{COLUMNS} WHERE q.id = ?1");
    let read = |row: &Row<'_>| Ok((read(row)?, row.cell(10)?, row.cell(11)?));
    rx.sql(|db| db.prepare_cached(&select)?.query_row([id], read).optional())
}

pub(crate) const ANSWER: &str = "SELECT id FROM observations WHERE prompt = ?1 AND kind = 'answer' \
     AND failed = 0 AND agent_id IS NULL ORDER BY at DESC, id DESC LIMIT 1";

/// The agent's last answer to a prompt, without those of subagents and of turns that failed.
pub fn answer_to(rx: &Rx<'_>, id: i64) -> Result<Option<i64>, OpError> {
    rx.sql(|db| db.prepare_cached(ANSWER)?.query_row([id], |row| row.cell(0)).optional())
}

/// The last answer of a subagent in a prompt's turn.
pub fn subagent_answer_to(rx: &Rx<'_>, id: i64) -> Result<Option<i64>, OpError> {
    const FOUND: &str = "SELECT id FROM observations WHERE prompt = ?1 AND kind = 'answer' \
         AND failed = 0 AND agent_id IS NOT NULL ORDER BY at DESC, id DESC LIMIT 1";
    rx.sql(|db| db.prepare_cached(FOUND)?.query_row([id], |row| row.cell(0)).optional())
}

/// The branch and the working tree of a prompt's turn, from the first of its records that has them.
pub fn checkout(rx: &Rx<'_>, id: i64) -> Result<Option<Map<String, Value>>, OpError> {
    const CHECKOUT: &str = "SELECT metadata FROM observations WHERE prompt = ?1 \
         AND (instr(metadata, '\"branch\":') > 0 OR instr(metadata, '\"worktree\":') > 0) \
         ORDER BY at, id LIMIT 1";
    let read = |row: &Row<'_>| row.cell::<String>(0);
    let metadata = rx.sql(|db| db.prepare_cached(CHECKOUT)?.query_row([id], read).optional())?;
    let metadata = metadata.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let members = ["branch", "worktree"]
        .map(|name| Some((name.to_owned(), metadata.as_ref()?.get(name)?.clone())));
    let members: Map<String, Value> = members.into_iter().flatten().collect();
    Ok((!members.is_empty()).then_some(members))
}

pub(crate) const COMMIT: &str = "SELECT id FROM observations WHERE prompt = ?1 \
     AND kind = 'git_commit' ORDER BY at DESC, id DESC LIMIT 1";

/// The last commit of a prompt's turn; none if there is none.
pub fn commit_of(rx: &Rx<'_>, id: i64) -> Result<Option<i64>, OpError> {
    rx.sql(|db| db.prepare_cached(COMMIT)?.query_row([id], |row| row.cell(0)).optional())
}

pub(crate) const SAID: &str =
    "SELECT source, content, actions, id FROM prompts WHERE session = ?1 ORDER BY at, id";

/// The user's intent in a session: the first prompt of the user that states one, else the first that is more than a
/// greeting, else the first. Empty if no prompt is the user's; none without prompts. Reads no more prompts than needed.
pub fn intent(rx: &Rx<'_>, session: i64) -> Result<Option<String>, OpError> {
    Ok(intent_prompt(rx, session)?.map(|(_, text)| text))
}

/// The prompt that states the user's intent in a session, as in [`intent`]: its id and text.
pub fn intent_prompt(rx: &Rx<'_>, session: i64) -> Result<Option<(i64, String)>, OpError> {
    rx.sql(|db| {
        let mut select = db.prepare_cached(SAID)?;
        let mut rows = select.query([session])?;
        let (mut first, mut greeting, mut any) = (None, None, false);
        while let Some(row) = rows.next()? {
            any = true;
            if row.text(0)? != PromptSource::User.word() {
                continue;
            }
            let content = row.text(1)?;
            if tells_intent(&content, row.cell(2)?) {
                return Ok(Some((row.cell(3)?, content.into_owned())));
            }
            let id: i64 = row.cell(3)?;
            let known = match text::is_small_talk(&content) {
                true => &mut greeting,
                false => &mut first,
            };
            known.get_or_insert_with(|| (id, content.into_owned()));
        }
        Ok(any.then(|| first.or(greeting).unwrap_or_default()))
    })
}

/// The user's first prompts in a session: ids and texts.
pub fn of_session(rx: &Rx<'_>, session: i64, limit: usize) -> Result<Vec<(i64, String)>, OpError> {
    rx.sql(|db| {
        let mut select = db.prepare_cached(OF_SESSION)?;
        let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?));
        select.query_map(params![session, limit], read)?.collect()
    })
}

/// The last prompts of the user in a session, newest first: id, text and number of actions.
pub fn last_of_session(
    rx: &Rx<'_>,
    session: i64,
    limit: usize,
) -> Result<Vec<(i64, String, u64)>, OpError> {
    rx.sql(|db| {
        let mut select = db.prepare_cached(LAST_OF_SESSION)?;
        let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?, row.cell(2)?));
        select.query_map(params![session, limit], read)?.collect()
    })
}

pub(crate) const LAST_OF_SESSION: &str = "SELECT id, content, actions FROM prompts WHERE session = ?1 \
     AND source = 'user' ORDER BY at DESC, id DESC LIMIT ?2";

pub(crate) const OF_SESSION: &str = "SELECT id, content FROM prompts WHERE session = ?1 \
     AND source = 'user' ORDER BY at, id LIMIT ?2";

/// Recounts the actions of a prompt after some of them were deleted.
pub(crate) fn recount(tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
    const RECOUNT: &str = "UPDATE prompts SET actions = \
         (SELECT coalesce(sum(count), 0) FROM observations WHERE prompt = ?1 AND kind NOT IN ('marker', 'answer')) \
         WHERE id = ?1";
    tx.defer(|counts: &mut ActionCounts| counts.recount(id));
    tx.sql_on_row(|db| db.prepare_cached(RECOUNT)?.execute([id])).map(drop)
}

/// Deletes a prompt; the observations it caused stay, without a prompt.
pub(crate) fn remove(tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
    tx.cached::<NewestPrompts>().0.borrow_mut().clear();
    passages::remove(tx, id)?;
    activity_counts::subtract(tx, id)?;
    origins::remove(tx, id)?;
    const CAUSED: &str = "SELECT id FROM observations WHERE prompt = ?1";
    const LOSE_CAUSE: &str = "UPDATE observations SET prompt = NULL WHERE id = ?1";
    let caused: Vec<i64> =
        tx.sql(|db| db.prepare_cached(CAUSED)?.query_map([id], |row| row.cell(0))?.collect())?;
    for id in caused {
        tx.sql_on_row(|db| db.prepare_cached(LOSE_CAUSE)?.execute([id]))?;
    }
    tx.sql(|db| db.prepare_cached("DELETE FROM prompts WHERE id = ?1")?.execute([id]).map(drop))
}

pub fn count(rx: &Rx<'_>) -> Result<u64, OpError> {
    rx.sql(|db| db.query_row("SELECT count(*) FROM prompts", [], |row| row.cell(0)))
}

fn read(row: &Row<'_>) -> rusqlite::Result<Prompt> {
    let own = Watched::new(row);
    let source = source(&own, 5)?;
    let mut found = Prompt {
        id: own.cell(0)?,
        session_id: row.cell(1)?,
        project_id: own.cell(2)?,
        project: projects::name(row, 3)?,
        at: own.time(4)?,
        source,
        content: own.cell(6)?,
        agent_prompt_id: own.cell(7)?,
        actions: own.cell(8)?,
        is_pinned: own.cell(9)?,
        damaged: false,
    };
    if own.is_damaged() {
        found.damaged = true;
        found.content = own.marked(found.content);
    }
    Ok(found)
}

/// The source in this column.
pub(crate) fn source(row: &Watched<'_, '_>, column: usize) -> rusqlite::Result<PromptSource> {
    let source = PromptSource::parse(&row.text(column)?);
    if source.is_none() {
        row.note_damage();
    }
    Ok(source.unwrap_or(PromptSource::Agent))
}
