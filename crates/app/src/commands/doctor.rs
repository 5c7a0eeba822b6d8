//! `rekindle doctor`: looks at everything that can be wrong, and says what to do about it.

pub(super) mod capture;
mod mend;
mod places;
pub(super) mod program;

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Command};
use client::daemon;
use client::road::SocketRoad;
use model::time::{ago, parse_rfc3339, rfc3339};
use model::wire::Hello;
use model::{Code, OpError, limits};
use serde_json::{Value, json};

use crate::road;
use crate::world::World;

pub(super) fn command() -> Command {
    Command::new("doctor")
        .about("Check the installation and say what to do about what is wrong")
        .long_about(
            "Check what capture needs: the agents and when each was last heard of, the daemon, its \
             directories and files, the settings, the database, the spool and the clock.\n\n\
             Each finding comes with what mends it. Exits with 1 when something needs care.",
        )
        .arg(Arg::new("fix").long("fix").action(ArgAction::SetTrue).help(
            "Do what is safe: close files to others, complete agents that are partly connected, take in \
             what waits, remove what a daemon that is gone left behind",
        ))
        .after_help("Examples:\n  rekindle doctor\n  rekindle doctor --fix\n  rekindle doctor --json")
}

pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    let waited = places::waiting(&world.locations);
    let mends = matches.get_flag("fix");
    let mut fixed = if mends { mend::mend(world) } else { Vec::new() };
    let Report { checks, agents } = examine(world, &waited);
    let taken = waited.events.saturating_sub(places::waiting(&world.locations).events);
    if mends && taken > 0 {
        fixed.push(format!("took in {taken} events that waited in the spool"));
    }
    let ok = checks.iter().all(|check| check["status"] != "fail");
    let mut result = json!({ "ok": ok, "checks": checks, "agents": agents });
    if mends {
        result["fixed"] = fixed.into();
    }
    let exit = world.out.result(&result, Some(&pretty));
    if ok { exit } else { 1 }
}

/// What was found.
struct Report {
    checks: Vec<Value>,
    agents: Vec<Value>,
}

/// What the store tells, as far as it does.
#[derive(Default)]
struct Told {
    /// Whether it told anything.
    answered: bool,
    /// When an event of each name came last.
    events: Value,
    /// When an event of each agent came last; under no name what came while nothing was captured.
    agents: Value,
    stats: Value,
}

fn examine(world: &mut World, waited: &places::Waiting) -> Report {
    let locations = world.locations.clone();
    let mut checks = vec![
        settings(world),
        places::directory("runtime directory", &locations.runtime_dir),
        places::directory("data directory", &locations.data_dir),
    ];
    let connected = road::connect(world);
    let runs = matches!(connected, Ok(Some(_)));
    let daemon = running(world, connected);
    // A daemon that hangs would hang the doctor too.
    let hangs = daemon["status"] == "fail";
    checks.push(daemon);
    checks.extend(hooks(&locations.hook_log()));
    let told = if hangs { Told::default() } else { ask(world, &mut checks) };
    let spool = places::spool(&locations, waited, told.answered, &mut checks);
    checks.extend(spool);
    // Opening the store closes its files to others, so that they are looked at afterwards.
    checks.extend(places::files(&locations));
    checks.extend(places::token(&locations, runs));
    checks.extend(places::disk(&locations.data_dir));
    checks.push(clock(&locations.database, &told));
    let agents = capture::check_all(world, &told, &mut checks);
    Report { checks, agents }
}

/// Asks the store, in the daemon or in this process.
fn ask(world: &mut World, checks: &mut Vec<Value>) -> Told {
    // This one counts as a write, before which the spool is taken in.
    let sample = json!({ "dry_run": true, "newest": limits::SECRETS_SAMPLE });
    let secrets = super::call(world, "scrub", sample);
    // A damaged store is mended by the first who meets it; the second finds it sound.
    let looked = super::call(world, "doctor", Value::Null)
        .or_else(|_| super::call(world, "doctor", Value::Null));
    let looked = match looked {
        Ok(looked) => looked,
        Err(error) => {
            let hint = error.hint.unwrap_or_default();
            checks.push(check("database", "fail", &error.message, &hint));
            return Told::default();
        }
    };
    checks.extend(looked["checks"].as_array().cloned().unwrap_or_default());
    checks.extend(secrets.ok().map(|found| guarded(&found)));
    Told {
        answered: true,
        events: looked["events"].clone(),
        agents: looked["agents"].clone(),
        stats: super::call(world, "memory_stats", json!({})).unwrap_or_default(),
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

/// Whether something kept is from the future, which would stay the newest until then.
fn clock(database: &Path, told: &Told) -> Value {
    let now = client::clock::now_ms();
    let record = told.stats["newest_at"].as_i64().map(|at| at * 1000);
    let file = places::modified(database);
    let slack = i64::try_from(limits::CLOCK_SLACK.as_millis()).unwrap_or(i64::MAX);
    let newest = [("the newest record", record), ("the database file", file)];
    let ahead =
        newest.into_iter().find_map(|(what, at)| Some((what, at?)).filter(|it| it.1 > now + slack));
    match ahead {
        None => check("clock", "ok", &rfc3339(now), ""),
        Some((what, at)) => check(
            "clock",
            "warn",
            &format!("it is {}, but {what} is from {}", rfc3339(now), rfc3339(at)),
            "Set the clock of this machine right (`timedatectl`); what came meanwhile keeps its time.",
        ),
    }
}

fn check(name: &str, status: &str, detail: &str, hint: &str) -> Value {
    let mut check = json!({ "name": name, "status": status, "detail": detail });
    if !hint.is_empty() {
        check["hint"] = json!(hint);
    }
    check
}

fn settings(world: &World) -> Value {
    let file = world.locations.config_file.display();
    match world.config() {
        Ok(_) => check("settings", "ok", &file.to_string(), ""),
        Err(error) => {
            check("settings", "fail", &error.message, error.hint.as_deref().unwrap_or_default())
        }
    }
}

/// What the hooks had to complain about lately; they never say it to the agent.
fn hooks(log: &Path) -> Option<Value> {
    let since = rfc3339(client::clock::now_ms() - 24 * 3_600_000);
    let text = super::logs::tail(log, 1_000).ok()?;
    let lately: Vec<&str> = text.lines().filter(|line| **line >= *since).collect();
    let last = lately.last()?;
    let detail = format!("{} complaints in the last day, the last: {last}", lately.len());
    Some(check("hooks", "warn", &detail, "See `rekindle logs --hook`."))
}

fn running(world: &World, connected: Result<Option<(SocketRoad, Hello)>, OpError>) -> Value {
    let discovery = daemon::discovery(&world.locations);
    match (connected, discovery) {
        // It answers, and says that it is not ours.
        (Err(error), _) if error.code != Code::Timeout => {
            check("daemon", "fail", &error.message, error.hint.as_deref().unwrap_or_default())
        }
        (Err(error), Some(found)) => check(
            "daemon",
            "fail",
            &format!("{} (pid {})", error.message, found.pid),
            "If it is suspended, continue it (kill -CONT); else end it and start anew.",
        ),
        (Err(error), None) => {
            check("daemon", "fail", &error.message, error.hint.as_deref().unwrap_or_default())
        }
        (Ok(Some((_, hello))), _) if world.build.is_newer_than(&hello.build) => check(
            "daemon",
            "warn",
            &format!("pid {} is of an older build ({})", hello.pid, hello.build),
            "`rekindle stop` lets the next one be new.",
        ),
        (Ok(Some((_, hello))), _) => check(
            "daemon",
            "ok",
            &format!("pid {} at {}, build {}", hello.pid, hello.address, hello.build),
            "",
        ),
        (Ok(None), Some(_)) => check(
            "daemon",
            "ok",
            "not running; the last one left without saying goodbye",
            "Nothing to do: the next one takes over what it held. `rekindle doctor --fix` removes its files.",
        ),
        (Ok(None), None) => check(
            "daemon",
            "ok",
            "not running",
            "`rekindle up` starts it; hooks and hint commands start it by themselves.",
        ),
    }
}

/// A time of the store, in milliseconds.
fn at(time: &Value) -> Option<i64> {
    time.as_str().and_then(parse_rfc3339)
}

/// `3m ago`.
fn since(at: i64) -> String {
    ago(at, client::clock::now_ms())
}

fn pretty(result: &Value) -> String {
    let mut lines = Vec::new();
    for check in result["checks"].as_array().into_iter().flatten() {
        let text = |name: &str| check[name].as_str().unwrap_or_default();
        let mark = match text("status") {
            "ok" => "✔",
            "warn" => "!",
            _ => "✘",
        };
        lines.push(format!("{mark} {}: {}", text("name"), text("detail")));
        if !text("hint").is_empty() {
            lines.push(format!("    {}", text("hint")));
        }
    }
    let Some(fixed) = result["fixed"].as_array() else { return lines.join("\n") };
    lines.push(String::new());
    if fixed.is_empty() {
        lines.push("Nothing was there to mend by itself.".to_owned());
    }
    let done = fixed.iter().filter_map(Value::as_str);
    lines.extend(done.map(|what| format!("mended: {what}")));
    lines.join("\n")
}
