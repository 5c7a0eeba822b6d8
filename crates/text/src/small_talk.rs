//! Prompts that ask for no work: greetings, thanks, and questions about the state of the work. English
//! only; a prompt in another language never counts as one.

use crate::words;

/// The words of such prompts. A prompt with any other word is not small talk.
const WORDS: &[&str] = &[
    "a",
    "afternoon",
    "again",
    "all",
    "and",
    "any",
    "anything",
    "are",
    "at",
    "back",
    "branch",
    "bye",
    "can",
    "catch",
    "changed",
    "changes",
    "cheers",
    "clean",
    "continue",
    "cool",
    "current",
    "day",
    "did",
    "diff",
    "do",
    "doing",
    "done",
    "evening",
    "everyone",
    "everything",
    "far",
    "fine",
    "for",
    "friday",
    "git",
    "go",
    "going",
    "good",
    "got",
    "great",
    "happened",
    "have",
    "hello",
    "hey",
    "hi",
    "how",
    "i",
    "in",
    "is",
    "it",
    "last",
    "latest",
    "leave",
    "left",
    "let",
    "list",
    "log",
    "look",
    "ls",
    "me",
    "monday",
    "morning",
    "my",
    "new",
    "next",
    "nice",
    "night",
    "now",
    "of",
    "off",
    "ok",
    "okay",
    "on",
    "open",
    "our",
    "perfect",
    "please",
    "pwd",
    "quick",
    "recap",
    "remind",
    "repo",
    "repository",
    "run",
    "s",
    "say",
    "session",
    "show",
    "since",
    "so",
    "state",
    "status",
    "still",
    "summarise",
    "summarize",
    "summary",
    "tell",
    "thank",
    "thanks",
    "that",
    "the",
    "there",
    "thing",
    "things",
    "this",
    "time",
    "to",
    "today",
    "todo",
    "todos",
    "tree",
    "uncommitted",
    "up",
    "us",
    "was",
    "we",
    "week",
    "welcome",
    "went",
    "were",
    "what",
    "where",
    "work",
    "worked",
    "working",
    "yes",
    "yesterday",
    "you",
    "your",
];

/// Longest small talk, in bytes; a longer prompt is never small talk.
const CHARS_MAX: usize = 120;

/// Whether a prompt only greets, thanks or asks about the state of the work: "hi, where are we?", "what
/// changed today?", "run git status".
pub fn is_small_talk(text: &str) -> bool {
    let text = text.trim();
    if text.is_empty() || text.len() > CHARS_MAX || text.contains(['/', '`', '_']) {
        return false;
    }
    let is_known = |word: &str| WORDS.binary_search(&&*word.to_lowercase()).is_ok();
    // The list of words is ASCII, so a prompt with a symbol or another script is not small talk.
    let is_plain = text.chars().all(|c| c.is_ascii() || matches!(c, '’' | '…' | '–' | '—'));
    is_plain && words::words(text).all(|(_, word)| is_known(word))
}

/// First words of prompts that agree, and phrases by which such a prompt refers to what was proposed.
const AGREES: &[&str] = &[
    "agreed", "fine", "good", "great", "ok", "okay", "perfect", "right", "sounds", "sure", "yeah",
    "yep", "yes",
];
const PROPOSED: &[&str] =
    &["do that", "do it", "do this", "go ahead", "go with that", "that works", "sounds good"];

/// Whether a prompt agrees to what the agent proposed: "ok, let's do that on Monday".
pub fn accepts(text: &str) -> bool {
    let first = words::words(text).next().map(|(_, word)| word.to_lowercase());
    first.is_some_and(|first| AGREES.contains(&first.as_str()))
        && PROPOSED.iter().any(|phrase| text.to_lowercase().contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_agrees_if_it_refers_to_what_was_proposed() {
        assert!(accepts("ok lets do that on monday: watch the directory instead of the file"));
        assert!(accepts("Yes, go ahead."));
        for text in ["ok, use Postgres instead of Redis", "do that", "no, do it by hand", ""] {
            assert!(!accepts(text), "{text}");
        }
    }

    #[test]
    fn greetings_thanks_and_questions_about_the_state_want_nothing_done() {
        for text in [
            "hi, where are we?",
            "thanks, good morning, what's up?",
            "what changed today?",
            "run git status",
            "Where did we leave off?",
            "What did we do last week?",
            "ok",
            "Thank you!",
            "show me the git log please",
            "show me the open TODOs",
        ] {
            assert!(is_small_talk(text), "{text}");
        }
        for text in [
            "run the tests",
            "what changed in the parser today?",
            "hi, fix the login",
            "where is the cart stored?",
            "status page is down",
            "look at src/a",
            "wie geht es weiter?",
            "今日は",
            "",
        ] {
            assert!(!is_small_talk(text), "{text}");
        }
        assert!(WORDS.is_sorted());
    }
}
