//! Exact names in a query: a path, an identifier, a code or a quoted phrase, and whether a text contains that name as
//! typed. The index stores stems without punctuation, so in the index other texts look the same.

use super::{Condition, Form, Query, Together, WORDS_MAX, phrase};
use crate::decisions::asks;
use crate::words;

/// Bytes of a name; longer text is not treated as a name.
const NAME_BYTES_MAX: usize = 1_024;

/// A name or phrase to be matched as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exact {
    name: String,
    lower: String,
    words: Vec<String>,
}

impl Query {
    /// The exact name in the query, if there is one: a quoted phrase, else the whole query if it is a path, a
    /// hash, an error code or other text without spaces, or a copied line of code.
    pub fn exact(&self) -> Option<Exact> {
        let typed = self.typed.trim();
        let name = match self.form {
            Form::AnyTerm => quoted(typed).or_else(|| name(typed, self.words.len())),
            // In a query with operators, only a quoted phrase is exact.
            Form::Operators => quoted(typed),
            Form::Empty | Form::AllTerms | Form::Prefix => None,
        };
        let name = name.filter(|name| name.len() <= NAME_BYTES_MAX)?;
        let words = words::words(name).map(|(_, word)| word.to_lowercase());
        let words: Vec<String> = words.take(WORDS_MAX).collect();
        let lower = name.to_lowercase();
        (!words.is_empty()).then(|| Exact { name: name.to_owned(), lower, words })
    }

    /// The exact name if the whole query is one name without spaces: a path, an identifier, a code.
    pub fn name(&self) -> Option<Exact> {
        let whole = !self.typed.trim().contains(char::is_whitespace);
        self.exact().filter(|_| whole && self.form == Form::AnyTerm)
    }

    /// The query with all of its words required, for a query that is a name.
    pub fn named(&self) -> Query {
        super::all_terms(&self.typed)
    }

    /// The query for any of its words, for when no record has all of them. `None` unless the query consists
    /// of plain words and quoted phrases, at least one of each.
    pub fn relaxed(&self) -> Option<Query> {
        let outside = self.typed.split('"').step_by(2);
        let words: Vec<&str> = outside.flat_map(str::split_whitespace).collect();
        let is_plain = |word: &&str| {
            let operator = matches!(*word, "AND" | "OR" | "NOT" | "NEAR");
            !operator && word.chars().all(char::is_alphanumeric)
        };
        let plain = !words.is_empty() && words.iter().all(is_plain);
        (self.form == Form::Operators && plain).then(|| super::any_of(&self.typed))
    }
}

/// The first quoted phrase.
fn quoted(typed: &str) -> Option<&str> {
    typed.split('"').nth(1).map(str::trim).filter(|_| typed.matches('"').count() > 1)
}

fn name(question: &str, count: usize) -> Option<&str> {
    let typed = question.trim_end_matches(['?', '!', ',', ';', ':', '.']);
    let spaced = typed.contains(char::is_whitespace);
    // A path with spaces, or a copied line of code or of an error. A question with such a name does not count: the user
    // wants its answer, and not records that repeat the question.
    let pasted = ["/", "~/", "./", "../"].iter().any(|start| typed.starts_with(start))
        || (typed.contains(['[', ']', '`', '_', '=', '<', '>', '{', '}']) && !asks(question));
    // A plain word is not a name: every record that it finds contains it. In a script without spaces the end of
    // a name is unknown.
    let endless = typed.contains(words::is_cjk) && typed.chars().all(char::is_alphanumeric);
    let plain = endless || (count < 2 && typed.chars().all(char::is_alphabetic));
    (!typed.is_empty() && if spaced { pasted } else { !plain }).then_some(typed)
}

impl Exact {
    /// The name as it was typed.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name's words as a phrase, which every record with the name contains. A name without spaces is in
    /// one passage.
    pub fn condition(&self) -> Condition {
        let together = Condition::Together(Together::phrase(&self.words));
        if self.name.contains(char::is_whitespace) {
            together
        } else {
            Condition::Has(phrase(&self.words), Box::new(together))
        }
    }

    /// The longer name in a text that contains this one, if there is one.
    pub fn longer_in(&self, text: &str) -> Option<Exact> {
        let lower = text.to_lowercase();
        let at = lower.find(&self.lower)?;
        let (before, behind) = (lower.get(..at)?, lower.get(at + self.lower.len()..)?);
        let start = before.trim_end_matches(goes_on).len();
        let end = lower.len() - behind.trim_start_matches(goes_on).len();
        let name = lower.get(start..end)?;
        let words: Vec<String> = words::words(name).map(|(_, word)| word.to_owned()).collect();
        let longer = words.len() > self.words.len() && words.len() <= WORDS_MAX;
        longer.then(|| Exact { name: name.to_owned(), lower: name.to_owned(), words })
    }

    /// Whether a text contains the name as typed (case-insensitive), and not as a part of a longer name.
    pub fn is_in(&self, text: &str) -> bool {
        stands_in(&self.name, text) || stands_in(&self.lower, &text.to_lowercase())
    }
}

/// Whether a character next to a name may be part of a longer name.
fn goes_on(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-')
}

fn stands_in(name: &str, text: &str) -> bool {
    let is_inner = |c: char| c.is_alphanumeric() || c == '_';
    let has_signs = name.contains(['.', '/', '-']);
    text.match_indices(name).any(|(at, _)| {
        let (before, behind) = (text.get(..at), text.get(at + name.len()..));
        let mut behind = behind.unwrap_or_default().chars();
        let (next, then) = (behind.next(), behind.next());
        let goes_on = |next: char| {
            let by_sign = has_signs && matches!(next, '.' | '-') && then.is_some_and(is_inner);
            is_inner(next) || by_sign
        };
        let begun = before.and_then(|before| before.chars().next_back()).is_some_and(is_inner);
        let begun = begun && name.starts_with(is_inner);
        let ended = !(name.ends_with(is_inner) && next.is_some_and(goes_on));
        !begun && ended
    })
}

#[cfg(test)]
mod tests {
    use crate::query::rewrite;

    #[test]
    fn a_name_is_in_a_text_only_as_a_whole() {
        for (typed, text, expected) in [
            ("src/models/user.rs", "Edit src/models/user.rs: x", true),
            ("src/models/user.rs", "Edit /w/src/models/user.rs", true),
            ("src/models/user.rs", "Edit src/models/users.rs: x", false),
            ("src/login/form.rs", "Read src/login/form.rs.bak", false),
            ("src/login/form.rs", "it is in src/login/form.rs.", true),
            ("getConfigs", "call getConfigs()", true),
            ("getConfigs", "call getConfig()", false),
            ("run_tests", "run test", false),
            ("ERR-1042", "failed with ERR1042", false),
            ("ERR-1042", "failed with err-1042", true),
            ("v1.2.3-rc.4", "tag v1 2 3 rc 4", false),
            ("v1.2.3", "tag v1.2.3-rc.4", false),
            ("--no-verify", "git commit --no-verify -m x", true),
            ("--no-verify", "git commit --verify", false),
            ("/home/me/My Documents/plan v2.txt", "Read /home/me/My Documents/plan v2.txt", true),
            ("find the \"quick brown fox\" please", "the quick brown fox jumps", true),
            ("find the \"quick brown fox\" please", "brown quick fox", false),
            (
                "error[E0499]: cannot borrow `x` twice",
                "error[E0499]: cannot borrow `x` twice",
                true,
            ),
            ("error[E0499]: cannot borrow `x` twice", "cannot borrow x twice", false),
        ] {
            let exact = rewrite(typed).exact();
            assert_eq!(exact.map(|exact| exact.is_in(text)), Some(expected), "{typed} in {text}");
        }
    }

    #[test]
    fn plain_words_and_questions_name_nothing() {
        for typed in [
            "login",
            "why was it slow",
            "why is MAX_RETRIES ignored",
            "how does parse_header treat `Expires`?",
            "where do we call user_repo.find_all()",
            "the cat/dog question is open",
            "Login?",
            "二要素認証",
            "第3章",
        ] {
            assert_eq!(rewrite(typed).exact(), None, "{typed}");
        }
    }

    #[test]
    fn words_beside_a_phrase_are_asked_for_one_by_one_if_nothing_has_them_all() {
        let relaxed = rewrite("\"connection reset by peer\" cause").relaxed();
        let relaxed = relaxed.map(|query| (query.form.word(), query.exact().is_some()));
        assert_eq!(relaxed, Some(("any_term", true)));
        for typed in ["\"a b\"", "\"a b\" AND cause", "cause OR \"a b\"", "cau*", "plain words"] {
            assert_eq!(rewrite(typed).relaxed(), None, "{typed}");
        }
    }
}
