//! Memories: texts that an agent or a person asks to store. A newer one can supersede others, and is then listed before
//! them in every answer.

mod delete;
pub(crate) mod example;
mod found;
mod list;
mod named;
mod retrieve;
mod scheme;
mod store_memory;

use std::sync::Arc;

use contract::{Operation, Scheme};

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(store_memory::StoreMemory),
        Operation::new(retrieve::RetrieveMemories),
        Operation::new(list::ListMemories),
        Operation::new(delete::DeleteMemory),
    ]
}

pub(crate) fn schemes() -> Vec<Arc<dyn Scheme>> {
    vec![Arc::new(scheme::MemoryScheme)]
}
