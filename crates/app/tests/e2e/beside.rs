//! Files beside a database: a link or a file of the user at a name that SQLite or Rekindle uses is refused by name
//! and unchanged.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::Home;

use super::{home, sqlite};

const SUFFIXES: [&str; 5] = [".lock", "-wal", "-shm", "-journal", "-paused"];
const EVENT: &str = r#"{"session_id":"s-1","cwd":"/srv/app","hook_event_name":"UserPromptSubmit","prompt":"tame the zebrafish"}"#;

/// A home in which databases are chosen only by `--db`, so that their other files are beside them.
fn plain_home() -> Home {
    let mut home = home();
    home.unset("REKINDLE_HOME");
    std::fs::create_dir(home.path("docs")).unwrap();
    home
}

/// Every entry of `docs` with its inode, mode and, if it is a file, its bytes.
fn listing(home: &Home) -> Vec<(PathBuf, u64, u32, Vec<u8>)> {
    let entries = std::fs::read_dir(home.path("docs")).unwrap();
    let mut all: Vec<_> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let meta = std::fs::symlink_metadata(&path).unwrap();
            let bytes = if meta.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
            (path, meta.ino(), meta.mode(), bytes)
        })
        .collect();
    all.sort();
    all
}

fn set(home: &Home, database: &Path) {
    let database = database.to_str().unwrap();
    home.run(&["hint", "set", "web", "build", "make", "--ttl", "forever", "--db", database]).ok();
}

/// Asserts that commands refuse the database because of `file`, a hook spools, and nothing in `docs` changes.
fn refused(home: &Home, database: &Path, file: &Path, why: &str) {
    let before = listing(home);
    let named = database.to_str().unwrap();
    let commands: [&[&str]; 8] = [
        &["recent"],
        &["status"],
        &["stop"],
        &["hint", "set", "web", "other", "make"],
        &["serve", "--http"],
        &["doctor"],
        &["doctor", "--fix"],
        &["uninstall", "--data", "--yes"],
    ];
    for command in commands {
        let run = home.run(&[command, &["--db", named]].concat());
        assert_eq!(run.code, 1, "{command:?}: {run:?}");
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains(&format!("{} {why}", file.display())), "{command:?}: {run:?}");
        assert!(said.contains("Nothing was changed"), "{command:?}: {run:?}");
        assert_eq!(listing(home), before, "{command:?} {}", file.display());
    }
    for event in ["SessionStart", "UserPromptSubmit"] {
        let run = home.run_with(&["hook", event, "--db", named], EVENT.as_bytes());
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""), "{event}");
        assert_eq!(listing(home), before, "{event} {}", file.display());
    }
}

/// @files_beside_a_database_are_checked
#[test]
fn a_link_beside_a_database_is_not_followed() {
    for suffix in SUFFIXES {
        let home = plain_home();
        let precious = home.write("docs/precious", "PRECIOUS\n");
        std::fs::set_permissions(&precious, Permissions::from_mode(0o644)).unwrap();
        let database = home.path("docs/m.db");
        let link = home.path(&format!("docs/m.db{suffix}"));
        symlink(&precious, &link).unwrap();
        refused(&home, &database, &link, "is a symbolic link");
        // A link that leads nowhere does not create its target.
        std::fs::remove_file(&precious).unwrap();
        refused(&home, &database, &link, "is a symbolic link");
        // Beside an existing database too.
        std::fs::remove_file(&link).unwrap();
        set(&home, &database);
        home.write("docs/precious", "PRECIOUS\n");
        let _ = std::fs::remove_file(&link);
        symlink(&precious, &link).unwrap();
        refused(&home, &database, &link, "is a symbolic link");
    }
}

/// @files_beside_a_database_are_checked
#[test]
fn a_file_of_the_user_beside_a_database_is_unchanged() {
    for suffix in SUFFIXES {
        let home = plain_home();
        let database = home.path("docs/n.db");
        let file = home.write(&format!("docs/n.db{suffix}"), "my own notes\n");
        std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        refused(&home, &database, &file, "is not a ");
        std::fs::write(&database, "").unwrap();
        refused(&home, &database, &file, "is not a ");
        // The database is usable as soon as the file is moved away.
        std::fs::rename(&file, home.path("notes")).unwrap();
        let named = database.to_str().unwrap();
        let found = home.run(&["search", "zebrafish", "--project", "*", "--db", named]).ok();
        assert!(found.contains("tame the zebrafish"), "{found}");
        // Beside an existing database too.
        std::fs::rename(home.path("notes"), &file).unwrap();
        refused(&home, &database, &file, "is not a ");
    }
}

/// @files_beside_a_database_are_checked
#[test]
fn a_directory_beside_a_database_is_named_and_keeps_its_mode() {
    for suffix in SUFFIXES {
        let home = plain_home();
        let database = home.path("docs/m.db");
        set(&home, &database);
        let dir = home.path(&format!("docs/m.db{suffix}"));
        let _ = std::fs::remove_file(&dir);
        std::fs::create_dir(&dir).unwrap();
        std::fs::set_permissions(&dir, Permissions::from_mode(0o755)).unwrap();
        refused(&home, &database, &dir, "is a directory");
    }
}

/// @files_beside_a_database_are_checked
#[test]
fn a_pipe_beside_a_database_is_named() {
    for suffix in SUFFIXES {
        let home = plain_home();
        let database = home.path("docs/m.db");
        set(&home, &database);
        let pipe = home.path(&format!("docs/m.db{suffix}"));
        let _ = std::fs::remove_file(&pipe);
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        refused(&home, &database, &pipe, "is a pipe");
    }
}

/// @files_beside_a_database_are_checked
#[test]
fn the_wal_of_a_database_that_was_moved_away_is_unchanged() {
    let home = plain_home();
    let (database, moved) = (home.path("docs/m.db"), home.path("moved.db"));
    set(&home, &database);
    let wal = home.path("docs/m.db-wal");
    assert!(std::fs::metadata(&wal).unwrap().len() > 32, "the last write is in the WAL");
    std::fs::rename(&database, &moved).unwrap();
    refused(&home, &database, &wal, "has the last writes of a database that is missing");
    std::fs::rename(&moved, &database).unwrap();
    let named = database.to_str().unwrap();
    assert_eq!(home.run(&["hint", "get", "web", "build", "--db", named]).code, 0);
    assert!(sqlite::is_sound(&database));
}

/// @files_beside_a_database_are_checked
#[test]
fn files_that_a_killed_process_left_empty_are_used() {
    let home = plain_home();
    let database = home.path("docs/m.db");
    for suffix in SUFFIXES {
        home.write(&format!("docs/m.db{suffix}"), "");
    }
    set(&home, &database);
    assert!(sqlite::is_sound(&database));
}
