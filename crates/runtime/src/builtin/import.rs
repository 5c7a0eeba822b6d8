//! Imports: stores the events of transcripts that a command has read, lists imports, and undoes one.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use contract::{Access, Cx, Example, Op, OpInfo, Tier};
use model::hook::{Happening, HookEvent};
use model::import::{FileCursor, ImportBatch, ImportCounts, ProjectImport};
use model::origin::Origin;
use model::{OpError, limits, time};
use place::{PlaceSource, PlacesOfCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::import_effects::{self, TimesBefore};
use store::purge::Purged;
use store::{Rx, Tx, imports, projects, session_events, sessions, unfinished};
use text::secrets::{Profile, Redacted, redact};

use crate::capture::{ImportedFrom, Recorder, RecorderSource};

pub(super) struct ImportEvents(pub(super) Arc<dyn RecorderSource>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportEventsParams {
    /// The import that these events belong to; left out, a new one begins.
    #[serde(default)]
    batch: Option<i64>,
    /// The agent whose transcripts were read.
    source: String,
    /// Events in our own form, at most 512, as a JSON list in a text, which is parsed once. All captured text in them is
    /// redacted.
    events: String,
    /// The file whose events these are, as a hash of its path, 32 hex digits.
    #[serde(default)]
    file: Option<String>,
    /// The end of the file, if these are its last events.
    #[serde(default)]
    end: Option<FileEnd>,
    /// How far the files were read whose events these are.
    #[serde(default)]
    cursors: Vec<FileCursor>,
    /// Sessions that will not continue, by the agent's own id.
    #[serde(default)]
    over: Vec<String>,
    /// Whether the file is that of a subagent. Its sessions may continue without it, so they are over only if nothing
    /// happened in them for half an hour.
    #[serde(default)]
    subagent: bool,
    /// Titles of sessions, by the agent's own id. A session without a name is named after its title.
    #[serde(default)]
    titles: BTreeMap<String, String>,
    /// Whether records that the user purged are stored again.
    #[serde(default)]
    forgotten: bool,
    /// Whether to count without storing anything.
    #[serde(default)]
    dry_run: bool,
}

/// How a file ends.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileEnd {
    /// The sessions in it, by the agent's own id.
    sessions: Vec<String>,
    /// Whether its last event is one only because the file ends there.
    unfinished: bool,
}

#[derive(Clone, Serialize, JsonSchema)]
pub(crate) struct ImportEventsOutput {
    /// The import; left out in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<i64>,
    counts: ImportCounts,
    /// The counts by the names of projects.
    projects: BTreeMap<String, ProjectImport>,
    /// How many of the last events were not stored, nor the cursors, because a hook or a search waits; left out if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<usize>,
}

impl Op for ImportEvents {
    const INFO: OpInfo = OpInfo {
        name: "import_events",
        summary: "Store events of transcripts",
        doc: "Used by `rekindle import`, which reads the files. Each event is stored once, whether a hook or an \
              import reports it. All events of a call are stored in one transaction, with the cursors; if a hook or \
              a search waits, only the first ones are stored, and the caller sends the others again.",
        access: Access::Write { destructive: false, idempotent: true },
        tiers: &[Tier::Person],
        toolset: "system",
        large: true,
        examples: &[Example {
            title: "Nothing new",
            before: &[],
            params: r#"{"source":"claude-code","events":"[]","dry_run":true}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = ImportEventsParams;
    type Output = ImportEventsOutput;

    fn run(&self, cx: &Cx<'_>, params: ImportEventsParams) -> Result<ImportEventsOutput, OpError> {
        let work = ImportWork::read(params, cx.now)?;
        let recorder = self.0.recorder()?;
        work.events.iter().for_each(|event| recorder.places.prepare(event));
        if work.is_dry {
            return cx.store.read(|rx| work.try_out(rx, &recorder));
        }
        let output = cx.store.write(move |tx| work.run(tx, &recorder))?;
        cx.store.whole().index_for_searches();
        Ok(output)
    }
}

/// A call of `import_events` whose parameters were checked.
struct ImportWork {
    batch: Option<i64>,
    source: String,
    events: Vec<HookEvent>,
    file: Option<Origin>,
    end: Option<FileEnd>,
    cursors: Vec<(Origin, Origin, FileCursor)>,
    over: Vec<String>,
    /// The sessions are over if they were last active at this time or before.
    over_until: i64,
    titles: BTreeMap<String, Redacted<String>>,
    again: bool,
    is_dry: bool,
    now: i64,
}

impl ImportWork {
    fn read(params: ImportEventsParams, now: i64) -> Result<ImportWork, OpError> {
        let ImportEventsParams { batch, source, events, file, end, cursors, .. } = params;
        let ImportEventsParams { over, subagent, titles, forgotten, dry_run, .. } = params;
        let events: Vec<HookEvent> = serde_json::from_str(&events).map_err(|error| {
            OpError::invalid("events", format!("an event is malformed: {error}"))
        })?;
        let max = limits::IMPORT_EVENTS_MAX;
        if events.len() > max {
            let message = format!("events has {} items; {max} are allowed", events.len());
            return Err(OpError::invalid("events", message).with("max", max));
        }
        if agents::agent(&source).is_none() {
            return Err(OpError::invalid("source", "no agent is known by this name"));
        }
        let checked = |event: HookEvent| -> Result<HookEvent, OpError> {
            event.check()?;
            Ok(HookEvent { at: time::plausible(event.at, now), ..event })
        };
        let cursors = cursors.into_iter().map(|cursor| {
            Ok((hash("cursors", &cursor.file)?, hash("cursors", &cursor.head)?, cursor))
        });
        Ok(ImportWork {
            batch,
            source,
            events: events.into_iter().map(checked).collect::<Result<_, OpError>>()?,
            file: file.map(|file| hash("file", &file)).transpose()?,
            end,
            cursors: cursors.collect::<Result<_, OpError>>()?,
            over,
            over_until: match subagent {
                true => now.saturating_sub(limits::TRANSCRIPT_OVER_MS),
                false => i64::MAX,
            },
            titles: titles.into_iter().map(|(session, title)| (session, as_name(&title))).collect(),
            again: forgotten,
            is_dry: dry_run,
            now,
        })
    }

    fn run(&self, tx: &Tx<'_>, recorder: &Recorder) -> Result<ImportEventsOutput, OpError> {
        let batch = imports::begin(tx, self.batch, self.now, &self.source)?;
        let marks = imports::marks(tx)?;
        let mut counts = ImportCounts::default();
        let mut by_project: BTreeMap<String, ProjectImport> = BTreeMap::new();
        let sessions = self.end.as_ref().map_or(&[][..], |end| &end.sessions);
        let (file, again, unidentified) = (self.file, self.again, &RefCell::default());
        let places = &PlacesOfCall::new(&recorder.places);
        let from = ImportedFrom { batch, places, file, sessions, again, unidentified };
        let mut last = BTreeMap::new();
        let mut spans = SessionSpans::new(tx, batch);
        let mut left = None;
        for (done, event) in self.events.iter().enumerate() {
            let is_enough = done >= limits::IMPORT_EVENTS_BESIDE && tx.is_awaited()
                || done >= limits::IMPORT_EVENTS_IN_USE && tx.is_in_use();
            if is_enough {
                left = Some(self.events.len() - done);
                break;
            }
            spans.note(event)?;
            let imported = recorder.import(tx, event, from)?;
            if imported.added() > 0 {
                last.insert(event.session.as_str(), event);
            }
            counts.add(&imported);
            let project = by_project.entry(project_of(tx, places, event)?).or_default();
            project.count(Some(&event.session), &imported);
        }
        if let (Some(file), Some(end)) = (self.file, &self.end)
            && !end.unfinished
            && counts.excluded == 0
            && left.is_none()
        {
            unfinished::retract(tx, file, &end.sessions, None)?;
        }
        imports::note_created(tx, batch, &marks)?;
        spans.store(&last)?;
        continue_sessions(tx, &last)?;
        let mut files = 0;
        if left.is_none() {
            self.close_sessions(tx, batch)?;
            files = self.cursors.len() as u64;
            // No cursor for a file with excluded events: the settings may change, so the next import reads the file
            // again.
            for (file, head, cursor) in self.cursors.iter().filter(|_| counts.excluded == 0) {
                imports::set_cursor(tx, (*file, *head), cursor)?;
            }
        }
        imports::count(tx, batch, files, counts.added())?;
        session_events::imported(tx, counts.added())?;
        Ok(ImportEventsOutput { batch: Some(batch), counts, projects: by_project, left })
    }

    /// Counts what an import would add, and stores nothing.
    fn try_out(&self, rx: &Rx<'_>, recorder: &Recorder) -> Result<ImportEventsOutput, OpError> {
        let mut counts = ImportCounts::default();
        let mut by_project: BTreeMap<String, ProjectImport> = BTreeMap::new();
        let places = &PlacesOfCall::new(&recorder.places);
        // The projects of sessions that the import would create.
        let mut begun: BTreeMap<&str, String> = BTreeMap::new();
        for event in &self.events {
            let (counted, project) = recorder.try_import(rx, event, places, self.again)?;
            counts.add(&counted);
            if let Some(project) = project {
                begun.entry(&event.session).or_insert(project);
            }
            let name = match (stored_project(rx, event)?, begun.get(event.session.as_str())) {
                (Some(name), _) => name,
                (None, Some(name)) => name.clone(),
                (None, None) => project_of_directory(places, event),
            };
            by_project.entry(name).or_default().count(Some(&event.session), &counted);
        }
        Ok(ImportEventsOutput { batch: None, counts, projects: by_project, left: None })
    }

    /// Ends the sessions that will not continue, unless hooks report about them, and names those that have a title.
    fn close_sessions(&self, tx: &Tx<'_>, batch: i64) -> Result<(), OpError> {
        for name in &self.over {
            if let Some(id) = sessions::id_of(tx, name)?
                && imports::created_session(tx, id)?
            {
                sessions::over(tx, id, self.over_until);
            }
        }
        for (name, title) in &self.titles {
            if let Some(id) = sessions::id_of(tx, name)? {
                imports::entitle(tx, batch, id, title)?;
            }
        }
        Ok(())
    }
}

/// The sessions of a call that are older than their import: their times before, and the first and the last time of their
/// events.
struct SessionSpans<'t, 'tx, 'e> {
    tx: &'t Tx<'tx>,
    batch: i64,
    spans: BTreeMap<&'e str, (Option<TimesBefore>, (i64, i64))>,
}

impl<'t, 'tx, 'e> SessionSpans<'t, 'tx, 'e> {
    fn new(tx: &'t Tx<'tx>, batch: i64) -> SessionSpans<'t, 'tx, 'e> {
        SessionSpans { tx, batch, spans: BTreeMap::new() }
    }

    /// Notes an event that is about to be stored.
    fn note(&mut self, event: &'e HookEvent) -> Result<(), OpError> {
        let name = event.session.as_str();
        if let Some((_, (first, last))) = self.spans.get_mut(name) {
            (*first, *last) = ((*first).min(event.at), (*last).max(event.at));
            return Ok(());
        }
        let before = import_effects::times(self.tx, self.batch, name)?;
        self.spans.insert(name, (before, (event.at, event.at)));
        Ok(())
    }

    /// Stores the noted times of the sessions. `last` has the sessions with a new record.
    fn store(self, last: &BTreeMap<&str, &HookEvent>) -> Result<(), OpError> {
        for (name, (before, span)) in self.spans {
            let Some(before) = before else { continue };
            let has_new = last.contains_key(name);
            import_effects::note_times(self.tx, self.batch, before, span, has_new)?;
        }
        Ok(())
    }
}

/// Reopens sessions that an import ended and whose transcripts went on, and rebuilds existing summaries. `last` has the
/// last new event of each session.
fn continue_sessions(tx: &Tx<'_>, last: &BTreeMap<&str, &HookEvent>) -> Result<(), OpError> {
    for (name, event) in last {
        let Some(id) = sessions::id_of(tx, name)? else { continue };
        sessions::refresh_summary(tx, id)?;
        if imports::created_session(tx, id)? {
            let waits = matches!(event.what, Happening::Answered(_));
            sessions::went_on(tx, id, event.at, waits)?;
        }
    }
    Ok(())
}

/// A title as the name of a session: one line without secrets.
fn as_name(title: &str) -> Redacted<String> {
    redact(title, Profile::Strict).line(limits::SESSION_LABEL_CHARS_MAX)
}

/// The name of the project of an event's session. A session without records is not stored; then it is the name of its
/// directory's project.
fn project_of(rx: &Rx<'_>, places: &dyn PlaceSource, event: &HookEvent) -> Result<String, OpError> {
    Ok(stored_project(rx, event)?.unwrap_or_else(|| project_of_directory(places, event)))
}

/// The name of the project of an event's session, if the session is stored.
fn stored_project(rx: &Rx<'_>, event: &HookEvent) -> Result<Option<String>, OpError> {
    let project = match sessions::project_of(rx, &event.session)? {
        Some(project) => projects::by_id(rx, project)?,
        None => None,
    };
    Ok(project.map(|project| project.name))
}

fn project_of_directory(places: &dyn PlaceSource, event: &HookEvent) -> String {
    places.at(event.cwd.as_ref().map(|cwd| cwd.as_str())).facts.name.clone()
}

pub(super) struct ListImports;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListImportsParams {}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ListImportsOutput {
    /// The newest first.
    imports: Vec<ImportBatch>,
}

impl Op for ListImports {
    const INFO: OpInfo = OpInfo {
        name: "list_imports",
        summary: "List the imports of transcripts",
        doc: "Only imports that added a record. `undo_import` undoes one by its id.",
        tiers: &[Tier::Person, Tier::Client],
        toolset: "system",
        examples: &[Example { title: "All", before: &[], params: "{}" }],
        ..OpInfo::BASE
    };
    type Params = ListImportsParams;
    type Output = ListImportsOutput;

    fn run(&self, cx: &Cx<'_>, _: ListImportsParams) -> Result<ListImportsOutput, OpError> {
        Ok(ListImportsOutput { imports: cx.store.read(imports::list)? })
    }
}

pub(super) struct ImportCursors;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportCursorsParams {
    /// Hashes of paths, 32 hex digits each, at most 5,000.
    files: Vec<String>,
    /// Sessions by the agent's own id, at most 5,000.
    #[serde(default)]
    sessions: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ImportCursorsOutput {
    /// The files that were imported, or a part of them, in the order of the question.
    cursors: Vec<FileCursor>,
    /// Those of the sessions that have a record.
    sessions: Vec<String>,
}

impl Op for ImportCursors {
    const INFO: OpInfo = OpInfo {
        name: "import_cursors",
        summary: "Tell how far files were imported",
        doc: "Used by `rekindle import`, which skips files that have not changed since.",
        tiers: &[Tier::Person],
        toolset: "system",
        large: true,
        examples: &[Example { title: "No file", before: &[], params: r#"{"files":[]}"# }],
        ..OpInfo::BASE
    };
    type Params = ImportCursorsParams;
    type Output = ImportCursorsOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: ImportCursorsParams,
    ) -> Result<ImportCursorsOutput, OpError> {
        let max = limits::IMPORT_CURSORS_MAX;
        for (name, list) in [("files", &params.files), ("sessions", &params.sessions)] {
            if list.len() > max {
                let message = format!("{name} has {} items; {max} are allowed", list.len());
                return Err(OpError::invalid(name, message).with("max", max));
            }
        }
        let files = params.files.iter().map(|text| hash("files", text));
        let files = files.collect::<Result<Vec<Origin>, OpError>>()?;
        cx.store.read(|rx| {
            let found = files.iter().map(|file| imports::cursor(rx, *file));
            let cursors = found.filter_map(Result::transpose).collect::<Result<_, OpError>>()?;
            let mut sessions = Vec::new();
            for name in &params.sessions {
                sessions.extend(sessions::id_of(rx, name)?.map(|_| name.clone()));
            }
            Ok(ImportCursorsOutput { cursors, sessions })
        })
    }
}

fn hash(param: &str, text: &str) -> Result<Origin, OpError> {
    Origin::parse(text).ok_or_else(|| OpError::invalid(param, "a hash is not 32 hex digits"))
}

pub(super) struct UndoImport;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UndoImportParams {
    /// Id of the import, from `list_imports`.
    batch: i64,
    /// Whether to delete; left out, the answer only counts.
    #[serde(default)]
    confirm: bool,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct UndoImportOutput {
    /// Whether the records were deleted.
    undone: bool,
    /// How many records the import added that are still there.
    records: usize,
    /// How many sessions are left without a record.
    sessions: usize,
}

impl Op for UndoImport {
    const INFO: OpInfo = OpInfo {
        name: "undo_import",
        summary: "Delete what an import added",
        doc: "The records of the import are deleted, and sessions without other records. The files can be imported \
              again. Records that a hook reported too are kept.",
        access: Access::Write { destructive: true, idempotent: true },
        tiers: &[Tier::Person],
        toolset: "system",
        examples: &[Example {
            title: "Undo an import",
            before: &[("import_events", r#"{"source":"claude-code","events":"[]"}"#)],
            params: r#"{"batch":1,"confirm":true}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = UndoImportParams;
    type Output = UndoImportOutput;

    fn run(&self, cx: &Cx<'_>, params: UndoImportParams) -> Result<UndoImportOutput, OpError> {
        let UndoImportParams { batch, confirm } = params;
        let known = cx.store.read(|rx| imports::get(rx, batch))?;
        known.ok_or_else(|| imports::unknown(batch))?;
        let output = move |undone: Purged| UndoImportOutput {
            undone: confirm,
            records: undone.records.iter().map(|(_, count)| count).sum(),
            sessions: undone.sessions,
        };
        match confirm {
            true => cx.store.write(move |tx| imports::undo(tx, batch).map(output)),
            false => cx.store.read(|rx| imports::plan_undo(rx, batch)).map(output),
        }
    }
}
