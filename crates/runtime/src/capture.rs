//! Records an agent's event in the store, once, together with what each plugin stores of it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use contract::{Config, EXCLUDED_PROJECTS, Plugin};
use model::hook::{Happening, HookEvent, ToldEntry};
use model::import::ImportCounts;
use model::origin::Origin;
use model::{OpError, limits};
use place::{Capturable, Captured, PlaceSource, Places, listed};
use store::origins::{self, KnownOrigin};
use store::receipts::{self, NewReceipt};
use store::{Rx, Tx, hook_events, import_effects, projects, sessions, unfinished};

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
        if let Some(captured) = self.captured(tx, event, &*self.places)? {
            match (captured.known, captured.origin) {
                (Some(KnownOrigin::Stored(record)), Some(origin)) => {
                    self.reported_too(tx, &captured, (origin, record))?;
                }
                _ => self.observed(tx, &captured)?,
            }
        }
        if let Happening::Told(entries) = &event.what
            && let Some(session) = sessions::id_of(tx, &event.session)?
        {
            keep_receipts(tx, (session, event.at), entries)?;
            self.delivered(tx, &event.session, entries)?;
        }
        Ok(true)
    }

    /// Records an event of a transcript, unless its record is known. A record that the user purged counts as known,
    /// unless `again` is set.
    pub(crate) fn import(
        &self,
        tx: &Tx<'_>,
        event: &HookEvent,
        from: ImportedFrom<'_>,
    ) -> Result<ImportCounts, OpError> {
        let ImportedFrom { batch, again, .. } = from;
        let found = KnownRecord::of(tx, event)?;
        found.reading.apply(tx, event, &found, from)?;
        if let Some(counts) = found.settled(again) {
            if let (Some(line), Some((origin, _))) = (found.line, found.named)
                && counts.known > 0
            {
                origins::add_second(tx, origin, line, batch)?;
            }
            return Ok(counts);
        }
        let line = found.line;
        // The record gets the id of the line, by which the session's own transcript finds it.
        if let (None, Some(line)) = (found.known, line)
            && let Some(record) = Recorder::copied_from(tx, event, from.places)?
        {
            origins::add(tx, line, record, Some(batch))?;
            return Ok(ImportCounts::of_known());
        }
        let Some(mut captured) = self.captured(tx, event, from.places)? else {
            return Ok(ImportCounts::of_excluded());
        };
        if matches!(captured.event.what, Happening::Other) {
            return Ok(ImportCounts::of_excluded());
        }
        captured.batch = Some(batch);
        let before = match from.may_be_stored(tx, event, &captured)? {
            true => origins::stored_before(tx, event, captured.session.id)?,
            false => None,
        };
        let counts = match (before, captured.origin) {
            (Some(record), Some(origin)) => {
                // The record may be that of an import, which found it in a copy of the transcript.
                origins::add(tx, origin, record, origins::batch_of(tx, record)?)?;
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

    /// The record of the event that a fork copied, in a session that a hook captured and no import has read.
    fn copied_from(
        rx: &Rx<'_>,
        event: &HookEvent,
        places: &dyn PlaceSource,
    ) -> Result<Option<i64>, OpError> {
        if !Origin::is_copy(event) {
            return Ok(None);
        }
        let place = places.at(event.cwd.as_ref().map(|cwd| cwd.as_str()));
        match projects::known(rx, &place.facts)? {
            Some(project) => origins::before_copied(rx, event, project.id),
            None => Ok(None),
        }
    }

    /// Returns the counts that [`Recorder::import`] would return for an event, and the name of the project of its
    /// directory if a record would be stored there. Nothing is stored.
    pub(crate) fn try_import(
        &self,
        rx: &Rx<'_>,
        event: &HookEvent,
        places: &dyn PlaceSource,
        again: bool,
    ) -> Result<(ImportCounts, Option<String>), OpError> {
        let found = KnownRecord::of(rx, event)?;
        if let Some(counts) = found.settled(again) {
            return Ok((counts, None));
        }
        if found.known.is_none()
            && found.line.is_some()
            && Recorder::copied_from(rx, event, places)?.is_some()
        {
            return Ok((ImportCounts::of_known(), None));
        }
        let excluded = listed(self.config.text(EXCLUDED_PROJECTS.key));
        let Some(one) = Capturable::of(rx, event, places, &excluded)? else {
            return Ok((ImportCounts::of_excluded(), None));
        };
        let project = Some(one.project);
        if matches!(one.event.what, Happening::Other) {
            return Ok((ImportCounts::of_excluded(), project));
        }
        if let Some(session) = sessions::id_of(rx, &event.session)?
            && origins::stored_before(rx, event, session)?.is_some()
        {
            return Ok((ImportCounts::of_known(), project));
        }
        for plugin in self.plugins.iter() {
            if plugin.leaves_out(&one.event, rx, &self.config)? {
                return Ok((ImportCounts::of_too_old(), project));
            }
        }
        Ok((counts_of(&one.event), project))
    }

    fn captured<'e>(
        &self,
        tx: &Tx<'_>,
        event: &'e HookEvent,
        places: &dyn PlaceSource,
    ) -> Result<Option<Captured<'e>>, OpError> {
        let excluded = listed(self.config.text(EXCLUDED_PROJECTS.key));
        Captured::resolve(tx, event, places, &excluded)
    }

    fn observed(&self, tx: &Tx<'_>, captured: &Captured<'_>) -> Result<(), OpError> {
        let (plugins, config) = (&self.plugins, &*self.config);
        plugins.iter().try_for_each(|plugin| plugin.observe(captured, tx, config))?;
        // After all plugins, because any of them may have stored the record.
        let Some(record) = captured.record() else { return Ok(()) };
        plugins.iter().try_for_each(|plugin| plugin.recorded(captured, record, tx, config))
    }

    /// Keeps a record that an import added for the hook that reports its event now.
    fn reported_too(
        &self,
        tx: &Tx<'_>,
        captured: &Captured<'_>,
        (origin, record): (Origin, i64),
    ) -> Result<(), OpError> {
        if !import_effects::keep_for_hook(tx, origin, record)? {
            return Ok(());
        }
        self.plugins.iter().try_for_each(|plugin| plugin.reported_too(captured, tx))
    }

    /// Stores an event of a transcript and counts its record.
    fn added(&self, tx: &Tx<'_>, captured: &Captured<'_>) -> Result<ImportCounts, OpError> {
        self.observed(tx, captured)?;
        if let Some(origin) = captured.origin
            && !matches!(origins::find(tx, origin)?, Some(KnownOrigin::Stored(_)))
        {
            return Ok(ImportCounts::of_too_old());
        }
        // A record that a hook stored already counts this repeat, so no record was added.
        if captured.origin.is_some() && captured.record().is_none() {
            return Ok(ImportCounts::of_known());
        }
        Ok(counts_of(&captured.event))
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

/// The count of an event whose record is new.
fn counts_of(event: &HookEvent) -> ImportCounts {
    let mut counts = ImportCounts::default();
    match &event.what {
        Happening::Prompted(_) => counts.prompts = 1,
        Happening::Answered(_) => counts.answers = 1,
        Happening::ToolUsed(tool) => {
            counts.actions = 1;
            counts.failures = u64::from(tool.failed);
        }
        _ => {}
    }
    counts
}

/// The record of an event of a transcript, as far as the store knows it. An import and its dry run decide by it.
struct KnownRecord {
    /// The second origin of the record, which copies of its line share.
    line: Option<Origin>,
    /// The origin under which the record is stored, and whether the store knows this origin.
    named: Option<(Origin, Option<KnownOrigin>)>,
    known: Option<KnownOrigin>,
    reading: LaterReading,
}

impl KnownRecord {
    fn of(rx: &Rx<'_>, event: &HookEvent) -> Result<KnownRecord, OpError> {
        let line = Origin::of_line(event);
        let copied = line.map(|line| origins::find(rx, line)).transpose()?.flatten();
        let named = match (copied, Origin::of_event(event)) {
            (None | Some(KnownOrigin::Forgotten), Some(origin)) => {
                Some(origins::look_up(rx, event, origin)?)
            }
            _ => None,
        };
        // A record that was stored again counts, even if one of its origins is still forgotten.
        let either = [copied, named.and_then(|(_, known)| known)];
        let stored = either.into_iter().flatten().find(KnownOrigin::is_stored);
        let known = stored.or_else(|| either.into_iter().flatten().next());
        let mut found = KnownRecord { line, named, known, reading: LaterReading::Same };
        if let (Some(KnownOrigin::Stored(record)), Some(origin)) = (known, found.origin()) {
            found.reading = LaterReading::of(rx, event, (origin, record))?;
        }
        Ok(found)
    }

    fn origin(&self) -> Option<Origin> {
        self.line.or(self.named.map(|(origin, _)| origin))
    }

    /// The count of the event, unless its record is new. A record that the user purged is not new, unless `again` is
    /// set.
    fn settled(&self, again: bool) -> Option<ImportCounts> {
        match self.known {
            Some(KnownOrigin::Stored(_)) if !matches!(self.reading, LaterReading::Other { .. }) => {
                Some(ImportCounts::of_known())
            }
            Some(KnownOrigin::Forgotten) if !again => Some(ImportCounts::of_forgotten()),
            _ => None,
        }
    }
}

/// How an event differs from its record, if an earlier import of the transcript ended with that record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LaterReading {
    /// The record does not change.
    Same,
    /// The record is unchanged, and it is now certain that it stays so.
    Confirmed,
    /// The transcript still ends with this record.
    StillLast,
    /// The event replaces this record.
    Other { record: i64 },
}

impl LaterReading {
    fn of(
        rx: &Rx<'_>,
        event: &HookEvent,
        (origin, record): (Origin, i64),
    ) -> Result<LaterReading, OpError> {
        let text = match &event.what {
            Happening::Prompted(text) => text.as_str(),
            Happening::Answered(answer) => answer.text.as_str(),
            _ => return Ok(LaterReading::Same),
        };
        if !unfinished::is_unfinished(rx, origin)? {
            return Ok(LaterReading::Same);
        }
        let is_end = is_unfinished(event);
        Ok(match unfinished::is_as_read(rx, record, (text, event.at, is_end))? {
            false => LaterReading::Other { record },
            true if is_end => LaterReading::StillLast,
            true => LaterReading::Confirmed,
        })
    }

    /// Removes the record that the event replaces, or notes that its record is confirmed.
    fn apply(
        self,
        tx: &Tx<'_>,
        event: &HookEvent,
        found: &KnownRecord,
        from: ImportedFrom<'_>,
    ) -> Result<(), OpError> {
        let Some(origin) = found.origin() else { return Ok(()) };
        match self {
            LaterReading::Same => Ok(()),
            LaterReading::Confirmed => unfinished::confirm(tx, origin),
            LaterReading::StillLast => ends_with(tx, event, origin, from),
            LaterReading::Other { record } => unfinished::remove(tx, origin, record),
        }
    }
}

/// Where an imported event comes from.
#[derive(Clone, Copy)]
pub(crate) struct ImportedFrom<'a> {
    pub(crate) batch: i64,
    pub(crate) places: &'a dyn PlaceSource,
    /// The hash of the file's path.
    pub(crate) file: Option<Origin>,
    /// The sessions in the file, if these are its last events.
    pub(crate) sessions: &'a [String],
    /// Whether records that the user purged are stored again.
    pub(crate) again: bool,
    /// Whether sessions have records without an origin, as far as this call has looked.
    pub(crate) unidentified: &'a RefCell<HashMap<i64, bool>>,
}

impl ImportedFrom<'_> {
    /// Whether the record of an event may be one without an origin. Hardly any session has such records, and to look for
    /// the text of each event takes longer the more records a session has.
    fn may_be_stored(
        &self,
        tx: &Tx<'_>,
        event: &HookEvent,
        captured: &Captured<'_>,
    ) -> Result<bool, OpError> {
        let has_id = event.transcript.as_ref().is_some_and(|facts| facts.repeat.is_none());
        if !has_id || captured.origin.is_none() {
            self.unidentified.borrow_mut().clear();
            return Ok(true);
        }
        let session = captured.session.id;
        let known = self.unidentified.borrow().get(&session).copied();
        let lacks = match known {
            Some(lacks) => lacks,
            None => !captured.session.new && origins::lacks_any(tx, session)?,
        };
        self.unidentified.borrow_mut().insert(session, lacks);
        Ok(lacks)
    }
}

fn is_unfinished(event: &HookEvent) -> bool {
    event.transcript.as_ref().is_some_and(|facts| facts.unfinished)
}

/// Notes the record with which a file ends now, in place of its former last record.
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
    // A briefing has at most this many lines. Entries beyond that, such as merged ones, get no receipt.
    for entry in entries.iter().take(limits::BRIEFING_LINES_RECOVERY_MAX) {
        let ToldEntry { path, stamp, reason, tokens } = entry;
        let new = NewReceipt { session, at, path, stamp: *stamp, reason, tokens: *tokens };
        receipts::add(tx, &new)?;
    }
    Ok(())
}
