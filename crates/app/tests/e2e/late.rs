//! A daemon that answers too late: the hook does not wait, nothing is lost, and nothing is stored twice.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::home::signal;
use testkit::{Home, wait_until};

use super::{home, sqlite};

/// A tool call that no other event of the test has.
fn used(number: usize) -> Value {
    json!({
        "session_id": format!("s-{}", number % 3), "cwd": "/srv/app", "tool_name": "Bash",
        "tool_input": { "command": format!("make part-{number}") },
    })
}

/// Sends these events from four processes at a time.
fn send(home: &Home, numbers: std::ops::Range<usize>) {
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let own = numbers.clone().skip(worker).step_by(4);
            scope.spawn(move || own.for_each(|number| home.hook("PostToolUse", &used(number))));
        }
    });
}

/// Suspends the process, and waits until it is suspended.
pub(super) fn suspend(pid: u32) {
    signal(pid, "STOP");
    wait_until("the process stands still", || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit(") ").next()?.starts_with('T').then_some(())
    });
}

/// Has the daemon ingest the spool, and ends it cleanly, so that no call is pending.
fn settle(home: &Home) {
    wait_until("the spool is empty", || {
        home.call("set_hint", &json!({ "component": "any", "key": "write", "value": "x" }));
        home.spooled().is_empty().then_some(())
    });
    home.run(&["stop"]).ok();
}

/// @a_late_answer_stores_once
#[test]
fn events_that_reach_a_suspended_daemon_under_load_are_spooled_in_time_and_stored_once() {
    let home = home();
    let daemon = home.daemon();
    send(&home, 0..8);
    suspend(daemon.pid());
    let before = home.spooled().len();
    let started = Instant::now();
    send(&home, 8..24);
    let took = started.elapsed();
    // Each of four processes waits four times.
    assert!(took < Duration::from_secs(6), "{took:?}");
    assert_eq!(home.spooled().len(), before + 16, "each is safe when its hook ends");
    std::thread::scope(|scope| {
        scope.spawn(|| send(&home, 24..32));
        signal(daemon.pid(), "CONT");
    });
    settle(&home);
    assert_eq!(sqlite::recorded(&home).len(), 32);
    let mut observed = sqlite::observed(&home);
    observed.sort();
    let mut expected: Vec<_> = (0..32).map(|number| (format!("make part-{number}"), 1)).collect();
    expected.sort();
    assert_eq!(observed, expected);
}

/// Proxy between the hook and the daemon: passes each line on, and holds back every answer. The daemon's answers
/// arrive on the channel.
fn keep_answers(socket: &Path, real: &Path) -> Receiver<Value> {
    std::fs::rename(socket, real).unwrap();
    let listener = UnixListener::bind(socket).unwrap();
    let real = real.to_owned();
    let (sender, answers) = channel();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming().map_while(Result::ok) {
            let mut line = Vec::new();
            BufReader::new(&stream).read_until(b'\n', &mut line).unwrap();
            let mut daemon = UnixStream::connect(&real).unwrap();
            daemon.write_all(&line).unwrap();
            let mut answer = String::new();
            BufReader::new(&daemon).read_line(&mut answer).unwrap();
            if sender.send(serde_json::from_str(&answer).unwrap()).is_err() {
                return;
            }
            open.push(stream);
        }
    });
    answers
}

/// @a_late_answer_stores_once
#[test]
fn an_event_whose_deadline_passes_after_the_daemon_has_committed_it_is_stored_once() {
    let home = home();
    let _daemon = home.daemon();
    let (socket, real) = (home.locations().socket(), home.path("run/real.sock"));
    let answers = keep_answers(&socket, &real);
    for number in 0..2 {
        home.hook("PostToolUse", &used(number));
        let answer = answers.recv_timeout(testkit::SOON).unwrap();
        assert_eq!(answer["result"]["recorded"], true, "{answer}");
        // The hook cannot know. The event that the previous one spooled was ingested with this one, and the daemon
        // may have ingested the spool meanwhile.
        assert!(home.spooled().len() <= 1);
    }
    assert_eq!(sqlite::observed(&home).len(), 2, "the daemon has committed both");
    std::fs::rename(&real, &socket).unwrap();
    settle(&home);
    let once = ["make part-0", "make part-1"].map(|what| (what.to_owned(), 1));
    assert_eq!(sqlite::observed(&home), once);
    assert_eq!(sqlite::recorded(&home).len(), 2);
}

/// @a_late_answer_stores_once
#[test]
fn a_daemon_that_is_killed_before_it_answers_leaves_each_event_once() {
    let home = home();
    let mut daemon = home.daemon();
    let (socket, real) = (home.locations().socket(), home.path("run/real.sock"));
    let answers = keep_answers(&socket, &real);
    home.hook("PostToolUse", &used(0));
    answers.recv_timeout(testkit::SOON).unwrap();
    daemon.kill();
    // The next daemon finds the event in the WAL and in the spool.
    let _next = home.daemon();
    settle(&home);
    assert_eq!(sqlite::observed(&home), [("make part-0".to_owned(), 1)]);
    assert_eq!(sqlite::recorded(&home), ["PostToolUse"]);
}
