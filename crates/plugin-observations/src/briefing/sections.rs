//! The briefing for a developer who returns to a project: open work, outcomes of the last sessions,
//! lessons, files in progress.

use std::collections::BTreeSet;

use contract::{Candidate, Slot};
use model::observation::{ObsType, Observation};
use model::session::{Prompt, Session, SessionState};
use model::{OpError, limits, rank, run, time};
use store::{observations, open_ends, sessions};

use super::learned::RecentDecisions;
use super::reader::BriefingReader;
use super::work::RecentWork;
use super::{topic, uncommitted};
use crate::{next_steps, same_run};

/// Separates the changed lines of an edit.
const LINE_BREAK: &str = " ⏎ ";

/// The number of last sessions whose open ends are shown.
const SESSIONS_LEFT_OPEN: usize = 4;
/// The most questions of agents that are shown.
const QUESTIONS_MAX: usize = 2;

/// Why the question of an agent is shown.
pub(super) const ASKED_BACK: &str = "the last answer asks it";

/// A row that is not yet assigned to a section.
pub(super) struct BriefingRow {
    pub(super) id: i64,
    pub(super) at: i64,
    pub(super) score: f64,
    pub(super) reason: &'static str,
    pub(super) text: String,
    pub(super) pinned: bool,
}

impl BriefingRow {
    pub(super) fn into_candidate(self, slot: Slot, now: i64) -> Candidate {
        let BriefingRow { id, at, score, reason, text, pinned } = self;
        Candidate {
            path: format!("obs://{id}"),
            stamp: at,
            score,
            reasons: vec![reason.to_owned()],
            cells: vec![format!("#{id} [{}]", time::age(at, now)), text],
            labels: 1,
            pinned,
            ..Candidate::new(slot)
        }
    }
}

/// Writes the sections: the records to choose from, and the rows written so far.
pub(super) struct SectionWriter<'a> {
    pub(super) brief: &'a BriefingReader<'a>,
    pub(super) work: RecentWork,
    found: Vec<Candidate>,
    /// Texts that a row quotes already.
    quoted: Vec<String>,
    /// Files that a row names already, as it shows them.
    named: Vec<String>,
    pub(super) decisions: RecentDecisions,
}

impl<'a> SectionWriter<'a> {
    pub(super) fn new(
        brief: &'a BriefingReader<'a>,
        work: RecentWork,
    ) -> Result<SectionWriter<'a>, OpError> {
        let mut writer = SectionWriter {
            brief,
            work,
            found: Vec::new(),
            quoted: Vec::new(),
            named: Vec::new(),
            decisions: RecentDecisions::default(),
        };
        writer.decisions = RecentDecisions::read(&writer)?;
        Ok(writer)
    }

    pub(super) fn into_candidates(self) -> Vec<Candidate> {
        self.found
    }

    /// The number of rows in a section so far.
    pub(super) fn rows_in(&self, slot: Slot) -> usize {
        self.found.iter().filter(|row| row.slot == slot).count()
    }
}

impl SectionWriter<'_> {
    pub(super) fn add(&mut self, slot: Slot, row: BriefingRow) {
        self.found.push(row.into_candidate(slot, self.brief.now));
    }

    pub(super) fn push(&mut self, candidate: Candidate) {
        self.found.push(candidate);
    }

    /// A text in quotation marks; quotation marks inside it become apostrophes. The text is noted,
    /// so that no other row quotes it.
    pub(super) fn quote(&mut self, text: &str) -> String {
        let line = quoted_line(text);
        self.quoted.push(line.trim_end_matches('…').to_owned());
        in_quotes(&line)
    }

    /// A line in quotation marks that is not shortened further. It is noted, as by [`SectionWriter::quote`].
    pub(super) fn quote_whole(&mut self, line: &str) -> String {
        self.quoted.push(line.trim_end_matches('…').to_owned());
        in_quotes(line)
    }

    /// Whether a row quotes this text already.
    pub(super) fn is_quoted(&self, text: &str) -> bool {
        let line = quoted_line(text);
        let line = line.trim_end_matches('…');
        self.quoted.iter().any(|quoted| quoted.contains(line))
    }

    pub(super) fn recency(&self, at: i64) -> f64 {
        rank::recency(at, self.brief.now)
    }

    /// The path as a row shows it: below the project's root.
    pub(super) fn shown<'p>(&self, path: &'p str) -> &'p str {
        self.work.inside(path).unwrap_or(path)
    }

    /// Marked and pinned records.
    pub(super) fn marked(&mut self, projects: &[i64]) -> Result<(), OpError> {
        for seen in marks(self.brief, projects)? {
            if !self.is_quoted(&seen.content) {
                self.quoted.push(seen.content.clone());
                self.add(Slot::Marked, mark_row(&seen, self.brief.now));
            }
        }
        Ok(())
    }

    pub(super) fn last_answer(&self, session: &str) -> Option<Observation> {
        self.work.answers.iter().find(|seen| seen.session_id == session).cloned()
    }

    /// The question at the end of an answer, if it says what it is about and no row quotes it yet.
    pub(super) fn asked_back(&mut self, answer: &Observation) -> Option<String> {
        let question = next_steps::open_question(answer)?;
        let question = text::line_of_words(question, limits::BRIEFING_TEXT_CHARS);
        (!self.is_quoted(&question)).then(|| format!("the agent asked: {}", self.quote(&question)))
    }

    /// Open work: the unanswered prompt, the agent's question, red runs, uncommitted files.
    pub(super) fn open(&mut self) -> Result<(), OpError> {
        let briefed = self.briefed();
        let is_briefed = |session: &str| briefed.as_deref() == Some(session);
        let unanswered = self.left_unanswered()?;
        // A later prompt in the briefed session means that the work went on there.
        let own = self.work.prompts.iter().filter(|prompt| is_briefed(&prompt.session_id));
        let own_prompt_at = own.map(|prompt| prompt.at).max();
        let went_on = |at: i64| own_prompt_at.is_some_and(|own| own > at);
        let mut questions = self.left_questions()?;
        questions.retain(|answer| !went_on(answer.at_ms));
        for (place, answer) in questions.iter().enumerate() {
            if let Some(text) = self.asked_back(answer) {
                let (id, at, score) = (answer.id, answer.at_ms, 1.0 - 0.01 * place as f64);
                let reason = ASKED_BACK;
                self.add(Slot::Open, BriefingRow { id, at, score, reason, text, pinned: false });
            }
        }
        if let Some((last, prompt)) = unanswered
            && !(went_on(prompt.at) && self.turned_away(briefed.as_deref(), &prompt))
            && (self.brief.answers || last.state == SessionState::Active)
        {
            let recent = self.brief.now.saturating_sub(last.last_at) < limits::AT_WORK_MS;
            let state = match last.state == SessionState::Active && recent {
                true => "another session is at work on",
                false => "asked, without an answer",
            };
            let text = format!("{state}: {}", self.quote(&prompt.content));
            let reason = "the last prompt, and nothing followed it";
            let (id, at) = (prompt.id, prompt.at);
            self.add(Slot::Open, BriefingRow { id, at, score: 1.0, reason, text, pinned: false });
        }
        let red: Vec<Observation> = run::red(&self.work.runs).into_iter().cloned().collect();
        let others = red.iter().filter(|seen| !is_briefed(&seen.session_id));
        for seen in others.take(limits::RED_RUNS_TOLD) {
            let row = BriefingRow {
                id: seen.id,
                at: seen.at_ms,
                score: 0.9 + 0.05 * self.recency(seen.at_ms),
                reason: "the newest run of its kind, and it failed",
                text: format!("red: {}", run::told(seen)),
                pinned: false,
            };
            self.add(Slot::Open, row);
        }
        let last = self.work.sessions.first();
        if let Some(failed) = last.and_then(|last| self.failed_last(&last.session_id)) {
            let row = BriefingRow {
                id: failed.id,
                at: failed.at_ms,
                score: 0.9,
                reason: "the last command of the last session, and it failed",
                text: format!("failed last: {}", run::told(&failed)),
                pinned: false,
            };
            self.add(Slot::Open, row);
        }
        uncommitted::add(self, briefed.as_deref());
        Ok(())
    }

    /// The last action of a session, if it is a command that failed and is neither a test nor a build: those are red.
    fn failed_last(&self, session: &str) -> Option<Observation> {
        let work = &self.work;
        let is_own = |seen: &&Observation| seen.session_id == session;
        let failed = work.failures.iter().find(is_own)?;
        let later = work.commands.iter().chain(&work.edits).chain(&work.commits);
        let worked = work.commands.iter().any(|seen| same_run::worked_later(failed, seen));
        (next_steps::is_left(failed, later.filter(is_own)) && !worked).then(|| failed.clone())
    }

    /// The newest prompt without an answer among those of the last sessions, with its session. Later sessions in which the
    /// user only talked about something else, or looked at it, leave it open.
    fn left_unanswered(&self) -> Result<Option<(Session, Prompt)>, OpError> {
        for session in self.work.sessions.iter().take(SESSIONS_LEFT_OPEN) {
            let prompt = open_ends::unanswered(self.brief.rx, session)?;
            let open = |prompt: &Prompt| {
                !self.is_taken_up(&session.session_id, prompt.at, &topic::subject(&prompt.content))
            };
            if let Some(prompt) = prompt.filter(open) {
                return Ok(Some((session.clone(), prompt)));
            }
            let counts = sessions::counts(self.brief.rx, session)?;
            if counts.iter().any(|(kind, _)| kind.intervenes()) {
                break;
            }
        }
        Ok(None)
    }

    /// The answers of the last sessions that end with a question to the user, newest first. Later sessions about something
    /// else leave them open.
    fn left_questions(&self) -> Result<Vec<Observation>, OpError> {
        let mut found = Vec::new();
        for session in self.work.sessions.iter().take(SESSIONS_LEFT_OPEN) {
            let Some(answer) = self.last_answer(&session.session_id) else { continue };
            let Some(question) = text::last_question(&answer.content) else { continue };
            let is_last = open_ends::unanswered(self.brief.rx, session)?.is_none();
            let subject = topic::subject(question);
            if is_last && !self.is_taken_up(&session.session_id, answer.at_ms, &subject) {
                found.push(answer);
            }
            if found.len() == QUESTIONS_MAX {
                break;
            }
        }
        Ok(found)
    }

    /// Whether a later prompt of another session that was read is about this subject too.
    fn is_taken_up(&self, session: &str, at: i64, subject: &BTreeSet<String>) -> bool {
        let known = |one: &Prompt| {
            self.work.sessions.iter().any(|known| known.session_id == one.session_id)
        };
        self.work.prompts.iter().any(|one| {
            one.at > at
                && one.session_id != session
                && known(one)
                && !topic::subject(&one.content).is_disjoint(subject)
        })
    }

    /// Whether a session has edited or committed something, and its prompts after this one are about something else.
    fn turned_away(&self, session: Option<&str>, prompt: &Prompt) -> bool {
        let is_own = |of: &str| session == Some(of);
        let mut made = self.work.edits.iter().chain(&self.work.commits);
        let subject = topic::subject(&prompt.content);
        let mut own = self.work.prompts.iter().filter(|one| is_own(&one.session_id));
        let shares = |own: &Prompt| !topic::subject(&own.content).is_disjoint(&subject);
        made.any(|seen| is_own(&seen.session_id))
            && !own.any(|own| own.at > prompt.at && shares(own))
    }

    /// The session that is briefed.
    pub(super) fn briefed(&self) -> Option<String> {
        let own = self.work.own.as_ref().map(|own| own.session_id.clone());
        own.or_else(|| self.brief.session.map(str::to_owned))
    }

    /// Whether an edit is of a project file that no row names yet. Marks the file as named.
    pub(super) fn names_file(&mut self, seen: &Observation) -> bool {
        seen.file_path.as_deref().is_some_and(|path| self.names_path(path))
    }

    /// Whether a path is one of a project file that no row names yet. Marks the file as named.
    pub(super) fn names_path(&mut self, path: &str) -> bool {
        let is_new = self.work.holds(path) && !self.is_named(path);
        if is_new {
            self.name(path);
        }
        is_new
    }

    fn is_named(&self, path: &str) -> bool {
        let shown = self.shown(path);
        self.named.iter().any(|named| named == shown)
    }

    /// Marks a file as named by a row.
    pub(super) fn name(&mut self, path: &str) {
        let shown = self.shown(path).to_owned();
        self.named.push(shown);
    }

    /// The file of an edit and what changed.
    pub(super) fn change(&self, seen: &Observation) -> String {
        let path = self.shown(seen.file_path.as_deref().unwrap_or_default());
        // The text is `Edit PATH: LINE ⏎ LINE` or `Write PATH`.
        let lines = seen.content.split_once(": ").map_or("", |(_, lines)| lines);
        match changed_lines(lines) {
            lines if lines.is_empty() => path.to_owned(),
            lines => format!("{path}: {lines}"),
        }
    }
}

/// A line in quotation marks, so that a quotation inside does not end it.
pub(super) fn in_quotes(line: &str) -> String {
    format!("\"{}\"", line.replace('"', "'"))
}

/// A text as one line. A decision is not cut in the middle of a sentence: the line ends behind it.
fn quoted_line(text: &str) -> String {
    whole_decision(text::line_of_words(text, limits::BRIEFING_TEXT_CHARS), text)
}

/// A line that quotes a part of a text; if it ends in the middle of the decision that the text states, the
/// decision alone.
pub(super) fn whole_decision(line: String, text: &str) -> String {
    let Some(cut) = line.strip_suffix('…') else { return line };
    let changed = || text::change(text).filter(|change| *change == text.trim());
    let Some(decided) = text::decision(text).or_else(changed) else { return line };
    let decided = decided.replace("**", "");
    let decided = text::line_of_words(&decided, limits::BRIEFING_DECISION_CHARS);
    let starts = [0].into_iter().chain(cut.match_indices(' ').map(|(at, _)| at + 1));
    let mut ends = starts.map(|at| &cut[at..]);
    match ends.any(|end| decided.starts_with(end)) {
        true => decided,
        false => line,
    }
}

/// As many of the changed lines as fit, at least a part of the first. Lines without a letter or digit, and headings
/// such as `[dependencies]`, are left out.
fn changed_lines(lines: &str) -> String {
    let says_something = |line: &&str| {
        let is_heading = line.starts_with('[') && line.ends_with(']') && !line.contains(['=', ',']);
        !is_heading && line.chars().any(char::is_alphanumeric)
    };
    let mut told = String::new();
    for line in lines.split(LINE_BREAK).map(str::trim).filter(says_something) {
        let fits = (told.chars().count() + LINE_BREAK.chars().count() + line.chars().count())
            <= limits::BRIEFING_CHANGE_CHARS;
        match (told.is_empty(), fits) {
            (true, _) => told = text::line_of_words(line, limits::BRIEFING_CHANGE_CHARS),
            (false, true) => told = format!("{told}{LINE_BREAK}{line}"),
            (false, false) => break,
        }
    }
    told
}

/// The marked and pinned records of these projects, each once.
fn marks(brief: &BriefingReader<'_>, projects: &[i64]) -> Result<Vec<Observation>, OpError> {
    let most = limits::BRIEFING_MARKS_MAX;
    let mut rows = observations::pinned_records(brief.rx, projects, most)?;
    rows.extend(observations::lately(brief.rx, projects, &[ObsType::Marker], i64::MIN, most)?);
    let mut told = BTreeSet::new();
    rows.retain(|seen| told.insert(seen.id));
    Ok(rows)
}

fn mark_row(seen: &Observation, now: i64) -> BriefingRow {
    BriefingRow {
        id: seen.id,
        at: seen.at_ms,
        score: 0.8 + 0.1 * rank::recency(seen.at_ms, now),
        reason: if seen.is_pinned { "pinned" } else { "marked" },
        text: quoted_line(&seen.content),
        pinned: seen.is_pinned,
    }
}

/// The marks of all projects, each with the name of its project.
pub(super) fn all_marks(
    brief: &BriefingReader<'_>,
    projects: &[i64],
) -> Result<Vec<Candidate>, OpError> {
    let with_project = |seen: &Observation| {
        let mut row = mark_row(seen, brief.now);
        row.text = format!("{} [{}]", row.text, seen.project);
        row.into_candidate(Slot::Marked, brief.now)
    };
    Ok(marks(brief, projects)?.iter().map(with_project).collect())
}

/// A commit as its short hash and its subject.
pub(super) fn commit(seen: &Observation) -> String {
    let told = |name: &str| seen.metadata.as_ref()?.get(name)?.as_str();
    let message = told("commit_message").unwrap_or(&seen.content);
    let subject = message.lines().next().unwrap_or_default();
    let subject = text::line_of_words(subject, limits::BRIEFING_CHANGE_CHARS);
    match told("commit_hash") {
        Some(hash) => format!("{} {subject}", hash.get(..7).unwrap_or(hash)),
        None => format!("commit {subject}"),
    }
}
