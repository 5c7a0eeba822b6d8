//! Open ends of a session: an unanswered prompt, red runs, and files that were edited after the last
//! commit.

use model::discard::{DISCARDED, Discards, EditAt, UNSTASHED};
use model::observation::{ObsType, Observation};
use model::session::{Prompt, Session, SessionState};
use model::{OpError, limits, run};
use rusqlite::{OptionalExtension, Row, params};
use serde_json::Value;

use crate::cells::Cells as _;
use crate::observations::{self, SessionScope};
use crate::tx::Rx;
use crate::{projects, prompts, session_details};

/// The open ends of one session.
#[derive(Clone, Debug, Default)]
pub struct OpenEnds {
    /// The last prompt, if [`unanswered`] returns it.
    pub prompt: Option<Prompt>,
    /// Red runs, newest first: they failed, and no later run covers what they ran.
    pub red: Vec<Observation>,
    /// Files that were edited after the last commit, the last first.
    pub uncommitted: Vec<EditedFile>,
}

/// A file and its last edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedFile {
    /// The record of the edit.
    pub id: i64,
    pub at: i64,
    pub path: String,
}

pub(crate) const FOLLOWED: &str = "SELECT 1 FROM observations WHERE session = ?1 AND at >= ?2 \
     AND kind IN ('answer', 'file_edit', 'file_write', 'git_commit') \
     AND (failed = 0 OR kind = 'git_commit') \
     AND (kind <> 'answer' OR agent_id IS NULL) LIMIT 1";
/// Commits in other working trees do not count: the files there are not below the project's roots.
pub(crate) const LAST_COMMIT: &str = "SELECT at FROM observations WHERE project = ?1 \
     AND kind = 'git_commit' AND at >= ?2 \
     AND (CASE WHEN json_valid(metadata) THEN json_extract(metadata, '$.worktree') END) IS NULL \
     ORDER BY at DESC, id DESC LIMIT 1";
pub(crate) const COMMANDS: &str = "SELECT at, metadata FROM observations WHERE project = ?1 \
     AND kind = 'command' AND at >= ?2 ORDER BY at DESC, id DESC LIMIT ?3";
pub(crate) const EDITED: &str = "SELECT o.id, o.at, f.path FROM observations o \
     JOIN paths f ON f.id = o.file WHERE o.project = ?1 AND o.kind = ?2 AND o.at > ?3 \
     AND o.session = ?4 AND o.failed = 0 ORDER BY o.at DESC, o.id DESC LIMIT ?5";

/// The open ends of this session.
pub fn of_session(rx: &Rx<'_>, session: &Session) -> Result<OpenEnds, OpError> {
    let scope = SessionScope { session, projects: &[session.project_id] };
    let own = observations::runs_of_session(rx, scope, limits::SUMMARY_RUNS_READ)?;
    Ok(OpenEnds {
        prompt: unanswered(rx, session)?,
        red: run::red(&own).into_iter().cloned().collect(),
        uncommitted: uncommitted(rx, session)?,
    })
}

/// The last prompt of a session, if it has at least [`limits::OPEN_PROMPT_WORDS_MIN`] words and no answer, edit or
/// commit followed it. None for a session that is idle since its last turn: there the answer is missing only because
/// the agent did not report it, or because answers are not stored.
pub fn unanswered(rx: &Rx<'_>, session: &Session) -> Result<Option<Prompt>, OpError> {
    let Some(prompt) = prompts::last(rx, session.id)? else { return Ok(None) };
    // A session that was resumed is idle, too; its last turn may not have ended.
    let ended = session_details::of_session(rx, session.id)?.idle_at;
    if session.state == SessionState::Idle && ended.is_none_or(|ended| ended >= prompt.at) {
        return Ok(None);
    }
    let says_enough = prompt.content.split_whitespace().count() >= limits::OPEN_PROMPT_WORDS_MIN;
    let followed: Option<i64> = rx.sql(|db| {
        let mut select = db.prepare_cached(FOLLOWED)?;
        select.query_row(params![session.id, prompt.at], |row| row.cell(0)).optional()
    })?;
    Ok((says_enough && followed.is_none()).then_some(prompt))
}

/// The files that a session edited after the last commit in its project. Empty if no commit was recorded
/// for long: the user probably commits without the agent, so it is unknown which edits are committed.
pub fn uncommitted(rx: &Rx<'_>, session: &Session) -> Result<Vec<EditedFile>, OpError> {
    let since = session.last_at.saturating_sub(limits::BRIEFING_TALK_MS);
    let committed: Option<i64> = rx.sql(|db| {
        let mut select = db.prepare_cached(LAST_COMMIT)?;
        select.query_row(params![session.project_id, since], |row| row.cell(0)).optional()
    })?;
    let Some(committed) = committed else { return Ok(Vec::new()) };
    let after = committed.max(session.started_at.saturating_sub(1));
    let read =
        |row: &Row<'_>| Ok(EditedFile { id: row.cell(0)?, at: row.cell(1)?, path: row.cell(2)? });
    let discards = discards(rx, &[session.project_id], after)?;
    let mut edits: Vec<EditedFile> = Vec::new();
    for kind in [ObsType::FileEdit, ObsType::FileWrite] {
        let most = limits::BRIEFING_READ_EDITS;
        let given = params![session.project_id, kind.word(), after, session.id, most];
        let mut found: Vec<EditedFile> =
            rx.sql(|db| db.prepare_cached(EDITED)?.query_map(given, read)?.collect())?;
        let is_write = kind == ObsType::FileWrite;
        found.retain(|EditedFile { at, path, .. }| {
            !discards.cover(EditAt { at: *at, path, worktree: None, is_write })
        });
        edits.extend(found);
    }
    edits.sort_by_key(|edit| std::cmp::Reverse((edit.at, edit.id)));
    let roots = projects::roots(rx, &[session.project_id])?;
    let below = |path: &str, root: &String| {
        path.strip_prefix(root.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
    };
    // A file elsewhere belongs to no commit of the project.
    edits.retain(|edit| roots.is_empty() || roots.iter().any(|root| below(&edit.path, root)));
    let mut files: Vec<EditedFile> = Vec::new();
    for edit in edits {
        if !files.iter().any(|file| file.path == edit.path) {
            files.push(edit);
        }
    }
    Ok(files)
}

/// The commands of these projects since this time that took edits back, put them aside, or brought them back. Of more
/// commands only the newest are read.
pub fn discards(rx: &Rx<'_>, projects: &[i64], since: i64) -> Result<Discards, OpError> {
    let read = |row: &Row<'_>| Ok((row.cell::<i64>(0)?, row.cell::<Option<String>>(1)?));
    let mut found: Vec<(i64, Value)> = Vec::new();
    for project in projects {
        let given = params![project, since, limits::BRIEFING_READ_DISCARDS];
        let rows: Vec<(i64, Option<String>)> =
            rx.sql(|db| db.prepare_cached(COMMANDS)?.query_map(given, read)?.collect())?;
        for (at, text) in rows {
            let text = text.filter(|text| text.contains(DISCARDED) || text.contains(UNSTASHED));
            found.extend(text.and_then(|text| Some((at, serde_json::from_str(&text).ok()?))));
        }
    }
    Ok(Discards::of(found.iter().map(|(at, metadata)| (*at, metadata))))
}

impl OpenEnds {
    /// The open ends as the next steps of the session's summary.
    pub fn next_steps(&self) -> Vec<String> {
        let line = |text: &str| text::line_of_words(text, limits::SUMMARY_LINE_CHARS_MAX);
        let mut steps = Vec::new();
        steps.extend(self.prompt.iter().map(|prompt| line(&format!("answer: {}", prompt.content))));
        let red = self.red.iter().take(limits::RED_RUNS_TOLD);
        steps.extend(red.map(|seen| line(&format!("fix: {}", run::told(seen)))));
        if !self.uncommitted.is_empty() {
            let names: Vec<&str> = self.uncommitted.iter().map(|file| name(&file.path)).collect();
            steps.push(line(&format!("commit: {}", names.join(", "))));
        }
        steps
    }
}

/// The last part of a path.
fn name(path: &str) -> &str {
    path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(path)
}
