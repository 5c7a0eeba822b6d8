//! The newest records of the own projects or of one session, each kind read once by its index.

use model::discard::Discards;
use model::observation::{ObsType, Observation};
use model::session::{Prompt, Session};
use model::{OpError, limits};
use store::observations::{self, SessionScope};
use store::sessions::{self, SessionFilter};
use store::{Rx, open_ends, projects, prompts};

use super::reader::BriefingReader;

const EDITS: [ObsType; 2] = [ObsType::FileEdit, ObsType::FileWrite];

/// Recent records of each kind, every list newest first.
pub(super) struct RecentWork {
    /// Without the session that is briefed.
    pub(super) sessions: Vec<Session>,
    /// The session that is briefed, if its context was compacted or cleared; in a handoff, the session itself.
    pub(super) own: Option<Session>,
    pub(super) own_work: OwnWork,
    pub(super) runs: Vec<Observation>,
    pub(super) commits: Vec<Observation>,
    /// Edits and writes that worked.
    pub(super) edits: Vec<Observation>,
    /// Commands since the oldest of the failures.
    pub(super) commands: Vec<Observation>,
    /// The time before which no command was read.
    pub(super) commands_since: i64,
    pub(super) failures: Vec<Observation>,
    /// Commands that took edits back, such as `git restore .`.
    pub(super) discards: Discards,
    pub(super) prompts: Vec<Prompt>,
    /// Prompts older than `prompts`, which are read for decisions and the first task only.
    pub(super) older_prompts: Vec<Prompt>,
    /// The agent's own answers, without failed ones. Answers of subagents are only those of the session that is
    /// briefed.
    pub(super) answers: Vec<Observation>,
    pub(super) roots: Vec<String>,
    /// Whether it is the work of one session, of which as many rows are shown as fit.
    pub(super) is_of_session: bool,
}

/// The records of the session that is briefed, every list newest first. Other sessions of the project do not use up
/// their limits.
#[derive(Default)]
pub(super) struct OwnWork {
    pub(super) runs: Vec<Observation>,
    /// Edits and writes that worked.
    pub(super) edits: Vec<Observation>,
    /// The agent's answers and those of its subagents, without failed ones.
    pub(super) answers: Vec<Observation>,
}

impl OwnWork {
    fn read(rx: &Rx<'_>, scope: SessionScope<'_>) -> Result<OwnWork, OpError> {
        let (talk, edited) = (limits::BRIEFING_READ_TALK, limits::BRIEFING_READ_EDITS);
        let mut own = OwnWork {
            runs: observations::runs_of_session(rx, scope, limits::BRIEFING_READ_RUNS)?,
            edits: observations::of_session(rx, scope, &EDITS, edited)?,
            answers: observations::answers_of_session(rx, scope, true, talk)?,
        };
        own.edits.retain(|seen| !seen.failed());
        own.answers.retain(|seen| !seen.failed());
        Ok(own)
    }
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
        let failures = lately(&[ObsType::CommandError], work, limits::BRIEFING_READ_FAILURES)?;
        // Commands are only read to see how failures were fixed.
        let failed_since = failures.last().map_or(i64::MAX, |failure| failure.at_ms);
        let mut said = prompts::lately(rx, projects, talk, limits::BRIEFING_READ_PROMPTS)?;
        let older_prompts = said.split_off(said.len().min(limits::BRIEFING_READ_TALK));
        let most = limits::BRIEFING_READ_COMMANDS;
        let commands = lately(&[ObsType::Command], failed_since, most)?;
        let own_work = match &own {
            Some(session) => OwnWork::read(rx, SessionScope { session, projects })?,
            None => OwnWork::default(),
        };
        let mut work = RecentWork {
            sessions,
            own,
            own_work,
            runs: observations::runs(rx, projects, work, limits::BRIEFING_READ_RUNS)?,
            commits: lately(&[ObsType::GitCommit], talk, limits::BRIEFING_READ_COMMITS)?,
            edits: lately(&EDITS, work, limits::BRIEFING_READ_EDITS)?,
            commands_since: read_since(&commands, most),
            commands,
            failures,
            discards: Discards::default(),
            is_of_session: false,
            prompts: said,
            older_prompts,
            answers: lately(&[ObsType::Answer], talk, limits::BRIEFING_READ_TALK)?,
            roots: projects::roots(rx, projects)?,
        };
        work.roots.extend(brief.place.worktree().map(str::to_owned));
        work.roots.extend(brief.place.linked_root());
        work.edits.retain(|seen| !seen.failed());
        let edits = work.edits.iter().chain(&work.own_work.edits);
        if let Some(oldest) = edits.min_by_key(|edit| edit.at_ms) {
            work.discards = open_ends::discards(rx, projects, oldest.at_ms)?;
        }
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
        let (rx, projects) = (brief.rx, [session.project_id]);
        let scope = SessionScope { session, projects: &projects };
        let (talk, most) = (limits::HANDOFF_READ_TALK, limits::HANDOFF_READ_WORK);
        let newest = |kinds: &[ObsType]| observations::of_session(rx, scope, kinds, most);
        let prompts = prompts::newest_of_session(rx, session, talk)?;
        let mut first = prompts::first_of_session(rx, session, limits::HANDOFF_READ_FIRST)?;
        first.retain(|first| !prompts.iter().any(|prompt| prompt.id == first.id));
        first.reverse();
        let commands = newest(&[ObsType::Command])?;
        let mut work = RecentWork {
            sessions: Vec::new(),
            own: Some(session.clone()),
            own_work: OwnWork::default(),
            runs: observations::runs_of_session(rx, scope, most)?,
            commits: newest(&[ObsType::GitCommit])?,
            edits: newest(&EDITS)?,
            commands_since: read_since(&commands, most),
            commands,
            is_of_session: true,
            failures: newest(&[ObsType::CommandError])?,
            discards: Discards::default(),
            prompts,
            older_prompts: first,
            answers: observations::answers_of_session(rx, scope, false, talk)?,
            roots: projects::roots(rx, &projects)?,
        };
        work.roots.extend(brief.place.worktree().map(str::to_owned));
        work.edits.retain(|seen| !seen.failed());
        work.answers.retain(|seen| !seen.failed());
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
