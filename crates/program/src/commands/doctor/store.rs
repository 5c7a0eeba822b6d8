//! The doctor's look into the store: it asks the daemon, or reads what is there and changes nothing.

use std::io;

use client::road::{Lost, SocketRoad};
use model::time::rfc3339;
use model::{OpError, Reply, Road as _, limits};
use serde_json::{Value, json};

use super::places::Waiting;
use super::{check, since};
use crate::commands::request;
use crate::world::{self, World};

/// What the store tells, as far as it does.
#[derive(Default)]
pub(super) struct Told {
    /// Whether it told anything.
    pub(super) answered: bool,
    /// When an event of each name came last.
    pub(super) events: Value,
    /// When an event of each agent came last; under no name what came while nothing was captured.
    pub(super) agents: Value,
    pub(super) stats: Value,
}

/// Asks the store, by the daemon if it answers. Beside one that does not, and without one, it is read.
pub(super) fn ask(
    world: &World,
    road: Option<&SocketRoad>,
    waited: &Waiting,
    checks: &mut Vec<Value>,
) -> Told {
    if let Some(road) = road {
        let by_road = |op: &str, params: Value| -> Reply {
            let deadline = world.table.get(op)?.info.deadline;
            let reply = road.call(&request(op, params), deadline);
            reply.unwrap_or_else(|Lost(_)| Err(OpError::unavailable("the daemon left meanwhile")))
        };
        return tell(&by_road, checks);
    }
    let mut told = match std::fs::symlink_metadata(&world.locations.database) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match runtime::check_database(&world.locations) {
                Ok(()) => none_yet(world, checks),
                Err(error) => unread(&error, checks),
            }
        }
        _ => look(world, checks),
    };
    if told.answered {
        told.hear(waited, checks);
    }
    told
}

/// Reads what is there.
fn look(world: &World, checks: &mut Vec<Value>) -> Told {
    let looked = world.config().and_then(|config| world::look(&world.locations, config));
    match looked {
        Ok(runtime) => {
            let told = tell(&|op: &str, params: Value| runtime.call(request(op, params)), checks);
            runtime.close();
            told
        }
        Err(error) => unread(&error, checks),
    }
}

fn none_yet(world: &World, checks: &mut Vec<Value>) -> Told {
    let detail = format!(
        "{}: none yet, it is made with the first event",
        world.locations.database.display()
    );
    checks.push(check("database", "ok", &detail, ""));
    checks.push(check(
        "last event",
        "warn",
        "no hook event has been recorded yet",
        "`rekindle agents` says which agents are connected; start a new session of one.",
    ));
    Told { answered: true, ..Told::default() }
}

/// Nothing could be read; says so of everything that would have been looked at.
fn unread(error: &OpError, checks: &mut Vec<Value>) -> Told {
    let hint = error.hint.as_deref().unwrap_or_default();
    checks.push(check("database", "fail", &error.message, hint));
    for name in ["last event", "secrets"] {
        checks.push(check(name, "warn", "not looked at: the database could not be read", ""));
    }
    Told::default()
}

fn tell(ask: &dyn Fn(&str, Value) -> Reply, checks: &mut Vec<Value>) -> Told {
    // A damaged store is mended by the first in the daemon who meets it; the second finds it sound.
    let looked = match ask("doctor", Value::Null).or_else(|_| ask("doctor", Value::Null)) {
        Ok(looked) => looked,
        Err(error) => return unread(&error, checks),
    };
    checks.extend(looked["checks"].as_array().cloned().unwrap_or_default());
    let sample = json!({ "dry_run": true, "newest": limits::SECRETS_SAMPLE });
    checks.push(match ask("scrub", sample) {
        Ok(found) => guarded(&found),
        Err(error) => {
            check("secrets", "warn", &format!("not looked at: {}", error.message), "Try again.")
        }
    });
    checks.extend(ask("list_projects", json!({})).ok().and_then(|listed| roots(&listed)));
    Told {
        answered: true,
        events: looked["events"].clone(),
        agents: looked["agents"].clone(),
        stats: ask("memory_stats", json!({})).unwrap_or_default(),
    }
}

impl Told {
    /// Adds what waits in the spool: it came, although the store does not know it yet.
    fn hear(&mut self, waited: &Waiting, checks: &mut [Value]) {
        for heard in &waited.heard {
            let at = rfc3339(heard.at);
            for (known, name) in [(&mut self.events, &heard.name), (&mut self.agents, &heard.agent)]
            {
                // Times of this form are ordered like their texts.
                if known[name].as_str().is_none_or(|known| known < at.as_str()) {
                    known[name] = json!(at);
                }
            }
        }
        let newest = waited.heard.iter().max_by_key(|heard| heard.at);
        let shown = checks.iter_mut().find(|check| check["name"] == "last event");
        if let (Some(newest), Some(shown)) = (newest, shown) {
            let detail = format!("{} {}, it waits in the spool", newest.name, since(newest.at));
            *shown = check("last event", "ok", &detail, "");
        }
    }
}

/// What the secret guard says about the newest records.
fn guarded(found: &Value) -> Value {
    let counts = |name: &str| {
        let members = found[name].as_object().into_iter().flatten();
        members.map(|(of, count)| format!("{of} {count}")).collect::<Vec<_>>().join(", ")
    };
    let newest = limits::SECRETS_SAMPLE;
    if counts("by_place").is_empty() {
        return check("secrets", "ok", &format!("none in the newest {newest} records"), "");
    }
    let detail = format!(
        "{} in the newest {newest} records, by rule: {}",
        found["found"],
        counts("by_rule")
    );
    check("secrets", "fail", &detail, "`rekindle scrub` takes them out.")
}

/// Lists the projects that have several root directories: records of one directory are recalled in the
/// others. `None` if there is no project yet.
fn roots(listed: &Value) -> Option<Value> {
    let projects = listed["projects"].as_array().filter(|projects| !projects.is_empty())?;
    let mut shared = Vec::new();
    for project in projects {
        let aliases = project["aliases"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let roots: Vec<&str> = aliases.filter(|alias| alias.starts_with('/')).collect();
        if roots.len() > 1 {
            let name = project["name"].as_str().unwrap_or_default();
            shared.push(format!("{name} has {} roots: {}", roots.len(), roots.join(", ")));
        }
    }
    let left_out = shared.len().saturating_sub(limits::DOCTOR_PROJECTS_SHOWN);
    shared.truncate(limits::DOCTOR_PROJECTS_SHOWN);
    let count = projects.len();
    if shared.is_empty() {
        return Some(check("projects", "ok", &format!("{count} known, with one root each"), ""));
    }
    let more =
        if left_out > 0 { format!("; and {left_out} more such projects") } else { String::new() };
    let detail = format!("{count} known; {}{more}", shared.join("; "));
    let hint = "`rekindle project list` shows every root; `rekindle project split` makes one a project of its own.";
    Some(check("projects", "ok", &detail, hint))
}
