//! Sentences that change something in free wording: "bump the limit to 50", "stop deploying on Fridays". The
//! older statement has to contain the topic of such a sentence, and the value or the thing that the sentence rejects.
//! English only.

use std::collections::BTreeSet;

use crate::clauses::{BEFORE_ORDER, Token, is, order, says, tokens};
use crate::decision::sentences_of;
use crate::decisions;
use crate::gist::sentences;
use crate::subject::telling_stem;
use crate::words;

/// Sentences of a text that are looked at, and the most characters of one.
const SENTENCES_MAX: usize = 8;
const CHARS_MAX: usize = 240;
/// A longer sentence is prose that happens to hold such words.
const CHANGE_CHARS_MAX: usize = 400;

/// Verbs that change the value of their object: "lower the threshold to 70".
const CHANGE_VALUE: &[&str] = &[
    "bump",
    "raise",
    "lower",
    "increase",
    "decrease",
    "reduce",
    "extend",
    "shorten",
    "cut",
    "move",
    "change",
    "switch",
    "upgrade",
    "downgrade",
    "migrate",
    "relax",
    "tighten",
    "double",
    "halve",
];
/// Verbs that also begin tasks. They change a value only if the sentence says elsewhere that something changes.
const SET_VALUE: &[&str] =
    &["set", "put", "make", "keep", "store", "let", "send", "run", "write", "save"];
/// Verbs whose object is the new choice and not the topic: "use date-fns instead of moment".
const CHOOSE: &[&str] = &["use", "adopt", "take", "pick", "choose", "prefer", "try"];
/// Verbs that reject their object, if the older statement chose it.
const REJECT: &[&str] = &[
    "scrap",
    "drop",
    "dropping",
    "dropped",
    "forget",
    "ditch",
    "ditching",
    "abandon",
    "abandoning",
    "scrapping",
];
/// Verbs between a thing and what is said of it.
const FINITE: &[&str] = &[
    "is", "are", "get", "gets", "go", "goes", "has", "have", "uses", "runs", "run", "lives",
    "live", "takes", "take", "stays", "stay", "needs", "need", "must", "should", "will", "may",
    "can", "expires", "expire", "starts", "start", "use", "writes", "reads", "listens", "moves",
    "move", "don't", "doesn't", "do", "does",
];
/// Words that end a phrase inside of a clause.
const ENDS_CLAUSE: &[&str] =
    &["and", "because", "but", "since", "so", "until", "while", "as", "if", "when", "or", "unless"];
/// Attributes: a threshold for the coverage is the minimum of the coverage.
const ATTRIBUTES: &[&str] = &[
    "threshold",
    "limit",
    "limits",
    "minimum",
    "maximum",
    "max",
    "min",
    "setting",
    "value",
    "number",
    "count",
    "size",
    "level",
    "interval",
    "amount",
    "default",
    "cap",
];
/// Words beside the thing that is rejected or changed.
const FILLERS: &[&str] = &[
    "idea",
    "thing",
    "approach",
    "stuff",
    "way",
    "rule",
    "policy",
    "whole",
    "requirement",
    "anymore",
    "every",
    "each",
    "kept",
    "sent",
    "stored",
    "store",
    "send",
    "need",
    "needs",
    "write",
    "written",
    "save",
    "saved",
    "shown",
    "show",
    "run",
    "runs",
    "ran",
    "start",
    "starts",
    "happen",
    "live",
    "lives",
    "used",
    "using",
    "get",
    "gets",
    "getting",
    "want",
    "always",
    "about",
    "back",
    "every",
    "writes",
    "reads",
    "bump",
    "few",
    "many",
    "much",
    "little",
    "slow",
    "fast",
    "big",
    "version",
];
/// First words of tasks. A task is done, it is not replaced.
const TASKS: &[&str] = &[
    "fix",
    "add",
    "check",
    "look",
    "find",
    "investigate",
    "implement",
    "create",
    "build",
    "remove",
    "delete",
    "rename",
    "refactor",
    "explain",
    "show",
    "review",
    "debug",
    "test",
    "repair",
    "commit",
    "push",
    "continue",
    "try",
    "read",
    "open",
    "extract",
    "clean",
    "document",
    "see",
    "tell",
    "replace",
    "tidy",
    "figure",
    "search",
    "list",
    "print",
    "update",
];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Unit {
    Duration,
    Size,
    Percent,
    Clock,
    Version,
    /// The stem of the counted things.
    Of(String),
    Unknown,
}

/// A number with its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Quantity {
    amount: String,
    unit: Unit,
}

impl Quantity {
    /// Whether it may replace an older quantity. A size does not replace a number without a unit, such as a version.
    fn is_comparable(&self, older: &Quantity) -> bool {
        match (&self.unit, &older.unit) {
            (Unit::Unknown, other) => *other != Unit::Clock,
            (Unit::Of(_) | Unit::Version, Unit::Unknown) => true,
            (own, other) => own == other,
        }
    }
}

/// A sentence as it stands, before another one changes it.
#[derive(Clone, Debug)]
pub(crate) struct Stated {
    stems: BTreeSet<String>,
    /// The stems that follow "no", "not" and the like.
    denied: BTreeSet<String>,
    quantities: Vec<Quantity>,
    settles: bool,
    changes: bool,
    /// Whether a word says that something is no longer as it was.
    is_signed: bool,
}

/// A sentence that changes what another one states.
#[derive(Clone, Debug)]
pub(crate) struct Amendment {
    /// The stems of the old state, all of which the older sentence has, without attributes.
    anchors: BTreeSet<String>,
    attributes: BTreeSet<String>,
    /// Old values that are cited.
    cited: Vec<Quantity>,
    /// New values.
    quantities: Vec<Quantity>,
    form: AmendmentForm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AmendmentForm {
    /// Names what is rejected: "no longer …", "instead of …".
    Rejects,
    /// Rejects an idea, which has to be one that was chosen: "scrap the Redis idea".
    RejectsChoice,
    /// Gives another value.
    ChangesValue,
    /// Takes up again what was rejected.
    Resumes,
}

/// How sure it is that a sentence changes another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amends {
    /// It names what was there before.
    Named,
    /// It is about the same thing.
    Topic,
}

/// The stems of a token that say something. Short names in capitals count too: CI, S3.
fn stems_of(token: &Token<'_>) -> Vec<String> {
    if number(token).is_some() || is(&token.word, FILLERS) || is(&token.word, CHANGE_VALUE) {
        return Vec::new();
    }
    let is_name = |word: &str| {
        word.len() == 2 && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
    };
    (words::words(token.raw))
        .filter_map(|(_, word)| match is_name(word) {
            true => Some(word.to_lowercase()),
            false => telling_stem(word),
        })
        .collect()
}

fn stems<'t>(tokens: impl IntoIterator<Item = &'t Token<'t>>) -> BTreeSet<String> {
    tokens.into_iter().flat_map(stems_of).collect()
}

const NUMBER_WORDS: &[(&str, &str)] = &[
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("twelve", "12"),
    ("fifteen", "15"),
    ("twenty", "20"),
    ("thirty", "30"),
    ("sixty", "60"),
    ("ninety", "90"),
    ("hundred", "100"),
    ("twice", "2"),
    ("once", "1"),
];

/// The amount of a token and the letters behind it.
fn number(token: &Token<'_>) -> Option<(String, String)> {
    let word = token.word.as_str();
    if let Some((_, amount)) = NUMBER_WORDS.iter().find(|(name, _)| *name == word) {
        return Some(((*amount).to_owned(), String::new()));
    }
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let end = word.find(|c: char| !c.is_ascii_digit() && !".:,_".contains(c)).unwrap_or(word.len());
    let (amount, unit) = word.split_at(end);
    Some((amount.to_owned(), unit.to_owned()))
}

fn unit_of(word: &str) -> Option<Unit> {
    Some(match word {
        "ms" | "millisecond" | "milliseconds" | "s" | "sec" | "secs" | "second" | "seconds"
        | "min" | "mins" | "minute" | "minutes" | "h" | "hour" | "hours" | "d" | "day" | "days"
        | "week" | "weeks" | "month" | "months" | "year" | "years" => Unit::Duration,
        "b" | "byte" | "bytes" | "kb" | "mb" | "gb" | "tb" | "kib" | "mib" | "gib" => Unit::Size,
        "%" | "percent" => Unit::Percent,
        "am" | "pm" | "o'clock" => Unit::Clock,
        _ => return None,
    })
}

/// The quantities among these tokens.
fn quantities(tokens: &[Token<'_>]) -> Vec<Quantity> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let next = (!token.ends_clause).then(|| tokens.get(at + 1)).flatten();
        let next_word = next.map_or("", |next| next.word.as_str());
        if matches!(token.word.as_str(), "a" | "an" | "one") {
            let unit = unit_of(next_word).filter(|unit| *unit == Unit::Duration);
            found.extend(unit.map(|unit| Quantity { amount: "1".into(), unit }));
            continue;
        }
        let Some((amount, suffix)) = number(token) else { continue };
        let unit = if amount.contains(':') {
            Unit::Clock
        } else if let Some(unit) = unit_of(&suffix).or_else(|| unit_of(next_word)) {
            unit
        } else {
            let counted = next.map(stems_of).unwrap_or_default();
            let is_version = amount.contains('.')
                || at.checked_sub(1).is_some_and(|before| tokens[before].word == "version");
            match is_version {
                true => Unit::Version,
                false => counted.into_iter().next().map_or(Unit::Unknown, Unit::Of),
            }
        };
        found.push(Quantity { amount, unit });
    }
    found
}

impl Stated {
    /// Whether it says that something changes, and shares words and kinds of quantities with an older one.
    pub(crate) fn changes_near(&self, older: &Stated) -> bool {
        let (own, other) = (&self.quantities, &older.quantities);
        let differs = |new: &Quantity| {
            let mut comparable = other.iter().filter(|old| new.is_comparable(old)).peekable();
            comparable.peek().is_some() && comparable.all(|old| old.amount != new.amount)
        };
        let is_other_value = own.iter().any(differs);
        let shared = self.stems.intersection(&older.stems).count();
        let says_new = is_other_value
            || (own.is_empty()
                && (self.stems.difference(&older.stems).next().is_some()
                    || self.denied.is_empty() != older.denied.is_empty()));
        self.is_signed && says_new && shared + usize::from(is_other_value) >= 2
    }
}

/// The statements of a text, by sentence. Questions and tasks have none.
pub(crate) fn stated(text: &str) -> Vec<Stated> {
    of_sentences(text, |sentence, tokens| {
        let first = tokens.iter().find(|token| !is(&token.word, BEFORE_ORDER));
        let is_task = first.is_some_and(|first| is(&first.word, TASKS));
        let mut all = stems(tokens);
        if is_task || all.is_empty() {
            return None;
        }
        // "Sessions time out" is about their timeout.
        all.extend(
            tokens
                .windows(2)
                .filter(|two| !two[0].ends_clause)
                .filter_map(|two| telling_stem(&format!("{}{}", two[0].word, two[1].word))),
        );
        let mut denied = BTreeSet::new();
        for (at, token) in tokens.iter().enumerate() {
            let two = tokens.get(at + 1).map_or("", |next| next.word.as_str());
            let denies = is(&token.word, &["no", "not", "never", "without", "don't", "avoid"])
                || matches!((token.word.as_str(), two), ("instead", "of") | ("rather", "than"));
            if denies {
                denied.extend(stems(phrase(&tokens[at + 1..])));
            }
        }
        Some(Stated {
            stems: all,
            denied,
            quantities: quantities(tokens),
            settles: decisions::settles(sentence),
            changes: !amendments_of(tokens).is_empty(),
            is_signed: is_signed(tokens),
        })
    })
}

/// The sentences of a text that change something.
pub(crate) fn amendments(text: &str) -> Vec<Amendment> {
    of_sentences(text, |_, tokens| Some(amendments_of(tokens))).into_iter().flatten().collect()
}

fn of_sentences<T>(text: &str, mut read: impl FnMut(&str, &[Token<'_>]) -> Option<T>) -> Vec<T> {
    let all = text.lines().flat_map(|line| sentences(line.trim())).take(SENTENCES_MAX);
    all.filter(|sentence| sentence.len() <= CHARS_MAX && !decisions::asks(sentence))
        .filter_map(|sentence| read(sentence, &tokens(sentence)))
        .collect()
}

/// The tokens up to the end of their clause.
fn phrase<'a, 't>(tokens: &'a [Token<'t>]) -> &'a [Token<'t>] {
    let end = tokens.iter().position(|token| is(&token.word, ENDS_CLAUSE)).unwrap_or(tokens.len());
    let comma = tokens.iter().position(|token| token.ends_clause).map_or(tokens.len(), |at| at + 1);
    &tokens[..end.min(comma)]
}

/// Words that say that something is no longer as it was.
const SIGNS: &[&[&str]] = &[
    &["from", "now", "on"],
    &["after", "all"],
    &["no", "more"],
    &["no", "longer"],
    &["instead"],
    &["rather", "than"],
    &["now"],
    &["again"],
    &["was", "too"],
    &["were", "too"],
    &["is", "too"],
    &["anymore"],
    &["any", "more"],
    &["should", "only"],
    &["only", "need"],
    &["only", "needs"],
];

const TOO: &[&[&str]] = &[&["was", "too"], &["were", "too"], &["is", "too"]];

fn is_signed(tokens: &[Token<'_>]) -> bool {
    let corrects = tokens.windows(2).any(|two| two[0].ends_clause && two[1].word == "not");
    // "We also import orders now" adds something.
    let adds = tokens.iter().any(|token| is(&token.word, &["also", "additionally", "too"]))
        && !TOO.iter().any(|too| says(tokens, too).is_some());
    if adds {
        return false;
    }
    corrects || SIGNS.iter().any(|sign| says(tokens, sign).is_some())
}

fn amendments_of(tokens: &[Token<'_>]) -> Vec<Amendment> {
    let is_signed = is_signed(tokens);
    let overturns = says(tokens, &["after", "all"]).is_some();
    let mut found: Vec<Amendment> = Vec::new();
    let clauses: Vec<&[Token<'_>]> = tokens.split_inclusive(|token| token.ends_clause).collect();
    // The old value that another clause cites: "three was too few".
    let too = clauses.iter().filter_map(|clause| {
        let at = TOO.iter().find_map(|too| says(clause, too))?;
        Some(quantities(&clause[..at]))
    });
    let cited: Vec<Quantity> = too.flatten().collect();
    for clause in &clauses {
        let mut one = rejects(clause)
            .or_else(|| resumes(clause))
            .or_else(|| changes_value(clause, is_signed, overturns));
        if let Some(one) = &mut one {
            one.cited.extend(cited.iter().cloned());
            // "Put the translations into the database, no more YAML" is about the translations only.
            one.anchors.extend(found.iter().flat_map(|before| before.anchors.iter().cloned()));
        }
        found.extend(one);
    }
    found
}

impl Amendment {
    /// `names` are the stems of the old state.
    fn new(form: AmendmentForm, names: BTreeSet<String>) -> Amendment {
        let is_attribute =
            |stem: &String| ATTRIBUTES.iter().any(|one| telling_stem(one).as_ref() == Some(stem));
        let (attributes, anchors) = names.into_iter().partition(is_attribute);
        Amendment { anchors, attributes, cited: Vec::new(), quantities: Vec::new(), form }
    }

    /// Whether it names something that is no longer wanted.
    pub(crate) fn is_rejection(&self) -> bool {
        self.form != AmendmentForm::ChangesValue
    }

    /// Whether it changes what an older sentence states.
    pub(crate) fn changes(&self, older: &Stated) -> Option<Amends> {
        let has = |stem: &String| older.stems.contains(stem);
        let attribute = self.attributes.iter().any(has);
        if !self.anchors.iter().all(has) || (self.anchors.is_empty() && !attribute) {
            return None;
        }
        let cites = |cited: &Quantity| {
            older
                .quantities
                .iter()
                .any(|old| old.amount == cited.amount && cited.is_comparable(old))
        };
        if !self.cited.iter().all(cites) {
            return None;
        }
        let names_value = !self.cited.is_empty();
        let is_new = |new: &&Quantity| {
            let comparable = || older.quantities.iter().filter(|old| new.is_comparable(old));
            comparable().next().is_some() && comparable().all(|old| old.amount != new.amount)
        };
        match self.form {
            AmendmentForm::Rejects if self.anchors.len() + self.cited.len() >= 2 => {
                Some(Amends::Named)
            }
            AmendmentForm::Rejects | AmendmentForm::RejectsChoice => {
                (older.settles && !self.anchors.is_empty()).then_some(Amends::Named)
            }
            AmendmentForm::Resumes => (self.anchors.iter().any(|stem| older.denied.contains(stem)))
                .then_some(Amends::Named),
            AmendmentForm::ChangesValue if self.quantities.is_empty() => {
                (older.quantities.is_empty() && self.anchors.len() >= 2).then_some(Amends::Topic)
            }
            AmendmentForm::ChangesValue => {
                let changes = self.quantities.iter().any(|new| is_new(&new));
                (changes || (names_value && !older.changes)).then_some(Amends::Named)
            }
        }
    }
}

/// "stop deploying on Fridays", "no longer use moment", "do not squash commits any more", "X instead of Y".
fn rejects(clause: &[Token<'_>]) -> Option<Amendment> {
    let over = says(clause, &["instead", "of"]).or_else(|| says(clause, &["rather", "than"]));
    if let Some(at) = over {
        let rejected = phrase(&clause[at + 2..]);
        let mut names = stems(rejected);
        let value = quantities(rejected);
        let (topic, _) = topic_and_value(&clause[..at]);
        names.extend(stems(topic));
        let mut one = Amendment::new(AmendmentForm::Rejects, names);
        one.cited = value;
        one.quantities = quantities(&clause[..at]);
        if !one.cited.is_empty() {
            one.form = AmendmentForm::ChangesValue;
        }
        return Some(one);
    }
    let of = |form: AmendmentForm, rejected: &[Token<'_>]| {
        let names = stems(phrase(rejected));
        (!names.is_empty()).then(|| Amendment::new(form, names))
    };
    let order = order(clause);
    let first = order.first()?;
    if first.word == "stop" && order.get(1).is_some_and(|next| next.word.ends_with("ing")) {
        return of(AmendmentForm::Rejects, &order[1..]);
    }
    if is(&first.word, REJECT) {
        return of(AmendmentForm::RejectsChoice, &order[1..]);
    }
    if says(order, &["no", "more"]) == Some(0) {
        return of(AmendmentForm::Rejects, &order[2..]);
    }
    if let Some(at) = says(clause, &["no", "longer"]) {
        let all: Vec<Token<'_>> =
            clause[..at].iter().chain(phrase(&clause[at + 2..])).cloned().collect();
        return of(AmendmentForm::Rejects, &all);
    }
    if let Some(at) = ["gone", "history", "out", "dead", "overkill"]
        .iter()
        .find_map(|gone| says(clause, &["is", gone]))
    {
        return of(AmendmentForm::RejectsChoice, &clause[..at]);
    }
    let moves = clause.iter().position(|token| is(&token.word, &["move", "moves", "migrate"]));
    if let (Some(at), Some(from)) = (moves.filter(|at| *at > 0), says(clause, &["from"])) {
        let to = clause
            .iter()
            .position(|token| is(&token.word, &["to", "into"]))
            .unwrap_or(clause.len());
        let named: Vec<Token<'_>> =
            clause[..at].iter().chain(clause.get(from..to).unwrap_or_default()).cloned().collect();
        return of(AmendmentForm::Rejects, &named);
    }
    let never = says(clause, &["never"]).and_then(|_| says(clause, &["again"]));
    let ends = says(clause, &["any", "more"]).or_else(|| says(clause, &["anymore"])).or(never);
    let denies = clause.iter().any(|token| {
        is(&token.word, &["not", "don't", "doesn't", "never", "no", "won't", "needn't"])
    });
    match (ends, denies) {
        (Some(end), true) => of(AmendmentForm::Rejects, &clause[..end]),
        _ => None,
    }
}

/// "we use tabs again".
fn resumes(clause: &[Token<'_>]) -> Option<Amendment> {
    let order = order(clause);
    let chooses =
        order.first().is_some_and(|first| is(&first.word, CHOOSE) || is(&first.word, SET_VALUE));
    let again = says(order, &["again"])?;
    let names = stems(&order[1..again]);
    (chooses && !names.is_empty()).then(|| Amendment::new(AmendmentForm::Resumes, names))
}

/// "move the backups to 4 am", "webhooks get five retries now", "error messages should be English after all".
fn changes_value(clause: &[Token<'_>], is_signed: bool, overturns: bool) -> Option<Amendment> {
    let order = order(clause);
    let verb = order.first()?;
    let changes = is(&verb.word, CHANGE_VALUE);
    let to = order
        .iter()
        .skip(2)
        .position(|token| is(&token.word, &["to", "into", "at"]))
        .map(|at| at + 2);
    if let (true, Some(to)) = (changes || (is_signed && is(&verb.word, SET_VALUE)), to) {
        let value = phrase(&order[to + 1..]);
        // A file or a route is the target of a task.
        if order[to + 1..].iter().any(|token| token.raw.contains('/')) {
            return None;
        }
        let from = says(&order[..to], &["from"]).unwrap_or(to);
        let mut names = stems(&order[1..to]);
        let values = quantities(value);
        if let Some(at) = value.iter().position(|token| number(token).is_some()) {
            // "Python 3.12" is another version of Python only.
            names.extend(stems(&value[..at]));
        }
        let mut one = Amendment::new(AmendmentForm::ChangesValue, names);
        one.cited = quantities(&order[from..to]);
        one.quantities = values;
        // "The number of uploads" counts uploads and has no other unit.
        if let (Some(counted), true) = (one.anchors.first(), one.attributes.contains("number")) {
            let counted = Unit::Of(counted.clone());
            one.quantities.iter_mut().for_each(|value| value.unit = counted.clone());
        }
        return Some(one);
    }
    let modal = says(clause, &["only", "need"])
        .or_else(|| says(clause, &["only", "needs"]))
        .or_else(|| says(clause, &["should", "be"]))
        .or_else(|| says(clause, &["must", "be"]));
    if !is_signed && modal.is_none() {
        return None;
    }
    let (topic, value) = topic_and_value(clause);
    let names = stems(topic);
    let quantities = quantities(value);
    if names.is_empty() || (quantities.is_empty() && !overturns) {
        return None;
    }
    let mut one = Amendment::new(AmendmentForm::ChangesValue, names);
    one.quantities = quantities;
    Some(one)
}

/// The tokens of the topic of a clause, and the tokens of the statement about it: "uploads | go to S3", "send emails |
/// with Postmark". An order to use something names no topic.
fn topic_and_value<'a, 't>(clause: &'a [Token<'t>]) -> (&'a [Token<'t>], &'a [Token<'t>]) {
    let from_now = says(clause, &["from", "now", "on"]) == Some(0);
    let clause = if from_now { &clause[3..] } else { clause };
    let rest = order(clause);
    let is_order =
        rest.first().is_some_and(|verb| is(&verb.word, CHOOSE) || is(&verb.word, SET_VALUE));
    if is_order {
        let object = &rest[1..];
        if is(&rest[0].word, CHOOSE) {
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
    match clause.iter().position(|token| is(&token.word, FINITE)) {
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

/// The first sentence of a text that changes something, or says how something is now. It need not state a
/// decision: "the timeout is 120 seconds now" replaces one.
pub fn change(text: &str) -> Option<&str> {
    let changes = |sentence: &str| decisions::updates(sentence) || !amendments(sentence).is_empty();
    sentences_of(text)
        .find(|sentence| sentence.len() <= CHANGE_CHARS_MAX && changes(sentence.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_the_sentence_that_says_so() {
        let table = [
            ("Fix the login. Then commit.", None),
            (
                "30 seconds failed. The upload timeout is 120 seconds now. Go on.",
                Some("The upload timeout is 120 seconds now."),
            ),
            ("Is it 120 seconds now?", None),
            ("```\nuse x instead\n```\nDone.", None),
            (
                "Actually, version the API by the path",
                Some("Actually, version the API by the path"),
            ),
        ];
        for (text, expected) in table {
            assert_eq!(change(text), expected, "{text:?}");
        }
    }
}
