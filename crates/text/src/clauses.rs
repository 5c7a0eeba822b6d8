//! The clauses of a sentence, and the words that they begin with.

use std::borrow::Cow;

use crate::lexicon::Lists;

/// One word of a sentence, in lower case.
#[derive(Clone, Debug)]
pub(crate) struct Token<'t> {
    pub(crate) word: Cow<'t, str>,
    pub(crate) raw: &'t str,
    pub(crate) lists: Lists,
    /// Whether a comma or another sign follows it.
    pub(crate) ends_clause: bool,
    /// Whether a colon follows it.
    pub(crate) ends_label: bool,
}

/// The words of a sentence, with the ends of its clauses.
pub(crate) fn tokens(sentence: &str) -> Vec<Token<'_>> {
    let mut found: Vec<Token<'_>> = Vec::new();
    for part in sentence.split_whitespace() {
        let raw = part.trim_matches(|c: char| !c.is_alphanumeric() && !"%/".contains(c));
        let ends_clause = part.ends_with([',', ';', ':', '.', '!', ')']) || raw.is_empty();
        match raw.is_empty() {
            true => {
                if let Some(last) = found.last_mut() {
                    last.ends_clause = true;
                }
            }
            false => {
                let word = lowered(raw);
                let ends_label = part.ends_with(':');
                found.push(Token { lists: Lists::of(&word), word, raw, ends_clause, ends_label });
            }
        }
    }
    found
}

fn lowered(raw: &str) -> Cow<'_, str> {
    if raw.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(raw.to_lowercase().replace('’', "'"))
}

pub(crate) fn is(word: &str, list: &[&str]) -> bool {
    list.contains(&word)
}

/// Whether a clause of the text orders, proposes or forbids something with one of these verbs: "please never …", "we
/// use …". "Never" and "always" before a verb in the third person report something ("it starts, never acks") and do
/// not count.
pub(crate) fn orders(text: &str, verbs: Lists) -> bool {
    let begins = |clause: &[Token<'_>]| {
        let order = order(clause);
        let third_person =
            |next: &Token<'_>| next.word.ends_with('s') && !next.word.ends_with("ss");
        let frequency = order.first().is_some_and(|first| is(&first.word, &["never", "always"]));
        order.first().is_some_and(|first| first.lists.any(verbs))
            && (!frequency || order.get(1).is_some_and(|next| !third_person(next)))
    };
    text.lines().any(|line| tokens(line).split_inclusive(|token| token.ends_clause).any(begins))
}

/// Where the words first occur one after the other.
pub(crate) fn says(tokens: &[Token<'_>], said: &[&str]) -> Option<usize> {
    (0..tokens.len()).find(|at| begins(&tokens[*at..], said))
}

/// Whether these are the first words.
pub(crate) fn begins(tokens: &[Token<'_>], said: &[&str]) -> bool {
    tokens.len() >= said.len() && tokens.iter().zip(said).all(|(token, word)| token.word == *word)
}

/// Skips the words before the verb of an order.
pub(crate) fn order<'a, 't>(clause: &'a [Token<'t>]) -> &'a [Token<'t>] {
    let start = clause
        .iter()
        .position(|token| !token.lists.any(Lists::BEFORE_ORDER))
        .unwrap_or(clause.len());
    &clause[start..]
}
