//! Goals with a hypothesis, an action and a prediction, and what became of them.

use contract::Operation;

pub(crate) fn operations() -> Vec<Operation> {
    Vec::new()
}
