//! `rekindle agents`: the agents on this machine, which are connected, and the last event of each.

use std::path::PathBuf;

use agents::wiring::{WIRINGS, Wiring};
use clap::{ArgMatches, Command};
use connect::{AgentConnection, ConnectScope};
use model::{OpError, Reply, Road as _};
use serde::Serialize;
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
        Ok(result) => world.out.result(&json!(result), Some(&|_| result.pretty(width))),
        Err(error) => world.out.error(&error),
    }
}

/// The result of the command: as JSON for programs, as text for people.
#[derive(Serialize)]
struct AgentList {
    agents: Vec<ListedAgent>,
    /// Why the times of the last events are unknown.
    unheard: Option<String>,
}

#[derive(Serialize)]
struct ListedAgent {
    agent: &'static str,
    title: &'static str,
    found: Option<String>,
    wired: &'static str,
    scope: Option<&'static str>,
    lacking: Option<String>,
    missing: Vec<String>,
    altered: Vec<String>,
    files: Vec<String>,
    commands: Vec<String>,
    trouble: Vec<String>,
    unseen: Vec<String>,
    faults: Vec<String>,
    remarks: Vec<String>,
    /// RFC 3339.
    last_event: Option<String>,
}

fn agents(world: &mut World) -> Result<AgentList, OpError> {
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
        let shown = |path: &PathBuf| path.to_string_lossy().into_owned();
        ListedAgent {
            agent: wiring.agent,
            title: wiring.title,
            found: look.found.as_ref().map(shown),
            wired: look.state(),
            scope: (is_connected || look.invalid).then_some(scope.word()),
            lacking: is_connected.then(|| look.lacking()),
            missing: if is_connected { look.missing } else { Vec::new() },
            altered: look.altered,
            files: look.files.iter().map(shown).collect(),
            commands: look.programs.into_iter().map(|started| started.path).collect(),
            trouble: look.trouble,
            unseen: look.unseen,
            faults,
            remarks,
            last_event: last,
        }
    });
    Ok(AgentList { agents: agents.collect(), unheard })
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

impl AgentList {
    fn pretty(&self, width: usize) -> String {
        let none = if self.unheard.is_none() { "none yet" } else { "unknown" };
        let headings = ["agent", "found", "connected", "last event"];
        let mut rows = vec![headings.map(str::to_owned).to_vec()];
        // The lines below each row.
        let mut below = vec![Vec::new()];
        for agent in &self.agents {
            let (row, lines) = agent.tell(none);
            rows.push(row);
            below.push(lines);
        }
        let rows = text::table::table_rows(&rows, &[], width).into_iter();
        let mut lines: Vec<String> =
            rows.zip(below).flat_map(|(row, below)| [row, below].concat()).collect();
        if let Some(why) = &self.unheard {
            lines.push(format!(
                "The times of the last events are unknown: {why}. See `rekindle doctor`."
            ));
        }
        lines.join("\n")
    }
}

impl ListedAgent {
    /// Its row, and the lines about its defects. `none` is the text for an agent without events.
    fn tell(&self, none: &str) -> (Vec<String>, Vec<String>) {
        let found = match (&self.found, self.unseen.is_empty()) {
            (Some(_), _) => "yes",
            (None, true) => "no",
            (None, false) => "unknown",
        };
        let last = self.last_event.as_deref().and_then(model::time::parse_rfc3339);
        let last = last.map_or_else(|| none.to_owned(), age_and_date);
        let in_project = self.scope == Some(ConnectScope::Project.word());
        let connected = match self.wired {
            "yes" | "partly" if !self.faults.is_empty() => "broken",
            "yes" if in_project => "project",
            wired => wired,
        };
        let name = self.agent;
        let row = [name, found, connected, &last].map(str::to_owned).to_vec();
        let mut lines = Vec::new();
        lines.extend(self.faults.iter().chain(&self.remarks).map(|fault| format!("  {fault}")));
        let scope = if in_project { ConnectScope::Project } else { ConnectScope::User };
        let install = connecting::install_line(name, scope);
        let lacking = self.lacking.as_deref().unwrap_or_default();
        if !self.trouble.is_empty() {
            lines.extend(self.trouble.iter().map(|trouble| format!("  {trouble}")));
            lines.push(match self.wired {
                "yes" => "  It is connected, but this file cannot be edited.".to_owned(),
                _ => format!("  Fix the file, then {install}."),
            });
        } else if !lacking.is_empty() {
            lines.push(format!("  {lacking}; {install} completes it"));
        }
        (row, lines)
    }
}
