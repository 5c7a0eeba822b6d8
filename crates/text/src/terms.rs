//! The index terms of a passage: the stems of its words, their frequencies, and its length.

use std::collections::HashMap;

use crate::{stem, words};

/// The stems of a passage with their frequencies, doubled: a word adds 2, a part of a compound word,
/// which counts half, adds 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    pub twice: HashMap<String, u8>,
    /// Words and parts, as far as they are written with spaces.
    pub length: u16,
}

impl Terms {
    /// The terms of a passage and of its [`words::hidden_words`].
    pub fn of(passage: &str, hidden: &str) -> Terms {
        let mut terms = Terms::default();
        for (_, word) in words::words(passage) {
            terms.length = terms.length.saturating_add(1);
            terms.add(word, 2);
        }
        for part in hidden.split(' ').filter(|part| !part.is_empty()) {
            // Pairs of characters are not words, and would make their passage look long.
            terms.length = terms.length.saturating_add(u16::from(!part.chars().any(words::is_cjk)));
            terms.add(part, 1);
        }
        terms
    }

    fn add(&mut self, word: &str, times: u8) {
        if let Some(term) = term(word) {
            let twice = self.twice.entry(term).or_default();
            *twice = twice.saturating_add(times);
        }
    }
}

/// The stem by which a word is indexed; `None` for a stop word.
pub fn term(word: &str) -> Option<String> {
    let word = words::fold(word);
    (!words::is_stop(&word)).then(|| stem::stemmed(word))
}

/// Letters at the end of a stem that the word may not have: `sensibl` is the stem of `sensibility`.
const STEM_OWN_LETTERS: usize = 3;

/// Whether a term may be the stem of a word, by the letters that both begin with.
pub fn may_be_stem(term: &str, word: &str) -> bool {
    if words::first_byte(word).is_none() || !word.is_ascii() {
        return true;
    }
    let shared = term.len().saturating_sub(STEM_OWN_LETTERS).max(1);
    match (term.as_bytes().get(..shared), word.as_bytes().get(..shared)) {
        (Some(term), Some(word)) => term.eq_ignore_ascii_case(word),
        _ => term.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stem_may_be_that_of_its_word() {
        let heads =
            ["a", "ab", "sens", "relat", "effici", "hop", "agre", "y", "s", "str", "trouble"];
        let ends = [
            "",
            "s",
            "es",
            "ies",
            "sses",
            "ed",
            "eed",
            "ing",
            "y",
            "ying",
            "ational",
            "tional",
            "encies",
            "ency",
            "anci",
            "izer",
            "logi",
            "bli",
            "ably",
            "alli",
            "entli",
            "eli",
            "ousli",
            "ization",
            "izations",
            "ation",
            "ating",
            "ator",
            "alism",
            "iveness",
            "fulness",
            "ousness",
            "ality",
            "ivities",
            "ability",
            "ibilities",
            "icate",
            "ative",
            "alize",
            "iciti",
            "ical",
            "ement",
            "ments",
            "ion",
            "ions",
            "ous",
            "ive",
            "ize",
            "ized",
            "izing",
            "bled",
            "lls",
        ];
        for word in heads.iter().flat_map(|head| ends.map(|end| format!("{head}{end}"))) {
            let stem = stem::stem(&word);
            assert!(may_be_stem(&stem, &word), "{stem} of {word}");
        }
        assert!(may_be_stem("cafe", "Café"));
        assert!(!may_be_stem("build", "bandage"));
        assert!(!may_be_stem("build", "a"));
    }

    fn twice(passage: &str) -> Vec<(String, u8)> {
        let terms = Terms::of(passage, &words::hidden_words(passage));
        let mut twice: Vec<(String, u8)> = terms.twice.into_iter().collect();
        twice.sort();
        twice
    }

    fn expected(terms: &[(&str, u8)]) -> Vec<(String, u8)> {
        terms.iter().map(|(term, twice)| ((*term).to_owned(), *twice)).collect()
    }

    #[test]
    fn words_count_twice_their_parts_once_and_stop_words_not_at_all() {
        let found = twice("The builds build getUserName");
        assert_eq!(
            found,
            expected(&[("build", 4), ("get", 1), ("getusernam", 2), ("name", 1), ("user", 1)])
        );
    }

    #[test]
    fn a_script_without_spaces_is_found_by_pairs_of_characters_that_have_no_length() {
        let passage = "日本語 test";
        let terms = Terms::of(passage, &words::hidden_words(passage));
        assert_eq!(terms.length, 2);
        for term in ["日本", "本語", "test"] {
            assert!(terms.twice.contains_key(term), "{term}");
        }
    }
}
