//! When a daemon ends by itself, when it stays, and which commands start one.

use std::time::Duration;

use model::limits;
use serde_json::json;
use testkit::home::is_alive;
use testkit::{Home, Mcp, holds_for, wait_until};

use super::home;

/// A home where commands may start a daemon, which ends soon after its last client.
fn autostarting() -> Home {
    let mut home = home();
    home.unset("REKINDLE_NO_AUTOSTART");
    home.set("REKINDLE_IDLE_EMPTY", "300ms");
    home
}

fn gone(pid: u32) {
    wait_until("the daemon leaves", || (!is_alive(pid)).then_some(()));
}

/// Closes the client's end of a stdio server and asserts that the server ends because it is idle. A loaded machine
/// may delay this past the 5 s that the server is allowed, so the time is bounded by the deadline of `wait` only; a
/// client would keep the server for half an hour.
fn leaves_with_its_client(home: &Home, server: &mut Mcp) {
    const { assert!(limits::IDLE_STDIO.as_secs() < 5, "leaves within 5 s") };
    server.close_stdin();
    assert_eq!(server.wait(), Some(0));
    let log = std::fs::read_to_string(home.path("data/log/daemon.log")).unwrap();
    assert!(log.contains("ends: Idle"), "{log}");
    assert!(!home.path("run/daemon.json").exists());
}

/// @a_lonely_stdio_server_leaves
#[test]
fn a_stdio_server_without_hints_ends_with_its_client() {
    let home = home();
    let mut server = home.serve();
    server.initialize("2025-06-18");
    leaves_with_its_client(&home, &mut server);
}

/// @a_primary_stays_for_its_proxies
#[test]
fn a_primary_whose_own_client_left_serves_the_others_until_they_leave() {
    let mut home = home();
    home.set("REKINDLE_IDLE_EMPTY", "100ms");
    let mut first = home.serve();
    first.initialize("2025-06-18");
    let mut second = home.serve();
    second.initialize("2025-06-18");
    first.close_stdin();
    let name = json!({ "component": "web", "key": "build" });
    holds_for(Duration::from_millis(700), "the first server is PRIMARY", || {
        assert_eq!(second.call("get_hint", &name).unwrap_err()["code"], 40401);
        is_alive(first.pid()) && home.pid() == first.pid()
    });
    second.close_stdin();
    assert_eq!(second.wait(), Some(0));
    assert_eq!(first.wait(), Some(0));
}

/// @an_on_demand_daemon_leaves
#[test]
fn a_hint_command_starts_a_daemon_reports_it_and_the_daemon_ends_when_idle() {
    let home = autostarting();
    let run = home.run(&["hint", "get", "web", "build"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("started the daemon"), "{run:?}");
    let pid = home.pid();
    let again = home.run(&["hint", "get", "web", "build"]);
    assert!(!again.stderr.contains("started"), "{again:?}");
    gone(pid);
    assert!(!home.path("run/daemon.json").exists());
}

/// @a_held_hint_keeps_the_daemon
#[test]
fn an_on_demand_daemon_stays_while_it_holds_a_session_hint() {
    let home = autostarting();
    home.run(&["hint", "set", "web", "build", "make", "--ttl", "session"]).ok();
    let pid = home.pid();
    holds_for(Duration::from_millis(900), "the daemon runs", || is_alive(pid));
    let found = home.run(&["hint", "get", "web", "build", "--json"]).json();
    assert_eq!(found["hint"]["value"], "make");
    home.run(&["stop"]).ok();
    gone(pid);
}

/// @a_held_hint_keeps_the_daemon
#[test]
fn a_daemon_with_session_hints_ends_after_its_longer_idle_time_and_clears_them() {
    let mut home = autostarting();
    home.set("REKINDLE_IDLE", "600ms");
    home.run(&["hint", "set", "web", "build", "make", "--ttl", "session"]).ok();
    home.run(&["hint", "set", "web", "test", "make test", "--ttl", "forever"]).ok();
    gone(home.pid());
    home.set("REKINDLE_NO_AUTOSTART", "1");
    assert_eq!(home.run(&["hint", "get", "web", "build"]).code, 1);
    assert_eq!(home.run(&["hint", "get", "web", "test"]).code, 0);
}

/// @an_agent_session_is_a_client
#[test]
fn an_agent_session_that_has_not_ended_keeps_the_daemon() {
    let home = autostarting();
    home.run(&["hint", "get", "web", "build"]);
    let pid = home.pid();
    let session = br#"{"session_id":"s-1"}"#;
    home.run_with(&["hook", "SessionStart"], session).ok();
    holds_for(Duration::from_millis(900), "the daemon runs", || is_alive(pid));
    home.run_with(&["hook", "SessionEnd"], session).ok();
    gone(pid);
}

/// @autostart_can_be_forbidden
#[test]
fn without_autostart_hint_commands_work_in_process_and_the_next_daemon_adopts_the_hint() {
    let home = home();
    let set = home.run(&["hint", "set", "web", "build", "make", "--ttl", "session"]);
    assert!(set.stderr.contains("REKINDLE_NO_AUTOSTART"), "{set:?}");
    set.ok();
    assert!(!home.path("run/daemon.json").exists(), "no daemon was started");
    let get = home.run(&["hint", "get", "web", "build", "--json"]);
    assert_eq!(get.json()["hint"]["value"], "make");
    let daemon = home.daemon();
    let name = json!({ "component": "web", "key": "build" });
    let found = daemon.http().rpc("get_hint", &name).unwrap();
    assert_eq!(found["hint"]["value"], "make");
    assert_eq!(home.run(&["status", "--json"]).json()["held"], 1);
}

/// @autostart_can_be_forbidden
#[test]
fn other_commands_never_start_a_daemon() {
    let home = autostarting();
    home.run(&["status"]).ok();
    home.run(&["doctor"]).ok();
    home.run(&["get", "hint://web/build"]);
    let file = home.path("copy.db");
    home.run(&["backup", file.to_str().unwrap()]).ok();
    assert!(!home.path("run/daemon.json").exists());
}
