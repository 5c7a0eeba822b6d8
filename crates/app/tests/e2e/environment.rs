//! Environment variables: only those that stored scopes ask for leave the process.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};
use testkit::home::finish;
use testkit::{Home, Mcp};

use super::home;
use super::situation::{LocalSurface, Stand, WAYS, answer, scoped};

/// A value that no scope asks for, and that must not leave the process.
const PRIVATE: &str = "hunter2-stays-at-home";

/// @situation_env
#[test]
fn variables_that_a_scope_asks_for_are_sent_on_every_surface_with_a_process() {
    for way in WAYS {
        let home = home();
        let _daemon = way.daemon(&home);
        scoped(&home, &json!({ "env_required": ["DEPLOY"], "env_match": { "STAGE": ["a", "b"] } }));
        let get = |env: &[(&'static str, &str)]| {
            let stand = Stand::at(&home.dir);
            way.get(&home, &env.iter().fold(stand, |stand, (name, value)| stand.with(name, value)))
        };
        assert_eq!(get(&[("DEPLOY", ""), ("STAGE", "b")]), Ok("make".into()), "{way:?}");
        assert_eq!(get(&[("STAGE", "b")]), Err("env DEPLOY is not set".into()), "{way:?}");
        assert_eq!(get(&[("DEPLOY", "1")]), Err("env STAGE is not set".into()), "{way:?}");
        let other = get(&[("DEPLOY", "1"), ("STAGE", "c")]);
        assert_eq!(other, Err("env STAGE has another value".into()), "{way:?}");
    }
}

/// @situation_env
#[test]
fn a_long_running_server_answers_a_later_question() {
    for way in [LocalSurface::Primary, LocalSurface::Proxy] {
        let home = home();
        let _daemon = way.daemon(&home);
        let stand = Stand::at(&home.dir).with("FIRST", "1").with("SECOND", "2");
        let mut mcp = Mcp::start(stand.start(&home, &["serve"]));
        mcp.initialize("2025-06-18");
        let params = json!({ "component": "web", "key": "build" });
        assert!(mcp.call("get_hint", &params).is_err(), "{way:?}");
        for (name, value) in [("FIRST", "1"), ("SECOND", "2"), ("FIRST", "1")] {
            scoped(&home, &json!({ "env_match": { name: value } }));
            let found = mcp.call("get_hint", &params).unwrap();
            assert_eq!(answer(&found), Ok("make".into()), "{way:?}");
            mcp.call("delete_hint", &params).unwrap();
        }
    }
}

/// A fake daemon. It passes on every line that it gets; the test chooses its answer to the n-th call after
/// hello.
fn stand_in(
    home: &Home,
    answers: impl Fn(usize) -> Value + Send + 'static,
) -> (File, Receiver<String>) {
    let locations = home.locations();
    std::fs::DirBuilder::new().mode(0o700).create(&locations.runtime_dir).unwrap();
    let lock = File::create(locations.lock()).unwrap();
    lock.lock().unwrap();
    let listener = UnixListener::bind(locations.socket()).unwrap();
    let hello = json!({
        "server": "rekindle", "version": "9999.0.0", "build": "9999.0.0+1",
        "pid": 1, "port": 1, "db": locations.database,
    });
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        let mut calls = 0;
        for stream in listener.incoming().map_while(Result::ok) {
            let mut writer = stream.try_clone().unwrap();
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                let frame: Value = serde_json::from_str(&line).unwrap();
                let mut reply = if frame["method"] == "rekindle/hello" {
                    json!({ "result": hello })
                } else {
                    calls += 1;
                    answers(calls)
                };
                reply["id"] = frame["id"].clone();
                if sender.send(line).is_err() || writeln!(writer, "{reply}").is_err() {
                    return;
                }
            }
        }
    });
    (lock, lines)
}

/// The question of a daemon for these names.
fn question(stamp: i64, names: &[&str]) -> Value {
    json!({ "jsonrpc": "2.0", "rekindle": { "asks_env": { "stamp": stamp, "names": names } } })
}

/// A reply that every type of caller accepts.
fn done() -> Value {
    let line = json!({ "jsonrpc": "2.0", "id": 1, "result": {} }).to_string();
    json!({ "jsonrpc": "2.0", "result": { "line": line, "hint": null, "match_explain": {} } })
}

/// The calls among the lines. Asserts that none contains the private value.
fn calls(lines: &Receiver<String>) -> Vec<Value> {
    let lines: Vec<String> = lines.try_iter().collect();
    assert!(lines.iter().all(|line| !line.contains(PRIVATE)), "{lines:?}");
    let frames = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    frames.filter(|frame| frame["method"] != "rekindle/hello").collect()
}

fn private_stand(home: &Home) -> Stand {
    let long = "x".repeat(4097);
    Stand::at(&home.dir)
        .with("ASKED", "1")
        .with("EXACT", &long[..4096])
        .with("LONG", &long)
        .with("SECRET_TOKEN", PRIVATE)
}

/// @env_asked_names_only
#[test]
fn only_requested_variables_are_sent_and_the_call_keeps_its_id() {
    for way in [LocalSurface::Command, LocalSurface::Proxy] {
        let home = home();
        let names = ["ASKED", "EXACT", "LONG", "NOT_SET", "ODD=NAME", ""];
        let (_lock, lines) =
            stand_in(&home, move |call| if call == 1 { question(7, &names) } else { done() });
        let stand = private_stand(&home);
        if way == LocalSurface::Command {
            let args = ["call", "get_hint", r#"{"component":"web","key":"build"}"#, "--json"];
            assert_eq!(finish(stand.start(&home, &args), b"").stderr, "");
        } else {
            let mut mcp = Mcp::start(stand.start(&home, &["serve"]));
            mcp.request("ping", &json!({}));
        }
        let calls = calls(&lines);
        let sent = |call: usize, member: &str| calls[call]["rekindle"][member].clone();
        assert_eq!(calls.len(), 2, "{way:?}");
        assert_eq!((sent(0, "env_stamp"), sent(1, "env_stamp")), (json!(0), json!(7)), "{way:?}");
        assert_eq!(sent(0, "situation")["env"], Value::Null, "{way:?}");
        let env = json!({ "ASKED": "1", "EXACT": "x".repeat(4096) });
        assert_eq!(sent(1, "situation")["env"], env, "{way:?}");
        assert_eq!(sent(0, "call"), sent(1, "call"), "{way:?}");
        assert_eq!(calls[0]["params"], calls[1]["params"], "{way:?}");
    }
}

/// @env_asked_names_only
#[test]
fn a_daemon_that_keeps_asking_is_answered_twice_and_then_gets_the_call_as_it_is() {
    let run = |answers: fn(usize) -> Value| {
        let home = home();
        let (_lock, lines) = stand_in(&home, answers);
        let args = ["call", "get_hint", r#"{"component":"web","key":"build"}"#, "--json"];
        let run = finish(private_stand(&home).start(&home, &args), b"");
        let calls = calls(&lines).into_iter();
        (run, calls.map(|call| call["rekindle"]["env_stamp"].clone()).collect::<Vec<_>>())
    };
    let stamps = [json!(0), json!(1), json!(null)];
    let (taken, sent) =
        run(|call| if call < 3 { question(call as i64, &["ASKED"]) } else { done() });
    assert_eq!((taken.json()["hint"].clone(), sent), (json!(null), stamps.to_vec()));
    let (refused, sent) = run(|call| question(call as i64, &["ASKED"]));
    assert_eq!((refused.code, sent), (1, stamps.to_vec()));
    assert!(refused.stdout.contains("keeps requesting environment variables"), "{refused:?}");
}

/// @env_asked_names_only
#[test]
fn a_hook_sends_no_environment_variables() {
    let home = home();
    let (_lock, lines) = stand_in(&home, |_| json!({ "jsonrpc": "2.0", "result": {} }));
    let command = private_stand(&home).start(&home, &["hook", "Stop"]);
    finish(command, br#"{"session_id":"s"}"#).ok();
    let calls = calls(&lines);
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0]["rekindle"]["env_stamp"], Value::Null);
    assert_eq!(calls[0]["rekindle"]["situation"], Value::Null);
}

/// @env_question_runs_nothing
#[test]
fn a_call_is_not_run_while_its_variables_are_asked_for_and_without_a_stamp_it_is_not_asked() {
    let home = home();
    let _daemon = home.daemon();
    scoped(&home, &json!({ "env_required": ["B", "A"] }));
    let mut socket = home.socket();
    let mut call = |number: u8, stamp: Option<i64>| {
        let id = format!("{number:032x}");
        let frame = json!({
            "jsonrpc": "2.0", "id": number, "method": "set_hint",
            "params": { "component": "web", "key": format!("k{number}"), "value": "v" },
            "rekindle": { "call": id, "env_stamp": stamp },
        });
        socket.send(format!("{frame}\n").as_bytes());
        socket.receive().unwrap()
    };
    let asked = call(1, Some(0));
    assert_eq!(asked["id"], 1);
    assert_eq!((&asked["result"], &asked["error"]), (&Value::Null, &Value::Null));
    let question = &asked["rekindle"]["asks_env"];
    assert_eq!(question["names"], json!(["A", "B"]));
    assert!(call(2, None)["result"]["hint"].is_object());
    assert!(call(3, question["stamp"].as_i64())["result"]["hint"].is_object());
    let listed = home.call("list_components", &json!({ "component": "web" }));
    let text = listed.to_string();
    assert!(text.contains("k2") && text.contains("k3") && !text.contains("k1"), "{text}");
}

/// @env_values_are_not_kept
#[test]
fn no_value_of_a_variable_is_logged_or_stored() {
    let mut home = home();
    home.set("REKINDLE_LOG_LEVEL", "debug");
    let daemon = home.daemon();
    scoped(&home, &json!({ "env_required": ["SECRET_TOKEN"] }));
    let stand = private_stand(&home);
    for way in [LocalSurface::Command, LocalSurface::Proxy] {
        assert_eq!(way.get(&home, &stand), Ok("make".into()), "{way:?}");
    }
    for op in ["bump_hint", "delete_hint"] {
        let params = r#"{"component":"web","key":"build"}"#;
        finish(stand.start(&home, &["call", op, params, "--json"]), b"").ok();
    }
    testkit::wait_until("the calls are in the log", || {
        let log = std::fs::read_to_string(home.locations().daemon_log()).ok()?;
        (log.contains("op=get_hint") && log.contains("op=delete_hint")).then_some(())
    });
    assert!(holding(&home.dir, PRIVATE.as_bytes()).is_empty());
    drop(daemon);
    assert!(holding(&home.dir, PRIVATE.as_bytes()).is_empty());
}

/// The files in a directory tree that contain these bytes.
fn holding(dir: &Path, needle: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            found.extend(holding(&path, needle));
        } else if kind.is_file() {
            let bytes = std::fs::read(&path).unwrap_or_default();
            let here = bytes.windows(needle.len()).any(|window| window == needle);
            found.extend(here.then(|| path.display().to_string()));
        }
    }
    found
}
