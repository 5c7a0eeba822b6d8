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
    ("REKINDLE_HOME", "Directory of the database, token, spool, backups and logs."),
    ("REKINDLE_RUNTIME_DIR", "Directory of the daemon's lock, socket and discovery file."),
    ("REKINDLE_CONFIG", "Directory of config.toml, or the file itself."),
    ("REKINDLE_NO_AUTOSTART", "When set and not 0, nothing starts a daemon by itself."),
    ("REKINDLE_PID_FILE", "A further file that gets a copy of the discovery file."),
    ("CLAMS_PID_FILE", "Older name of REKINDLE_PID_FILE."),
    ("NMEM_DB", "The database file, as the flag --db."),
    ("CLAUDE_CODE_SESSION_ID", "The agent's session; agents set it for the servers they start."),
    ("NO_COLOR", "When set, nothing is coloured."),
    ("PAGER", "Program for output that is longer than the screen; empty or cat for none."),
    ("COLUMNS, LINES", "Size of the terminal, if it is not to be asked."),
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
