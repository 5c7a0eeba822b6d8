//! Texts about a question, out of values, experiences and memories.

use contract::Operation;

pub(crate) fn operations() -> Vec<Operation> {
    Vec::new()
}
