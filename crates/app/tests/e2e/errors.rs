//! Each error that a client can provoke, on each surface: number, reason and form.

use serde_json::{Value, json};
use testkit::Home;

use super::home;
use super::ways::{AnswerForm, Surface, WAYS};

/// An error, how to provoke it, and its form on each surface.
struct Case {
    word: &'static str,
    op: &'static str,
    params: Value,
    code: i64,
    reason: &'static str,
    exit: i32,
    /// The number of an MCP protocol error; without one it is a tool result.
    protocol: Option<i64>,
}

fn case(
    word: &'static str,
    op: &'static str,
    params: Value,
    code: i64,
    reason: &'static str,
) -> Case {
    Case { word, op, params, code, reason, exit: 1, protocol: None }
}

fn cases() -> Vec<Case> {
    let hint = |value: Value| json!({ "component": "web", "key": "new", "value": value });
    let mut conflicting = hint(json!("x"));
    conflicting["if_match_version"] = json!(9);
    let mut crowded = hint(json!("x"));
    crowded["component"] = json!("crowded");
    let nothing = json!({ "component": "web", "key": "none" });
    let unnamed = json!({ "component": "web" });
    let mut unknown = nothing.clone();
    unknown["colour"] = json!("red");
    let unknown_method = Case {
        exit: 2,
        protocol: Some(-32602),
        ..case("unknown_method", "no_such_operation", json!({}), -32601, "E_UNKNOWN_METHOD")
    };
    vec![
        case("invalid", "get_hint", unnamed, 40001, "E_INVALID"),
        case("invalid", "get_hint", unknown, 40001, "E_INVALID"),
        case("invalid", "get", json!({ "path": "hint://a/../b" }), 40001, "E_INVALID"),
        case("not_found", "get_hint", nothing, 40401, "E_NOT_FOUND"),
        case("conflict", "set_hint", conflicting, 40901, "E_CONFLICT"),
        case("too_large", "set_hint", hint(json!("x".repeat(66_000))), 41301, "E_TOO_LARGE"),
        case("quota", "set_hint", crowded, 42901, "E_QUOTA"),
        case("unavailable", "set_hint", hint(json!("x".repeat(60_000))), 50301, "E_UNAVAILABLE"),
        unknown_method,
    ]
}

/// A home whose database has a full component and, if asked for, no room for another page.
fn prepare(crowded: &std::path::Path, full: bool) -> Home {
    let mut home = home();
    home.call("restore", &json!({ "file": crowded }));
    if full {
        let pages = std::fs::metadata(crowded).unwrap().len() / 4096;
        home.set("REKINDLE_STORE_MAX_PAGES", &pages.to_string());
    }
    home
}

/// A backup in which the component `crowded` has as many hints as it may have.
fn crowded(home: &Home) -> std::path::PathBuf {
    let daemon = home.daemon();
    let member = |n: usize| {
        let meta = json!({ "ttl": "forever" });
        let params =
            json!({ "component": "crowded", "key": n.to_string(), "value": "", "meta": meta });
        json!({ "jsonrpc": "2.0", "id": n, "method": "set_hint", "params": params })
    };
    let batch: Value = (0..200).map(member).collect();
    let replies = daemon.http().post("/rpc", batch.to_string().as_bytes()).json();
    assert!(replies.as_array().unwrap().iter().all(|reply| reply.get("result").is_some()));
    let file = home.path("crowded.db");
    home.call("backup", &json!({ "file": file }));
    file
}

/// @one_table_of_errors
#[test]
fn each_error_has_its_number_reason_and_form_on_every_surface() {
    let source = home();
    let crowded = crowded(&source);
    let cases = cases();
    // Own commands are only run with examples, which are valid; `call` prints errors in the same way.
    let ways = WAYS.into_iter().filter(|way| *way != Surface::OwnCommand);
    std::thread::scope(|scope| {
        for way in ways {
            let (cases, crowded) = (&cases, &crowded);
            scope.spawn(move || {
                let mut usual = way.open_in(prepare(crowded, false));
                let mut full = way.open_in(prepare(crowded, true));
                for case in cases {
                    let site = if case.word == "unavailable" { &mut full } else { &mut usual };
                    let error = site.call(case.op, &case.params).expect_err(case.word);
                    check(case, way, &error, site.form);
                }
            });
        }
    });
}

fn check(case: &Case, way: Surface, error: &Value, form: AnswerForm) {
    let number = case.protocol.filter(|_| way.is_mcp()).unwrap_or(case.code);
    let seen = (error["code"].as_i64(), error["data"]["reason"].as_str());
    assert_eq!(seen, (Some(number), Some(case.reason)), "{} on {way:?}: {error}", case.word);
    let message = error["message"].as_str().unwrap();
    assert!(!message.is_empty() && !message.ends_with('.'), "{error}");
    let expected = match (way, case.protocol) {
        (Surface::Command | Surface::InProcess | Surface::OwnCommand, _) => {
            AnswerForm::Exit(case.exit)
        }
        (Surface::Rpc | Surface::Root | Surface::Batch, _) => AnswerForm::Status(200),
        (Surface::Socket | Surface::Ws, _) => AnswerForm::Frame,
        (_, Some(_)) => AnswerForm::Protocol,
        (_, None) => AnswerForm::ToolResult,
    };
    assert_eq!(form, expected, "{} on {way:?}: {error}", case.word);
}

/// @invalid_names_the_parameter
#[test]
fn a_bad_parameter_is_named() {
    let home = home();
    let daemon = home.daemon();
    let long = "x".repeat(201);
    for (op, params, named) in [
        ("get_hint", json!({ "component": "a" }), "key"),
        ("get_hint", json!({ "component": "a", "key": 3 }), "key"),
        ("get_hint", json!({ "component": "a", "key": "b", "colour": 1 }), "colour"),
        ("get_hint", json!({ "component": long, "key": "b" }), "component"),
        ("get_hint", json!([1, 2]), "params"),
        ("get_hint", json!("x"), "params"),
        (
            "set_hint",
            json!({ "component": "a", "key": "b", "value": "x", "meta": { "ttl": "P1Y" } }),
            "meta.ttl",
        ),
        (
            "set_hint",
            json!({ "component": "a", "key": "b", "value": "x", "meta": { "size": 1 } }),
            "meta.size",
        ),
        (
            "set_hint",
            json!({ "component": "a", "key": "b", "value": "x", "if_match_version": -1 }),
            "if_match_version",
        ),
        ("get", json!({ "path": "nothing" }), "path"),
        ("backup", json!({ "file": "relative.db" }), "file"),
        ("status", json!({ "verbose": true }), "verbose"),
    ] {
        let error = daemon.http().rpc(op, &params).expect_err(op);
        assert_eq!(
            (&error["code"], &error["data"]["param"]),
            (&json!(40001), &json!(named)),
            "{error}"
        );
    }
}

/// @rest_errors
#[test]
fn errors_outside_json_rpc_are_json_with_the_status_of_their_code() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    let bare = testkit::Http::new(daemon.port);
    let large = vec![b' '; 16 * 1024 * 1024 + 1];
    let long = format!("/hook/{}", "x".repeat(201));
    for (response, status, code) in [
        (http.post("/hook/Stop", b"{"), 400, "invalid"),
        (http.post(&long, b"{}"), 400, "invalid"),
        (bare.post("/hook/Stop", b"{}"), 401, "unauthenticated"),
        (bare.get("/no/such"), 401, "unauthenticated"),
        (http.clone().with("Origin", "http://evil.example").get("/sse"), 403, "forbidden"),
        (http.get("/no/such"), 404, "not_found"),
        (http.post("/messages?session_id=none", b"{}"), 404, "not_found"),
        (http.get("/rpc"), 405, "invalid"),
        (http.post("/hook/Stop", &large), 413, "too_large"),
        (http.clone().with("Content-Type", "text/plain").post("/hook/Stop", b"{}"), 415, "invalid"),
        (http.get("/ws"), 426, "invalid"),
    ] {
        let body = response.json();
        assert_eq!((response.status, body["code"].as_str()), (status, Some(code)), "{body}");
        assert_eq!(response.header("Content-Type"), Some("application/json"));
        assert!(!body["error"].as_str().unwrap().is_empty());
    }
}

/// @rpc_refusals
#[test]
fn a_frame_that_is_refused_before_its_call_has_an_http_status_and_a_json_rpc_error() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    let call = super::ways::request("get_hint", &json!({}));
    let call = call.as_bytes();
    let large = vec![b' '; 16 * 1024 * 1024 + 1];
    for path in ["/rpc", "/"] {
        for (response, status, code) in [
            (http.post(path, b"{"), 400, -32700),
            (http.post(path, b"[]"), 400, -32600),
            (http.post(path, b"{}"), 400, -32600),
            (http.clone().without("Authorization").post(path, call), 401, 40101),
            (http.clone().with("Host", "evil.example").post(path, call), 403, 40301),
            (http.post(path, &large), 413, 41301),
            (http.clone().with("Content-Type", "text/plain").post(path, call), 415, 40001),
        ] {
            let body = response.json();
            assert_eq!(
                (response.status, body["error"]["code"].as_i64()),
                (status, Some(code)),
                "{body}"
            );
            assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &Value::Null), "{body}");
            assert!(body["error"]["data"]["reason"].is_string(), "{body}");
        }
    }
}

/// @command_line_errors
#[test]
fn the_command_line_prints_an_error_in_one_line_and_a_hint_below() {
    let home = home();
    let run = home.run(&["hint", "get", "web", "build"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    let said: Vec<&str> = run.stderr.lines().filter(|line| !line.contains("AUTOSTART")).collect();
    assert_eq!(said.len(), 2, "{}", run.stderr);
    assert!(said[0].contains("no hint web/build"), "{said:?}");
    let json = home.run(&["hint", "get", "web", "build", "--json"]);
    assert_eq!((json.code, &json.json()["error"]["code"]), (1, &json!(40401)));
    for line in [&["no-such"][..], &["call"], &["hint", "get", "web"], &["call", "get_hint", "{"]] {
        let run = home.run(line);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
        assert!(!run.stderr.is_empty());
    }
}

/// @not_ready_for_another_database
#[test]
fn a_call_for_another_database_is_refused_and_changes_nothing() {
    let home = home();
    let _daemon = home.daemon();
    let mut socket = home.socket();
    let call = |db: &str| {
        let envelope = json!({ "call": "0".repeat(32), "tier": "person", "db": db });
        let params = json!({ "component": "a", "key": "b", "value": "c" });
        let frame = json!({ "jsonrpc": "2.0", "id": 7, "method": "set_hint", "params": params, "rekindle": envelope });
        format!("{frame}\n")
    };
    socket.send(call("/elsewhere/rekindle.db").as_bytes());
    let reply = socket.receive().unwrap();
    let error = &reply["error"];
    assert_eq!((&error["code"], &error["data"]["reason"]), (&json!(40902), &json!("E_NOT_READY")));
    let found = socket.rpc("get_hint", &json!({ "component": "a", "key": "b" }));
    assert_eq!(found.unwrap_err()["code"], 40401);
    socket.send(call(home.locations().database.to_str().unwrap()).as_bytes());
    assert_eq!(socket.receive().unwrap()["result"]["hint"]["version"], 1);
}
