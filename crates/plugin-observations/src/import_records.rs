//! `import_records`: stores records of an export, a repository or another memory tool, each once.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use contract::{Access, Cx, EXCLUDED_PROJECTS, Example, Op, OpInfo, Tier};
use model::import::{FileCursor, ImportCounts, ProjectImport};
use model::observation::ObsType;
use model::origin::Origin;
use model::portable::{
    PortableMemory, PortableObservation, PortableProject, PortablePrompt, PortableRecord,
    PortableSession,
};
use model::project::{Project, ProjectFacts};
use model::session::SessionState;
use model::{OpError, limits, time};
use place::{NamedSession, listed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::portable::{self, MemoryTexts, Placed, RecordBatch};
use store::retention::Rules;
use store::search::Filter;
use store::{
    Tx, commits, failures, imports, memories, projects, retention, session_events, sessions,
};
use text::secrets::{self, Profile, redact};

use crate::settings::Settings;

pub(crate) struct ImportRecords;

/// The source whose records have the keys and origins of the store that they come from.
const EXPORT: &str = "rekindle";
/// The source whose records are commits, which hooks report too.
const GIT: &str = "git";
/// The times of a record in two programs that saw the same event differ by less than this.
const SAME_EVENT_MS: i64 = 10_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportRecordsParams {
    /// The import that these records belong to; left out, a new one begins.
    #[serde(default)]
    batch: Option<i64>,
    /// The program that the records come from; `rekindle` for an export.
    source: String,
    /// Lines of an export, at most 1,024. The project and the session of each record are among them. Of other sources, the
    /// key of a project is its directory, or a name.
    records: Vec<Value>,
    /// How far the files were read whose records these are.
    #[serde(default)]
    cursors: Vec<FileCursor>,
    /// The origins of all memories that a file has, by the hash of its path. Its other memories are deleted.
    #[serde(default)]
    complete: BTreeMap<String, Vec<String>>,
    /// Whether records that the user purged are stored again.
    #[serde(default)]
    forgotten: bool,
    /// Whether to count without storing anything.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Clone, Serialize, JsonSchema)]
pub(crate) struct ImportRecordsOutput {
    /// The import; left out in a dry run, and if it changed nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<i64>,
    counts: ImportCounts,
    /// The counts by the names of projects.
    projects: BTreeMap<String, ProjectImport>,
}

impl Op for ImportRecords {
    const INFO: OpInfo = OpInfo {
        name: "import_records",
        summary: "Store records of an export, a repository or another memory tool",
        doc: "Used by `rekindle import`, which reads the files. Each record is stored once. All records of a call are stored \
              in one transaction. The rules of `store_memory` apply to memories: one that looks like a secret is counted and \
              not stored.",
        access: Access::Write { destructive: false, idempotent: true },
        tiers: &[Tier::Person],
        toolset: "memory",
        large: true,
        examples: &[Example {
            title: "Nothing new",
            before: &[],
            params: r#"{"source":"rekindle","records":[],"dry_run":true}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = ImportRecordsParams;
    type Output = ImportRecordsOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: ImportRecordsParams,
    ) -> Result<ImportRecordsOutput, OpError> {
        let is_dry = params.dry_run;
        let work = RecordWork::read(cx, params)?;
        match is_dry {
            false => cx.store.write(move |tx| work.run(tx)),
            true => {
                let output = cx.store.try_out(move |tx| work.run(tx))?;
                Ok(ImportRecordsOutput { batch: None, ..output })
            }
        }
    }
}

/// A call of `import_records` whose parameters were checked.
struct RecordWork {
    batch: Option<i64>,
    source: String,
    records: Vec<PortableRecord>,
    /// The facts of the directories that projects are named by.
    facts: HashMap<String, ProjectFacts>,
    cursors: Vec<(Origin, Origin, FileCursor)>,
    complete: Vec<(Origin, Vec<Origin>)>,
    again: bool,
    excluded: Vec<String>,
    retention: Option<Rules>,
    now: i64,
}

impl RecordWork {
    fn read(cx: &Cx<'_>, params: ImportRecordsParams) -> Result<RecordWork, OpError> {
        let max = limits::IMPORT_RECORDS_MAX;
        if params.records.len() > max {
            let message = format!("records has {} items; {max} are allowed", params.records.len());
            return Err(OpError::invalid("records", message).with("max", max));
        }
        let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let source = params.source;
        if source.is_empty()
            || source.len() > limits::HOOK_NAME_BYTES_MAX
            || !source.bytes().all(is_word)
        {
            return Err(OpError::invalid("source", "a source has small letters, digits and `-`"));
        }
        let records = params.records.into_iter().map(record);
        let records = records.collect::<Result<Vec<_>, OpError>>()?;
        let mut facts = HashMap::new();
        for one in records.iter().filter(|_| source != EXPORT) {
            if let PortableRecord::Project(project) = one
                && project.key.starts_with('/')
            {
                let place = cx.caller.place_at(&project.key);
                facts.insert(project.key.clone(), place.facts.clone());
            }
        }
        let cursors = params.cursors.into_iter();
        let cursors = cursors.map(|cursor| Ok((hash(&cursor.file)?, hash(&cursor.head)?, cursor)));
        let complete = params.complete.iter().map(|(file, origins)| {
            let origins = origins.iter().map(|origin| hash(origin));
            Ok((hash(file)?, origins.collect::<Result<_, OpError>>()?))
        });
        Ok(RecordWork {
            batch: params.batch,
            records,
            facts,
            cursors: cursors.collect::<Result<_, OpError>>()?,
            complete: complete.collect::<Result<_, OpError>>()?,
            again: params.forgotten,
            excluded: listed(cx.config.text(EXCLUDED_PROJECTS.key)),
            retention: Settings::of(cx.config).retention,
            now: cx.now,
            source,
        })
    }

    fn run(&self, tx: &Tx<'_>) -> Result<ImportRecordsOutput, OpError> {
        let id = imports::begin(tx, self.batch, self.now, &self.source)?;
        let tolerance_ms = if self.source == EXPORT { 0 } else { SAME_EVENT_MS };
        let batch = RecordBatch { id, again: self.again, tolerance_ms };
        let marks = imports::marks(tx)?;
        let mut placing = Placing::new(tx, self, batch);
        for record in &self.records {
            placing.place(record)?;
        }
        for (file, origins) in &self.complete {
            placing.counts.removed += memories::retain_of_file(tx, *file, origins)?;
        }
        let Placing { counts, by_project, changed, runs, .. } = placing;
        failures::restore(tx, &runs)?;
        imports::note_created(tx, id, &marks)?;
        changed.into_iter().for_each(|session| sessions::summarise_later(tx, session));
        for (file, head, cursor) in self.cursors.iter().filter(|_| counts.excluded == 0) {
            imports::set_cursor(tx, (*file, *head), cursor)?;
        }
        imports::count(tx, id, self.cursors.len() as u64, counts.added())?;
        session_events::imported(tx, counts.added())?;
        let batch = (!imports::discard_empty(tx, id)?).then_some(id);
        Ok(ImportRecordsOutput { batch, counts, projects: by_project })
    }

    /// Whether retention would delete a record at once.
    fn is_expired(&self, tx: &Tx<'_>, kind: ObsType, at: i64) -> Result<bool, OpError> {
        match &self.retention {
            Some(rules) => Ok(!rules.keeps(kind, at, retention::clock(tx)?)),
            None => Ok(false),
        }
    }
}

fn record(value: Value) -> Result<PortableRecord, OpError> {
    let record: PortableRecord = serde_json::from_value(value)
        .map_err(|error| OpError::invalid("records", format!("a record is malformed: {error}")))?;
    record.check()?;
    Ok(record)
}

fn hash(text: &str) -> Result<Origin, OpError> {
    Origin::parse(text).ok_or_else(|| OpError::invalid("cursors", "a hash is not 32 hex digits"))
}

/// A stored session of the call, and whether its summary, or that it has none, is as in the imported line.
#[derive(Clone, Copy)]
struct PlacedSession {
    id: i64,
    project: i64,
    has_summary: bool,
}

/// The records of a call on their way into the store.
struct Placing<'a, 'tx> {
    tx: &'a Tx<'tx>,
    work: &'a RecordWork,
    batch: RecordBatch,
    /// By the key in the line; none for a project in which nothing may be stored.
    projects: HashMap<String, Option<Project>>,
    sessions: HashMap<String, Option<PlacedSession>>,
    counts: ImportCounts,
    by_project: BTreeMap<String, ProjectImport>,
    /// Sessions whose summary has to be rebuilt.
    changed: BTreeSet<i64>,
    /// New records of test runs and builds.
    runs: Vec<i64>,
}

impl<'a, 'tx> Placing<'a, 'tx> {
    fn new(tx: &'a Tx<'tx>, work: &'a RecordWork, batch: RecordBatch) -> Placing<'a, 'tx> {
        Placing {
            tx,
            work,
            batch,
            projects: HashMap::new(),
            sessions: HashMap::new(),
            counts: ImportCounts::default(),
            by_project: BTreeMap::new(),
            changed: BTreeSet::new(),
            runs: Vec::new(),
        }
    }

    fn place(&mut self, record: &PortableRecord) -> Result<(), OpError> {
        match record {
            PortableRecord::Rekindle { .. } => Ok(()),
            PortableRecord::Project(project) => self.project(project),
            PortableRecord::Session(session) => self.session(session),
            PortableRecord::Prompt(prompt) => self.prompt(prompt),
            PortableRecord::Observation(one) => self.observation(one),
            PortableRecord::Memory(memory) => self.memory(memory),
        }
    }

    fn project(&mut self, line: &PortableProject) -> Result<(), OpError> {
        let facts = match self.work.facts.get(&line.key) {
            Some(facts) => facts.clone(),
            None => facts_of(line),
        };
        let (starts, works) = (false, true);
        let named = NamedSession { name: "", agent: "", at: self.work.now, starts, works };
        let refused = named.refused(self.tx, &facts, &self.work.excluded)?.is_some();
        let project = match refused {
            true => None,
            false if self.work.source == EXPORT => Some(projects::restore(self.tx, line)?),
            false => Some(self.local_project(line, &facts)?),
        };
        self.projects.insert(line.key.clone(), project);
        Ok(())
    }

    /// The project of a directory on this machine, or the only project of this name.
    fn local_project(
        &self,
        line: &PortableProject,
        facts: &ProjectFacts,
    ) -> Result<Project, OpError> {
        if !line.key.starts_with('/')
            && let [known] = projects::find(self.tx, &line.key)?.as_slice()
        {
            return Ok(known.clone());
        }
        projects::resolve(self.tx, facts, self.work.now)
    }

    fn session(&mut self, line: &PortableSession) -> Result<(), OpError> {
        let Some(project) = self.projects.get(&line.project).cloned().flatten() else {
            self.sessions.insert(line.id.clone(), None);
            return Ok(());
        };
        let (id, _) = portable::put_session(self.tx, &self.plausible(line), project.id)?;
        let is_own = imports::is_new_session(self.tx, self.batch.id, id)?;
        // A known session may be in another project by now.
        let project = sessions::project_of(self.tx, &line.id)?.unwrap_or(project.id);
        // A session of an export that is active has no summary yet; its next turn writes one.
        let is_active = self.work.source == EXPORT && line.state == SessionState::Active;
        let has_summary = is_own && (line.summary.is_some() || is_active);
        let placed = PlacedSession { id, project, has_summary };
        self.sessions.insert(line.id.clone(), Some(placed));
        Ok(())
    }

    fn plausible(&self, line: &PortableSession) -> PortableSession {
        let now = self.work.now;
        PortableSession {
            started_at: time::plausible(line.started_at, now),
            last_at: time::plausible(line.last_at, now),
            ended_at: line.ended_at.map(|at| time::plausible(at, now)),
            ..line.clone()
        }
    }

    /// The session of a record; none if nothing may be stored in it.
    fn session_of(&self, name: &str) -> Option<PlacedSession> {
        self.sessions.get(name).copied().flatten()
    }

    fn prompt(&mut self, line: &PortablePrompt) -> Result<(), OpError> {
        let Some(session) = self.session_of(&line.session) else { return self.excluded() };
        let line = PortablePrompt { at: time::plausible(line.at, self.work.now), ..line.clone() };
        if !line.pinned && self.work.is_expired(self.tx, ObsType::UserPrompt, line.at)? {
            return self.too_old();
        }
        let of = (session.id, session.project);
        let placed = portable::put_prompt(self.tx, &line, of, self.batch)?;
        let counts = ImportCounts { prompts: 1, ..ImportCounts::default() };
        self.note(session, &line.session, (placed, line.at), counts)
    }

    fn observation(&mut self, line: &PortableObservation) -> Result<(), OpError> {
        let Some(session) = self.session_of(&line.session) else { return self.excluded() };
        let at = time::plausible(line.at, self.work.now);
        let line = PortableObservation { at, ..line.clone() };
        if !line.pinned && self.work.is_expired(self.tx, line.kind, line.at)? {
            return self.too_old();
        }
        if self.is_captured_commit(&line, session.project)? {
            return self.known();
        }
        let of = (session.id, session.project);
        let placed = portable::put_observation(self.tx, &line, of, self.batch)?;
        if let Placed::New(id) = placed
            && line.metadata.as_ref().is_some_and(|metadata| metadata.get("run").is_some())
        {
            self.runs.push(id);
        }
        let counts = match line.kind {
            ObsType::Answer => ImportCounts { answers: 1, ..ImportCounts::default() },
            _ => ImportCounts {
                actions: 1,
                failures: u64::from(line.failed),
                ..ImportCounts::default()
            },
        };
        self.note(session, &line.session, (placed, line.last_at.unwrap_or(line.at)), counts)
    }

    /// Whether a commit from `import git` is stored already. A hook reports only the beginning of its hash.
    fn is_captured_commit(
        &self,
        line: &PortableObservation,
        project: i64,
    ) -> Result<bool, OpError> {
        let hash = line.metadata.as_ref().and_then(|metadata| metadata.get("commit_hash"));
        match hash.and_then(Value::as_str).filter(|_| self.work.source == GIT) {
            Some(hash) => {
                let projects = [project];
                let filter = Filter { projects: Some(&projects), ..Filter::default() };
                Ok(!commits::by_hash(self.tx, hash, &filter)?.is_empty())
            }
            None => Ok(false),
        }
    }

    fn memory(&mut self, line: &PortableMemory) -> Result<(), OpError> {
        let Some(project) = self.projects.get(&line.project).cloned().flatten() else {
            return self.excluded();
        };
        let is_secret = |text: &str| secrets::first(text, Profile::Declared).is_some();
        if is_secret(&line.content) || line.tags.iter().any(|tag| is_secret(tag)) {
            self.counts.secrets += 1;
            return Ok(());
        }
        let texts = MemoryTexts {
            content: redact(line.content.trim(), Profile::Declared),
            tags: line.tags.iter().map(|tag| redact(tag.trim(), Profile::Declared)).collect(),
        };
        let line = PortableMemory { at: time::plausible(line.at, self.work.now), ..line.clone() };
        let placed = portable::put_memory(self.tx, &line, &texts, project.id, self.batch)?;
        let counts = ImportCounts { memories: 1, ..ImportCounts::default() };
        self.count(project.id, None, placed, counts)
    }

    /// Counts a record of a session. A new one extends the session's time span, and its summary has to be rebuilt.
    fn note(
        &mut self,
        session: PlacedSession,
        name: &str,
        (placed, at): (Placed, i64),
        counts: ImportCounts,
    ) -> Result<(), OpError> {
        if matches!(placed, Placed::New(_)) && !session.has_summary {
            sessions::extend(self.tx, session.id, at)?;
            self.changed.insert(session.id);
        }
        self.count(session.project, Some(name), placed, counts)
    }

    fn count(
        &mut self,
        project: i64,
        session: Option<&str>,
        placed: Placed,
        new: ImportCounts,
    ) -> Result<(), OpError> {
        let counts = match placed {
            Placed::New(_) => new,
            Placed::Known => ImportCounts::of_known(),
            Placed::Forgotten => ImportCounts::of_forgotten(),
        };
        let name = projects::by_id(self.tx, project)?.map(|project| project.name);
        let of = self.by_project.entry(name.unwrap_or_default()).or_default();
        of.count(session, &counts);
        self.counts.add(&counts);
        Ok(())
    }

    fn excluded(&mut self) -> Result<(), OpError> {
        self.counts.add(&ImportCounts::of_excluded());
        Ok(())
    }

    fn too_old(&mut self) -> Result<(), OpError> {
        self.counts.add(&ImportCounts::of_too_old());
        Ok(())
    }

    fn known(&mut self) -> Result<(), OpError> {
        self.counts.add(&ImportCounts::of_known());
        Ok(())
    }
}

/// The facts of a project by the line about it. The key is a remote, a path or a name.
fn facts_of(line: &PortableProject) -> ProjectFacts {
    let is_remote = line.key.contains('/') && !line.key.starts_with('/');
    ProjectFacts {
        remote_key: is_remote.then(|| line.key.clone()),
        root: line.root.clone(),
        name: line.name.clone(),
        made: Vec::new(),
    }
}
