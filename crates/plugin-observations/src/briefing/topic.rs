//! The subject of a past session, and its outcome.

use std::collections::BTreeSet;

use model::observation::Observation;
use model::session::Session;
use model::{OpError, limits};
use store::{Rx, TextQuestion, observations, prompts};
use text::words;

/// First words of prompts that go on with the subject of the prompt before.
const GOES_ON: &[&str] = &[
    "yes", "yep", "no", "ok", "okay", "sure", "and", "then", "also", "good", "great", "fine",
    "perfect", "thanks", "right", "exactly", "correct", "continue", "commit", "push", "again",
];
/// Words that refer to the subject of the prompt before, and the most words of such a prompt.
const REFERS: &[&str] = &["it", "that", "this", "them", "these", "those", "again"];
const REFERS_WORDS_MAX: usize = 6;
/// Words that say something, in a prompt that begins a subject.
const SUBJECT_WORDS_MIN: usize = 2;

/// Words of an offer to go on, which name nothing to go on with.
const OFFERS: &[&str] = &[
    "ahead",
    "anything",
    "assist",
    "begin",
    "continue",
    "else",
    "fine",
    "further",
    "good",
    "happy",
    "help",
    "know",
    "let",
    "like",
    "look",
    "looks",
    "make",
    "makes",
    "need",
    "next",
    "okay",
    "please",
    "prefer",
    "proceed",
    "questions",
    "ready",
    "right",
    "sense",
    "shall",
    "something",
    "sound",
    "sounds",
    "start",
    "think",
    "today",
    "want",
    "work",
];

/// A prompt that begins a subject, and how its answer begins; empty if there is none.
pub(super) struct SessionTopic {
    /// The id of the prompt.
    pub(super) id: i64,
    pub(super) prompt: String,
    pub(super) outcome: String,
}

/// The last subject of a session that led to a commit, else the one with the most actions that led to an edit or
/// an answer; the last of equals. It begins with a prompt that says enough, and the prompts that follow up on
/// it belong to it. The first prompt and the last answer of a session may be about different things.
pub(super) fn of(
    rx: &Rx<'_>,
    session: &Session,
    (commits, edits): (&[Observation], &[Observation]),
) -> Result<Option<SessionTopic>, OpError> {
    let causes = |seen: &[Observation]| -> Vec<i64> {
        let own = seen.iter().filter(|seen| seen.session_id == session.session_id);
        own.filter(|seen| !seen.failed()).filter_map(|seen| seen.prompt_id).collect()
    };
    let (commits, edits) = (causes(commits), causes(edits));
    let mut most: Option<(u64, SessionTopic)> = None;
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
        if !is_committed && most.as_ref().is_some_and(|(most, _)| *most >= actions) {
            continue;
        }
        let outcome = answer(rx, &turns)?;
        let counts = is_committed || outcome.is_some() || led_to(&edits);
        let topic = SessionTopic { id, prompt, outcome: outcome.unwrap_or_default() };
        if is_committed {
            return Ok(Some(topic));
        }
        if counts {
            most = Some((actions, topic));
        }
    }
    Ok(most.map(|(_, topic)| topic))
}

/// The beginning of the answer to the prompt of the first of these turns, which are newest first. If it has none, or the
/// agent asked back, it is that of the last answer to the prompts that follow up on it.
fn answer(rx: &Rx<'_>, turns: &[i64]) -> Result<Option<String>, OpError> {
    let mut asked_back = None;
    for turn in turns.last().into_iter().chain(turns) {
        let Some(id) = prompts::answer_to(rx, *turn)? else { continue };
        let Some(said) = observations::one(rx, id)? else { continue };
        let gist = text::gist(&said.content, limits::BRIEFING_TEXT_CHARS);
        if !said.content.trim_end().ends_with('?') {
            return Ok(Some(gist));
        }
        asked_back.get_or_insert(gist);
    }
    Ok(asked_back)
}

/// The stems of a text's words, without stop words and short ones.
pub(super) fn subject(text: &str) -> BTreeSet<String> {
    telling_words(text).map(text::stem::stemmed).collect()
}

/// Stems of words for work on any subject: a prompt and a record that only share these are about different things.
const ROUTINE: &[&str] = &[
    "add", "build", "chang", "check", "clean", "code", "command", "commit", "creat", "delet",
    "doe", "error", "fail", "file", "fix", "function", "lint", "make", "merg", "pass", "push",
    "refactor", "remov", "renam", "review", "run", "script", "test", "tidi", "unit", "updat",
    "use", "work", "write",
];

/// The subject of a prompt without words for work on any subject.
pub(super) fn own_subject(text: &str) -> BTreeSet<String> {
    let mut words = subject(text);
    words.retain(|word| !ROUTINE.contains(&word.as_str()));
    words
}

/// Whether a text has a subject at all.
pub(super) fn has_subject(text: &str) -> bool {
    telling_words(text).next().is_some()
}

/// Whether a question of an agent is about something, and no mere offer to go on.
pub(super) fn asks_something(question: &str) -> bool {
    telling_words(question).any(|word| !OFFERS.contains(&word.as_str()))
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
