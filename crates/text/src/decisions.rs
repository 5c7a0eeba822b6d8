//! What kind of statement a text makes: whether it only asks, whether it decides, and whether it changes
//! what was decided. Words of English that say so; other languages say nothing here, and no order depends
//! on them.

use crate::words;

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
    let sentences = text.split_inclusive(['.', '!', '?', '\n']).filter(|one| one.len() > 2).count();
    let begins = || {
        words::words(text)
            .next()
            .is_some_and(|(_, word)| ASKING.iter().any(|asking| word.eq_ignore_ascii_case(asking)))
    };
    sentences <= 2 && (text.ends_with(['?', '？']) || (sentences <= 1 && begins()))
}

/// Whether a text may decide something.
pub fn decides(text: &str) -> bool {
    has_any(text, DECIDING) && !asks(text)
}

/// Whether a text says that it changes something decided before.
pub fn changes(text: &str) -> bool {
    if asks(text) {
        return false;
    }
    let all: Vec<String> = words::words(text).map(|(_, word)| word.to_lowercase()).collect();
    let pair = |two: &[String]| CHANGING_PAIRS.iter().any(|pair| two == pair);
    let forbids = all.iter().skip_while(|word| *word != "never").any(|word| word == "again");
    forbids || has_any(text, CHANGING) || all.windows(2).any(pair)
}

/// Whether a text states how something is from now on, which may differ from what was stated before.
pub fn updates(text: &str) -> bool {
    changes(text) || (has_any(text, &["now"]) && !asks(text))
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
        assert!(updates("The timeout is 120 seconds now"));
        assert!(!updates("Is the timeout 120 seconds now?"));
    }
}
