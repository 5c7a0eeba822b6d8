//! `rekindle import`: reads what agents keep of their sessions, and sends it to the daemon in batches.

mod batches;
mod finds;
mod follow;
mod offer;
mod plan;
mod records;
mod report;
mod totals;

use std::collections::{BTreeMap, HashSet};

use ::import::{FileReport, SOURCES, Source, Transcript, TranscriptFiles};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use indicatif::{ProgressBar, ProgressStyle};
use model::hook::HookEvent;
use model::import::{FileCursor, ImportBatch};
use model::origin::Origin;
use model::{Code, OpError, Road, limits};
use serde::Deserialize;
use serde_json::{Value, json};
use text::secrets;

use super::connecting::{ask, yes_arg};
use crate::calls;
use crate::road::CommandRoad;
use crate::world::{self, World};
use batches::{BATCH_BYTES, SentBatch, known_cursors};
pub(super) use follow::start as start_following;
pub(super) use offer::{OFFERED, offer};
use plan::ImportPlan;
use report::report;
use totals::ImportTotals;

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
            let added = text::counted(one.added, "record");
            // Commits and the memory files of agents are read as a whole.
            let from = match one.files {
                0 => String::new(),
                files => format!(" from {}", text::counted(files, "file")),
            };
            format!("{:>4}  {when}  {}: {added}{from}", one.id, one.source)
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

fn import(world: &mut World, matches: &ArgMatches) -> Result<u8, OpError> {
    let mut plan = ImportPlan::read(world, matches)?;
    records::find_roots(world, &mut plan.records)?;
    for message in &plan.unread.absent {
        world.out.note(message);
    }
    let is_empty = plan.files.is_empty() && plan.records.is_empty();
    if is_empty && plan.unread.unreadable.is_empty() {
        if plan.unread.absent.is_empty() {
            let message = "no transcript of an agent was found on this machine";
            world.out.note(&format!("{message}; name a file or a folder to import it"));
        }
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
    totals.unreadable.extend(plan.unread.unreadable.iter().cloned());
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
            .deleted_after_days(&|name: &str| world::var(name))
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
            totals: ImportTotals::of(plan.batch),
            bar,
            now: client::clock::now_ms(),
            counted: HashSet::new(),
            has_excluded: false,
        }
    }

    fn run(mut self) -> Result<ImportTotals, OpError> {
        let cursors = self.cursors()?;
        let known = |file: &Transcript| cursors.get(&::import::path_hash(file).to_string());
        let is_unchanged = |file: &Transcript| {
            known(file).is_some_and(|cursor| file.is_unchanged(cursor)) && !self.plan.forgotten
        };
        let (unchanged, changed): (Vec<_>, Vec<_>) =
            self.plan.files.iter().partition(|(_, file)| is_unchanged(file));
        self.totals.unchanged = unchanged.len() as u64;
        self.bar.inc(unchanged.iter().map(|(_, file)| file.bytes).sum());
        for (source, file) in ::import::in_reading_order(changed) {
            self.file(source, file, known(file)).map_err(|error| self.ended_by(error))?;
            self.bar.inc(file.bytes);
            self.bar.set_message(text::counted(self.totals.sessions.len() as u64, "session"));
        }
        self.bar.finish_and_clear();
        self.totals.settle();
        Ok(self.totals)
    }

    /// The error that ends an import, and what is stored all the same.
    fn ended_by(&self, error: OpError) -> OpError {
        let added = match self.totals.counts.added() {
            0 => return error,
            added => text::counted(added, "record"),
        };
        let hint = error.hint.clone().unwrap_or_default();
        let more = format!("{hint} {added} were added before; run the command again to continue.");
        error.hint(more.trim_start())
    }

    /// How far the files were imported before.
    fn cursors(&self) -> Result<BTreeMap<String, FileCursor>, OpError> {
        let hashes: Vec<String> =
            self.plan.files.iter().map(|(_, file)| ::import::path_hash(file).to_string()).collect();
        let mut all = BTreeMap::new();
        for hashes in hashes.chunks(limits::IMPORT_CURSORS_MAX) {
            let known = known_cursors(self.road, hashes)?;
            all.extend(known.into_iter().map(|cursor| (cursor.file.clone(), cursor)));
        }
        Ok(all)
    }

    fn file(
        &mut self,
        source: &'static Source,
        file: &Transcript,
        known: Option<&FileCursor>,
    ) -> Result<(), OpError> {
        let from = known.filter(|_| !self.plan.forgotten);
        let mut pending = PendingEvents::default();
        let mut failed = None;
        self.has_excluded = false;
        let (plan, now, hash) = (self.plan, self.now, ::import::path_hash(file));
        let mut files = std::mem::take(&mut self.files);
        let read = files.read(source, file, from, now, &mut |event| {
            if failed.is_some() || !plan.wants(&event) || self.is_counted(source.name, &event) {
                return;
            }
            let rules = pending.push(&event);
            self.totals.redact(source.name, &event.session, rules);
            if pending.is_full() {
                failed = self.send(source, hash, &mut pending, None).err();
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
        self.send(source, hash, &mut pending, Some(&report))?;
        self.totals.read(source.name, file.path.clone(), report);
        Ok(())
    }

    /// Whether a dry run counted the event's record before. Then it is known.
    fn is_counted(&mut self, source: &'static str, event: &HookEvent) -> bool {
        let origin = Origin::of_line(event).or_else(|| Origin::of_event(event));
        let origin = origin.filter(|_| self.plan.is_dry);
        let is_counted = origin.is_some_and(|origin| !self.counted.insert(origin));
        if is_counted {
            self.totals.copied(source, &event.session);
        }
        is_counted
    }

    /// Sends the events, and at the end of a file its cursor.
    fn send(
        &mut self,
        source: &Source,
        file: Origin,
        pending: &mut PendingEvents,
        end: Option<&FileReport>,
    ) -> Result<(), OpError> {
        let PendingEvents { events, .. } = std::mem::take(pending);
        let mut params = json!({
            "source": source.name,
            "file": file.to_string(),
            "events": events,
            "dry_run": self.plan.is_dry,
            "forgotten": self.plan.forgotten,
        });
        if let Some(batch) = self.totals.batch {
            params["batch"] = json!(batch);
        }
        if let Some(report) = end
            && !self.plan.is_partial()
            && !self.has_excluded
        {
            params["cursors"] = json!([report.cursor]);
            params["end"] =
                json!({ "sessions": report.sessions, "unfinished": report.is_unfinished });
        }
        if let Some(report) = end {
            if report.is_over {
                params["over"] = json!(report.sessions);
                params["subagent"] = json!(report.is_of_subagent);
            }
            if let (Some(title), [session]) =
                (&report.title, report.sessions.iter().collect::<Vec<_>>().as_slice())
            {
                params["titles"] = json!({ session.as_str(): title });
            }
        }
        let reply = self.road.call(calls::request("import_events", params))?;
        let sent =
            SentBatch::deserialize(&reply).map_err(|error| OpError::internal(error.to_string()))?;
        self.has_excluded |= sent.counts.excluded > 0;
        self.totals.add(source.name, sent);
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
        self.events.len() >= limits::IMPORT_EVENTS_SENT || self.bytes >= BATCH_BYTES
    }
}
