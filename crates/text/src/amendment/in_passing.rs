//! Sentences that change something in passing: "make it 30 minutes for the exchange rates", "go back to plain text logs,
//! JSON is hard to read", "we deploy every day now". They name the thing, and the new value or what is wrong with the
//! old one. English only.

use super::{Amendment, AmendmentForm};
use crate::clause_parts::{phrase, stems};
use crate::clauses::{Token, begins, is, order};
use crate::lexicon::Lists;
use crate::quantity::{is_number, quantities};
use crate::subject::{self, Stems, WordSet};

/// Words for something that was said before.
const REFERRING: &[&str] = &["it", "that", "this", "them"];
/// Words before a verb that leave it open whether something changes.
const OPEN: &[&str] = &["could", "can", "should", "maybe", "perhaps", "might"];
/// Words between a value and the thing that has it.
const OF: &[&str] = &["for", "on", "of"];
/// Verbs of a complaint about the thing before them.
const COMPLAINTS: &[&str] =
    &["breaks", "broke", "confuses", "confused", "annoys", "annoyed", "clashes", "irritates"];
/// The most words of the thing that a clause complains about.
const COMPLAINED_OF_MAX: usize = 3;
const DAYS: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "weekend",
    "weekday",
];
const OFTEN: &[&str] = &["hourly", "daily", "nightly", "weekly", "monthly", "yearly"];
const PERIODS: &[&str] = &["hour", "day", "night", "morning", "evening", "week", "month"];

/// The change of a value that names the value and the thing, but no verb of change: "make it 30 minutes for the exchange
/// rates", "actually make the batch size 1000", "30 days is better for the session cookie".
pub(super) fn revalues(clause: &[Token<'_>], corrects: bool) -> Option<Amendment> {
    let order = order(clause);
    let skipped = &clause[..clause.len() - order.len()];
    if skipped.iter().any(|token| is(&token.word, OPEN)) {
        return None;
    }
    let (value, thing) = match order.split_first()? {
        (verb, rest) if verb.lists.any(Lists::CHANGE_VALUE.and(Lists::SET_VALUE)) => {
            let (first, behind) = rest.split_first()?;
            let to = usize::from(behind.first().is_some_and(|next| next.word == "to"));
            match is(&first.word, REFERRING) && behind.get(to).is_some_and(is_number) {
                true => behind.split_at(thing_at(behind)?),
                // "actually make the batch size 1000"
                false if corrects => {
                    let at = rest.iter().position(is_number)?;
                    let is_name = |token: &Token<'_>| {
                        !is(&token.word, OF) && !token.lists.any(Lists::ENDS_CLAUSE)
                    };
                    if !rest[..at].iter().all(is_name) {
                        return None;
                    }
                    (&rest[at..], &rest[..at])
                }
                false => return None,
            }
        }
        (first, _) if is_number(first) => {
            let is_at = order.iter().take(3).position(|token| is(&token.word, &["is", "are"]))?;
            let praise = order.get(is_at + 1)?;
            if praise.word != "better" && !(corrects && praise.word == "enough") {
                return None;
            }
            let behind = &order[is_at + 2..];
            (&order[..is_at], &behind[thing_at(behind).filter(|at| *at == 0)?..])
        }
        _ => return None,
    };
    let mut one = Amendment::new(AmendmentForm::ChangesValue, stems(phrase(thing)));
    one.quantities = quantities(phrase(value));
    (!one.anchors.is_empty() && !one.quantities.is_empty()).then_some(one)
}

fn thing_at(tokens: &[Token<'_>]) -> Option<usize> {
    tokens.iter().position(|token| is(&token.word, OF))
}

/// A proposal with a complaint about what there was before: "URLs in snake_case please, kebab-case breaks the old app".
pub(super) fn complains(clauses: &[&[Token<'_>]]) -> Option<Amendment> {
    let (at, rejected) =
        clauses.iter().enumerate().find_map(|(at, clause)| Some((at, complained_of(clause)?)))?;
    let names = stems(rejected);
    let proposed: Vec<Token<'_>> = (clauses[..at].iter())
        .filter(|clause| proposes(clause))
        .flat_map(|clause| clause.iter().cloned())
        .collect();
    let mut one = Amendment::new(AmendmentForm::Complains, names);
    one.beside = stems(&proposed).into_iter().filter(|stem| !one.anchors.contains(*stem)).collect();
    (!one.anchors.is_empty() && !one.beside.is_empty()).then_some(one)
}

/// Whether a clause says how something should be from now on.
fn proposes(clause: &[Token<'_>]) -> bool {
    let order = order(clause);
    let Some(first) = order.first() else { return false };
    let verbs = Lists::CHOOSE.and(Lists::CHANGE_VALUE).and(Lists::SET_VALUE);
    let asks_for = clause.iter().any(|token| is(&token.word, &["please", "let's"]));
    let is_open = clause[..clause.len() - order.len()].iter().any(|token| is(&token.word, OPEN));
    !is_open
        && !first.lists.any(Lists::TASKS)
        && !clause.iter().any(|token| token.lists.any(Lists::ENDS_CLAUSE))
        && (first.lists.any(verbs)
            || asks_for
            || begins(order, &["go", "back", "to"])
            || begins(order, &["back", "to"]))
}

/// The thing that a clause complains about: "kebab-case breaks …".
fn complained_of<'a, 't>(clause: &'a [Token<'t>]) -> Option<&'a [Token<'t>]> {
    if clause.first()?.word == "nobody" {
        return clause.get(2..).map(phrase).filter(|rejected| rejected.len() <= COMPLAINED_OF_MAX);
    }
    let at = clause.iter().position(|token| is(&token.word, COMPLAINTS))?;
    let rejected = &clause[..at];
    let is_name = |token: &Token<'_>| !token.lists.any(Lists::FINITE.and(Lists::ENDS_CLAUSE));
    (at <= COMPLAINED_OF_MAX && rejected.iter().all(is_name)).then_some(rejected)
}

/// The words of a sentence that say on which days or how often something happens.
pub(super) fn schedule(tokens: &[Token<'_>]) -> WordSet {
    let mut stems = Stems::default();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let one = token.word.strip_suffix('s').unwrap_or(&token.word);
        // "Weekly backups" are another thing than nightly ones.
        let behind = tokens.get(at + 1).filter(|_| !token.ends_clause);
        let mut is_attribute = || behind.is_some_and(|next| stems.telling(next.raw).is_some());
        if is(one, DAYS) || (is(one, OFTEN) && !is_attribute()) {
            found.extend(Stems::default().telling(token.raw));
        }
        let next = tokens.get(at + 1).filter(|_| token.word == "every");
        found.extend(
            next.filter(|next| is(&next.word, PERIODS))
                .map(|next| subject::hash(&format!("every {}", next.word))),
        );
    }
    found.into()
}

#[cfg(test)]
mod tests {
    use crate::Statement;

    fn amends(old: &str, new: &str) -> bool {
        Statement::of(new).replaces(&Statement::of(old)).is_some()
    }

    #[test]
    fn ordinary_amendments_replace_what_they_change() {
        for (old, new) in [
            (
                "Cache the exchange rates for 10 minutes",
                "Make it 30 minutes for the exchange rates",
            ),
            ("The page size of the audit list is 50", "make that 100 for the audit list"),
            (
                "The session cookie lives for 7 days",
                "Actually, 30 days is better for the session cookie",
            ),
            ("Log in JSON format", "Go back to plain text logs, nobody parses the JSON"),
            ("We render the invoices as SVG.", "use PDF for the invoices, nobody prints the SVG"),
            ("Support is limited to Postgres 14 and newer", "Drop Postgres 14, the minimum is 16"),
            ("CI runs on Node 18", "drop Node 18, 22 is enough"),
            (
                "Use kebab-case for the URLs",
                "URLs in snake_case please, kebab-case breaks the old app",
            ),
            ("Deploy on Tuesdays and Thursdays only", "We deploy every day now"),
            (
                "We decided: batch size is 500, not configurable.",
                "Actually make the batch size 1000, measured faster",
            ),
        ] {
            assert!(amends(old, new), "{old} | {new}");
            assert!(!amends(old, old), "{old}");
        }
    }

    #[test]
    fn what_only_resembles_an_amendment_replaces_nothing() {
        for (old, new) in [
            // Other things with equal units.
            (
                "Cache the exchange rates for 10 minutes",
                "Make it 30 minutes for the search results",
            ),
            ("Cache the exchange rates for 10 minutes", "Make it 30 MB for the exchange rates"),
            ("The session cookie lives for 7 days", "30 days is better for the refresh token"),
            ("The session cookie lives for 7 days", "30 days is better than 7"),
            ("The upload batch size is 500", "Actually make the export batch size 1000"),
            ("CI runs on Node 18", "Drop Postgres 14, the minimum is 16"),
            ("CI runs on Node 18 and Python 3.12", "drop Python 3.9"),
            ("Support is limited to Postgres 14 and newer", "Drop Postgres 12, nobody has it"),
            ("The worker has 4 threads and 8 connections", "drop the 6 connections of the worker"),
            // Questions.
            (
                "Cache the exchange rates for 10 minutes",
                "Make it 30 minutes for the exchange rates?",
            ),
            (
                "The session cookie lives for 7 days",
                "Would 30 days be better for the session cookie?",
            ),
            ("Deploy on Tuesdays and Thursdays only", "Do we deploy every day now?"),
            ("Log in JSON format", "Should we go back to plain text logs? Nobody parses the JSON?"),
            // Conditions and possibilities.
            (
                "Cache the exchange rates for 10 minutes",
                "If we make it 30 minutes for the exchange rates, tell me",
            ),
            (
                "Cache the exchange rates for 10 minutes",
                "we could make it 30 minutes for the exchange rates",
            ),
            (
                "The session cookie lives for 7 days",
                "if 30 days is better for the session cookie, tell me",
            ),
            ("Log in JSON format", "If we go back to plain text logs, nobody parses the JSON"),
            (
                "Use kebab-case for the URLs",
                "maybe use snake_case for the URLs, kebab-case breaks the old app",
            ),
            // Reports and tasks.
            ("Use kebab-case for the URLs", "The URLs look odd, kebab-case breaks the old app"),
            ("Use kebab-case for the URLs", "Please fix the URLs, kebab-case breaks the old app"),
            (
                "Use kebab-case for the URLs",
                "File names in snake_case please, it breaks the old app",
            ),
            ("Log in JSON format", "Keep the metrics in a table, nobody parses the JSON"),
            ("The API returns JSON", "Go back to plain text logs, nobody parses the XML"),
            // Other services and other schedules.
            ("Deploy on Tuesdays and Thursdays only", "We deploy the docs every day now"),
            ("Deploy the API on Tuesdays only", "We deploy every day now"),
            ("Deploy on Tuesdays and Thursdays only", "We release every day now"),
            ("Deploy on Tuesdays and Thursdays only", "We deploy every day"),
            ("Deploy with Ansible", "We deploy every day now"),
            ("Nightly backups run at 02:00.", "Weekly backups run at 04:00 now."),
            (
                "From now on we deploy the api on Tuesdays.",
                "From now on we deploy the docs on Wednesdays.",
            ),
            (
                "Set the timeout of the search API to 2 seconds",
                "Actually set the timeout of the export API to 60 seconds",
            ),
            ("Keep backups for 14 days", "make it 30 days for the logs"),
        ] {
            assert!(!amends(old, new), "{old} | {new}");
        }
    }
}
