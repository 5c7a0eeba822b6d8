//! Settings, logs and the doctor.

use serde_json::{Value, json};
use testkit::{Home, wait_until};

use super::{home, sqlite};

/// @settings_are_kept_in_a_file
#[test]
fn config_sets_gets_and_lists_settings_and_names_their_source() {
    let mut home = home();
    home.unset("REKINDLE_PORT");
    let file = home.run(&["config", "path"]).ok();
    assert_eq!(file.trim(), home.locations().config_file.to_str().unwrap());
    assert_eq!(home.run(&["config", "get", "daemon.port"]).ok(), "8765\n");
    home.run(&["config", "set", "daemon.port", "9123"]).ok();
    home.run(&["config", "set", "daemon.idle", "2h"]).ok();
    assert_eq!(home.run(&["config", "get", "daemon.port"]).ok(), "9123\n");
    let listed = home.run(&["config", "--json"]).json();
    let port = listed["settings"].as_array().unwrap().iter().find(|s| s["key"] == "daemon.port");
    assert_eq!(port.unwrap()["value"], 9123);
    // The environment wins over the file.
    home.set("REKINDLE_PORT", "9124");
    assert_eq!(home.run(&["config", "get", "daemon.port"]).ok(), "9124\n");
    for bad in [
        ["daemon.port", "many"],
        ["daemon.port", "70000"],
        ["daemon.idle", "soon"],
        ["log.level", "loud"],
        ["hints.default_ttl", "soon"],
        ["mcp.tools", "bogus"],
        ["briefing.tokens", "2401"],
        ["retention.days", "banana"],
        ["retention.days", "file_read=30,banana=1"],
        ["retention.days", "file_read=-1"],
        ["retention.days", "memory=30"],
        ["retention.days", "file_read=30,experience=0"],
        ["observations.exclude_projects", "web,/srv/[a"],
        ["no.such", "1"],
    ] {
        let run = home.run(&["config", "set", bad[0], bad[1]]);
        assert_eq!(run.code, 1, "{run:?}");
    }
    home.run(&["config", "set", "retention.days", "file_read=30, command=0"]).ok();
    assert_eq!(home.run(&["config", "get", "daemon.idle"]).ok(), "2h\n");
    let path = file.trim();
    let unset = home.run(&["config", "unset", "daemon.idle"]).ok();
    assert!(unset.starts_with(&format!("✔ daemon.idle is no longer set in {path}; ")), "{unset}");
    assert_ne!(home.run(&["config", "get", "daemon.idle"]).ok(), "2h\n");
    let again = home.run(&["config", "unset", "daemon.idle"]).ok();
    assert!(again.starts_with(&format!("daemon.idle is not set in {path}; ")), "{again}");
    assert_eq!(home.run(&["config", "unset", "no.such"]).code, 1);
    let kept = std::fs::read_to_string(path).unwrap();
    assert!(kept.contains("port = 9123") && kept.contains("command=0"), "{kept}");
}

/// @broken_settings_are_reported
#[test]
fn a_broken_settings_file_is_reported_by_name_and_line_by_every_command() {
    let mut home = home();
    home.unset("REKINDLE_PORT");
    let file = home.locations().config_file;
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let commands: [&[&str]; 9] = [
        &["serve"],
        &["serve", "--http"],
        &["serve", "--daemon"],
        &["up"],
        &["hint", "get", "web", "build"],
        &["config", "get", "daemon.port"],
        &["status"],
        &["stop"],
        &["logs"],
    ];
    for (text, line) in [("[daemon]\nport = \n", 2), ("\n[daemon]\nprot = 1\n", 3)] {
        std::fs::write(&file, text).unwrap();
        let place = format!("{}, line {line}", file.display());
        for command in commands {
            let run = home.run(command);
            assert!(run.stderr.contains(&place), "{command:?}: {run:?}");
        }
        let doctor = home.run(&["doctor"]);
        assert_eq!(doctor.code, 1);
        assert!(doctor.stdout.contains(&place), "{doctor:?}");
        // A session start needs an answer, which depends on the settings.
        for event in ["Stop", "SessionStart"] {
            home.hook(event, &json!({ "session_id": "s-1" }));
        }
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "\n[daemon]\nprot = 1\n");
}

/// @broken_settings_are_reported
#[test]
fn a_running_daemon_can_be_used_and_stopped_after_the_settings_were_broken() {
    let home = home();
    let _daemon = home.daemon();
    let file = home.locations().config_file;
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "nonsense\n").unwrap();
    let set = home.run(&["hint", "set", "web", "build", "make"]);
    assert!(set.stderr.contains("config.toml, line 1"), "{set:?}");
    set.ok();
    let kept = "config.toml, line 1: ";
    let goes_on = "; the daemon still uses the old settings";
    let status = home.run(&["status"]).ok();
    let note = status.lines().find(|line| line.starts_with("note: ")).unwrap();
    assert!(note.contains(kept) && note.ends_with(goes_on), "{status}");
    let in_force = check(&home, "settings in force");
    assert_eq!(in_force["status"], "warn");
    let detail = in_force["detail"].as_str().unwrap();
    assert!(detail.contains(kept) && detail.ends_with(goes_on), "{detail}");
    assert_eq!(check(&home, "settings")["status"], "fail");
    let refused = home.run(&["config", "set", "daemon.idle", "2h"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    let stop = home.run(&["stop"]);
    assert!(stop.stderr.contains("config.toml, line 1"), "{stop:?}");
    assert!(stop.ok().starts_with("stopped"));
}

/// @settings_hold_from_the_next_start
#[test]
fn a_changed_setting_applies_from_the_next_start_and_every_command_says_so() {
    let home = home();
    let daemon = home.daemon();
    let set = home.run(&["config", "set", "briefing.tokens", "100"]);
    assert!(set.stderr.starts_with("note: the running daemon keeps its settings"), "{set:?}");
    set.ok();
    let status = home.run(&["status", "--json"]).json();
    let note = status["notes"][0].as_str().unwrap();
    assert!(note.contains("config.toml was changed since the daemon started"), "{note}");
    assert_eq!(check(&home, "settings in force")["status"], "warn");
    assert_eq!(status["pid"], daemon.pid());
    home.run(&["stop"]).ok();
    let _next = home.daemon();
    assert_eq!(home.run(&["status", "--json"]).json()["notes"], json!([]));
    assert_eq!(check(&home, "settings in force"), Value::Null);
}

/// @logs_print_the_tail
#[test]
fn logs_prints_the_last_lines_and_exits() {
    let home = home();
    assert!(home.run(&["logs"]).stderr.contains("no log yet"));
    let _daemon = home.daemon();
    for number in 0..5 {
        let key = format!("k{number}");
        home.call("set_hint", &json!({ "component": "web", "key": key, "value": "v" }));
    }
    let all = home.run(&["logs"]).ok();
    assert!(all.contains("serves port"), "{all}");
    assert_eq!(all.matches("op=set_hint").count(), 5, "{all}");
    let two = home.run(&["logs", "-n", "2"]).ok();
    assert_eq!(two.lines().count(), 2);
    assert!(all.ends_with(&two));
}

/// @logs_hold_no_user_text
#[test]
fn the_log_never_contains_user_text() {
    let mut home = home();
    home.set("REKINDLE_LOG_LEVEL", "debug");
    let daemon = home.daemon();
    let marker = "zebrafish";
    let value = json!({
        "component": marker, "key": marker, "value": marker, "meta": { "reason": marker },
    });
    home.call("set_hint", &value);
    daemon.http().rpc("get_hint", &json!({ "component": marker, "key": "none" })).unwrap_err();
    daemon.http().rpc(marker, &json!({})).unwrap_err();
    daemon.http().rpc("set_hint", &json!({ "component": marker, marker: 1 })).unwrap_err();
    let payload = json!({
        "session_id": "s-1", "prompt": marker, "tool_name": marker, "cwd": marker,
        "tool_input": { "command": marker }, "tool_response": marker,
    });
    home.hook("UserPromptSubmit", &payload);
    home.hook("PostToolUse", &payload);
    home.hook(marker, &payload);
    home.hook("PostToolUse", &json!({ "session_id": "s-1", "tool_name": [marker] }));
    home.hook("PostToolUse", &json!({ "session_id": marker.repeat(50), "tool_name": "Bash" }));
    home.run_with(&["hook", "PostToolUse", "--agent", marker], payload.to_string().as_bytes()).ok();
    home.run_with(&["hook", "PostToolUse"], format!("{{\"a\": {marker}").as_bytes()).ok();
    home.run(&["stop"]).ok();
    for name in ["daemon.log", "hook.log"] {
        let log = std::fs::read_to_string(home.path("data/log").join(name)).unwrap();
        assert!(!log.is_empty() && !log.contains(marker), "{name}: {log}");
    }
}

/// @logs_are_rotated
#[test]
fn a_daemon_log_over_5_mib_is_rotated_and_three_old_files_are_kept() {
    let home = home();
    let full = "x".repeat(5 * 1024 * 1024);
    for name in ["daemon.log", "daemon.log.1", "daemon.log.2", "daemon.log.3"] {
        home.write(&format!("data/log/{name}"), &full);
    }
    let _daemon = home.daemon();
    let size = |name: &str| home.path("data/log").join(name).metadata().map(|meta| meta.len()).ok();
    assert!(size("daemon.log").unwrap() < 100_000);
    for name in ["daemon.log.1", "daemon.log.2", "daemon.log.3"] {
        assert_eq!(size(name), Some(5 * 1024 * 1024), "{name}");
    }
    assert_eq!(size("daemon.log.4"), None);
}

/// One check of the doctor by its name.
fn check(home: &Home, name: &str) -> Value {
    let found = home.run(&["doctor", "--json"]).json();
    let checks = found["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).cloned().unwrap_or(Value::Null)
}

/// @doctor_explains
#[test]
fn the_doctor_finds_no_problem_with_a_running_daemon() {
    let home = home();
    let daemon = home.daemon();
    home.hook("Stop", &json!({ "session_id": "s-1" }));
    let doctor = home.run(&["doctor", "--json"]);
    assert_eq!(doctor.code, 0, "{doctor:?}");
    assert_eq!(doctor.json()["ok"], true);
    for check in doctor.json()["checks"].as_array().unwrap() {
        assert_eq!(check["status"], "ok", "{check}");
    }
    let running = check(&home, "daemon");
    assert!(running["detail"].as_str().unwrap().contains(&format!("pid {}", daemon.pid())));
    let last = check(&home, "last event");
    assert!(last["detail"].as_str().unwrap().starts_with("Stop "), "{last}");
}

/// @doctor_explains
#[test]
fn the_doctor_says_how_to_fix_each_problem() {
    let home = home();
    assert_eq!(check(&home, "daemon")["detail"], "not running");
    assert_eq!(check(&home, "last event")["status"], "warn");
    let mut daemon = home.daemon();
    daemon.kill();
    let left = check(&home, "daemon");
    assert!(left["detail"].as_str().unwrap().contains("did not shut down cleanly"), "{left}");
    home.write("data/spool/000000000000001-nonsense.json", "{");
    home.run(&["doctor", "--fix"]).ok();
    let spool = home.run(&["doctor"]).ok();
    assert!(spool.contains("1 file of the spool could not be read"), "{spool}");
    // Another program with a database of its own at our path.
    std::fs::remove_file(sqlite::path(&home)).unwrap();
    let _ = std::fs::remove_file(home.path("data/rekindle.db-wal"));
    let _ = std::fs::remove_file(home.path("data/rekindle.db-shm"));
    sqlite::open(&sqlite::path(&home)).execute_batch("CREATE TABLE theirs (a)").unwrap();
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains("database of another application"), "{doctor:?}");
}

/// @doctor_explains
#[test]
fn the_doctor_recognises_a_suspended_daemon() {
    let home = home();
    let daemon = home.daemon();
    testkit::home::signal(daemon.pid(), "STOP");
    let doctor = home.run(&["doctor"]);
    testkit::home::signal(daemon.pid(), "CONT");
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains(&format!("(pid {})", daemon.pid())), "{doctor:?}");
    assert!(doctor.stdout.contains("kill -CONT"), "{doctor:?}");
    wait_until("the daemon answers again", || (home.run(&["doctor"]).code == 0).then_some(()));
}

/// @doctor_explains
#[test]
fn the_doctor_reports_errors_that_hooks_could_not_print() {
    let home = home();
    home.run_with(&["hook", "PostToolUse"], b"zebrafish");
    let report = home.run(&["doctor", "--json"]).json();
    let checks = report["checks"].as_array().unwrap();
    let hooks = checks.iter().find(|check| check["name"] == "hooks").expect("a check of the hooks");
    assert_eq!(hooks["status"], "warn", "{hooks}");
    let detail = hooks["detail"].as_str().unwrap();
    assert!(detail.contains("PostToolUse: dropped") && !detail.contains("zebrafish"), "{detail}");
}

/// @doctor_explains
#[test]
fn a_start_in_the_background_fails_with_the_same_error_as_in_the_foreground() {
    let mut home = home();
    home.unset("REKINDLE_NO_AUTOSTART");
    home.set("REKINDLE_LOG_LEVEL", "loud");
    for line in [&["up", "--json"][..], &["hint", "get", "a", "b", "--json"]] {
        let run = home.run(line);
        assert_eq!(run.code, 1, "{run:?}");
        let error = &run.json()["error"];
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("log.level") && !message.contains("hint:"), "{error}");
    }
}
