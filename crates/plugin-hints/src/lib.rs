//! Hints: small facts under (component, key), answered from memory and journaled in the store.
//!
//! Read in this order: [`memory`](self) (what is held), `set`, `get`, `scheme`.

mod get;
mod memory;
mod scheme;
mod set;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use contract::{End, OpError, Operation, Plugin, Scheme};
use store::{Opened, Tx};

use crate::memory::Memory;

/// The hints plugin.
#[derive(Default)]
pub struct Hints {
    memory: Arc<Memory>,
}

impl Plugin for Hints {
    fn name(&self) -> &'static str {
        "hints"
    }

    fn operations(&self) -> Vec<Operation> {
        vec![
            Operation::new(set::SetHint { memory: self.memory.clone() }),
            Operation::new(get::GetHint { memory: self.memory.clone() }),
        ]
    }

    fn schemes(&self) -> Vec<Arc<dyn Scheme>> {
        vec![Arc::new(scheme::HintScheme { memory: self.memory.clone() })]
    }

    fn command_groups(&self) -> &'static [(&'static str, &'static str)] {
        &[("hint", "Store and fetch small facts about a component")]
    }

    fn opened(&self, tx: &Tx<'_>, how: Opened) -> Result<(), OpError> {
        self.memory.opened(tx, how)
    }

    fn ended(&self, tx: &Tx<'_>, end: End) -> Result<(), OpError> {
        match end {
            End::Clean => store::hints::clear_session(tx).map(drop),
            End::HandOver => Ok(()),
        }
    }

    fn held(&self) -> usize {
        self.memory.session_hints()
    }
}
