//! Claims of clauses about a thing: "payments | go through | Stripe". A later clause that says something else of the same
//! thing, in the same words, replaces it if its sentence announces a change. English only.

use crate::amendment::{stems, topic_and_value};
use crate::clauses::{Token, is};
use crate::lexicon::Lists;
use crate::subject::{self, WordHash, WordSet};

/// Words between a thing and what is said of it. With others, such as "on", two claims are often both true: a job runs
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
            let at = said.iter().position(|token| is(&token.word, PREPOSITIONS))?;
            if !is(&said[at].word, RELATIONS) {
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

/// A verb without the ending of the third person.
fn stemmed(verb: &str) -> &str {
    verb.strip_suffix("es").or_else(|| verb.strip_suffix('s')).unwrap_or(verb)
}
