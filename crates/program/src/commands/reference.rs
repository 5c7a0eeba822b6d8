//! `rekindle reference`: the data of the reference pages, as one JSON document.

use clap::{ArgMatches, Command};
use contract::Table;
use serde_json::{Value, json};

use crate::world::World;

pub(super) fn command() -> Command {
    Command::new("reference").about("Print the data of the reference pages").hide(true)
}

/// Environment variables besides those of the settings.
const ENVIRONMENT: &[(&str, &str)] = &[
    (
        "REKINDLE_HOME",
        "Directory of the database, the token, the spool, replaced databases and logs.",
    ),
    ("REKINDLE_RUNTIME_DIR", "Directory of the daemon's lock, socket and discovery file."),
    ("REKINDLE_CONFIG", "Directory of config.toml, or the path of the file if it ends in .toml."),
    (
        "REKINDLE_NO_AUTOSTART",
        "If set to anything but 0, only `rekindle up` and `rekindle serve` start a daemon: hooks and other commands do not.",
    ),
    (
        "REKINDLE_PID_FILE",
        "Path of a second file to which the daemon writes its discovery file: JSON with its pid, port, start time and build. It is deleted when the daemon stops.",
    ),
    ("CLAMS_PID_FILE", "Older name of REKINDLE_PID_FILE; used if that is not set."),
    ("NMEM_DB", "Path of the database, like the flag --db, which takes precedence."),
    (
        "CLAUDE_CODE_SESSION_ID",
        "Id of the session that calls belong to; Claude Code sets it for the programs it starts.",
    ),
    ("NO_COLOR", "If set, the output has no colours."),
    ("PAGER", "Program that shows output longer than the screen; empty or `cat` for none."),
    ("COLUMNS, LINES", "Size of the terminal, instead of the size that the terminal reports."),
];

/// Every environment variable with its meaning, those of the settings included.
pub(super) fn environment(table: &Table) -> Vec<(&'static str, String)> {
    let own = ENVIRONMENT.iter().map(|(name, doc)| (*name, (*doc).to_owned()));
    let keys = table.config_keys().iter();
    let set = keys.flat_map(|key| {
        key.env.iter().map(|name| (*name, format!("The setting {}. {}", key.key, key.doc)))
    });
    own.chain(set).collect()
}

pub(super) fn run(world: &mut World, _: &[String], _: &ArgMatches) -> u8 {
    let config: Vec<Value> = world
        .table
        .config_keys()
        .iter()
        .map(|key| json!({ "key": key.key, "type": key.kind.word(), "default": key.default, "doc": key.doc, "env": key.env }))
        .collect();
    let environment: Vec<Value> =
        ENVIRONMENT.iter().map(|(name, doc)| json!({ "name": name, "doc": doc })).collect();
    let document = cli::reference(
        &world.table,
        super::own_commands(&world.table),
        config.into(),
        environment.into(),
    );
    world.out.json = true;
    world.out.result(&document, None)
}
