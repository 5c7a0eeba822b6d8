//! Client and daemon of different builds or databases: they identify themselves and do not compete.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::UnixListener;
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};
use testkit::Home;

use super::home;

/// @hello_names_the_build
#[test]
fn the_socket_says_hello_with_build_pid_port_and_database() {
    let home = home();
    let daemon = home.daemon();
    let hello = home.socket().rpc("rekindle/hello", &json!({})).unwrap();
    assert_eq!(hello["server"], "rekindle");
    assert_eq!(hello["pid"], daemon.pid());
    assert_eq!(hello["port"], daemon.port);
    assert_eq!(hello["db"], json!(home.path("data/rekindle.db")));
    assert_eq!(hello["build"], home.discovery()["build"]);
    let (version, built) = hello["build"].as_str().unwrap().split_once('+').unwrap();
    assert_eq!(hello["version"], version);
    assert!(built.parse::<u64>().unwrap() > 0);
}

/// @retire_only_when_idle
#[test]
fn a_daemon_ends_for_a_newer_build_only_without_other_clients() {
    let home = home();
    let mut daemon = home.daemon();
    home.call("set_hint", &json!({ "component": "web", "key": "build", "value": "make" }));
    let mut asks = home.socket();
    let mut other = home.socket();
    other.rpc("rekindle/hello", &json!({})).unwrap();
    assert_eq!(asks.rpc("rekindle/retire", &json!({})).unwrap()["leaving"], false);
    drop(other);
    let mut leaving = || asks.rpc("rekindle/retire", &json!({})).unwrap()["leaving"] == json!(true);
    testkit::wait_until("the daemon agrees", || leaving().then_some(()));
    assert_eq!(daemon.wait(), Some(0));
    // It hands over: the next daemon has its hints.
    let found = home.call("get_hint", &json!({ "component": "web", "key": "build" }));
    assert_eq!(found["hint"]["value"], "make");
}

/// A fake daemon of another build: it holds the lock, answers hello with that build, refuses to retire, and
/// reports the methods that were called.
fn stand_in(home: &Home, build: &'static str) -> (File, Receiver<String>) {
    let locations = home.locations();
    let mut private = std::fs::DirBuilder::new();
    private.mode(0o700).create(&locations.runtime_dir).unwrap();
    let lock = File::create(locations.lock()).unwrap();
    lock.lock().unwrap();
    let listener = UnixListener::bind(locations.socket()).unwrap();
    let db = locations.database.display().to_string();
    let (sender, asked) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut writer = stream.try_clone().unwrap();
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                let frame: Value = serde_json::from_str(&line).unwrap();
                let method = frame["method"].as_str().unwrap().to_owned();
                let result = match method.as_str() {
                    "rekindle/hello" => json!({
                        "server": "rekindle", "version": "0.0.0", "build": build,
                        "pid": 1, "port": 1, "address": "http://127.0.0.1:1", "db": db,
                    }),
                    "rekindle/retire" => json!({ "leaving": false }),
                    _ => json!({ "hint": { "value": "from the stand-in" }, "match_explain": {} }),
                };
                let reply = json!({ "jsonrpc": "2.0", "id": frame["id"], "result": result });
                if sender.send(method).is_err() || writeln!(writer, "{reply}").is_err() {
                    return;
                }
            }
        }
    });
    (lock, asked)
}

/// @builds_never_chase_each_other
#[test]
fn a_newer_command_asks_an_older_daemon_once_and_then_works_with_it() {
    let home = home();
    let (_lock, asked) = stand_in(&home, "0.0.0+1");
    let run = home.run(&["call", "get_hint", r#"{"component":"web","key":"build"}"#, "--json"]);
    assert_eq!(run.json()["hint"]["value"], "from the stand-in", "{run:?}");
    assert!(run.stderr.contains("rekindle stop"), "{run:?}");
    let asked: Vec<String> = asked.try_iter().collect();
    assert_eq!(asked, ["rekindle/hello", "rekindle/retire", "get_hint"]);
}

/// @builds_never_chase_each_other
#[test]
fn an_older_command_leaves_a_newer_daemon_alone() {
    let home = home();
    let (_lock, asked) = stand_in(&home, "9999.0.0+1");
    let run = home.run(&["call", "get_hint", r#"{"component":"web","key":"build"}"#, "--json"]);
    assert_eq!(run.json()["hint"]["value"], "from the stand-in", "{run:?}");
    assert_eq!(run.stderr, "");
    assert_eq!(asked.try_iter().collect::<Vec<_>>(), ["rekindle/hello", "get_hint"]);
}

/// @one_runtime_directory_one_database
#[test]
fn a_client_of_another_database_in_the_same_runtime_directory_is_refused() {
    let home = home();
    let _daemon = home.daemon();
    let mut other = super::home();
    other.set("REKINDLE_RUNTIME_DIR", home.path("run").to_str().unwrap());
    let (ours, theirs) = (home.path("data/rekindle.db"), other.path("data/rekindle.db"));
    let commands: [&[&str]; 5] = [
        &["status"],
        &["hint", "get", "web", "build"],
        &["stop"],
        &["serve"],
        &["serve", "--http"],
    ];
    for command in commands {
        let run = other.run(command);
        assert_eq!(run.code, 1, "{command:?}: {run:?}");
        for database in [&ours, &theirs] {
            assert!(run.stderr.contains(database.to_str().unwrap()), "{command:?}: {run:?}");
        }
        assert!(run.stderr.contains("REKINDLE_RUNTIME_DIR"), "{command:?}: {run:?}");
    }
    // An event is stored in the database that it is meant for.
    other.hook("Stop", &json!({ "session_id": "s-1" }));
    assert_eq!(other.spooled().len(), 1);
    assert_eq!(home.run(&["status", "--json"]).json()["events"], 0);
    // The other home must not search for its daemon in this one when it is dropped.
    other.set("REKINDLE_RUNTIME_DIR", other.path("run").to_str().unwrap());
}

/// @one_database_one_daemon
#[test]
fn a_second_runtime_directory_cannot_serve_the_same_database() {
    let mut home = home();
    let daemon = home.daemon();
    let first = home.path("run");
    home.set("REKINDLE_RUNTIME_DIR", home.path("elsewhere").to_str().unwrap());
    let run = home.run(&["serve", "--http"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("from another runtime directory"), "{run:?}");
    home.set("REKINDLE_RUNTIME_DIR", first.to_str().unwrap());
    assert_eq!(home.run(&["status", "--json"]).json()["pid"], daemon.pid());
}

/// @hello_names_the_build
#[test]
fn the_version_is_the_newest_release_of_the_changelog() {
    let changelog = include_str!("../../../../CHANGELOG.md");
    let newest = changelog.lines().find_map(|line| line.strip_prefix("## ")).unwrap();
    let newest = newest.split(' ').next().unwrap();
    let said = home().run(&["--version"]).ok();
    assert_eq!(said.split_whitespace().nth(1), Some(newest), "{said}");
}
