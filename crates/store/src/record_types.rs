//! Checks a type of record that a caller names.

use model::OpError;
use model::observation::{RecordType, unknown_type};

use crate::tx::Rx;

/// `invalid` with the words for all types if no record of this store is of this type.
pub fn check_type(rx: &Rx<'_>, param: &str, kind: RecordType) -> Result<(), OpError> {
    let words = rx.registry().record_types();
    match words.contains(&kind.word()) {
        true => Ok(()),
        false => Err(unknown_type(kind.word(), words.iter().copied()).with("param", param)),
    }
}
