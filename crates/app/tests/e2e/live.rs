//! Live views of sessions: server-sent events, and resources that clients subscribe to.

use serde_json::{Value, json};
use testkit::{Home, Http, Mcp, Sse, Ws, wait_until};

use super::activity::says;
use super::home;
use super::sessions::{frame, socket};

const SESSION: &str = "11fe11fe-0000-4000-8000-000000000001";

fn set(home: &Home, name: &str, items: &[&str]) {
    let params = json!({ "setName": name, "items": items, "session_id": SESSION });
    home.call("set_relevant_context", &params);
}

/// @context_event_stream
#[test]
fn an_event_stream_of_a_session_has_the_frames_and_versions_of_the_socket() {
    let home = home();
    let daemon = home.daemon();
    set(&home, "ports", &["80"]);
    let http = daemon.http();
    let path = format!("/api/events?session={SESSION}");
    let mut watcher = Sse::follow(&http, &path);
    let mut next = || {
        let (event, id, data) = watcher.receive_whole().expect("an event");
        assert_eq!(event, "session/event");
        let params: Value = serde_json::from_str(&data).expect("JSON");
        assert_eq!(params["version"].to_string(), id, "{data}");
        assert_eq!(params["sessionId"], SESSION);
        params
    };
    let load = next();
    let data = json!({ "reason": "load", "context": { "ports": ["80"] } });
    assert_eq!(load["event"], json!({ "type": "caco.context", "data": data }));
    set(&home, "ports", &["81"]);
    let changed = next();
    let data = json!({ "reason": "changed", "context": { "ports": ["81"] }, "setName": "ports" });
    assert_eq!(changed["event"]["data"], data);
    assert!(changed["version"].as_u64() > load["version"].as_u64(), "{changed} {load}");
    // A client that comes back gets the present state, under the version of the last change.
    let back = http.with("Last-Event-ID", &load["version"].to_string());
    let (_, id, data) = Sse::follow(&back, &path).receive_whole().expect("the state");
    assert_eq!(id, changed["version"].to_string());
    assert!(data.contains(r#""reason":"load""#) && data.contains(r#"["81"]"#), "{data}");
    // Also if everything was cleared meanwhile: the client still shows the old state.
    set(&home, "ports", &[]);
    let (_, _, data) = Sse::follow(&back, &path).receive_whole().expect("the state");
    assert!(data.contains(r#""reason":"load","context":{}"#), "{data}");
}

/// @context_event_stream
#[test]
fn an_event_stream_without_a_valid_session_is_refused() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    let long = format!("session={}", "x".repeat(201));
    for query in [
        "",
        "session=",
        "session=..",
        "session=a%2Fb",
        "session=a%00b",
        "session=a&session=b",
        "session=a&feed=session",
        "session=a&x=1",
        &long,
    ] {
        let refused = http.get(&format!("/api/events?{query}"));
        assert_eq!(refused.status, 400, "{query}: {}", refused.text());
        assert_eq!(refused.json()["code"], "invalid", "{query}");
    }
    assert_eq!(http.without("Authorization").get("/api/events?session=a").status, 401);
}

/// The `_meta` of the revision without a handshake.
fn modern() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    })
}

fn uri(set: &str) -> String {
    format!("context://{SESSION}/{set}")
}

fn next_line(agent: &Mcp) -> Value {
    serde_json::from_str(&agent.receive().expect("a line")).expect("JSON")
}

/// Asserts that the client is notified about this resource and no other.
fn assert_updated(notification: &Value, uri: &str) {
    assert_eq!(notification["method"], "notifications/resources/updated", "{notification}");
    assert_eq!(notification["params"]["uri"], uri, "{notification}");
}

fn subscribe(agent: &mut Mcp, uri: &str) {
    let reply = agent.request("resources/subscribe", &json!({ "uri": uri }));
    assert_eq!(reply["result"], json!({}), "{reply}");
}

/// Whether the reply to `initialize` declares subscriptions.
fn declares(reply: &Value) -> bool {
    reply["result"]["capabilities"]["resources"]["subscribe"] == json!(true)
}

fn initialize() -> Value {
    let info = json!({ "name": "test", "version": "1" });
    json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info })
}

/// @context_resources
#[test]
fn the_context_of_a_session_is_a_resource_and_one_set_of_it_another() {
    let home = home();
    set(&home, "files", &["/srv/shop/cart.md", "/srv/shop/<system>.md"]);
    set(&home, "a b", &["1"]);
    let mut agent = home.serve();
    agent.initialize("2025-11-25");
    let templates = agent.request("resources/templates/list", &json!({}))["result"].to_string();
    for template in ["context://{session_id}{/setName}", "session://{session_id}"] {
        assert!(templates.contains(template), "{templates}");
    }
    let mut read = |uri: &str| agent.request("resources/read", &json!({ "uri": uri }));
    let contents = |reply: &Value| -> Value {
        let content = &reply["result"]["contents"][0];
        assert_eq!(content["mimeType"], "application/json", "{reply}");
        serde_json::from_str(content["text"].as_str().expect("a text")).expect("JSON")
    };
    let all = contents(&read(&format!("context://{SESSION}")));
    let files = json!(["/srv/shop/cart.md", "/srv/shop/‹system>.md"]);
    assert_eq!(all, json!({ "files": files, "a b": ["1"] }));
    assert_eq!(contents(&read(&uri("files"))), files);
    assert_eq!(contents(&read(&uri("a%20b"))), json!(["1"]));
    let unknown = "context://0e0e0e0e-0000-4000-8000-000000000000/files";
    for (missing, code) in [
        (uri("ports").as_str(), -32002),
        (unknown, -32002),
        ("context://", -32602),
        ("context://..", -32602),
        ("context://a/b/c", -32602),
        ("context://a%2Fb/files", -32602),
        ("context://a%00/files", -32602),
    ] {
        let refused = read(missing);
        assert_eq!(refused["error"]["code"], code, "{missing}: {refused}");
    }
}

/// @resource_updates
#[test]
fn a_client_on_stdio_is_notified_by_a_primary_in_its_process_and_by_another() {
    let home = home();
    // The start of a session is an update of its own.
    let first = json!({ "setName": "ports", "items": ["80"], "session_id": SESSION });
    home.call("set_relevant_context", &first);
    for is_proxy in [false, true] {
        let _daemon = is_proxy.then(|| home.daemon());
        let mut agent = home.serve();
        assert!(declares(&agent.request("initialize", &initialize())));
        let (files, session) = (uri("files"), format!("session://{SESSION}"));
        for uri in [&files, &session, &session] {
            subscribe(&mut agent, uri);
        }
        let mut user = home.socket();
        let mut change = |name: &str, item: &str| {
            let params = json!({ "setName": name, "items": [item], "session_id": SESSION });
            user.rpc("set_relevant_context", &params).expect("a result");
        };
        change("files", &format!("/srv/{is_proxy}"));
        let mut uris: Vec<String> = (0..2)
            .map(|_| next_line(&agent)["params"]["uri"].as_str().unwrap().to_owned())
            .collect();
        uris.sort();
        assert_eq!(uris, [files.clone(), session.clone()], "is_proxy: {is_proxy}");
        // A change of another set concerns the session only.
        change("ports", &is_proxy.to_string());
        assert_updated(&next_line(&agent), &session);
        for uri in [&session, &session, &uri("ports")] {
            let reply = agent.request("resources/unsubscribe", &json!({ "uri": uri }));
            assert_eq!(reply["result"], json!({}), "{reply}");
        }
        change("ports", "none");
        change("files", "/srv/last");
        assert_updated(&next_line(&agent), &files);
    }
}

/// @context_resources
#[test]
fn every_legal_name_of_a_set_is_read_and_watched_at_its_uri() {
    let home = home();
    let _daemon = home.daemon();
    let mut agent = home.serve();
    agent.initialize("2025-11-25");
    let names = [
        ("my set", "my%20set"),
        ("a/b", "a%2Fb"),
        ("50%", "50%25"),
        ("%2F", "%252F"),
        ("ü", "%C3%BC"),
        ("..", ".."),
        (".", "%2E"),
        ("a?b#c", "a%3Fb%23c"),
        ("__proto__", "__proto__"),
        ("*", "*"),
    ];
    for (name, encoded) in names {
        let uri = uri(encoded);
        subscribe(&mut agent, &uri);
        set(&home, name, &["v"]);
        assert_updated(&next_line(&agent), &uri);
        let read = agent.request("resources/read", &json!({ "uri": uri }));
        assert_eq!(read["result"]["contents"][0]["text"], r#"["v"]"#, "{name}: {read}");
        let got = home.run(&["get", &uri]).ok();
        assert_eq!(got.trim(), r#"["v"]"#, "{name}");
    }
    let long = uri(&"x".repeat(65));
    for illegal in [&uri("a%0Ab"), &uri("%00"), &uri("%zz"), &uri("%ff"), &uri(""), &long] {
        for method in ["resources/read", "resources/subscribe"] {
            let refused = agent.request(method, &json!({ "uri": illegal }));
            assert_eq!(refused["error"]["code"], -32602, "{method} {illegal}: {refused}");
        }
    }
}

/// @resource_updates
#[test]
fn wrong_subscriptions_are_refused_and_their_number_is_limited() {
    let home = home();
    let mut agent = home.serve();
    agent.initialize("2025-11-25");
    for wrong in [
        json!({}),
        json!({ "uri": 7 }),
        json!({ "uri": "" }),
        json!({ "uri": "context://" }),
        json!({ "uri": "context://../files" }),
        json!({ "uri": "session://a/b" }),
        json!({ "uri": "session://.." }),
        json!({ "uri": "hint://web/build" }),
        json!({ "uri": "http://127.0.0.1/" }),
        json!({ "uri": "nothing" }),
    ] {
        let refused = agent.request("resources/subscribe", &wrong);
        assert_eq!(refused["error"]["code"], -32602, "{wrong}: {refused}");
    }
    for number in 0..256 {
        subscribe(&mut agent, &format!("context://s-{number}"));
    }
    let refused = agent.request("resources/subscribe", &json!({ "uri": "context://more" }));
    assert!(refused["error"]["message"].as_str().unwrap().contains("256"), "{refused}");
    agent.request("resources/unsubscribe", &json!({ "uri": "context://s-0" }));
    subscribe(&mut agent, "context://more");
}

/// @resource_updates_failover
#[test]
fn subscriptions_outlive_a_primary_that_is_killed() {
    let home = home();
    let mut daemon = home.daemon();
    set(&home, "files", &["/srv/first"]);
    let mut agent = home.serve();
    agent.initialize("2025-11-25");
    subscribe(&mut agent, &uri("files"));
    daemon.kill();
    // The client sends nothing: the process on its stdio finds the loss itself, and updates may have been missed.
    assert_updated(&next_line(&agent), &uri("files"));
    let primary = wait_until("another PRIMARY", || {
        let pid = home.discovery()["pid"].as_u64()?;
        (pid == u64::from(agent.pid())).then_some(pid)
    });
    set(&home, "files", &["/srv/second"]);
    assert_updated(&next_line(&agent), &uri("files"));
    let read = agent.request("resources/read", &json!({ "uri": uri("files") }));
    assert_eq!(read["result"]["contents"][0]["text"], r#"["/srv/second"]"#, "{primary}");
}

/// @resource_updates_failover
#[test]
fn a_process_with_subscriptions_does_not_take_over_from_a_daemon_that_a_user_stops() {
    let home = home();
    let mut daemon = home.daemon();
    let mut agent = home.serve();
    agent.initialize("2025-11-25");
    subscribe(&mut agent, &uri("files"));
    home.run(&["stop"]).ok();
    daemon.wait();
    assert!(home.run(&["status"]).stdout.contains("not running"));
    let _next = home.daemon();
    assert_updated(&next_line(&agent), &uri("files"));
    set(&home, "files", &["/srv/first"]);
    assert_updated(&next_line(&agent), &uri("files"));
}

/// @resource_updates
#[test]
fn a_client_is_notified_when_a_session_is_idle_and_when_it_is_active_again() {
    let home = home();
    let daemon = home.daemon();
    let event = |name: &str, prompt: &str| {
        let payload = json!({ "session_id": SESSION, "cwd": "/srv/shop", "prompt": prompt });
        home.call("hook", &json!({ "event": name, "payload": payload }));
    };
    event("UserPromptSubmit", "round up");
    let mut agent = home.serve();
    agent.initialize("2025-06-18");
    let of_session = format!("session://{SESSION}");
    subscribe(&mut agent, &of_session);
    let read = |state: &str| {
        let entry = home.run(&["get", &of_session]).ok();
        assert!(entry.lines().any(|line| line == format!("state: {state}")), "{entry}");
    };
    event("Stop", "");
    assert_updated(&next_line(&agent), &of_session);
    read("idle");
    let observe = format!("/api/sessions/{SESSION}/observe");
    assert_eq!(daemon.http().send("POST", &observe, b"{}").status, 200);
    assert_updated(&next_line(&agent), &of_session);
    event("UserPromptSubmit", "round down");
    assert_updated(&next_line(&agent), &of_session);
    read("active");
}

/// @resource_updates
#[test]
fn a_client_on_a_web_socket_or_an_event_stream_is_notified() {
    let home = home();
    let daemon = home.daemon();
    let token = format!("Bearer {}", daemon.token);
    let headers = [("Authorization", token.as_str()), ("Sec-WebSocket-Protocol", "mcp")];
    let mut socket = Ws::connect(daemon.port, &headers).unwrap();
    let mut stream = Sse::open(&daemon.http(), "/sse");
    let frame = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    socket.send(&frame("initialize", initialize()));
    assert!(declares(&socket.receive().unwrap()));
    assert!(declares(&stream.request(&frame("initialize", initialize()))));
    let wanted = frame("resources/subscribe", json!({ "uri": uri("files") }));
    socket.send(&wanted);
    assert_eq!(socket.receive().unwrap()["result"], json!({}));
    assert_eq!(stream.request(&wanted)["result"], json!({}));
    set(&home, "files", &["/srv/first"]);
    assert_updated(&socket.receive().unwrap(), &uri("files"));
    let (_, data) = stream.receive().unwrap();
    assert_updated(&serde_json::from_str(&data).unwrap(), &uri("files"));
    // Without a stream nothing is declared, and the method is unknown.
    let http = daemon.http();
    let post = |body: &Value| http.post("/mcp", body.to_string().as_bytes()).json();
    assert!(!declares(&post(&frame("initialize", initialize()))));
    assert_eq!(post(&wanted)["error"]["code"], -32601);
}

/// @resource_listening
#[test]
fn a_request_that_listens_is_acknowledged_and_notified_until_it_is_cancelled() {
    let home = home();
    for is_proxy in [false, true] {
        let _daemon = is_proxy.then(|| home.daemon());
        let mut agent = home.serve();
        let listen = |id: &str, filter: Value| {
            json!({
                "jsonrpc": "2.0", "id": id, "method": "subscriptions/listen",
                "params": { "_meta": modern(), "notifications": filter },
            })
        };
        let id = "/params/_meta/io.modelcontextprotocol~1subscriptionId";
        let filter = json!({
            "resourceSubscriptions": [uri("files"), "hint://web/build"], "toolsListChanged": true,
        });
        agent.send(format!("{}\n", listen("l-1", filter)).as_bytes());
        let acknowledged = next_line(&agent);
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(acknowledged.pointer(id), Some(&json!("l-1")), "{acknowledged}");
        let accepted = json!({ "resourceSubscriptions": [uri("files")] });
        assert_eq!(acknowledged["params"]["notifications"], accepted);
        agent.send(format!("{}\n", listen("l-2", accepted)).as_bytes());
        next_line(&agent);
        set(&home, "files", &["/srv/a", &is_proxy.to_string()]);
        for listener in ["l-1", "l-2"] {
            let updated = next_line(&agent);
            assert_updated(&updated, &uri("files"));
            assert_eq!(updated.pointer(id), Some(&json!(listener)), "{updated}");
        }
        let cancelled = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "l-1" },
        });
        agent.send(format!("{cancelled}\n").as_bytes());
        // The reply shows that the cancellation was read.
        let read = json!({ "uri": uri("files"), "_meta": modern() });
        assert!(agent.request("resources/read", &read).get("result").is_some());
        set(&home, "files", &["/srv/b"]);
        assert_eq!(next_line(&agent).pointer(id), Some(&json!("l-2")));
        set(&home, "files", &["/srv/c"]);
        assert_eq!(next_line(&agent).pointer(id), Some(&json!("l-2")));
        let wrong = json!({ "_meta": modern(), "notifications": 7 });
        assert_eq!(agent.request("subscriptions/listen", &wrong)["error"]["code"], -32602);
    }
}

/// @resource_listening
#[test]
fn a_stream_of_mcp_over_http_has_the_acknowledgement_and_the_updates() {
    let home = home();
    let mut daemon = home.daemon();
    let http = daemon
        .http()
        .with("MCP-Protocol-Version", "2026-07-28")
        .with("Mcp-Method", "subscriptions/listen")
        .with("Accept", "application/json, text/event-stream");
    let body = json!({
        "jsonrpc": "2.0", "id": 3, "method": "subscriptions/listen",
        "params": { "_meta": modern(), "notifications": { "resourceSubscriptions": [uri("files")] } },
    });
    let mut stream = Sse::posted(&http, "/mcp", body.to_string().as_bytes());
    let mut next =
        || -> Value { serde_json::from_str(&stream.receive().expect("an event").1).unwrap() };
    assert_eq!(next()["method"], "notifications/subscriptions/acknowledged");
    set(&home, "files", &["/srv/a"]);
    let updated = next();
    assert_updated(&updated, &uri("files"));
    assert_eq!(updated["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 3);
    let stopping = std::time::Instant::now();
    home.run(&["stop"]).ok();
    daemon.wait();
    assert!(stopping.elapsed().as_millis() < 2_000, "the stream does not delay the end");
}

/// The version of the last change, from the first event of a stream.
fn version(http: &Http) -> u64 {
    let mut stream = Sse::follow(http, &format!("/api/events?session={SESSION}"));
    stream.receive_whole().expect("the state").1.parse().expect("a number")
}

/// @context_event_stream
#[test]
fn versions_grow_over_a_restart_and_acknowledged_sets_survive_a_kill() {
    let home = home();
    let mut last = 0;
    for round in 0..3 {
        let mut daemon = home.daemon();
        let http = daemon.http();
        for number in 0..5 {
            set(&home, "ports", &[&format!("{round}-{number}")]);
        }
        let now = version(&http);
        assert!(now > last, "{now} after {last}");
        last = now;
        daemon.kill();
    }
    let daemon = home.daemon();
    let got = daemon.http().rpc("get_relevant_context", &json!({ "session_id": SESSION })).unwrap();
    assert_eq!(got["context"], json!({ "ports": ["2-4"] }));
    assert_eq!(version(&daemon.http()), last, "a restart changes nothing");
}

/// @context_event_stream
#[test]
fn versions_grow_over_a_restore() {
    let home = home();
    let daemon = home.daemon();
    set(&home, "ports", &["1"]);
    let copy = home.path("copy.db");
    home.run(&["backup", copy.to_str().unwrap()]).ok();
    set(&home, "ports", &["2"]);
    let before = version(&daemon.http());
    home.run(&["restore", copy.to_str().unwrap()]).ok();
    let mut stream = Sse::follow(&daemon.http(), &format!("/api/events?session={SESSION}"));
    let (_, id, data) = stream.receive_whole().expect("the state");
    assert!(
        data.contains(r#"["1"]"#) && id.parse::<u64>().unwrap() > before,
        "{id} {before} {data}"
    );
    set(&home, "ports", &["3"]);
    let (_, next, _) = stream.receive_whole().expect("a change");
    assert!(next.parse::<u64>().unwrap() > id.parse().unwrap(), "{next} after {id}");
}

/// @context_event_stream
#[test]
fn versions_grow_after_the_events_of_a_database_were_lost() {
    for damage in ["DROP TABLE events", "DELETE FROM events; DELETE FROM sqlite_sequence"] {
        let home = home();
        let mut daemon = home.daemon();
        for port in ["1", "2", "3"] {
            set(&home, "ports", &[port]);
        }
        let before = version(&daemon.http());
        daemon.end_by("TERM");
        super::damaged::open(&home).execute_batch(damage).unwrap();
        let daemon = home.daemon();
        let mut stream = Sse::follow(&daemon.http(), &format!("/api/events?session={SESSION}"));
        let (_, loaded, data) = stream.receive_whole().expect("the state");
        assert!(data.contains(r#"["3"]"#), "{damage}: {data}");
        let loaded = loaded.parse::<u64>().unwrap();
        assert!(loaded >= before, "{damage}: {loaded} after {before}");
        set(&home, "ports", &["4"]);
        let (_, changed, _) = stream.receive_whole().expect("a change");
        let changed = changed.parse::<u64>().unwrap();
        assert!(changed > loaded, "{damage}: {changed} after {loaded}");
    }
}

/// @restore_events
#[test]
fn a_restore_is_published_to_every_kind_of_subscriber() {
    let home = home();
    let daemon = home.daemon();
    let other = "11fe11fe-0000-4000-8000-000000000002";
    set(&home, "ports", &["1"]);
    let copy = home.path("copy.db");
    home.run(&["backup", copy.to_str().unwrap()]).ok();
    set(&home, "ports", &["2"]);
    let later = json!({ "setName": "notes", "items": ["later"], "session_id": other });
    home.call("set_relevant_context", &later);
    let (mut watcher, mut of_other, mut silent) =
        (socket(&daemon), socket(&daemon), socket(&daemon));
    watcher.rpc("session/subscribe", &json!({ "session_id": SESSION })).unwrap();
    let loaded = frame(&mut watcher, "session/event");
    of_other.rpc("session/subscribe", &json!({ "session_id": other })).unwrap();
    frame(&mut of_other, "session/event");
    let mut agent = home.serve();
    agent.initialize("2025-11-25");
    subscribe(&mut agent, &uri("ports"));
    let entry = format!("session://{SESSION}");
    let mut reader = home.serve();
    reader.initialize("2025-11-25");
    subscribe(&mut reader, &entry);
    home.run(&["restore", copy.to_str().unwrap()]).ok();
    let restored = frame(&mut watcher, "session/event");
    let data = json!({ "reason": "changed", "context": { "ports": ["1"] } });
    assert_eq!(restored["event"]["data"], data);
    assert!(restored["version"].as_u64() > loaded["version"].as_u64(), "{restored} {loaded}");
    assert_eq!(version(&daemon.http()).to_string(), restored["version"].to_string());
    let gone = frame(&mut of_other, "session/event");
    assert_eq!(gone["event"]["data"], json!({ "reason": "changed", "context": {} }));
    let list = json!({ "reason": "started", "sessionId": "*", "unobservedCount": 0 });
    assert_eq!(frame(&mut silent, "session/list_changed"), list);
    assert_updated(&next_line(&agent), &uri("ports"));
    assert_updated(&next_line(&reader), &entry);
    // The context is as before: only the list is reported.
    home.run(&["restore", copy.to_str().unwrap()]).ok();
    set(&home, "ports", &["3"]);
    let next = frame(&mut watcher, "session/event");
    assert_eq!(next["event"]["data"]["context"], json!({ "ports": ["3"] }));
}

/// @purge_events
#[test]
fn a_purge_of_sessions_is_published_like_their_deletion() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    says(&http, SESSION, "/srv/a", "the first session");
    set(&home, "ports", &["1"]);
    let mut watcher = socket(&daemon);
    watcher.rpc("session/subscribe", &json!({ "session_id": SESSION })).unwrap();
    frame(&mut watcher, "session/event");
    let mut agent = home.serve();
    agent.initialize("2025-11-25");
    subscribe(&mut agent, &uri("ports"));
    home.run(&["purge", "--session", SESSION, "--confirm"]).ok();
    let emptied = frame(&mut watcher, "session/event");
    assert_eq!(emptied["event"]["data"], json!({ "reason": "changed", "context": {} }));
    let deleted = json!({ "reason": "deleted", "sessionId": SESSION, "unobservedCount": 0 });
    assert_eq!(frame(&mut watcher, "session/list_changed"), deleted);
    assert_updated(&next_line(&agent), &uri("ports"));
    // Several sessions are one message.
    for session in ["s-2", "s-3"] {
        says(&http, session, "/srv/a", "another session");
    }
    for session in ["s-2", "s-3"] {
        assert_eq!(frame(&mut watcher, "session/list_changed")["sessionId"], session);
    }
    home.run(&["purge", "--project", "/srv/a", "--confirm"]).ok();
    let deleted = json!({ "reason": "deleted", "sessionId": "*", "unobservedCount": 0 });
    assert_eq!(frame(&mut watcher, "session/list_changed"), deleted);
}

/// @context_event_stream
#[test]
fn versions_grow_after_the_clock_was_set_back() {
    let home = home();
    let daemon = home.daemon();
    set(&home, "ports", &["1"]);
    let before = version(&daemon.http());
    home.run(&["stop"]).ok();
    // Everything was recorded by a clock that was a year ahead.
    let db = super::sqlite::open(&super::sqlite::path(&home));
    for (table, column) in [
        ("events", "at"),
        ("context_items", "at"),
        ("sessions", "started_at"),
        ("sessions", "last_at"),
    ] {
        let later = format!("UPDATE {table} SET {column} = {column} + 31536000000");
        assert!(db.execute(&later, []).unwrap() > 0, "{table}");
    }
    drop(db);
    let daemon = home.daemon();
    assert_eq!(version(&daemon.http()), before);
    let mut watcher = socket(&daemon);
    watcher.rpc("session/subscribe", &json!({ "session_id": SESSION })).unwrap();
    let mut last = frame(&mut watcher, "session/event")["version"].as_u64().unwrap();
    for number in 2..5 {
        set(&home, "ports", &[&number.to_string()]);
        let now = frame(&mut watcher, "session/event")["version"].as_u64().unwrap();
        assert!(now > last, "{now} after {last}");
        last = now;
    }
    assert_eq!(version(&daemon.http()), last);
}

/// @context_sets
#[test]
fn parallel_merges_lose_nothing() {
    let home = home();
    let daemon = home.daemon();
    std::thread::scope(|threads| {
        for number in 0..10 {
            let http = daemon.http();
            threads.spawn(move || {
                let params = json!({
                    "setName": "ports", "items": [format!("{number}")], "mode": "merge", "session_id": SESSION,
                });
                http.rpc("set_relevant_context", &params).expect("a result");
            });
        }
    });
    let got = daemon.http().rpc("get_relevant_context", &json!({ "session_id": SESSION })).unwrap();
    let mut ports: Vec<&str> =
        got["context"]["ports"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    ports.sort_unstable();
    assert_eq!(ports, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
}

/// @resource_updates
#[test]
fn the_end_of_a_watched_session_is_reported() {
    let home = home();
    let daemon = home.daemon();
    set(&home, "files", &["/srv/first"]);
    let mut agent = home.serve();
    agent.initialize("2025-11-25");
    subscribe(&mut agent, &uri("files"));
    let params = json!({ "session_id": SESSION, "confirm": true });
    daemon.http().rpc("delete_session", &params).expect("a result");
    assert_updated(&next_line(&agent), &uri("files"));
    let read = agent.request("resources/read", &json!({ "uri": uri("files") }));
    assert_eq!(read["error"]["code"], -32002, "{read}");
    set(&home, "files", &["/srv/second"]);
    assert_updated(&next_line(&agent), &uri("files"));
}

/// @resource_updates
#[test]
fn a_resume_and_a_deletion_are_each_reported_once_and_a_resume_changes_no_set() {
    let home = home();
    let daemon = home.daemon();
    let starts = |session: &str, source: &str| {
        let payload = json!({ "session_id": session, "cwd": "/srv/shop", "source": source });
        home.call("hook", &json!({ "event": "SessionStart", "payload": payload }));
    };
    starts(SESSION, "startup");
    set(&home, "ports", &["80"]);
    let mut agent = home.serve();
    agent.initialize("2025-06-18");
    let of_session = format!("session://{SESSION}");
    for watched in [of_session.as_str(), &uri("ports"), "session://last-1"] {
        subscribe(&mut agent, watched);
    }
    starts(SESSION, "resume");
    daemon.http().send("DELETE", &format!("/api/sessions/{SESSION}"), b"");
    starts("last-1", "startup");
    let mut updated = Vec::new();
    while updated.last().is_none_or(|last| last != "session://last-1") {
        let uri = next_line(&agent)["params"]["uri"].clone();
        updated.push(uri.as_str().expect("a URI").to_owned());
    }
    updated.sort();
    let ports = uri("ports");
    assert_eq!(updated, [&ports, &of_session, &of_session, "session://last-1"]);
}

/// @context_event_stream
#[test]
fn a_subscriber_that_never_reads_delays_no_one_else() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    set(&home, "notes", &["first"]);
    let path = format!("/api/events?session={SESSION}");
    let _idle: Vec<Sse> = (0..3).map(|_| Sse::follow(&http, &path)).collect();
    let mut reader = Sse::follow(&http, &path);
    reader.receive().expect("the state");
    let filler = "x".repeat(1_000);
    for number in 0..300 {
        let items: Vec<String> = (0..10).map(|item| format!("{number} {item} {filler}")).collect();
        let params = json!({ "setName": "notes", "items": items, "session_id": SESSION });
        http.rpc("set_relevant_context", &params).expect("a result");
        let (_, data) = reader.receive().expect("the change");
        assert!(data.contains(&format!("{number} 9 x")), "{number}");
    }
}

/// @events_after_commit_in_sequence
#[test]
fn a_filter_by_project_passes_the_sessions_and_hints_of_that_project() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    let [apple, pear] = ["apple", "pear"].map(|name| {
        let dir = home.path(name);
        std::fs::create_dir_all(&dir).expect("a directory");
        says(&http, &format!("first-{name}"), dir.to_str().expect("UTF-8"), "please begin");
        dir
    });
    let mut watcher = socket(&daemon);
    watcher.rpc("events/subscribe", &json!({ "project": "apple" })).expect("a subscription");
    for (dir, name) in [(&pear, "pear"), (&apple, "apple")] {
        says(&http, &format!("next-{name}"), dir.to_str().expect("UTF-8"), "please go on");
        let mut command = home.command(["hint", "set", name, "build", "make"]);
        command.current_dir(dir);
        testkit::home::finish(command, b"").ok();
    }
    let mut seen = Vec::new();
    while seen.last().is_none_or(|last| last != "hint://apple/build") {
        let frame = watcher.receive().expect("an event");
        // Every socket also hears of pauses.
        if frame["method"] == "event" {
            seen.push(frame["params"]["subject"].as_str().expect("a subject").to_owned());
        }
    }
    assert!(seen.contains(&"session://next-apple".to_owned()), "{seen:?}");
    assert!(!seen.iter().any(|subject| subject.contains("pear")), "{seen:?}");
}
