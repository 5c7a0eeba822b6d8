//! Records an agent's event in the store, once, together with what each plugin stores of it.

use std::sync::Arc;

use contract::{Config, EXCLUDED_PROJECTS, Plugin};
use model::hook::{Happening, HookEvent, ToldEntry};
use model::import::ImportCounts;
use model::origin::Origin;
use model::{OpError, limits};
use place::{Captured, Places, listed};
use store::origins::{self, KnownOrigin};
use store::receipts::{self, NewReceipt};
use store::{Tx, hook_events, sessions};

/// The parts needed to record an event. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Recorder {
    pub(crate) plugins: Arc<Vec<Arc<dyn Plugin>>>,
    pub(crate) config: Arc<Config>,
    pub(crate) places: Arc<Places>,
}

/// Makes a [`Recorder`] once the runtime is open.
pub(crate) trait RecorderSource: Send + Sync {
    fn recorder(&self) -> Result<Recorder, OpError>;
}

impl Recorder {
    /// Records the event. Its project and session are resolved here, once, for all plugins. Returns whether it was
    /// new.
    pub(crate) fn record(&self, tx: &Tx<'_>, event: &HookEvent) -> Result<bool, OpError> {
        let is_new = hook_events::record(tx, event.record())?;
        if !is_new {
            return Ok(false);
        }
        if let Some(captured) = self.captured(tx, event)?
            && !matches!(captured.known, Some(KnownOrigin::Stored(_)))
        {
            self.observed(tx, &captured)?;
        }
        if let Happening::Told(entries) = &event.what
            && let Some(session) = sessions::id_of(tx, &event.session)?
        {
            keep_receipts(tx, (session, event.at), entries)?;
            self.delivered(tx, &event.session, entries)?;
        }
        Ok(true)
    }

    /// Records an event of a transcript, unless its record is known. The user's own purge of it counts, unless
    /// `again` is set.
    pub(crate) fn import(
        &self,
        tx: &Tx<'_>,
        event: &HookEvent,
        (batch, again): (i64, bool),
    ) -> Result<ImportCounts, OpError> {
        let known = match Origin::of_event(event) {
            Some(origin) => origins::look_up(tx, event, origin)?.1,
            None => None,
        };
        match known {
            Some(KnownOrigin::Stored(_)) => return Ok(ImportCounts::of_known()),
            Some(KnownOrigin::Forgotten) if !again => return Ok(ImportCounts::of_forgotten()),
            _ => {}
        }
        let Some(mut captured) = self.captured(tx, event)? else {
            return Ok(ImportCounts::of_excluded());
        };
        if matches!(captured.event.what, Happening::Other) {
            return Ok(ImportCounts::of_excluded());
        }
        captured.batch = Some(batch);
        let before = origins::stored_before(tx, event, captured.session.id)?;
        match (before, captured.origin) {
            (Some(record), Some(origin)) => {
                origins::add(tx, origin, record, None)?;
                Ok(ImportCounts::of_known())
            }
            (Some(_), None) => Ok(ImportCounts::of_known()),
            (None, _) => self.added(tx, &captured),
        }
    }

    fn captured<'e>(
        &self,
        tx: &Tx<'_>,
        event: &'e HookEvent,
    ) -> Result<Option<Captured<'e>>, OpError> {
        let excluded = listed(self.config.text(EXCLUDED_PROJECTS.key));
        Captured::resolve(tx, event, &*self.places, &excluded)
    }

    fn observed(&self, tx: &Tx<'_>, captured: &Captured<'_>) -> Result<(), OpError> {
        self.plugins.iter().try_for_each(|plugin| plugin.observe(captured, tx, &self.config))
    }

    /// Stores an event of a transcript and counts its record.
    fn added(&self, tx: &Tx<'_>, captured: &Captured<'_>) -> Result<ImportCounts, OpError> {
        self.observed(tx, captured)?;
        let mut counts = ImportCounts::default();
        if let Some(origin) = captured.origin
            && !matches!(origins::find(tx, origin)?, Some(KnownOrigin::Stored(_)))
        {
            return Ok(ImportCounts::of_too_old());
        }
        match &captured.event.what {
            Happening::Prompted(_) => counts.prompts = 1,
            Happening::Answered(_) => counts.answers = 1,
            Happening::ToolUsed(tool) => {
                counts.actions = 1;
                counts.failures = u64::from(tool.failed);
            }
            _ => {}
        }
        Ok(counts)
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
