//! Which rows of a text say nearly the same. The measure is that of `find_similar`; two more conditions keep
//! rows apart that differ in few words but mean different things.

use std::collections::BTreeSet;

use contract::Candidate;
use store::search::ComparedText;
use text::{stem, words};

/// Punctuation around a word that is not part of it.
const AROUND_WORDS: &[char] = &['.', ',', ';', ':', '!', '?', '"', '\'', '(', ')', '…', '→'];

/// The text of a row, to be compared with other rows.
pub(super) struct RowStatement(ComparedText);

impl RowStatement {
    pub(super) fn of(candidate: &Candidate) -> RowStatement {
        RowStatement(ComparedText::new(candidate.statement()))
    }

    /// Whether the two say nearly the same: they are near-duplicates, name the same files, numbers and commands, and
    /// neither replaces a word of the other. `Edit a.rs: …` and `Edit b.rs: …` are two rows however long the rest is.
    pub(super) fn says_nearly(&self, other: &RowStatement) -> bool {
        self.0.is_duplicate_of(&other.0)
            && names(self.0.text()) == names(other.0.text())
            && no_word_is_replaced(self.0.text(), other.0.text())
    }
}

/// The words of a text that are names rather than prose, in their order: all with a digit or a sign, such as paths,
/// numbers, flags and `[tags]`, and all inside a code span.
fn names(text: &str) -> Vec<String> {
    let is_prose = |word: &str| {
        !word.starts_with('-')
            && word.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’'))
    };
    let mut names = Vec::new();
    for (number, part) in text.split('`').enumerate() {
        let is_code = number % 2 == 1;
        let words = part.split_whitespace().map(|word| word.trim_matches(AROUND_WORDS));
        let wanted = |word: &&str| !word.is_empty() && (is_code || !is_prose(word));
        names.extend(words.filter(wanted).map(str::to_lowercase));
    }
    names
}

/// Whether one text has all words of the other, apart from those without meaning.
fn no_word_is_replaced(a: &str, b: &str) -> bool {
    let stems = |text: &str| -> BTreeSet<String> {
        let folded = words::words(text).map(|(_, word)| words::fold(word));
        folded.filter(|word| !words::is_stop(word)).map(stem::stemmed).collect()
    };
    let (a, b) = (stems(a), stems(b));
    a.is_subset(&b) || b.is_subset(&a)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say_the_same(a: &str, b: &str) -> bool {
        let of = |text: &str| RowStatement(ComparedText::new(text.to_owned()));
        let (a, b) = (of(a), of(b));
        assert_eq!(a.says_nearly(&b), b.says_nearly(&a));
        a.says_nearly(&b)
    }

    const LONG: &str = "the build of the router fails because the cache of the base image is cold and the disk is slow";

    /// @briefing_near_duplicates
    #[test]
    fn texts_that_differ_in_inflection_case_or_small_words_say_nearly_the_same() {
        for (a, b) in [
            (LONG, LONG),
            (
                LONG,
                "the build of the router fails because cache of the base image is cold and the disk is slow",
            ),
            ("Run the migrations first!", "run the migration first"),
            ("decided: \"Never deploy on a Friday\"", "decided: \"never deploy on a friday.\""),
            ("二要素認証のエラー", "二要素認証のエラー"),
        ] {
            assert!(say_the_same(a, b), "{a} / {b}");
        }
    }

    /// @briefing_near_duplicates
    #[test]
    fn texts_that_name_other_things_or_deny_each_other_do_not() {
        let other = |from: &str, to: &str| (LONG.to_owned(), LONG.replacen(from, to, 1));
        let edit = |file: &str| format!("Edit src/{file}.rs: {LONG}");
        let code = |target: &str| format!("`make {target}` failed: {LONG}");
        for (a, b) in [
            other("router", "switch"),
            other("is cold", "is not cold"),
            other("disk is slow", "disk 2 is slow"),
            (edit("a"), edit("b")),
            (code("all"), code("proxy")),
            (format!("{LONG} [app]"), format!("{LONG} [web]")),
            (format!("{LONG} --release"), format!("{LONG} --debug")),
            (format!("command {LONG}"), format!("command_error {LONG}")),
            ("make target".to_owned(), "make".to_owned()),
            (String::new(), String::new()),
        ] {
            assert!(!say_the_same(&a, &b), "{a} / {b}");
        }
    }
}
