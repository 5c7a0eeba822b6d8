//! The doctor with a daemon that hangs, is unreachable or absent: it checks everything, says what it could not check,
//! and changes nothing without `--fix`.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::home::signal;
use testkit::{Home, Run};

use super::install::{home, install};
use super::late::suspend;

fn doctor(home: &Home, args: &[&str]) -> Run {
    home.run(&[&["doctor", "--json"], args].concat())
}

/// The status and the detail of one check.
fn said(run: &Run, name: &str) -> (String, String) {
    let report = run.json();
    let mut checks = report["checks"].as_array().unwrap().iter();
    let check = checks.find(|check| check["name"] == name).unwrap_or(&Value::Null);
    let text = |member: &str| check[member].as_str().unwrap_or_default().to_owned();
    (text("status"), text("detail"))
}

fn event(home: &Home) {
    let event = br#"{"session_id":"s-1","hook_event_name":"Stop"}"#;
    home.run_with(&["hook", "Stop", "--agent", "codex"], event).ok();
}

fn set_mode(home: &Home, name: &str, mode: u32) {
    std::fs::set_permissions(home.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(home: &Home, name: &str) -> u32 {
    std::fs::metadata(home.path(name)).unwrap().mode() & 0o7777
}

/// Asserts that the checks of the store are reported, whichever process holds it.
fn tells_of_the_store(run: &Run) {
    for name in ["database", "last event", "secrets", "codex capture"] {
        assert_eq!(said(run, name).0, "ok", "{name}: {run:?}");
    }
}

/// @doctor_in_trouble
#[test]
fn while_the_daemon_hangs_the_store_is_still_checked() {
    let home = home();
    install(&home, &["codex"]).ok();
    let daemon = home.daemon();
    event(&home);
    suspend(daemon.pid());
    let run = doctor(&home, &[]);
    signal(daemon.pid(), "CONT");
    assert_eq!(run.code, 1);
    assert_eq!(said(&run, "daemon").0, "fail");
    tells_of_the_store(&run);
}

/// @doctor_out_of_reach
#[test]
fn a_daemon_whose_socket_is_gone_is_reported_with_its_pid_in_time() {
    let home = home();
    install(&home, &["codex"]).ok();
    let daemon = home.daemon();
    event(&home);
    // Suspended, so that it does not bind its socket again meanwhile.
    suspend(daemon.pid());
    std::fs::remove_file(home.path("run/daemon.sock")).unwrap();
    let started = Instant::now();
    let run = doctor(&home, &[]);
    let took = started.elapsed();
    signal(daemon.pid(), "CONT");
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert_eq!(run.code, 1);
    let (status, detail) = said(&run, "daemon");
    assert_eq!(status, "fail");
    let told = format!("runs (pid {}) and cannot be reached: its socket", daemon.pid());
    assert!(detail.contains(&told), "{detail}");
    assert!(run.stdout.contains(&format!("`kill {}`", daemon.pid())), "{run:?}");
    tells_of_the_store(&run);
}

/// @doctor_out_of_reach
#[test]
fn a_runtime_directory_that_others_can_write_is_reported_and_closed_only_by_fix() {
    let home = home();
    let daemon = home.daemon();
    set_mode(&home, "run", 0o777);
    let run = doctor(&home, &[]);
    assert_eq!((run.code, mode(&home, "run")), (1, 0o777), "{run:?}");
    let (status, detail) = said(&run, "runtime directory");
    assert_eq!(status, "fail");
    assert!(detail.ends_with("can be written by others (mode 777)"), "{detail}");
    let (status, detail) = said(&run, "daemon");
    assert_eq!(status, "warn");
    assert!(detail.starts_with(&format!("runs (pid {})", daemon.pid())), "{detail}");
    let run = doctor(&home, &["--fix"]);
    assert_eq!((run.code, mode(&home, "run")), (0, 0o700), "{run:?}");
    assert_eq!(said(&run, "daemon").0, "ok");
}

/// @doctor_looks
#[test]
fn the_doctor_creates_no_database() {
    let home = home();
    let run = doctor(&home, &[]);
    assert_eq!(run.code, 0, "{run:?}");
    let (status, detail) = said(&run, "database");
    assert!(status == "ok" && detail.contains("none yet"), "{detail}");
    assert!(!home.path("data").exists() && !home.path("run").exists());
}

/// @doctor_looks
#[test]
fn the_doctor_changes_no_file() {
    let home = home();
    install(&home, &["codex"]).ok();
    home.call("mark", &json!({ "text": "a decision" }));
    // After a clean end the database has no other files beside it.
    home.daemon().end_by("TERM");
    event(&home);
    let look = |of: &str| {
        let before = super::install::tree(&home);
        let run = doctor(&home, &[]);
        let after = super::install::tree(&home);
        let changed: Vec<_> = (before.keys().chain(after.keys()))
            .filter(|path| before.get(*path) != after.get(*path))
            // Every reader writes into the shared-memory file of the WAL, if a daemon has left one.
            .filter(|path| !path.to_string_lossy().ends_with("-shm"))
            .collect();
        assert!(changed.is_empty(), "{of}: {changed:?}");
        run
    };
    let run = look("what waits in the spool");
    assert_eq!(said(&run, "spool").0, "warn");
    assert!(said(&run, "last event").1.ends_with("it waits in the spool"), "{run:?}");
    assert_eq!(said(&run, "codex capture").0, "ok", "{run:?}");
    let database = home.path("data/rekindle.db");
    let mut bytes = std::fs::read(&database).unwrap();
    bytes[..16].fill(b'x');
    std::fs::write(&database, bytes).unwrap();
    let run = look("a damaged database");
    assert_eq!((run.code, said(&run, "database").0.as_str()), (1, "fail"), "{run:?}");
    for name in ["last event", "secrets", "codex capture"] {
        assert!(said(&run, name).1.starts_with("not checked: "), "{name}: {run:?}");
    }
    let mended = doctor(&home, &["--fix"]);
    assert_eq!(mended.code, 0, "{mended:?}");
    let fixed = mended.json()["fixed"].to_string();
    for what in ["set a damaged database aside at ", "ingested 1 event from"] {
        assert!(fixed.contains(what), "{what}: {fixed}");
    }
}

/// @doctor_fixes
#[test]
fn a_failed_repair_is_reported_with_its_reason() {
    let home = home();
    home.call("mark", &json!({ "text": "a decision" }));
    // Shared by all users, like /tmp: closing it would take it away from them.
    set_mode(&home, "data", 0o1777);
    let run = doctor(&home, &["--fix"]);
    assert_eq!(run.code, 1);
    let failed = run.json()["failed"].to_string();
    assert!(failed.contains("cannot close ") && failed.contains("shared by all"), "{failed}");
    let shown = home.run(&["doctor", "--fix"]).stdout;
    assert!(shown.contains("not fixed: ") && !shown.contains("Nothing to fix"), "{shown}");
}

/// @doctor_fixes
#[test]
fn spooled_events_are_reported_and_not_ingested_while_the_daemon_hangs() {
    let home = home();
    let daemon = home.daemon();
    suspend(daemon.pid());
    event(&home);
    let run = doctor(&home, &["--fix"]);
    signal(daemon.pid(), "CONT");
    assert_eq!(run.code, 1);
    let failed = run.json()["failed"][0].as_str().unwrap().to_owned();
    assert!(
        failed.starts_with("cannot ingest 1 event from") && failed.contains("answer"),
        "{failed}"
    );
}

/// @doctor_files
#[test]
fn settings_that_others_can_write_are_an_error() {
    let home = home();
    home.run(&["config", "set", "log.level", "debug"]).ok();
    let file = ".config/rekindle/config.toml";
    set_mode(&home, file, 0o666);
    let run = doctor(&home, &[]);
    let (status, detail) = said(&run, "permissions");
    assert_eq!(status, "fail");
    assert!(detail.contains("config.toml can be written by everybody (mode 666)"), "{detail}");
    assert_eq!((doctor(&home, &["--fix"]).code, mode(&home, file)), (0, 0o644));
}

/// @doctor_names_a_bad_lock
#[test]
fn a_lock_that_is_not_a_file_is_named_with_a_way_to_fix_it() {
    let home = home();
    home.run(&["hint", "set", "web", "build", "make", "--ttl", "forever"]).ok();
    let precious = home.write("precious", "PRECIOUS\n");
    set_mode(&home, "precious", 0o644);
    for name in ["run/daemon.lock", "data/rekindle.db.lock"] {
        let path = home.path(name);
        for kind in ["a directory", "a pipe", "a symbolic link"] {
            let _ = std::fs::remove_file(&path);
            match kind {
                "a directory" => std::fs::create_dir(&path).unwrap(),
                "a pipe" => assert!(Command::new("mkfifo").arg(&path).status().unwrap().success()),
                _ => symlink(&precious, &path).unwrap(),
            }
            for args in [&["doctor"] as &[&str], &["doctor", "--fix"]] {
                let run = home.run(args);
                assert_eq!(run.code, 1, "{run:?}");
                let named = format!("{} is {kind}", path.display());
                assert!(run.stdout.contains(&named), "{name} {kind}: {run:?}");
                assert!(run.stdout.to_lowercase().contains("move "), "{name} {kind}: {run:?}");
            }
            assert_eq!(std::fs::read_to_string(&precious).unwrap(), "PRECIOUS\n");
            assert_eq!(mode(&home, "precious"), 0o644, "{name} {kind}");
            let _ = std::fs::remove_dir(&path);
        }
        let _ = std::fs::remove_file(&path);
        // The next command creates a lock file.
        assert_eq!(home.run(&["hint", "get", "web", "build"]).code, 0);
    }
}

/// @doctor_names_a_bad_lock
#[test]
fn a_lock_that_its_owner_may_not_read_is_reported_and_repaired() {
    let home = home();
    home.run(&["hint", "set", "web", "build", "make", "--ttl", "forever"]).ok();
    for name in ["run/daemon.lock", "data/rekindle.db.lock"] {
        set_mode(&home, name, 0o000);
        let run = doctor(&home, &[]);
        let (status, detail) = said(&run, "permissions");
        assert_eq!((run.code, status.as_str()), (1, "fail"), "{run:?}");
        let named = format!("{} cannot be used as a lock (mode 0)", home.path(name).display());
        assert!(detail.contains(&named), "{detail}");
        let fixed = doctor(&home, &["--fix"]);
        assert_eq!(said(&fixed, "permissions").0, "ok", "{fixed:?}");
        assert_eq!(mode(&home, name), 0o600);
    }
}

/// @doctor_of_the_daemon
#[test]
fn the_daemon_answers_with_the_checks_of_the_command() {
    let home = home();
    install(&home, &["codex"]).ok();
    let daemon = home.daemon();
    event(&home);
    let names = |report: &Value| -> Vec<String> {
        let checks = report["checks"].as_array().unwrap().iter();
        checks.map(|check| check["name"].as_str().unwrap().to_owned()).collect()
    };
    let of_daemon = daemon.http().rpc("doctor", &json!({})).unwrap();
    let own = names(&of_daemon);
    let of_command = doctor(&home, &[]).json();
    for name in names(&of_command).iter().filter(|name| *name != "daemon") {
        assert!(own.contains(name), "{name}: {own:?}");
    }
    for name in ["settings", "data directory", "database", "codex", "codex capture", "clock"] {
        let found = own.iter().filter(|own| *own == name).count();
        assert_eq!(found, 1, "{name}: {own:?}");
    }
    assert_eq!(of_daemon["connections"][0]["agent"], of_command["agents"][0]["agent"]);
    let alone = daemon.http().rpc("doctor", &json!({ "machine": false })).unwrap();
    assert!(!names(&alone).contains(&"codex".to_owned()), "{alone}");
    assert_eq!(alone["connections"], json!([]));
}
