//! `rekindle import`: reads what agents keep of their sessions, and sends it to the daemon in batches.

mod follow;
mod offer;
mod records;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use ::import::{
    FileReport, RecordInput, RecordReport, SOURCES, Source, Transcript, TranscriptFiles,
};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use contract::TimeBound;
use indicatif::{ProgressBar, ProgressStyle};
use model::hook::HookEvent;
use model::import::{FileCursor, ImportBatch, ImportCounts, ProjectImport};
use model::origin::Origin;
use model::{Code, OpError, Road, limits};
use pattern::glob::Glob;
use serde::Deserialize;
use serde_json::{Value, json};
use text::secrets;

use super::connecting::{ask, yes_arg};
use crate::calls;
use crate::road::CommandRoad;
use crate::world::{self, World};
pub(super) use follow::start as start_following;
pub(super) use offer::offer;

/// Bytes of the events of one call. It has to fit in a line of the socket.
const BATCH_BYTES: usize = 4 * 1024 * 1024;

const LONG: &str = "\
Bring the history that your agents already have on disk: prompts, answers, commands, edits and failures of earlier sessions, \
with their own times and projects. Each record is stored once, so you can import as often as you like, and also what \
hooks captured already. Text goes through the same guard as captured text: secrets are redacted, `<private>` and excluded \
projects are left out.

SOURCE is an agent, a file or a folder; without one, all agents on this machine are imported. `git` imports the commits of \
this repository, `memories` the files in which agents keep what they should remember (CLAUDE.md, AGENTS.md, …), and \
`nmem`, `claude-mem`, `engram`, `basic-memory` and `mcp-memory` what another tool remembers. A file of `rekindle export` \
is read as it is. The files are only read.

`--dry-run` shows what would be added. `--list` shows past imports, `--undo ID` removes what one of them added.";

const EXAMPLES: &str = "\
Examples:
  $ rekindle import --dry-run
  $ rekindle import claude-code
  $ rekindle import ~/backup/projects/-home-me-shop
  $ rekindle import git --since 30d
  $ rekindle import memories
  $ rekindle import --list
  $ rekindle import --undo 3";

pub(super) fn command() -> Command {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    Command::new("import")
        .about("Bring the history that your agents have on disk")
        .long_about(LONG)
        .after_help(EXAMPLES)
        .arg(Arg::new("source").value_name("SOURCE").action(ArgAction::Append).num_args(0..).help(
            "An agent (claude-code, codex, gemini-cli, opencode, cursor, aider), `git`, `memories`, another memory (nmem, claude-mem, engram, basic-memory, mcp-memory), a file or a folder; all agents if omitted",
        ))
        .arg(
            Arg::new("since")
                .long("since")
                .value_name("TIME")
                .help("Only what happened since: a date, `last week`, `30d`"),
        )
        .arg(
            Arg::new("project")
                .long("project")
                .value_name("PROJECT")
                .help("Only sessions in this directory, or in a directory of this name"),
        )
        .arg(
            Arg::new("exclude-project")
                .long("exclude-project")
                .value_name("GLOB")
                .action(ArgAction::Append)
                .help("Leave out sessions in directories that match, such as `/srv/secret/**`"),
        )
        .arg(flag("dry-run", "Count what would be added, and store nothing"))
        .arg(
            flag("follow", "Import what is added from now on, until Ctrl-C")
                .conflicts_with_all(["dry-run", "list", "undo"]),
        )
        .arg(
            Arg::new("every")
                .long("every")
                .value_name("SECONDS")
                .value_parser(value_parser!(u64).range(1..))
                .requires("follow")
                .help("Seconds between two scans with --follow [default: 60]"),
        )
        .arg(flag("forgotten", "Also bring back records that you purged"))
        .arg(flag("list", "List past imports").conflicts_with_all(["source", "undo", "dry-run"]))
        .arg(
            Arg::new("undo")
                .long("undo")
                .value_name("ID")
                .value_parser(value_parser!(i64))
                .conflicts_with_all(["source", "dry-run"])
                .help("Remove what this import added"),
        )
        .arg(yes_arg("Do not ask"))
}

pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    let done = if matches.get_flag("list") {
        list(world)
    } else if let Some(id) = matches.get_one::<i64>("undo") {
        undo(world, *id, matches.get_flag("yes"))
    } else if matches.get_flag("follow") {
        follow::follow(world, matches)
    } else {
        import(world, matches)
    };
    match done {
        Ok(exit) => exit,
        Err(error) => world.out.error(&error),
    }
}

fn list(world: &mut World) -> Result<u8, OpError> {
    #[derive(Deserialize)]
    struct Imports {
        imports: Vec<ImportBatch>,
    }
    let result = calls::call(world, "list_imports", json!({}))?;
    let now = client::clock::now_ms();
    let pretty = move |result: &Value| {
        let Ok(Imports { imports }) = Imports::deserialize(result) else { return String::new() };
        if imports.is_empty() {
            return "Nothing was imported yet. `rekindle import --dry-run` shows what could be."
                .to_owned();
        }
        let line = |one: &ImportBatch| {
            let when = zone::shown_with_age(one.at, now);
            let files = text::counted(one.files, "file");
            let added = text::counted(one.added, "record");
            format!("{:>4}  {when}  {}: {added} from {files}", one.id, one.source)
        };
        imports.iter().map(line).collect::<Vec<_>>().join("\n")
    };
    Ok(world.out.result(&result, Some(&pretty)))
}

fn undo(world: &mut World, id: i64, yes: bool) -> Result<u8, OpError> {
    let planned = calls::call(world, "undo_import", json!({ "batch": id }))?;
    let count = |result: &Value, name: &str| result[name].as_u64().unwrap_or_default();
    let what = format!(
        "{} and {}",
        text::counted(count(&planned, "records"), "record"),
        text::counted(count(&planned, "sessions"), "session")
    );
    let confirmed =
        yes || ask(world, &format!("Remove {what} that import {id} added?"), false) == Some(true);
    if !confirmed {
        let message = format!("import {id} added {what}; nothing was removed");
        return Err(OpError::new(Code::NotReady, message).hint("Use --yes to remove them."));
    }
    let undone = calls::call(world, "undo_import", json!({ "batch": id, "confirm": true }))?;
    let pretty = move |_: &Value| format!("removed {what}; the files can be imported again");
    Ok(world.out.result(&undone, Some(&pretty)))
}

/// The files and filters of an import.
#[derive(Default)]
struct ImportPlan {
    files: Vec<(&'static Source, Transcript)>,
    records: Vec<RecordInput>,
    since: Option<i64>,
    project: Option<String>,
    excluded: Vec<Glob>,
    is_dry: bool,
    forgotten: bool,
    /// The import that is continued.
    batch: Option<i64>,
}

impl ImportPlan {
    fn read(world: &mut World, matches: &ArgMatches) -> Result<ImportPlan, OpError> {
        let since = matches.get_one::<String>("since").map(|text| {
            let bound = serde_json::from_value::<TimeBound>(json!(text));
            bound.map(|bound| bound.after(client::clock::now_ms())).map_err(|_| {
                OpError::invalid("since", format!("'{text}' is no time"))
                    .hint("Use a date such as 2026-11-01, `last week` or `30d`.")
            })
        });
        let texts = |name: &str| -> Vec<String> {
            matches.get_many::<String>(name).into_iter().flatten().cloned().collect()
        };
        let excluded = texts("exclude-project").into_iter().map(|text| {
            Glob::hint(&text)
                .map_err(|error| OpError::invalid("exclude-project", format!("'{text}': {error}")))
        });
        let since = since.transpose()?;
        let (records, named) = records::named(texts("source"), since)?;
        let files = match named.is_empty() && !records.is_empty() {
            true => Vec::new(),
            false => transcripts(&named, &known_roots(world, &named))?,
        };
        Ok(ImportPlan {
            files,
            records,
            since,
            project: matches.get_one::<String>("project").cloned(),
            excluded: excluded.collect::<Result<_, OpError>>()?,
            is_dry: matches.get_flag("dry-run"),
            forgotten: matches.get_flag("forgotten"),
            batch: None,
        })
    }

    /// Whether only a part of each file is wanted. Then the rest has to be found by the next import.
    fn is_partial(&self) -> bool {
        self.since.is_some() || self.project.is_some() || !self.excluded.is_empty()
    }

    fn wants(&self, event: &HookEvent) -> bool {
        let cwd = event.cwd.as_ref().map(|cwd| cwd.as_str()).unwrap_or_default();
        self.since.is_none_or(|since| event.at > since)
            && self.project.as_deref().is_none_or(|project| is_in(cwd, project))
            && !self.excluded.iter().any(|glob| glob.matches(cwd))
    }
}

/// Whether a directory is, or is below, the one that a user names by its path or its name.
fn is_in(cwd: &str, project: &str) -> bool {
    match Path::new(project).is_absolute() {
        true => Path::new(cwd).starts_with(project),
        false => Path::new(cwd).iter().any(|part| part == project),
    }
}

/// The directories of known projects, in which aider keeps its histories.
fn known_roots(world: &mut World, named: &[String]) -> Vec<PathBuf> {
    if !named.is_empty() && !named.iter().any(|name| name == "aider") {
        return Vec::new();
    }
    roots_in(&calls::call(world, "list_projects", json!({})).unwrap_or_default())
}

/// The directories in the answer of `list_projects`.
fn roots_in(listed: &Value) -> Vec<PathBuf> {
    let projects = listed["projects"].as_array().into_iter().flatten();
    projects.filter_map(|project| project["root"].as_str().map(PathBuf::from)).collect()
}

/// The transcripts of an agent on this machine.
fn of_agent(source: &'static Source, roots: &[PathBuf]) -> Vec<(&'static Source, Transcript)> {
    let found = source.transcripts(&|name: &str| world::var(name));
    let in_projects = source.transcripts_in(roots);
    found.into_iter().chain(in_projects).map(|file| (source, file)).collect()
}

/// The files that the user names, or those of all agents on this machine. `roots` are directories of known projects.
fn transcripts(
    named: &[String],
    roots: &[PathBuf],
) -> Result<Vec<(&'static Source, Transcript)>, OpError> {
    let of = |source: &'static Source, found: Vec<Transcript>| {
        found.into_iter().map(move |file| (source, file))
    };
    if named.is_empty() {
        return Ok(SOURCES.iter().flat_map(|source| of_agent(source, roots)).collect());
    }
    let mut found = Vec::new();
    for name in named {
        if let Some(source) = ::import::named(name) {
            found.extend(of_agent(source, roots));
            continue;
        }
        let path = PathBuf::from(name);
        let unread = |why: &str| {
            let known: Vec<&str> = SOURCES.iter().map(|source| source.name).collect();
            OpError::invalid("source", format!("{name}: {why}")).hint(format!(
                "Name an agent ({}), a transcript or a folder with transcripts.",
                known.join(", ")
            ))
        };
        let path = std::path::absolute(&path).map_err(|_| unread("not a path"))?;
        match std::fs::metadata(&path) {
            Ok(meta) if meta.is_dir() => {
                let below = ::import::recognise_below(&path);
                if below.is_empty() {
                    return Err(unread("no transcript is in this folder"));
                }
                found.extend(below.into_iter().flat_map(|(source, files)| of(source, files)));
            }
            Ok(_) => {
                let (source, files) = ::import::recognise(&path)
                    .ok_or_else(|| unread("not a transcript of a known agent"))?;
                found.extend(of(source, files));
            }
            Err(error) => return Err(unread(&error.to_string())),
        }
    }
    Ok(found)
}

/// The result of an import, for the report.
#[derive(Default)]
struct ImportTotals {
    batch: Option<i64>,
    counts: ImportCounts,
    /// By the names of the agent and of the project.
    projects: BTreeMap<(&'static str, String), ProjectImport>,
    sessions: BTreeSet<String>,
    /// Events with redacted text, by the rule that applied.
    redacted: BTreeMap<String, u64>,
    files: u64,
    unchanged: u64,
    unknown: u64,
    unreadable: Vec<(PathBuf, String)>,
    problems: Vec<(PathBuf, FileReport)>,
    record_problems: Vec<(PathBuf, RecordReport)>,
}

fn import(world: &mut World, matches: &ArgMatches) -> Result<u8, OpError> {
    let mut plan = ImportPlan::read(world, matches)?;
    records::find_roots(world, &mut plan.records)?;
    if plan.files.is_empty() && plan.records.is_empty() {
        let message = "no transcript of an agent was found on this machine";
        world.out.note(&format!("{message}; name a file or a folder to import it"));
        return Ok(world.out.result(&json!({ "files": 0, "added": 0 }), Some(&|_| String::new())));
    }
    let asks =
        matches.get_many::<String>("source").is_none() && !plan.is_dry && !matches.get_flag("yes");
    if asks && !confirmed(world, &plan)? {
        return Ok(world.out.result(
            &json!({ "files": 0, "added": 0 }),
            Some(&|_| "nothing was imported".to_owned()),
        ));
    }
    let mut totals = match plan.files.is_empty() {
        true => ImportTotals::default(),
        false => import_files(world, &plan)?,
    };
    records::import(world, &plan, &mut totals)?;
    Ok(report(world, &plan, &totals))
}

fn import_files(world: &mut World, plan: &ImportPlan) -> Result<ImportTotals, OpError> {
    offer::mark(world);
    let bar = bar(plan);
    let road = CommandRoad::new(world, false);
    Importer::new(&road, plan, bar).run()
}

/// Asks once before everything on this machine is imported.
fn confirmed(world: &World, plan: &ImportPlan) -> Result<bool, OpError> {
    let question = format!("{} Import them?", found(&plan.files));
    ask(world, &question, true).ok_or_else(|| {
        OpError::new(Code::NotReady, format!("{} Nothing was imported.", found(&plan.files)))
            .hint("Use --yes to import them, or name a source.")
    })
}

/// `Found 412 sessions of Claude Code, 1.2 GB (it deletes them after 30 days).`
pub(super) fn found(files: &[(&'static Source, Transcript)]) -> String {
    let part = |source: &Source| {
        let own = files.iter().filter(|(of, file)| of.name == source.name && !file.is_of_subagent);
        let (count, bytes) =
            own.fold((0, 0), |(count, bytes), (_, file)| (count + 1, bytes + file.bytes));
        let deleted = source
            .deleted_after_days
            .map(|days| format!(" (deleted by it after {days} days)"))
            .unwrap_or_default();
        (count > 0).then(|| {
            format!(
                "{} of {}, {}{deleted}",
                text::counted(count, "session"),
                source.title,
                text::size(bytes)
            )
        })
    };
    let parts: Vec<String> = SOURCES.iter().filter_map(part).collect();
    format!("Found {}.", parts.join("; "))
}

/// A bar that shows how far an import is.
fn bar(plan: &ImportPlan) -> ProgressBar {
    let bar = ProgressBar::new(plan.files.iter().map(|(_, file)| file.bytes).sum());
    let template = "{bar:30} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left  {msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

/// Sends the events of files to the daemon.
struct Importer<'w> {
    road: &'w dyn Road,
    plan: &'w ImportPlan,
    files: TranscriptFiles,
    totals: ImportTotals,
    bar: ProgressBar,
    now: i64,
    /// The records of a dry run so far. It stores none, so that the daemon would count a copy again.
    counted: HashSet<Origin>,
    /// Whether the settings exclude an event of the current file.
    has_excluded: bool,
}

/// Events that were not sent yet.
#[derive(Default)]
struct PendingEvents {
    events: Vec<Value>,
    bytes: usize,
}

impl<'w> Importer<'w> {
    fn new(road: &'w dyn Road, plan: &'w ImportPlan, bar: ProgressBar) -> Importer<'w> {
        Importer {
            road,
            plan,
            files: TranscriptFiles::default(),
            totals: ImportTotals { batch: plan.batch, ..ImportTotals::default() },
            bar,
            now: client::clock::now_ms(),
            counted: HashSet::new(),
            has_excluded: false,
        }
    }

    fn run(mut self) -> Result<ImportTotals, OpError> {
        let cursors = self.cursors()?;
        for (source, file) in &self.plan.files {
            let known = cursors.get(&::import::path_hash(file).to_string());
            self.file(source, file, known)?;
            self.bar.inc(file.bytes);
            self.bar.set_message(text::counted(self.totals.sessions.len() as u64, "session"));
        }
        self.bar.finish_and_clear();
        Ok(self.totals)
    }

    /// How far the files were imported before.
    fn cursors(&self) -> Result<BTreeMap<String, FileCursor>, OpError> {
        #[derive(Deserialize)]
        struct Known {
            cursors: Vec<FileCursor>,
        }
        let hashes: Vec<String> =
            self.plan.files.iter().map(|(_, file)| ::import::path_hash(file).to_string()).collect();
        let mut all = BTreeMap::new();
        for hashes in hashes.chunks(limits::IMPORT_CURSORS_MAX) {
            let reply =
                self.road.call(calls::request("import_cursors", json!({ "files": hashes })))?;
            let known =
                Known::deserialize(&reply).map_err(|error| OpError::internal(error.to_string()))?;
            all.extend(known.cursors.into_iter().map(|cursor| (cursor.file.clone(), cursor)));
        }
        Ok(all)
    }

    fn file(
        &mut self,
        source: &'static Source,
        file: &Transcript,
        known: Option<&FileCursor>,
    ) -> Result<(), OpError> {
        if known.is_some_and(|cursor| file.is_unchanged(cursor)) && !self.plan.forgotten {
            self.totals.unchanged += 1;
            return Ok(());
        }
        let from = known.filter(|_| !self.plan.forgotten);
        let mut pending = PendingEvents::default();
        let mut failed = None;
        self.has_excluded = false;
        let (plan, now) = (self.plan, self.now);
        let mut files = std::mem::take(&mut self.files);
        let read = files.read(source, file, from, now, &mut |event| {
            if failed.is_some() || !plan.wants(&event) || self.is_counted(&event) {
                return;
            }
            for rule in pending.push(&event) {
                *self.totals.redacted.entry(rule).or_default() += 1;
            }
            if pending.is_full() {
                failed = self.send(source, &mut pending, None).err();
            }
        });
        self.files = files;
        if let Some(error) = failed {
            return Err(error);
        }
        let report = match read {
            Ok(report) => report,
            Err(error) => {
                self.totals.unreadable.push((file.path.clone(), error.to_string()));
                return Ok(());
            }
        };
        self.send(source, &mut pending, Some((&report, file)))?;
        self.totals.files += 1;
        self.totals.unknown += report.unknown;
        self.totals.sessions.extend(report.sessions.iter().cloned());
        if !report.problems.is_empty() {
            self.totals.problems.push((file.path.clone(), report));
        }
        Ok(())
    }

    /// Whether a dry run counted the event's record before. Then it is known.
    fn is_counted(&mut self, event: &HookEvent) -> bool {
        let origin = Origin::of_event(event).filter(|_| self.plan.is_dry);
        let is_counted = origin.is_some_and(|origin| !self.counted.insert(origin));
        self.totals.counts.known += u64::from(is_counted);
        is_counted
    }

    /// Sends the events, and at the end of a file its cursor.
    fn send(
        &mut self,
        source: &Source,
        pending: &mut PendingEvents,
        end: Option<(&FileReport, &Transcript)>,
    ) -> Result<(), OpError> {
        #[derive(Deserialize)]
        struct Sent {
            batch: Option<i64>,
            counts: ImportCounts,
            projects: BTreeMap<String, ProjectImport>,
        }
        let PendingEvents { events, .. } = std::mem::take(pending);
        let mut params = json!({
            "source": source.name,
            "events": events,
            "dry_run": self.plan.is_dry,
            "forgotten": self.plan.forgotten,
        });
        if let Some(batch) = self.totals.batch {
            params["batch"] = json!(batch);
        }
        if let Some((report, file)) = end {
            if !self.plan.is_partial() && !self.has_excluded {
                params["cursors"] = json!([report.cursor]);
            }
            if report.is_over && !file.is_of_subagent {
                params["over"] = json!(report.sessions);
            }
            if let (Some(title), [session]) =
                (&report.title, report.sessions.iter().collect::<Vec<_>>().as_slice())
            {
                params["titles"] = json!({ session.as_str(): title });
            }
        }
        let reply = self.road.call(calls::request("import_events", params))?;
        let sent =
            Sent::deserialize(&reply).map_err(|error| OpError::internal(error.to_string()))?;
        self.totals.batch = sent.batch.or(self.totals.batch);
        self.totals.counts.add(&sent.counts);
        self.has_excluded |= sent.counts.excluded > 0;
        for (project, part) in sent.projects {
            self.totals.projects.entry((source.name, project)).or_default().add(part);
        }
        Ok(())
    }
}

impl PendingEvents {
    /// Adds an event, and returns the rules by which its text was redacted.
    fn push(&mut self, event: &HookEvent) -> Vec<String> {
        let Ok(value) = serde_json::to_value(event) else { return Vec::new() };
        let rules = secrets::redacted_rules_json(&value).into_iter().map(str::to_owned).collect();
        self.bytes += value.to_string().len();
        self.events.push(value);
        rules
    }

    fn is_full(&self) -> bool {
        self.events.len() >= limits::IMPORT_EVENTS_MAX || self.bytes >= BATCH_BYTES
    }
}

/// Prints what was added. Fails only if nothing could be read.
fn report(world: &mut World, plan: &ImportPlan, totals: &ImportTotals) -> u8 {
    let by_project: Vec<Value> = totals
        .projects
        .iter()
        .map(|((agent, project), part)| {
            let sessions = part.sessions.len();
            json!({ "agent": agent, "project": project, "sessions": sessions, "counts": part.counts })
        })
        .collect();
    let problems = totals.problems.iter().map(|(path, report)| (path, &report.problems));
    let of_records = totals.record_problems.iter().map(|(path, report)| (path, &report.problems));
    let problems: Vec<Value> = problems
        .chain(of_records)
        .flat_map(|(path, problems)| {
            problems.iter().map(move |(problem, (line, count))| {
                json!({ "file": path.display().to_string(), "line": line, "reason": problem.reason(), "lines": count })
            })
        })
        .chain(totals.unreadable.iter().map(|(path, why)| {
            json!({ "file": path.display().to_string(), "reason": why })
        }))
        .collect();
    let result = json!({
        "dry_run": plan.is_dry,
        "batch": totals.batch,
        "files": totals.files,
        "unchanged": totals.unchanged,
        "sessions": totals.sessions.len(),
        "counts": totals.counts,
        "added": totals.counts.added(),
        "projects": by_project,
        "redacted": totals.redacted,
        "unknown_lines": totals.unknown,
        "problems": problems,
    });
    for problem in problems.iter().take(limits::IMPORT_PROBLEMS_SHOWN) {
        world.out.note(&problem_line(problem));
    }
    if problems.len() > limits::IMPORT_PROBLEMS_SHOWN {
        let more = problems.len() - limits::IMPORT_PROBLEMS_SHOWN;
        world.out.note(&format!("… and {more} more; --json lists all"));
    }
    let text = told(plan, totals, world.out.width());
    let exit = world.out.result(&result, Some(&move |_: &Value| text.clone()));
    let nothing_read = totals.files + totals.unchanged == 0 && !totals.unreadable.is_empty();
    if nothing_read { 1 } else { exit }
}

fn problem_line(problem: &Value) -> String {
    let file = problem["file"].as_str().unwrap_or_default();
    let reason = problem["reason"].as_str().unwrap_or_default();
    match (problem["line"].as_u64(), problem["lines"].as_u64()) {
        (Some(line), Some(1)) => format!("{file}: line {line} was skipped: {reason}"),
        (Some(line), Some(count)) => {
            format!("{file}: {count} lines were skipped, the first is {line}: {reason}")
        }
        _ => format!("{file} was not read: {reason}"),
    }
}

/// The table of records that were added to each project.
fn by_project(totals: &ImportTotals, width: usize) -> String {
    let headings = [
        "sessions", "prompts", "answers", "actions", "failed", "memories", "known", "agent",
        "project",
    ];
    let mut rows = vec![headings.map(str::to_owned).to_vec()];
    for ((agent, project), part) in &totals.projects {
        let ImportCounts { prompts, answers, actions, failures, memories, known, .. } = part.counts;
        let sessions = part.sessions.len() as u64;
        let numbers = [sessions, prompts, answers, actions, failures, memories, known];
        let names = [(*agent).to_owned(), text::one_line(project, limits::IMPORT_NAME_CHARS)];
        rows.push(numbers.iter().map(u64::to_string).chain(names).collect());
    }
    text::table::table(&rows, &["known", "failed", "memories"], width)
}

/// The report for people.
fn told(plan: &ImportPlan, totals: &ImportTotals, width: usize) -> String {
    let counts = &totals.counts;
    let mut lines = Vec::new();
    if counts.added() > 0 || plan.is_dry {
        lines.push(by_project(totals, width));
    }
    let left_out = [
        (counts.known, "already known"),
        (counts.too_old, "too old to keep"),
        (counts.excluded, "excluded"),
        (counts.forgotten, "purged by you"),
        (counts.secrets, "with a secret"),
    ];
    let left_out: Vec<String> = left_out
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| format!("{count} {why}"))
        .collect();
    let left_out = match left_out.as_slice() {
        [] => String::new(),
        parts => format!(" ({})", parts.join(", ")),
    };
    let added = text::counted(counts.added(), "record");
    let sessions = text::counted(totals.sessions.len() as u64, "session");
    if counts.removed > 0 {
        let removed = text::counted(counts.removed, "memory");
        lines.push(format!("deleted {removed} that the files no longer have"));
    }
    lines.push(match (plan.is_dry, counts.added()) {
        (true, _) => format!("{added} of {sessions} would be added{left_out}; nothing was stored"),
        (false, 0) => format!("nothing new{left_out}"),
        (false, _) => format!("added {added} of {sessions}{left_out}"),
    });
    let redacted = totals.redacted.iter().map(|(rule, count)| format!("{rule} {count}"));
    let redacted: Vec<String> = redacted.collect();
    if !redacted.is_empty() {
        lines.push(format!("secrets were redacted, by rule: {}", redacted.join(", ")));
    }
    if totals.unknown > 0 {
        lines.push(format!(
            "{} of unknown kinds were skipped",
            text::counted(totals.unknown, "line")
        ));
    }
    if totals.unchanged > 0 {
        lines.push(format!(
            "{} unchanged since the last import",
            text::counted(totals.unchanged, "file")
        ));
    }
    if let Some(batch) = totals.batch.filter(|_| counts.added() > 0) {
        lines.push(format!("undo it with: rekindle import --undo {batch}"));
    }
    lines.join("\n")
}
