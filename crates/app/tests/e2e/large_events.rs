//! Events of up to 64 MiB and any structure: the hook uses little memory and loses none of them, and no request
//! makes the daemon use too much memory.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::home::finish;
use testkit::{Home, Run};

use super::home;

const MIB: usize = 1024 * 1024;
/// Memory limit of the hook, in KiB.
const HOOK_KIB: usize = 100 * 1024;
/// Limit for the growth of the daemon's memory, in KiB.
const DAEMON_KIB: usize = 150 * 1024;

/// Shapes of a response whose parsed tree takes far more memory than its text.
const SHAPES: &[&str] =
    &["numbers", "objects", "lists", "members", "texts", "one text", "deep lists", "deep objects"];

/// A JSON value of this shape, of about this many bytes.
fn response(shape: &str, bytes: usize) -> String {
    let list = |item: &str| format!("[{}0]", item.repeat(bytes / item.len()));
    let nested = |open: &str, close: &str| {
        let levels = bytes / (open.len() + close.len());
        format!("{}0{}", open.repeat(levels), close.repeat(levels))
    };
    match shape {
        "numbers" => list("0,"),
        "objects" => list(r#"{"a":0},"#),
        "lists" => list("[],"),
        "members" => {
            let members: Vec<String> = (0..bytes / 16).map(|n| format!("\"k{n:08}\":1,")).collect();
            format!("{{{}\"z\":0}}", members.concat())
        }
        "texts" => list(r#""src/main.rs:12: fn main() {","#),
        "one text" => format!("{{\"stdout\":\"{}\"}}", r"all is well\n".repeat(bytes / 13)),
        "deep lists" => nested("[", "]"),
        "deep objects" => nested(r#"{"a":"#, "}"),
        other => panic!("no shape is called {other}"),
    }
}

/// An event that has its session, tool and command after such a response.
fn event(shape: &str, bytes: usize) -> Vec<u8> {
    let response = response(shape, bytes);
    format!(
        "{{\"tool_response\":{response},\"tool_use_id\":\"t-1\",\"tool_input\":{{\"command\":\"make numbat\"}},\
         \"tool_name\":\"Bash\",\"hook_event_name\":\"PostToolUse\",\"cwd\":\"/srv/app\",\"session_id\":\"s-big\"}}"
    )
    .into_bytes()
}

/// Runs the hook with [`HOOK_KIB`] as its memory limit.
fn bounded_hook(home: &Home, stdin: &[u8]) -> Run {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -d {HOOK_KIB} && exec \"$0\" hook PostToolUse")]);
    shell.arg(env!("CARGO_BIN_EXE_rekindle")).env_clear().envs(home.env.iter().cloned());
    finish(shell, stdin)
}

/// Takes the only event out of the spool.
fn only_spooled(home: &Home) -> Value {
    let files = home.spooled();
    let [file] = files.as_slice() else { panic!("{} events in the spool", files.len()) };
    let text = std::fs::read(file).unwrap();
    std::fs::remove_file(file).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn assert_kept(event: &Value, what: &str) {
    assert_eq!(
        (&event["session"], &event["cwd"]),
        (&json!("s-big"), &json!("/srv/app")),
        "{what}: {event}"
    );
    let text = event.to_string();
    assert!(
        text.contains("make numbat") && text.contains("Bash") && text.contains("t-1"),
        "{what}: {text:.500}"
    );
}

/// @hook_memory
#[test]
fn an_event_of_any_structure_and_size_is_stored_within_100_mb() {
    let home = home();
    let sizes = |shape: &str| match shape {
        // Only the fast shapes at full size: the debug build is slow.
        "texts" | "one text" => vec![64 * MIB - 1_000],
        "numbers" | "objects" => vec![MIB + MIB / 10, 15 * MIB],
        _ => vec![4 * MIB],
    };
    for shape in SHAPES {
        for bytes in sizes(shape) {
            let what = format!("{shape}, {bytes} bytes");
            let event = event(shape, bytes);
            let run = bounded_hook(&home, &event);
            assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""), "{what}");
            assert_kept(&only_spooled(&home), &what);
        }
    }
}

/// @hook_memory
#[test]
fn a_small_event_that_is_nested_too_deep_is_kept() {
    let home = home();
    for shape in ["deep lists", "deep objects"] {
        bounded_hook(&home, &event(shape, 10_000));
        assert_kept(&only_spooled(&home), shape);
    }
}

/// @hook_memory
#[test]
fn the_received_part_of_a_truncated_event_is_kept() {
    let home = home();
    let head = r#"{"session_id":"s-big","cwd":"/srv/app","tool_use_id":"t-1","tool_name":"Bash","tool_input":{"command":"make numbat"},"tool_response":"#;
    for shape in ["numbers", "one text", "deep objects"] {
        let event = format!("{head}{}", &response(shape, 2 * MIB)[..MIB + MIB / 2]);
        bounded_hook(&home, event.as_bytes());
        assert_kept(&only_spooled(&home), shape);
    }
    let log = std::fs::read_to_string(home.path("data/log/hook.log")).unwrap();
    assert_eq!(log.matches("cut off: using the part that arrived").count(), 3, "{log}");
}

/// @hook_memory
#[test]
fn an_event_past_its_deadline_is_spooled_and_ingested_by_the_daemon() {
    let home = home();
    let daemon = home.daemon();
    let started = Instant::now();
    bounded_hook(&home, &event("numbers", 15 * MIB));
    // An optimised build meets the deadline. A slower one misses it, and must not lose the event.
    assert!(started.elapsed() < Duration::from_secs(60));
    let found = home.call("search", &json!({ "query": "numbat", "project": "*" }));
    assert_eq!(found["results"].as_array().unwrap().len(), 1, "{found}");
    drop(daemon);
}

/// Peak memory of a process in KiB, if the system reports it.
fn peak_kib(pid: u32) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// @daemon_memory
#[test]
fn no_request_makes_the_daemon_use_150_mb() {
    let home = home();
    let daemon = home.daemon();
    let before = peak_kib(daemon.pid());
    for shape in ["numbers", "objects", "lists"] {
        let value = response(shape, 16 * MIB - 1_000);
        let in_call = |call: &str| call.replace('@', &value);
        let rpc = in_call(r#"{"jsonrpc":"2.0","id":1,"method":"search","params":{"query":@}}"#);
        let tool = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":@}}}"#;
        for (path, body) in
            [("/rpc", value.clone()), ("/rpc", rpc.clone()), ("/mcp", in_call(tool))]
        {
            let reply = daemon.http().post(path, body.as_bytes());
            assert_eq!(reply.json()["error"]["code"], 41301, "{shape} {path}");
        }
        let mut socket = home.socket();
        socket.send(format!("{rpc}\n").as_bytes());
        let reply = socket.receive().unwrap();
        assert_eq!(reply["error"]["code"], 41301, "{shape} on the socket");
        let reply = daemon.http().post("/hook/PostToolUse", &event(shape, 16 * MIB - 1_000));
        assert_eq!((reply.status, reply.json()), (200, json!({})), "{shape}");
    }
    let found = home.call("search", &json!({ "query": "numbat", "project": "*" }));
    assert_eq!(found["results"][0]["session_id"], "s-big", "{found}");
    if let (Some(before), Some(after)) = (before, peak_kib(daemon.pid())) {
        assert!(after - before < DAEMON_KIB, "{before} KiB before, {after} KiB at most");
    }
}
