//! The section `Learned`: decisions, and failures with the command that worked later.

use std::collections::BTreeSet;

use agents::shell::{self, Simple};
use contract::Section;
use model::observation::Observation;
use model::run::RunKey;
use model::{OpError, limits};
use store::passages;
use text::words;

use super::same_tests;
use super::sections::{BriefingRow, SectionWriter, section};
use crate::search;

/// The most rows with decisions, and with fixes.
const DECISIONS_MAX: usize = 4;
const FIXES_MAX: usize = 3;
/// Fixes among them where the same command just ran again: a test that was red for a while says little.
const RERUNS_MAX: usize = 1;
/// If two decisions have this share of words in common, only the newer one is shown.
const SAME_SUBJECT: f64 = 0.6;
/// The most edited files that a fix names.
const FILES_BETWEEN: usize = 3;

fn learned() -> Section {
    section(5, "Learned", limits::BRIEFING_LEARNED_FLOOR, limits::BRIEFING_LEARNED_MAX)
}

pub(super) fn add(writer: &mut SectionWriter<'_>) -> Result<(), OpError> {
    decisions(writer)?;
    fixes(writer);
    Ok(())
}

/// The stems of a text's words, without stop words and short ones.
pub(super) fn subject(text: &str) -> BTreeSet<String> {
    let words = words::words(text).map(|(_, word)| words::fold(word));
    words
        .filter(|word| word.len() > 2 && !words::is_stop(word))
        .map(|word| text::stem::stem(&word))
        .collect()
}

/// A decision that may get a row.
struct Decision {
    id: i64,
    at: i64,
    sentence: String,
    subject: BTreeSet<String>,
    /// Whether it says that it changes an earlier one.
    changes: bool,
    /// The newest of the decisions that it replaces.
    replaces: Option<i64>,
}

impl Decision {
    fn is_about(&self, subject: &BTreeSet<String>) -> bool {
        let common = self.subject.intersection(subject).count() as f64;
        common >= SAME_SUBJECT * self.subject.len().min(subject.len()).max(1) as f64
    }
}

/// Sentences of prompts and answers that state a decision. Of two about the same the newer one counts, and says
/// which one it replaces.
fn decisions(writer: &mut SectionWriter<'_>) -> Result<(), OpError> {
    for told in read_decisions(writer)? {
        let Decision { id, at, sentence, replaces, .. } = told;
        if writer.is_quoted(&sentence) {
            continue;
        }
        let replaced = replaces.map_or_else(String::new, |id| format!(" (replaces #{id})"));
        let row = BriefingRow {
            id,
            at,
            score: 0.5 + 0.2 * writer.recency(at),
            reason: "states a decision",
            text: format!("decided: {}{replaced}", writer.quote(&sentence)),
            pinned: false,
        };
        writer.add(learned(), row);
    }
    Ok(())
}

/// The newest decisions, each about a subject of its own.
fn read_decisions(writer: &SectionWriter<'_>) -> Result<Vec<Decision>, OpError> {
    let work = &writer.work;
    let said = work.prompts.iter().map(|prompt| (prompt.at, prompt.id, prompt.content.as_str()));
    let answered = work.answers.iter().map(|seen| (seen.at_ms, seen.id, seen.content.as_str()));
    let mut talk: Vec<(i64, i64, &str)> = said.chain(answered).collect();
    talk.sort_by_key(|(at, id, _)| std::cmp::Reverse((*at, *id)));
    let mut told: Vec<Decision> = Vec::new();
    for (at, id, content) in talk {
        let Some(sentence) = text::decision(content) else { continue };
        let subject = subject(sentence);
        if subject.is_empty() {
            continue;
        }
        let mut newer = None;
        for (place, one) in told.iter().enumerate() {
            let is_same = one.is_about(&subject);
            if is_same || one.changes && replaces(writer, one, (id, sentence))? {
                newer = Some(place);
                break;
            }
        }
        let has_room = told.len() < DECISIONS_MAX;
        match newer.and_then(|place| told.get_mut(place)) {
            Some(newer) if newer.changes => newer.replaces = newer.replaces.or(Some(id)),
            Some(_) => {}
            None if has_room => {
                let sentence = sentence.to_owned();
                let changes = text::decisions::changes(&sentence);
                told.push(Decision { id, at, sentence, subject, changes, replaces: None });
            }
            None => {}
        }
    }
    Ok(told)
}

/// Whether a decision replaces an earlier one.
fn replaces(
    writer: &SectionWriter<'_>,
    newer: &Decision,
    (id, sentence): (i64, &str),
) -> Result<bool, OpError> {
    let cosine = passages::cosine(writer.brief.rx, newer.id, id)?;
    Ok(search::replaces(&newer.sentence, sentence, cosine))
}

/// Program, subcommand and directory: equal for a failure and the command that fixed it.
#[derive(PartialEq, Eq)]
struct ProgramKey(String, String, String);

/// A failure and the first command of its program that worked later.
struct Fix<'a> {
    failure: &'a Observation,
    worked: &'a Observation,
    /// Files that were edited between the two.
    between: Vec<&'a str>,
}

/// A failure with its fix, as text for a row.
struct ToldFix {
    /// Whether another command worked.
    is_other: bool,
    at: i64,
    id: i64,
    text: String,
    /// The paths of the files that the row names.
    files: Vec<String>,
}

/// Failures with their fix. A corrected command ranks above a test that was red for a while.
fn fixes(writer: &mut SectionWriter<'_>) {
    let work = &writer.work;
    let mut keys: Vec<ProgramKey> = Vec::new();
    let mut fixes: Vec<ToldFix> = Vec::new();
    // Every line is parsed once, and none if nothing failed.
    let first = work.failures.last().map_or(i64::MAX, |failure| failure.at_ms);
    let worked = work.commands.iter().filter(|seen| {
        seen.at_ms >= first && !seen.failed() && model::run::result(seen) != Some("unknown")
    });
    let worked: Vec<(ProgramKey, &Observation)> =
        worked.filter_map(|seen| Some((program_key(seen)?, seen))).collect();
    for failure in &work.failures {
        let Some(key) = program_key(failure).filter(|key| !keys.contains(key)) else { continue };
        let Some(fix) = fix_of(failure, &key, &worked, &work.edits) else { continue };
        keys.push(key);
        let is_other = fix.worked.content != failure.content;
        let inside = fix.between.iter().filter(|path| work.holds(path));
        let files: Vec<String> = inside.take(FILES_BETWEEN).map(|path| (*path).into()).collect();
        if !is_other && files.is_empty() {
            // Running the command again worked without an edit: there is no fix to show.
            continue;
        }
        let text = told(writer, &fix, &files);
        fixes.push(ToldFix { is_other, at: failure.at_ms, id: failure.id, text, files });
    }
    fixes.sort_by_key(|fix| std::cmp::Reverse((fix.is_other, fix.at, fix.id)));
    let others = fixes.iter().filter(|fix| fix.is_other).count();
    for fix in fixes.into_iter().take(FIXES_MAX.min(others + RERUNS_MAX)) {
        let ToldFix { is_other, at, id, text, files } = fix;
        let weight = if is_other { 0.45 } else { 0.35 };
        let score = weight + 0.1 * writer.recency(at);
        let reason = "failed, and worked later";
        writer.add(learned(), BriefingRow { id, at, score, reason, text, pinned: false });
        files.iter().for_each(|path| writer.name(path));
    }
}

/// The program, the subcommand and the directory of a command; none for commands that are read-only, were
/// interrupted, or consist of shell builtins.
fn program_key(seen: &Observation) -> Option<ProgramKey> {
    if seen.metadata.as_ref().is_some_and(|metadata| metadata["is_interrupt"] == true) {
        return None;
    }
    if let Some(RunKey { program, subcommand, directory }) = RunKey::of(seen) {
        return Some(ProgramKey(program.into(), subcommand.into(), directory.into()));
    }
    if agents::is_read_only(&seen.content) {
        return None;
    }
    let commands = shell::commands(&seen.content);
    let acts =
        |command: &&Simple| !["cd", "export", "set", "source", "."].contains(&&*command.program);
    let command = commands.iter().find(acts)?;
    let subcommand = command.words().next().filter(|word| is_subcommand(word)).unwrap_or_default();
    Some(ProgramKey(command.program.clone(), subcommand.to_owned(), String::new()))
}

/// Whether a word may be a subcommand: lowercase letters and hyphens only.
fn is_subcommand(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

/// The first later command with the same key that worked. Failed tests have to be among those that ran later; of
/// other commands a corrected argument may be the fix. The lists are newest first.
fn fix_of<'a>(
    failure: &'a Observation,
    key: &ProgramKey,
    commands: &[(ProgramKey, &'a Observation)],
    edits: &'a [Observation],
) -> Option<Fix<'a>> {
    let is_later = |seen: &Observation| (seen.at_ms, seen.id) > (failure.at_ms, failure.id);
    let is_run = RunKey::of(failure).is_some();
    let covers =
        |seen: &Observation| !is_run || same_tests::covers(&key.0, &seen.content, &failure.content);
    let mut later = commands.iter().rev().filter(|(of, seen)| of == key && is_later(seen));
    let (_, worked) = later.find(|(_, seen)| covers(seen))?;
    let mut between: Vec<&str> = Vec::new();
    let within = |seen: &&Observation| (failure.at_ms..=worked.at_ms).contains(&seen.at_ms);
    for path in edits.iter().filter(within).filter_map(|seen| seen.file_path.as_deref()) {
        if !between.contains(&path) {
            between.push(path);
        }
    }
    Some(Fix { failure, worked, between })
}

/// `` `make proxy` failed: no rule → worked: `make router` (edited Makefile) ``.
fn told(writer: &SectionWriter<'_>, fix: &Fix<'_>, files: &[String]) -> String {
    let line = |seen: &Observation| text::line_of_words(&seen.content, limits::RED_COMMAND_CHARS);
    let finding = fix.failure.error().map(text::telling::finding).unwrap_or_default();
    let finding = text::line_of_words(finding, limits::RED_FINDING_CHARS);
    let mut told = format!("`{}` failed", line(fix.failure));
    if !finding.is_empty() {
        told.push_str(&format!(": {finding}"));
    }
    let files: Vec<&str> = files.iter().map(|path| writer.shown(path)).collect();
    let edited = files.join(", ");
    let same = fix.worked.content == fix.failure.content;
    match (same, edited.is_empty()) {
        (true, _) => told.push_str(&format!(" → worked after edits of {edited}")),
        (false, true) => told.push_str(&format!(" → worked: `{}`", line(fix.worked))),
        (false, false) => {
            told.push_str(&format!(" → worked: `{}` after edits of {edited}", line(fix.worked)));
        }
    }
    told
}
