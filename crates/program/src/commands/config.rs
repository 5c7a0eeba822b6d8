//! `rekindle config`: all effective settings, one of them, or the path of the file.

use clap::{Arg, ArgMatches, Command};
use model::OpError;
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
            let exit = world.out.result(&result, Some(&|result| pretty(result, width)));
            let changes = words.last().is_some_and(|word| word == "set" || word == "unset");
            if changes && result["changed"] != false && runs(world) {
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

fn answer(world: &World, words: &[String], matches: &ArgMatches) -> Result<Value, OpError> {
    let keys = world.table.config_keys();
    let file = &world.locations.config_file;
    let shown = file.to_string_lossy();
    let text = |name: &str| matches.try_get_one::<String>(name).ok().flatten().cloned();
    match (text(cli::SETTING), text("value")) {
        (Some(key), Some(value)) => {
            runtime::config::set(&world.table, file, &key, &value)?;
            Ok(json!({ "key": key, "value": value, "file": shown }))
        }
        (Some(key), None) if words.last().is_some_and(|word| word == "unset") => {
            let changed = runtime::config::unset(&world.table, file, &key)?;
            let default = runtime::config::find(keys, &key)?.default;
            Ok(json!({ "key": key, "default": default, "changed": changed, "file": shown }))
        }
        (Some(key), None) => {
            let found = runtime::config::find(keys, &key)?;
            Ok(json!({ "key": key, "value": world.config()?.json(found) }))
        }
        _ if words.last().is_some_and(|word| word == "path") => Ok(json!({ "path": shown })),
        _ => Ok(json!({ "settings": listed(world)?, "file": shown })),
    }
}

/// Every setting with its value, type, default and doc.
pub(super) fn listed(world: &World) -> Result<Vec<Value>, OpError> {
    let config = world.config()?;
    let shown = world.table.config_keys().iter().map(|key| {
        json!({
            "key": key.key,
            "value": config.json(key),
            "type": key.kind.word(),
            "default": key.default,
            "env": key.env,
            "doc": key.doc,
        })
    });
    Ok(shown.collect())
}

fn pretty(result: &Value, width: usize) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if let Some(settings) = result["settings"].as_array() {
        let mut rows = vec![["setting", "value", "meaning"].map(str::to_owned).to_vec()];
        rows.extend(
            settings.iter().map(|s| vec![text(&s["key"]), text(&s["value"]), text(&s["doc"])]),
        );
        return text::table::table(&rows, &[], width);
    }
    if let (Some(default), Some(file)) = (result["default"].as_str(), result["file"].as_str()) {
        let key = text(&result["key"]);
        let default = if default.is_empty() { "empty" } else { default };
        return match result["changed"] == true {
            true => format!("✔ {key} is no longer set in {file}; its default is {default}"),
            false => format!("{key} is not set in {file}; its default is {default}"),
        };
    }
    match (&result["path"], &result["file"]) {
        (Value::String(path), _) => path.clone(),
        (_, Value::String(file)) => {
            format!("{} = {} in {file}", text(&result["key"]), text(&result["value"]))
        }
        _ => text(&result["value"]),
    }
}
