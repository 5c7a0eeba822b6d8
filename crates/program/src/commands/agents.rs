//! `rekindle agents`: the agents on this machine, which are connected, and the last event of each.

use agents::wiring::{WIRINGS, Wiring};
use clap::{ArgMatches, Command};
use connect::{AgentConnection, ConnectScope};
use model::{OpError, Reply, Road as _};
use serde_json::{Value, json};
use server::lock::Lock;

use super::connecting::{self, Here};
use super::doctor::capture;
use super::doctor::program::ProgramCache;
use crate::world::{self, World};

pub(super) fn command() -> Command {
    Command::new("agents")
        .about("List the agents: found, connected, last event")
        .long_about(
            "List the agents that can be connected: whether each was found on this machine, whether it is \
             connected, and the time of its last event. `project` means connected in this repository only, \
             `partly` that some of our entries are missing or changed, `broken` connected but unable to send \
             events (with the reason), `invalid` that a file of the agent cannot be parsed, `unknown` that it \
             cannot be read.",
        )
        .after_help("Example:\n  rekindle agents --json")
}

pub(super) fn run(world: &mut World, _: &[String], _: &ArgMatches) -> u8 {
    let width = world.out.width();
    match agents(world) {
        Ok(result) => world.out.result(&result, Some(&|result| pretty(result, width))),
        Err(error) => world.out.error(&error),
    }
}

fn agents(world: &mut World) -> Result<Value, OpError> {
    let here = Here::find()?;
    let around = here.around();
    let (heard, unheard) = match heard(world) {
        Ok(heard) => (heard, None),
        Err(error) => (Value::Null, Some(error.message)),
    };
    let mut programs = ProgramCache::default();
    let agents = WIRINGS.iter().map(|wiring| {
        let (look, scope) = connecting::seen(wiring, &around);
        let last =
            heard[wiring.agent].as_i64().map(|at| model::time::rfc3339(at.saturating_mul(1000)));
        let (faults, remarks) = faults(wiring, &look, scope, &mut programs, world);
        let is_connected = look.is_connected();
        json!({
            "agent": wiring.agent,
            "title": wiring.title,
            "found": look.found.as_ref().map(|found| found.to_string_lossy()),
            "wired": look.state(),
            "scope": (is_connected || look.invalid).then_some(scope.word()),
            "lacking": is_connected.then(|| look.lacking()),
            "missing": if is_connected { look.missing } else { Vec::new() },
            "altered": look.altered,
            "files": look.files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>(),
            "commands": look.programs.iter().map(|started| &started.path).collect::<Vec<_>>(),
            "trouble": look.trouble,
            "unseen": look.unseen,
            "faults": faults,
            "remarks": remarks,
            "last_event": last,
        })
    });
    Ok(json!({ "agents": agents.collect::<Vec<_>>(), "unheard": unheard }))
}

/// Reasons why a connected agent sends no events or lacks our tools, each with its fix.
fn faults(
    wiring: &Wiring,
    look: &AgentConnection,
    scope: ConnectScope,
    programs: &mut ProgramCache,
    world: &World,
) -> (Vec<String>, Vec<String>) {
    let off = connecting::switched_off(wiring, look).into_iter();
    let off = off.map(|off| (off.hooks, format!("{}. {}", off.detail, off.hint)));
    let bad = look.programs.iter().filter_map(|started| {
        let fault = programs.of(&started.path, &world.build).fault(started)?;
        Some((started.by_hooks, format!("{fault}. {}", capture::registers(wiring, scope))))
    });
    let (faults, remarks): (Vec<_>, Vec<_>) = off.chain(bad).partition(|(hooks, _)| *hooks);
    let texts = |all: Vec<(bool, String)>| all.into_iter().map(|(_, text)| text).collect();
    (texts(faults), texts(remarks))
}

/// The last event of each agent, if there is a store.
fn heard(world: &mut World) -> Reply {
    let spools = world.locations.spools();
    if !world.locations.database.exists() && !spools.iter().any(|spool| spool.exists()) {
        return Ok(Value::Null);
    }
    let is_held = Lock::try_take(&world.locations)?.is_none();
    let stats = if is_held {
        // Do not wait for a hanging daemon: read the store beside it.
        let runtime = world::look(&world.locations, world.config()?)?;
        let stats = runtime.call(crate::calls::request("memory_stats", json!({})));
        runtime.close();
        stats
    } else {
        crate::calls::call(world, "memory_stats", json!({}))
    };
    stats.map(|stats| stats["agents"].clone())
}

/// Titles of the agents that were found and are not connected.
pub(super) fn unwired() -> Vec<&'static str> {
    let Ok(here) = Here::find() else { return Vec::new() };
    let around = here.around();
    let found = WIRINGS.iter().filter(|wiring| around.found(wiring).is_some());
    let unwired = found.filter(|wiring| connecting::seen(wiring, &around).0.state() == "no");
    unwired.map(|wiring| wiring.title).collect()
}

/// `3h ago (2026-01-31 14:05)`.
fn age_and_date(at: i64) -> String {
    let age = model::time::ago(at, client::clock::now_ms());
    format!("{age} ({})", zone::shown(at.div_euclid(1000)))
}

fn pretty(result: &Value, width: usize) -> String {
    let texts = |value: &Value| -> Vec<String> {
        let all = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        all.map(str::to_owned).collect()
    };
    let none = if result["unheard"].is_null() { "none yet" } else { "unknown" };
    let mut rows = vec![["agent", "found", "connected", "last event"].map(str::to_owned).to_vec()];
    // The lines below each row.
    let mut below = vec![Vec::new()];
    for agent in result["agents"].as_array().into_iter().flatten() {
        let text = |name: &str| agent[name].as_str().unwrap_or_default();
        let found = match (agent["found"].is_null(), texts(&agent["unseen"]).is_empty()) {
            (false, _) => "yes",
            (true, true) => "no",
            (true, false) => "unknown",
        };
        let last = agent["last_event"].as_str().and_then(model::time::parse_rfc3339);
        let last = last.map_or_else(|| none.to_owned(), age_and_date);
        let in_project = text("scope") == ConnectScope::Project.word();
        let (name, faults, trouble) =
            (text("agent"), texts(&agent["faults"]), texts(&agent["trouble"]));
        let connected = match text("wired") {
            "yes" | "partly" if !faults.is_empty() => "broken",
            "yes" if in_project => "project",
            wired => wired,
        };
        rows.push([name, found, connected, &last].map(str::to_owned).to_vec());
        let mut lines = Vec::new();
        let wrong = faults.into_iter().chain(texts(&agent["remarks"]));
        lines.extend(wrong.map(|fault| format!("  {fault}")));
        let scope = if in_project { ConnectScope::Project } else { ConnectScope::User };
        let install = connecting::install_line(name, scope);
        if !trouble.is_empty() {
            lines.extend(trouble.iter().map(|trouble| format!("  {trouble}")));
            lines.push(match text("wired") {
                "yes" => "  It is connected, but this file cannot be edited.".to_owned(),
                _ => format!("  Fix the file, then {install}."),
            });
        } else if !text("lacking").is_empty() {
            lines.push(format!("  {}; {install} completes it", text("lacking")));
        }
        below.push(lines);
    }
    let rows = text::table::table_rows(&rows, &[], width).into_iter();
    let mut lines: Vec<String> =
        rows.zip(below).flat_map(|(row, below)| [row, below].concat()).collect();
    if let Some(why) = result["unheard"].as_str() {
        lines.push(format!(
            "The times of the last events are unknown: {why}. See `rekindle doctor`."
        ));
    }
    lines.join("\n")
}
