//! The section `Learned`: decisions, and failures with the command that worked later.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use agents::shell;
use contract::Slot;
use model::observation::{ObsType, Observation};
use model::session::Prompt;
use model::{OpError, limits};
use store::TextQuestion;

use super::sections::{BriefingRow, SectionWriter};
use super::topic::{self, subject};
use crate::replaced::TalkStatement;
use crate::same_run::{self, ProgramKey};

/// The most rows with decisions.
const DECISIONS_MAX: usize = 4;
/// The most decisions that are read: rows above may quote some of them.
const DECISIONS_READ_MAX: usize = 12;
/// The most rows with fixes.
const FIXES_MAX: usize = 3;
/// The newest records that change something and are compared with each decision.
const CHANGES_MAX: usize = 12;
/// The most fixes in which only the same command was run again: a test that failed for a while is of
/// little use.
const RERUNS_MAX: usize = 1;
/// If two decisions have this share of words in common, only the newer one is shown.
const SAME_SUBJECT: f64 = 0.6;
/// The most edited files that a fix names.
const FILES_BETWEEN: usize = 3;
/// The most commands between a failure and its fix that a row names.
const PREPARED_NAMED: usize = 2;

pub(super) fn add(writer: &mut SectionWriter<'_>) {
    decisions(writer, Slot::Learned);
    fixes(writer, Slot::Learned);
}

/// The decisions of the newest talk.
#[derive(Default)]
pub(super) struct RecentDecisions {
    /// Those that may get a row, newest first, without those that were replaced.
    current: Vec<CurrentDecision>,
    /// The id of each replaced record, with the id of the record that replaces it.
    replaced: Vec<(i64, i64)>,
}

struct CurrentDecision {
    /// The agent's own id of the session that states it.
    session: String,
    id: i64,
    at: i64,
    sentence: String,
}

impl RecentDecisions {
    pub(super) fn read(writer: &SectionWriter<'_>) -> Result<RecentDecisions, OpError> {
        let mut replaced = Vec::new();
        let current = read_decisions(writer, &mut replaced)?.into_iter().map(|one| {
            let Decision { session, id, at, sentence, .. } = one;
            CurrentDecision { session: session.to_owned(), id, at, sentence: sentence.to_owned() }
        });
        Ok(RecentDecisions { current: current.collect(), replaced })
    }

    /// ` (replaces #7)` or ` (replaced by #9)`, for the row of a record with a known replacement; else empty.
    pub(super) fn note(&self, id: i64) -> String {
        let by = self.replaced.iter().find(|(older, _)| *older == id);
        let of = self.replaced.iter().find(|(_, newer)| *newer == id);
        match (by, of) {
            (Some((_, newer)), _) => format!(" (replaced by #{newer})"),
            (None, Some((older, _))) => format!(" (replaces #{older})"),
            (None, None) => String::new(),
        }
    }
}

/// A decision that may get a row.
struct Decision<'w> {
    session: &'w str,
    id: i64,
    at: i64,
    said: TalkStatement,
    sentence: &'w str,
    /// The words of the sentence, once they are needed.
    subject: OnceCell<BTreeSet<String>>,
}

impl Decision<'_> {
    fn subject(&self) -> &BTreeSet<String> {
        self.subject.get_or_init(|| subject(self.sentence))
    }

    fn is_about_the_same(&self, other: &Decision<'_>) -> bool {
        let (own, others) = (self.subject(), other.subject());
        let common = own.intersection(others).count() as f64;
        common >= SAME_SUBJECT * own.len().min(others.len()).max(1) as f64
            && !self.said.is_about_sibling_of(&other.said)
    }

    /// Whether an older record is replaced by this one.
    fn replaces(&self, writer: &SectionWriter<'_>, older: &Decision<'_>) -> Result<bool, OpError> {
        self.said.replaces(writer.brief.rx, &older.said)
    }
}

/// Sentences of prompts and answers that state a decision. Of two about the same subject only the newer one has a
/// row, which names the other one if it replaces it.
pub(super) fn decisions(writer: &mut SectionWriter<'_>, slot: Slot) {
    let decisions = std::mem::take(&mut writer.decisions);
    let mut rows = 0;
    let most = if writer.work.is_of_session { usize::MAX } else { DECISIONS_MAX };
    for CurrentDecision { session, id, at, sentence } in &decisions.current {
        let (id, at) = (*id, *at);
        if rows == most {
            break;
        }
        if writer.is_quoted(sentence) || !writer.brief.is_of_another(session) {
            continue;
        }
        let row = BriefingRow {
            id,
            at,
            score: 0.5 + 0.2 * writer.recency(at),
            reason: "states a decision",
            text: format!("decided: {}{}", writer.quote(sentence), decisions.note(id)),
            pinned: false,
        };
        writer.add(slot, row);
        rows += 1;
    }
    writer.decisions = decisions;
}

/// The newest decisions, each about a subject of its own. If a newer record replaces a decision, or any other
/// statement of a prompt, the newer record is listed in its place, even if it does not state a decision itself.
fn read_decisions<'w>(
    writer: &'w SectionWriter<'_>,
    replaced: &mut Vec<(i64, i64)>,
) -> Result<Vec<Decision<'w>>, OpError> {
    let mut told: Vec<Decision<'_>> = Vec::new();
    // Records that change something and state no decision: they get a row if they replace one.
    let mut changes: Vec<Decision<'_>> = Vec::new();
    let read_max = match writer.work.is_of_session {
        true => limits::HANDOFF_READ_TALK,
        false => DECISIONS_READ_MAX,
    };
    for RecentTalk { session, at, id, kind, turn, text, is_older } in talk(writer) {
        let judge = || Ok(text::decision(text).is_some() || text::change(text).is_some());
        let decides = writer.brief.rx.verdict(TextQuestion::Decides, (id, 0), judge)?;
        // Any prompt, except those read for decisions only, may state something that was changed later.
        let is_statement = kind == ObsType::UserPrompt && !is_older;
        if !is_statement && !decides {
            continue;
        }
        let key = Some(text).filter(|_| decides);
        let decided = key.and_then(text::decision);
        let changed = decided.or_else(|| key.and_then(text::change));
        let Some(sentence) = changed.or(is_statement.then_some(text)) else { continue };
        if !topic::has_subject(sentence) {
            continue;
        }
        let said = TalkStatement::new(writer.brief.rx, (id, at), kind, turn, text);
        let decision = Decision { session, id, at, said, sentence, subject: OnceCell::new() };
        if let Some(newer) = replacing(writer, &told, &decision)? {
            replaced.push((id, newer.id));
            continue;
        }
        if decided.is_some() && told.iter().any(|one| one.is_about_the_same(&decision)) {
            continue;
        }
        let mut place = None;
        for (at, one) in changes.iter().enumerate() {
            if place.is_none() && one.replaces(writer, &decision)? {
                place = Some(at);
            }
        }
        let newer = place.map(|place| changes.remove(place));
        replaced.extend(newer.iter().map(|newer| (id, newer.id)));
        let (list, most) = match (newer.is_some() || decided.is_some(), changed.is_some()) {
            (true, _) => (&mut told, read_max),
            (false, true) => (&mut changes, CHANGES_MAX),
            (false, false) => continue,
        };
        // A record that can replace nothing must not use up the limit for those that can.
        if newer.is_none() && decided.is_none() && !decision.said.may_replace() {
            continue;
        }
        if list.len() < most {
            list.push(newer.unwrap_or(decision));
        }
    }
    Ok(told)
}

/// A prompt or an answer.
struct RecentTalk<'w> {
    session: &'w str,
    at: i64,
    id: i64,
    kind: ObsType,
    /// The prompt of its turn.
    turn: Option<i64>,
    text: &'w str,
    /// Whether it is read for decisions only.
    is_older: bool,
}

/// The prompts and answers, newest first.
fn talk<'w>(writer: &'w SectionWriter<'_>) -> Vec<RecentTalk<'w>> {
    let work = &writer.work;
    let said = |prompt: &'w Prompt, is_older| {
        let (session, text) = (prompt.session_id.as_str(), prompt.content.as_str());
        let (at, id, kind) = (prompt.at, prompt.id, ObsType::UserPrompt);
        RecentTalk { session, at, id, kind, turn: Some(id), text, is_older }
    };
    let answered = work.answers.iter().map(|seen| {
        let (session, text) = (seen.session_id.as_str(), seen.content.as_str());
        let (at, id, turn, kind) = (seen.at_ms, seen.id, seen.prompt_id, ObsType::Answer);
        RecentTalk { session, at, id, kind, turn, text, is_older: false }
    });
    let newer = work.prompts.iter().map(|prompt| said(prompt, false));
    let older = work.older_prompts.iter().map(|prompt| said(prompt, true));
    let mut talk: Vec<RecentTalk<'_>> = newer.chain(older).chain(answered).collect();
    talk.sort_by_key(|one| std::cmp::Reverse((one.at, one.id)));
    talk
}

/// The newer decision that replaces an older one.
fn replacing<'t, 'w>(
    writer: &SectionWriter<'_>,
    told: &'t [Decision<'w>],
    older: &Decision<'_>,
) -> Result<Option<&'t Decision<'w>>, OpError> {
    for one in told {
        if one.replaces(writer, older)? {
            return Ok(Some(one));
        }
    }
    Ok(None)
}

/// A failure and the first command of its program that worked later.
struct Fix<'a> {
    failure: &'a Observation,
    worked: &'a Observation,
    /// Files that were edited between the two.
    between: Vec<&'a str>,
    /// Commands between the two that may have been the fix: an installation, a migration, a service that was started.
    prepared: Vec<&'a str>,
}

/// A failure with its fix, as text for a row.
struct ToldFix {
    /// Whether the command that worked differs from the one that failed.
    is_other: bool,
    at: i64,
    id: i64,
    text: String,
    /// The paths of the files that the row names.
    files: Vec<String>,
}

/// Failures with their fix. A corrected command ranks above a test that was red for a while. The text about one session
/// has a row for each fix, a briefing only some, with one failure of a program.
pub(super) fn fixes(writer: &mut SectionWriter<'_>, slot: Slot) {
    let work = &writer.work;
    let all = work.is_of_session;
    let mut keys: Vec<(ProgramKey, i64)> = Vec::new();
    let mut fixes: Vec<ToldFix> = Vec::new();
    let failures = work.failures.iter();
    // The command that fixed an older failure may not be among those that were read.
    let failures = failures.filter(|failure| failure.at_ms >= work.commands_since);
    let failed: Vec<(ProgramKey, &Observation)> =
        failures.filter_map(|seen| Some((ProgramKey::of(seen)?, seen))).collect();
    let first = failed.last().map_or(i64::MAX, |(_, failure)| failure.at_ms);
    let may_fix = |seen: &&Observation| {
        seen.at_ms >= first
            && same_run::has_worked(seen)
            && failed.iter().any(|(key, _)| key.may_be_of(seen))
    };
    let commands = work.commands.iter().chain(&work.commits);
    let mut worked: Vec<(ProgramKey, &Observation)> =
        commands.filter(may_fix).filter_map(|seen| Some((ProgramKey::of(seen)?, seen))).collect();
    worked.sort_by_key(|(_, seen)| std::cmp::Reverse((seen.at_ms, seen.id)));
    for (key, failure) in failed {
        let mut told_fixes = keys.iter().filter(|(known, _)| *known == key).map(|(_, fix)| *fix);
        if !all && told_fixes.next().is_some() {
            continue;
        }
        let between = (work.edits.as_slice(), work.commands.as_slice());
        let Some(fix) = fix_of(failure, &key, &worked, between) else { continue };
        if only_stages(&fix) || told_fixes.any(|known| known == fix.worked.id) {
            continue;
        }
        keys.push((key, fix.worked.id));
        // The session that found a fix knows it.
        if !writer.brief.is_of_another(&fix.worked.session_id) {
            continue;
        }
        let is_other = fix.worked.content != failure.content;
        let inside = fix.between.iter().filter(|path| work.holds(path));
        let files: Vec<String> = inside.take(FILES_BETWEEN).map(|path| (*path).into()).collect();
        if !is_other && files.is_empty() && fix.prepared.is_empty() {
            // Running the command again worked without a change: there is no fix to show.
            continue;
        }
        let text = told(writer, &fix, &files);
        fixes.push(ToldFix { is_other, at: failure.at_ms, id: failure.id, text, files });
    }
    fixes.sort_by_key(|fix| std::cmp::Reverse((fix.is_other, fix.at, fix.id)));
    let others = fixes.iter().filter(|fix| fix.is_other).count();
    let most = if all { usize::MAX } else { FIXES_MAX.min(others + RERUNS_MAX) };
    for fix in fixes.into_iter().take(most) {
        let ToldFix { is_other, at, id, text, files } = fix;
        let weight = if is_other { 0.45 } else { 0.35 };
        let score = weight + 0.1 * writer.recency(at);
        let reason = "failed, and worked later";
        writer.add(slot, BriefingRow { id, at, score, reason, text, pinned: false });
        files.iter().for_each(|path| writer.name(path));
    }
}

/// The first later run of a command that worked. The lists are newest first.
fn fix_of<'a>(
    failure: &'a Observation,
    key: &ProgramKey,
    commands: &[(ProgramKey, &'a Observation)],
    (edits, acted): (&'a [Observation], &'a [Observation]),
) -> Option<Fix<'a>> {
    let mut oldest_first = commands.iter().rev();
    let fixes = |(of, seen): &&(ProgramKey, &Observation)| {
        key.is_fixed_by(failure, (of, seen)) && same_run::shows_success(failure, seen)
    };
    let (_, worked) = oldest_first.find(fixes)?;
    let mut between: Vec<&str> = Vec::new();
    let within = |seen: &&Observation| (failure.at_ms..=worked.at_ms).contains(&seen.at_ms);
    for path in edits.iter().filter(within).filter_map(|seen| seen.file_path.as_deref()) {
        if !between.contains(&path) {
            between.push(path);
        }
    }
    let mut prepared: Vec<&str> = Vec::new();
    // The newest are listed first.
    for seen in acted.iter().rev() {
        let is_between = (failure.at_ms, failure.id) < (seen.at_ms, seen.id)
            && (seen.at_ms, seen.id) < (worked.at_ms, worked.id)
            && seen.session_id == worked.session_id;
        let line = seen.content.trim();
        if is_between && !prepared.contains(&line) && same_run::changes_state(seen) {
            prepared.push(line);
        }
    }
    // Only the last commands are named: they ran because the ones before them did not help.
    let last = prepared.len().saturating_sub(PREPARED_NAMED);
    Some(Fix { failure, worked, between, prepared: prepared.split_off(last) })
}

/// Whether a fix is only `git add` before a commit. The output of git says what to do then.
fn only_stages(fix: &Fix<'_>) -> bool {
    let finding = fix.failure.error().map(text::telling::finding).unwrap_or_default();
    let reasons = ["no changes added to commit", "nothing added to commit", "nothing to commit"];
    let runs = |seen: &Observation, name: &str| {
        shell::commands(&seen.content).iter().any(|one| one.git_command() == Some(name))
    };
    let stages = || fix.between.is_empty() && runs(fix.worked, "add") && !runs(fix.failure, "add");
    runs(fix.failure, "commit")
        && (reasons.iter().any(|reason| finding.starts_with(reason)) || stages())
}

/// `` `make proxy` failed: no rule → worked: `make router` after edits of Makefile ``.
fn told(writer: &SectionWriter<'_>, fix: &Fix<'_>, files: &[String]) -> String {
    let line = |seen: &Observation| text::line_of_words(&seen.content, limits::RED_COMMAND_CHARS);
    let finding = fix.failure.error().map(text::telling::finding).unwrap_or_default();
    let finding = text::line_of_words(finding, limits::RED_FINDING_CHARS);
    let mut told = format!("`{}` failed", line(fix.failure));
    if !finding.is_empty() {
        told.push_str(&format!(": {finding}"));
    }
    let files: Vec<&str> = files.iter().map(|path| writer.shown(path)).collect();
    let mut changes: Vec<String> = Vec::new();
    if !files.is_empty() {
        changes.push(format!("edits of {}", files.join(", ")));
    }
    let command =
        |line: &&str| format!("`{}`", text::line_of_words(line, limits::RED_COMMAND_CHARS));
    changes.extend(fix.prepared.iter().map(command));
    let changes = changes.join(" and ");
    let same = fix.worked.content == fix.failure.content;
    match (same, changes.is_empty()) {
        (true, _) => told.push_str(&format!(" → worked after {changes}")),
        (false, true) => told.push_str(&format!(" → worked: `{}`", line(fix.worked))),
        (false, false) => {
            told.push_str(&format!(" → worked: `{}` after {changes}", line(fix.worked)));
        }
    }
    told
}
