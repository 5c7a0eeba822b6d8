//! Checks a type of record that a caller names, and follows records that newer ones supersede.

use model::OpError;
use model::observation::{RecordType, unknown_type};

use crate::tx::Rx;

/// Fails with `invalid` and the names of all types if no aggregate of this store has this type. A known type without
/// any record passes.
pub fn check_type(rx: &Rx<'_>, param: &str, kind: RecordType) -> Result<(), OpError> {
    let words = rx.registry().record_types();
    match words.contains(&kind.word()) {
        true => Ok(()),
        false => Err(unknown_type(kind.word(), words.iter().copied()).with("param", param)),
    }
}

/// The newer record that supersedes this one, if it is of a kind whose records name their successors, such as memories.
/// Replaced talk is recognised by its text instead.
pub fn superseded_by(rx: &Rx<'_>, id: i64) -> Result<Option<i64>, OpError> {
    rx.registry().superseded_by(rx, id)
}

/// Whether agents and users declare records of this type, such as memories.
pub fn is_declared(rx: &Rx<'_>, kind: RecordType) -> bool {
    let declared = rx.registry().records().filter(|records| records.is_declared());
    declared.flat_map(|records| records.kinds()).any(|word| *word == kind.word())
}
