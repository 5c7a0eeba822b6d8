//! Progress of a job over MCP: a client that gives a token is notified until the reply, on every transport.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use serde_json::{Value, json};
use testkit::{Daemon, Home, Mcp, Sse, Ws};

fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_rekindle-bookmarks"))
}

/// A call of the sample's job, which reports two steps.
fn job(token: &Value) -> Value {
    let params = json!({ "name": "deduplicate_bookmarks", "_meta": { "progressToken": token } });
    json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params })
}

fn ping() -> Value {
    json!({ "jsonrpc": "2.0", "id": 6, "method": "ping" })
}

/// Sends the call and then a ping, and checks all that comes up to the reply of the ping.
fn follow(token: &Value, mut send: impl FnMut(&Value), mut receive: impl FnMut() -> Value) {
    send(&job(token));
    let mut seen = Vec::new();
    while seen.last().is_none_or(|line: &Value| line.get("id").is_none()) {
        seen.push(receive());
    }
    send(&ping());
    assert_eq!(receive()["id"], 6, "nothing follows the reply");
    check(token, &seen);
}

/// Both steps with this token, the numbers increasing, then the reply.
fn check(token: &Value, seen: &[Value]) {
    let (reply, notifications) = seen.split_last().unwrap();
    assert_eq!(reply["result"]["structuredContent"], json!({ "removed": 0 }), "{reply}");
    assert!(notifications.iter().all(|line| line["method"] == "notifications/progress"));
    let params: Vec<&Value> = notifications.iter().map(|line| &line["params"]).collect();
    assert!(params.iter().all(|params| params["progressToken"] == *token), "{params:?}");
    let messages: Vec<&Value> = params.iter().map(|params| &params["message"]).collect();
    assert_eq!(messages, ["finding repeated bookmarks", "removing repeated bookmarks"]);
    let numbers: Vec<u64> =
        params.iter().map(|params| params["progress"].as_u64().unwrap()).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    assert_eq!((params[0].get("total"), &params[1]["total"]), (None, &json!(1)), "{params:?}");
}

fn follow_stdio(client: &mut Mcp, token: &Value) {
    client.send(format!("{}\n", job(token)).as_bytes());
    let mut seen: Vec<Value> = Vec::new();
    while seen.last().is_none_or(|line| line.get("id").is_none()) {
        seen.push(serde_json::from_str(&client.receive().unwrap()).unwrap());
    }
    // `request` expects the reply as the next line.
    client.request("ping", &json!({}));
    check(token, &seen);
}

/// @mcp_progress
#[test]
fn a_stdio_client_with_a_token_is_notified_by_a_primary() {
    let home = home();
    let mut client = home.serve();
    assert_eq!(home.pid(), client.pid(), "it is the PRIMARY");
    follow_stdio(&mut client, &json!("a string"));
    follow_stdio(&mut client, &json!(17));
}

/// @mcp_progress
#[test]
fn a_proxy_passes_notifications_through() {
    let home = home();
    let daemon = home.daemon();
    let mut client = home.serve();
    assert_eq!(home.pid(), daemon.pid(), "the client has a PROXY");
    follow_stdio(&mut client, &json!("a string"));
    follow_stdio(&mut client, &json!(-3));
}

/// @mcp_progress
#[test]
fn clients_of_the_old_event_stream_and_of_the_websocket_are_notified() {
    let home = home();
    let daemon = home.daemon();
    let mut sse = Sse::open(&daemon.http(), "/sse");
    let (http, endpoint) = (daemon.http(), sse.endpoint.clone());
    let send = |message: &Value| {
        assert_eq!(http.post(&endpoint, message.to_string().as_bytes()).status, 202);
    };
    follow(&json!(1), send, || serde_json::from_str(&sse.receive().unwrap().1).unwrap());

    let token = format!("Bearer {}", daemon.token);
    let headers = [("Authorization", token.as_str()), ("Sec-WebSocket-Protocol", "mcp")];
    let ws = std::cell::RefCell::new(Ws::connect(daemon.port, &headers).unwrap());
    let send = |message: &Value| ws.borrow_mut().send(message);
    follow(&json!(2), send, || ws.borrow_mut().receive().unwrap());
}

/// The lines in the reply of `/mcp`, which is JSON or a stream of events.
fn posted(daemon: &Daemon, accept: &str, message: &Value) -> Vec<Value> {
    let http = daemon.http().with("Accept", accept);
    let response = http.post("/mcp", message.to_string().as_bytes());
    assert_eq!(response.status, 200, "{response:?}");
    let text = response.text();
    let events: Vec<Value> = text
        .lines()
        .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
        .collect();
    match response.header("content-type") {
        Some("text/event-stream") => events,
        _ => vec![response.json()],
    }
}

/// @mcp_progress
#[test]
fn streamable_http_streams_progress_to_a_client_that_takes_only_events() {
    let home = home();
    let daemon = home.daemon();
    let token = json!("t");
    check(&token, &posted(&daemon, "text/event-stream", &job(&token)));
    let both = posted(&daemon, "application/json, text/event-stream", &job(&token));
    assert_eq!(both.len(), 1, "{both:?}");
    assert_eq!(posted(&daemon, "text/event-stream", &ping()).len(), 1);
}

/// @mcp_progress
#[test]
fn without_a_usable_token_or_a_job_only_the_reply_comes() {
    let home = home();
    let mut client = home.serve();
    for meta in [json!({}), json!({ "progressToken": true }), json!({ "progressToken": null })] {
        let params = json!({ "name": "deduplicate_bookmarks", "_meta": meta });
        let reply = client.request("tools/call", &params);
        assert_eq!(reply["result"]["structuredContent"]["removed"], 0, "{reply}");
    }
    let params = json!({
        "name": "list_bookmarks", "arguments": {}, "_meta": { "progressToken": 1 },
    });
    let reply = client.request("tools/call", &params);
    assert!(reply["result"]["structuredContent"].is_object(), "{reply}");
}
