//! `rekindle import`: reads what agents keep of their sessions, and sends it to the daemon in batches.

mod batches;
mod filter;
mod finds;
mod follow;
mod importer;
mod offer;
mod plan;
mod reading;
mod records;
mod report;
mod totals;

use std::path::Path;

use ::import::{SOURCES, Source, Transcript};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use cli::Selection;
use model::import::ImportBatch;
use model::{Code, OpError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::connecting::{ask, yes_arg};
use crate::calls;
use crate::road::CommandRoad;
use crate::world::{self, World};
pub(super) use follow::start as start_following;
use importer::Importer;
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
                .help("Only this project: a name or a glob as in the report, or a directory"),
        )
        .arg(
            Arg::new("exclude-project")
                .long("exclude-project")
                .value_name("GLOB")
                .action(ArgAction::Append)
                .help("Leave out projects by name, or by directory such as `/srv/secret/**`"),
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

/// The environment variable that names a source of this import, and so not our own database: nmem's variable is accepted
/// for both.
pub(super) fn source_variable(picked: &Selection) -> Option<&'static str> {
    const NMEM: &str = "NMEM_DB";
    let Selection::Own(own) = picked else { return None };
    let sources = own.matches.try_get_many::<String>("source").ok().flatten();
    let is_import = own.path.first().is_some_and(|name| name == "import");
    let is_named = is_import && sources.into_iter().flatten().any(|name| name == "nmem");
    (is_named && !::import::is_ours(Path::new(&world::var(NMEM)?))).then_some(NMEM)
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
    let question = format!("Remove {what} that import {id} added?");
    let answer = if yes { Some(true) } else { ask(world, &question, false) };
    match answer {
        Some(true) => {}
        Some(false) => {
            return Ok(world.out.result(&planned, Some(&|_| "nothing was removed".to_owned())));
        }
        None => {
            let message = format!(
                "undoing import {id} requires confirmation: it added {what}; nothing was removed"
            );
            return Err(OpError::new(Code::NotReady, message).hint("Use --yes to remove them."));
        }
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
    if is_empty && plan.unread.all().next().is_none() {
        if plan.unread.absent.is_empty() {
            let message = "no transcript of an agent was found on this machine";
            world.out.note(&format!("{message}; name a file or a folder to import it"));
        }
        return Ok(world.out.result(&json!({ "files": 0, "added": 0 }), Some(&|_| String::new())));
    }
    let asks =
        matches.get_many::<String>("source").is_none() && !plan.is_dry && !matches.get_flag("yes");
    if asks && !plan.files.is_empty() && !confirmed(world, &plan)? {
        return Ok(world.out.result(
            &json!({ "files": 0, "added": 0 }),
            Some(&|_| "nothing was imported".to_owned()),
        ));
    }
    let mut totals = match plan.files.is_empty() {
        true => ImportTotals::default(),
        false => import_files(world, &plan)?,
    };
    totals.unreadable.extend(plan.unread.all().cloned());
    records::import(world, &plan, &mut totals)?;
    if let Some(projects) = &plan.projects {
        projects.check_matched()?;
        projects.unmatched_exclusions().iter().for_each(|note| world.out.note(note));
    }
    Ok(report(world, &plan, &totals))
}

fn import_files(world: &mut World, plan: &ImportPlan) -> Result<ImportTotals, OpError> {
    offer::mark(world);
    let bar = importer::bar(plan);
    // Without a daemon this process would hold the lock until the end, and agents could not call tools.
    let road = CommandRoad::new(world, !plan.is_dry);
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

/// `Found 412 sessions of Claude Code, 1.2 GB (deleted by it after 30 days).`
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
