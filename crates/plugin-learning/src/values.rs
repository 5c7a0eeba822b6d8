//! Clusters of experiences, and rules drawn from them.
//!
//! Read in this order: `current` (the clusters of a project, with their ids), `verdict` (whether a rule fits its cluster), the
//! operations.

mod clusters;
mod current;
mod delete;
mod list;
mod members;
mod scheme;
mod store_value;
mod told;
mod validate;
mod verdict;
mod wire;

use std::sync::Arc;

use contract::{Operation, Scheme};

pub(crate) use told::candidates;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(clusters::GetClusters),
        Operation::new(members::GetClusterMembers),
        Operation::new(validate::ValidateValue),
        Operation::new(store_value::StoreValue),
        Operation::new(list::ListValues),
        Operation::new(delete::DeleteValue),
    ]
}

pub(crate) fn schemes() -> Vec<Arc<dyn Scheme>> {
    vec![Arc::new(scheme::ValueScheme)]
}
