//! Learning: hypotheses and what became of them, memories, fixes of failures, and values learned from all of these.
//!
//! Each module has its operations and its part of the hooks: `ghaps` (goal, hypothesis, action, prediction, and the
//! outcome), `memories`, `fixes` (failures and the runs that fixed them), `values` (clusters of experiences and the rules
//! drawn from them), `context` (the text about a question).

mod context;
mod fixes;
mod ghaps;
mod memories;
mod values;

use std::sync::Arc;

use contract::{
    Candidate, Config, ConfigKey, Moment, Occasion, OpError, Operation, Plugin, Scheme,
};
use place::Captured;
use store::Tx;

/// The learning plugin.
pub struct Learning;

impl Plugin for Learning {
    fn name(&self) -> &'static str {
        "learning"
    }

    fn operations(&self) -> Vec<Operation> {
        let parts = [
            ghaps::operations(),
            memories::operations(),
            fixes::operations(),
            values::operations(),
            context::operations(),
        ];
        parts.into_iter().flatten().collect()
    }

    fn command_groups(&self) -> &'static [(&'static str, &'static str)] {
        &[("memory", "Store texts that later sessions recall")]
    }

    fn schemes(&self) -> Vec<Arc<dyn Scheme>> {
        memories::schemes()
    }

    fn config(&self) -> &'static [ConfigKey] {
        &[]
    }

    fn observe(&self, _: &Captured<'_>, _: &Tx<'_>, _: &Config) -> Result<(), OpError> {
        Ok(())
    }

    fn may_have_candidates(&self, _: &Occasion<'_>, _: &Config) -> bool {
        false
    }

    fn candidates(&self, _: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
        Ok(Vec::new())
    }
}
