//! Choices of a value for a thing: "we decided to use | Stripe | for payments". A later decision that chooses another
//! value for the same thing replaces it, although it does not say that anything changes. English only.

#[cfg(test)]
mod pairs;

use crate::clause_parts::stems;
use crate::clauses::{Token, is, tokens};
use crate::lexicon::Lists;
use crate::quantity::{is_number, quantities};
use crate::stem;
use crate::subject::{self, WordHash, WordSet};

/// Words of a sentence whose decision is valid only under a condition, or beside another decision.
const LIMITING: &[&str] = &[
    "if",
    "when",
    "unless",
    "until",
    "while",
    "whenever",
    "except",
    "only",
    "also",
    "too",
    "additionally",
    "sometimes",
    "either",
    "or",
    "against",
    "try",
    "consider",
];
/// Words before the decision.
const BEFORE: &[&str] = &[
    "please", "ok", "okay", "so", "then", "and", "now", "we", "i", "you", "the", "team", "have",
    "has", "all", "just", "that", "will", "we'll", "i'll", "we've", "let", "let's", "lets", "us",
    "always", "from", "on", "remember", "rule", "is", "decision", "again", "finally", "both",
    "here", "today",
];
/// Verbs of deciding.
const DECIDED: &[&str] = &["decide", "decided", "agree", "agreed"];
/// Verbs that choose with a preposition: "settled on …", "go with …".
const CHOSEN_WITH: &[(&str, &str)] = &[
    ("settle", "on"),
    ("settled", "on"),
    ("go", "with"),
    ("going", "with"),
    ("went", "with"),
    ("stick", "with"),
    ("stay", "with"),
    ("opted", "for"),
];
/// Verbs whose object is the chosen value.
const CHOSE: &[&str] =
    &["use", "using", "adopt", "adopted", "pick", "picked", "choose", "chose", "chosen", "prefer"];
/// Words with which a sentence proposes.
const PROPOSING: &[&str] = &["let's", "lets", "let", "we'll"];
/// Prepositions between a choice and the thing that it is made for.
const ABOUT: &[&str] = &["for", "in", "as"];
/// Prepositions before a value that excludes others: a thing is in one place, or is done by one means.
const BEFORE_VALUE: &[&str] = &["in", "into", "to", "as", "with", "by", "through", "via", "on"];
const PREPOSITIONS: &[&str] = &[
    "in", "into", "to", "as", "with", "by", "through", "via", "on", "for", "at", "from", "under",
    "per", "after", "before", "during", "without", "between", "of", "over", "than",
];
/// Verbs that are not compared.
const AUXILIARIES: &[&str] = &[
    "is", "are", "be", "should", "must", "will", "may", "can", "need", "needs", "has", "have",
    "been", "to", "now", "all", "do", "does", "always", "never", "get", "gets",
];
/// Words for a thing that another sentence names.
const REFERRING: &[&str] = &["this", "that", "these", "those", "it", "them"];
/// Verbs of work that is done with one tool.
const DONE_WITH: &[&str] =
    &["deploy", "test", "format", "lint", "build", "release", "publish", "bundle"];
const ARTICLES: &[&str] = &["the", "a", "an", "our", "its", "my"];
const INDEFINITE: &[&str] = &["a", "an"];
const DAYS: &[&str] =
    &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/// Last words of things that have one value at a time.
const ATTRIBUTES: &[&str] = &[
    "format",
    "language",
    "engine",
    "database",
    "framework",
    "library",
    "tool",
    "manager",
    "provider",
    "broker",
    "protocol",
    "encoding",
    "license",
    "branch",
    "style",
    "convention",
    "scheme",
    "strategy",
    "host",
    "runtime",
    "formatter",
    "linter",
    "bundler",
    "base",
    "default",
    "standard",
    "version",
];

/// The verbs under which two kinds of statements are compared: every choice, and every statement without a verb but
/// "is".
const CHOOSES: &str = "use";
const IS: &str = "is";

/// A value that a sentence gives to a thing.
#[derive(Clone, Debug)]
pub(crate) struct ValueChoice {
    /// The stems of the thing, and of all that limits the choice.
    pub(crate) topic: WordSet,
    /// The verb and the preposition.
    relation: WordHash,
    /// The stems of the value, names of two letters included.
    value: WordSet,
    /// Whether the value begins with "a": "a queue" may be beside "Redis".
    is_indefinite: bool,
    /// Whether the sentence states a decision in so many words, or fills a role: "use pnpm as the package manager".
    pub(crate) is_decided: bool,
}

impl ValueChoice {
    /// Whether it gives the same thing another value, which neither refines the older one nor is a part of it.
    pub(crate) fn differs_from(&self, older: &ValueChoice) -> bool {
        self.topic == older.topic
            && self.relation == older.relation
            && self.is_indefinite == older.is_indefinite
            && !self.value.is_subset(&older.value)
            && !older.value.is_subset(&self.value)
    }
}

/// Whether a sentence chooses something for a thing: "we'll use Redis for the queue".
pub(crate) fn proposes_choice(sentence: &str) -> bool {
    choices(&tokens(sentence), || false).iter().any(|one| one.relation == subject::hash(CHOOSES))
}

/// The choice of a sentence, which is in its first clause that says something.
pub(crate) fn choices(
    tokens: &[Token<'_>],
    states_decision: impl Fn() -> bool,
) -> Vec<ValueChoice> {
    let limits = |token: &Token<'_>| is(&token.word, LIMITING) || token.lists.any(Lists::NEGATING);
    if tokens.iter().any(limits) {
        return Vec::new();
    }
    let says = |clause: &&[Token<'_>]| !after_lead(clause).1.is_empty();
    let clause = tokens.split_inclusive(|token| token.ends_clause).find(says);
    let Some(clause) = clause else { return Vec::new() };
    let proposes = tokens.first().is_some_and(|first| is(&first.word, PROPOSING));
    choice(clause)
        .map(|one| ValueChoice {
            is_decided: one.is_decided || proposes || states_decision(),
            ..one
        })
        .into_iter()
        .collect()
}

/// Whether the value directly follows the verb of deciding ("we agreed on …"), and the words after the verb.
fn after_lead<'a, 't>(clause: &'a [Token<'t>]) -> (bool, &'a [Token<'t>]) {
    let skip = |tokens: &'a [Token<'t>]| {
        let start = tokens.iter().position(|token| !is(&token.word, BEFORE));
        &tokens[start.unwrap_or(tokens.len())..]
    };
    let rest = skip(clause);
    let word = |at: usize| rest.get(at).map_or("", |token| &*token.word);
    if is(word(0), DECIDED) {
        return match word(1) {
            "on" => (true, &rest[2..]),
            "to" => after_lead(&rest[2..]),
            _ => (false, skip(&rest[1..])),
        };
    }
    if CHOSEN_WITH.iter().any(|(verb, with)| word(0) == *verb && word(1) == *with) {
        return (true, &rest[2..]);
    }
    match is(word(0), CHOSE) {
        true => (true, &rest[1..]),
        false => (false, rest),
    }
}

fn choice(clause: &[Token<'_>]) -> Option<ValueChoice> {
    let (is_value, said) = after_lead(clause);
    let ends = |token: &Token<'_>| token.lists.any(Lists::ENDS_CLAUSE) && token.word != "as";
    let end = said.iter().position(ends);
    // "use Postgres for carts and orders" is about several things.
    if said.get(end.unwrap_or(said.len())).is_some_and(|token| token.word == "and") {
        return None;
    }
    let said = &said[..end.unwrap_or(said.len())];
    if said.iter().any(|token| is(&token.word, REFERRING)) {
        return None;
    }
    if is_value {
        // "Stripe | for payments"
        let at = said.iter().position(|token| is(&token.word, PREPOSITIONS))?;
        let (value, about) = said.split_at(at);
        let (preposition, thing) = about.split_first()?;
        let fills_role = preposition.word == "as" && is(&thing.first()?.word, &["the", "our"]);
        let topic = is(&preposition.word, ABOUT).then(|| stems(named(thing)))?;
        return one(topic, CHOOSES, value, fills_role);
    }
    let verb =
        said.iter().skip(1).position(|token| token.lists.any(Lists::FINITE)).map(|at| at + 1);
    match verb {
        Some(verb) => statement(said.split_at(verb)),
        None => order(said),
    }
}

/// Whether this is the last word of a thing that has one value at a time: "the log format".
pub(crate) fn has_one_value(last: &Token<'_>) -> bool {
    is(&last.word, ATTRIBUTES)
}

/// "releases | go out | on | Mondays", "the job queue | uses | NATS", "the log format | is | JSON".
fn statement((thing, said): (&[Token<'_>], &[Token<'_>])) -> Option<ValueChoice> {
    let at = said.iter().position(|token| is(&token.word, PREPOSITIONS));
    let (verbs, behind) = said.split_at(at.unwrap_or(said.len()));
    let verb = verbs.iter().find(|token| !is(&token.word, AUXILIARIES) && is_verb(token));
    let mut topic = stems(named(thing));
    if let Some(uses) = verbs.iter().position(|token| is(&token.word, &["use", "uses"])) {
        topic.extend(stems(named(behind)));
        return one(topic, CHOOSES, &verbs[uses + 1..], false);
    }
    let states = verbs.iter().skip_while(|token| is(&token.word, AUXILIARIES));
    let state: Vec<Token<'_>> = states.cloned().collect();
    let prescribes = verbs.iter().any(|token| is(&token.word, &["must", "should"]));
    let is_attribute = || thing.last().is_some_and(has_one_value);
    if at.is_none() && (prescribes || is_attribute()) {
        let is_participle = state.len() == 1 && state[0].word.ends_with("ed");
        return (!is_participle).then(|| one(topic, IS, &state, false)).flatten();
    }
    let (preposition, value) = behind.split_first()?;
    by_preposition(topic, verb.map_or(IS, |verb| &verb.word), preposition, value)
}

/// "store | prices | in | cents", "deploy | with | Ansible".
fn order(said: &[Token<'_>]) -> Option<ValueChoice> {
    let (verb, behind) = said.split_first()?;
    let at = behind.iter().position(|token| is(&token.word, PREPOSITIONS))?;
    let (preposition, value) = behind[at..].split_first()?;
    // "Compare with the old compiler", "send a key with the form" and "switch to the new image" choose nothing.
    let by_tool = is(&preposition.word, &["with", "by"]);
    let is_work = verb.lists.any(Lists::TASKS.and(Lists::CHANGE_VALUE));
    if is_work || is(&verb.word, PREPOSITIONS) || (by_tool || at == 0) && !is(&verb.word, DONE_WITH)
    {
        return None;
    }
    by_preposition(stems(&behind[..at]), &verb.word, preposition, value)
}

fn by_preposition(
    mut topic: Vec<WordHash>,
    verb: &str,
    preposition: &Token<'_>,
    value: &[Token<'_>],
) -> Option<ValueChoice> {
    if !is(&preposition.word, BEFORE_VALUE) {
        return None;
    }
    let end = value.iter().position(|token| is(&token.word, PREPOSITIONS));
    let (value, limits) = value.split_at(end.unwrap_or(value.len()));
    let is_day = |token: &Token<'_>| is(token.word.trim_end_matches('s'), DAYS);
    if preposition.word == "on" && !value.iter().all(is_day) {
        return None;
    }
    // "in euros as decimals" has no limit.
    if limits.first().is_some_and(|first| first.word != "as") {
        topic.extend(stems(named(limits)));
    }
    one(topic, &format!("{} {}", stem::stem(verb), preposition.word), value, false)
}

/// A choice, unless the value says nothing or is a number: numbers are compared with their units.
fn one(
    topic: Vec<WordHash>,
    verb: &str,
    value: &[Token<'_>],
    fills_role: bool,
) -> Option<ValueChoice> {
    let first = value.first()?;
    let is_measured = is_number(first) || !quantities(value).iter().all(|one| one.is_name());
    let says = |token: &&Token<'_>| !is(&token.word, ARTICLES) && !is(&token.word, AUXILIARIES);
    let stems: WordSet =
        value.iter().filter(says).map(|token| subject::hash(&stem::stem(&token.word))).collect();
    let topic = WordSet::from(topic);
    // "go to", "is in"
    let is_about = !topic.is_empty() || (verb.contains(' ') && !verb.starts_with(IS));
    (is_about && !stems.is_empty() && !is_measured).then(|| ValueChoice {
        topic,
        relation: subject::hash(verb),
        value: stems,
        is_indefinite: is(&first.word, INDEFINITE),
        is_decided: fills_role,
    })
}

/// Words without prepositions.
fn named<'a, 't>(tokens: &'a [Token<'t>]) -> impl Iterator<Item = &'a Token<'t>> {
    tokens.iter().filter(|token| !is(&token.word, PREPOSITIONS))
}

fn is_verb(token: &Token<'_>) -> bool {
    !is_number(token) && !is(&token.word, ARTICLES)
}
