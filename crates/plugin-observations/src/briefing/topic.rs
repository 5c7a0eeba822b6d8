//! The subject of a past session, and its outcome.

use std::collections::BTreeSet;

use model::observation::Observation;
use model::session::Session;
use model::{OpError, limits};
use store::{Rx, TextQuestion, observations, prompts};
use text::words;

use crate::answered::{answer_or_finding, gist_of};

/// First words of prompts that go on with the subject of the prompt before.
const GOES_ON: &[&str] = &[
    "yes", "yep", "no", "ok", "okay", "sure", "and", "then", "also", "good", "great", "fine",
    "perfect", "thanks", "right", "exactly", "correct", "continue", "commit", "push", "again",
];
/// Words that refer to the subject of the prompt before, and the most words of such a prompt.
const REFERS: &[&str] = &["it", "that", "this", "them", "these", "those", "again"];
const REFERS_WORDS_MAX: usize = 6;
/// The fewest words with content in a prompt that begins a subject.
const SUBJECT_WORDS_MIN: usize = 2;

/// A prompt that begins a subject, and its outcome.
pub(super) struct SessionTopic {
    /// The id of the prompt.
    pub(super) id: i64,
    /// The time of the last activity of its session.
    pub(super) at: i64,
    pub(super) prompt: String,
    /// The beginning of the answer; empty if there is none.
    pub(super) outcome: String,
    /// For a question, the beginning of the answer after the last change that followed from it; mostly empty.
    pub(super) changed: String,
}

/// The subject of a session that its line is about, and the last other one in which something was found out.
#[derive(Default)]
pub(super) struct SessionTopics {
    pub(super) main: Option<SessionTopic>,
    pub(super) other: Option<SessionTopic>,
}

/// The line of a session is about the last subject that led to a commit, else the one with the most actions that led to an
/// edit or an answer; the last of equals. A subject begins with a prompt that says enough, and the prompts that follow up
/// on it belong to it. The first prompt and the last answer of a session may be about different things.
pub(super) fn of(
    rx: &Rx<'_>,
    session: &Session,
    (commits, edits): (&[Observation], &[Observation]),
) -> Result<SessionTopics, OpError> {
    let causes = |seen: &[Observation]| -> Vec<i64> {
        let own = seen.iter().filter(|seen| seen.session_id == session.session_id);
        own.filter_map(|seen| seen.prompt_id).collect()
    };
    let (commits, edits) = (causes(commits), causes(edits));
    let mut topics = SessionTopics::default();
    let (mut most, mut has_commit) = (None, false);
    let (mut turns, mut actions): (Vec<i64>, u64) = (Vec::new(), 0);
    for turn in prompts::last_of_session(rx, session.id, limits::BRIEFING_READ_TURNS)? {
        let (id, prompt, of_turn) = turn;
        turns.push(id);
        actions += of_turn;
        let begins = || Ok(begins_subject(&prompt));
        if !rx.verdict(TextQuestion::BeginsSubject, (id, 0), begins)? {
            continue;
        }
        let (turns, actions) = (std::mem::take(&mut turns), std::mem::take(&mut actions));
        let led_to = |records: &[i64]| turns.iter().any(|id| records.contains(id));
        let is_committed = led_to(&commits);
        let is_main = !has_commit && (is_committed || most.is_none_or(|most| most < actions));
        // A subject with a commit is known from the commits in the session's line.
        if !is_main && (is_committed || topics.other.is_some()) {
            continue;
        }
        let worked = |turn: i64| commits.contains(&turn) || edits.contains(&turn);
        let (outcome, changed) = outcome(rx, &prompt, &turns, worked)?;
        let counts = is_committed || outcome.is_some() || led_to(&edits);
        let (at, outcome) = (session.last_at, outcome.unwrap_or_default());
        let topic = SessionTopic { id, at, prompt, outcome, changed };
        let other = match is_main && counts {
            true => {
                (most, has_commit) = (Some(actions), is_committed);
                topics.main.replace(topic)
            }
            false => Some(topic).filter(|_| !is_main),
        };
        let found = other.filter(|one| teaches(&one.outcome));
        topics.other = topics.other.or(found);
        if has_commit && topics.other.is_some() {
            break;
        }
    }
    Ok(topics)
}

/// The outcome of a subject, and for a question the answer after the last change that followed from it.
fn outcome(
    rx: &Rx<'_>,
    prompt: &str,
    turns: &[i64],
    worked: impl Fn(i64) -> bool,
) -> Result<(Option<String>, String), OpError> {
    Ok(match answer_to_change(rx, turns, worked)? {
        // A question has its own answer besides that to the change. The answer to a question about a state is outdated
        // by it.
        Some(changed) if text::decisions::asks(prompt) && !text::asks_for_state(prompt) => {
            match answer(rx, turns.last().map(std::slice::from_ref).unwrap_or_default())? {
                Some(own) => (Some(own), changed),
                None => (Some(changed), String::new()),
            }
        }
        Some(changed) => (Some(changed), String::new()),
        None => (answer(rx, turns)?, String::new()),
    })
}

/// The answer to a prompt.
fn answer_to(rx: &Rx<'_>, turn: i64) -> Result<Option<Observation>, OpError> {
    let id = prompts::answer_to(rx, turn)?;
    id.map(|id| observations::one(rx, id)).transpose().map(Option::flatten)
}

fn asks_back(said: &Observation) -> bool {
    said.content.trim_end().ends_with('?')
}

fn gist(said: &Observation) -> String {
    gist_of(said, limits::BRIEFING_TEXT_CHARS)
}

/// The beginning of the last answer that says something and ends a turn with an edit or a commit. The turns are newest first;
/// the one that began the subject does not count.
fn answer_to_change(
    rx: &Rx<'_>,
    turns: &[i64],
    worked: impl Fn(i64) -> bool,
) -> Result<Option<String>, OpError> {
    let later = turns.split_last().map_or(&[][..], |(_, later)| later);
    for turn in later.iter().filter(|turn| worked(**turn)) {
        let said = answer_to(rx, *turn)?;
        if let Some(said) = said.filter(|said| !asks_back(said) && teaches(&said.content)) {
            return Ok(Some(gist(&said)));
        }
    }
    Ok(None)
}

/// The beginning of the answer to the oldest of these turns, which are listed newest first. If that turn has no answer,
/// or the agent asked back in it, the beginning of the last answer to the prompts that follow up on it.
fn answer(rx: &Rx<'_>, turns: &[i64]) -> Result<Option<String>, OpError> {
    let mut asked_back = None;
    for turn in turns.last().into_iter().chain(turns) {
        let Some(said) = answer_or_finding(rx, *turn)? else { continue };
        if !asks_back(&said) {
            return Ok(Some(gist(&said)));
        }
        asked_back.get_or_insert(gist(&said));
    }
    Ok(asked_back)
}

/// The stems of a text's words, without stop words and short ones.
pub(super) fn subject(text: &str) -> BTreeSet<String> {
    telling_words(text).map(text::stem::stemmed).collect()
}

/// The subject of a prompt, without words that are common to work on any subject. It is empty for a chore, such as
/// "rebase on main".
pub(super) fn own_subject(prompt: &str) -> BTreeSet<String> {
    let is_routine = match text::may_be_chore(prompt) {
        true => text::is_chore,
        false => text::is_routine,
    };
    let mut words = subject(prompt);
    words.retain(|word| !is_routine(word));
    words
}

/// The fewest words, besides those of chores, in a useful answer without a number.
const TEACHES_WORDS_MIN: usize = 3;

/// Whether an answer says something that is of use later: "The PR is open." reports that a chore is done, or a state that
/// passes.
pub(crate) fn teaches(answer: &str) -> bool {
    let mut words = subject(answer);
    words.retain(|word| !text::is_chore(word));
    let has_number =
        || words::words(answer).any(|(_, word)| word.starts_with(|c: char| c.is_ascii_digit()));
    words.len() >= TEACHES_WORDS_MIN || (!words.is_empty() && has_number())
}

/// Whether an answer that asks back says something beside its question.
pub(super) fn teaches_beside_question(answer: &str) -> bool {
    let sentences = answer.split_inclusive(['.', '!', '?', '\n']).map(str::trim_end);
    sentences.filter(|sentence| !sentence.ends_with('?')).any(teaches)
}

/// Whether a text has a subject at all.
pub(super) fn has_subject(text: &str) -> bool {
    telling_words(text).next().is_some()
}

fn telling_words(text: &str) -> impl Iterator<Item = String> {
    let words = words::words(text).map(|(_, word)| words::fold(word));
    words.filter(|word| word.len() > 2 && !words::is_stop(word))
}

/// Whether a prompt says what it is about, without the prompts before it.
pub(super) fn begins_subject(prompt: &str) -> bool {
    let mut said = words::words(prompt).map(|(_, word)| word.to_lowercase());
    let first = said.next().unwrap_or_default();
    let rest: Vec<String> = said.take(REFERS_WORDS_MAX).collect();
    let refers = rest.len() < REFERS_WORDS_MAX
        && rest.iter().chain([&first]).any(|word| REFERS.contains(&word.as_str()));
    prompt.split_whitespace().count() >= limits::OPEN_PROMPT_WORDS_MIN
        && !GOES_ON.contains(&first.as_str())
        && !refers
        && !text::is_small_talk(prompt)
        && subject(prompt).len() >= SUBJECT_WORDS_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chore_has_no_subject_of_its_own() {
        for prompt in [
            "git status please",
            "open a PR",
            "is ci green?",
            "rebase on main",
            "stop the dev server",
            "bump the patch version",
            "show me the diff",
            "write a commit message",
        ] {
            assert!(own_subject(prompt).is_empty(), "{prompt}: {:?}", own_subject(prompt));
        }
        for prompt in [
            "why does the server print that message?",
            "which port does the telemetry server listen on?",
            "format the invoices",
        ] {
            assert!(!own_subject(prompt).is_empty(), "{prompt}");
        }
    }

    #[test]
    fn an_answer_of_a_few_common_words_teaches_nothing() {
        for answer in ["The PR is open.", "CI is green on `main`.", "Stopped.", "Lint is clean."] {
            assert!(!teaches(answer), "{answer}");
        }
        for answer in ["It listens on 7070.", "An inline ref callback remounts the canvas."] {
            assert!(teaches(answer), "{answer}");
        }
    }

    #[test]
    fn a_prompt_that_follows_up_on_another_begins_no_subject() {
        for prompt in [
            "repair the rounding of the cart",
            "fix the header",
            "Why does the login token expire?",
            "This week we ship the export of invoices to the accounting tool",
        ] {
            assert!(begins_subject(prompt), "{prompt}");
        }
        for prompt in [
            "yes, and then commit it",
            "Then commit everything as one commit.",
            "try it again please",
            "run that test once more",
            "hi, where are we?",
            "thanks",
            "",
        ] {
            assert!(!begins_subject(prompt), "{prompt}");
        }
    }
}
