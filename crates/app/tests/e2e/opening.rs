//! Opening files: a file that is not a database of ours is refused by name and not changed, and no command blocks
//! on a pipe.

use std::fs::Permissions;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Home, Run, wait_until};

use super::{home, sqlite};

/// Long enough for a debug build on a busy machine. A command that blocks on a pipe never ends.
const AT_ONCE: Duration = Duration::from_secs(30);

/// Every entry of a directory with its mode and, if it is a file, its bytes.
fn listing(dir: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
    let mut all: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let meta = std::fs::symlink_metadata(entry.path()).unwrap();
            let bytes =
                if meta.is_file() { std::fs::read(entry.path()).unwrap() } else { Vec::new() };
            (entry.path(), meta.permissions().mode(), bytes)
        })
        .collect();
    all.sort();
    all
}

fn mkfifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// A home in which databases are chosen only by `--db`, so that their other files are beside them.
fn plain_home() -> Home {
    let mut home = home();
    home.unset("REKINDLE_HOME");
    std::fs::create_dir(home.path("docs")).unwrap();
    home
}

const EVENT: &str = r#"{"session_id":"s-1","cwd":"/srv/app","hook_event_name":"UserPromptSubmit","prompt":"tame the zebrafish"}"#;

fn refused(run: &Run, file: &Path, words: &str, what: &[&str]) {
    assert_eq!(run.code, 1, "{what:?}: {run:?}");
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(said.contains(&format!("{} {words}", file.display())), "{what:?}: {run:?}");
}

/// Asserts that every way to open `file` fails with its name, the reason and a hint, and changes nothing beside it.
fn refused_everywhere(home: &Home, file: &Path, words: &str) {
    let before = listing(&home.path("docs"));
    let named = file.to_str().unwrap();
    let copy = home.path("copy.db");
    let commands: [&[&str]; 14] = [
        &["recent"],
        &["search", "zebrafish"],
        &["status"],
        &["stop"],
        &["serve"],
        &["serve", "--http"],
        &["serve", "--daemon"],
        &["up"],
        &["hint", "set", "web", "build", "make"],
        &["doctor"],
        &["doctor", "--fix"],
        &["backup", copy.to_str().unwrap()],
        &["restore", copy.to_str().unwrap()],
        &["uninstall", "--data", "--yes"],
    ];
    for command in commands {
        let command = [command, &["--db", named]].concat();
        let started = Instant::now();
        let run = home.run(&command);
        assert!(started.elapsed() < AT_ONCE, "{command:?}");
        refused(&run, file, words, &command);
        assert!(format!("{run:?}").contains("Nothing was changed"), "{command:?}: {run:?}");
        assert_eq!(listing(&home.path("docs")), before, "{command:?}");
    }
    let recorded = home.run_with(&["record", "--db", named], EVENT.as_bytes());
    refused(&recorded, file, words, &["record"]);
    assert_eq!(listing(&home.path("docs")), before, "record");
    assert!(!home.locations().discovery().exists());
    assert!(!copy.exists());
}

/// @only_databases_are_opened
#[test]
fn a_file_that_is_not_a_database_is_refused_by_name_and_unchanged() {
    let home = plain_home();
    let texts: [(&str, &[u8]); 4] = [
        ("notes.txt", b"precious notes\n"),
        ("paper.pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n"),
        ("short", b"SQLite"),
        ("cut.db", b"SQLite format 3\0\x10\0\x01\x01"),
    ];
    for (name, text) in texts {
        let file = home.path("docs").join(name);
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    }
    refused_everywhere(&home, &home.path("docs/notes.txt"), "is not an SQLite database");
    for (name, _) in &texts[1..] {
        let (file, before) = (home.path("docs").join(name), listing(&home.path("docs")));
        let run = home.run(&["recent", "--db", file.to_str().unwrap()]);
        refused(&run, &file, "is not an SQLite database", &[name]);
        assert_eq!(listing(&home.path("docs")), before, "{name}");
    }
}

/// @only_databases_are_opened
#[test]
fn the_environment_variables_for_a_database_follow_the_same_rule() {
    let mut home = plain_home();
    let notes = home.write("docs/rekindle.db", "precious notes\n");
    let before = listing(&home.path("docs"));
    for (variable, value) in [("NMEM_DB", &notes), ("REKINDLE_HOME", &home.path("docs"))] {
        home.set(variable, value.to_str().unwrap());
        let run = home.run(&["recent"]);
        refused(&run, &notes, "is not an SQLite database", &[variable]);
        home.unset(variable);
        assert_eq!(listing(&home.path("docs")), before, "{variable}");
    }
}

/// @only_databases_are_opened
#[test]
fn a_damaged_database_of_another_application_is_unchanged() {
    let home = plain_home();
    let file = home.path("docs/theirs.db");
    sqlite::open(&file)
        .execute_batch("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)")
        .unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[100..2_000].fill(0xa5);
    std::fs::write(&file, bytes).unwrap();
    refused_everywhere(&home, &file, "is a database of another application");
}

/// @only_databases_are_opened
#[test]
fn pipes_sockets_directories_and_broken_links_are_refused_at_once() {
    let home = plain_home();
    let pipe = home.path("docs/pipe");
    mkfifo(&pipe);
    refused_everywhere(&home, &pipe, "is not a database: it is a pipe");
    let at = |name: &str| home.path("docs").join(name);
    let _socket = UnixListener::bind(at("socket")).unwrap();
    std::fs::create_dir(at("dir")).unwrap();
    symlink(at("nowhere"), at("dangling")).unwrap();
    symlink(at("loop"), at("loop")).unwrap();
    let before = listing(&home.path("docs"));
    let others = [
        ("socket", "is not a database: it is a socket"),
        ("dir", "is not a database: it is a directory"),
        ("dangling", "is a symbolic link that leads nowhere"),
        ("loop", "is not a database: it is a symbolic link that leads to itself"),
    ];
    for (name, words) in others {
        for command in ["recent", "serve", "doctor"] {
            let run = home.run(&[command, "--db", at(name).to_str().unwrap()]);
            refused(&run, &at(name), words, &[command, name]);
            assert_eq!(listing(&home.path("docs")), before, "{command} {name}");
        }
    }
    symlink(&pipe, at("link")).unwrap();
    let run = home.run(&["recent", "--db", at("link").to_str().unwrap()]);
    // The error names the target of the link.
    refused(&run, &pipe, "is not a database: it is a pipe", &["link"]);
}

/// @only_databases_are_opened
#[test]
fn a_hook_for_a_refused_file_spools_its_event_until_there_is_a_database() {
    let home = plain_home();
    let notes = home.write("docs/notes.db", "precious notes\n");
    let before = listing(&home.path("docs"));
    let named = notes.to_str().unwrap();
    for event in ["SessionStart", "UserPromptSubmit", "Stop"] {
        let run = home.run_with(&["hook", event, "--db", named], EVENT.as_bytes());
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""), "{event}");
        assert_eq!(listing(&home.path("docs")), before, "{event}");
    }
    let log = home.run(&["logs", "--hook", "--db", named]).ok();
    assert_eq!(log.matches("is not an SQLite database").count(), 3, "{log}");
    // The user moves the file away, and the spooled events are recorded.
    std::fs::rename(&notes, home.path("notes.txt")).unwrap();
    let found = home.run(&["search", "zebrafish", "--project", "*", "--db", named]).ok();
    assert!(found.contains("tame the zebrafish"), "{found}");
}

/// @only_databases_are_opened
#[test]
fn an_empty_file_becomes_a_database() {
    let home = plain_home();
    let file = home.write("docs/new.db", "");
    home.run(&["recent", "--db", file.to_str().unwrap()]).ok();
    assert!(sqlite::is_sound(&file));
}

/// @only_databases_are_opened
#[test]
fn a_daemon_whose_database_is_replaced_by_another_file_spools_and_recovers() {
    let home = home();
    let daemon = home.daemon();
    let hint = |key: &str| json!({ "component": "web", "key": key, "value": "make" });
    daemon.http().rpc("set_hint", &hint("before")).unwrap();
    let database = sqlite::path(&home);
    home.run(&["backup", "copy.db"]).ok();
    let notes = home.write("notes.txt", "precious notes\n");
    std::fs::rename(&notes, &database).unwrap();
    let error = daemon.http().rpc("set_hint", &hint("meanwhile")).unwrap_err();
    assert_eq!(error["code"], 50301, "{error}");
    assert!(error["message"].as_str().unwrap().contains("is not an SQLite database"), "{error}");
    home.hook("Stop", &json!({ "session_id": "s-1" }));
    assert_eq!(home.spooled().len(), 1);
    assert_eq!(std::fs::read_to_string(&database).unwrap(), "precious notes\n");
    std::fs::rename(home.path("copy.db"), &database).unwrap();
    daemon.http().rpc("set_hint", &hint("after")).unwrap();
    daemon.http().rpc("get_hint", &json!({ "component": "web", "key": "before" })).unwrap();
    wait_until("the event is recorded", || home.spooled().is_empty().then_some(()));
}

/// @only_databases_are_opened
#[test]
fn text_written_over_a_former_database_is_refused_and_unchanged() {
    let texts: [&[u8]; 4] = [
        b"#!/bin/sh\necho precious\n",
        &b"precious notes\n".repeat(2_000),
        &b"\n".repeat(20_000),
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n",
    ];
    for text in texts {
        let home = plain_home();
        let file = home.path("docs/a.db");
        let named = file.to_str().unwrap();
        home.run(&["hint", "set", "web", "build", "make", "--ttl", "forever", "--db", named]).ok();
        let inode = std::fs::metadata(&file).unwrap().ino();
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().ino(), inode, "the file is written in place");
        refused_everywhere(&home, &file, "is not an SQLite database");
    }
}

/// @only_databases_are_opened
#[test]
fn a_backup_is_restored_after_text_was_written_over_the_database() {
    let home = home();
    let daemon = home.daemon();
    let hint = |key: &str| json!({ "component": "web", "key": key, "value": "make" });
    daemon.http().rpc("set_hint", &hint("before")).unwrap();
    home.run(&["backup", "copy.db"]).ok();
    drop(daemon);
    let database = sqlite::path(&home);
    let garbage = "garbage ".repeat(2_000);
    std::fs::write(&database, &garbage).unwrap();
    let run = home.run(&["recent"]);
    refused(&run, &database, "is not an SQLite database", &["recent"]);
    home.hook("Stop", &json!({ "session_id": "s-1" }));
    assert_eq!(std::fs::read_to_string(&database).unwrap(), garbage);
    assert_eq!(home.spooled().len(), 1);
    std::fs::rename(&database, home.path("garbage")).unwrap();
    // The daemon was killed: the WAL still has its last writes.
    let wal = home.path("data/rekindle.db-wal");
    let run = home.run(&["restore", "copy.db"]);
    refused(&run, &wal, "has the last writes of a database that is missing", &["restore"]);
    std::fs::rename(&wal, home.path("garbage-wal")).unwrap();
    home.run(&["restore", "copy.db"]).ok();
    assert_eq!(home.run(&["hint", "get", "web", "before"]).code, 0);
}

/// @pipes_are_never_waited_for
#[test]
fn a_pipe_in_place_of_any_file_fails_at_once() {
    let home = home();
    home.run(&["hint", "set", "web", "build", "make", "--ttl", "forever"]).ok();
    let pipe = home.path("pipe");
    mkfifo(&pipe);
    for command in
        [&["restore", "pipe"] as &[&str], &["hint", "import", "pipe"], &["backup", "pipe"]]
    {
        let started = Instant::now();
        let run = home.run(command);
        assert!(started.elapsed() < AT_ONCE, "{command:?}");
        assert_eq!(run.code, 1, "{command:?}: {run:?}");
        assert!(run.stderr.contains("pipe"), "{command:?}: {run:?}");
        assert!(run.stderr.contains("hint: "), "{command:?}: {run:?}");
    }
    let restored = home.run(&["restore", "run"]);
    assert!(restored.stderr.contains("it is a directory"), "{restored:?}");
    // `eval` accepts the output of a command; a pipe without a writer is empty.
    let run = home.run(&["eval", "--docs", "pipe", "--questions", "pipe"]);
    assert_ne!(run.code, 0, "{run:?}");
    // Our own files.
    let own = ["data/token", "data/log/hook.log", "data/log/daemon.log", "data/rekindle.db-paused"];
    for file in own {
        let file = home.path(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let _ = std::fs::remove_file(&file);
        mkfifo(&file);
    }
    home.hook("Stop", &json!({ "session_id": "s-1" }));
    home.run(&["hook", "Stop", "one too many"]).ok();
    for command in
        [&["logs"] as &[&str], &["logs", "--hook"], &["doctor"], &["status"], &["recent"]]
    {
        let started = Instant::now();
        home.run(command);
        assert!(started.elapsed() < AT_ONCE, "{command:?}");
    }
}

/// @pipes_are_never_waited_for
#[test]
fn a_pipe_in_place_of_a_journal_is_reported_and_events_are_spooled() {
    let home = home();
    home.run(&["hint", "set", "web", "build", "make", "--ttl", "forever"]).ok();
    for suffix in ["-journal", "-wal", "-shm"] {
        let pipe = home.path(&format!("data/rekindle.db{suffix}"));
        let moved = home.path("moved");
        let was_there = std::fs::rename(&pipe, &moved).is_ok();
        mkfifo(&pipe);
        let run = home.run(&["recent"]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stderr.contains(&format!("{} is a pipe", pipe.display())), "{run:?}");
        home.hook("Stop", &json!({ "session_id": "s-1" }));
        std::fs::remove_file(&pipe).unwrap();
        if was_there {
            std::fs::rename(&moved, &pipe).unwrap();
        }
    }
    assert_eq!(home.spooled().len(), 3);
    assert_eq!(home.run(&["hint", "get", "web", "build"]).code, 0);
    assert_eq!(sqlite::recorded(&home).len(), 3);
}

/// @pipes_are_never_waited_for
#[test]
fn a_pipe_in_place_of_the_settings_is_reported() {
    let mut home = home();
    let settings = home.path("config.toml");
    mkfifo(&settings);
    home.set("REKINDLE_CONFIG", settings.to_str().unwrap());
    let run = home.run(&["recent"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("config.toml: it is a pipe, not a regular file"), "{run:?}");
}

/// @a_lost_application_id_is_restored
#[test]
fn a_database_that_lost_its_application_id_is_refused_and_repaired_by_the_doctor() {
    let home = plain_home();
    let database = home.path("docs/a.db");
    let named = database.to_str().unwrap();
    home.run(&["hint", "set", "web", "build", "make", "--ttl", "forever", "--db", named]).ok();
    for id in [[0; 4], *b"XKDL"] {
        let file = std::fs::File::options().write(true).open(&database).unwrap();
        file.write_all_at(&id, 68).unwrap();
        let damaged = std::fs::read(&database).unwrap();
        let before = listing(&home.path("docs"));
        for command in ["recent", "status", "stop", "serve", "doctor"] {
            let run = home.run(&[command, "--db", named]);
            refused(&run, &database, "is a database of rekindle", &[command]);
            assert!(format!("{run:?}").contains("`rekindle doctor --fix`"), "{command}: {run:?}");
            assert_eq!(listing(&home.path("docs")), before, "{command}");
        }
        let fixed = home.run(&["doctor", "--fix", "--db", named]).stdout;
        assert!(fixed.contains("fixed: wrote the application id"), "{fixed}");
        assert_eq!(home.run(&["hint", "get", "web", "build", "--db", named]).code, 0);
        assert!(sqlite::is_sound(&database));
        let copies = listing(&home.path("docs")).into_iter();
        let mut copies = copies.filter(|(path, ..)| path.to_str().unwrap().contains(".corrupt-"));
        assert!(copies.any(|(_, mode, bytes)| mode & 0o777 == 0o600 && bytes == damaged));
    }
}

/// @a_lost_application_id_is_restored
#[test]
fn a_database_of_another_application_written_over_ours_is_not_repaired() {
    let home = plain_home();
    let (database, theirs) = (home.path("docs/a.db"), home.path("theirs.db"));
    let named = database.to_str().unwrap();
    home.run(&["hint", "set", "web", "build", "make", "--ttl", "forever", "--db", named]).ok();
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(home.path(&format!("docs/a.db{suffix}")));
    }
    sqlite::open(&theirs)
        .execute_batch("CREATE TABLE observations (a); CREATE TABLE sessions (a)")
        .unwrap();
    std::fs::write(&database, std::fs::read(&theirs).unwrap()).unwrap();
    refused_everywhere(&home, &database, "is a database of another application");
}

/// @a_damaged_database_is_set_aside
#[test]
fn an_unrecognisable_damaged_header_is_reported_with_a_way_out() {
    let home = home();
    home.run(&["hint", "set", "web", "build", "make", "--ttl", "forever"]).ok();
    home.run(&["backup", "copy.db"]).ok();
    // A copy is a new file, which was never opened before.
    let (database, damaged) = (sqlite::path(&home), home.path("damaged.db"));
    let mut bytes = std::fs::read(home.path("copy.db")).unwrap();
    bytes[..40].fill(b'!');
    std::fs::write(&damaged, bytes).unwrap();
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(home.path(&format!("data/rekindle.db{suffix}")));
    }
    std::fs::rename(&damaged, &database).unwrap();
    let run = home.run(&["recent"]);
    refused(&run, &database, "is not an SQLite database", &["recent"]);
    assert!(run.stderr.contains("move it away and `rekindle restore` a backup"), "{run:?}");
    std::fs::rename(&database, &damaged).unwrap();
    home.run(&["restore", "copy.db"]).ok();
    assert_eq!(home.run(&["hint", "get", "web", "build"]).code, 0);
}

/// @only_databases_are_opened
#[test]
fn a_reading_command_does_not_create_the_database_of_a_mistyped_path() {
    let home = plain_home();
    let missing = home.path("no/such/a.db");
    let named = missing.to_str().unwrap();
    for command in [&["stats"] as &[&str], &["search", "x"], &["recent"]] {
        let run = home.run(&[command, &["--db", named]].concat());
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stderr.contains(&format!("there is no database at {named}")), "{run:?}");
        assert!(!home.path("no").exists());
    }
    home.run(&["mark", "a decision", "--db", named]).ok();
    assert!(home.run(&["stats", "--db", named]).ok().contains("observations: 1"));
}
