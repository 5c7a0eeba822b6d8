//! Classifies statements: whether a text only asks, states a decision, or changes an earlier decision.
//! The word lists are English, with the German words of deciding; texts in other languages match none of them.

use crate::lexicon::Lists;
use crate::{clauses, words};

/// Words that change a decision only together.
const CHANGING_PAIRS: &[[&str; 2]] = &[
    ["no", "longer"],
    ["any", "more"],
    ["after", "all"],
    ["back", "to"],
    ["take", "back"],
    ["from", "now"],
    ["rather", "than"],
    ["our", "mind"],
    ["my", "mind"],
    ["their", "mind"],
    ["no", "more"],
    ["of", "plan"],
    ["of", "plans"],
    ["was", "too"],
    ["were", "too"],
    ["ab", "jetzt"],
    ["ab", "sofort"],
    ["nicht", "mehr"],
    ["doch", "nicht"],
];
/// Words for how often something is done. With one of them after "every", a text states a rule: "release every Friday".
const EVERY: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "day",
    "night",
    "week",
    "weekday",
    "month",
    "morning",
    "evening",
];

/// Whether a text is a question and nothing more: at most two sentences of which the last ends with a
/// question mark, or one sentence that begins like a question.
pub fn asks(text: &str) -> bool {
    let text = text.trim();
    let begins = || {
        let mut said = words::words(text).map(|(_, word)| word);
        let first = said.next().unwrap_or_default();
        // "Do not squash commits" forbids something.
        let mut forbids = || {
            first.eq_ignore_ascii_case("do")
                && said.next().is_some_and(|next| next.eq_ignore_ascii_case("not"))
        };
        Lists::of(first).any(Lists::ASKING) && !forbids()
    };
    // Sentences are counted only if the beginning or the end of the text looks like a question,
    // which is rare.
    let most = match text.ends_with(['?', '？']) {
        true => 2,
        false if begins() => 1,
        false => return false,
    };
    sentences(text) <= most
}

/// The number of sentences. A dot inside a name, as in `config.yaml`, ends none.
fn sentences(text: &str) -> usize {
    let (mut count, mut start) = (0, 0);
    for (at, sign) in text.char_indices() {
        let end = at + sign.len_utf8();
        let goes_on = || text[end..].starts_with(|next: char| !next.is_whitespace());
        let is_end = sign == '\n' || (matches!(sign, '.' | '!' | '?') && !goes_on());
        if is_end || end == text.len() {
            count += usize::from(end - start > 2);
            start = end;
        }
    }
    count
}

/// The lists of a text's words, together.
fn lists(text: &str) -> Lists {
    words::words(text).map(|(_, word)| Lists::of(word)).fold(Lists::default(), Lists::and)
}

/// Whether a text may decide something: by its form, as an order, a proposal or a rule.
pub fn decides(text: &str) -> bool {
    let lists = lists(text);
    let from_now = || pairs(text).any(|(a, b)| is(a, "from") && is(b, "now"));
    let decides = lists.any(Lists::DECIDED)
        || from_now()
        || (lists.any(Lists::DECIDING_ORDERS) && clauses::orders(text, Lists::DECIDING_ORDERS));
    decides && !asks(text)
}

/// Whether a text is an order not to do something.
pub(crate) fn forbids(text: &str) -> bool {
    let mut said = words::words(text).map(|(_, word)| word);
    match said.next() {
        Some(first) if is(first, "don") || is(first, "do") => {
            said.next().is_some_and(|next| is(next, "not") || is(next, "t"))
        }
        Some(first) => is(first, "don't") || is(first, "don’t"),
        None => false,
    }
}

/// Whether a text says that it changes something decided before.
pub fn changes(text: &str) -> bool {
    let (mut forbids, mut may_order) = (false, false);
    // The word before, if a pair begins with it.
    let mut before: Option<&str> = None;
    let mut all = words::words(text).map(|(_, word)| word).peekable();
    let mut says = false;
    while !says && let Some(word) = all.next() {
        let lists = Lists::of(word);
        // "No more than 5" is a bound.
        let is_bound = is(word, "more") && all.peek().is_some_and(|next| is(next, "than"));
        let ends_pair =
            |before| !is_bound && CHANGING_PAIRS.iter().any(|[a, b]| is(before, a) && is(word, b));
        says = lists.any(Lists::CHANGING)
            || before.is_some_and(ends_pair)
            || (forbids && is(word, "again"));
        forbids |= is(word, "never");
        may_order |= lists.any(Lists::CHANGING_ORDERS);
        before = lists.any(Lists::CHANGING_PAIRS).then_some(word);
    }
    (says || (may_order && clauses::orders(text, Lists::CHANGING_ORDERS))) && !asks(text)
}

/// Whether a text states how something is from now on, which may differ from what was stated before.
pub fn updates(text: &str) -> bool {
    changes(text) || (says_now(text) && !asks(text))
}

/// Whether a text settles something: it has a word of a decision, proposes with "let us", or says what is done every
/// Friday.
pub fn settles(text: &str) -> bool {
    let has = |(_, word): (usize, &str)| Lists::of(word).any(Lists::SETTLING);
    let begins = |with: &&str| {
        let said = text.trim_start().as_bytes();
        said.get(..with.len()).is_some_and(|said| said.eq_ignore_ascii_case(with.as_bytes()))
    };
    let proposes = || ["let us ", "let's ", "let’s "].iter().any(begins);
    let recurs = || pairs(text).any(|(a, b)| is(a, "every") && EVERY.iter().any(|one| is(b, one)));
    (words::words(text).any(has) || proposes() || recurs()) && !asks(text)
}

/// Whether a sentence says how something is now, and not how it should be.
pub fn states_now(sentence: &str) -> bool {
    let mut all = words::words(sentence).map(|(_, word)| word);
    let begins = all.next().is_some_and(|first| is(first, "now"));
    !begins && says_now(sentence) && lists(sentence).any(Lists::STATING) && !asks(sentence)
}

fn says_now(text: &str) -> bool {
    words::words(text).any(|(_, word)| is(word, "now"))
}

fn is(word: &str, wanted: &str) -> bool {
    word.eq_ignore_ascii_case(wanted)
}

/// Each word of a text with the next one.
fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let all = || words::words(text).map(|(_, word)| word);
    all().zip(all().skip(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_asks_and_an_order_or_a_statement_does_not() {
        for text in [
            "Why does the login token expire?",
            "remind me how the deploy works",
            "where is the cart stored",
            "ok. and why is it slow?",
        ] {
            assert!(asks(text), "{text}");
        }
        for text in [
            "Fix the login bug",
            "We keep carts in SQLite. It is one file. Is that clear?",
            "carts live in SQLite from now on",
            "",
        ] {
            assert!(!asks(text), "{text}");
        }
    }

    #[test]
    fn decisions_and_changes_are_distinguished_from_questions_and_reports() {
        assert!(decides("We decided to keep the sessions in Postgres"));
        assert!(!changes("We decided to keep the sessions in Postgres"));
        for text in [
            "Sessions move to Redis instead of Postgres",
            "we no longer keep sessions in Postgres",
            "Changed my mind: sessions in Redis",
            "Change of plan: sessions in Redis",
            "Never keep sessions in Postgres again",
            "Actually, keep the sessions in memory",
        ] {
            assert!(changes(text), "{text}");
        }
        assert!(!changes("Should we use Redis instead?"));
        for text in [
            "the worker never acks, jobs drop after deploy",
            "The importer starts, never finishes and drops rows",
            "packets are dropped since the switch was replugged",
            "the page always uses the old price",
        ] {
            assert!(!decides(text) && !changes(text), "{text}");
        }
        for text in [
            "never log the card number",
            "please always sign commits",
            "The queue is full. We never retry on a 4xx, only on a 5xx.",
            "use cents for prices",
            "From now on the worker acks late",
        ] {
            assert!(decides(text), "{text}");
        }
        assert!(changes("no more YAML") && !changes("no more than 5 days per nurse"));
        assert!(changes("let's drop Redis"));
        assert!(updates("The timeout is 120 seconds now"));
        assert!(!updates("Is the timeout 120 seconds now?"));
    }
}
