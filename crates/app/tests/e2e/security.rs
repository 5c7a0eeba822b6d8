//! Closed by default: access, file permissions, logs, and outbound connections.

use std::fs::Permissions;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::json;
use testkit::{Home, Http, Ws, wait_until};

use super::home;
use super::ways::{of_tool, request, under};

/// Every path that shows or changes user data.
pub(crate) const CLOSED: [(&str, &str); 12] = [
    ("POST", "/rpc"),
    ("POST", "/"),
    ("POST", "/mcp"),
    ("DELETE", "/mcp"),
    ("GET", "/sse"),
    ("POST", "/messages?session_id=x"),
    ("GET", "/ws"),
    ("POST", "/hook/Stop"),
    ("POST", "/challenge"),
    ("GET", "/api/hints/evil/k"),
    ("PUT", "/api/hints/evil/k"),
    ("DELETE", "/api/hints/evil/k"),
];

fn write() -> String {
    request("set_hint", &json!({ "component": "evil", "key": "k", "value": "v" }))
}

/// Asserts that a refused request has changed nothing.
fn untouched(home: &Home) {
    assert_eq!(home.call("list_resources", &json!({}))["resources"], json!([]));
    assert_eq!(home.call("status", &json!({}))["events"], 0);
}

/// @token_needed
#[test]
fn without_the_token_every_path_with_user_data_answers_401() {
    let home = home();
    let daemon = home.daemon();
    let bare = Http::new(daemon.port);
    let token = &daemon.token;
    let wrong = format!("Bearer {}", token.chars().rev().collect::<String>());
    let strangers = [
        bare.clone(),
        bare.clone().with("Authorization", &wrong),
        bare.clone().with("Authorization", &format!("Bearer {}", &token[..token.len() - 1])),
        bare.clone().with("Authorization", &format!("Basic {token}")),
        bare.clone().with("Authorization", "Bearer "),
        bare.clone().with("Authorization", token),
        bare.clone().with("Cookie", &format!("rekindle_session={token}")),
        bare.clone().with("X-Token", token),
    ];
    for (method, path) in CLOSED {
        for stranger in &strangers {
            let answer = stranger.send(method, path, write().as_bytes());
            assert_eq!(answer.status, 401, "{method} {path}");
            assert_eq!(answer.header("WWW-Authenticate"), Some("Bearer"));
            let text = answer.text();
            assert!(text.contains("token") && text.contains("rekindle up"), "{text}");
            assert!(!text.contains(token.as_str()));
        }
    }
    for name in ["token", "access_token", "bearer", "key"] {
        let answer = bare.post(&format!("/rpc?{name}={token}"), write().as_bytes());
        assert_eq!(answer.status, 401, "a token in the address is no token");
    }
    assert_eq!(Ws::connect(daemon.port, &[]).err(), Some(401));
    untouched(&home);
    let spelled = bare.with("Authorization", &format!("bearer {token}"));
    assert!(spelled.rpc("status", &json!({})).is_ok());
}

/// Requests of foreign origins, as the bytes of their head after the request line.
fn foreign_heads(port: u16) -> Vec<String> {
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    let mut heads =
        vec![String::new(), format!("{host}{host}"), format!("{host}Host: evil.example\r\n")];
    for name in [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "evil.example:127",
        "0.0.0.0",
        "192.168.0.1",
        "[::]",
        "127.0.0.1:99999",
        "127.0.0.1@evil.example",
        "",
    ] {
        heads.push(format!("Host: {name}\r\n"));
    }
    for origin in [
        "http://evil.example",
        "https://127.0.0.1.evil.example",
        "http://localhost.evil.example",
        "http://user@127.0.0.1",
        "http://127.0.0.1/path",
        "file://",
        "null",
        "chrome-extension://abcdef",
        "",
    ] {
        heads.push(format!("{host}Origin: {origin}\r\n"));
    }
    heads.push(format!("{host}Origin: http://localhost\r\nOrigin: http://evil.example\r\n"));
    heads
}

/// Sends bytes. Returns the status of the answer and its text.
fn raw(port: u16, request: &str) -> (u16, String) {
    let mut stream = Http::new(port).connect();
    stream.write_all(request.as_bytes()).unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    let status = said.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_else(|| panic!("{request}: {said}")), said)
}

fn foreign_requests_are_refused(home: &Home, port: u16, token: &str) {
    let body = write();
    let length = body.len();
    let rest = format!(
        "Authorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    );
    for head in foreign_heads(port) {
        for target in ["POST /rpc", "POST /mcp", "POST /hook/Stop", "PUT /api/hints/evil/k"] {
            let (status, said) = raw(port, &format!("{target} HTTP/1.1\r\n{head}{rest}"));
            // A request without a Host, or with two, is not valid HTTP/1.1 either.
            assert!(matches!(status, 400 | 403), "{target} {head:?}: {said}");
        }
        for target in ["/health", "/", "/ws", "/sse", "/api/hints/evil/k"] {
            let request = format!(
                "GET {target} HTTP/1.1\r\n{head}Authorization: Bearer {token}\r\nConnection: close\r\n\r\n"
            );
            let (status, said) = raw(port, &request);
            assert!(matches!(status, 400 | 403), "{target} {head:?}: {said}");
        }
    }
    for target in ["http://evil.example/rpc", "http://127.0.0.1/rpc", "evil.example:443"] {
        let method = if target.contains('/') { "POST" } else { "CONNECT" };
        let (status, said) =
            raw(port, &format!("{method} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n{rest}"));
        assert!(matches!(status, 400 | 403), "{target}: {said}");
    }
    untouched(home);
}

/// @foreign_pages_are_refused
#[test]
fn a_foreign_origin_or_host_is_refused_even_with_the_token() {
    let home = home();
    let daemon = home.daemon();
    foreign_requests_are_refused(&home, daemon.port, &daemon.token);
    for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3:80", "[::1]:8765"] {
        let http = daemon.http().with("Host", host).with("Origin", &format!("http://{host}"));
        assert!(http.rpc("status", &json!({})).is_ok(), "{host}");
    }
    let token = format!("Bearer {}", daemon.token);
    let evil = [("Authorization", token.as_str()), ("Origin", "http://evil.example")];
    assert_eq!(Ws::connect(daemon.port, &evil).err(), Some(403));
}

/// @no_auth_keeps_the_other_checks
#[test]
fn no_auth_turns_the_token_off_and_nothing_else() {
    let home = home();
    let daemon = home.daemon_with(&["--no-auth"]);
    foreign_requests_are_refused(&home, daemon.port, "");
    let bare = Http::new(daemon.port);
    let plain = bare.clone().with("Content-Type", "text/plain").post("/rpc", write().as_bytes());
    assert_eq!(plain.status, 415);
    untouched(&home);
    assert!(bare.rpc("status", &json!({})).is_ok());
    assert!(Ws::connect(daemon.port, &[]).is_ok());
}

/// @bodies_are_declared_as_json
#[test]
fn a_body_that_is_not_declared_as_json_is_refused() {
    let home = home();
    let daemon = home.daemon();
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "",
        "application/jsonp",
        "text/json",
    ] {
        for (method, path) in CLOSED.iter().filter(|(method, _)| matches!(*method, "POST" | "PUT"))
        {
            let http = daemon.http().with("Content-Type", kind);
            let answer = http.send(method, path, write().as_bytes());
            let expected = if path.starts_with("/api/") { 400 } else { 415 };
            assert_eq!(answer.status, expected, "{kind:?} to {path}");
        }
    }
    untouched(&home);
    let usual = daemon.http().with("Content-Type", "Application/JSON; charset=utf-8");
    assert!(usual.rpc("status", &json!({})).is_ok());
}

/// @no_cors
#[test]
fn no_answer_lets_a_page_of_another_origin_read_it() {
    let home = home();
    let daemon = home.daemon();
    let here = format!("http://localhost:{}", daemon.port);
    for origin in ["http://evil.example", "http://localhost:3000", &here] {
        for (method, path) in CLOSED.into_iter().chain([("GET", "/health"), ("GET", "/session.js")])
        {
            for method in [method, "OPTIONS"] {
                let http = daemon
                    .http()
                    .with("Origin", origin)
                    .with("Access-Control-Request-Method", "POST");
                // A stream does not end, so only heads are read.
                let mut reader = http.start(method, path, b"{}");
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n")
                    && std::io::BufRead::read_line(&mut reader, &mut head).unwrap() > 0
                {
                }
                assert!(
                    !head.to_lowercase().contains("access-control-"),
                    "{method} {path}: {head}"
                );
                let allowed = head.starts_with("HTTP/1.1 2") && method == "OPTIONS";
                assert!(!allowed, "{path} answers a preflight: {head}");
            }
        }
    }
}

/// Every file and folder below, with its mode.
fn modes(below: &Path, found: &mut Vec<(PathBuf, bool, u32)>) {
    let meta = std::fs::symlink_metadata(below).unwrap();
    found.push((below.to_owned(), meta.is_dir(), meta.permissions().mode() & 0o7777));
    if meta.is_dir() {
        for entry in std::fs::read_dir(below).unwrap() {
            modes(&entry.unwrap().path(), found);
        }
    }
}

/// @files_are_private
#[test]
fn every_file_is_private_to_its_owner_with_any_umask() {
    let home = home();
    let open = ["-c", "umask 000; exec \"$0\" \"$@\""];
    let run = |args: &[&str], stdin: &str| {
        let run = testkit::home::finish(under(&home, "sh", &open, args), stdin.as_bytes());
        assert_eq!(run.code, 0, "{run:?}");
    };
    run(&["hook", "Stop"], r#"{"session_id":"s"}"#);
    assert_eq!(home.spooled().len(), 1, "the event waits in the spool");
    let mut found = Vec::new();
    modes(&home.path("data/spool"), &mut found);
    run(&["config", "set", "log.level", "debug"], "");
    let mut daemon =
        under(&home, "sh", &open, &["serve", "--http"]).stdout(Stdio::null()).spawn().unwrap();
    run(
        &[
            "call",
            "set_hint",
            r#"{"component":"a","key":"b","value":"c","meta":{"ttl":"forever"}}"#,
        ],
        "",
    );
    let copy = home.path("data/copy.db");
    run(&["backup", copy.to_str().unwrap()], "");
    run(&["restore", copy.to_str().unwrap()], "");
    run(&["hook", "Stop"], "not json");
    for folder in ["data", "run", ".config"] {
        let folder = home.path(folder);
        if folder.exists() {
            modes(&folder, &mut found);
        }
    }
    run(&["stop"], "");
    wait_until("the daemon ends", || daemon.try_wait().ok().flatten());
    let names: Vec<String> = found
        .iter()
        .map(|(path, ..)| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    for expected in [
        "rekindle.db",
        "token",
        "daemon.log",
        "daemon.json",
        "daemon.lock",
        "daemon.sock",
        "copy.db",
    ] {
        assert!(names.iter().any(|name| name == expected), "{expected} is not in {names:?}");
    }
    for (path, is_dir, mode) in found.iter().filter(|(path, ..)| !path.ends_with(".config")) {
        let expected = if *is_dir { 0o700 } else { 0o600 };
        assert_eq!(*mode, expected, "{} has mode {mode:o}", path.display());
    }
}

/// @files_are_private
#[test]
fn a_runtime_directory_that_others_could_enter_is_made_private_first() {
    let home = home();
    let folder = home.path("run");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
    let _daemon = home.daemon();
    let mode = std::fs::metadata(&folder).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode, 0o700, "{mode:o}");
}

/// Every file of this home except the database, with its bytes, after the spool is ingested.
fn written_down(home: &Home) -> Vec<(PathBuf, Vec<u8>)> {
    let hint = json!({ "component": "web", "key": "build", "value": "make" });
    wait_until("the spool is empty", || {
        home.call("set_hint", &hint);
        home.spooled().is_empty().then_some(())
    });
    let mut files = home.files();
    files.retain(|(path, _)| !path.file_name().unwrap().to_string_lossy().contains(".db"));
    files
}

/// @no_user_text_in_the_log
#[test]
fn no_file_but_the_database_has_user_text() {
    const MARKER: &str = "xyzzymarker";
    let mut home = home();
    home.set("REKINDLE_LOG_LEVEL", "debug");
    let event = json!({
        "session_id": "s-1", "cwd": MARKER, "prompt": MARKER, "tool_name": MARKER,
        "tool_input": { "command": MARKER }, "tool_response": MARKER,
    });
    let event = event.to_string();
    home.run_with(&["hook", "PostToolUse"], event.as_bytes()).ok();
    home.run_with(&["hook", "Stop"], MARKER.as_bytes()).ok();
    home.run_with(
        &["hook", "Stop"],
        event.replace("\"s-1\"", &format!("[\"{MARKER}\"]")).as_bytes(),
    )
    .ok();
    let daemon = home.daemon();
    let hint = json!({ "component": MARKER, "key": MARKER, "value": MARKER, "meta": { "reason": MARKER, "tags": [MARKER] } });
    daemon.http().rpc("set_hint", &hint).unwrap();
    for name in ["SessionStart", "UserPromptSubmit", "PreToolUse"] {
        home.run_with(&["hook", name], event.replace("s-1", MARKER).as_bytes()).ok();
    }
    home.run_with(&["hook", "Stop", "--agent", MARKER], event.as_bytes()).ok();
    let http = daemon.http();
    http.rpc(MARKER, &json!({})).unwrap_err();
    http.rpc("get_hint", &json!({ "component": MARKER, MARKER: 1 })).unwrap_err();
    http.rpc("get", &json!({ "path": MARKER })).unwrap_err();
    http.rpc("backup", &json!({ "file": format!("/{MARKER}/{MARKER}") })).unwrap_err();
    http.rpc("restore", &json!({ "file": format!("/{MARKER}") })).unwrap_err();
    for path in [format!("/{MARKER}"), format!("/mcp?tools={MARKER}"), format!("/?link={MARKER}")] {
        http.post(&path, MARKER.as_bytes());
        http.clone().with("Host", MARKER).get(&path);
    }
    http.post(&format!("/hook/{MARKER}"), event.as_bytes());
    let tool = json!({ "name": MARKER, "arguments": { MARKER: MARKER } });
    http.post("/mcp", request("tools/call", &tool).as_bytes());
    let mut socket = home.socket();
    socket.send(format!("{MARKER}\n").as_bytes());
    socket.receive().unwrap();
    let mut mcp = home.serve();
    mcp.initialize("2025-06-18");
    mcp.call("set_hint", &hint).unwrap();
    mcp.request(MARKER, &json!({}));
    drop(mcp);
    home.run(&["hint", "get", MARKER, "none"]);
    home.run(&["call", MARKER]);
    let files = written_down(&home);
    let log = files.iter().find(|(path, _)| path.ends_with("daemon.log")).expect("a log");
    let log = String::from_utf8_lossy(&log.1);
    assert!(
        log.contains("op=set_hint") && log.contains("op=get_hint"),
        "calls are in the log: {log}"
    );
    for (path, bytes) in &files {
        let text = String::from_utf8_lossy(bytes);
        let line = text.lines().find(|line| line.contains(MARKER));
        assert_eq!(line, None, "{} repeats the user", path.display());
        let token = path.file_name().is_some_and(|name| name == "token");
        assert!(token || !text.contains(&daemon.token), "{} has the token", path.display());
    }
}

/// @the_socket_is_for_its_user
#[test]
fn the_socket_needs_no_token_and_is_in_a_private_directory() {
    let home = home();
    let _daemon = home.daemon();
    assert!(home.socket().rpc("status", &json!({})).is_ok());
    let socket = home.locations().socket();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(&socket), mode(socket.parent().unwrap())), (0o600, 0o700));
    let event = json!({ "event": "Stop", "payload": { "session_id": "s-1" } });
    assert_eq!(home.socket().rpc("hook", &event).unwrap()["recorded"], true);
}

/// @agents_store_no_secrets
#[test]
fn an_agent_stores_a_secret_only_if_the_setting_allows_it() {
    const SETTING: &str = "hints.agents_may_store_secrets";
    let home = home();
    let daemon = home.daemon();
    // Not a real key. It is assembled here so that no secret scanner reports this file.
    let secret = format!("AKIA{}", "IOSFODNN7EXAMPLF");
    let set = |more: serde_json::Value| {
        let mut params = json!({ "component": "web", "key": "cloud", "value": secret });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    let marked = json!({ "meta": { "sensitivity": "secret" } });
    let member = json!({ "value": secret, "meta": { "sensitivity": "secret" } });
    let payload = json!({ "components": { "web": { "hints": { "cloud": member } } } });
    let tries = [
        ("set_hint", set(json!({ "allow_secret": true })), 40301),
        ("set_hint", set(marked), 40002),
        ("import_hints", json!({ "payload": payload }), 40002),
        ("import_hints", json!({ "payload": payload, "allow_secret": true }), 40301),
    ];
    let mut stdio = home.serve();
    stdio.initialize("2025-06-18");
    for (op, params, code) in &tries {
        let tool = json!({ "name": op, "arguments": params });
        let over_http = daemon.http().post("/mcp", request("tools/call", &tool).as_bytes()).json();
        let refusals = [stdio.call(op, params).unwrap_err(), of_tool(&over_http).unwrap_err()];
        for refusal in refusals {
            assert_eq!(refusal["code"], *code, "{op}: {refusal}");
            assert!(refusal.to_string().contains(SETTING), "{op}: {refusal}");
            assert!(!refusal.to_string().contains(&secret), "{op}: {refusal}");
        }
    }
    untouched(&home);
    // A user may store it, and so may an agent with the setting.
    home.run(&["hint", "set", "web", "mine", &secret, "--no-secret-guard"]).ok();
    home.run(&["config", "set", SETTING, "true"]).ok();
    drop((stdio, daemon));
    let _daemon = home.daemon();
    let mut stdio = home.serve();
    stdio.initialize("2025-06-18");
    for (op, params, _) in &tries {
        assert!(stdio.call(op, params).is_ok(), "{op}");
    }
}
