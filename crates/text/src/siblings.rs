//! Whether two statements are about siblings: the basic plan and the premium plan, reads and writes, staging and
//! production. They share most of their words, and neither replaces the other. English only.

#[cfg(test)]
mod pairs;

use crate::clause_parts::{REPORTED_AFTER, REPORTING};
use crate::clauses::{Token, is, tokens};
use crate::gist::sentences;
use crate::lexicon::Lists;
use crate::quantity::is_number;
use crate::subject::{self, Stems, WordHash, WordSet};
use crate::{stem, words};

/// Lists of words of which a thing has at most one. Each string holds the forms of one word.
const OPPOSITES: &[&[&str]] = &[
    &["staging stage", "production prod", "development dev", "qa", "preview", "sandbox"],
    &["read reads reading", "write writes writing"],
    &["frontend", "backend"],
    &["client clients", "server servers"],
    &["internal", "external"],
    &["public", "private", "partner"],
    &["primary", "secondary", "tertiary"],
    &["source", "target", "destination"],
    &["input", "output"],
    &["incoming inbound", "outgoing outbound"],
    &["request requests", "response responses"],
    &["upload uploads", "download downloads"],
    &["import imports importer", "export exports exporter"],
    &["unit", "integration", "browser", "smoke", "e2e"],
    &["free", "paid", "basic", "premium", "pro", "enterprise"],
    &["monthly", "yearly annual", "weekly", "daily", "hourly"],
    &["minimum min", "maximum max"],
    &["left", "right"],
    &["small", "large", "medium"],
    &["local", "remote"],
    &["soft", "hard"],
    &["upper", "lower"],
    &["over above", "under below"],
    &["first", "second", "third", "last"],
    &["morning", "evening", "night"],
    &["access", "refresh"],
    &["linux", "macos", "windows"],
    &["ios", "android"],
    &["mobile", "desktop"],
    &["silver", "gold", "bronze", "platinum"],
    &["guest guests", "member members", "admin admins", "editor editors"],
];
/// Words that say little alone but tell two things apart: "the day shift".
const ATTRIBUTIVE: &[&str] = &[
    "day", "night", "week", "month", "year", "hour", "small", "large", "short", "long", "high",
    "low",
];
/// Words before a number that tell two things apart: "shard 2".
const NUMBERED: &[&str] =
    &["shard", "phase", "step", "stage", "tier", "level", "zone", "group", "team", "lane", "slot"];
/// Words that limit what a thing may be, and are no part of its name.
const ATTRIBUTES: &[&str] = &[
    "threshold",
    "limit",
    "limits",
    "setting",
    "settings",
    "value",
    "number",
    "count",
    "size",
    "amount",
    "default",
    "rule",
    "policy",
    "decision",
    "length",
    "retention",
    "expiry",
    "lifetime",
];
/// Words before the verb of an order or the subject of a statement.
const BEFORE: &[&str] = &[
    "decided", "decide", "agreed", "agree", "always", "never", "that", "remember", "finally",
    "the", "have", "been", "only", "today", "do", "not", "don't", "be",
];
/// Prepositions between the object of an order and its value.
const BEFORE_VALUE: &[&str] = &[
    "with", "through", "via", "to", "in", "into", "as", "by", "on", "for", "at", "from", "under",
    "after", "before", "every", "instead", "not", "without", "and", "or",
];
/// Prepositions before a thing that a value holds for.
const BEFORE_THING: &[&str] = &["for", "of"];
/// Verbs directly before a value: "the repository is private".
const COPULAS: &[&str] = &[
    "is", "are", "be", "was", "were", "stays", "stay", "becomes", "become", "to", "as", "not",
    "now", "it",
];
const ARTICLES: &[&str] =
    &["the", "a", "an", "our", "its", "my", "all", "their", "this", "that", "each", "every"];
/// Verbs besides those of the lexicon, in the form of an order.
const VERBS: &[&str] = &[
    "accept",
    "allow",
    "archive",
    "belong",
    "block",
    "build",
    "cache",
    "call",
    "check",
    "close",
    "collect",
    "come",
    "commit",
    "compress",
    "connect",
    "contain",
    "copy",
    "cost",
    "count",
    "cover",
    "create",
    "default",
    "delete",
    "deploy",
    "drop",
    "encrypt",
    "end",
    "fail",
    "finish",
    "follow",
    "format",
    "generate",
    "give",
    "grow",
    "guard",
    "handle",
    "highlight",
    "hold",
    "include",
    "indent",
    "index",
    "ingest",
    "keep",
    "link",
    "list",
    "load",
    "lock",
    "log",
    "mention",
    "merge",
    "name",
    "notify",
    "open",
    "own",
    "parse",
    "pass",
    "pay",
    "pin",
    "ping",
    "point",
    "poll",
    "print",
    "publish",
    "receive",
    "release",
    "render",
    "replicate",
    "report",
    "request",
    "require",
    "resize",
    "retry",
    "return",
    "review",
    "rotate",
    "sample",
    "save",
    "scan",
    "see",
    "send",
    "serve",
    "shard",
    "ship",
    "show",
    "sign",
    "sit",
    "skip",
    "sleep",
    "squash",
    "store",
    "strip",
    "support",
    "sync",
    "test",
    "time",
    "track",
    "trigger",
    "validate",
    "wait",
    "warn",
    "work",
    "wrap",
];

/// The things that a statement is about.
#[derive(Clone, Debug, Default)]
pub(crate) struct Things {
    /// The words in the names of things, each with the words before it in its name: "premium" of "premium plan".
    heads: Vec<(WordHash, WordSet)>,
    /// The words in the names of things, attributes such as "limit" not counted.
    names: WordSet,
    /// The last word in the name of the subject, if a verb follows.
    subject: Option<WordHash>,
    /// The verb that says what the subject does, if there is one.
    verb: Option<WordHash>,
    /// Whether a number says how much.
    has_number: bool,
    /// All words that say something.
    all: WordSet,
    /// The words of [`OPPOSITES`], each by the place of its list and its own place there.
    opposites: Vec<(u8, u8)>,
}

impl Things {
    pub(crate) fn of(text: &str) -> Things {
        let mut things = Things::default();
        let (mut names, mut all) = (Vec::new(), Vec::new());
        for sentence in text.lines().flat_map(|line| sentences(line.trim())) {
            let tokens = tokens(sentence);
            things.has_number |= tokens.iter().any(is_number);
            all.extend(tokens.iter().flat_map(words_of));
            // "Sessions time out" is about their timeout.
            let mut joined = Stems::default();
            all.extend(
                tokens.windows(2).filter_map(|two| joined.of_joined(&two[0].word, &two[1].word)),
            );
            things.opposites.extend(opposites(&tokens));
            let label = tokens.iter().position(|token| token.ends_label).map_or(0, |at| at + 1);
            // "Decision: …" introduces the statement; "retries for payments: 3" is all of it.
            let parts = [&tokens[label..], &tokens[..]];
            let Some(named) = parts.into_iter().find_map(first_named) else { continue };
            let is_first = things.heads.is_empty();
            for thing in &named.things {
                let is_name = |word: &&WordHash| !is_attribute(**word);
                // Only the first sentence counts: later ones may be about anything.
                names.extend(thing.iter().filter(|_| is_first).filter(is_name));
                for (at, head) in thing.iter().enumerate() {
                    let before: WordSet = thing[..at].iter().copied().collect();
                    things.heads.push((*head, before));
                }
            }
            if is_first {
                (things.subject, things.verb) = (named.subject, named.verb);
            }
        }
        (things.names, things.all) = (names.into(), all.into());
        things
    }

    /// Whether both name a thing by the same word with different words before it, or have different words of a list in
    /// [`OPPOSITES`].
    pub(crate) fn are_siblings(&self, older: &Things) -> bool {
        let differs = |(head, own): &(WordHash, WordSet)| {
            let of = |things: &Things| -> Vec<WordHash> {
                let of_head = things.heads.iter().filter(|(one, _)| one == head);
                of_head.flat_map(|(_, before)| before.iter()).collect()
            };
            let other = of(older);
            !own.is_empty()
                && !other.is_empty()
                && !of(self).iter().any(|word| other.contains(word) || older.all.contains(*word))
                && !other.iter().any(|word| self.all.contains(*word))
        };
        let has = |things: &Things, list: u8, word: u8| things.opposites.contains(&(list, word));
        let is_opposite = |(list, word): &(u8, u8)| {
            let others = older.opposites.iter().filter(|(other, _)| other == list);
            !has(older, *list, *word)
                && others.clone().next().is_some()
                && others.into_iter().all(|(_, other)| !has(self, *list, *other))
        };
        self.heads.iter().any(differs) || self.opposites.iter().any(is_opposite)
    }

    /// Whether the statement names a thing that the older one does not name, or has another verb. Words that both have
    /// prove nothing then.
    pub(crate) fn is_other_thing(&self, older: &Things) -> bool {
        let is_unknown = |word: &WordHash| !older.all.contains(*word);
        let differ = self.names.iter().any(|word| is_unknown(&word))
            && older.names.iter().any(|word| !self.all.contains(word));
        // "Images are resized by nginx now" does not change where they are served from.
        let does_other = self.verb.is_some() && older.verb.is_some() && self.verb != older.verb;
        let is_measured = self.has_number && older.has_number;
        differ || (does_other && !is_measured) || self.subject.as_ref().is_some_and(is_unknown)
    }
}

/// The names of a clause.
struct ClauseThings {
    things: Vec<Vec<WordHash>>,
    subject: Option<WordHash>,
    verb: Option<WordHash>,
}

/// Whether a clause only comments on what was said: "15 was too short", "not Postgres".
fn is_aside(clause: &[Token<'_>]) -> bool {
    let first = clause.first().map_or("", |first| &*first.word);
    is(first, &["not", "no"]) || clause.iter().any(|token| is(&token.word, &["was", "were", "too"]))
}

/// The names of the first clause that has any.
fn first_named(tokens: &[Token<'_>]) -> Option<ClauseThings> {
    let clauses = tokens.split_inclusive(|token| token.ends_clause);
    clauses.filter(|clause| !is_aside(clause)).map(named).find(|named| !named.things.is_empty())
}

fn named(clause: &[Token<'_>]) -> ClauseThings {
    let reports = clause.iter().take(REPORTED_AFTER).position(|token| is(&token.word, REPORTING));
    let clause = &clause[reports.map_or(0, |at| at + 1)..];
    let end =
        clause.iter().position(|token| token.lists.any(Lists::ENDS_CLAUSE) && token.word != "as");
    let clause = &clause[..end.unwrap_or(clause.len())];
    // "US" is a name.
    let is_name = |token: &Token<'_>| {
        token.raw.len() == 2 && token.raw.bytes().all(|b| b.is_ascii_uppercase())
    };
    let before = |token: &Token<'_>| {
        !is_name(token) && (token.lists.any(Lists::BEFORE_ORDER) || is(&token.word, BEFORE))
    };
    let start = clause.iter().position(|token| !before(token)).unwrap_or(clause.len());
    let said = &clause[start..];
    let Some(first) = said.first() else {
        return ClauseThings { things: Vec::new(), subject: None, verb: None };
    };
    let chooses = first.lists.any(Lists::CHOOSE);
    let orders = chooses
        || first
            .lists
            .any(Lists::SET_VALUE.and(Lists::CHANGE_VALUE).and(Lists::REJECT).and(Lists::TASKS))
        || is(&first.word, VERBS);
    let has_article = said.get(1).is_some_and(|next| is(&next.word, ARTICLES));
    let verb = (!(orders && has_article)).then(|| verb(said, orders)).flatten();
    let prepositions =
        |list: &'static [&'static str]| move |token: &Token<'_>| is(&token.word, list);
    let (thing, rest, is_subject) = match verb {
        Some(at) => (&said[..at], &said[at..], true),
        None if chooses => (&said[..0], said, false),
        None => {
            let object = &said[usize::from(orders)..];
            let at = object.iter().position(prepositions(BEFORE_VALUE)).unwrap_or(object.len());
            (&object[..at], &object[at..], false)
        }
    };
    let mut things = phrases(thing);
    let subject = things.first().and_then(|first| first.last()).copied().filter(|_| is_subject);
    let verb = verb.and_then(|at| main_verb(&said[at..]));
    // "use Stripe | for | card payments"
    let mut rest = rest;
    while let Some(at) = rest.iter().position(prepositions(BEFORE_THING)) {
        rest = &rest[at + 1..];
        let end = rest.iter().position(prepositions(BEFORE_VALUE)).unwrap_or(rest.len());
        things.extend(phrases(&rest[..end]));
    }
    ClauseThings { things, subject, verb }
}

/// The verb that says what a subject does; none if the verb only says what the subject is.
fn main_verb(said: &[Token<'_>]) -> Option<WordHash> {
    const AUXILIARIES: &[&str] = &[
        "is", "are", "be", "been", "should", "must", "will", "may", "can", "need", "needs", "now",
        "only", "always", "never", "not", "also", "to", "don't", "doesn't", "do", "does", "no",
        "longer", "get", "gets",
    ];
    const IRREGULAR: &[&str] =
        &["kept", "sent", "written", "run", "built", "made", "held", "read", "cut", "shown"];
    let skipped = said.iter().take_while(|token| is(&token.word, AUXILIARIES)).count();
    let verb = said.get(skipped)?;
    let is_participle = verb.word.ends_with("ed") || is(&verb.word, IRREGULAR);
    let is_verb = skipped == 0 || is_participle || verb.lists.any(Lists::FINITE);
    is_verb.then(|| subject::hash(&stem::stem(&verb.word)))
}

/// The place of the verb of a statement. `orders` is whether its first word may be the verb of an order.
pub(crate) fn verb(said: &[Token<'_>], orders: bool) -> Option<usize> {
    let is_finite = |at: usize| {
        said.get(at).is_some_and(|token| {
            token.lists.any(Lists::FINITE.and(Lists::VERBS).and(Lists::STATING))
        })
    };
    let word = |at: usize| said.get(at).map_or("", |token| &*token.word);
    let is_plural = |at: usize| word(at).ends_with('s') && !word(at).ends_with("ss");
    let is_inflected = |at: usize| {
        let base = word(at).strip_suffix('s').unwrap_or_default();
        let ends_in_y = |base: &str| VERBS.iter().any(|verb| verb.strip_suffix('y') == Some(base));
        is(base, VERBS)
            || base.strip_suffix('e').is_some_and(|base| is(base, VERBS))
            || base.strip_suffix("ie").is_some_and(ends_in_y)
    };
    let is_plain = |at: usize| {
        is(word(at), VERBS)
            && at > 0
            && is_plural(at - 1)
            && !is_finite(at + 1)
            && !is_inflected(at + 1)
    };
    let is_third_person = |at: usize| {
        let follows_order = orders && at == 1;
        let next = (at + 1..said.len())
            .find(|at| !is(word(*at), &["only", "all", "always", "never", "also", "now"]));
        let is_noun = next.is_some_and(|next| is_finite(next) || is(word(next), VERBS));
        is_inflected(at) && !follows_order && !is_noun && !is_plural(at - 1)
    };
    (1..said.len()).find(|at| is_finite(*at) || is_plain(*at) || is_third_person(*at))
}

/// The runs of words that say something, without the words between them.
fn phrases(tokens: &[Token<'_>]) -> Vec<Vec<WordHash>> {
    let mut found: Vec<Vec<WordHash>> = vec![Vec::new()];
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1);
        let words: Vec<WordHash> = match words_of(token) {
            words if !words.is_empty() => words,
            _ if next.is_some() && is(&token.word, ATTRIBUTIVE) => vec![subject::hash(&token.word)],
            words => words,
        };
        if words.is_empty() {
            found.push(Vec::new());
            continue;
        }
        let last = found.last_mut().into_iter();
        // "shard 2", "team B": the label comes first, so that it counts as a word before its thing.
        let is_label = |next: &&Token<'_>| {
            is_number(next)
                || (next.raw.len() == 1 && next.raw.bytes().all(|b| b.is_ascii_uppercase()))
        };
        let label = next.filter(|_| is(&token.word, NUMBERED)).filter(is_label);
        let label = label.map(|next| subject::hash(&next.word));
        last.for_each(|run| run.extend(label.into_iter().chain(words.iter().copied())));
    }
    found.retain(|run| !run.is_empty());
    found
}

/// The stems of a word that says something. Short names in capitals and versions count too: CI, EU, v2.
fn words_of(token: &Token<'_>) -> Vec<WordHash> {
    let (mut stems, mut found) = (Stems::default(), Vec::new());
    if is_number(token) {
        return found;
    }
    for (_, word) in words::words(token.raw) {
        let is_short = word.len() == 2
            && (word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
                || word.as_bytes()[1].is_ascii_digit());
        match is_short {
            true => found.push(subject::hash(&word.to_ascii_lowercase())),
            false => found.extend(stems.telling(word)),
        }
    }
    found
}

fn is_attribute(word: WordHash) -> bool {
    use std::sync::LazyLock;
    static WORDS: LazyLock<WordSet> = LazyLock::new(|| {
        let mut stems = Stems::default();
        ATTRIBUTES.iter().filter_map(|word| stems.telling(word)).collect()
    });
    WORDS.contains(word)
}

/// The words of [`OPPOSITES`], except those that are values: "the repository is private".
fn opposites(tokens: &[Token<'_>]) -> Vec<(u8, u8)> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let mut before = tokens[..at].iter().rev().skip_while(|token| is(&token.word, ARTICLES));
        let follows_copula = before.next().is_some_and(|token| is(&token.word, COPULAS));
        let ends =
            tokens.get(at + 1).is_none_or(|next| words_of(next).is_empty() || token.ends_clause);
        if follows_copula && ends {
            continue;
        }
        for (list, words) in OPPOSITES.iter().enumerate() {
            let has = |forms: &str| forms.split(' ').any(|form| form == token.word);
            let place = words.iter().position(|forms| has(forms));
            let pair =
                place.and_then(|word| Some((u8::try_from(list).ok()?, u8::try_from(word).ok()?)));
            found.extend(pair);
        }
    }
    found
}
