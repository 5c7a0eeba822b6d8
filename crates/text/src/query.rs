//! Turns the user's text into a query for the full-text index: with operators if they are meant, else
//! with quoted words. The expression is free of syntax errors for any text.

mod exact;
mod excerpt;
mod marks;
mod operators;
#[cfg(test)]
mod tests;
mod together;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::{other_forms, passages, terms, words};

pub use exact::Exact;
pub use excerpt::beginning;
pub use marks::Finder;
pub use together::{Beginning, Together};

/// Bytes of a query that are read; the rest is cut off.
pub const BYTES_MAX: usize = 16 * 1024;
/// Different words of a query that are read.
pub const WORDS_READ_MAX: usize = 64;
/// Words of a query that are searched for.
pub const WORDS_MAX: usize = 32;
/// Pairs of adjacent words of a query.
pub const PAIRS_MAX: usize = 32;
/// Words of a query that are searched for as prefixes if no whole word was found.
pub const PREFIXES_MAX: usize = 8;
/// Nesting depth of parentheses in a query with operators.
pub const NESTING_MAX: usize = 6;

/// Characters of the shortest word that is searched for as a prefix.
const PREFIX_CHARS_MIN: usize = 2;
/// Characters of the shortest prefix that results from shortening a word.
const SHORTENED_CHARS_MIN: usize = 4;

/// How a query was understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// As typed: it is valid with AND, OR, NOT, NEAR, phrases in quotes or `word*`.
    Operators,
    /// A record must contain every word.
    AllTerms,
    /// A record must contain one of the words; the more and the rarer, the better.
    AnyTerm,
    /// A record must contain a word that begins like one of these.
    Prefix,
    /// The query has no words.
    Empty,
}

impl Form {
    pub fn word(self) -> &'static str {
        match self {
            Form::Operators => "operators",
            Form::AllTerms => "all_terms",
            Form::AnyTerm => "any_term",
            Form::Prefix => "prefix",
            Form::Empty => "empty",
        }
    }
}

/// A condition on the text of a record. The index matches passages, and a long record has several: each part of
/// the condition is searched for separately, and the results are combined per record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// One of its passages matches this expression of the index; the condition says the same of a passage's text.
    Has(String, Box<Condition>),
    /// One of its passages has this word.
    Word(String),
    /// It has these words together, wherever it is cut into passages.
    Together(Together),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Without(Box<Condition>, Box<Condition>),
}

impl Condition {
    /// Whether the text of a whole record fulfils it.
    fn holds_in(&self, text: &str) -> bool {
        match self {
            Condition::Has(_, on_text) => {
                passages::passages(text).into_iter().any(|passage| on_text.holds_in(passage))
            }
            Condition::Word(word) => Together::word(word).is_in(text),
            Condition::Together(together) => together.is_in(text),
            Condition::All(parts) => parts.iter().all(|part| part.holds_in(text)),
            Condition::Any(parts) => parts.iter().any(|part| part.holds_in(text)),
            Condition::Without(wanted, unwanted) => {
                wanted.holds_in(text) && !unwanted.holds_in(text)
            }
        }
    }
}

/// A query as the index takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    pub form: Form,
    /// The words to search for, in lower case, each once. With operators, only the words that a record
    /// may contain: none of those after `NOT`.
    pub words: Vec<String>,
    /// Adjacent words of the query; a record that has them adjacent too ranks higher.
    pub pairs: Vec<[String; 2]>,
    /// Whether the query was too long, and its end was not read.
    pub cut: bool,
    /// The whole condition; empty for [`Form::AnyTerm`], whose expression joins the [`term`]s of `words`.
    expression: String,
    condition: Condition,
    /// The indexes in `words` of those that are prefixes.
    beginnings: Vec<usize>,
    /// Phrases longer than a pair, for the reasons that are given for a hit.
    phrases: Vec<Vec<String>>,
    /// The text of the query, as far as it was read.
    typed: String,
}

/// Reads a text as a query: with operators if it is valid as such, else for any of its words.
pub fn rewrite(text: &str) -> Query {
    let (text, cut) = head(text);
    let query = operators::read(text).unwrap_or_else(|| any_term(text));
    Query { cut: cut || query.cut, typed: text.to_owned(), ..query }
}

/// The query for any of the words of a text, without operators: it finds similar records.
pub fn any_of(text: &str) -> Query {
    let (text, cut) = head(text);
    let query = any_term(text);
    Query { cut: cut || query.cut, typed: text.to_owned(), ..query }
}

/// Like [`rewrite`], but a text without operators requires all of its words: for callers that must not match
/// more records than the user means.
pub fn all_terms(text: &str) -> Query {
    let query = rewrite(text);
    if query.form != Form::AnyTerm {
        return query;
    }
    let (words, _) = typed(head(text).0);
    let expression = join(&words, " AND ");
    let condition = Condition::All(words.iter().cloned().map(Condition::Word).collect());
    Query { form: Form::AllTerms, words, expression, condition, ..query }
}

impl Query {
    /// The condition on a record as one expression of the index; empty if the query has no words.
    pub fn expression(&self) -> String {
        match self.form {
            Form::AnyTerm => join(&self.words, " OR "),
            _ => self.expression.clone(),
        }
    }

    /// The condition on a whole record.
    pub fn condition(&self) -> Condition {
        match self.form {
            Form::AnyTerm => {
                let words = self.words.iter().cloned().map(Condition::Word).collect();
                Condition::Has(self.expression(), Box::new(Condition::Any(words)))
            }
            Form::Empty => Condition::Any(Vec::new()),
            Form::Operators | Form::AllTerms | Form::Prefix => self.condition.clone(),
        }
    }

    /// Whether a record with this text matches the query.
    pub fn is_met_by(&self, text: &str) -> bool {
        let any_word = || self.finder().is_in(text);
        match self.form {
            Form::AnyTerm | Form::Prefix | Form::Empty => any_word(),
            Form::Operators | Form::AllTerms => any_word() && self.condition.holds_in(text),
        }
    }

    /// The index terms that a record is searched for, each with its word. Without operators, other forms of a word are
    /// terms too; they follow the query's own.
    pub fn terms(&self) -> Vec<(&str, String)> {
        let mut terms: Vec<(&str, String)> = Vec::new();
        for word in &self.words {
            terms.extend(terms::term(word).map(|term| (word.as_str(), term)));
        }
        if self.form == Form::AnyTerm {
            for at in 0..terms.len() {
                let Some((word, term)) = terms.get(at) else { break };
                let (word, others) = (*word, other_forms::of(term));
                for other in others {
                    if terms.iter().all(|(_, known)| known != other) {
                        terms.push((word, other.clone()));
                    }
                }
            }
        }
        terms
    }

    /// The words that are not prefixes.
    pub fn whole_words(&self) -> impl Iterator<Item = &String> {
        let whole = |(at, _): &(usize, &String)| !self.beginnings.contains(at);
        self.words.iter().enumerate().filter(whole).map(|(_, word)| word)
    }

    /// The text of the query, as far as it was read.
    pub fn typed(&self) -> &str {
        &self.typed
    }

    /// The query with the words as prefixes, for when no whole word was found. A long prefix is also
    /// shortened: there may be a typing error at its end.
    pub fn prefix(&self) -> Option<Query> {
        // A stop word is the prefix of many words that are not stop words.
        let long = |word: &&String| {
            let long = word.chars().nth(PREFIX_CHARS_MIN - 1).is_some();
            (long && !words::is_stop(word)) || word.chars().all(words::is_cjk)
        };
        if self.form != Form::AnyTerm {
            return None;
        }
        let whole = self.words.iter().filter(long).take(PREFIXES_MAX).cloned();
        let words: Vec<String> =
            whole.flat_map(|word| [shortened(&word), Some(word)]).flatten().collect();
        let expression =
            words.iter().map(|word| format!("\"{word}\"*")).collect::<Vec<_>>().join(" OR ");
        let begun = |word: &String| match word.chars().any(words::is_cjk) {
            true => {
                let on_text = Condition::Together(Together::beginning(word));
                Condition::Has(format!("\"{word}\"*"), Box::new(on_text))
            }
            false => Condition::Together(Together::beginning(word)),
        };
        let condition = Condition::Any(words.iter().map(begun).collect());
        let beginnings = (0..words.len()).collect();
        let pairs = Vec::new();
        (!words.is_empty()).then(|| Query {
            form: Form::Prefix,
            words,
            pairs,
            expression,
            condition,
            beginnings,
            ..self.clone()
        })
    }
}

/// One word as an expression of the index. A single character of a script without spaces matches all
/// pairs that begin with it.
pub fn term(word: &str) -> String {
    format!("\"{word}\"{}", if is_lone_cjk(word) { "*" } else { "" })
}

/// Whether a word is a single character of a script without spaces.
fn is_lone_cjk(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(words::is_cjk) && chars.next().is_none()
}

/// A phrase as an expression of the index.
pub fn phrase(words: &[String]) -> String {
    format!("\"{}\"", words.join(" "))
}

fn join(words: &[String], operator: &str) -> String {
    words.iter().map(|word| term(word)).collect::<Vec<_>>().join(operator)
}

/// The part of the text that is read, and whether the text is longer.
fn head(text: &str) -> (&str, bool) {
    let end = text.floor_char_boundary(BYTES_MAX);
    (text.get(..end).unwrap_or_default(), end < text.len())
}

fn any_term(text: &str) -> Query {
    let (mut found, pairs) = typed(text);
    for (_, word) in words::words(text) {
        for (_, part) in words::parts(word) {
            remember(&mut found, part.to_ascii_lowercase());
        }
    }
    let mut different: HashSet<String> =
        words::words(text).flat_map(|(_, word)| units(word)).collect();
    different.retain(|word| !words::is_stop(word));
    Query {
        form: if found.is_empty() { Form::Empty } else { Form::AnyTerm },
        words: found,
        pairs,
        cut: different.len() > WORDS_READ_MAX,
        expression: String::new(),
        condition: Condition::Any(Vec::new()),
        beginnings: Vec::new(),
        phrases: Vec::new(),
        typed: String::new(),
    }
}

/// The words of a text that are not stop words, or all words if there are no others; and the pairs
/// of them that are adjacent.
fn typed(text: &str) -> (Vec<String>, Vec<[String; 2]>) {
    let mut found = Vec::new();
    let mut pairs: Vec<[String; 2]> = Vec::new();
    let mut before: Option<String> = None;
    for word in words::words(text).flat_map(|(_, word)| units(word)) {
        if found.len() == WORDS_READ_MAX {
            break;
        }
        if words::is_stop(&word) {
            before = None;
            continue;
        }
        remember(&mut found, word.clone());
        if let Some(before) = before.replace(word.clone()) {
            let pair = [before, word];
            if pairs.len() < PAIRS_MAX && !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
    }
    if found.is_empty() {
        let all = words::words(text).map(|(_, word)| word.to_lowercase());
        all.take(WORDS_READ_MAX).for_each(|word| remember(&mut found, word));
    }
    (found, pairs)
}

fn remember(found: &mut Vec<String>, word: String) {
    if found.len() < WORDS_READ_MAX && !found.contains(&word) {
        found.push(word);
    }
}

/// The search terms of a word: the word in lower case; in a script without spaces, every two
/// adjacent characters.
fn units(word: &str) -> Vec<String> {
    if word.is_ascii() {
        return vec![word.to_ascii_lowercase()];
    }
    let mut units = Vec::new();
    for stretch in words::stretches(word) {
        if stretch.cjk {
            units.extend(words::bigrams(stretch.text).map(|(_, two)| two.to_owned()));
        } else {
            units.push(stretch.text.to_lowercase());
        }
    }
    units
}

/// The first two thirds of a word that is long enough.
fn shortened(word: &str) -> Option<String> {
    let kept = (word.chars().count() * 2).div_ceil(3);
    let enough = kept >= SHORTENED_CHARS_MIN && !word.chars().any(words::is_cjk);
    enough.then(|| word.chars().take(kept).collect())
}
