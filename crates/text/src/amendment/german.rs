//! German sentences that name what they reject.

use super::{Amendment, AmendmentForm};
use crate::clause_parts::stems;
use crate::clauses::{Token, is};
use crate::quantity::quantities;

/// "statt Mapbox nehmen wir MapLibre", "alle 10 Sekunden statt alle 5". The verb may follow, so that only names, which German
/// writes with a capital letter, and numbers count as rejected.
pub(super) fn rejects_in_german(clause: &[Token<'_>]) -> Option<Amendment> {
    let at = clause.iter().position(|token| is(&token.word, &["statt", "anstatt"]))?;
    let behind = &clause[at + 1..];
    let is_named =
        |token: &Token<'_>| token.raw.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
    // "statt der Cloud", "statt alle 5"
    let start = behind.iter().take(2).position(is_named)?;
    let named = behind[start..].iter().take_while(|token| is_named(token)).count();
    let rejected = &behind[start..start + named];
    let mut one = Amendment::new(AmendmentForm::Rejects, stems(rejected));
    one.cited = quantities(rejected);
    one.quantities = quantities(&clause[..at]);
    (!one.anchors.is_empty() || !one.cited.is_empty()).then_some(one)
}
