//! The parts of a clause: its topic, the statement about it, and the stems that it says.

use crate::clauses::{Token, is, order, says};
use crate::lexicon::Lists;
use crate::quantity::is_number;
use crate::subject::{self, Stems, WordHash};
use crate::words;

/// Words that are not about the thing that is rejected or changed.
const BESIDE: Lists = Lists::FILLERS.and(Lists::CHANGE_VALUE);
/// Verbs behind the person who wants something: "legal says backups must be …".
pub(crate) const REPORTING: &[&str] = &["says", "said", "insists", "demands", "wants", "asks"];
/// A verb of [`REPORTING`] is among this many first words of a clause.
pub(crate) const REPORTED_AFTER: usize = 3;

/// The stems of the words that say something. Short names in capitals count too: CI, S3.
pub(crate) fn stems<'t>(tokens: impl IntoIterator<Item = &'t Token<'t>>) -> Vec<WordHash> {
    let (mut found, mut stems) = (Vec::new(), Stems::default());
    for token in tokens {
        if is_number(token) || token.lists.any(BESIDE) {
            continue;
        }
        let is_name = |word: &str| {
            word.len() == 2 && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        };
        found.extend(words::words(token.raw).filter_map(|(_, word)| match is_name(word) {
            true => Some(subject::hash(&word.to_ascii_lowercase())),
            false => stems.telling(word),
        }));
    }
    found
}

/// The tokens up to the end of their clause.
pub(crate) fn phrase<'a, 't>(tokens: &'a [Token<'t>]) -> &'a [Token<'t>] {
    let end =
        tokens.iter().position(|token| token.lists.any(Lists::ENDS_CLAUSE)).unwrap_or(tokens.len());
    let comma = tokens.iter().position(|token| token.ends_clause).map_or(tokens.len(), |at| at + 1);
    &tokens[..end.min(comma)]
}

/// The tokens of the topic of a clause, and the tokens of the statement about it: "uploads | go to S3", "send emails |
/// with Postmark". In an order to use something the topic follows `for` or `in`; without one of them there is none.
pub(crate) fn topic_and_value<'a, 't>(
    clause: &'a [Token<'t>],
) -> (&'a [Token<'t>], &'a [Token<'t>]) {
    let from_now = [["from", "now", "on"], ["from", "today", "on"]]
        .iter()
        .any(|sign| says(clause, sign) == Some(0));
    let clause = if from_now { &clause[3..] } else { clause };
    let rest = order(clause);
    let is_order = rest
        .first()
        .is_some_and(|verb| verb.lists.any(Lists::CHOOSE) || verb.lists.any(Lists::SET_VALUE));
    if is_order {
        let object = &rest[1..];
        if rest[0].lists.any(Lists::CHOOSE) {
            let about = object.iter().position(|token| is(&token.word, &["for", "in"]));
            return object.split_at(about.unwrap_or(object.len())).swapped();
        }
        let with = object.iter().position(|token| {
            is(
                &token.word,
                &["with", "through", "via", "to", "in", "into", "as", "by", "on", "for", "at"],
            )
        });
        return object.split_at(with.unwrap_or(object.len()));
    }
    match clause.iter().position(|token| token.lists.any(Lists::FINITE)) {
        Some(verb) => clause.split_at(verb),
        None => (clause, &[]),
    }
}

trait Swapped {
    fn swapped(self) -> Self;
}

impl<T> Swapped for (T, T) {
    fn swapped(self) -> Self {
        (self.1, self.0)
    }
}
