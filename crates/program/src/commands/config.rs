//! `rekindle config`: all effective settings, one of them, or the path of the file.

use clap::{Arg, ArgMatches, Command};
use model::OpError;
use serde::Serialize;
use serde_json::{Value, json};

use crate::road;
use crate::world::World;

pub(super) fn command() -> Command {
    let key = || {
        Arg::new(cli::SETTING)
            .value_name("KEY")
            .required(true)
            .help("Name of the setting, for example daemon.port")
    };
    Command::new("config")
        .about("Show or change settings")
        .subcommand(Command::new("get").about("Print one setting").arg(key()))
        .subcommand(
            Command::new("set")
                .about("Change one setting in the settings file")
                .arg(key())
                .arg(Arg::new("value").value_name("VALUE").required(true).help("Its new value")),
        )
        .subcommand(
            Command::new("unset")
                .about("Remove one setting from the settings file, so that its default applies")
                .arg(key()),
        )
        .subcommand(Command::new("path").about("Print the path of the settings file"))
        .after_help("Without a subcommand all settings are listed.")
}

pub(super) fn run(world: &mut World, words: &[String], matches: &ArgMatches) -> u8 {
    match answer(world, words, matches) {
        Ok(result) => {
            let width = world.out.width();
            let exit = world.out.result(&json!(result), Some(&|_| result.pretty(width)));
            if result.changes() && runs(world) {
                let note = "note: the running daemon keeps its settings until `rekindle stop`; the next \
                            daemon uses this setting";
                world.out.note(note);
            }
            exit
        }
        Err(error) => world.out.error(&error),
    }
}

fn runs(world: &World) -> bool {
    matches!(road::connect(world), Ok(Some(_)))
}

/// The result of the command: as JSON for programs, as text for people.
#[derive(Serialize)]
#[serde(untagged)]
enum ConfigAnswer {
    Listed { settings: Vec<ShownSetting>, file: String },
    Path { path: String },
    One { key: String, value: Value },
    Set { key: String, value: String, file: String },
    Unset { key: String, default: &'static str, changed: bool, file: String },
}

/// A setting with its value, type, default and doc.
#[derive(Serialize)]
struct ShownSetting {
    key: &'static str,
    value: Value,
    #[serde(rename = "type")]
    kind: &'static str,
    default: &'static str,
    env: &'static [&'static str],
    doc: &'static str,
}

fn answer(world: &World, words: &[String], matches: &ArgMatches) -> Result<ConfigAnswer, OpError> {
    let keys = world.table.config_keys();
    let path = &world.locations.config_file;
    let file = path.to_string_lossy().into_owned();
    let text = |name: &str| matches.try_get_one::<String>(name).ok().flatten().cloned();
    match (text(cli::SETTING), text("value")) {
        (Some(key), Some(value)) => {
            runtime::config::set(&world.table, path, &key, &value)?;
            Ok(ConfigAnswer::Set { key, value, file })
        }
        (Some(key), None) if words.last().is_some_and(|word| word == "unset") => {
            let changed = runtime::config::unset(&world.table, path, &key)?;
            let default = runtime::config::find(keys, &key)?.default;
            Ok(ConfigAnswer::Unset { key, default, changed, file })
        }
        (Some(key), None) => {
            let found = runtime::config::find(keys, &key)?;
            Ok(ConfigAnswer::One { key, value: world.config()?.json(found) })
        }
        _ if words.last().is_some_and(|word| word == "path") => {
            Ok(ConfigAnswer::Path { path: file })
        }
        _ => Ok(ConfigAnswer::Listed { settings: listed(world)?, file }),
    }
}

/// Every setting.
fn listed(world: &World) -> Result<Vec<ShownSetting>, OpError> {
    let config = world.config()?;
    let shown = world.table.config_keys().iter().map(|key| ShownSetting {
        key: key.key,
        value: config.json(key),
        kind: key.kind.word(),
        default: key.default,
        env: key.env,
        doc: key.doc,
    });
    Ok(shown.collect())
}

impl ConfigAnswer {
    /// Whether the settings file was changed.
    fn changes(&self) -> bool {
        matches!(self, ConfigAnswer::Set { .. } | ConfigAnswer::Unset { changed: true, .. })
    }

    fn pretty(&self, width: usize) -> String {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        match self {
            ConfigAnswer::Listed { settings, .. } => {
                let mut rows = vec![["setting", "value", "meaning"].map(str::to_owned).to_vec()];
                rows.extend(settings.iter().map(|setting| {
                    vec![setting.key.to_owned(), text(&setting.value), setting.doc.to_owned()]
                }));
                text::table::table(&rows, &[], width)
            }
            ConfigAnswer::Path { path } => path.clone(),
            ConfigAnswer::One { value, .. } => text(value),
            ConfigAnswer::Set { key, value, file } => format!("{key} = {value} in {file}"),
            ConfigAnswer::Unset { key, default, changed, file } => {
                let default = if default.is_empty() { "empty" } else { default };
                match changed {
                    true => format!("✔ {key} is no longer set in {file}; its default is {default}"),
                    false => format!("{key} is not set in {file}; its default is {default}"),
                }
            }
        }
    }
}
