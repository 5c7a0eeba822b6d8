//! Records an agent's event in the store, once, together with what each plugin stores of it.

use std::sync::Arc;

use contract::{Config, EXCLUDED_PROJECTS, Plugin};
use model::hook::{Happening, HookEvent, ToldEntry};
use model::{OpError, limits};
use place::{Captured, Places, listed};
use store::receipts::{self, NewReceipt};
use store::{Tx, hook_events, sessions};

/// The parts needed to record an event. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Recorder {
    pub(crate) plugins: Arc<Vec<Arc<dyn Plugin>>>,
    pub(crate) config: Arc<Config>,
    pub(crate) places: Arc<Places>,
}

impl Recorder {
    /// Records the event. Its project and session are resolved here, once, for all plugins. Returns whether it was
    /// new.
    pub(crate) fn record(&self, tx: &Tx<'_>, event: &HookEvent) -> Result<bool, OpError> {
        let is_new = hook_events::record(tx, event.record())?;
        if !is_new {
            return Ok(false);
        }
        let excluded = listed(self.config.text(EXCLUDED_PROJECTS.key));
        if let Some(captured) = Captured::resolve(tx, event, &*self.places, &excluded)? {
            let mut plugins = self.plugins.iter();
            plugins.try_for_each(|plugin| plugin.observe(&captured, tx, &self.config))?;
        }
        if let Happening::Told(entries) = &event.what
            && let Some(session) = sessions::id_of(tx, &event.session)?
        {
            keep_receipts(tx, (session, event.at), entries)?;
            self.delivered(tx, &event.session, entries)?;
        }
        Ok(true)
    }

    /// Tells the plugins which entries a session got.
    pub(crate) fn delivered(
        &self,
        tx: &Tx<'_>,
        session: &str,
        entries: &[ToldEntry],
    ) -> Result<(), OpError> {
        self.plugins.iter().try_for_each(|plugin| plugin.delivered(tx, session, entries))
    }
}

/// Stores the receipts of a text that a session got at this time.
pub(crate) fn keep_receipts(
    tx: &Tx<'_>,
    (session, at): (i64, i64),
    entries: &[ToldEntry],
) -> Result<(), OpError> {
    // A text has at most this many lines.
    for entry in entries.iter().take(limits::BRIEFING_LINES_RECOVERY_MAX) {
        let ToldEntry { path, stamp, reason, tokens } = entry;
        let new = NewReceipt { session, at, path, stamp: *stamp, reason, tokens: *tokens };
        receipts::add(tx, &new)?;
    }
    Ok(())
}
