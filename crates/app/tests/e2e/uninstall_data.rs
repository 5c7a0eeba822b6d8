//! `uninstall --data`: it lists exactly what it removes and keeps, and removes nothing of a running daemon.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::home::signal;
use testkit::{Home, Run};

use super::install::{home, install, tree};
use super::late::suspend;

fn uninstall(home: &Home, args: &[&str]) -> Run {
    home.run(&[&["uninstall", "--data"], args].concat())
}

/// The number and total bytes of these files and of the files beside them.
fn measured(paths: &[PathBuf]) -> (u64, u64) {
    let sizes = paths.iter().map(|path| std::fs::metadata(path).unwrap().len());
    (paths.len() as u64, sizes.sum())
}

/// The files and bytes that the result reports for one path.
fn removed(result: &Value, place: &Path) -> (u64, u64) {
    let mut places = result["data"]["removed"].as_array().unwrap().iter();
    let told = places.find(|told| told["path"] == json!(place)).expect("the place is told of");
    (told["files"].as_u64().unwrap(), told["bytes"].as_u64().unwrap())
}

/// @connect_data
#[test]
fn a_database_named_by_the_user_is_counted_reported_and_removed_with_its_other_files() {
    let mut home = home();
    home.unset("REKINDLE_HOME");
    let database = home.path("mine/x.db");
    std::fs::create_dir(home.path("mine")).unwrap();
    let named = database.to_str().unwrap().to_owned();
    home.write("mine/notes", "not ours");
    home.run(&["--db", &named, "mark", "a decision"]).ok();
    let event = br#"{"session_id":"s-1"}"#;
    home.run_with(&["--db", &named, "hook", "Stop"], event).ok();
    let files = ["x.db", "x.db-wal", "x.db-shm"].map(|name| home.path("mine").join(name));
    let size = measured(&files);
    let before = tree(&home);
    let plan = home.run(&["--db", &named, "uninstall", "--data", "--dry-run", "--json"]).json();
    assert_eq!(removed(&plan, &database), size, "{plan}");
    assert_eq!(tree(&home), before, "a dry run changes nothing");
    let asked = home.run(&["--db", &named, "uninstall", "--data"]);
    assert!(asked.stderr.contains(&format!("KiB in {named}, {named}.d")), "{asked:?}");
    let done = home.run(&["--db", &named, "uninstall", "--data", "--yes", "--json"]).json();
    assert_eq!((removed(&done, &database), &done["changed"]), (size, &json!(true)));
    assert_eq!(removed(&done, &home.path("mine/x.db.d")).0, 1, "what waited in the spool");
    let left: Vec<_> = std::fs::read_dir(home.path("mine")).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

/// @connect_data
#[test]
fn the_data_of_another_database_in_the_same_directory_stays() {
    let home = home();
    home.run(&["mark", "a decision"]).ok();
    let named = home.path("x.db");
    let named = named.to_str().unwrap();
    // A separate runtime directory, because each belongs to one database.
    let run = |args: &[&str]| {
        let mut command = home.command([&["--db", named], args].concat());
        command.env("REKINDLE_RUNTIME_DIR", home.path("run-x"));
        testkit::home::finish(command, b"")
    };
    run(&["mark", "another"]).ok();
    let shown = run(&["uninstall", "--data", "--yes"]).ok();
    assert!(shown.contains("data/rekindle.db (of another database)"), "{shown}");
    assert!(!Path::new(named).exists() && home.path("data/rekindle.db").exists());
}

/// @connect_data
#[test]
fn the_runtime_directory_is_removed_and_the_settings_are_kept_and_reported() {
    let home = home();
    home.run(&["config", "set", "log.level", "debug"]).ok();
    let mut daemon = home.daemon();
    let plan = uninstall(&home, &["--dry-run"]).ok();
    assert!(plan.contains(&format!("would end    the daemon (pid {})", daemon.pid())), "{plan}");
    let shown = uninstall(&home, &["--yes"]).ok();
    assert_eq!(daemon.wait(), Some(0));
    let settings = home.path(".config/rekindle/config.toml");
    assert!(
        shown.contains(&format!("kept      {} (your settings)", settings.display())),
        "{shown}"
    );
    assert!(settings.exists() && !home.path("data").exists() && !home.path("run").exists());
}

/// @connect_data_in_use
#[test]
fn while_a_daemon_does_not_end_nothing_is_undone_or_removed() {
    let home = home();
    install(&home, &["codex"]).ok();
    let mut daemon = home.daemon();
    home.call("mark", &json!({ "text": "a decision" }));
    suspend(daemon.pid());
    let files = || home.files();
    let before = files();
    for is_lost in [false, true] {
        if is_lost {
            std::fs::remove_file(home.path("run/daemon.sock")).unwrap();
        }
        let run = uninstall(&home, &["--yes"]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stderr.contains("nothing was changed"), "{run:?}");
        let mends = format!("`kill -9 {}`", daemon.pid());
        assert!(run.stderr.contains(&mends), "{run:?}");
        assert_eq!(files(), before);
    }
    signal(daemon.pid(), "CONT");
    // It binds its socket again, and ends cleanly.
    uninstall(&home, &["--yes"]).ok();
    assert_eq!(daemon.wait(), Some(0));
    assert!(!home.path("data").exists() && !home.path(".codex").exists());
}

/// @connect_data_in_use
#[test]
fn a_database_served_from_another_runtime_directory_is_kept() {
    let home = home();
    let _daemon = home.daemon();
    let mut command = home.command(["uninstall", "--data", "--yes"]);
    command.env("REKINDLE_RUNTIME_DIR", home.path("elsewhere"));
    let run = testkit::home::finish(command, b"");
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("nothing was changed"), "{run:?}");
    assert!(home.path("data/rekindle.db").exists());
}
