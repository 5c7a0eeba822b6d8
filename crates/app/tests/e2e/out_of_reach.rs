//! A running daemon that cannot be reached: it binds its socket again, commands report the problem in time, and reads
//! work without it.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::home::signal;
use testkit::{Home, Run};

use super::home;
use super::late::suspend;

/// A home whose store has a record to find.
fn remembering() -> Home {
    let home = home();
    home.call("mark", &json!({ "text": "tame the zebrafish" }));
    home
}

fn remove_socket(home: &Home) {
    std::fs::remove_file(home.path("run/daemon.sock")).unwrap();
}

/// Runs these commands in parallel, each within this time.
fn together(seconds: u64, home: &Home, lines: &[&[&str]]) -> Vec<(String, Run)> {
    let run = |args: &[&str]| {
        let started = Instant::now();
        let run = home.run(args);
        let took = started.elapsed();
        assert!(took < Duration::from_secs(seconds), "{args:?}: {took:?}");
        (args.join(" "), run)
    };
    std::thread::scope(|scope| {
        let runs: Vec<_> = lines.iter().map(|args| scope.spawn(|| run(args))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    })
}

/// @a_lost_socket_is_made_anew
#[test]
fn a_daemon_binds_a_missing_or_replaced_socket_again_and_commands_wait_for_it() {
    let home = home();
    let mut daemon = home.daemon();
    remove_socket(&home);
    home.call("set_hint", &json!({ "component": "web", "key": "build", "value": "make" }));
    remove_socket(&home);
    home.write("run/daemon.sock", "no socket");
    let up = home.run(&["up", "--json"]).json();
    assert_eq!((&up["started"], &up["pid"]), (&json!(false), &json!(daemon.pid())));
    home.hook("Stop", &json!({ "session_id": "s-1" }));
    assert!(home.spooled().is_empty(), "the daemon took it");
    assert_eq!(home.run(&["stop"]).ok(), format!("stopped (pid {})\n", daemon.pid()));
    assert_eq!(daemon.wait(), Some(0));
    assert!(!home.path("run/daemon.sock").exists());
}

/// @out_of_reach_is_told
#[test]
fn a_running_daemon_that_cannot_be_reached_is_reported_with_its_pid() {
    let home = remembering();
    let daemon = home.daemon();
    suspend(daemon.pid());
    remove_socket(&home);
    let lines = [&["up"][..], &["stop"], &["status"], &["mark", "feed it"], &["serve", "--daemon"]];
    for (line, run) in together(9, &home, &lines) {
        assert_eq!(run.code, 1, "{line}: {run:?}");
        let told = format!("runs (pid {}) and cannot be reached: its socket", daemon.pid());
        assert!(run.stderr.contains(&told), "{line}: {run:?}");
        assert!(run.stderr.contains(&format!("kill {}", daemon.pid())), "{line}: {run:?}");
    }
    signal(daemon.pid(), "CONT");
}

/// @reads_go_beside_a_daemon
#[test]
fn reads_work_without_a_daemon_that_cannot_be_reached() {
    let home = remembering();
    // Also puts it into the index.
    home.run(&["search", "zebrafish"]).ok();
    let daemon = home.daemon();
    suspend(daemon.pid());
    let lines = [&["search", "zebrafish"][..], &["recent"], &["briefing"]];
    let hung = together(6, &home, &lines);
    let payload = json!({ "session_id": "s-9", "cwd": home.dir, "prompt": "while it hangs" });
    home.hook("UserPromptSubmit", &payload);
    let told = home.run(&["recent"]).stderr;
    assert!(told.contains("without the daemon, and 1 event waits in the spool"), "{told}");
    remove_socket(&home);
    for (line, run) in hung.into_iter().chain(together(6, &home, &lines)) {
        assert!(
            run.stderr.contains("read from the database without the daemon"),
            "{line}: {run:?}"
        );
        assert!(run.ok().contains("tame the zebrafish"), "{line}");
    }
    signal(daemon.pid(), "CONT");
    let again = home.run(&["search", "zebrafish"]);
    assert!(!again.stderr.contains("without the daemon"), "{again:?}");
}
