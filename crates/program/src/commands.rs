//! The commands that are not operations, one file each; operations come from the table.

mod agents;
mod backup;
mod complete;
mod config;
mod connecting;
mod doctor;
mod eval;
mod export;
pub mod hook;
mod import;
mod install;
mod links;
mod logs;
mod plugin;
mod port;
mod record;
mod reference;
mod search_path;
mod serve;
mod status;
pub mod statusline;
mod stop;
mod today;
mod uninstall;
mod up;
mod web;

use std::ffi::OsString;

use clap::{ArgMatches, Command};
use cli::{Output, Selection};
use contract::Table;
use serde_json::json;

use crate::calls;
use crate::road::CommandRoad;
use crate::world::World;

/// One command: its clap definition and its handler.
struct ProgramCommand {
    command: fn() -> Command,
    /// Takes the words of the command and its arguments.
    run: fn(&mut World, &[String], &ArgMatches) -> u8,
}

/// The commands that are not operations, in the order of `--help`.
const COMMANDS: &[ProgramCommand] = &[
    ProgramCommand { command: today::command, run: today::run },
    ProgramCommand { command: up::command, run: up::run },
    ProgramCommand { command: web::command, run: web::run },
    ProgramCommand { command: install::command, run: install::run },
    ProgramCommand { command: uninstall::command, run: uninstall::run },
    ProgramCommand { command: agents::command, run: agents::run },
    ProgramCommand { command: import::command, run: import::run },
    ProgramCommand { command: export::command, run: export::run },
    ProgramCommand { command: plugin::command, run: plugin::run },
    ProgramCommand { command: serve::command, run: serve::run },
    ProgramCommand { command: status::command, run: status::run },
    ProgramCommand { command: stop::command, run: stop::run },
    ProgramCommand { command: logs::command, run: logs::run },
    ProgramCommand { command: doctor::command, run: doctor::run },
    ProgramCommand { command: config::command, run: config::run },
    ProgramCommand { command: backup::backup_command, run: backup::backup },
    ProgramCommand { command: backup::restore_command, run: backup::restore },
    ProgramCommand { command: eval::command, run: eval::run },
    ProgramCommand { command: links::command, run: links::run },
    ProgramCommand { command: hook::command, run: hook::run },
    ProgramCommand { command: statusline::command, run: statusline::run },
    ProgramCommand { command: record::command, run: record::run },
    ProgramCommand { command: reference::command, run: reference::run },
    ProgramCommand { command: complete::command, run: complete::run },
];

/// The clap commands of [`COMMANDS`].
fn own_commands(table: &Table) -> Vec<Command> {
    let commands = COMMANDS.iter().map(|own| (own.command)());
    commands.map(|command| serve::with_settings(command, table.config_keys())).collect()
}

/// Runs a command line and returns the exit code.
pub fn run(argv: Vec<OsString>) -> u8 {
    crate::kit::set_machine_checks(doctor::machine);
    let name = crate::names::started_by(argv.first().map(AsRef::as_ref));
    run_on(argv, Output::standard(name))
}

/// Runs a command line with these streams.
fn run_on(argv: Vec<OsString>, mut out: Output) -> u8 {
    // Answered before anything else is built: scripts and other builds call it often.
    if let [_, version] = argv.as_slice()
        && (version == "--version" || version == "-V")
    {
        return out.text(&format!("{} {}", out.name().word, env!("CARGO_PKG_VERSION")));
    }
    if let [_, version, json] = argv.as_slice()
        && version == "--version"
        && json == "--json"
    {
        return version_as_json(&mut out);
    }
    // On a terminal the bare name shows the day; programs and pipes get help.
    let mut argv = argv;
    if out.is_own_terminal() && cli::is_bare(out.name(), &argv) {
        argv.push("today".into());
    }
    let table = crate::kit::kit().table;
    let parsed = cli::parse(&table, own_commands(&table), argv, &mut out, &mut std::io::stdin());
    let mut world = World {
        out,
        locations: client::platform::locations_without(
            parsed.db.as_deref(),
            import::source_variable(&parsed.picked),
        ),
        db: parsed.db,
        settings: Vec::new(),
        build: crate::kit::build(),
        table,
    };
    if let Some(port) = parsed.port
        && let Err(error) = port::hold_to(&mut world, port, &parsed.picked)
    {
        return world.out.error(&error);
    }
    match parsed.picked {
        Selection::Done(exit) => exit,
        Selection::Op(call) => {
            let starts_daemon = call.op.cli.starts_daemon;
            run_op(&mut world, starts_daemon, call)
        }
        Selection::Own(own) => {
            let name = own.path.first().map(String::as_str).unwrap_or_default();
            let found = COMMANDS.iter().find(|own| (own.command)().get_name() == name);
            match found {
                Some(found) => {
                    let exit = (found.run)(&mut world, &own.path, &own.matches);
                    world.out.exit(exit)
                }
                None => cli::EXIT_USAGE,
            }
        }
    }
}

/// `rekindle --version --json`, by which other builds identify this one.
fn version_as_json(out: &mut Output) -> u8 {
    out.json = true;
    let build = crate::kit::build().to_string();
    let version =
        json!({ "name": "rekindle", "version": env!("CARGO_PKG_VERSION"), "build": build });
    out.result(&version, None)
}

/// Calls an operation for the person at the command line and prints the result.
fn run_op(world: &mut World, starts_daemon: bool, call: cli::OpCall) -> u8 {
    let mut out = world.out.again();
    let road = CommandRoad::new(world, starts_daemon);
    cli::run_op(&mut out, &road, calls::person(), call)
}
