//! The work of one session for an agent that takes it over: intent, results, failures, open ends, files, decisions.

use contract::{Candidate, Moment, Slot};
use model::observation::{ObsType, Observation};
use model::run::{self, RunKey};
use model::session::{Prompt, Session};
use model::{OpError, limits};
use store::observations::{self, SessionScope};
use store::{open_ends, sessions};

use super::reader::{BriefingReader, MINUTE_MS};
use super::sections::{ASKED_BACK, BriefingRow, SectionWriter, commit, in_quotes};
use super::work::RecentWork;
use super::{learned, topic};
use crate::same_run::{self, ProgramKey};
use crate::settings::ANSWERS;

/// The rows about the session of this moment.
pub(super) fn candidates(moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
    let Some(name) = moment.session else { return Ok(Vec::new()) };
    moment.store.read(|rx| {
        let Some(session) = sessions::by_name(rx, name)? else { return Ok(Vec::new()) };
        let brief = BriefingReader {
            rx,
            now: moment.now - moment.now.rem_euclid(MINUTE_MS),
            without: None,
            session: Some(name),
            source: model::hook::Source::Startup,
            place: moment.place,
            answers: moment.config.boolean(ANSWERS),
        };
        let work = RecentWork::of_session(&brief, &session)?;
        let mut handoff = HandoffWriter { writer: SectionWriter::new(&brief, work)?, session };
        handoff.intent();
        handoff.open()?;
        handoff.decisions()?;
        handoff.files();
        handoff.done();
        handoff.failed();
        Ok(handoff.writer.into_candidates().into_iter().map(weighted).collect())
    })
}

/// The row with a score that decides when it is dropped from a very short text: files first, the task last.
fn weighted(row: Candidate) -> Candidate {
    let weight = match row.slot {
        Slot::HandoffIntent => 1.0,
        Slot::HandoffOpen => 0.9,
        Slot::HandoffDecisions => 0.8,
        Slot::HandoffFailed => 0.7,
        Slot::HandoffDone => 0.6,
        _ => 0.5,
    };
    Candidate { score: weight - 0.1 + 0.1 * row.score, ..row }
}

struct HandoffWriter<'a> {
    writer: SectionWriter<'a>,
    session: Session,
}

impl HandoffWriter<'_> {
    /// Adds a row. The rows of a section keep the order in which they are added.
    fn add(&mut self, slot: Slot, (id, at): (i64, i64), reason: &'static str, text: String) {
        let place = self.writer.rows_in(slot);
        let score = 1.0 - 0.001 * place as f64;
        let row = BriefingRow { id, at, score, reason, text, pinned: false };
        // One prompt may be in two sections: as the task, and with its result.
        let same_as = Some(format!("{slot:?} {id}"));
        let row = row.into_candidate(slot, self.writer.brief.now);
        self.writer.push(Candidate { same_as, ..row });
    }

    /// The first task of the session, and the last one if that is another.
    fn intent(&mut self) {
        let says_something = |prompt: &&Prompt| {
            topic::has_subject(&prompt.content) && !text::is_small_talk(&prompt.content)
        };
        let prompts = &self.writer.work.prompts;
        let oldest_first = || prompts.iter().chain(&self.writer.work.older_prompts).rev();
        let first = oldest_first().find(|prompt| topic::begins_subject(&prompt.content));
        let first = first.or(oldest_first().find(says_something)).or(oldest_first().next());
        let Some(first) = first.cloned() else { return };
        let last = prompts.iter().find(says_something).filter(|last| last.id != first.id).cloned();
        let text = self.writer.quote(&first.content);
        let of = (first.id, first.at);
        self.add(Slot::HandoffIntent, of, "the first task of the session", text);
        if let Some(last) = last {
            let text = format!("last: {}", self.writer.quote(&last.content));
            self.add(Slot::HandoffIntent, (last.id, last.at), "the last task of the session", text);
        }
    }

    /// Each turn with its answer, and its commits or edits, the last first. A turn without a commit has a
    /// longer quotation of its answer, because no commit names the work.
    fn done(&mut self) {
        let turns: Vec<(i64, i64, String)> = self
            .writer
            .work
            .prompts
            .iter()
            .map(|one| (one.id, one.at, one.content.clone()))
            .collect();
        for (id, at, said) in turns {
            let (commits, is_of) =
                (self.commits(id), |seen: &&Observation| seen.prompt_id == Some(id));
            let answer = self.writer.work.answers.iter().find(is_of);
            let gist = |seen: &Observation| match commits.is_empty() {
                false => text::gist(&seen.content, limits::BRIEFING_TEXT_CHARS),
                true => text::gist_about(&seen.content, "", limits::HANDOFF_ANSWER_CHARS),
            };
            let gist = answer.map(gist).unwrap_or_default();
            let result = match commits.is_empty() {
                false => commits.join("; "),
                true => [self.edited(id), self.passed(id)]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join("; "),
            };
            let says_nothing = gist.is_empty() || text::is_small_talk(&said);
            if result.is_empty() && says_nothing {
                continue;
            }
            let task = text::line_of_words(&said, limits::HANDOFF_TASK_CHARS);
            let mut parts = vec![in_quotes(&task)];
            if !gist.is_empty() {
                parts.push(in_quotes(&gist));
            }
            parts.extend(Some(result).filter(|result| !result.is_empty()));
            self.add(Slot::HandoffDone, (id, at), "a task and its result", parts.join(" → "));
        }
    }

    /// The commits of a turn.
    fn commits(&self, turn: i64) -> Vec<String> {
        let is_of = |seen: &&Observation| seen.prompt_id == Some(turn);
        self.writer.work.commits.iter().filter(is_of).map(commit).collect()
    }

    /// The files that a turn edited.
    fn edited(&self, turn: i64) -> Option<String> {
        let is_of = |seen: &&Observation| seen.prompt_id == Some(turn);
        let edits = self.writer.work.edits.iter().filter(is_of);
        let mut files: Vec<&str> = Vec::new();
        for path in edits.filter_map(|seen| seen.file_path.as_deref()) {
            let name = self.writer.shown(path);
            if !files.contains(&name) {
                files.push(name);
            }
        }
        files.truncate(limits::BRIEFING_SESSION_FILES);
        (!files.is_empty()).then(|| format!("edited {}", files.join(", ")))
    }

    /// The last test or build of a turn, if it passed. Those that failed are open ends.
    fn passed(&self, turn: i64) -> Option<String> {
        let is_of =
            |seen: &&Observation| seen.prompt_id == Some(turn) && RunKey::of(seen).is_some();
        let last = self.writer.work.runs.iter().find(is_of)?;
        (run::result(last) == Some("passed")).then(|| format!("{} passed", run::told(last)))
    }

    /// Failures that nothing fixed, then failures with their fix.
    fn failed(&mut self) {
        let work = &self.writer.work;
        let red: Vec<i64> = run::red(&work.runs).iter().map(|seen| seen.id).collect();
        let mut keys: Vec<ProgramKey> = Vec::new();
        let mut rows = Vec::new();
        for seen in &work.failures {
            // Red runs are listed as open ends, and a failed read-only command is of no use.
            if red.contains(&seen.id) || agents::is_read_only(&seen.content) {
                continue;
            }
            let Some(key) = ProgramKey::of(seen) else { continue };
            // A later run with an unknown result may be the fix, so nothing is said about the failure.
            let worked = work.commands.iter().chain(&work.commits).any(|later| {
                later.at_ms >= seen.at_ms
                    && same_run::may_have_worked(later)
                    && ProgramKey::of(later).is_some_and(|of| key.is_fixed_by(seen, (&of, later)))
            });
            if !worked && !keys.contains(&key) {
                rows.push(((seen.id, seen.at_ms), format!("{}; not fixed", run::told(seen))));
                keys.push(key);
            }
        }
        for (of, text) in rows {
            self.add(Slot::HandoffFailed, of, "failed, and did not work later", text);
        }
        learned::fixes(&mut self.writer, Slot::HandoffFailed);
    }

    /// Open work: the unanswered prompt, a question of the agent, red runs and uncommitted files.
    fn open(&mut self) -> Result<(), OpError> {
        let rx = self.writer.brief.rx;
        let ends = open_ends::of_session(rx, &self.session)?;
        if let Some(prompt) = &ends.prompt {
            let text = match self.writer.is_quoted(&prompt.content) {
                true => "the last task has no answer".to_owned(),
                false => {
                    format!("asked, without an answer: {}", self.writer.quote(&prompt.content))
                }
            };
            self.add(Slot::HandoffOpen, (prompt.id, prompt.at), "the last prompt", text);
        }
        let last = self.writer.work.answers.first().cloned();
        if let Some(last) = last.filter(|_| ends.prompt.is_none())
            && let Some(text) = self.writer.asked_back(&last)
        {
            self.add(Slot::HandoffOpen, (last.id, last.at_ms), ASKED_BACK, text);
        }
        for seen in &ends.red {
            let text = format!("red: {}", run::told(seen));
            self.add(Slot::HandoffOpen, (seen.id, seen.at_ms), "a run that is red", text);
        }
        if let Some(newest) = ends.uncommitted.first() {
            let named = ends.uncommitted.iter().take(limits::BRIEFING_FILES_NAMED);
            let names: Vec<&str> = named.map(|file| self.writer.shown(&file.path)).collect();
            let more = match ends.uncommitted.len().saturating_sub(names.len()) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let text = format!("not committed: {}{more}", names.join(", "));
            let of = (newest.id, newest.at);
            self.add(Slot::HandoffOpen, of, "edited, and no commit followed", text);
        }
        Ok(())
    }

    /// The edited files with their last change.
    fn files(&mut self) {
        let edits = self.writer.work.edits.clone();
        for seen in edits.iter().filter(|seen| seen.file_path.is_some()) {
            if self.writer.names_file(seen) {
                let text = self.writer.change(seen);
                self.add(Slot::HandoffFiles, (seen.id, seen.at_ms), "edited in the session", text);
            }
        }
    }

    fn decisions(&mut self) -> Result<(), OpError> {
        let session = &self.session;
        let scope = SessionScope { session, projects: &[session.project_id] };
        let (rx, most) = (self.writer.brief.rx, limits::BRIEFING_MARKS_MAX);
        for seen in observations::of_session(rx, scope, &[ObsType::Marker], most)? {
            let text = text::line_of_words(&seen.content, limits::BRIEFING_TEXT_CHARS);
            self.add(Slot::HandoffDecisions, (seen.id, seen.at_ms), "marked", text);
        }
        learned::decisions(&mut self.writer, Slot::HandoffDecisions);
        Ok(())
    }
}
