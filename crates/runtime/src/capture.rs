//! Records an agent's event in the store, once, together with what each plugin stores of it.

use std::sync::Arc;

use contract::{Config, EXCLUDED_PROJECTS, Plugin};
use model::hook::{Happening, HookEvent, ToldEntry};
use model::import::ImportCounts;
use model::origin::Origin;
use model::{OpError, limits};
use place::{Captured, PlaceSource as _, Places, listed};
use store::origins::{self, KnownOrigin};
use store::receipts::{self, NewReceipt};
use store::{Tx, hook_events, projects, sessions, unfinished};

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
        from: ImportedFrom<'_>,
    ) -> Result<ImportCounts, OpError> {
        let ImportedFrom { batch, again, .. } = from;
        let line = Origin::of_line(event);
        let copied = line.map(|line| origins::find(tx, line)).transpose()?.flatten();
        let named = match (copied, Origin::of_event(event)) {
            (None | Some(KnownOrigin::Forgotten), Some(origin)) => {
                Some(origins::look_up(tx, event, origin)?)
            }
            _ => None,
        };
        let origin = line.or(named.map(|(origin, _)| origin));
        // A record that was stored again counts, even if one of its origins is still forgotten.
        let either = [copied, named.and_then(|(_, known)| known)];
        let stored = either.into_iter().flatten().find(KnownOrigin::is_stored);
        let known = stored.or_else(|| either.into_iter().flatten().next());
        let is_replaced = match known {
            Some(KnownOrigin::Stored(record)) => replaces(tx, event, (origin, record), from)?,
            _ => false,
        };
        match known {
            Some(KnownOrigin::Stored(_)) if !is_replaced => {
                if let (Some(line), Some((origin, _))) = (line, named) {
                    origins::add_second(tx, origin, line, batch)?;
                }
                return Ok(ImportCounts::of_known());
            }
            Some(KnownOrigin::Forgotten) if !again => return Ok(ImportCounts::of_forgotten()),
            None if self.is_copy_of_captured(tx, event, batch)? => {
                return Ok(ImportCounts::of_known());
            }
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
        let counts = match (before, captured.origin) {
            (Some(record), Some(origin)) => {
                origins::add(tx, origin, record, None)?;
                ImportCounts::of_known()
            }
            (Some(_), None) => ImportCounts::of_known(),
            (None, _) => self.added(tx, &captured)?,
        };
        if let (Some(line), Some(origin)) = (line, captured.origin) {
            origins::add_second(tx, origin, line, batch)?;
        }
        if let Some(origin) = line.or(captured.origin)
            && is_unfinished(event)
            && counts.added() > 0
        {
            ends_with(tx, event, origin, from)?;
        }
        Ok(counts)
    }

    /// Whether a fork copied this event from a session that a hook captured, and no import has read. Then the record gets
    /// the id of the line, by which the session's own transcript finds it.
    fn is_copy_of_captured(
        &self,
        tx: &Tx<'_>,
        event: &HookEvent,
        batch: i64,
    ) -> Result<bool, OpError> {
        let Some(line) = Origin::of_line(event).filter(|_| Origin::is_copy(event)) else {
            return Ok(false);
        };
        let place = self.places.at(event.cwd.as_ref().map(|cwd| cwd.as_str()));
        let Some(project) = projects::known(tx, &place.facts)? else { return Ok(false) };
        let record = origins::before_copied(tx, event, project.id)?;
        if let Some(record) = record {
            origins::add(tx, line, record, Some(batch))?;
        }
        Ok(record.is_some())
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
        let (plugins, config) = (&self.plugins, &*self.config);
        plugins.iter().try_for_each(|plugin| plugin.observe(captured, tx, config))?;
        // Only now, so that it does not matter which plugin stores the record.
        let Some(record) = captured.record() else { return Ok(()) };
        plugins.iter().try_for_each(|plugin| plugin.recorded(captured, record, tx, config))
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

/// Where an imported event comes from.
#[derive(Clone, Copy)]
pub(crate) struct ImportedFrom<'a> {
    pub(crate) batch: i64,
    /// The hash of the file's path.
    pub(crate) file: Option<Origin>,
    /// The sessions in the file, if these are its last events.
    pub(crate) sessions: &'a [String],
    /// Whether records that the user purged are stored again.
    pub(crate) again: bool,
}

fn is_unfinished(event: &HookEvent) -> bool {
    event.transcript.as_ref().is_some_and(|facts| facts.unfinished)
}

/// Whether an event takes the place of its record, which an earlier reading of the transcript ended with. Then the
/// record is removed.
fn replaces(
    tx: &Tx<'_>,
    event: &HookEvent,
    (origin, record): (Option<Origin>, i64),
    from: ImportedFrom<'_>,
) -> Result<bool, OpError> {
    let Some(origin) = origin else { return Ok(false) };
    if !unfinished::is_unfinished(tx, origin)? {
        return Ok(false);
    }
    let text = match &event.what {
        Happening::Prompted(text) => text.as_str(),
        Happening::Answered(answer) => answer.text.as_str(),
        _ => return Ok(false),
    };
    let is_end = is_unfinished(event);
    if !unfinished::is_as_read(tx, record, (text, event.at, is_end))? {
        unfinished::remove(tx, origin, record)?;
        return Ok(true);
    }
    match is_end {
        true => ends_with(tx, event, origin, from)?,
        false => unfinished::confirm(tx, origin)?,
    }
    Ok(false)
}

/// Notes the record with which a file ends, in place of the one with which it ended before.
fn ends_with(
    tx: &Tx<'_>,
    event: &HookEvent,
    origin: Origin,
    from: ImportedFrom<'_>,
) -> Result<(), OpError> {
    let sessions = match from.sessions {
        [] => std::slice::from_ref(&event.session),
        sessions => sessions,
    };
    if let Some(file) = from.file {
        unfinished::retract(tx, file, sessions, Some(origin))?;
    }
    unfinished::note(tx, from.file, origin)
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
