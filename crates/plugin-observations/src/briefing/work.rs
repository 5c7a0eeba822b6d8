//! The newest records of the own projects, each kind read once by its index.

use model::observation::{ObsType, Observation};
use model::session::{Prompt, Session};
use model::{OpError, limits};
use store::sessions::{self, SessionFilter};
use store::{observations, projects, prompts};

use super::reader::BriefingReader;

/// Recent records of each kind, every list newest first.
pub(super) struct RecentWork {
    /// Without the session that is briefed.
    pub(super) sessions: Vec<Session>,
    /// The session that is briefed, if its context was compacted or cleared.
    pub(super) own: Option<Session>,
    pub(super) runs: Vec<Observation>,
    pub(super) commits: Vec<Observation>,
    /// Edits and writes that worked.
    pub(super) edits: Vec<Observation>,
    /// Commands since the oldest of the failures.
    pub(super) commands: Vec<Observation>,
    /// The time before which no command was read.
    pub(super) commands_since: i64,
    pub(super) failures: Vec<Observation>,
    pub(super) prompts: Vec<Prompt>,
    /// Prompts older than `prompts`, which are read for decisions only.
    pub(super) older_prompts: Vec<Prompt>,
    /// The agent's own answers, without failed ones. Answers of subagents are only those of the session that is
    /// briefed.
    pub(super) answers: Vec<Observation>,
    pub(super) roots: Vec<String>,
    /// Whether it is the work of one session, of which as many rows are shown as fit.
    pub(super) is_of_session: bool,
}

/// The time of the oldest record that was read; `i64::MIN` if all were read.
fn read_since(found: &[Observation], most: usize) -> i64 {
    found.last().filter(|_| found.len() >= most).map_or(i64::MIN, |oldest| oldest.at_ms)
}

impl RecentWork {
    pub(super) fn read(
        brief: &BriefingReader<'_>,
        projects: &[i64],
    ) -> Result<RecentWork, OpError> {
        let rx = brief.rx;
        let filter =
            SessionFilter { projects: Some(projects), prompted: true, ..SessionFilter::default() };
        let mut sessions = sessions::list(rx, &filter, limits::BRIEFING_READ_SESSIONS)?;
        let last_at = sessions.first().map_or(brief.now, |session| session.last_at);
        let own = match brief.session {
            Some(name) => sessions::by_name(rx, name)?,
            // A briefing that a user requests on the command line is for the session that was
            // active last.
            None => sessions.first().cloned(),
        };
        let own = own.filter(|_| brief.source.forgot());
        let briefed = own.as_ref().map(|own| own.session_id.as_str()).or(brief.session);
        sessions.retain(|session| briefed.is_none_or(|briefed| briefed != session.session_id));
        let since = |window: i64| last_at.saturating_sub(window);
        let (work, talk) = (since(limits::BRIEFING_WORK_MS), since(limits::BRIEFING_TALK_MS));
        let lately = |kinds: &[ObsType], since: i64, most: usize| {
            observations::lately(rx, projects, kinds, since, most)
        };
        let edits = [ObsType::FileEdit, ObsType::FileWrite];
        let failures = lately(&[ObsType::CommandError], work, limits::BRIEFING_READ_FAILURES)?;
        // Commands are only read to see how failures were fixed.
        let failed_since = failures.last().map_or(i64::MAX, |failure| failure.at_ms);
        let mut said = prompts::lately(rx, projects, talk, limits::BRIEFING_READ_PROMPTS)?;
        let older_prompts = said.split_off(said.len().min(limits::BRIEFING_READ_TALK));
        let most = limits::BRIEFING_READ_COMMANDS;
        let commands = lately(&[ObsType::Command], failed_since, most)?;
        let mut work = RecentWork {
            sessions,
            own,
            runs: observations::runs(rx, projects, work, limits::BRIEFING_READ_RUNS)?,
            commits: lately(&[ObsType::GitCommit], talk, limits::BRIEFING_READ_COMMITS)?,
            edits: lately(&edits, work, limits::BRIEFING_READ_EDITS)?,
            commands_since: read_since(&commands, most),
            commands,
            failures,
            is_of_session: false,
            prompts: said,
            older_prompts,
            answers: lately(&[ObsType::Answer], talk, limits::BRIEFING_READ_TALK)?,
            roots: projects::roots(rx, projects)?,
        };
        work.roots.extend(brief.place.worktree().map(str::to_owned));
        work.roots.extend(brief.place.linked_root());
        work.edits.retain(|seen| !seen.failed());
        let own = work.own.as_ref().map(|own| own.session_id.as_str());
        work.answers.retain(|seen| {
            !seen.failed() && (seen.agent_id.is_none() || own == Some(seen.session_id.as_str()))
        });
        Ok(work)
    }

    /// The records of one session.
    pub(super) fn of_session(
        brief: &BriefingReader<'_>,
        session: &Session,
    ) -> Result<RecentWork, OpError> {
        let (rx, projects, since) = (brief.rx, [session.project_id], session.started_at);
        let (talk, work) = (limits::HANDOFF_READ_TALK, limits::HANDOFF_READ_WORK);
        let own = |seen: &Observation| seen.session_id == session.session_id;
        let lately = |kinds: &[ObsType], most: usize| {
            let mut found = observations::lately(rx, &projects, kinds, since, most)?;
            found.retain(own);
            Ok::<_, OpError>(found)
        };
        let mut said = prompts::lately(rx, &projects, since, talk)?;
        said.retain(|prompt| prompt.session_id == session.session_id);
        let mut runs = observations::runs(rx, &projects, since, work)?;
        runs.retain(own);
        let mut commands = observations::lately(rx, &projects, &[ObsType::Command], since, work)?;
        let commands_since = read_since(&commands, work);
        commands.retain(own);
        let mut work = RecentWork {
            sessions: Vec::new(),
            own: Some(session.clone()),
            runs,
            commits: lately(&[ObsType::GitCommit], work)?,
            edits: lately(&[ObsType::FileEdit, ObsType::FileWrite], work)?,
            commands_since,
            commands,
            is_of_session: true,
            failures: lately(&[ObsType::CommandError], work)?,
            prompts: said,
            older_prompts: Vec::new(),
            answers: lately(&[ObsType::Answer], talk)?,
            roots: projects::roots(rx, &projects)?,
        };
        work.roots.extend(brief.place.worktree().map(str::to_owned));
        work.edits.retain(|seen| !seen.failed());
        work.answers.retain(|seen| !seen.failed() && seen.agent_id.is_none());
        Ok(work)
    }

    /// The path of a file below one of the project's roots; none if it is elsewhere.
    pub(super) fn inside<'p>(&self, path: &'p str) -> Option<&'p str> {
        let below =
            |root: &String| path.strip_prefix(root.trim_end_matches('/'))?.strip_prefix('/');
        self.roots.iter().filter_map(below).min_by_key(|inside| inside.len())
    }

    /// Whether a file is one of the project's own.
    pub(super) fn holds(&self, path: &str) -> bool {
        self.inside(path).is_some()
    }
}
