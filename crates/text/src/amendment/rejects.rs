//! Sentences that reject something, take it up again or give it another name.

use super::german::rejects_in_german;
use super::{Amendment, AmendmentForm, is_bound};
use crate::clause_parts::{phrase, stems, topic_and_value};
use crate::clauses::{Token, is, order, says};
use crate::lexicon::Lists;
use crate::quantity::quantities;

/// Words behind a choice that is taken back: "memcached was a mistake, go back to redis".
const MISTAKES: &[&[&str]] = &[&["was", "a", "mistake"], &["was", "a", "bad", "idea"]];

/// "stop deploying on Fridays", "no longer use moment", "do not squash commits any more", "X instead of Y".
pub(super) fn rejects(clause: &[Token<'_>]) -> Option<Amendment> {
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
    if let Some(one) = rejects_in_german(clause) {
        return Some(one);
    }
    let of = |form: AmendmentForm, rejected: &[Token<'_>]| {
        let names = stems(phrase(rejected));
        (!names.is_empty()).then(|| Amendment::new(form, names))
    };
    if let Some(at) = MISTAKES.iter().find_map(|words| says(clause, words)) {
        return of(AmendmentForm::RejectsChoice, &clause[..at]);
    }
    let order = order(clause);
    let first = order.first()?;
    if first.word == "stop" && order.get(1).is_some_and(|next| next.word.ends_with("ing")) {
        return of(AmendmentForm::Rejects, &order[1..]);
    }
    if first.lists.any(Lists::REJECT) {
        let rejected = phrase(&order[1..]);
        let one = of(AmendmentForm::RejectsChoice, rejected);
        return one.map(|one| Amendment { cited: quantities(rejected), ..one });
    }
    if says(order, &["no", "more"]) == Some(0) && !is_bound(order) {
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

/// Verbs of a change from something to something else.
const MOVED: &[&str] = &[
    "move",
    "moves",
    "moved",
    "migrate",
    "migrates",
    "migrated",
    "switch",
    "switches",
    "switched",
    "change",
    "changes",
    "changed",
    "go",
    "goes",
    "went",
    "convert",
    "converted",
    "raise",
    "raised",
    "lower",
    "lowered",
    "increase",
    "increased",
    "decrease",
    "decreased",
    "reduce",
    "reduced",
    "bump",
    "bumped",
    "extend",
    "extended",
    "cut",
];

/// "we moved the backup from the NAS to S3", "switch from Poetry to uv for the dependencies", "CI goes from Jenkins to
/// GitHub Actions".
pub(super) fn moved(clause: &[Token<'_>]) -> Option<Amendment> {
    let from = says(clause, &["from"])?;
    let behind = &clause[from + 1..];
    let to = behind.iter().position(|token| is(&token.word, &["to", "into"]))?;
    let verb = clause[..from].iter().position(|token| is(&token.word, MOVED))?;
    let ends = |token: &Token<'_>| token.lists.any(Lists::ENDS_CLAUSE) || token.raw.contains('/');
    // "The user that moves from the cart to …" and "tests moved from tests/ to spec/" change no decision.
    let is_open =
        |token: &Token<'_>| is(&token.word, &["that", "which", "who", "can", "could", "when"]);
    if clause.iter().any(|token| is_open(token) || token.lists.any(Lists::NEGATING))
        || behind.iter().any(ends)
    {
        return None;
    }
    let about =
        behind.iter().skip(to).position(|token| is(&token.word, &["for", "of"])).map(|at| to + at);
    let old = &behind[..to];
    let mut names = stems(&clause[..verb]);
    names.extend(stems(&clause[verb + 1..from]));
    names.extend(stems(old));
    names.extend(about.map(|at| stems(phrase(&behind[at + 1..]))).unwrap_or_default());
    let mut one = Amendment::new(AmendmentForm::Rejects, names);
    one.cited = quantities(old);
    one.quantities = quantities(&behind[to..about.unwrap_or(behind.len())]);
    if !one.cited.is_empty() && !one.quantities.is_empty() {
        one.form = AmendmentForm::ChangesValue;
    }
    (!one.anchors.is_empty()).then_some(one)
}

/// "we replaced Sentry with GlitchTip", "Prometheus is replaced by VictoriaMetrics for monitoring".
pub(super) fn replaced(clause: &[Token<'_>]) -> Option<Amendment> {
    let verb = clause.iter().position(|token| is(&token.word, &["replace", "replaced"]))?;
    let behind = &clause[verb + 1..];
    let by = behind.iter().position(|token| is(&token.word, &["by", "with"]))?;
    let old: Vec<Token<'_>> = match by {
        0 => clause[..verb].to_vec(),
        _ => behind[..by].to_vec(),
    };
    let about =
        behind.iter().position(|token| is(&token.word, &["for", "of"])).filter(|at| *at > by);
    let new = &behind[by + 1..about.unwrap_or(behind.len())];
    // "Replace the print in load.py by logging" is a task.
    let is_thing = |token: &Token<'_>| {
        token.raw.contains(['/', '.', '('])
            || is(&token.word, &["in", "the", "a", "an", "that", "this", "it"])
    };
    if new.is_empty() || old.iter().chain(new).any(is_thing) {
        return None;
    }
    let mut names = stems(&old);
    names.extend(about.map(|at| stems(phrase(&behind[at + 1..]))).unwrap_or_default());
    let form = match names.len() {
        0 => return None,
        1 => AmendmentForm::RejectsChoice,
        _ => AmendmentForm::Rejects,
    };
    Some(Amendment::new(form, names))
}

/// "we use tabs again".
pub(super) fn resumes(clause: &[Token<'_>]) -> Option<Amendment> {
    let order = order(clause);
    let chooses = order
        .first()
        .is_some_and(|first| first.lists.any(Lists::CHOOSE) || first.lists.any(Lists::SET_VALUE));
    let again = says(order, &["again"])?;
    let names = stems(&order[1..again]);
    (chooses && !names.is_empty()).then(|| Amendment::new(AmendmentForm::Resumes, names))
}

/// "rename quill-core to quill-engine".
pub(super) fn renames(clause: &[Token<'_>]) -> Option<Amendment> {
    let order = order(clause);
    let called = clause.windows(3).position(|three| {
        is(&three[0].word, &["is", "are"])
            && three[1].word == "now"
            && is(&three[2].word, &["called", "named"])
    });
    let names = match called {
        // "fmt_price is now called format_price"
        Some(at) => stems(&clause[..at]),
        None => {
            let to = order.iter().position(|token| token.word == "to")?;
            if !is(&order[0].word, &["rename", "renamed"]) {
                return None;
            }
            stems(order.get(1..to)?)
        }
    };
    (!names.is_empty()).then(|| Amendment::new(AmendmentForm::Renames, names))
}
