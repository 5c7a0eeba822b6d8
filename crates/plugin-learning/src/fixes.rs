//! Failures that were seen before, and the runs that fixed them.

mod account;
mod find;
mod scheme;
mod seen_before;

use std::sync::Arc;

use contract::{Operation, Scheme};

pub(crate) use seen_before::{candidates, may_have_candidates, recorded};

pub(crate) fn operations() -> Vec<Operation> {
    vec![Operation::new(find::FindFix)]
}

pub(crate) fn schemes() -> Vec<Arc<dyn Scheme>> {
    vec![Arc::new(scheme::FixScheme)]
}
