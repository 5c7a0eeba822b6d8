//! `rekindle doctor`: looks at everything that can be wrong, and says what to do about it.

use std::path::Path;

use clap::{ArgMatches, Command};
use client::daemon;
use model::Code;
use serde_json::{Value, json};

use crate::road;
use crate::world::World;

pub(super) fn command() -> Command {
    Command::new("doctor")
        .about("Check the installation and say what to do about what is wrong")
        .long_about("Check the daemon, its directories, the settings, the database and the spool. Exits with 1 when something is wrong.")
}

pub(super) fn run(world: &mut World, _: &[String], _: &ArgMatches) -> u8 {
    let mut checks = vec![
        settings(world),
        directory("runtime directory", &world.locations.runtime_dir.clone()),
        directory("data directory", &world.locations.data_dir.clone()),
        running(world),
    ];
    checks.extend(hooks(&world.locations.hook_log()));
    // A daemon that hangs would hang the doctor too.
    let hangs = checks
        .iter()
        .any(|check| check["name"] == json!("daemon") && check["status"] == json!("fail"));
    if !hangs {
        // A damaged store is mended by the first who meets it; the second finds it sound.
        let looked = super::call(world, "doctor", Value::Null)
            .or_else(|_| super::call(world, "doctor", Value::Null));
        match looked {
            Ok(result) => checks.extend(result["checks"].as_array().cloned().unwrap_or_default()),
            Err(error) => {
                let hint = error.hint.clone().unwrap_or_default();
                checks.push(check("database", "fail", &error.message, &hint));
            }
        }
    }
    let ok = checks.iter().all(|check| check["status"] != json!("fail"));
    let exit = world.out.result(&json!({ "ok": ok, "checks": checks }), Some(&pretty));
    if ok { exit } else { 1 }
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
    let since = model::time::rfc3339(client::clock::now_ms() - 24 * 3_600_000);
    let text = super::logs::tail(log, 1_000).ok()?;
    let lately: Vec<&str> = text.lines().filter(|line| **line >= *since).collect();
    let last = lately.last()?;
    let detail = format!("{} complaints in the last day, the last: {last}", lately.len());
    Some(check("hooks", "warn", &detail, "See `rekindle logs --hook`."))
}

fn directory(name: &str, path: &Path) -> Value {
    let shown = path.display();
    if !path.exists() {
        return check(name, "ok", &format!("{shown}: not there yet"), "");
    }
    if client::platform::is_private(path) {
        return check(name, "ok", &shown.to_string(), "");
    }
    check(
        name,
        "fail",
        &format!("{shown} is not a directory that only you can write"),
        "Make it yours (chown, chmod 700), or set REKINDLE_RUNTIME_DIR or REKINDLE_HOME.",
    )
}

fn running(world: &World) -> Value {
    let discovery = daemon::discovery(&world.locations);
    match (road::connect(world), discovery) {
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
            "Nothing to do: the next one takes over what it held.",
        ),
        (Ok(None), None) => check(
            "daemon",
            "ok",
            "not running",
            "`rekindle up` starts it; hooks and hint commands start it by themselves.",
        ),
    }
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
    lines.join("\n")
}
