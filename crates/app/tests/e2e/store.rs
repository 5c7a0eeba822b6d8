//! The database file: damaged, deleted or replaced while in use, backed up and restored.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use testkit::{Daemon, Home};

use super::{home, sqlite};

fn set(daemon: &Daemon, key: &str) -> Value {
    let hint = json!({ "component": "web", "key": key, "value": "make" });
    daemon.http().rpc("set_hint", &hint).unwrap()
}

fn get(daemon: &Daemon, key: &str) -> Result<Value, Value> {
    daemon.http().rpc("get_hint", &json!({ "component": "web", "key": key }))
}

/// Overwrites a part of the database while no process has it open.
fn overwrite(home: &Home, at: u64, bytes: &[u8]) {
    let path = sqlite::path(home);
    OpenOptions::new().write(true).open(path).unwrap().write_all_at(bytes, at).unwrap();
}

/// The database files that were moved aside as damaged.
fn set_aside(home: &Home) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home.path("data")).unwrap().flatten();
    // The WAL and its index are kept beside it under the same name.
    let damaged = |path: &PathBuf| {
        let name = path.to_str().unwrap();
        name.contains("rekindle.db.corrupt-") && name.ends_with('Z')
    };
    entries.map(|entry| entry.path()).filter(damaged).collect()
}

/// Sends a prompt.
fn prompted(daemon: &Daemon, words: &str) {
    let payload = json!({ "session_id": "s-1", "cwd": "/srv/app", "prompt": words });
    let event = json!({ "event": "UserPromptSubmit", "payload": payload });
    assert_eq!(daemon.http().rpc("hook", &event).unwrap()["recorded"], true);
}

/// The prompts with this word, in order of time.
fn said(daemon: &Daemon, word: &str) -> Vec<String> {
    let query = json!({ "query": word, "obs_type": "user_prompt", "project": "*" });
    let found = daemon.http().rpc("search", &query).unwrap();
    let mut said: Vec<(u64, String)> = found["results"]
        .as_array()
        .unwrap_or_else(|| panic!("{found}"))
        .iter()
        .map(|hit| {
            (hit["id"].as_u64().unwrap(), hit["content_preview"].as_str().unwrap().to_owned())
        })
        .collect();
    said.sort();
    said.into_iter().map(|(_, words)| words).collect()
}

/// The root page of a table, which every read of it needs.
fn root_of(home: &Home, table: &str) -> u64 {
    const ROOT: &str = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let db = sqlite::open(&sqlite::path(home));
    let root = db.query_row(ROOT, [table], |row| row.get(0));
    root.unwrap_or_else(|error| panic!("{table}: {error}"))
}

fn spoil_root(home: &Home, table: &str) {
    overwrite(home, (root_of(home, table) - 1) * 4096, &[0xa5; 512]);
}

/// A home with a closed database that has lasting hints and two prompts.
fn used() -> Home {
    let home = home();
    let mut daemon = home.daemon();
    for number in 0..50 {
        let hint = json!({
            "component": "web", "key": format!("k{number}"), "value": "x".repeat(500),
            "meta": { "ttl": "forever" },
        });
        daemon.http().rpc("set_hint", &hint).unwrap();
    }
    for words in ["tame the zebrafish", "feed the zebrafish"] {
        prompted(&daemon, words);
    }
    assert_eq!(daemon.end_by("TERM"), Some(0));
    assert!(!home.path("data/rekindle.db-wal").exists(), "a clean end leaves one file");
    home
}

/// Asserts that status and doctor report the damage, and that the old database is kept.
fn repair_is_reported(home: &Home) {
    let kept = set_aside(home);
    assert_eq!(kept.len(), 1, "{kept:?}");
    let told = format!("set aside at {}", kept[0].display());
    let way_out = "`rekindle restore FILE` brings back a backup";
    let status = home.run(&["status"]).ok();
    assert!(status.contains("the database was damaged") && status.contains(&told), "{status}");
    assert!(status.contains(way_out), "{status}");
    let doctor = home.run(&["doctor"]);
    assert!(doctor.stdout.contains(&told), "{doctor:?}");
    assert_eq!(doctor.code, 0, "{doctor:?}");
}

/// @a_damaged_database_is_set_aside
#[test]
fn a_damaged_header_is_set_aside_and_everything_is_salvaged() {
    let home = used();
    overwrite(&home, 0, b"not a database at all, not in the least");
    let daemon = home.daemon();
    for number in 0..50 {
        get(&daemon, &format!("k{number}")).unwrap();
    }
    assert_eq!(home.run(&["status", "--json"]).json()["events"], 2);
    // They are found by their words, and so are later prompts.
    prompted(&daemon, "sell the zebrafish");
    let all = ["tame the zebrafish", "feed the zebrafish", "sell the zebrafish"];
    assert_eq!(said(&daemon, "zebrafish"), all);
    set(&daemon, "after");
    repair_is_reported(&home);
    assert!(sqlite::is_sound(&sqlite::path(&home)));
}

/// @a_damaged_database_is_set_aside
#[test]
fn a_flipped_bit_in_the_header_loses_nothing() {
    // The format number.
    for byte in [5_u8, 0x44] {
        let home = used();
        overwrite(&home, 47, &[byte]);
        let daemon = home.daemon();
        get(&daemon, "k49").unwrap();
        assert_eq!(said(&daemon, "zebrafish"), ["tame the zebrafish", "feed the zebrafish"]);
        repair_is_reported(&home);
        assert!(sqlite::is_sound(&sqlite::path(&home)), "{byte}");
    }
}

/// @a_damaged_database_is_set_aside
#[test]
fn the_next_session_and_a_status_without_a_daemon_report_a_repair() {
    let home = used();
    overwrite(&home, 0, b"not a database at all, not in the least");
    let start = json!({ "session_id": "s-9", "cwd": "/srv/app" }).to_string();
    let told = home.run_with(&["hook", "SessionStart"], start.as_bytes()).ok();
    assert!(told.contains("Memory was repaired"), "{told}");
    assert!(told.contains("the database was damaged"), "{told}");
    repair_is_reported(&home);
    let status = home.run(&["status"]).ok();
    assert!(status.starts_with("not running\n"), "{status}");
}

/// @a_damaged_database_is_set_aside
#[test]
fn damaged_pages_are_set_aside_and_the_readable_rows_are_salvaged() {
    let home = used();
    spoil_root(&home, "hint_variants");
    let daemon = home.daemon();
    set(&daemon, "after");
    get(&daemon, "after").unwrap();
    // The events are on other pages and complete.
    assert_eq!(home.run(&["status", "--json"]).json()["events"], 2);
    assert_eq!(said(&daemon, "zebrafish"), ["tame the zebrafish", "feed the zebrafish"]);
    repair_is_reported(&home);
    assert!(sqlite::is_sound(&sqlite::path(&home)));
}

/// @a_damaged_database_is_set_aside
#[test]
fn a_damaged_index_is_rebuilt_from_the_records() {
    let home = used();
    spoil_root(&home, "passage_fts_data");
    let daemon = home.daemon();
    // A prompt is the first call to find the damage, and is still stored.
    prompted(&daemon, "sell the zebrafish");
    let all = ["tame the zebrafish", "feed the zebrafish", "sell the zebrafish"];
    assert_eq!(said(&daemon, "zebrafish"), all);
    get(&daemon, "k7").unwrap();
    repair_is_reported(&home);
    assert!(sqlite::is_sound(&sqlite::path(&home)));
}

/// @a_damaged_database_is_set_aside
#[test]
fn a_damaged_sequence_table_does_not_let_an_id_be_used_twice() {
    let home = used();
    spoil_root(&home, "record_ids");
    let daemon = home.daemon();
    prompted(&daemon, "sell the zebrafish");
    let all = ["tame the zebrafish", "feed the zebrafish", "sell the zebrafish"];
    assert_eq!(said(&daemon, "zebrafish"), all);
    repair_is_reported(&home);
}

/// @a_vanished_database_is_noticed
#[test]
fn after_the_database_was_deleted_the_next_write_is_kept_and_survives_a_kill() {
    let home = home();
    let mut daemon = home.daemon();
    set(&daemon, "before");
    for suffix in ["", "-wal", "-shm"] {
        std::fs::remove_file(home.path(&format!("data/rekindle.db{suffix}"))).unwrap();
    }
    set(&daemon, "after");
    let status = home.run(&["status"]).ok();
    assert!(status.contains("vanished while in use"), "{status}");
    daemon.kill();
    let next = home.daemon();
    get(&next, "after").unwrap();
    // Hints in memory are written again.
    get(&next, "before").unwrap();
    assert!(sqlite::is_sound(&sqlite::path(&home)));
}

/// @a_vanished_database_is_noticed
#[test]
fn after_the_whole_data_directory_was_deleted_the_next_write_is_kept() {
    let home = home();
    let mut daemon = home.daemon();
    set(&daemon, "before");
    std::fs::remove_dir_all(home.path("data")).unwrap();
    set(&daemon, "after");
    daemon.kill();
    let next = home.daemon();
    get(&next, "after").unwrap();
}

/// @a_moved_database_is_whole
#[test]
fn a_database_moved_away_while_in_use_has_every_acknowledged_write() {
    for (other, stops) in [(None, false), (Some("text"), false), (None, true)] {
        let home = home();
        let mut daemon = home.daemon();
        set(&daemon, "before");
        let (path, moved) = (sqlite::path(&home), home.path("moved.db"));
        std::fs::rename(&path, &moved).unwrap();
        if let Some(text) = other {
            std::fs::write(&path, text).unwrap();
        }
        // Both notice it: a command that reads, and the end of the daemon.
        if stops {
            assert_eq!(daemon.end_by("TERM"), Some(0));
        } else {
            home.run(&["recent"]);
        }
        assert!(!home.path("data/rekindle.db-wal").exists() || other.is_none());
        assert!(sqlite::is_sound(&moved));
        let names = "SELECT count(*) FROM hint_variants WHERE key = 'before'";
        let found: u64 = sqlite::open(&moved).query_row(names, [], |row| row.get(0)).unwrap();
        assert_eq!(found, 1, "{other:?} {stops}");
    }
}

/// @a_moved_database_is_whole
#[test]
fn the_wal_of_a_moved_database_is_kept_if_it_cannot_be_checkpointed() {
    let home = home();
    let daemon = home.daemon();
    set(&daemon, "first");
    // A snapshot that another program holds prevents the checkpoint of the WAL.
    let reader = sqlite::open(&sqlite::path(&home));
    reader.execute_batch("BEGIN; SELECT count(*) FROM hint_variants").unwrap();
    set(&daemon, "zebrafish");
    std::fs::rename(sqlite::path(&home), home.path("moved.db")).unwrap();
    home.run(&["recent"]).ok();
    let files = home.files();
    let is_log = |path: &Path| path.to_string_lossy().contains("/data/rekindle.db.log-");
    let (log, bytes) = files.iter().find(|(path, _)| is_log(path)).expect("a log");
    assert!(String::from_utf8_lossy(bytes).contains("zebrafish"));
    let said = home.run(&["doctor"]).stdout;
    assert!(said.contains(log.file_name().unwrap().to_str().unwrap()), "{said}");
    drop(reader);
}

/// @a_replaced_database_is_noticed
#[test]
fn a_database_put_in_place_of_ours_is_used_from_then_on() {
    let home = home();
    let mut daemon = home.daemon();
    set(&daemon, "old");
    let copy = home.path("copy.db");
    home.run(&["backup", copy.to_str().unwrap()]).ok();
    set(&daemon, "newer");
    std::fs::rename(&copy, sqlite::path(&home)).unwrap();
    set(&daemon, "after");
    assert_eq!(get(&daemon, "newer").unwrap_err()["code"], 40401);
    daemon.kill();
    let next = home.daemon();
    get(&next, "old").unwrap();
    get(&next, "after").unwrap();
    get(&next, "newer").unwrap_err();
    assert!(sqlite::is_sound(&sqlite::path(&home)));
}

/// @a_lost_log_is_noticed
#[test]
fn no_acknowledged_write_is_lost_if_the_wal_is_deleted() {
    let home = home();
    let mut daemon = home.daemon();
    set(&daemon, "before");
    std::fs::remove_file(home.path("data/rekindle.db-wal")).unwrap();
    set(&daemon, "after");
    daemon.kill();
    let next = home.daemon();
    get(&next, "before").unwrap();
    get(&next, "after").unwrap();
    assert!(sqlite::is_sound(&sqlite::path(&home)));
}

/// @a_backup_is_whole
#[test]
fn a_backup_taken_during_writes_is_complete_and_never_overwrites() {
    let home = home();
    let daemon = home.daemon();
    let stop = AtomicBool::new(false);
    let copy = home.path("copy.db");
    let copy = copy.to_str().unwrap();
    set(&daemon, "before");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut socket = home.socket();
            while !stop.load(Ordering::Relaxed) {
                let hint = json!({ "component": "storm", "key": "k", "value": "x".repeat(10_000) });
                socket.rpc("set_hint", &hint).unwrap();
            }
        });
        let said = home.run(&["backup", copy]);
        stop.store(true, Ordering::Relaxed);
        assert!(said.ok().starts_with(&format!("wrote {copy} (")));
    });
    assert!(sqlite::is_sound(Path::new(copy)));
    let before = std::fs::read(copy).unwrap();
    let again = home.run(&["backup", copy]);
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("exists already"), "{again:?}");
    assert_eq!(std::fs::read(copy).unwrap(), before);
    let nowhere = home.run(&["backup", home.path("no/such/copy.db").to_str().unwrap()]);
    assert_eq!(nowhere.code, 1);
    assert!(nowhere.stderr.contains("does not exist"), "{nowhere:?}");
}

/// @a_restore_replaces_and_keeps
#[test]
fn a_restore_replaces_the_database_and_keeps_the_previous_one() {
    let home = home();
    let daemon = home.daemon();
    set(&daemon, "old");
    home.run(&["backup", "copy.db"]).ok();
    set(&daemon, "newer");
    let restored = home.run(&["restore", "copy.db", "--json"]).json();
    get(&daemon, "old").unwrap();
    assert_eq!(get(&daemon, "newer").unwrap_err()["code"], 40401);
    set(&daemon, "after");
    // The previous database can be restored in the same way, here without a daemon.
    home.run(&["stop"]).ok();
    home.run(&["restore", restored["previous"].as_str().unwrap()]).ok();
    assert_eq!(home.run(&["hint", "get", "web", "newer"]).code, 0);
    assert_eq!(home.run(&["hint", "get", "web", "after"]).code, 1);
}

/// @a_bad_restore_changes_nothing
#[test]
fn a_restore_from_a_file_that_is_not_a_backup_changes_nothing() {
    let home = home();
    let daemon = home.daemon();
    set(&daemon, "build");
    home.run(&["backup", "newer.db"]).ok();
    sqlite::open(&home.path("newer.db")).pragma_update(None, "user_version", 99).unwrap();
    home.write("garbage.db", &"garbage ".repeat(2_000));
    home.write("empty.db", "");
    sqlite::open(&home.path("foreign.db")).execute_batch("CREATE TABLE theirs (a)").unwrap();
    home.run(&["backup", "cut.db"]).ok();
    OpenOptions::new().write(true).open(home.path("cut.db")).unwrap().set_len(9_000).unwrap();
    let bad = [
        ("newer.db", "schema version 99"),
        ("garbage.db", "not an SQLite database"),
        ("empty.db", "not a sound database"),
        ("foreign.db", "another application"),
        ("cut.db", "not a sound database"),
        ("none.db", "there is no file"),
        ("data", "it is a directory"),
        ("data/rekindle.db", "in use"),
    ];
    for (file, words) in bad {
        let run = home.run(&["restore", file]);
        assert_eq!(run.code, 1, "{file}: {run:?}");
        assert!(run.stderr.contains(words), "{file}: {run:?}");
        get(&daemon, "build").unwrap();
    }
    set(&daemon, "after");
    assert!(!home.path("data/backups").exists(), "nothing was replaced");
    assert!(sqlite::is_sound(&sqlite::path(&home)));
}
