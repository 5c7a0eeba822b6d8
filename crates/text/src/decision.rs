//! Sentences that state a decision: a rule from now on, or a choice of one thing over another. They are
//! quoted, so this is stricter than [`decisions::decides`](crate::decisions::decides), which only ranks.

use crate::choice::proposes_choice;
use crate::clauses::tokens;
use crate::decision_numbers::announces_change;
use crate::gist::{plain, sentences};
use crate::lexicon::Lists;
use crate::{decisions, words};

/// Phrases that make any sentence a decision.
const DECIDED: Phrases = Phrases::new(&[
    "decided to",
    "we decided",
    "i decided",
    "decision:",
    "decision is",
    "entscheidung:",
    "wir haben entschieden",
    "décision :",
    "décision:",
    "amend:",
    "amendment:",
    "agreed to",
    "agreed that",
    "we agreed on",
    "we've agreed on",
    "we have agreed on",
    "team agreed on",
    "let's decide",
    "lets decide",
    "let us decide",
    "must always",
    "must never",
    "settled on",
    "let's go with",
    "lets go with",
    "we go with",
    "we'll go with",
    "going with",
    "we chose",
    "i chose",
    "from now on",
    "no longer use",
    "as a rule",
    "the rule is that",
    "the rule is to",
    "the rule is:",
    "by convention",
]);

/// Beginnings of sentences that state a rule.
const RULES: &[&str] =
    &["always ", "never ", "please always ", "please never ", "we always ", "we never "];

/// Words that introduce a rule. With one of them, any order states a rule: "Remember: use cents".
const LEADS: &[&str] = &[
    "remember:",
    "please remember:",
    "remember this:",
    "please remember this:",
    "remember that",
    "please remember that",
    "keep in mind:",
    "keep in mind that",
    "rule:",
    "new rule:",
    "important:",
    "for the future:",
];

/// The leads after which a fact is a rule too: "Remember: timestamps are UTC". "Important: the build is red" reports.
const FACT_LEADS: &[&str] = &["remember", "please remember", "keep in mind", "rule", "new rule"];

/// Words before the chosen thing, and words before the rejected one.
const CHOSEN: &[&str] =
    &["use ", "uses ", "keep ", "prefer ", "store ", "put ", "stay with ", "switch to "];
const OVER: Phrases = Phrases::new(&[" instead of ", " rather than ", ", not "]);

/// Beginnings of proposals. A proposal that chooses something for a thing decides: "We'll use Redis for the queue".
const PROPOSALS: &[&str] = &["we'll ", "we will ", "let's ", "lets ", "let us "];

/// Phrases of a sentence that says what no longer holds.
const REJECTS: Phrases = Phrases::new(&[
    "decided against",
    "decided not to",
    "no longer",
    "anymore",
    "any more",
    "stop using",
    "stopped using",
    "get rid of",
]);
/// First words of sentences that comment on the one before.
const COMMENTS: &[&str] = &["it", "its", "that", "this", "these", "they", "there", "because"];

/// Bytes of the longest decision; longer sentences are prose that happens to contain words of deciding.
const CHARS_MAX: usize = 400;

/// The first sentence of a text that states a decision, with the sentences directly after it that also state one or give
/// an instruction: "Never do it again" belongs to the decision. If they reject something and the next sentence states what
/// is used instead, that sentence is included. Questions and code state no decision.
pub fn decision(text: &str) -> Option<&str> {
    let mut all = sentences_of(text).skip_while(|sentence| !states_decision(sentence));
    let first = all.next()?;
    let start = offset(text, first)?;
    let mut end = start + first.len();
    for next in all.take_while(|sentence| states_decision(sentence) || orders(sentence)) {
        // A sentence of another line, or after one that was left out, is a decision of its own.
        match offset(text, next) {
            Some(at)
                if text[end..at].chars().all(|c| c == ' ')
                    && at + next.len() - start <= CHARS_MAX =>
            {
                end = at + next.len();
            }
            _ => break,
        }
    }
    Some(with_new_state(text, &text[start..end]))
}

/// The part `stated` of a text, which states a decision or a change. If it rejects something or says that a decision
/// changes, and the next sentence on its line states what is used instead, the result includes that sentence: "We
/// decided against Redis. The queue uses Postgres."
pub(crate) fn with_new_state<'t>(text: &'t str, stated: &'t str) -> &'t str {
    if !REJECTS.are_in(&stated.to_lowercase()) && !announces_change(&tokens(stated)) {
        return stated;
    }
    let Some(start) = offset(text, stated) else { return stated };
    let behind = text[start + stated.len()..].lines().next().unwrap_or_default();
    let Some(next) = sentences(behind.trim_start()).next() else { return stated };
    let end = start + stated.len() + (behind.len() - behind.trim_start().len()) + next.len();
    match states_new(next) && end - start <= CHARS_MAX {
        true => text[start..end].trim_end(),
        false => stated,
    }
}

/// Whether a sentence after one that rejects something states what is used instead.
fn states_new(sentence: &str) -> bool {
    let mut all = words::words(sentence).map(|(_, word)| word);
    let Some(first) = all.next() else { return false };
    let states = all.any(|word| Lists::of(word).any(Lists::STATING));
    let comments = COMMENTS.iter().any(|word| first.eq_ignore_ascii_case(word));
    !sentence.trim_end().ends_with('?')
        && !Lists::of(first).any(Lists::TASKS)
        && (decisions::decides(sentence)
            || decisions::changes(sentence)
            || states && !comments && !decisions::asks(sentence))
}

/// Where a part of a text begins in it.
fn offset(text: &str, part: &str) -> Option<usize> {
    let at = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    text.get(at..at + part.len())?;
    Some(at)
}

/// The sentences of a text, without code blocks.
pub(crate) fn sentences_of(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines()
        .filter(move |line| {
            let fence =
                line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
            fenced ^= fence;
            !fence && !fenced
        })
        .flat_map(|line| sentences(plain(line.trim())))
}

/// Whether a sentence states a decision in so many words.
pub(crate) fn states_decision(sentence: &str) -> bool {
    if sentence.trim_end().ends_with('?') || sentence.len() > CHARS_MAX {
        return false;
    }
    let mut said = sentence.to_lowercase();
    if said.contains('’') {
        said = said.replace('’', "'");
    }
    let led = LEADS.iter().find_map(|lead| said.strip_prefix(lead)).map(str::trim_start);
    let may_be_fact = || FACT_LEADS.iter().any(|lead| said.starts_with(lead));
    let orders = |rule: &str| decisions::decides(rule) || decisions::forbids(rule);
    if led.is_some_and(|rule| orders(rule) || (may_be_fact() && states_fact(rule))) {
        return true;
    }
    let chooses = || {
        CHOSEN.iter().any(|word| {
            said.match_indices(word).any(|(at, _)| at == 0 || said.as_bytes()[at - 1] == b' ')
        })
    };
    DECIDED.are_in(&said)
        || RULES.iter().any(|rule| said.starts_with(rule))
        || (said.contains("prefer ") && said.contains(" over "))
        || (OVER.are_in(&said) && chooses() && said.split_whitespace().count() > 4)
        || (PROPOSALS.iter().any(|lead| said.starts_with(lead)) && proposes_choice(&said))
}

/// Whether a sentence says what to use: it begins with a word of a choice.
fn orders(sentence: &str) -> bool {
    let said = sentence.trim_start().to_lowercase();
    CHOSEN.iter().any(|word| said.starts_with(word)) && !said.trim_end().ends_with('?')
}

/// Phrases to find in many sentences.
struct Phrases {
    all: &'static [&'static str],
    /// A bit for each pair of bytes that a phrase begins with, by [`Phrases::bit`]: few places of a sentence have
    /// such a pair.
    pairs: [u64; 4],
}

impl Phrases {
    const fn new(all: &'static [&'static str]) -> Phrases {
        let (mut pairs, mut at) = ([0; 4], 0);
        while at < all.len() {
            let bytes = all[at].as_bytes();
            let (word, bit) = Phrases::bit(bytes[0], bytes[1]);
            pairs[word] |= bit;
            at += 1;
        }
        Phrases { all, pairs }
    }

    const fn bit(first: u8, second: u8) -> (usize, u64) {
        let place = first.wrapping_mul(29).wrapping_add(second);
        (place as usize >> 6, 1 << (place & 63))
    }

    /// Whether one of the phrases is in a text.
    fn are_in(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        bytes.windows(2).enumerate().any(|(at, pair)| {
            let (word, bit) = Phrases::bit(pair[0], pair[1]);
            self.pairs[word] & bit != 0
                && self.all.iter().any(|phrase| bytes[at..].starts_with(phrase.as_bytes()))
        })
    }
}

/// Whether a text of one or two sentences says how something is, and neither asks nor sets a task.
pub fn states_fact(text: &str) -> bool {
    let is_task = |sentence: &str| {
        let mut all = words::words(sentence).map(|(_, word)| Lists::of(word));
        all.find(|lists| !lists.any(Lists::BEFORE_ORDER)).is_some_and(|one| one.any(Lists::TASKS))
    };
    const STATING: Lists = Lists::STATING.and(Lists::VERBS);
    let all = || text.lines().flat_map(|line| sentences(line.trim()));
    let states = words::words(text).skip(1).any(|(_, word)| Lists::of(word).any(STATING));
    states && !all().any(|sentence| decisions::asks(sentence) || is_task(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_is_the_sentence_that_states_it() {
        let table = [
            ("Fix the login.", None),
            ("The rule is in, with five tests.", None),
            ("The rule is: one lock per order.", Some("The rule is: one lock per order.")),
            ("Should we use cents instead of floats?", None),
            (
                "Why did it fail? We decided to keep amounts in cents. Go on.",
                Some("We decided to keep amounts in cents."),
            ),
            (
                "Use half-up rounding instead of banker's rounding",
                Some("Use half-up rounding instead of banker's rounding"),
            ),
            ("Never log the card number.", Some("Never log the card number.")),
            ("Entscheidung: Kapitel als ID3", Some("Entscheidung: Kapitel als ID3")),
            ("Amend: also write ID3 chapters.", Some("Amend: also write ID3 chapters.")),
            ("It never worked.", None),
            ("Remember: never log request bodies", Some("Remember: never log request bodies")),
            ("Remember: do not log bodies.", Some("Remember: do not log bodies.")),
            ("Remember: use cents for prices.", Some("Remember: use cents for prices.")),
            ("Remember: the tests never finished.", None),
            ("Do not log bodies in this test.", None),
            ("Remember me after the login", None),
            ("Use the service over HTTP with a token.", None),
            ("We prefer tabs over spaces here.", Some("We prefer tabs over spaces here.")),
            ("```\nalways use x instead of y\n```\nDone.", None),
            (
                "- From now on migrations are run by hand",
                Some("From now on migrations are run by hand"),
            ),
            ("Because of that house, not here", None),
            (
                "We decided: invoices freeze their rate at issue time. Never recompute it on reprint. Go on.",
                Some(
                    "We decided: invoices freeze their rate at issue time. Never recompute it on reprint.",
                ),
            ),
            ("Never log the card.\nNever print it.", Some("Never log the card.")),
            (
                "We decided against Redis after all. The job queue uses Postgres LISTEN/NOTIFY. Go on.",
                Some(
                    "We decided against Redis after all. The job queue uses Postgres LISTEN/NOTIFY.",
                ),
            ),
            ("We decided against Redis. It is slow.", Some("We decided against Redis.")),
            ("We decided against Redis. Fix what is red.", Some("We decided against Redis.")),
            ("We decided against Redis. Is that fine?", Some("We decided against Redis.")),
            ("We decided to use Redis. The queue uses it.", Some("We decided to use Redis.")),
            (
                "We need to amend the broker decision: QoS 1 delivers tasks twice. Use QoS 2 for tasks, keep QoS 1 for acks. Then commit.",
                Some(
                    "We need to amend the broker decision: QoS 1 delivers tasks twice. Use QoS 2 for tasks, keep QoS 1 for acks.",
                ),
            ),
        ];
        for (text, expected) in table {
            assert_eq!(decision(text), expected, "{text:?}");
        }
    }

    #[test]
    fn decisions_are_stated_in_everyday_words() {
        let table = [
            ("Important: the build is red.", None),
            ("Let's decide: one branch per ticket.", Some("Let's decide: one branch per ticket.")),
            ("We agreed on Leaflet for the maps.", Some("We agreed on Leaflet for the maps.")),
            ("We'll use Keycloak for the login.", Some("We'll use Keycloak for the login.")),
            ("We'll use it for the login.", None),
            ("We'll use a helper for this test.", None),
            ("Let's use lz4 for the snapshots. Go.", Some("Let's use lz4 for the snapshots.")),
            ("Let's look for the bug in the login.", None),
            ("Prices must always be cents.", Some("Prices must always be cents.")),
            ("Remember: prices are cents.", Some("Remember: prices are cents.")),
            (
                "Never store timestamps as strings. remember this: timestamps are UTC integers.",
                Some(
                    "Never store timestamps as strings. remember this: timestamps are UTC integers.",
                ),
            ),
        ];
        for (text, expected) in table {
            assert_eq!(decision(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_fact_is_neither_a_question_nor_a_task() {
        for text in ["The staging database has 2 GB of memory.", "Deploys need two approvals."] {
            assert!(states_fact(text), "{text}");
        }
        for text in [
            "How much memory has the staging database?",
            "The import is slow. Find out why.",
            "fix the import, it is slow",
            "the memory of the staging database",
        ] {
            assert!(!states_fact(text), "{text}");
        }
    }
}
