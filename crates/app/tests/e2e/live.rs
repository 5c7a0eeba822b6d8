//! Live views of sessions: server-sent events, resources that clients subscribe to, and the activity of all sessions.

use serde_json::{Value, json};
use testkit::{Home, Sse};

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
