//! Decisions that a text names by their number, as in "written down as decision 7" and "decision 7 is amended", and texts
//! that say that they change a decision. English only.

use crate::clauses::{Token, is, tokens};
use crate::decisions;
use crate::lexicon::Lists;
use crate::subject::{self, WordHash, WordSet};

/// Words for something that was decided.
const RULES: &[&str] = &["decision", "rule", "policy", "convention", "adr"];
/// Verbs that change a decision.
const CHANGES: &[&str] = &[
    "change",
    "changes",
    "changed",
    "amend",
    "amends",
    "amended",
    "revise",
    "revises",
    "revised",
    "update",
    "updates",
    "updated",
    "supersede",
    "supersedes",
    "superseded",
    "overturn",
    "overturns",
    "overturned",
    "replace",
    "replaces",
    "replaced",
    "withdraw",
    "withdrawn",
    "revert",
    "reverted",
    "reverse",
    "reversed",
    "drop",
    "dropped",
];
/// Words between such a verb and the decision.
const BETWEEN: &[&str] = &["the", "that", "this", "our", "my"];
/// Words between a decision and the verb that changes it.
const IS: &[&str] = &["is", "was", "has", "been", "gets", "got", "now"];
/// Words before a decision with the number under which it is recorded: "as decision 7", "becomes rule 3".
const RECORDED: &[&str] = &["as", "becomes", "new"];

/// The decisions that a text names by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct DecisionNumbers {
    /// Those that the text records.
    pub(crate) recorded: WordSet,
    /// Those that it changes.
    pub(crate) changed: WordSet,
}

impl DecisionNumbers {
    pub(crate) fn of<'t>(sentences: impl Iterator<Item = &'t str>) -> DecisionNumbers {
        let (mut recorded, mut changed) = (Vec::new(), Vec::new());
        for sentence in sentences.filter(|sentence| may_name(sentence)) {
            if decisions::asks(sentence) {
                continue;
            }
            let tokens = tokens(sentence);
            for (at, number) in named(&tokens) {
                let before = at.checked_sub(1).and_then(|before| tokens.get(before));
                // "Decision 7: positions are f64."
                let defines = at == 0 && tokens.get(at + 1).is_some_and(|next| next.ends_clause);
                if changes(&tokens, at) {
                    changed.push(number);
                } else if defines || before.is_some_and(|one| is(&one.word, RECORDED)) {
                    recorded.push(number);
                }
            }
        }
        DecisionNumbers { recorded: recorded.into(), changed: changed.into() }
    }
}

/// Whether a sentence may name a decision by number. Most do not, and need not be parsed.
fn may_name(sentence: &str) -> bool {
    let has = |rule: &str| {
        sentence
            .as_bytes()
            .windows(rule.len())
            .any(|part| part.eq_ignore_ascii_case(rule.as_bytes()))
    };
    sentence.contains(|c: char| c.is_ascii_digit()) && RULES.iter().copied().any(has)
}

/// The decisions with a number: the index of the word, and the hash of the word with its number.
fn named(tokens: &[Token<'_>]) -> impl Iterator<Item = (usize, WordHash)> {
    tokens.windows(2).enumerate().filter_map(|(at, two)| {
        let number = two[1].word.trim_start_matches(|c: char| !c.is_alphanumeric());
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let named = is(&two[0].word, RULES) && !two[0].ends_clause && is_number;
        named.then(|| (at, subject::hash(&format!("{} {number}", two[0].word))))
    })
}

/// Whether a sentence says that it changes a decision: "change the rule", "we change decision 7", "decision 7 is amended".
/// "Change the rule in eslint.json" is a task.
pub(crate) fn announces_change(tokens: &[Token<'_>]) -> bool {
    let is_rule = |at: &usize| is(&tokens[*at].word, RULES);
    (0..tokens.len()).filter(is_rule).any(|at| changes(tokens, at))
}

/// Whether a sentence changes the decision at this place.
fn changes(tokens: &[Token<'_>], at: usize) -> bool {
    if tokens.iter().any(|token| token.lists.any(Lists::NEGATING)) {
        return false;
    }
    let is_number = |token: &Token<'_>| token.word.bytes().all(|byte| byte.is_ascii_digit());
    let last = at + usize::from(tokens.get(at + 1).is_some_and(is_number));
    let is_whole = tokens[last].ends_clause
        || tokens.get(last + 1).is_none_or(|next| is(&next.word, &["and", "then", "to"]));
    let verb = tokens[..at].iter().rev().find(|token| !is(&token.word, BETWEEN));
    let changes_it = verb.is_some_and(|verb| !verb.ends_clause && is(&verb.word, CHANGES));
    let mut behind = tokens[last + 1..].iter().skip_while(|token| is(&token.word, IS));
    let is_changed = !tokens[last].ends_clause
        && tokens.get(last + 1).is_some_and(|next| is(&next.word, IS))
        && behind.next().is_some_and(|verb| is(&verb.word, CHANGES));
    (changes_it && is_whole) || is_changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_is_recorded_under_its_number_and_changed_by_it() {
        let of = |text: &str| {
            let DecisionNumbers { recorded, changed } = DecisionNumbers::of([text].into_iter());
            (recorded.len(), changed.len())
        };
        for text in [
            "Written down as decision 7.",
            "Decision 7: positions are f64.",
            "It is in docs/decisions.md as ADR 12 now.",
        ] {
            assert_eq!(of(text), (1, 0), "{text}");
        }
        for text in [
            "ok: we change decision 7.",
            "Decision 7 is amended, positions are `DVec3` now.",
            "ADR 12 was superseded.",
            "amend decision #7 and do it",
        ] {
            assert_eq!(of(text), (0, 1), "{text}");
        }
        for text in [
            "See decision 7 for the reason.",
            "Decision 7 still holds.",
            "Do not change decision 7.",
            "Should we change decision 7?",
            "We changed 7 files.",
        ] {
            assert_eq!(of(text), (0, 0), "{text}");
        }
    }

    #[test]
    fn a_sentence_that_changes_a_rule_announces_a_change() {
        for text in
            ["change the rule", "please update the decision and do it", "the rule is changed"]
        {
            assert!(announces_change(&tokens(text)), "{text}");
        }
        for text in [
            "change the rule in eslint.json",
            "the rule is strict",
            "do not change the rule",
            "add the rule",
        ] {
            assert!(!announces_change(&tokens(text)), "{text}");
        }
    }
}
