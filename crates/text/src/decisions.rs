//! What kind of statement a text makes: whether it only asks, whether it decides, and whether it changes
//! what was decided. Words of English that say so; other languages say nothing here, and no order depends
//! on them.

use crate::{clauses, words};

const ASKING: &[&str] = &[
    "what", "why", "how", "where", "when", "which", "who", "whose", "is", "are", "was", "were",
    "do", "does", "did", "can", "could", "should", "would", "will", "has", "have", "had",
    "explain", "remind", "tell",
];
const DECIDING: &[&str] = &[
    "decide", "decided", "decision", "agree", "agreed", "choose", "chose", "chosen", "pick",
    "picked", "settle", "settled", "use", "uses", "using", "keep", "keeps", "adopt", "adopted",
    "default", "must", "always", "never", "policy", "rule", "go", "switch", "set", "from", "stays",
];
const CHANGING: &[&str] = &[
    "instead",
    "anymore",
    "replace",
    "replaces",
    "replaced",
    "revert",
    "reverted",
    "reverts",
    "amend",
    "amended",
    "supersedes",
    "superseded",
    "switch",
    "switched",
    "changed",
    "undo",
    "undone",
    "drop",
    "dropped",
    "overrules",
    "withdrawn",
    "abandon",
    "actually",
];
/// Words of [`CHANGING`] that change something only as an order or a proposal: "drop Redis". "Jobs drop after the deploy"
/// reports a problem.
const CHANGING_ORDERS: &[&str] =
    &["replace", "revert", "amend", "switch", "undo", "drop", "dropped", "abandon"];
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
];

/// Whether a text is a question and nothing more: it ends with a question mark, or it is one short sentence
/// that begins like a question.
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
        ASKING.iter().any(|asking| first.eq_ignore_ascii_case(asking)) && !forbids()
    };
    // The ends of most texts decide; their sentences need not be read.
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

/// Verbs that decide as an order or a proposal: "use …", "we keep …", "never log …". "The worker never acks" reports a
/// problem.
const DECIDING_ORDERS: &[&str] = &[
    "decide", "agree", "choose", "pick", "settle", "use", "keep", "adopt", "go", "switch", "set",
    "always", "never", "prefer", "avoid",
];
/// Words that speak of a decision in any form.
const DECIDED: &[&str] = &[
    "decided", "decision", "agreed", "chose", "chosen", "settled", "adopted", "default", "must",
    "policy", "rule", "stays",
];

/// Whether a text may decide something: by its form, as an order, a proposal or a rule.
pub fn decides(text: &str) -> bool {
    let from_now_on = || words::words(text).map(|(_, word)| word.to_lowercase());
    !asks(text)
        && (has_any(text, DECIDED)
            || from_now_on().zip(from_now_on().skip(1)).any(|(a, b)| a == "from" && b == "now")
            || clauses::orders(text, DECIDING_ORDERS))
}

/// Whether a text says that it changes something decided before.
pub fn changes(text: &str) -> bool {
    if asks(text) {
        return false;
    }
    let all: Vec<String> = words::words(text).map(|(_, word)| word.to_lowercase()).collect();
    let pair = |two: &[String]| CHANGING_PAIRS.iter().any(|pair| two == pair);
    let forbids = all.iter().skip_while(|word| *word != "never").any(|word| word == "again");
    let changes = |word: &String| {
        CHANGING.contains(&word.as_str()) && !CHANGING_ORDERS.contains(&word.as_str())
    };
    forbids
        || all.iter().any(changes)
        || all.windows(2).any(pair)
        || clauses::orders(text, CHANGING_ORDERS)
}

/// Whether a text states how something is from now on, which may differ from what was stated before.
pub fn updates(text: &str) -> bool {
    changes(text) || (has_any(text, &["now"]) && !asks(text))
}

/// Words of [`DECIDING`] that also begin tasks and name places, and so settle nothing alone.
const SETTLE_NOTHING: &[&str] = &["go", "from", "switch", "pick", "picked", "must"];

/// Whether a text settles something: it has a word of a decision, or proposes with "let us".
pub fn settles(text: &str) -> bool {
    let settling =
        |word: &str| !SETTLE_NOTHING.iter().any(|nothing| word.eq_ignore_ascii_case(nothing));
    let has = |(_, word): (usize, &str)| {
        settling(word) && DECIDING.iter().any(|wanted| word.eq_ignore_ascii_case(wanted))
    };
    let proposes = || {
        let text = text.trim_start().to_lowercase().replace('’', "'");
        text.starts_with("let us ") || text.starts_with("let's ")
    };
    !asks(text) && (words::words(text).any(has) || proposes())
}

/// Verbs with which "now" tells a state: "the default is 30 now". "Now fix it" is an order.
const STATING: &[&str] = &[
    "is", "are", "uses", "runs", "lives", "has", "have", "takes", "goes", "stays", "needs",
    "expires", "means",
];

/// Whether a sentence says how something is now, and not how it should be.
pub fn states_now(sentence: &str) -> bool {
    let mut all = words::words(sentence).map(|(_, word)| word);
    let begins = all.next().is_some_and(|first| first.eq_ignore_ascii_case("now"));
    !begins && has_any(sentence, &["now"]) && has_any(sentence, STATING) && !asks(sentence)
}

/// Whether a word speaks of deciding or changing, and not of the thing that is decided.
pub(crate) fn is_of_deciding(word: &str) -> bool {
    DECIDING.contains(&word) || CHANGING.contains(&word)
}

fn has_any(text: &str, wanted: &[&str]) -> bool {
    words::words(text)
        .any(|(_, word)| wanted.iter().any(|wanted| word.eq_ignore_ascii_case(wanted)))
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
    fn a_decision_and_its_change_are_told_apart_from_questions() {
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
        assert!(changes("let's drop Redis"));
        assert!(updates("The timeout is 120 seconds now"));
        assert!(!updates("Is the timeout 120 seconds now?"));
    }
}
