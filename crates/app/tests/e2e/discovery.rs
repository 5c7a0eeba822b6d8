//! The discovery file is only a hint where to look: with any content it misleads no client.

use std::process::{Child, Command, Stdio};

use serde_json::json;

use super::home;

/// A process of another program that must survive the test. Killed when dropped.
struct Bystander(Child);

impl Bystander {
    fn start() -> Bystander {
        let mut command = Command::new("cat");
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        Bystander(command.spawn().unwrap())
    }

    fn is_unharmed(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// @stale_discovery_misleads_nobody
#[test]
fn a_stale_or_foreign_discovery_file_misleads_no_client() {
    let mut bystander = Bystander::start();
    let pid = bystander.0.id();
    let foreign = json!({ "pid": pid, "port": 1, "started": "", "build": "0.1.0+1" }).to_string();
    let negative = json!({ "pid": -1, "port": 8765, "started": "", "build": "" }).to_string();
    let plain = pid.to_string();
    for text in [foreign.as_str(), &negative, &plain, "-1", "0", "{\"pid\":", "\0\u{1b}[2J", ""] {
        let home = home();
        home.write("run/daemon.json", text);
        assert!(home.run(&["status"]).ok().starts_with("not running"), "{text}");
        assert_eq!(home.run(&["stop"]).ok(), "not running\n", "{text}");
        let doctor = home.run(&["doctor", "--json"]);
        assert_eq!(doctor.code, 0, "{text}: {doctor:?}");
        let daemon = home.daemon();
        assert_eq!(home.pid(), daemon.pid(), "{text}");
        // The file once more, while a daemon runs.
        home.write("run/daemon.json", text);
        assert_eq!(home.run(&["status", "--json"]).json()["pid"], daemon.pid(), "{text}");
        assert!(home.run(&["serve", "--http"]).ok().contains(&format!("pid {}", daemon.pid())));
        assert_eq!(home.run(&["stop"]).ok(), format!("stopped (pid {})\n", daemon.pid()));
        assert!(bystander.is_unharmed(), "{text}");
    }
}

/// @stale_discovery_misleads_nobody
#[test]
fn a_directory_at_the_path_of_the_discovery_file_does_not_stop_the_daemon() {
    let home = home();
    home.write("run/daemon.json/something", "");
    assert!(home.run(&["status"]).ok().starts_with("not running"));
    assert_eq!(home.run(&["stop"]).ok(), "not running\n");
    let mut daemon = home.daemon();
    assert_eq!(home.run(&["status", "--json"]).json()["pid"], daemon.pid());
    home.run(&["stop"]).ok();
    assert_eq!(daemon.wait(), Some(0));
    assert!(home.path("run/daemon.json/something").exists(), "it is not ours to remove");
}

/// @killed_daemon_leaves_no_trace_that_matters
#[test]
fn files_of_a_killed_daemon_are_recognised_as_stale() {
    let home = home();
    let mut daemon = home.daemon();
    daemon.kill();
    assert!(home.path("run/daemon.json").exists() && home.path("run/daemon.sock").exists());
    assert!(home.run(&["status"]).ok().starts_with("not running"));
    assert_eq!(home.run(&["stop"]).ok(), "not running\n");
    let next = home.daemon();
    assert_eq!(home.run(&["status", "--json"]).json()["pid"], next.pid());
}

/// @a_lost_lock_ends_the_daemon
#[test]
fn a_daemon_whose_lock_file_is_gone_ends_for_the_next_one() {
    let home = home();
    let mut daemon = home.daemon();
    home.call("set_hint", &json!({ "component": "web", "key": "build", "value": "make" }));
    std::fs::remove_file(home.path("run/daemon.lock")).unwrap();
    // The next one waits until the first has released the database.
    let next = home.daemon();
    assert_eq!(daemon.wait(), Some(0));
    assert_eq!(home.pid(), next.pid());
    let found = home.call("get_hint", &json!({ "component": "web", "key": "build" }));
    assert_eq!(found["hint"]["value"], "make");
}
