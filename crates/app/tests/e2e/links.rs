//! One database has one daemon, through any path.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;
use testkit::home::finish;
use testkit::{Home, Run};

use super::{home, sqlite};

/// A home with the database at its default path.
fn plain_home() -> Home {
    let mut home = home();
    for name in ["REKINDLE_HOME", "REKINDLE_RUNTIME_DIR"] {
        home.unset(name);
    }
    let run = home.path("run");
    std::fs::create_dir(&run).unwrap();
    home.set("XDG_RUNTIME_DIR", run.to_str().unwrap());
    home
}

fn set(home: &Home, db: &Path, key: &str) -> Run {
    let db = db.to_str().unwrap();
    home.run(&["hint", "set", "web", key, "make", "--ttl", "forever", "--db", db])
}

/// The hints in the database, read directly with SQLite.
fn keys(path: &Path) -> Vec<String> {
    let db = sqlite::open(path);
    let mut select = db.prepare("SELECT DISTINCT key FROM hint_variants ORDER BY key").unwrap();
    select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// @one_daemon_whichever_link
#[test]
fn a_symbolic_link_to_the_database_uses_its_daemon() {
    let home = plain_home();
    let daemon = home.daemon();
    let database = sqlite::path(&home);
    std::fs::create_dir_all(home.path("else/where")).unwrap();
    let links = [home.path("link.db"), home.path("else/where/memory.db")];
    for link in &links {
        symlink(&database, link).unwrap();
    }
    symlink(home.path("else/where"), home.path("dir")).unwrap();
    let through_dir = home.path("dir/../where/memory.db");
    for name in [&links[0], &links[1], &through_dir, &database] {
        let named = name.to_str().unwrap();
        let status = home.run(&["status", "--json", "--db", named]).json();
        assert_eq!(status["pid"], daemon.pid(), "{named}");
        let served = home.run(&["serve", "--http", "--json", "--db", named]).json();
        assert_eq!(served["pid"], daemon.pid(), "{named}");
    }
    // Nothing was created beside the links.
    let beside = std::fs::read_dir(home.path("else/where")).unwrap().count();
    assert_eq!((beside, home.path("link.db.lock").exists()), (1, false));
}

/// @one_daemon_whichever_link
#[test]
fn a_hard_link_is_refused_and_the_error_names_the_open_path() {
    let mut home = plain_home();
    let (first, other) = (home.path("one/a.db"), home.path("two/b.db"));
    for path in [&first, &other] {
        std::fs::create_dir(path.parent().unwrap()).unwrap();
    }
    let named = first.to_str().unwrap().to_owned();
    set(&home, &first, "before").ok();
    std::fs::hard_link(&first, &other).unwrap();
    let told = format!("{} is another name of the database {named}", other.display());
    // Without a daemon too: the WAL of the last write is beside the first path.
    let refused = set(&home, &other, "lost");
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains(&told), "{refused:?}");
    home.set("NMEM_DB", &named);
    let daemon = home.daemon();
    for command in
        [&["serve", "--http"] as &[&str], &["serve"], &["recent"], &["backup", "copy.db"]]
    {
        let run = home.run(&[command, &["--db", other.to_str().unwrap()]].concat());
        assert_eq!(run.code, 1, "{command:?}: {run:?}");
        assert!(run.stderr.contains(&told), "{command:?}: {run:?}");
    }
    set(&home, &first, "after").ok();
    assert!(!home.path("two/b.db-wal").exists());
    drop(daemon);
    assert_eq!(keys(&first), ["after", "before"]);
    assert!(sqlite::is_sound(&first));
    // After the first path is deleted, the other one is the database.
    std::fs::remove_file(&first).unwrap();
    for suffix in ["-wal", "-shm"] {
        let at = |path: &Path| format!("{}{suffix}", path.display());
        let _ = std::fs::rename(at(&first), at(&other));
    }
    set(&home, &other, "moved").ok();
    assert_eq!(keys(&other), ["after", "before", "moved"]);
}

/// @one_daemon_whichever_link
#[test]
fn a_hard_link_is_refused_in_another_home_too() {
    let home = home();
    home.run(&["hint", "set", "web", "before", "make", "--ttl", "forever"]).ok();
    let (database, other) = (sqlite::path(&home), home.path("hl.db"));
    std::fs::hard_link(&database, &other).unwrap();
    let told =
        format!("{} is another name of the database {}", other.display(), database.display());
    let elsewhere = |home: &Home, args: &[&str]| {
        let mut command = home.command([args, &["--db", other.to_str().unwrap()]].concat());
        let there = home.path("elsewhere");
        command.env("HOME", &there).env("REKINDLE_HOME", there.join("data"));
        command.env("REKINDLE_RUNTIME_DIR", there.join("r")).env("TMPDIR", &there);
        finish(command, b"")
    };
    let write = ["hint", "set", "web", "lost", "make", "--ttl", "forever"];
    // The last write is in the WAL beside the first name, and no process has it open.
    let refused = elsewhere(&home, &write);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains(&told), "{refused:?}");
    let daemon = home.daemon();
    for command in [&write as &[&str], &["serve", "--http"], &["up"]] {
        let refused = elsewhere(&home, command);
        assert_eq!(refused.code, 1, "{command:?}: {refused:?}");
        assert!(format!("{refused:?}").contains(&told), "{command:?}: {refused:?}");
    }
    home.run(&["hint", "set", "web", "after", "make", "--ttl", "forever"]).ok();
    drop(daemon);
    assert_eq!(keys(&database), ["after", "before"]);
    assert!(sqlite::is_sound(&database));
}

/// @one_daemon_whichever_link
#[test]
fn a_second_runtime_directory_gets_an_error_that_names_the_daemon() {
    let mut home = home();
    let daemon = home.daemon();
    let (run, other) = (home.path("run"), home.path("other"));
    home.set("REKINDLE_RUNTIME_DIR", other.to_str().unwrap());
    let link = home.path("link.db");
    symlink(sqlite::path(&home), &link).unwrap();
    let flags = [&[] as &[&str], &["--db", link.to_str().unwrap()]];
    for flags in flags {
        let refused = home.run(&[&["serve", "--http"], flags].concat());
        assert_eq!(refused.code, 1, "{refused:?}");
        let told = format!("another runtime directory: {} (pid {})", run.display(), daemon.pid());
        assert!(refused.stderr.contains(&told), "{refused:?}");
    }
    home.set("REKINDLE_RUNTIME_DIR", run.to_str().unwrap());
    let hint = json!({ "component": "web", "key": "build", "value": "make" });
    daemon.http().rpc("set_hint", &hint).unwrap();
}

/// @one_daemon_whichever_link
#[test]
fn a_linked_database_is_repaired_and_restored_at_its_target() {
    let home = home();
    let real = home.path("disk/real.db");
    std::fs::create_dir_all(home.path("disk")).unwrap();
    std::fs::create_dir_all(home.path("data")).unwrap();
    std::fs::write(&real, "").unwrap();
    let link = home.path("data/rekindle.db");
    symlink(&real, &link).unwrap();
    home.run(&["hint", "set", "web", "build", "make", "--ttl", "forever"]).ok();
    home.run(&["backup", "copy.db"]).ok();
    home.run(&["restore", "copy.db"]).ok();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(home.run(&["hint", "get", "web", "build"]).code, 0);
    assert_eq!(keys(&real), ["build"]);
    home.hook("Stop", &json!({ "session_id": "s-1" }));
    assert_eq!(home.spooled().len(), 1, "the spool is the directory's own");
}
