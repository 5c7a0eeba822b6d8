//! The hook: one event in, one row committed, and never a disturbance for the agent.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::home::{finish, is_alive};
use testkit::{Home, Run, wait_until};

use super::{home, sqlite};

/// Runs the hook; whatever happened, it was silent and exited with 0.
fn hook(home: &Home, event: &str, stdin: &[u8]) {
    silent(&home.run_with(&["hook", event], stdin));
}

fn silent(run: &Run) {
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
}

fn payload(session: &str) -> Vec<u8> {
    json!({ "session_id": session, "tool_name": "Bash" }).to_string().into_bytes()
}

/// Files that wait in the spool, in order.
fn spooled(home: &Home) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home.path("data/spool")).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

fn status(home: &Home) -> Value {
    home.run(&["status", "--json"]).json()
}

fn hook_log(home: &Home) -> String {
    std::fs::read_to_string(home.path("data/log/hook.log")).unwrap_or_default()
}

/// @an_event_is_one_row
#[test]
fn an_event_is_committed_before_the_hook_ends_and_shown_as_the_last_one() {
    let home = home();
    let _daemon = home.daemon();
    hook(&home, "PostToolUse", &payload("s-1"));
    let status = status(&home);
    assert_eq!(status["events"], 1);
    assert_eq!(status["last_event"]["name"], "PostToolUse");
    assert_eq!(status["last_event"]["session"], "s-1");
    assert!(spooled(&home).is_empty());
    assert!(home.run(&["doctor"]).ok().contains("last event: PostToolUse "));
    assert_eq!(hook_log(&home), "");
}

/// @an_event_survives_a_kill
#[test]
fn an_event_that_was_taken_survives_a_kill() {
    let home = home();
    let mut daemon = home.daemon();
    hook(&home, "PostToolUse", &payload("s-1"));
    daemon.kill();
    assert_eq!(sqlite::recorded(&home), ["PostToolUse"]);
}

/// @only_name_session_and_time_are_stored
#[test]
fn nothing_of_an_event_is_stored_but_its_name_session_and_time() {
    let home = home();
    let marker = "zebrafish";
    let event = json!({
        "session_id": "s-1", "cwd": marker, "prompt": marker, marker: marker,
        "tool_input": { "command": marker }, "tool_response": [marker],
    });
    let event = event.to_string();
    // Once over the spool and once over the socket.
    hook(&home, "PreToolUse", event.as_bytes());
    for file in spooled(&home) {
        assert!(!std::fs::read_to_string(file).unwrap().contains(marker));
    }
    let mut daemon = home.daemon();
    hook(&home, "PostToolUse", event.as_bytes());
    daemon.kill();
    for name in ["rekindle.db", "rekindle.db-wal"] {
        let bytes = std::fs::read(home.path("data").join(name)).unwrap();
        let found = bytes.windows(marker.len()).any(|window| window == marker.as_bytes());
        assert!(!found, "{name}");
    }
    assert_eq!(sqlite::recorded(&home), ["PreToolUse", "PostToolUse"]);
}

/// @a_hook_never_disturbs
#[test]
fn bad_input_is_dropped_in_silence_with_a_line_in_the_log_that_quotes_nothing() {
    let home = home();
    let _daemon = home.daemon();
    let bad: [&[u8]; 8] = [
        b"",
        b"zebrafish",
        b"{\"session_id\":",
        b"[\"zebrafish\"]",
        b"\"zebrafish\"",
        b"{\"session_id\":{\"zebrafish\":1}}",
        b"{\"session_id\":\"zebrafish\",\"tool_use_id\":7}",
        b"\xff\xfe{\"session_id\":\"zebrafish\"}",
    ];
    for (count, stdin) in bad.into_iter().enumerate() {
        hook(&home, "PostToolUse", stdin);
        let log = hook_log(&home);
        assert_eq!(log.lines().count(), count + 1, "{:?}: {log}", String::from_utf8_lossy(stdin));
        assert!(log.lines().all(|line| line.contains("PostToolUse: dropped")), "{log}");
        assert!(!log.contains("zebrafish"), "{log}");
    }
    let long = "n".repeat(300);
    hook(&home, &long, b"{}");
    let log = hook_log(&home);
    assert!(log.ends_with("dropped: event is not a name of 1 to 200 plain bytes\n"), "{log}");
    assert_eq!(status(&home)["events"], 0);
    assert!(spooled(&home).is_empty());
    // A person finds it with the log command.
    assert_eq!(home.run(&["logs", "--hook"]).ok(), hook_log(&home));
}

/// @a_hook_never_disturbs
#[test]
fn an_event_over_64_mib_is_dropped_and_one_just_below_is_kept() {
    let home = home();
    let padding = |bytes: usize| format!("{{\"padding\":\"{}\"}}", "x".repeat(bytes)).into_bytes();
    hook(&home, "PostToolUse", &padding(65 * 1024 * 1024));
    assert!(hook_log(&home).contains("dropped: over 67108864 bytes"), "{}", hook_log(&home));
    assert!(spooled(&home).is_empty());
    hook(&home, "PostToolUse", &padding(63 * 1024 * 1024));
    assert_eq!(spooled(&home).len(), 1);
}

/// @a_hook_never_disturbs
#[test]
fn a_closed_stdin_and_odd_event_names_are_no_trouble() {
    let home = home();
    let _daemon = home.daemon();
    let mut shell = std::process::Command::new("sh");
    let line = format!("exec '{}' hook Stop <&- ", env!("CARGO_BIN_EXE_rekindle"));
    shell.args(["-c", &line]).env_clear().envs(home.env.iter().cloned());
    silent(&finish(shell, b""));
    for event in ["NoSuchEvent", "pre-tool.use", "ümlaut", "a b"] {
        hook(&home, event, b"{}");
    }
    hook(&home, "", b"{}");
    // What is no event at all was typed by a person, who is told; the agent is not stopped.
    for args in [&["hook"] as &[&str], &["hook", "--no-such-flag"]] {
        assert_eq!(home.run_with(args, b"{}").code, 0, "{args:?}");
    }
    assert_eq!(status(&home)["events"], 4);
}

/// @a_hook_never_disturbs
#[test]
fn a_hook_that_can_write_nowhere_is_silent() {
    let home = home();
    home.write("data", "");
    home.write("run", "");
    hook(&home, "PostToolUse", &payload("s-1"));
    hook(&home, "PostToolUse", b"nonsense");
    assert_eq!(std::fs::read_to_string(home.path("data")).unwrap(), "");
}

/// @the_spool_keeps_events
#[test]
fn without_a_daemon_events_wait_in_private_files_and_the_runtime_directory_is_second_choice() {
    let home = home();
    hook(&home, "PostToolUse", &payload("s-1"));
    let files = spooled(&home);
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let folder = home.path("data/spool").metadata().unwrap().permissions().mode();
    assert_eq!(folder & 0o777, 0o700);
    assert!(!home.path("data/rekindle.db").exists(), "the hook opens no database");
    // Something else stands where the first spool should be.
    std::fs::remove_dir_all(home.path("data/spool")).unwrap();
    home.write("data/spool", "");
    hook(&home, "Stop", &payload("s-1"));
    assert_eq!(std::fs::read_dir(home.path("run/spool")).unwrap().count(), 1);
    std::fs::remove_file(home.path("data/spool")).unwrap();
    let _daemon = home.daemon();
    assert_eq!(sqlite::recorded(&home), ["Stop"]);
}

/// @the_spool_is_drained_in_order
#[test]
fn whoever_opens_the_store_next_takes_in_the_spool_in_order_and_each_event_once() {
    let home = home();
    let names = ["SessionStart", "PreToolUse", "PostToolUse"];
    for event in names {
        hook(&home, event, &payload("s-1"));
    }
    let copies: Vec<_> =
        spooled(&home).into_iter().map(|f| (f.clone(), std::fs::read(f).unwrap())).collect();
    assert_eq!(copies.len(), 3);
    // A command without a daemon.
    home.run(&["get", "hint://web/build"]);
    assert_eq!(sqlite::recorded(&home), names);
    assert!(spooled(&home).is_empty());
    // The same files again, as after a crash between commit and removal; and a daemon.
    for (file, text) in &copies {
        std::fs::write(file, text).unwrap();
    }
    let _daemon = home.daemon();
    assert!(spooled(&home).is_empty());
    assert_eq!(sqlite::recorded(&home), names);
    assert_eq!(status(&home)["events"], 3);
}

/// @the_spool_is_drained_in_order
#[test]
fn a_running_daemon_takes_in_the_spool_before_its_next_write() {
    let home = home();
    hook(&home, "PreToolUse", &payload("s-1"));
    let file = spooled(&home).remove(0);
    let text = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let _daemon = home.daemon();
    std::fs::write(&file, text).unwrap();
    assert_eq!(status(&home)["spooled"], 1);
    hook(&home, "PostToolUse", &payload("s-1"));
    assert_eq!(sqlite::recorded(&home), ["PreToolUse", "PostToolUse"]);
    assert_eq!(status(&home)["spooled"], 0);
}

/// @the_same_event_counts_once
#[test]
fn the_same_event_of_two_registrations_counts_once() {
    let home = home();
    let event = |tool: &str| json!({ "session_id": "s-1", "tool_use_id": tool }).to_string();
    // The first arrives over the spool, the second over the socket.
    hook(&home, "PostToolUse", event("t-1").as_bytes());
    let _daemon = home.daemon();
    hook(&home, "PostToolUse", event("t-1").as_bytes());
    assert_eq!(status(&home)["events"], 1);
    hook(&home, "PostToolUse", event("t-2").as_bytes());
    hook(&home, "PreToolUse", event("t-1").as_bytes());
    hook(&home, "PostToolUse", br#"{"session_id":"s-2","tool_use_id":"t-1"}"#);
    assert_eq!(status(&home)["events"], 4);
    // Without the agent's id of the tool call two events are two.
    hook(&home, "Stop", &payload("s-1"));
    hook(&home, "Stop", &payload("s-1"));
    assert_eq!(status(&home)["events"], 6);
}

/// @a_hook_starts_a_daemon_now_and_then
#[test]
fn a_hook_without_a_daemon_starts_one_at_most_once_in_30_s() {
    let mut home = home();
    home.unset("REKINDLE_NO_AUTOSTART");
    home.set("REKINDLE_IDLE_EMPTY", "200ms");
    hook(&home, "SessionEnd", &payload("s-1"));
    let pid = home.pid();
    assert!(home.path("run/start.stamp").exists());
    wait_until("the daemon took in the event", || {
        (sqlite::recorded(&home).len() == 1).then_some(())
    });
    wait_until("the daemon leaves", || (!is_alive(pid)).then_some(()));
    hook(&home, "SessionEnd", &payload("s-1"));
    assert_eq!(spooled(&home).len(), 1);
    testkit::holds_for(Duration::from_millis(500), "no daemon is started again", || {
        !home.path("run/daemon.json").exists()
    });
    // Half a minute later.
    let stamp = std::fs::File::options().write(true).open(home.path("run/start.stamp")).unwrap();
    let then = stamp.metadata().unwrap().modified().unwrap() - Duration::from_secs(31);
    stamp.set_modified(then).unwrap();
    hook(&home, "SessionEnd", &payload("s-1"));
    let pid = home.pid();
    wait_until("the daemon leaves", || (!is_alive(pid)).then_some(()));
    assert_eq!(sqlite::recorded(&home).len(), 3);
}

/// @a_hook_starts_a_daemon_now_and_then
#[test]
fn a_hook_starts_no_daemon_where_that_is_forbidden() {
    let home = home();
    hook(&home, "SessionStart", &payload("s-1"));
    assert_eq!(spooled(&home).len(), 1);
    assert!(!home.path("run/start.stamp").exists());
}

/// @a_hook_has_a_deadline
#[test]
fn a_daemon_that_accepts_nothing_any_more_does_not_hold_up_the_hook() {
    let home = home();
    let locations = home.locations();
    client::platform::private_dir(&locations.runtime_dir).unwrap();
    let socket = locations.socket();
    let listener = UnixListener::bind(&socket).unwrap();
    // Clients that were never accepted fill the queue; the next connection waits.
    let waiting = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while UnixStream::connect(&socket).is_ok() {
                waiting.fetch_add(1, Ordering::Relaxed);
            }
        });
        let mut before = 0;
        wait_until("the queue is full", || {
            std::thread::park_timeout(Duration::from_millis(100));
            let now = waiting.load(Ordering::Relaxed);
            std::mem::replace(&mut before, now).eq(&now).then_some(()).filter(|()| now > 0)
        });
        let started = Instant::now();
        hook(&home, "PostToolUse", &payload("s-1"));
        let took = started.elapsed();
        drop(listener);
        assert!(took < Duration::from_millis(2_500), "{took:?}");
    });
    assert_eq!(spooled(&home).len(), 1);
}

/// @the_spool_keeps_events
#[test]
fn an_event_waits_in_the_spool_of_the_database_it_is_meant_for() {
    let home = home();
    let other = home.path("other.db");
    let other = other.to_str().unwrap();
    home.run_with(&["hook", "Stop"], br#"{"session_id":"mine"}"#);
    home.run_with(&["hook", "--db", other, "Stop"], br#"{"session_id":"other"}"#);
    let last = |flags: &[&str]| {
        let run = home.run(&[&["call", "status", "--json"], flags].concat());
        (run.json()["events"].clone(), run.json()["last_event"]["session"].clone())
    };
    assert_eq!(last(&[]), (1.into(), "mine".into()));
    assert_eq!(last(&["--db", other]), (1.into(), "other".into()));
}
