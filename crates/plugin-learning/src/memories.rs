//! Texts that an agent or a person asks to keep.

use contract::Operation;

pub(crate) fn operations() -> Vec<Operation> {
    Vec::new()
}
