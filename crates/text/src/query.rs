//! What somebody typed as a query that the full-text index takes: operators where they are meant,
//! else quoted words. Whatever is typed, the expression that comes out has no syntax error.

mod exact;
mod excerpt;
mod marks;
mod operators;
#[cfg(test)]
mod tests;
mod together;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::{passages, words};

pub use exact::Exact;
pub use excerpt::beginning;
pub use marks::Finder;
pub use together::{Beginning, Together};

/// Bytes of a query that are read; what follows is cut off.
pub const BYTES_MAX: usize = 16 * 1024;
/// Different words of a query that are read.
pub const WORDS_READ_MAX: usize = 64;
/// Words of a query that are looked for, and pairs of adjacent words.
pub const WORDS_MAX: usize = 32;
pub const PAIRS_MAX: usize = 32;
/// Beginnings of words that are looked for when no whole word was found.
pub const PREFIXES_MAX: usize = 8;
/// Parentheses inside each other in a query with operators.
pub const NESTING_MAX: usize = 6;

/// Fewer characters than this are no beginning of a word worth looking for.
const PREFIX_CHARS_MIN: usize = 2;
/// Fewer characters than this are not left when a beginning is made shorter.
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
    /// There is nothing to look for.
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

/// What a record has to contain. The index knows passages, of which a long record has several: what is asked
/// of the record as a whole is put together of what each part of the condition finds.
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
    /// What is looked for, in lower case, each word once. Those of operators are the ones that a
    /// record may contain.
    pub words: Vec<String>,
    /// Adjacent words of the query; a record that has them adjacent too ranks higher.
    pub pairs: Vec<[String; 2]>,
    /// Whether the end of the query was not read, because it is too long.
    pub cut: bool,
    /// The whole condition, except for [`Form::AnyTerm`], which is put together of [`term`]s.
    expression: String,
    condition: Condition,
    /// The words that are beginnings of words, by their place in `words`.
    beginnings: Vec<usize>,
    /// Longer phrases than pairs, for what is said about a hit.
    phrases: Vec<Vec<String>>,
    /// What was typed, as far as it was read.
    typed: String,
}

/// The query that this text is: operators if it is one with operators, else any of its words.
pub fn rewrite(text: &str) -> Query {
    let (text, cut) = head(text);
    let query = operators::read(text).unwrap_or_else(|| any_term(text));
    Query { cut: cut || query.cut, typed: text.to_owned(), ..query }
}

/// The query for any of the words of a text, whatever else stands in it: for what is like it.
pub fn any_of(text: &str) -> Query {
    let (text, cut) = head(text);
    let query = any_term(text);
    Query { cut: cut || query.cut, typed: text.to_owned(), ..query }
}

/// The same as [`rewrite`], but a text without operators asks for all of its words: for what must not hit more
/// than is meant.
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
    /// The condition on a record as one expression of the index; empty if there is nothing to look
    /// for.
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

    /// Whether a whole record with this text is meant.
    pub fn is_met_by(&self, text: &str) -> bool {
        let any_word = || self.finder().is_in(text);
        match self.form {
            Form::AnyTerm | Form::Prefix | Form::Empty => any_word(),
            Form::Operators | Form::AllTerms => any_word() && self.condition.holds_in(text),
        }
    }

    /// The words that are not beginnings of words.
    pub fn whole_words(&self) -> impl Iterator<Item = &String> {
        let whole = |(at, _): &(usize, &String)| !self.beginnings.contains(at);
        self.words.iter().enumerate().filter(whole).map(|(_, word)| word)
    }

    /// What was typed, as far as it was read.
    pub fn typed(&self) -> &str {
        &self.typed
    }

    /// The query for records with words that begin like these, for when no word was found. A long
    /// beginning is tried shortened too: there may be a slip at its end.
    pub fn prefix(&self) -> Option<Query> {
        // Many words that say something begin like one that says nothing.
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

/// One word as an expression of the index. A single character of a script without spaces stands for
/// all pairs that begin with it.
pub fn term(word: &str) -> String {
    format!("\"{word}\"{}", if is_lone_cjk(word) { "*" } else { "" })
}

/// Whether a word is a single character of a script without spaces.
fn is_lone_cjk(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(words::is_cjk) && chars.next().is_none()
}

/// Words that follow each other as an expression of the index.
pub fn phrase(words: &[String]) -> String {
    format!("\"{}\"", words.join(" "))
}

fn join(words: &[String], operator: &str) -> String {
    words.iter().map(|word| term(word)).collect::<Vec<_>>().join(operator)
}

/// As much of the text as is read, and whether that is not all.
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

/// The words of a text that are not stop words, or all if there are no others, and those of them
/// that stand side by side.
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

/// What a word is looked for as: itself in lower case; where a script has no spaces, every two
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
