//! The hook's behaviour towards the agent: how long it waits, and that it disturbs the agent neither in a broken
//! environment nor with a broken daemon or program.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::home::{finish, signal};
use testkit::{Home, Run, wait_until};

use super::late::suspend;
use super::{home, sqlite};

/// An event with the members of all agents.
fn payload() -> Vec<u8> {
    let event = json!({
        "session_id": "s-1", "conversation_id": "s-1", "cwd": "/srv/gone", "prompt": "hello",
        "tool_name": "Bash", "tool_input": { "command": "make" },
    });
    event.to_string().into_bytes()
}

fn silent(run: &Run) {
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
}

fn hook(home: &Home, event: &str) {
    silent(&home.run_with(&["hook", event], &payload()));
}

/// @a_hook_has_a_deadline
#[test]
fn a_hook_gives_up_on_a_hung_daemon_at_the_deadline_of_its_event_for_any_agent() {
    let home = home();
    let daemon = home.daemon();
    suspend(daemon.pid());
    let table = [
        (150, 150, "PreToolUse PostToolUseFailure AfterTool postToolUse tool.execute.before"),
        // The rest of the time is for the spool and for reading the store.
        (200, 300, "UserPromptSubmit BeforeAgent beforeSubmitPrompt chat.message"),
        (750, 1_000, "SessionStart sessionStart SessionEnd session.deleted"),
    ];
    let mut sent = 0;
    for (patience, deadline, events) in table {
        let patience = Duration::from_millis(patience);
        let deadline = Duration::from_millis(deadline);
        for event in events.split(' ') {
            // On a busy machine single hooks may be late.
            wait_until(event, || {
                let started = Instant::now();
                hook(&home, event);
                sent += 1;
                let took = started.elapsed();
                assert!(took >= patience, "{event} waits for an answer: {took:?}");
                (took < deadline + Duration::from_millis(120)).then_some(())
            });
        }
    }
    assert_eq!(home.spooled().len(), sent, "each is safe when its hook ends");
    signal(daemon.pid(), "CONT");
    wait_until("the spool is empty", || {
        home.call("set_hint", &json!({ "component": "any", "key": "write", "value": "x" }));
        home.spooled().is_empty().then_some(())
    });
    assert_eq!(sqlite::recorded(&home).len(), sent, "what the daemon got twice counts once");
}

/// Runs a hook with this stdin, which stays open until the hook has ended.
fn hook_left_open(home: &Home, event: &str, text: &[u8]) {
    let mut command = home.command(["hook", event]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().unwrap();
    let mut stdin = running.stdin.take().unwrap();
    stdin.write_all(text).unwrap();
    wait_until("the hook leaves", || running.try_wait().unwrap());
    let output = running.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!((output.status.code(), output.stdout, output.stderr), (Some(0), vec![], vec![]));
}

/// @a_hook_takes_what_is_whole
#[test]
fn a_hook_accepts_a_complete_event_from_a_stdin_that_stays_open() {
    let home = home();
    hook_left_open(&home, "PostToolUse", &payload());
    hook_left_open(&home, "Stop", &[&payload()[..], b"\n \n"].concat());
    let large =
        json!({ "session_id": "s-1", "tool_name": "Bash", "tool_response": "}".repeat(3 << 20) });
    hook_left_open(&home, "PostToolUse", large.to_string().as_bytes());
    assert_eq!(home.spooled().len(), 3);
    let _daemon = home.daemon();
    hook_left_open(&home, "Stop", &payload());
    wait_until("all are taken in", || (sqlite::recorded(&home).len() == 4).then_some(()));
    assert!(!home.path("data/log/hook.log").exists());
}

/// @a_hook_takes_what_is_whole
#[test]
fn a_hook_stops_waiting_for_the_rest_of_an_event() {
    let home = home();
    for half in [&b""[..], br#"{"session_id":"s-1","prompt":"}"#] {
        let started = Instant::now();
        hook_left_open(&home, "UserPromptSubmit", half);
        assert!(started.elapsed() >= Duration::from_millis(1_000), "the rest may still come");
    }
    assert_eq!(home.spooled().len(), 0);
    let log = std::fs::read_to_string(home.path("data/log/hook.log")).unwrap();
    assert_eq!(log.matches("without a complete JSON object").count(), 2, "{log}");
}

/// @a_hook_works_anywhere
#[test]
fn a_hook_works_without_home_or_with_an_empty_one() {
    for empty in [false, true] {
        let mut home = home();
        for name in ["HOME", "REKINDLE_HOME"] {
            home.unset(name);
        }
        if empty {
            home.set("HOME", "");
        }
        for (name, folder) in [("XDG_DATA_HOME", "share"), ("XDG_CONFIG_HOME", "config")] {
            home.set(name, home.path(folder).to_str().unwrap());
        }
        hook(&home, "PostToolUse");
        let spool = home.path("share/rekindle/spool");
        assert_eq!(std::fs::read_dir(&spool).unwrap().count(), 1);
        let _daemon = home.daemon();
        hook(&home, "Stop");
        let status = home.run(&["status", "--json"]).json();
        assert_eq!((&status["events"], &status["spooled"]), (&json!(2), &json!(0)));
    }
}

/// Runs a hook in a directory that is removed while it runs.
fn hook_from_nowhere(home: &Home, event: &str) {
    std::fs::create_dir_all(home.path("gone")).unwrap();
    let line = format!(
        "cd gone && rmdir ../gone && exec '{}' hook {event}",
        env!("CARGO_BIN_EXE_rekindle")
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).current_dir(&home.dir).env_clear().envs(home.env.iter().cloned());
    silent(&finish(shell, &payload()));
}

/// @a_hook_works_anywhere
#[test]
fn a_hook_works_in_a_removed_directory() {
    let mut home = home();
    hook_from_nowhere(&home, "PostToolUse");
    assert_eq!(home.spooled().len(), 1);
    home.unset("REKINDLE_NO_AUTOSTART");
    hook_from_nowhere(&home, "SessionStart");
    home.pid();
    hook_from_nowhere(&home, "UserPromptSubmit");
    wait_until("all of them are taken in", || (sqlite::recorded(&home).len() == 3).then_some(()));
}

/// A hard link to the program under test, or a copy if links are not possible.
fn install(at: &Path) {
    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_rekindle"));
    if std::fs::hard_link(program, at).is_err() {
        std::fs::copy(program, at).unwrap();
    }
}

/// @a_hook_works_anywhere
#[test]
fn a_hook_whose_program_is_replaced_while_it_runs_starts_a_daemon_of_the_new_one() {
    let folder = home();
    let program = folder.path("bin/rekindle");
    install(&program);
    let mut home = Home::new(program.to_str().unwrap());
    home.unset("REKINDLE_NO_AUTOSTART");
    let mut command = home.command(["hook", "PostToolUse"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().unwrap();
    wait_until("the hook runs", || {
        let runs = std::fs::read_link(format!("/proc/{}/exe", running.id())).ok()?;
        (runs == program).then_some(())
    });
    std::fs::remove_file(&program).unwrap();
    install(&program);
    running.stdin.take().unwrap().write_all(&payload()).unwrap();
    let output = running.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout, output.stderr), (Some(0), vec![], vec![]));
    let exe = std::fs::read_link(format!("/proc/{}/exe", home.pid())).unwrap();
    assert_eq!(exe, program);
    wait_until("the event is taken in", || (sqlite::recorded(&home).len() == 1).then_some(()));
}

/// @a_hook_works_anywhere
#[test]
fn a_daemon_whose_program_was_replaced_keeps_running() {
    let folder = home();
    let program = folder.path("bin/rekindle");
    install(&program);
    let home = Home::new(program.to_str().unwrap());
    let daemon = home.daemon();
    std::fs::remove_file(&program).unwrap();
    install(&program);
    hook(&home, "Stop");
    assert_eq!(sqlite::recorded(&home), ["Stop"]);
    assert_eq!(home.pid(), daemon.pid());
}

/// @a_hook_works_with_any_build
#[test]
fn an_event_that_a_daemon_of_another_build_does_not_understand_is_spooled() {
    let home = home();
    let locations = home.locations();
    client::platform::private_dir(&locations.runtime_dir).unwrap();
    let listener = UnixListener::bind(locations.socket()).unwrap();
    let answers = [
        json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32601, "message": "unknown" } }),
        json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": 50301, "message": "leaving" } }),
        json!({ "jsonrpc": "3.0", "done": true }),
        json!(["something", "else"]),
        Value::Null,
    ];
    let count = answers.len();
    std::thread::spawn(move || {
        for (stream, answer) in listener.incoming().map_while(Result::ok).zip(answers) {
            BufReader::new(&stream).read_until(b'\n', &mut Vec::new()).unwrap();
            // The last call ends without an answer.
            if !answer.is_null() {
                writeln!(&stream, "{answer}").unwrap();
            }
        }
    });
    for number in 1..=count {
        hook(&home, "PostToolUse");
        assert_eq!(home.spooled().len(), number);
    }
    assert!(!home.path("data/log/hook.log").exists());
}

/// @capture_unknown_event
#[test]
fn an_unknown_event_is_recorded_with_its_name_and_time() {
    let home = home();
    let send = || {
        let line = ["hook", "Brandnew", "--agent", "claude-code"];
        silent(&home.run_with(&line, &payload()));
    };
    send();
    let _daemon = home.daemon();
    send();
    assert_eq!(sqlite::recorded(&home), ["Brandnew", "Brandnew"]);
    let stats = home.call("memory_stats", &json!({}));
    assert!(stats["agents"]["claude-code"].is_number(), "the agent was heard of: {stats}");
    assert_eq!(stats["observations"], 0, "{stats}");
    assert!(!home.path("data/log/hook.log").exists());
}

/// @a_hook_starts_a_daemon_now_and_then
#[test]
fn a_daemon_that_a_hook_starts_is_detached() {
    let mut home = home();
    home.unset("REKINDLE_NO_AUTOSTART");
    // A daemon that inherited the hook's stdout would block a reader of it.
    hook(&home, "PostToolUse");
    let pid = home.pid();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let group = stat.rsplit(") ").next().unwrap().split(' ').nth(2).unwrap();
    assert_eq!(group, pid.to_string(), "whoever ends the hook and its group does not end it");
    assert_eq!(std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap(), Path::new("/"));
    for number in 0..3 {
        let open = std::fs::read_link(format!("/proc/{pid}/fd/{number}")).unwrap();
        assert_eq!(open, Path::new("/dev/null"));
    }
}

/// @a_hook_starts_a_daemon_now_and_then
#[test]
fn a_hook_does_not_wait_for_the_daemon_that_it_starts() {
    let mut home = home();
    home.unset("REKINDLE_NO_AUTOSTART");
    // The lock is held by a process that does not answer, so no daemon can start.
    let locations = home.locations();
    client::platform::private_dir(&locations.runtime_dir).unwrap();
    let lock = std::fs::File::create(locations.lock()).unwrap();
    lock.lock().unwrap();
    for event in ["SessionStart", "PostToolUse"] {
        let started = Instant::now();
        hook(&home, event);
        let took = started.elapsed();
        assert!(took < Duration::from_millis(1_500), "{event}: {took:?}");
    }
    assert!(home.path("run/start.stamp").exists() && !home.path("run/daemon.json").exists());
    assert_eq!(home.spooled().len(), 2);
}
