//! `rekindle doctor`: checks everything that can be wrong, and suggests fixes.

pub(super) mod capture;
mod daemon;
mod history;
mod mend;
mod moved;
mod places;
pub(super) mod program;
mod store;

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Command};
use contract::Config;
use model::locations::Locations;
use model::time::{ago, parse_rfc3339, rfc3339};
use model::{OpError, limits};
use runtime::{MachineQuestion, MachineReport};
use serde_json::{Value, json};

use self::mend::Fixes;
use self::store::StoreAnswers;
use crate::kit;
use crate::world::{self, World};

pub(super) fn command() -> Command {
    Command::new("doctor")
        .about("Check the installation and suggest fixes")
        .long_about(
            "Check everything that capture needs: the agents and their last events, the daemon, its \
             directories and files, the settings, the database, the spool and the clock.\n\n\
             A check is marked ✔ (good), ! (worth a look) or ✘ (failed), most of the latter two with the next \
             step below. Exits with 1 if a check failed or if --fix could not fix something; a ! does not \
             change the exit code.",
        )
        .arg(Arg::new("fix").long("fix").action(ArgAction::SetTrue).help(
            "Apply safe fixes: make files private, complete partly connected agents, ingest the spool, \
             repair the database, delete the files of a daemon that is gone",
        ))
        .after_help("Examples:\n  rekindle doctor\n  rekindle doctor --fix\n  rekindle doctor --json")
}

pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    let mends = matches.get_flag("fix");
    let waited = places::waiting(&world.locations);
    let mut mended = Fixes::default();
    if mends {
        mend::close(world, &mut mended);
    }
    let mut daemon = daemon::look(world);
    if mends {
        mend::mend(world, &daemon, &waited, &mut mended);
        if !daemon.runs {
            daemon = daemon::look(world);
        }
    }
    let DoctorReport { checks, agents } = examine(world, &daemon);
    let ok = mended.failed.is_empty() && checks.iter().all(|check| check["status"] != "fail");
    let mut result = json!({ "ok": ok, "checks": checks, "agents": agents });
    if mends {
        result["fixed"] = mended.fixed.into();
        result["failed"] = mended.failed.into();
    }
    let exit = world.out.result(&result, Some(&pretty));
    if ok { exit } else { 1 }
}

/// The results of all checks.
struct DoctorReport {
    checks: Vec<Value>,
    agents: Vec<Value>,
}

fn examine(world: &mut World, daemon: &daemon::DaemonState) -> DoctorReport {
    let locations = world.locations.clone();
    // A running daemon drains the spool during the checks.
    let waited = places::waiting(&locations);
    let mut checks = vec![
        settings(&world.config(), &locations),
        places::directory("runtime directory", &locations.runtime_dir),
        places::directory("data directory", &locations.data_dir),
        daemon.check.clone(),
    ];
    checks.extend(hooks(&locations.hook_log()));
    let told = store::ask(world, daemon.road.as_ref(), &waited, &mut checks);
    let spool = places::spool(&locations, &waited, daemon.runs, &mut checks);
    checks.extend(spool);
    places::mark_read_only(&locations, &mut checks);
    checks.extend(places::files(&locations));
    checks.extend(places::lock(&locations));
    checks.extend(places::leftovers(&locations));
    checks.extend(places::token(&locations, daemon.runs));
    checks.extend(places::disk(&locations.data_dir));
    checks.push(clock(&locations.database, &told));
    checks.extend(search_path());
    let agents = capture::check_all(&world.build, &told, &mut checks);
    DoctorReport { checks, agents }
}

/// The checks of this machine for a daemon, which answers `doctor` itself. The daemon does not check the directory of
/// a caller.
pub(super) fn machine(question: &MachineQuestion<'_>) -> MachineReport {
    let MachineQuestion { locations, table, is_daemon, ask, events, agents } = question;
    let mut checks = vec![
        settings(&world::config(table, locations), locations),
        places::directory("runtime directory", &locations.runtime_dir),
        places::directory("data directory", &locations.data_dir),
    ];
    checks.extend(hooks(&locations.hook_log()));
    store::records(*ask, None, &mut checks);
    let told = StoreAnswers {
        answered: true,
        events: events.clone(),
        agents: agents.clone(),
        stats: ask("memory_stats", json!({})).unwrap_or_default(),
    };
    checks.extend(places::files(locations));
    checks.extend(places::lock(locations));
    checks.extend(places::leftovers(locations));
    checks.extend(places::token(locations, *is_daemon));
    checks.extend(places::disk(&locations.data_dir));
    checks.push(clock(&locations.database, &told));
    checks.extend(search_path());
    let agents = capture::check_all(&kit::build(), &told, &mut checks);
    MachineReport { checks, agents }
}

/// Checks whether the user's shell finds the program. A program in a build directory is not meant to be found.
fn search_path() -> Option<Value> {
    let program = super::install::installed_program()?;
    let shown = program.to_string_lossy();
    Some(match super::search_path::advice(&program) {
        None => check("program", "ok", &shown, ""),
        Some(advice) => check("program", "warn", &format!("{shown} is not on PATH"), &advice),
    })
}

/// Checks for stored times in the future, which would stay the newest until then.
fn clock(database: &Path, told: &StoreAnswers) -> Value {
    let now = client::clock::now_ms();
    let record = told.stats["newest_at"].as_i64().map(|at| at.saturating_mul(1000));
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
            "Correct the clock of this machine (`timedatectl`); records that have a wrong time keep it.",
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

fn settings(config: &Result<Config, OpError>, locations: &Locations) -> Value {
    let file = locations.config_file.display();
    match config {
        Ok(_) => check("settings", "ok", &file.to_string(), ""),
        Err(error) => {
            check("settings", "fail", &error.message, error.hint.as_deref().unwrap_or_default())
        }
    }
}

/// Recent errors in the hooks' log; hooks never report them to the agent.
fn hooks(log: &Path) -> Option<Value> {
    let since = rfc3339(client::clock::now_ms() - 24 * 3_600_000);
    let text = super::logs::tail(log, 1_000).ok()?;
    let lately: Vec<&str> = text.lines().filter(|line| **line >= *since).collect();
    let last = lately.last()?;
    let lines = text::counted(lately.len(), "line");
    let detail = format!("{lines} in the hooks' log in the last day, the last: {last}");
    Some(check("hooks", "warn", &detail, "See `rekindle logs --hook`."))
}

/// A time from the store, in milliseconds.
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
    let failed = result["failed"].as_array().map(Vec::as_slice).unwrap_or_default();
    if fixed.is_empty() && failed.is_empty() {
        lines.push("Nothing to fix automatically.".to_owned());
    }
    for (title, all) in [("fixed", fixed.as_slice()), ("not fixed", failed)] {
        let texts = all.iter().filter_map(Value::as_str);
        lines.extend(texts.map(|what| format!("{title}: {what}")));
    }
    lines.join("\n")
}
