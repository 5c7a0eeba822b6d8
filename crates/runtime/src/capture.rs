//! How an agent's event comes into the store: once, with what each plugin keeps of it.

use std::sync::Arc;

use contract::{Config, Plugin};
use model::OpError;
use model::hook::HookEvent;
use store::{Tx, hook_events};

/// Records the event and lets the plugins keep what they want of it; says whether it was new.
pub(crate) fn record(
    tx: &Tx<'_>,
    event: &HookEvent,
    plugins: &[Arc<dyn Plugin>],
    config: &Config,
) -> Result<bool, OpError> {
    let is_new = hook_events::record(tx, event.record())?;
    if is_new {
        plugins.iter().try_for_each(|plugin| plugin.observe(event, tx, config))?;
    }
    Ok(is_new)
}
