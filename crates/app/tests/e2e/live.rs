//! Live views of sessions: server-sent events, resources that clients subscribe to, and the activity of all sessions.

use serde_json::{Value, json};
use testkit::{Home, Mcp, Sse, Ws, wait_until};

use super::home;

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
