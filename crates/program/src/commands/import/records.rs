//! Sends records that are not from transcripts to the daemon: exports, repositories, and the memories of other tools.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use ::import::{MemoryPlaces, MemoryTool, RecordInput, RecordReport};
use model::portable::{PortableProject, PortableRecord};
use model::{OpError, Road as _, limits};
use serde::Deserialize;
use serde_json::{Value, json};

use super::batches::{BATCH_BYTES, SentBatch, known_cursors};
use super::plan::{ImportPlan, UnreadSources};
use super::totals::ImportTotals;
use crate::calls;
use crate::road::CommandRoad;
use crate::world::{self, World};

/// The sources of records among the names that the user gives, and the other names.
pub(super) fn named(
    names: &[String],
    since: Option<i64>,
    unread: &mut UnreadSources,
) -> (Vec<RecordInput>, Vec<String>) {
    let var = |name: &str| world::var(name);
    let home = PathBuf::from(var("HOME").unwrap_or_else(|| "/".to_owned()));
    let (mut records, mut others) = (Vec::new(), Vec::new());
    for name in names {
        if let Some(tool) = MemoryTool::named(name) {
            let found = tool.locations(&var);
            if found.is_empty()
                && let Some(path) = tool.missing(&var)
            {
                unread
                    .unreadable
                    .push((path, "there is no file or folder of this name".to_owned()));
            } else if found.is_empty() {
                unread.absent.push(format!(
                    "no memories of {name} were found on this machine; name the file or folder: `rekindle import PATH`"
                ));
            }
            let home = &home;
            let input = |path| RecordInput::Tool { tool, path, home: home.clone() };
            records.extend(found.into_iter().map(input));
            continue;
        }
        match name.as_str() {
            "git" => match std::env::current_dir() {
                Ok(directory) => {
                    let now = client::clock::now_ms();
                    let since = since.unwrap_or(now - limits::IMPORT_COMMITS_MS);
                    records.push(RecordInput::Git { directory, since });
                }
                Err(error) => unread.unreadable.push((PathBuf::from("git"), error.to_string())),
            },
            "memories" => records.push(RecordInput::MemoryFiles(memory_places(&home))),
            _ => {
                let path = std::path::absolute(name).ok();
                let input = path.and_then(|path| ::import::recognise_records(&path, &home));
                match input {
                    Some(input) => records.push(input),
                    None => others.push(name.clone()),
                }
            }
        }
    }
    (records, others)
}

/// The folders of agents on this machine.
fn memory_places(home: &Path) -> MemoryPlaces {
    let moved =
        |name: &str, usual: &str| world::var(name).map_or_else(|| home.join(usual), PathBuf::from);
    MemoryPlaces {
        roots: Vec::new(),
        home: home.to_owned(),
        claude: moved("CLAUDE_CONFIG_DIR", ".claude"),
        codex: moved("CODEX_HOME", ".codex"),
        gemini: world::var("GEMINI_CLI_HOME")
            .map_or(home.to_owned(), PathBuf::from)
            .join(".gemini"),
    }
}

/// Adds the directories of known projects, and the one of the current directory, to the places of memories.
pub(super) fn find_roots(world: &mut World, inputs: &mut [RecordInput]) -> Result<(), OpError> {
    for input in inputs {
        let RecordInput::MemoryFiles(places) = input else { continue };
        let listed = calls::call(world, "list_projects", json!({}))?;
        let projects = listed["projects"].as_array().into_iter().flatten();
        let roots = projects.filter_map(|project| project["root"].as_str()).map(PathBuf::from);
        let here = std::env::current_dir().ok();
        let here =
            here.and_then(|here| git::Facts::at(&here).map(|facts| facts.root).or(Some(here)));
        let is_project = |root: &PathBuf| root.parent().is_some() && *root != places.home;
        let mut roots: Vec<PathBuf> =
            roots.chain(here).filter(|root| root.is_dir() && is_project(root)).collect();
        roots.sort();
        roots.dedup();
        places.roots = roots;
    }
    Ok(())
}

/// Imports the sources of records of a plan.
pub(super) fn import(
    world: &mut World,
    plan: &ImportPlan,
    totals: &mut ImportTotals,
) -> Result<(), OpError> {
    let mut importer = RecordImporter {
        road: CommandRoad::new(world, !plan.is_dry),
        plan,
        totals,
        lines: KnownLines::default(),
        pending: PendingRecords::default(),
        failed: None,
    };
    for input in &plan.records {
        importer.input(input)?;
    }
    Ok(())
}

/// Sends records to the daemon. Each call has the projects and sessions of its records.
struct RecordImporter<'w> {
    road: CommandRoad<'w>,
    plan: &'w ImportPlan,
    totals: &'w mut ImportTotals,
    lines: KnownLines,
    pending: PendingRecords,
    failed: Option<OpError>,
}

/// Lines of projects and sessions that later lines name.
#[derive(Default)]
struct KnownLines {
    /// By key; none if the filters leave the project out.
    projects: HashMap<String, Option<Value>>,
    /// The line and the key of the project, by the agent's own id.
    sessions: HashMap<String, (Value, String)>,
}

/// Records that were not sent yet.
#[derive(Default)]
struct PendingRecords {
    records: Vec<Value>,
    bytes: usize,
    /// Projects and sessions among them.
    projects: HashSet<String>,
    sessions: HashSet<String>,
}

impl PendingRecords {
    fn push(&mut self, line: Value) {
        self.bytes += line.to_string().len();
        self.records.push(line);
    }

    /// A record may bring the lines of its project and its session with it.
    fn is_full(&self) -> bool {
        self.records.len() + 3 > limits::IMPORT_RECORDS_MAX || self.bytes >= BATCH_BYTES
    }
}

impl RecordImporter<'_> {
    fn input(&mut self, input: &RecordInput) -> Result<(), OpError> {
        if self.is_unchanged(input)? {
            self.totals.unchanged += 1;
            return Ok(());
        }
        self.lines = KnownLines::default();
        let source = input.source();
        let read = input.read(&mut |record| {
            if self.failed.is_none() {
                self.failed = self.record(source, record).err();
            }
        });
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let path = || input.file().map_or_else(|| PathBuf::from(source), PathBuf::from);
        let report = match read {
            Ok(report) => report,
            Err(error) => {
                self.send(source, None)?;
                self.totals.unreadable.push((path(), error.to_string()));
                return Ok(());
            }
        };
        self.send(source, Some(&report))?;
        self.totals.files += 1;
        self.totals.unknown += report.unknown;
        if !report.problems.is_empty() {
            self.totals.record_problems.push((path(), report));
        }
        Ok(())
    }

    /// Whether the file of a source is as it was when it was imported.
    fn is_unchanged(&self, input: &RecordInput) -> Result<bool, OpError> {
        let Some(now) = input.file().and_then(|file| ::import::cursor_of(file).ok()) else {
            return Ok(false);
        };
        let known = known_cursors(&self.road, std::slice::from_ref(&now.file))?;
        Ok(!self.plan.forgotten && known.first() == Some(&now))
    }

    fn record(&mut self, source: &'static str, record: PortableRecord) -> Result<(), OpError> {
        let (session, project, at) = match &record {
            PortableRecord::Rekindle { .. } => return Ok(()),
            PortableRecord::Project(project) => {
                let line = self.wants_project(project).then(|| to_line(&record)).transpose()?;
                self.lines.projects.insert(project.key.clone(), line);
                return Ok(());
            }
            PortableRecord::Session(session) => {
                let of = (to_line(&record)?, session.project.clone());
                self.lines.sessions.insert(session.id.clone(), of);
                // A session of which only the summary is left has no records.
                match session.summary.is_some() {
                    true => (Some(session.id.clone()), None, session.last_at),
                    false => return Ok(()),
                }
            }
            PortableRecord::Prompt(prompt) => (Some(prompt.session.clone()), None, prompt.at),
            PortableRecord::Observation(one) => (Some(one.session.clone()), None, one.at),
            PortableRecord::Memory(memory) => {
                (memory.session.clone(), Some(memory.project.clone()), memory.at)
            }
        };
        if self.plan.since.is_some_and(|since| at <= since) {
            return Ok(());
        }
        if self.pending.is_full() {
            self.send(source, None)?;
        }
        // A memory's session may be left out of the file; its project may not.
        let of_session = session.as_deref().is_some_and(|name| self.with_session(name));
        let has_place = match &project {
            Some(key) => self.with_project(key),
            None => of_session,
        };
        if has_place && !matches!(record, PortableRecord::Session(_)) {
            self.pending.push(to_line(&record)?);
        }
        Ok(())
    }

    /// Adds the line of a session to the call. Returns false if there is none, or the filters leave it out.
    fn with_session(&mut self, name: &str) -> bool {
        if self.pending.sessions.contains(name) {
            return true;
        }
        let Some((line, project)) = self.lines.sessions.get(name).cloned() else { return false };
        if !self.with_project(&project) {
            return false;
        }
        self.pending.push(line);
        self.pending.sessions.insert(name.to_owned());
        true
    }

    fn with_project(&mut self, key: &str) -> bool {
        if self.pending.projects.contains(key) {
            return true;
        }
        let Some(Some(line)) = self.lines.projects.get(key).cloned() else { return false };
        self.pending.push(line);
        self.pending.projects.insert(key.to_owned());
        true
    }

    fn wants_project(&self, project: &PortableProject) -> bool {
        self.plan.projects.as_ref().is_none_or(|filter| filter.wants_project(project))
    }

    /// Sends the records, and at the end of a source its cursor.
    fn send(&mut self, source: &'static str, end: Option<&RecordReport>) -> Result<(), OpError> {
        let PendingRecords { records, .. } = std::mem::take(&mut self.pending);
        let mut params = json!({
            "source": source,
            "records": records,
            "dry_run": self.plan.is_dry,
            "forgotten": self.plan.forgotten,
        });
        if let Some(batch) = self.totals.batch {
            params["batch"] = json!(batch);
        }
        if let Some(report) = end.filter(|_| !self.plan.is_partial()) {
            params["cursors"] = json!(report.cursor.as_slice());
            params["complete"] = json!(report.complete);
        }
        let reply = self.road.call(calls::request("import_records", params))?;
        let sent =
            SentBatch::deserialize(&reply).map_err(|error| OpError::internal(error.to_string()))?;
        self.totals.add(source, sent);
        Ok(())
    }
}

fn to_line(record: &PortableRecord) -> Result<Value, OpError> {
    serde_json::to_value(record).map_err(|error| OpError::internal(error.to_string()))
}
