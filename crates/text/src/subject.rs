//! The words of a statement that say what it is about.

use std::collections::BTreeSet;

use crate::{decisions, stem, words};

/// Words that say nothing of the subject of a statement: of deciding and changing, units, and fillers.
const BESIDE_THE_SUBJECT: &[&str] = &[
    "day", "days", "hour", "hours", "minute", "minutes", "second", "seconds", "week", "weeks",
    "month", "months", "year", "years", "percent", "time", "times", "bytes", "change", "plan",
    "plans", "mind", "new", "old", "please", "let", "lets", "make", "short", "long", "small",
    "large", "high", "low", "also", "just", "done", "now", "again", "still", "remember", "only",
    "better", "too", "anymore", "longer", "more", "rather", "instead", "ok", "okay", "yes", "one",
    "two", "three", "should", "will", "agreed", "note", "noted", "update", "updated", "has",
    "have", "will", "may", "can", "put",
];

/// The stems of the words that say something of a subject.
pub(crate) fn subject(text: &str) -> BTreeSet<String> {
    words::words(text).filter_map(|(_, word)| telling_stem(word)).collect()
}

pub(crate) fn telling_stem(word: &str) -> Option<String> {
    let word = words::fold(word);
    let tells = word.len() > 2
        && !word.starts_with(|c: char| c.is_ascii_digit())
        && !words::is_stop(&word)
        && !BESIDE_THE_SUBJECT.contains(&word.as_str())
        && !decisions::is_of_deciding(&word);
    tells.then(|| stem::stem(&word))
}
