//! The things that a sentence itself gives up: "use argon2 instead of bcrypt", "JSON is too slow". Tidying up after such a
//! decision ("drop the bcrypt hashes") agrees with it. English only.

use std::ops::Range;

use crate::clause_parts::stems;
use crate::clauses::{Token, begins, is};
use crate::lexicon::Lists;
use crate::subject::WordSet;

/// Words that deny what follows them.
const DENYING: &[&str] = &["no", "not", "never", "without", "don't", "avoid", "replaces"];
/// Words that end the name of a thing.
const ENDS_NAME: &[&str] =
    &["for", "in", "on", "at", "to", "into", "with", "from", "by", "of", "after", "before"];
/// Beginnings of verbs with which "from … to" gives up the first thing.
const MOVING: &[&str] = &["switch", "move", "moving", "migrat", "chang", "go", "went"];
/// Verbs and words of a clause that says what is wrong with the thing before it.
const STATES: &[&str] = &["is", "are", "was", "were", "got", "gets"];
const WRONG: &[&str] = &["too", "gone", "dead", "out", "history", "overkill", "deprecated"];

/// The stems of the things that a sentence gives up, and does not name elsewhere.
pub(super) fn gone(tokens: &[Token<'_>]) -> WordSet {
    let mut is_gone = vec![false; tokens.len()];
    let mut start = 0;
    for clause in tokens.split_inclusive(|token| token.ends_clause) {
        for range in (0..clause.len()).filter_map(|at| given_up(clause, at)) {
            is_gone[start + range.start..start + range.end].fill(true);
        }
        start += clause.len();
    }
    if !is_gone.contains(&true) {
        return WordSet::default();
    }
    let stems_of = |wanted: bool| {
        let these = tokens.iter().zip(&is_gone).filter(move |(_, gone)| **gone == wanted);
        WordSet::from(stems(these.map(|(token, _)| token)))
    };
    let elsewhere = stems_of(false);
    stems_of(true).iter().filter(|stem| !elsewhere.contains(*stem)).collect()
}

/// The tokens of a clause that are given up according to the token at a place, such as "not".
fn given_up(clause: &[Token<'_>], at: usize) -> Option<Range<usize>> {
    let (word, behind) = (&*clause.get(at)?.word, &clause[at..]);
    let next = behind.get(1).map_or("", |next| &*next.word);
    // "The server no longer keeps its tiles in Varnish": the place is given up too.
    if begins(behind, &["no", "longer"]) {
        let of_whole = ["for", "because", "since"];
        let end = behind.iter().position(|token| is(&token.word, &of_whole));
        return Some(at + 2..at + end.unwrap_or(behind.len()).max(2));
    }
    match (word, next) {
        ("instead", "of") | ("rather", "than") => Some(named(clause, at + 2)),
        ("replaced", "by") => Some(0..at),
        ("no", "more") if behind.get(2).is_some_and(|third| third.word == "than") => None,
        ("from", _) => {
            let moves = |token: &Token<'_>| MOVING.iter().any(|verb| token.word.starts_with(verb));
            let to = behind.iter().any(|token| is(&token.word, &["to", "into"]));
            (to && clause[..at].iter().any(moves)).then(|| named(clause, at + 1))
        }
        _ if is(word, STATES) && is(next, WRONG) => Some(0..at),
        _ if is(word, DENYING) => Some(named(clause, at + 1)),
        _ if clause[at].lists.any(Lists::REJECT) => Some(named(clause, at + 1)),
        _ => None,
    }
}

/// The tokens of the name that begins at a place.
fn named(clause: &[Token<'_>], start: usize) -> Range<usize> {
    let start = start.min(clause.len());
    let ends =
        |token: &Token<'_>| is(&token.word, ENDS_NAME) || token.lists.any(Lists::ENDS_CLAUSE);
    let length = clause[start..].iter().position(ends);
    start..start + length.unwrap_or(clause.len() - start)
}
