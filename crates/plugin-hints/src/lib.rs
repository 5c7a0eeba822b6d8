//! Hints: small facts under (component, key), answered from memory and journaled in the store.
//!
//! Read in this order: `gate` (whether a hint applies), `held` (one hint, ranked and explained), [`memory`](self)
//! (all of them), `admit` (the checks before a hint is stored), then an operation such as `set`.

mod admit;
mod bump;
mod choose;
mod delete;
mod env_names;
mod export;
mod flags;
mod gate;
mod get;
mod held;
mod import;
mod list;
mod memory;
mod moment;
mod query;
mod render;
mod scheme;
mod set;
mod settings;
mod show;
mod stats;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use contract::{
    Candidate, Config, ConfigKey, End, Moment, Occasion, OpError, Operation, Plugin, Scheme,
};
use model::event::Published;
use model::wire::EnvNames;
use place::Captured;
use store::{Opened, Store, Tx};

use crate::memory::Memory;

/// When an agent should read and write hints.
const INSTRUCTIONS: &str = "\
Hints are small facts that were learned the hard way, each under a component and a key; each is also the \
resource hint://component/key.\n\
- Before you build, test, run, deploy or configure something, call get_hint with the component \
(the program, crate, service or folder, for example \"http-proxy\") and the key (what you are \
about to do, for example \"build\"). \"not found\" only means that nothing is noted yet: go on.\n\
- When you found out something that the next session would have to find out again (the command \
that works, a flag that is needed, a trap), call set_hint with component, key and value, and say \
why in meta.reason. Set meta.ttl to \"forever\" if it should outlive the daemon. When a hint turned out \
wrong, set it again with the right value. Never put credentials into a hint.";

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
        let memory = || self.memory.clone();
        vec![
            Operation::new(set::SetHint { memory: memory() }),
            Operation::new(get::GetHint { memory: memory() }),
            Operation::new(query::QueryHints { memory: memory() }),
            Operation::new(delete::DeleteHint { memory: memory() }),
            Operation::new(list::ListComponents { memory: memory() }),
            Operation::new(bump::BumpHint { memory: memory() }),
            Operation::new(export::ExportHints { memory: memory() }),
            Operation::new(import::ImportHints { memory: memory() }),
            Operation::new(stats::HintStats { memory: memory() }),
        ]
    }

    fn schemes(&self) -> Vec<Arc<dyn Scheme>> {
        vec![Arc::new(scheme::HintScheme { memory: self.memory.clone() })]
    }

    fn command_groups(&self) -> &'static [(&'static str, &'static str)] {
        &[("hint", "Store and fetch small facts about a component")]
    }

    fn config(&self) -> &'static [ConfigKey] {
        settings::KEYS
    }

    fn instructions(&self) -> &'static str {
        INSTRUCTIONS
    }

    fn opened(&self, tx: &Tx<'_>, how: Opened) -> Result<(), OpError> {
        self.memory.opened(tx, how)
    }

    fn observe(&self, seen: &Captured<'_>, tx: &Tx<'_>, _: &Config) -> Result<(), OpError> {
        if seen.is_imported() {
            return Ok(());
        }
        moment::observe(&self.memory, seen, tx)
    }

    fn may_have_candidates(&self, occasion: &Occasion<'_>, _: &Config) -> bool {
        moment::may_match(&self.memory, occasion)
    }

    fn candidates(&self, moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
        moment::candidates(&self.memory, moment)
    }

    fn listens_to(&self) -> &'static [&'static str] {
        &[store::HINTS_REPAIRED]
    }

    fn on_event(&self, _: &Published, store: &Store, _: &Config) -> Result<(), OpError> {
        self.memory.reload(store)
    }

    fn ended(&self, tx: &Tx<'_>, end: End) -> Result<(), OpError> {
        match end {
            End::Clean => store::hints::clear_session(tx).map(drop),
            End::HandOver => Ok(()),
        }
    }

    fn asks_env(&self) -> Arc<EnvNames> {
        self.memory.read().asked_env()
    }

    fn has_expired(&self, now: i64) -> bool {
        self.memory.has_expired(now)
    }

    fn sweep(&self, tx: &Tx<'_>, now: i64) -> Result<(), OpError> {
        self.memory.sweep(tx, now)
    }

    fn held(&self) -> usize {
        self.memory.session_hints()
    }
}
