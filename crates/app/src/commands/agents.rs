//! `rekindle agents`: which agents are on this machine, which are connected, and when each was last heard of.

use agents::wiring::WIRINGS;
use clap::{ArgMatches, Command};
use connect::{Scope, look};
use model::OpError;
use serde_json::{Value, json};

use super::connecting::Here;
use crate::world::World;

pub(super) fn command() -> Command {
    Command::new("agents")
        .about("List the agents: found, connected, last heard of")
        .long_about(
            "List the agents that can be connected: whether each was found on this machine, whether it is \
             connected, and when its last event came.",
        )
        .after_help("Example:\n  rekindle agents --json")
}

pub(super) fn run(world: &mut World, _: &[String], _: &ArgMatches) -> u8 {
    match agents(world) {
        Ok(result) => world.out.result(&result, Some(&pretty)),
        Err(error) => world.out.error(&error),
    }
}

fn agents(world: &mut World) -> Result<Value, OpError> {
    let here = Here::find()?;
    let around = here.around();
    let heard = heard(world);
    let agents = WIRINGS.iter().map(|wiring| {
        let look = look(wiring, Scope::User, &around);
        let last = heard[wiring.agent].as_i64().map(|at| model::time::rfc3339(at * 1000));
        json!({
            "agent": wiring.agent,
            "title": wiring.title,
            "found": look.found.as_ref().map(|found| found.to_string_lossy()),
            "wired": look.state(),
            "missing": if look.wired.is_empty() { Vec::new() } else { look.missing },
            "files": look.files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>(),
            "commands": look.programs,
            "trouble": look.trouble,
            "last_event": last,
        })
    });
    Ok(json!({ "agents": agents.collect::<Vec<_>>() }))
}

/// The last event of each agent, if there is a store to ask.
fn heard(world: &mut World) -> Value {
    let spools = world.locations.spools();
    if !world.locations.database.exists() && !spools.iter().any(|spool| spool.exists()) {
        return Value::Null;
    }
    // A store in trouble is for `doctor` to explain.
    let stats = super::call(world, "memory_stats", json!({}));
    stats.map(|stats| stats["agents"].clone()).unwrap_or_default()
}

/// Those that were found and are not connected, by what people call them.
pub(super) fn unwired() -> Vec<&'static str> {
    let Ok(here) = Here::find() else { return Vec::new() };
    let around = here.around();
    let found = WIRINGS.iter().filter(|wiring| around.found(wiring).is_some());
    let unwired = found.filter(|wiring| look(wiring, Scope::User, &around).state() == "no");
    unwired.map(|wiring| wiring.title).collect()
}

fn pretty(result: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut lines = vec![format!("{:<12} {:<8} {:<10} last event", "agent", "found", "connected")];
    for agent in result["agents"].as_array().into_iter().flatten() {
        let found = if agent["found"].is_null() { "no" } else { "yes" };
        let last = agent["last_event"].as_str().unwrap_or("none yet");
        let (name, wired) = (text(&agent["agent"]), text(&agent["wired"]));
        lines.push(format!("{name:<12} {found:<8} {wired:<10} {last}"));
        for trouble in agent["trouble"].as_array().into_iter().flatten() {
            lines.push(format!("  {}", text(trouble)));
        }
        let missing: Vec<String> =
            agent["missing"].as_array().into_iter().flatten().map(text).collect();
        if !missing.is_empty() {
            let name = text(&agent["agent"]);
            lines.push(format!(
                "  not there: {}; `rekindle install {name}` completes it",
                missing.join(", ")
            ));
        }
    }
    lines.join("\n")
}
