//! Clusters of experiences, and rules drawn from them.

use contract::Operation;

pub(crate) fn operations() -> Vec<Operation> {
    Vec::new()
}
