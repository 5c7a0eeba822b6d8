//! Sessions as a user lists, names and deletes them.

use serde_json::{Value, json};
use testkit::{Home, Http, Ws};

use super::home;

const SESSION: &str = "5e55105e-0000-4000-8000-0000000000aa";
const WORD: &str = "zanzibarquux";

/// Reports an event of a session in `/srv/shop`, as the agent does.
fn event(home: &Home, session: &str, name: &str, more: &Value) {
    let mut payload = json!({ "session_id": session, "cwd": "/srv/shop", "hook_event_name": name });
    payload.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    home.run_with(&["hook", name], payload.to_string().as_bytes()).ok();
}

/// A session with a prompt, an action, an answer, a name, a hint and a set.
fn worked(home: &Home, http: &Http, session: &str) {
    event(home, session, "SessionStart", &json!({ "source": "startup" }));
    event(home, session, "UserPromptSubmit", &json!({ "prompt": format!("round the {WORD} up") }));
    let run = json!({ "tool_name": "Bash", "tool_input": { "command": format!("echo {WORD}") },
        "tool_response": { "stdout": WORD, "stderr": "" } });
    event(home, session, "PostToolUse", &run);
    event(
        home,
        session,
        "Stop",
        &json!({ "last_assistant_message": format!("The {WORD} is rounded.") }),
    );
    let body = json!({ "name": format!("{WORD} rounding"), "envHint": format!("source {WORD}"),
        "setContext": { "setName": "notes", "items": [format!("the {WORD} protocol")] } });
    let path = format!("/api/sessions/{session}");
    assert_eq!(http.send("PATCH", &path, body.to_string().as_bytes()).status, 200);
}

/// The files of the store that contain one of these texts.
fn files_with(home: &Home, texts: &[&str]) -> Vec<std::path::PathBuf> {
    let has =
        |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    let files = home.files().into_iter();
    let with = files.filter(|(_, bytes)| texts.iter().any(|text| has(bytes, text)));
    with.map(|(path, _)| path).collect()
}

/// @session_delete
#[test]
fn a_deleted_session_leaves_nothing_in_any_file() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    worked(&home, &http, SESSION);
    let counted = home.run(&["sessions", "delete", SESSION]);
    assert_eq!(counted.code, 1, "{counted:?}");
    let counts = "nothing was deleted; the session has 1 prompt, 1 answer, 2 observations, 1 item, 0 receipts";
    assert!(counted.stderr.contains(counts) && counted.stderr.contains("--yes"), "{counted:?}");
    assert_eq!(http.get(&format!("/api/sessions/{SESSION}")).status, 200, "it was only counted");
    let deleted = http.send("DELETE", &format!("/api/sessions/{SESSION}"), b"");
    assert_eq!(
        deleted.json(),
        json!({ "success": true, "wasActive": false }),
        "{}",
        deleted.status
    );
    let gone = http.get(&format!("/api/sessions/{SESSION}"));
    let error = json!({ "error": format!("Session not found: {SESSION}"), "code": "not_found" });
    assert_eq!((gone.status, gone.json()), (404, error));
    assert_eq!(http.send("DELETE", &format!("/api/sessions/{SESSION}"), b"").status, 404);
    home.run(&["stop"]).ok();
    assert_eq!(files_with(&home, &[WORD, SESSION]), [] as [std::path::PathBuf; 0]);
}

/// @session_delete_keeps
#[test]
fn records_that_stay_are_found_with_the_id_of_their_deleted_session() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    worked(&home, &http, SESSION);
    let path = format!("/api/sessions/{SESSION}");
    assert_eq!(http.send("DELETE", &format!("{path}?keepObservations=maybe"), b"").status, 400);
    let deleted = http.send("DELETE", &format!("{path}?keepObservations=true"), b"");
    assert_eq!(deleted.json(), json!({ "success": true, "wasActive": false }));
    assert_eq!(http.get(&path).status, 404);
    let listed = home.call("list_sessions", &json!({ "project": "*" }));
    assert_eq!(listed["sessions"], json!([]));
    let found = home.call("search", &json!({ "query": WORD, "session_id": SESSION }));
    let hits = found["results"].as_array().unwrap();
    assert!(hits.len() >= 3, "{found}");
    assert!(hits.iter().all(|hit| hit["session_id"] == SESSION), "{found}");
    home.run(&["stop"]).ok();
    let left = files_with(&home, &[&format!("{WORD} protocol"), &format!("{WORD} rounding")]);
    assert_eq!(left, [] as [std::path::PathBuf; 0], "its name and set are gone");
    // The agent goes on in it.
    event(&home, SESSION, "UserPromptSubmit", &json!({ "prompt": "and now round down" }));
    let listed = home.call("list_sessions", &json!({ "project": "*" }));
    assert_eq!(listed["sessions"][0]["session_id"], SESSION, "{listed}");
}

/// @session_delete_events
#[test]
fn subscribers_see_the_context_vanish_before_every_socket_hears_of_the_deletion() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    worked(&home, &http, SESSION);
    let authorization = format!("Bearer {}", daemon.token);
    let socket = || Ws::connect(daemon.port, &[("Authorization", &authorization)]).unwrap();
    let (mut watcher, mut other) = (socket(), socket());
    watcher.rpc("session/subscribe", &json!({ "session_id": SESSION })).unwrap();
    assert_eq!(watcher.receive().expect("load")["params"]["event"]["data"]["reason"], "load");
    http.send("DELETE", &format!("/api/sessions/{SESSION}"), b"");
    let emptied = watcher.receive().expect("the empty context");
    assert_eq!(emptied["method"], "session/event");
    let data = &emptied["params"]["event"]["data"];
    assert_eq!(data, &json!({ "reason": "changed", "context": {} }));
    let params = json!({ "reason": "deleted", "sessionId": SESSION, "unobservedCount": 0 });
    for socket in [&mut watcher, &mut other] {
        let frame = socket.receive().expect("the deletion");
        assert_eq!((&frame["method"], &frame["params"]), (&json!("session/list_changed"), &params));
    }
}
