//! `rekindle complete`: the values from the store, or the settings, that complete an unfinished line. The scripts of
//! `rekindle completions` call it.

use clap::{Arg, ArgMatches, Command};
use cli::LiveValues;
use model::limits;
use serde_json::json;

use crate::world::World;

pub(super) fn command() -> Command {
    Command::new("complete")
        .about("Print the projects, sessions, components or settings that complete a line")
        .hide(true)
        .arg(
            Arg::new("words")
                .value_name("WORD")
                .num_args(0..)
                .last(true)
                .help("The words of the line after the program's name"),
        )
}

pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    let words: Vec<String> =
        matches.get_many::<String>("words").into_iter().flatten().cloned().collect();
    let tree =
        cli::command(&world.table, super::own_commands(&world.table), &cli::ProgramName::FULL);
    let Some((kind, start)) = cli::live_values(&tree, &words) else { return 0 };
    // A shell shows no errors while it completes.
    let mut values = values(world, kind).unwrap_or_default();
    values.retain(|value| value.starts_with(start));
    if world.out.json {
        return world.out.result(&json!({ "values": values }), None);
    }
    world.out.text(&values.iter().map(|value| format!("{value}\n")).collect::<String>())
}

/// The values of this kind, the most recent ones first where they have a time.
fn values(world: &mut World, kind: LiveValues) -> Option<Vec<String>> {
    let (op, params, list, member) = match kind {
        LiveValues::Projects => ("list_projects", json!({}), "projects", "name"),
        LiveValues::Sessions => {
            let all = json!({ "project": "*", "limit": limits::SESSIONS_MAX });
            ("list_sessions", all, "sessions", "session_id")
        }
        LiveValues::Components => ("list_components", json!({}), "components", "name"),
        LiveValues::Operations => {
            return Some(world.table.iter().map(|op| op.info.name.to_owned()).collect());
        }
        LiveValues::Settings => {
            return Some(world.table.config_keys().iter().map(|key| key.key.to_owned()).collect());
        }
    };
    if !world.locations.database.exists() {
        return None;
    }
    let answer = crate::calls::call(world, op, params).ok()?;
    let items = answer[list].as_array()?.iter().filter_map(|item| item[member].as_str());
    // A control character would end or change the line that is being typed.
    let is_plain = |value: &&str| !value.is_empty() && !value.contains(char::is_control);
    let mut values: Vec<String> = Vec::new();
    for value in items.filter(is_plain) {
        if !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
        }
    }
    Some(values)
}
