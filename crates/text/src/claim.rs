//! Claims of clauses about a thing: "payments | go through | Stripe". A later clause that says something else of the same
//! thing, in the same words, replaces it if its sentence announces a change. English only.

use crate::choice::has_one_value;
use crate::clause_parts::{REPORTED_AFTER, REPORTING, stems, topic_and_value};
use crate::clauses::{Token, is, order};
use crate::lexicon::Lists;
use crate::quantity::{Quantity, Unit, is_number, quantities};
use crate::stem;
use crate::subject::{self, WordHash, WordSet};
use crate::words;

/// Words between a thing and its value. With other words, such as "on", two claims are often both true: a job runs
/// on Mondays, and on a server.
const RELATIONS: &[&str] = &["through", "via", "to", "into", "in", "as"];
/// Words that end a value.
const PREPOSITIONS: &[&str] = &[
    "through", "via", "to", "into", "in", "as", "on", "by", "with", "at", "from", "for", "under",
    "instead", "and", "or", "because", "since", "so", "after", "before", "if", "when",
];
/// Prepositions that name the means, whatever the verb.
const MEANS: &[&str] = &["through", "via"];
/// Words before the verb that is compared.
const AUXILIARIES: &[&str] = &[
    "is", "are", "be", "should", "must", "will", "may", "can", "need", "needs", "has", "have",
    "been", "to", "now", "only", "all", "do", "does",
];

/// A clause of the form *thing, relation, value*.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    topic: WordSet,
    relation: WordHash,
    value: WordSet,
}

impl Claim {
    /// Whether it says something else of the same thing.
    pub(crate) fn differs_from(&self, older: &Claim) -> bool {
        self.topic == older.topic
            && self.relation == older.relation
            && self.value.shared(&older.value).next().is_none()
    }
}

/// The claims of a sentence. Clauses that deny something make none.
pub(crate) fn claims(tokens: &[Token<'_>]) -> Vec<Claim> {
    tokens.split_inclusive(|token| token.ends_clause).filter_map(claim).collect()
}

fn claim(clause: &[Token<'_>]) -> Option<Claim> {
    if clause.iter().any(|token| token.lists.any(Lists::NEGATING)) {
        return None;
    }
    let (topic, said) = topic_and_value(clause);
    let is_about = |token: &&Token<'_>| !is(&token.word, PREPOSITIONS);
    let chosen = topic.first().filter(|first| is(&first.word, &["for"])).and(said.first());
    let (relation, value) = match chosen {
        // "use Stripe | for payments"
        Some(_) => ("through".to_owned(), said),
        None => {
            if let Some(claim) = only_value(topic, said) {
                return Some(claim);
            }
            let at = said.iter().position(|token| is(&token.word, PREPOSITIONS))?;
            let is_means = is(&said[at].word, &["with", "by"]) && begins_with_name(&said[at + 1..]);
            if !is(&said[at].word, RELATIONS) && !is_means {
                return None;
            }
            let verb = said[..at].iter().find(|token| !is(&token.word, AUXILIARIES));
            let preposition = &*said[at].word;
            let relation = match (is(preposition, MEANS), verb) {
                (true, _) => "through".to_owned(),
                (false, Some(verb)) => format!("{} {preposition}", stemmed(&verb.word)),
                (false, None) => format!("is {preposition}"),
            };
            (relation, &said[at + 1..])
        }
    };
    let end = value.iter().position(|token| is(&token.word, PREPOSITIONS)).unwrap_or(value.len());
    let topic: WordSet = stems(topic.iter().filter(is_about)).into();
    let value: WordSet = stems(&value[..end]).into();
    (!topic.is_empty() && !value.is_empty()).then(|| Claim {
        topic,
        relation: subject::hash(&relation),
        value,
    })
}

/// Whether these words begin with the name of a product: "with SendGrid". Other words after "with" exclude nothing.
fn begins_with_name(value: &[Token<'_>]) -> bool {
    value.first().is_some_and(|first| first.raw.starts_with(|c: char| c.is_uppercase()))
}

/// "the default currency | is | euro": a thing that has one value at a time.
fn only_value(topic: &[Token<'_>], said: &[Token<'_>]) -> Option<Claim> {
    let (copula, behind) = said.split_first()?;
    let is_one = topic.iter().any(|token| token.word == "default")
        || topic.last().is_some_and(|last| has_one_value(last));
    let skipped =
        behind.iter().take_while(|token| is(&token.word, &["now", "the", "a", "an"])).count();
    let value = &behind[skipped..];
    let end = value.iter().position(|token| is(&token.word, PREPOSITIONS)).unwrap_or(value.len());
    let value = &value[..end];
    // "The default branch is protected" says how it is.
    let is_state = value.iter().any(|token| token.word.ends_with("ed") || is_number(token));
    if !is(&copula.word, &["is", "are"]) || !is_one || is_state {
        return None;
    }
    let (topic, value): (WordSet, WordSet) = (stems(topic).into(), stems(value).into());
    let relation = subject::hash(IS);
    (!topic.is_empty() && !value.is_empty()).then_some(Claim { topic, relation, value })
}

/// The verb of a clause that has none but an auxiliary.
const IS: &str = "is";
/// Verbs of an order that gives its object a value.
const GIVING: &[&str] = &["keep", "set"];
/// Verbs that say how long something lasts, and the one that is compared for all of them.
const LASTING: &[&str] = &[
    "keep", "keeps", "kept", "live", "lives", "last", "lasts", "stay", "stays", "retain",
    "retained", "expire", "expires", "deleted", "removed", "purged", "erased",
];
const LASTS: &str = "lasts";

/// A clause that gives a thing a value: "the backup | runs | at 02:00".
#[derive(Clone, Debug)]
pub(crate) struct ValueClaim {
    topic: WordSet,
    verb: WordHash,
    values: Vec<Quantity>,
    /// The stems of the words that limit it: "on Mondays", "in production".
    limits: WordSet,
    /// The stems of the words before its numbers: "port 7070".
    labels: WordSet,
}

impl ValueClaim {
    /// Whether it gives the same thing another value of the same kind, without a limit that the older one does not have:
    /// a backup on Sundays at 4 is not that on Mondays at 2.
    pub(crate) fn differs_from(&self, older: &ValueClaim) -> bool {
        let is_new = |new: &Quantity| {
            let mut comparable =
                older.values.iter().filter(|old| new.is_comparable(old)).peekable();
            comparable.peek().is_some() && comparable.all(|old| !new.is_equal(old))
        };
        self.topic == older.topic
            && self.verb == older.verb
            && self.limits.is_subset(&older.limits)
            && (self.labels.is_empty() || older.labels.is_empty() || self.labels == older.labels)
            && self.values.iter().any(is_new)
    }
}

impl ValueClaim {
    /// Whether it is about another property of the same thing: stored with 4 digits and shown with 2, 160 pixels wide
    /// and 240 high.
    pub(crate) fn is_beside(&self, older: &ValueClaim) -> bool {
        let is_apart = |own: &WordSet, other: &WordSet| {
            !own.is_empty() && !other.is_empty() && own.shared(other).next().is_none()
        };
        let says_more = |claim: &ValueClaim| claim.verb != subject::hash(IS);
        let does_other = self.verb != older.verb && says_more(self) && says_more(older);
        self.topic == older.topic && (does_other || is_apart(&self.limits, &older.limits))
    }
}

/// The values that the clauses of a sentence give. Clauses that deny something give none.
pub(crate) fn value_claims(tokens: &[Token<'_>]) -> Vec<ValueClaim> {
    tokens.split_inclusive(|token| token.ends_clause).filter_map(value_claim).collect()
}

fn value_claim(clause: &[Token<'_>]) -> Option<ValueClaim> {
    if !clause.iter().any(is_number) || clause.iter().any(|one| one.lists.any(Lists::NEGATING)) {
        return None;
    }
    // "security wants session cookies to expire after 30 minutes"
    let reports = clause.iter().take(REPORTED_AFTER).position(|one| is(&one.word, REPORTING));
    let (topic, said) = topic_and_value(reports.map_or(clause, |at| &clause[at + 1..]));
    let values = quantities(said);
    let topic: WordSet = stems(topic).into();
    // "keep user sessions | for 14 days". The verb of an order is not among these words.
    let ordered = order(clause).first().filter(|verb| is(&verb.word, GIVING));
    let gives = ordered.is_some() || said.first()?.lists.any(Lists::FINITE);
    if topic.is_empty() || values.is_empty() || !gives {
        return None;
    }
    let verb = said.iter().find(|one| !is(&one.word, AUXILIARIES));
    let verb = ordered.or(verb).filter(|one| !is(&one.word, PREPOSITIONS) && !is_number(one));
    let says = |at: &usize| {
        said.get(*at).is_some_and(|one| {
            !is_number(one)
                && !is(&one.word, PREPOSITIONS)
                && !is(&one.word, AUXILIARIES)
                && !words::is_stop(&one.word)
                && !verb.is_some_and(|verb| std::ptr::eq(one, verb))
        })
    };
    let is_value = |at: usize| said.get(at).is_some_and(is_number);
    let stem_of = |at: usize| Some(subject::hash(&stem::stem(&said.get(at)?.word)));
    let labels = (0..said.len()).filter(says).filter(|at| is_value(at + 1)).filter_map(stem_of);
    // The word behind a number is its unit.
    let is_beside = |at: usize| is_value(at + 1) || at.checked_sub(1).is_some_and(is_value);
    let limits = (0..said.len()).filter(says).filter(|at| !is_beside(*at)).filter_map(stem_of);
    let lasts = |one: &Token<'_>| {
        is(&one.word, LASTING) && values.iter().any(|value| value.unit == Unit::Duration)
    };
    let verb = match verb {
        Some(one) if lasts(one) => LASTS.into(),
        Some(one) if one.word != "set" => stem::stem(&one.word),
        _ => IS.into(),
    };
    Some(ValueClaim {
        verb: subject::hash(&verb),
        limits: limits.collect(),
        labels: labels.collect(),
        topic,
        values,
    })
}

/// A verb without the ending of the third person.
fn stemmed(verb: &str) -> &str {
    verb.strip_suffix("es").or_else(|| verb.strip_suffix('s')).unwrap_or(verb)
}
