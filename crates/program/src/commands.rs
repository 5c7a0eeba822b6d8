//! The commands of the daemon's life, one file each; operations come from the table.

mod agents;
mod backup;
mod config;
mod connecting;
mod doctor;
mod eval;
pub mod hook;
mod install;
mod links;
mod logs;
mod plugin;
mod port;
mod record;
mod reference;
mod serve;
mod status;
mod stop;
mod uninstall;
mod up;
mod web;

use std::ffi::OsString;

use clap::{ArgMatches, Command};
use cli::{Output, Picked};
use contract::Table;
use model::{Caller, Reply, Request, Road as _, Tier};
use serde_json::{Value, json};

use crate::road::CommandRoad;
use crate::world::World;

/// One command: how it looks and what it does.
struct Own {
    command: fn() -> Command,
    /// Gets the words of the line and the arguments.
    run: fn(&mut World, &[String], &ArgMatches) -> u8,
}

/// The commands that are not operations, in the order of `--help`.
const COMMANDS: &[Own] = &[
    Own { command: up::command, run: up::run },
    Own { command: web::command, run: web::run },
    Own { command: install::command, run: install::run },
    Own { command: uninstall::command, run: uninstall::run },
    Own { command: agents::command, run: agents::run },
    Own { command: plugin::command, run: plugin::run },
    Own { command: serve::command, run: serve::run },
    Own { command: status::command, run: status::run },
    Own { command: stop::command, run: stop::run },
    Own { command: logs::command, run: logs::run },
    Own { command: doctor::command, run: doctor::run },
    Own { command: config::command, run: config::run },
    Own { command: backup::backup_command, run: backup::backup },
    Own { command: backup::restore_command, run: backup::restore },
    Own { command: eval::command, run: eval::run },
    Own { command: links::command, run: links::run },
    Own { command: hook::command, run: hook::run },
    Own { command: record::command, run: record::run },
    Own { command: reference::command, run: reference::run },
];

/// The clap commands of [`COMMANDS`].
fn own_commands(table: &Table) -> Vec<Command> {
    let commands = COMMANDS.iter().map(|own| (own.command)());
    commands.map(|command| serve::with_settings(command, table.config_keys())).collect()
}

/// Runs a line and says with which code to exit.
pub fn run(argv: Vec<OsString>) -> u8 {
    let name = crate::names::started_by(argv.first().map(AsRef::as_ref));
    run_on(argv, Output::standard(name))
}

/// Runs a line with these streams.
fn run_on(argv: Vec<OsString>, mut out: Output) -> u8 {
    // Nothing else is built for it: scripts and other builds ask often.
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
    let table = crate::kit::kit().table;
    let parsed = cli::parse(&table, own_commands(&table), argv, &mut out, &mut std::io::stdin());
    let mut world = World {
        out,
        locations: client::platform::locations(parsed.db.as_deref()),
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
        Picked::Done(exit) => exit,
        Picked::Op(call) => {
            let starts_daemon = call.op.cli.starts_daemon;
            run_op(&mut world, starts_daemon, call)
        }
        Picked::Own(own) => {
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

/// `rekindle --version --json`: also by this another build learns which one it deals with.
fn version_as_json(out: &mut Output) -> u8 {
    out.json = true;
    let build = crate::kit::build().to_string();
    let version =
        json!({ "name": "rekindle", "version": env!("CARGO_PKG_VERSION"), "build": build });
    out.result(&version, None)
}

/// Calls an operation for the person at the command line and prints what comes back.
fn run_op(world: &mut World, starts_daemon: bool, call: cli::Call) -> u8 {
    let mut out = world.out.again();
    let road = CommandRoad::new(world, starts_daemon);
    cli::run_op(&mut out, &road, person(), call)
}

/// Calls an operation for a command that prints its result in its own way.
fn call(world: &mut World, op: &str, params: Value) -> Reply {
    CommandRoad::new(world, false).call(request(op, params))
}

/// A call of our own.
fn request(op: &str, params: Value) -> Request {
    Request { call: client::mint(), op: op.to_owned(), params, caller: person() }
}

/// The caller of every command.
fn person() -> Caller {
    Caller {
        tier: Tier::Person,
        session: std::env::var("CLAUDE_CODE_SESSION_ID").ok().filter(|id| !id.is_empty()),
        situation: client::platform::situation(),
    }
}
