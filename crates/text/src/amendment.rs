//! Sentences that change something in free wording: "bump the limit to 50", "stop deploying on Fridays". The
//! older statement has to contain the topic of such a sentence, and the value or the thing that the sentence rejects.
//! English only.

#[cfg(test)]
mod everyday;
mod german;
mod gone;
mod in_passing;
mod lead;
mod rejects;

use std::sync::LazyLock;

use crate::choice::{ValueChoice, choices};
use crate::claim::{Claim, ValueClaim, claims, value_claims};
use crate::clause_parts::{REPORTED_AFTER, REPORTING, phrase, stems, topic_and_value};
use crate::clauses::{Token, begins, is, order, says, tokens};
use crate::decision::{sentences_of, states_decision, with_new_state};
use crate::decision_numbers::announces_change;
use crate::decisions;
use crate::gist::sentences;
use crate::lexicon::Lists;
use crate::quantity::{Quantity, Unit, number, quantities};
use crate::subject::{Stems, WordHash, WordSet};
use crate::{siblings, words};
use gone::gone;
use lead::lead;
use rejects::{moved, rejects, renames, replaced, resumes};

/// Sentences of a text that are read; later ones are ignored.
const SENTENCES_MAX: usize = 8;
/// Bytes of the longest statement; longer sentences are ignored.
const CHARS_MAX: usize = 240;
/// Bytes of the longest sentence that may be a change; a longer one is prose that happens to contain such words.
const CHANGE_CHARS_MAX: usize = 400;

/// Attributes: a threshold for the coverage is the minimum of the coverage.
static ATTRIBUTES: LazyLock<WordSet> = LazyLock::new(|| {
    let mut stems = Stems::default();
    ATTRIBUTE_WORDS.iter().filter_map(|word| stems.telling(word)).collect()
});
static NUMBER: LazyLock<Option<WordHash>> = LazyLock::new(|| Stems::default().telling("number"));
static RETENTION: LazyLock<Option<WordHash>> =
    LazyLock::new(|| Stems::default().telling("retention"));
/// Verbs of a sentence about the retention of something.
const KEEPING: &[&str] = &["keep", "keeps", "kept", "retain", "retains", "retained"];
/// Verbs of a sentence about deletion, which also says how long something is kept.
const DELETING: &[&str] = &["deleted", "removed", "purged", "erased"];
/// Verbs of a thing that changes by itself: "feature flags move into the database".
const MOVING: &[&str] = &["move", "moves", "switch", "switches", "migrate", "migrates"];
const ATTRIBUTE_WORDS: &[&str] = &[
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

/// A sentence that a later one may change.
#[derive(Clone, Debug)]
pub(crate) struct Stated {
    stems: WordSet,
    /// The stems of its single words only.
    words: WordSet,
    /// The stems of the things that it gives up itself.
    gone: WordSet,
    /// The values that it chooses.
    choices: Vec<ValueChoice>,
    /// The stems that follow "no", "not" and the like.
    denied: WordSet,
    quantities: Vec<Quantity>,
    settles: bool,
    changes: bool,
    is_signed: bool,
    /// The claims of its clauses.
    claims: Vec<Claim>,
    value_claims: Vec<ValueClaim>,
    /// Whether it announces that something changes.
    announces: bool,
    /// Whether it says for how long something is kept: that is its retention.
    keeps: bool,
    /// Whether it gives something its name.
    names: bool,
    /// The stems before its first colon: "battery: warn at 6.9 V".
    label: WordSet,
    /// The stems that say on which days or how often something happens, and those of the thing that happens.
    schedule: WordSet,
    scheduled: WordSet,
}

/// A sentence that changes what another one states.
#[derive(Clone, Debug)]
pub(crate) struct Amendment {
    /// The stems of the old state, all of which the older sentence has, without attributes.
    anchors: WordSet,
    /// Further stems. Unless this set is empty, the older sentence has at least one of them.
    beside: WordSet,
    attributes: WordSet,
    /// Old values that are cited.
    cited: Vec<Quantity>,
    /// New values.
    quantities: Vec<Quantity>,
    form: AmendmentForm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AmendmentForm {
    /// Names the rejected thing: "no longer …", "instead of …".
    Rejects,
    /// Rejects an idea, which has to be one that was chosen: "scrap the Redis idea".
    RejectsChoice,
    /// Gives another value.
    ChangesValue,
    /// Takes up a rejected thing again.
    Resumes,
    /// Gives another name: "rename quill-core to quill-engine".
    Renames,
    /// Proposes something and complains about the state before.
    Complains,
}

/// How sure it is that a sentence changes another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amends {
    /// It names the old state.
    Named,
    /// It is about the same thing.
    Topic,
}

impl Stated {
    /// Whether a word says that something is no longer as it was.
    pub(crate) fn is_signed(&self) -> bool {
        self.is_signed
    }

    /// Whether it may replace a claim of another sentence about a thing.
    pub(crate) fn may_reclaim(&self) -> bool {
        self.announces && !self.claims.is_empty()
    }

    /// Whether it announces that something changes, and says something else of the same thing in the same words.
    pub(crate) fn reclaims(&self, older: &Stated) -> bool {
        let differs = |new: &Claim| older.claims.iter().any(|old| new.differs_from(old));
        self.announces && self.claims.iter().any(differs)
    }

    /// Whether it gives a thing a value.
    pub(crate) fn gives_value(&self) -> bool {
        !self.value_claims.is_empty()
    }

    /// Whether it gives the same thing another value in the same words, whether or not it says that something changes.
    pub(crate) fn gives_other_value(&self, older: &Stated) -> bool {
        let differs = |new: &ValueClaim| older.value_claims.iter().any(|old| new.differs_from(old));
        self.value_claims.iter().any(differs)
    }

    /// Whether it decides something.
    pub(crate) fn decides(&self) -> bool {
        self.choices.iter().any(|choice| choice.is_decided)
    }

    /// Whether both choose a value for the same thing, and the values differ.
    pub(crate) fn chooses_other(&self, older: &Stated) -> bool {
        let differs = |new: &ValueChoice| older.choices.iter().any(|old| new.differs_from(old));
        self.choices.iter().any(differs)
    }

    /// Whether both decide on a value for the same thing, and the values differ.
    pub(crate) fn decides_other(&self, older: &Stated) -> bool {
        let decided = |choice: &&ValueChoice| choice.is_decided;
        let differs = |new: &ValueChoice| {
            older.choices.iter().filter(decided).any(|old| new.differs_from(old))
        };
        self.choices.iter().filter(decided).any(differs)
    }

    /// Whether it says that the same thing happens on other days now, or more or less often.
    pub(crate) fn reschedules(&self, older: &Stated) -> bool {
        self.is_signed
            && !self.schedule.is_empty()
            && !older.schedule.is_empty()
            && self.schedule.shared(&older.schedule).next().is_none()
            && !self.scheduled.is_empty()
            && self.scheduled == older.scheduled
    }

    /// Whether it gives a value to another property of the same thing.
    pub(crate) fn gives_value_beside(&self, older: &Stated) -> bool {
        let is_beside = |new: &ValueClaim| older.value_claims.iter().any(|old| new.is_beside(old));
        !self.keeps && !older.keeps && self.value_claims.iter().any(is_beside)
    }

    /// Whether it changes at least two values, and all of them differ from those of an older sentence whose label it
    /// names: "raise the battery cutoff to 6.8 V, warning at 7.0 V".
    pub(crate) fn changes_all_values(&self, older: &Stated) -> bool {
        let (own, other) = (&self.quantities, &older.quantities);
        let differs = |new: &Quantity| {
            let mut comparable = other.iter().filter(|old| new.is_comparable(old)).peekable();
            comparable.peek().is_some() && comparable.all(|old| !new.is_equal(old))
        };
        self.changes
            && own.len() >= 2
            && own.len() == other.len()
            && own.iter().all(differs)
            && !older.label.is_empty()
            && older.label.is_subset(&self.stems)
    }

    /// Whether it denies what the older one says: "no merge commits".
    pub(crate) fn denies(&self, older: &Stated) -> bool {
        !self.denied.is_empty() && self.denied.is_subset(&older.words)
    }

    /// Whether it says that something changes, and shares words and kinds of quantities with an older one.
    pub(crate) fn changes_near(&self, older: &Stated) -> bool {
        let (own, other) = (&self.quantities, &older.quantities);
        let differs = |new: &Quantity| {
            let mut comparable = other.iter().filter(|old| new.is_comparable(old)).peekable();
            comparable.peek().is_some() && comparable.all(|old| !new.is_equal(old))
        };
        let is_other_value = own.iter().any(differs);
        let shared = self.words.shared(&older.words).count();
        let says_new = is_other_value
            || (own.is_empty()
                && (!self.words.is_subset(&older.words)
                    || self.denied.is_empty() != older.denied.is_empty()));
        self.is_signed && says_new && shared + usize::from(is_other_value) >= 2
    }
}

/// The statements of a text by sentence, and the sentences that change something. Questions and tasks state nothing.
pub(crate) fn read(text: &str) -> (Vec<Stated>, Vec<Amendment>) {
    let (mut all_stated, mut all_amendments) = (Vec::new(), Vec::new());
    // "The limit is 6 from January. Change the rule." The second sentence announces the change.
    let is_announced = statements(text).any(|sentence| announces_change(&tokens(sentence)));
    for sentence in statements(text) {
        let (lead, said) = lead(sentence);
        let tokens = tokens(said);
        let is_signed = is_announced || lead.is_some() || is_signed(&tokens);
        let amendments = amendments_of(&tokens, is_signed);
        let settles = || decisions::settles(sentence);
        let choices = choices(&tokens, || states_decision(sentence));
        let announces = !adds(&tokens) && (is_signed || decisions::changes(sentence));
        let signs = (!amendments.is_empty(), is_signed, announces);
        all_stated.extend(stated(&tokens, settles, signs).map(|one| Stated { choices, ..one }));
        all_amendments.extend(amendments);
    }
    (all_stated, all_amendments)
}

fn stated(
    tokens: &[Token<'_>],
    settles: impl Fn() -> bool,
    (changes, is_signed, announces): (bool, bool, bool),
) -> Option<Stated> {
    let first = tokens.iter().find(|token| !token.lists.any(Lists::BEFORE_ORDER));
    let is_task = first.is_some_and(|first| first.lists.any(Lists::TASKS));
    if is_task && !is_named_by_task(tokens) {
        return None;
    }
    let mut all = stems(tokens);
    if all.is_empty() {
        return None;
    }
    let schedule = in_passing::schedule(tokens);
    let scheduled = all.iter().copied().filter(|stem| !schedule.contains(*stem)).collect();
    let words = WordSet::from(all.clone());
    // "Sessions time out" is about their timeout.
    let mut joined = Stems::default();
    all.extend(
        tokens
            .windows(2)
            .filter(|two| !two[0].ends_clause)
            .filter_map(|two| joined.of_joined(&two[0].word, &two[1].word)),
    );
    let mut denied = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let two = tokens.get(at + 1).map_or("", |next| &*next.word);
        let denies = is(&token.word, &["no", "not", "never", "without", "don't", "avoid"])
            || matches!((&*token.word, two), ("instead", "of") | ("rather", "than"));
        if denies {
            denied.extend(stems(phrase(&tokens[at + 1..])));
        }
    }
    let keeps = tokens.iter().any(|token| is(&token.word, KEEPING)) || deletes_after(tokens);
    Some(Stated {
        stems: all.into(),
        words,
        gone: gone(tokens),
        choices: Vec::new(),
        denied: denied.into(),
        quantities: quantities(tokens),
        settles: settles() || has_moved(tokens),
        changes,
        is_signed,
        claims: claims(tokens),
        value_claims: value_claims(tokens),
        announces,
        keeps,
        names: gives_name(tokens),
        label: label(tokens),
        schedule,
        scheduled,
    })
}

/// Whether the first word, which could be the verb of a task, is a part of a name: "push notifications expire after a day".
fn is_named_by_task(tokens: &[Token<'_>]) -> bool {
    let end = tokens.iter().position(|token| token.ends_clause).map_or(tokens.len(), |at| at + 1);
    let name = siblings::verb(&tokens[..end], true);
    let is_name = |token: &Token<'_>| {
        !words::is_stop(&token.word)
            && !token.lists.any(Lists::ENDS_CLAUSE.and(Lists::BEFORE_ORDER))
    };
    name.is_some_and(|verb| (2..=3).contains(&verb) && tokens[..verb].iter().all(is_name))
}

/// "we moved the carts to Postgres"
fn has_moved(tokens: &[Token<'_>]) -> bool {
    let moved = tokens.iter().position(|token| is(&token.word, &["moved", "migrated", "switched"]));
    let behind = moved.map_or(&[][..], |at| &tokens[at..]);
    behind.iter().any(|token| is(&token.word, &["to", "into"]))
}

/// The stems of the words before the first colon; none without a colon.
fn label(tokens: &[Token<'_>]) -> WordSet {
    let colon = tokens.iter().position(|token| token.ends_label);
    stems(&tokens[..colon.map_or(0, |at| at + 1)]).into()
}

/// Whether a sentence gives something its name: "name the crate quill-core", "the crate is called quill-core".
fn gives_name(tokens: &[Token<'_>]) -> bool {
    order(tokens).first().is_some_and(|first| is(&first.word, &["name", "call"]))
        || tokens.iter().any(|token| is(&token.word, &["named", "called"]))
}

/// Whether a sentence changes something.
fn amends(sentence: &str) -> bool {
    let may_amend = words::words(sentence).any(|(_, word)| Lists::of(word).any(Lists::AMENDS));
    may_amend
        && statements(sentence).any(|sentence| {
            let (lead, said) = lead(sentence);
            let tokens = tokens(said);
            !amendments_of(&tokens, lead.is_some() || is_signed(&tokens)).is_empty()
        })
}

/// Whether a sentence gives a thing a value.
fn gives_value(sentence: &str) -> bool {
    sentence.contains(|c: char| c.is_ascii_digit())
        && statements(sentence).any(|sentence| !value_claims(&tokens(lead(sentence).1)).is_empty())
}

/// The first sentences of a text that are neither too long nor questions.
fn statements(text: &str) -> impl Iterator<Item = &str> {
    let all = text.lines().flat_map(|line| sentences(line.trim())).take(SENTENCES_MAX);
    all.filter(|sentence| sentence.len() <= CHARS_MAX && !decisions::asks(sentence))
}

/// Words that say that something is no longer as it was.
const SIGNS: &[&[&str]] = &[
    &["from", "now", "on"],
    &["from", "today", "on"],
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

/// Verbs with which "again" says that a problem is back.
const REPORTING_STATE: &[&str] = &[
    "is", "are", "was", "were", "fails", "fail", "failed", "failing", "breaks", "broke", "hangs",
    "hung", "crashes", "crashed", "happens", "happened", "got", "gets",
];

/// Words that allow something.
const ALLOWING: &[&str] =
    &["fine", "ok", "okay", "allowed", "welcome", "enabled", "on", "possible", "supported"];

const TOO: &[&[&str]] = &[&["was", "too"], &["were", "too"], &["is", "too"]];

/// Whether a sentence adds something to earlier statements: "we also import orders now".
fn adds(tokens: &[Token<'_>]) -> bool {
    tokens.iter().any(|token| is(&token.word, &["also", "additionally", "too"]))
        && !TOO.iter().any(|too| says(tokens, too).is_some())
}

/// "No more than 5" is a bound.
fn is_bound(tokens: &[Token<'_>]) -> bool {
    begins(tokens, &["no", "more", "than"])
}

fn is_signed(tokens: &[Token<'_>]) -> bool {
    let corrects = tokens.windows(2).any(|two| two[0].ends_clause && two[1].word == "not");
    if adds(tokens) {
        return false;
    }
    // "The import is slow again" reports a problem. "Force-pushing is fine again" is a rule.
    let has = |list: &[&str]| tokens.iter().any(|token| is(&token.word, list));
    let reports = |at: usize| {
        tokens[at].word == "again"
            && tokens[..at].iter().any(|token| is(&token.word, REPORTING_STATE))
            && !has(ALLOWING)
            && quantities(tokens).is_empty()
    };
    let is_sign = |at: usize| {
        tokens[at].lists.any(Lists::SIGNS)
            && SIGNS.iter().any(|sign| begins(&tokens[at..], sign))
            && !is_bound(&tokens[at..])
            && !reports(at)
    };
    corrects || (0..tokens.len()).any(is_sign)
}

fn amendments_of(tokens: &[Token<'_>], is_signed: bool) -> Vec<Amendment> {
    if !is_signed && !tokens.iter().any(|token| token.lists.any(Lists::AMENDS)) {
        return Vec::new();
    }
    let overturns = says(tokens, &["after", "all"]).is_some();
    let mut found: Vec<Amendment> = Vec::new();
    let clauses: Vec<&[Token<'_>]> = tokens.split_inclusive(|token| token.ends_clause).collect();
    // The old value that another clause cites: "three was too few".
    let too = clauses.iter().filter_map(|clause| {
        let at = TOO.iter().find_map(|too| says(clause, too))?;
        Some(quantities(&clause[..at]))
    });
    let cited: Vec<Quantity> = too.flatten().collect();
    let corrects = tokens.first().is_some_and(|first| first.word == "actually");
    for clause in &clauses {
        let mut one = moved(clause)
            .or_else(|| rejects(clause))
            .or_else(|| replaced(clause))
            .or_else(|| resumes(clause))
            .or_else(|| renames(clause))
            .or_else(|| in_passing::revalues(clause, corrects))
            .or_else(|| changes_value(clause, is_signed, overturns));
        if let Some(one) = &mut one {
            one.cited.extend(&cited);
            // "Put the translations into the database, no more YAML" is about the translations only.
            let before = found.iter().flat_map(|before| before.anchors.iter());
            one.anchors = one.anchors.iter().chain(before).collect();
        }
        found.extend(one);
    }
    found.extend(in_passing::complains(&clauses));
    found
}

impl Amendment {
    /// `names` are the stems of the old state.
    fn new(form: AmendmentForm, names: Vec<WordHash>) -> Amendment {
        let is_attribute = |stem: &WordHash| ATTRIBUTES.contains(*stem);
        let (attributes, anchors): (Vec<_>, Vec<_>) = names.into_iter().partition(is_attribute);
        let (attributes, anchors) = (attributes.into(), anchors.into());
        let (cited, quantities, beside) = (Vec::new(), Vec::new(), WordSet::default());
        Amendment { anchors, beside, attributes, cited, quantities, form }
    }

    /// Whether it does anything else than change a value.
    pub(crate) fn is_rejection(&self) -> bool {
        self.form != AmendmentForm::ChangesValue
    }

    /// Whether it rejects a thing that an older sentence gave up itself, or for which the older sentence chose a value:
    /// it tidies up after that decision.
    pub(crate) fn agrees_with(&self, older: &Stated) -> bool {
        use AmendmentForm::{Rejects, RejectsChoice};
        let is_given_up = self.anchors.shared(&older.gone).next().is_some();
        let drops_topic = || {
            let is_topic = |old: &ValueChoice| self.anchors.is_subset(&old.topic);
            self.form == RejectsChoice && older.choices.iter().any(is_topic)
        };
        matches!(self.form, Rejects | RejectsChoice) && (is_given_up || drops_topic())
    }

    /// Whether it changes what an older sentence states.
    pub(crate) fn changes(&self, older: &Stated) -> Option<Amends> {
        let has = |stem: WordHash| {
            older.stems.contains(stem) || (older.keeps && *RETENTION == Some(stem))
        };
        let attribute = self.attributes.iter().any(has);
        if !self.anchors.iter().all(has) || (self.anchors.is_empty() && !attribute) {
            return None;
        }
        if !self.beside.is_empty() && !self.beside.iter().any(has) {
            return None;
        }
        let cites = |cited: &Quantity| {
            older.quantities.iter().any(|old| cited.is_equal(old) && cited.is_comparable(old))
        };
        if !self.cited.iter().all(cites) {
            return None;
        }
        let names_value = !self.cited.is_empty();
        let is_new = |new: &&Quantity| {
            let comparable = || older.quantities.iter().filter(|old| new.is_comparable(old));
            comparable().next().is_some() && comparable().all(|old| !new.is_equal(old))
        };
        match self.form {
            AmendmentForm::Rejects if self.anchors.len() + self.cited.len() >= 2 => {
                Some(Amends::Named)
            }
            AmendmentForm::Complains => Some(Amends::Named),
            // "Drop Postgres 14" after "Postgres 14 and newer".
            AmendmentForm::RejectsChoice
                if names_value
                    && !self.anchors.is_empty()
                    && older.quantities.len() == self.cited.len() =>
            {
                Some(Amends::Named)
            }
            AmendmentForm::Rejects | AmendmentForm::RejectsChoice => {
                // "Switch the cache to memcached" chooses it too.
                let chose = older.settles || older.changes || older.announces;
                (chose && !self.anchors.is_empty()).then_some(Amends::Named)
            }
            AmendmentForm::Renames => {
                (older.names && !self.anchors.is_empty()).then_some(Amends::Named)
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

/// Whether something is deleted after some time, which is its retention.
fn deletes_after(tokens: &[Token<'_>]) -> bool {
    tokens.windows(2).any(|two| is(&two[0].word, DELETING) && two[1].word == "after")
}

/// "feature flags move into our own table": the thing and where it goes.
fn moves<'a, 't>(clause: &'a [Token<'t>]) -> Option<(&'a [Token<'t>], &'a [Token<'t>])> {
    let order = order(clause);
    let at = order.iter().position(|token| is(&token.word, MOVING)).filter(|at| *at > 0)?;
    let goes = order.get(at + 1).is_some_and(|next| is(&next.word, &["to", "into"]));
    // "The items that users move to …" and "we plan to switch to …" state no change.
    let is_thing = |token: &Token<'_>| {
        !token.lists.any(Lists::FINITE.and(Lists::ENDS_CLAUSE).and(Lists::TASKS))
            && !is(&token.word, &["to", "that", "which", "who", "they", "it", "not", "never"])
    };
    let target = order.get(at + 2..)?;
    let is_place = target.iter().any(|token| token.raw.contains('/'));
    (goes && !is_place && order[..at].iter().all(is_thing)).then(|| (&order[..at], phrase(target)))
}

/// "move the backups to 4 am", "webhooks get five retries now", "error messages should be English after all".
fn changes_value(clause: &[Token<'_>], is_signed: bool, overturns: bool) -> Option<Amendment> {
    let order = order(clause);
    let verb = order.first()?;
    let changes = verb.lists.any(Lists::CHANGE_VALUE);
    let to = order
        .iter()
        .skip(2)
        .position(|token| is(&token.word, &["to", "into", "at"]))
        .map(|at| at + 2);
    if let (true, Some(to)) = (changes || (is_signed && verb.lists.any(Lists::SET_VALUE)), to) {
        let value = phrase(&order[to + 1..]);
        // A file or a route is the target of a task.
        if order[to + 1..].iter().any(|token| token.raw.contains('/')) {
            return None;
        }
        let from = says(&order[..to], &["from"]).unwrap_or(to);
        let mut names = stems(&order[1..to]);
        let values = quantities(value);
        if let Some(at) = value.iter().position(|token| number(token).is_some()) {
            // "Python 3.12" can only replace another version of Python.
            names.extend(stems(&value[..at]));
        }
        let counted = names.iter().copied().find(|stem| !ATTRIBUTES.contains(*stem));
        let mut one = Amendment::new(AmendmentForm::ChangesValue, names);
        one.cited = quantities(&order[from..to]);
        one.quantities = values;
        // "The number of uploads" counts uploads and has no other unit.
        let is_count = NUMBER.is_some_and(|number| one.attributes.contains(number));
        if let (Some(counted), true) = (counted, is_count) {
            one.quantities.iter_mut().for_each(|value| value.unit = Unit::Of(counted));
        }
        return Some(one);
    }
    if let Some((thing, target)) = moves(clause) {
        let mut one = Amendment::new(AmendmentForm::ChangesValue, stems(thing));
        // The number of a standard is not a quantity: "RFC 3339".
        one.quantities = quantities(target);
        one.quantities.retain(|value| !matches!(value.unit, Unit::Of(_) | Unit::Unknown));
        return Some(one);
    }
    let modal = says(clause, &["only", "need"])
        .or_else(|| says(clause, &["only", "needs"]))
        .or_else(|| says(clause, &["should", "be"]))
        .or_else(|| says(clause, &["must", "be"]));
    if !is_signed && modal.is_none() {
        return None;
    }
    let reports = clause.iter().take(REPORTED_AFTER).position(|token| is(&token.word, REPORTING));
    let (topic, value) = topic_and_value(reports.map_or(clause, |at| &clause[at + 1..]));
    let deletes = deletes_after(value);
    if reports.is_some() && !deletes && !is_signed {
        return None;
    }
    let mut names = stems(topic);
    let quantities = quantities(value);
    // "Backups must be deleted after a week" is about their retention, and not about how often they run.
    names.extend(RETENTION.filter(|_| deletes && !names.is_empty()));
    if names.is_empty() || (quantities.is_empty() && !overturns) {
        return None;
    }
    let mut one = Amendment::new(AmendmentForm::ChangesValue, names);
    one.quantities = quantities;
    Some(one)
}

/// The first sentence of a text that changes something, or says how something is now. It need not state a
/// decision: "the timeout is 120 seconds now" replaces one. If it only rejects something, it includes the sentence that
/// states what holds instead.
pub fn change(text: &str) -> Option<&str> {
    let changes = |sentence: &str| {
        decisions::updates(sentence)
            || amends(sentence)
            || gives_value(sentence)
            || announces_change(&tokens(sentence))
    };
    sentences_of(text)
        .find(|sentence| sentence.len() <= CHANGE_CHARS_MAX && changes(sentence.trim()))
        .map(|sentence| with_new_state(text, sentence))
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
                "Amounts are no longer integer cents. Use minor units plus a currency instead. Go on.",
                Some(
                    "Amounts are no longer integer cents. Use minor units plus a currency instead.",
                ),
            ),
            (
                "Actually, version the API by the path",
                Some("Actually, version the API by the path"),
            ),
            (
                "We change decision 7. Positions are f64. Go on.",
                Some("We change decision 7. Positions are f64."),
            ),
            (
                "Good. The server should listen on 9105. Go on.",
                Some("The server should listen on 9105."),
            ),
        ];
        for (text, expected) in table {
            assert_eq!(change(text), expected, "{text:?}");
        }
    }
}
