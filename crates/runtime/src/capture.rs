//! How an agent's event comes into the store: once, with what each plugin keeps of it.

use std::sync::Arc;

use contract::{Config, Plugin};
use model::hook::{Happening, HookEvent, ToldEntry};
use model::{OpError, limits};
use store::receipts::{self, NewReceipt};
use store::{Tx, hook_events, sessions};

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
        if let Happening::Told(entries) = &event.what
            && let Some(session) = sessions::id_of(tx, &event.session)?
        {
            keep_receipts(tx, (session, event.at), entries)?;
        }
    }
    Ok(is_new)
}

/// Stores the receipts of a text that a session got at this time.
pub(crate) fn keep_receipts(
    tx: &Tx<'_>,
    (session, at): (i64, i64),
    entries: &[ToldEntry],
) -> Result<(), OpError> {
    // A text has no more lines.
    for entry in entries.iter().take(limits::BRIEFING_LINES_RECOVERY_MAX) {
        let ToldEntry { path, stamp, reason, tokens } = entry;
        let new = NewReceipt { session, at, path, stamp: *stamp, reason, tokens: *tokens };
        receipts::add(tx, &new)?;
    }
    Ok(())
}
