//! Scratch files of a killed restore or backup: they are found, reported and removed.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use testkit::Home;
use testkit::home::signal;

use super::{home, sqlite};

/// The files of this directory whose names contain `part`.
fn named(dir: &Path, part: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let has = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().contains(part);
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(has).collect();
    found.sort();
    found
}

/// A home with a hint and a backup so large that copying it takes a moment.
fn with_large_backup() -> Home {
    let home = home();
    home.run(&["hint", "set", "web", "build", "make", "--ttl", "forever"]).ok();
    home.run(&["backup", "copy.db"]).ok();
    sqlite::open(&home.path("copy.db"))
        .execute_batch(
            "CREATE TABLE filler (body); \
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) \
             INSERT INTO filler SELECT randomblob(600) FROM n;",
        )
        .unwrap();
    home
}

/// Runs a command and kills it as soon as a file with `part` in its name exists. Returns whether that file is
/// still there.
fn kill_midway(home: &Home, args: &[&str], dir: &Path, part: &str) -> bool {
    let mut command = home.command(args);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    while child.try_wait().unwrap().is_none() {
        if !named(dir, part).is_empty() {
            signal(child.id(), "KILL");
            let _ = child.wait();
            break;
        }
    }
    !named(dir, part).is_empty()
}

/// @leftovers_are_swept
#[test]
fn a_killed_restore_changes_nothing_and_its_scratch_files_are_reported_and_removed() {
    let home = with_large_backup();
    let data = home.path("data");
    assert!(
        (0..20).any(|_| kill_midway(&home, &["restore", "copy.db"], &data, ".restore-")),
        "no restore was killed midway"
    );
    // A file that a user gave a similar name is not ours.
    let users = home.write("data/rekindle.db.restore-old", "mine");
    let left = named(&data, ".restore-");
    let shown = left[0].display().to_string();
    let doctor = home.run(&["doctor"]);
    assert!(doctor.stdout.contains("leftovers") && doctor.stdout.contains(&shown), "{doctor:?}");
    assert_eq!(named(&data, ".restore-"), left, "a look changes nothing");
    let fixed = home.run(&["doctor", "--fix"]);
    assert!(fixed.stdout.contains(&format!("removed {shown}")), "{fixed:?}");
    assert_eq!(named(&data, ".restore-"), [users]);
    let status = home.run(&["status"]).ok();
    assert!(
        status.contains("an earlier process was interrupted; its scratch files were deleted"),
        "{status}"
    );
    assert!(status.contains(&shown), "{status}");
    assert_eq!(home.run(&["hint", "get", "web", "build"]).code, 0);
    assert!(sqlite::is_sound(&sqlite::path(&home)));
}

/// @leftovers_are_swept
#[test]
fn a_restore_after_a_killed_one_names_what_it_removed() {
    let home = home();
    home.run(&["mark", "a mark"]).ok();
    home.run(&["backup", "copy.db"]).ok();
    let left = home.write("data/rekindle.db.restore-7-0", "half");
    home.run(&["restore", "copy.db"]).ok();
    assert!(!left.exists());
    for command in ["status", "doctor"] {
        let said = home.run(&[command]).stdout;
        assert!(said.contains("rekindle.db.restore-7-0"), "{command}: {said}");
    }
}

/// @leftovers_are_swept
#[test]
fn a_daemon_removes_leftovers_when_it_starts_and_logs_them() {
    let home = home();
    home.run(&["hint", "set", "web", "build", "make", "--ttl", "forever"]).ok();
    let left = ["restore-7-0", "fresh-7-0", "fresh-7-0-journal", "header-7-1", "patched-7-2-wal"];
    for name in left {
        home.write(&format!("data/rekindle.db.{name}"), "half");
    }
    home.write("data/backups/before-restore-20260101T000000Z.db.partial-7-0", "half");
    let _daemon = home.daemon();
    for dir in ["data", "data/backups"] {
        assert_eq!(named(&home.path(dir), "-7-"), Vec::<PathBuf>::new(), "{dir}");
    }
    let log = home.run(&["logs"]).ok();
    for name in left {
        assert!(log.contains(&format!("rekindle.db.{name}")), "{name}: {log}");
    }
}

/// @leftovers_are_swept
#[test]
fn a_repeated_backup_removes_the_scratch_files_of_a_killed_one() {
    let home = with_large_backup();
    home.run(&["restore", "copy.db"]).ok();
    let dir = home.dir.clone();
    assert!(
        (0..20).any(|number| {
            let file = format!("b{number}.db");
            kill_midway(&home, &["backup", &file], &dir, ".db.partial-")
        }),
        "no backup was killed midway"
    );
    let left = named(&dir, ".db.partial-");
    let file = left[0].file_name().unwrap().to_str().unwrap();
    let file = file.split_once(".partial-").unwrap().0.to_owned();
    home.run(&["backup", &file]).ok();
    assert_eq!(named(&dir, ".db.partial-"), Vec::<PathBuf>::new());
    assert!(sqlite::is_sound(&home.path(&file)));
}

/// @leftovers_are_swept
#[test]
fn a_repair_killed_between_its_two_renames_is_finished() {
    let home = home();
    home.run(&["hint", "set", "web", "build", "make", "--ttl", "forever"]).ok();
    home.run(&["backup", "copy.db"]).ok();
    // The damaged database was moved aside, but not its WAL, and the new one is complete.
    let at = |name: &str| home.path(&format!("data/{name}"));
    std::fs::rename(home.path("copy.db"), at("rekindle.db.fresh-7-0")).unwrap();
    std::fs::rename(at("rekindle.db"), at("rekindle.db.corrupt-20260101T000000Z")).unwrap();
    assert!(at("rekindle.db-wal").exists());
    assert_eq!(home.run(&["hint", "get", "web", "build"]).code, 0);
    assert!(at("rekindle.db.corrupt-20260101T000000Z-wal").exists());
    assert!(sqlite::is_sound(&sqlite::path(&home)));
    let status = home.run(&["status"]).ok();
    assert!(status.contains("its repair of the database was completed"), "{status}");
}
