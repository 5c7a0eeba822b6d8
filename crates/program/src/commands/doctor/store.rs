//! Checks of the store: asks the daemon, or reads the store and changes nothing.

use std::io;

use client::road::{Lost, SocketRoad};
use model::time::rfc3339;
use model::{OpError, Reply, Road as _, limits};
use serde_json::{Value, json};

use super::places::SpooledEvents;
use super::{check, history, moved, since};
use crate::calls::request;
use crate::world::{self, World};

/// The answers of the store, as far as it could be read.
#[derive(Default)]
pub(super) struct StoreAnswers {
    /// Whether it could be read.
    pub(super) answered: bool,
    /// Time of the last event of each name.
    pub(super) events: Value,
    /// Time of the last event of each agent; under the empty name, of events that arrived while capture was off.
    pub(super) agents: Value,
    pub(super) stats: Value,
}

/// Asks the daemon if it answers; otherwise reads the store.
pub(super) fn ask(
    world: &World,
    road: Option<&SocketRoad>,
    waited: &SpooledEvents,
    checks: &mut Vec<Value>,
) -> StoreAnswers {
    if let Some(road) = road {
        let by_road = |op: &str, params: Value| -> Reply {
            let deadline = world.table.get(op)?.info.patience();
            let reply = road.call(&request(op, params), deadline);
            reply
                .unwrap_or_else(|Lost(_)| Err(OpError::unavailable("the daemon stopped meanwhile")))
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

/// Reads the store.
fn look(world: &World, checks: &mut Vec<Value>) -> StoreAnswers {
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

fn none_yet(world: &World, checks: &mut Vec<Value>) -> StoreAnswers {
    let detail =
        format!("{}: none yet; the first event creates it", world.locations.database.display());
    checks.push(check("database", "ok", &detail, ""));
    checks.push(check(
        "last event",
        "warn",
        "no hook event has been recorded yet",
        "`rekindle agents` shows which agents are connected; start a new session of one of them.",
    ));
    StoreAnswers { answered: true, ..StoreAnswers::default() }
}

/// The store could not be read: every check that needs it says so.
fn unread(error: &OpError, checks: &mut Vec<Value>) -> StoreAnswers {
    let hint = error.hint.as_deref().unwrap_or_default();
    checks.push(check("database", "fail", &error.message, hint));
    for name in ["last event", "secrets"] {
        checks.push(check(name, "warn", "not checked: the database could not be read", ""));
    }
    StoreAnswers::default()
}

fn tell(ask: &dyn Fn(&str, Value) -> Reply, checks: &mut Vec<Value>) -> StoreAnswers {
    // The first request that meets a damaged store repairs it; the second one finds it sound.
    let store_alone = || ask("doctor", json!({ "machine": false }));
    let looked = match store_alone().or_else(|_| store_alone()) {
        Ok(looked) => looked,
        Err(error) => return unread(&error, checks),
    };
    checks.extend(looked["checks"].as_array().cloned().unwrap_or_default());
    let here = std::env::current_dir().ok().and_then(|cwd| git::Facts::at(&cwd));
    records(ask, here.as_ref(), checks);
    StoreAnswers {
        answered: true,
        events: looked["events"].clone(),
        agents: looked["agents"].clone(),
        stats: ask("memory_stats", json!({})).unwrap_or_default(),
    }
}

/// Checks of the records: secrets in them, and the directories of projects. `here` is the repository of the caller.
pub(super) fn records(
    ask: &dyn Fn(&str, Value) -> Reply,
    here: Option<&git::Facts>,
    checks: &mut Vec<Value>,
) {
    let sample = json!({ "dry_run": true, "newest": limits::SECRETS_SAMPLE });
    checks.push(match ask("scrub", sample) {
        Ok(found) => guarded(&found),
        Err(error) => {
            check("secrets", "warn", &format!("not checked: {}", error.message), "Try again.")
        }
    });
    let warnings = history::check_all(ask).into_iter();
    checks.extend(warnings.map(|(detail, hint)| check("history", "warn", &detail, &hint)));
    if let Ok(listed) = ask("list_projects", json!({})) {
        checks.extend(roots(&listed));
        checks.extend(here.and_then(|here| moved::check_here(ask, &listed, here)));
    }
}

impl StoreAnswers {
    /// Adds the events of the spool, which the store does not have yet.
    fn hear(&mut self, waited: &SpooledEvents, checks: &mut [Value]) {
        for heard in &waited.heard {
            let at = rfc3339(heard.at);
            for (known, name) in [(&mut self.events, &heard.name), (&mut self.agents, &heard.agent)]
            {
                // Times of this format sort as text.
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

/// The secret guard's findings in the newest records.
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
    check("secrets", "fail", &detail, "`rekindle scrub` removes these and those in older records.")
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
        let each = if count == 1 { "with one root" } else { "each with one root" };
        let detail = format!("{}, {each}", text::counted(count, "project"));
        return Some(check("projects", "ok", &detail, ""));
    }
    let more = if left_out > 0 {
        format!("; and {}", text::counted(left_out, "more such project"))
    } else {
        String::new()
    };
    let detail = format!("{count} known; {}{more}", shared.join("; "));
    let hint = "`rekindle project list` shows every root; `rekindle project split` makes one a project of its own.";
    Some(check("projects", "ok", &detail, hint))
}
