//! Words before a colon that introduce a statement or a change.

/// Words before a colon that announce a change: "amend: …", "change of plan: …".
const LEADS: &[&str] = &[
    "amend",
    "amendment",
    "correction",
    "change of plan",
    "change of plans",
    "changed my mind",
    "i changed my mind",
    "we changed our mind",
    "new plan",
];

/// Words before a colon that introduce a statement and are no part of it: "add the rule: …".
const STATED_LEADS: &[&str] =
    &["add the rule", "add a rule", "new rule", "rule", "decision", "new decision"];

/// The words that announce a change, and the rest of the sentence.
pub(super) fn lead(sentence: &str) -> (Option<&str>, &str) {
    let Some((lead, said)) = sentence.split_once(':') else { return (None, sentence) };
    let is_in = |list: &[&str]| list.iter().any(|one| one.eq_ignore_ascii_case(lead.trim()));
    match is_in(LEADS) {
        true => (Some(lead), said),
        false if is_in(STATED_LEADS) => (None, said),
        false => (None, sentence),
    }
}
