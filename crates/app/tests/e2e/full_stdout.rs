//! A stdout that cannot be written: a full disk is an error, a closed pipe is not, and a hook never fails.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use serde_json::json;
use testkit::{Home, wait_until};

use super::home;
use super::ways::request;

/// Runs a command whose stdout is a full device. Returns its exit code and stderr.
fn to_full(home: &Home, args: &[&str], stdin: &str) -> (i32, String) {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = home.command(args);
    command.stdin(Stdio::piped()).stdout(full).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap_or(-1), stderr)
}

/// @lost_output_is_a_failure
#[test]
fn a_command_whose_output_is_lost_fails_and_says_so_once() {
    let home = home();
    let _daemon = home.daemon();
    home.call("set_hint", &json!({ "component": "web", "key": "build", "value": "make" }));
    let commands: &[&[&str]] = &[
        &["recent"],
        &["status", "--json"],
        &["ops"],
        &["help"],
        &["--version"],
        &["completions", "bash"],
        &["briefing"],
        &["hint", "get", "web", "build"],
        &["config"],
        &["doctor"],
        &["agents"],
        &["logs"],
        &["logs", "-f"],
        &["up"],
        &["serve", "--daemon"],
        &["stop"],
    ];
    for args in commands {
        let (code, stderr) = to_full(&home, args, "");
        assert_eq!(code, 1, "{args:?}: {stderr}");
        assert_eq!(stderr.matches("cannot write to stdout").count(), 1, "{args:?}: {stderr}");
    }
}

/// @lost_output_is_a_failure
#[test]
fn a_hook_exits_with_0_even_if_its_answer_is_lost() {
    let home = home();
    let _daemon = home.daemon();
    let event = json!({ "session_id": "s-1", "cwd": "/srv/app" }).to_string();
    for args in [&["hook", "SessionStart"][..], &["hook", "Stop", "--json"], &["hook"]] {
        let (code, _) = to_full(&home, args, &event);
        assert_eq!(code, 0, "{args:?}");
    }
}

/// @lost_output_is_a_failure
#[test]
fn a_closed_pipe_is_not_an_error_and_ends_logs_f() {
    let home = home();
    let _daemon = home.daemon();
    for args in [&["ops", "--json"][..], &["help"], &["logs", "-f"]] {
        let mut command = home.command(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let status = wait_until("the command ends", || {
            // `logs -f` notices the closed pipe when it prints the next line, and only writes are logged.
            home.call("set_hint", &json!({ "component": "a", "key": "b", "value": "c" }));
            child.try_wait().ok().flatten()
        });
        let mut stderr = String::new();
        std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut stderr).unwrap();
        assert_eq!((status.code(), stderr.as_str()), (Some(0), ""), "{args:?}");
    }
}

/// @lost_output_is_a_failure
#[test]
fn a_stdio_server_whose_client_is_gone_ends_cleanly() {
    let home = home();
    let line = request("tools/list", &json!({})) + "\n";
    let (code, stderr) = to_full(&home, &["serve"], &line);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("cannot write to stdout"), "{stderr}");
    assert!(!home.locations().discovery().exists(), "it left as a daemon does");
    let mut command: Command = home.command(["serve"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(line.as_bytes()).unwrap();
    let mut answer = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut answer).unwrap();
    drop(stdout);
    // Its stdin stays open, so it notices only when it writes the next answer.
    stdin.write_all(line.as_bytes()).unwrap();
    let status = wait_until("it ends", || child.try_wait().ok().flatten());
    let mut stderr = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut stderr).unwrap();
    assert_eq!((status.code(), stderr.as_str()), (Some(0), ""));
    assert!(!home.locations().discovery().exists(), "it left as a daemon does");
}
