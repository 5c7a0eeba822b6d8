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

/// @session_list_query
#[test]
fn the_session_that_matches_a_query_best_is_listed_first_on_every_page() {
    let home = home();
    let _daemon = home.daemon();
    for (session, prompt) in [
        ("s-words", "Fix the cart total of the basket page"),
        ("s-part", "Repair the minicart of the header"),
        ("s-letters", "Create a report of all totals for the year"),
    ] {
        event(&home, session, "SessionStart", &json!({ "source": "startup" }));
        event(&home, session, "UserPromptSubmit", &json!({ "prompt": prompt }));
    }
    let listed = |more: &[&str]| {
        let run = home
            .run(&[&["sessions", "--query", "cart", "--json", "--project", "*"], more].concat());
        let page = run.json();
        let ids = page["sessions"].as_array().unwrap().iter();
        let ids: Vec<String> =
            ids.map(|one| one["session_id"].as_str().unwrap().to_owned()).collect();
        (ids, page["next"].as_str().map(str::to_owned))
    };
    // The one that was active last has only the letters of the query.
    let order = ["s-words", "s-part", "s-letters"];
    assert_eq!(listed(&[]), (order.map(str::to_owned).to_vec(), None));
    let mut next: Option<String> = None;
    for id in order {
        let mut more = vec!["--limit", "1"];
        more.extend(next.iter().flat_map(|next| ["--cursor", next]));
        let (page, cursor) = listed(&more);
        assert_eq!(page, [id], "{more:?}");
        next = cursor;
    }
    assert_eq!(next, None);
    let other = home.run(&["sessions", "--query", "cart", "--cursor", "1.2"]);
    assert_eq!(other.code, 1, "a cursor of the whole list: {other:?}");
}

/// @session_agent
#[test]
fn a_session_that_a_call_began_has_the_agent_of_its_client_or_of_its_first_event() {
    let home = home();
    let _daemon = home.daemon();
    let agent_of = |session: &str| {
        home.call("get_session", &json!({ "session_id": session }))["agent"].clone()
    };
    let set = |session: &str| json!({ "setName": "ports", "items": ["80"], "session_id": session });
    let mut codex = home.serve();
    codex.initialize_as("codex-mcp-client", "2025-06-18");
    codex.call("set_relevant_context", &set("s-codex")).unwrap();
    assert_eq!(agent_of("s-codex"), "codex");
    let mut other = home.serve();
    other.initialize_as("an editor", "2025-06-18");
    other.call("set_relevant_context", &set("s-later")).unwrap();
    assert_eq!(agent_of("s-later"), "unknown");
    event(&home, "s-later", "UserPromptSubmit", &json!({ "prompt": "go on" }));
    assert_eq!(agent_of("s-later"), "claude-code");
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
    let counts = format!(
        "nothing was deleted; session {SESSION} has 1 prompt, 1 answer, 2 observations, 1 item, 0 receipts"
    );
    assert!(counted.stderr.contains(&counts) && counted.stderr.contains("--yes"), "{counted:?}");
    let kept = home.run(&["sessions", "delete", SESSION, "--keep-observations"]);
    let counts = format!(
        "nothing was deleted; session {SESSION} would lose 1 item, 0 receipts; its records stay"
    );
    assert!(kept.code == 1 && kept.stderr.contains(&counts), "{kept:?}");
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
    let activity = home.run(&["activity", "--session", SESSION, "--project", "*"]).ok();
    assert!(activity.contains(WORD), "{activity}");
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

/// The next frame of this method.
pub(crate) fn frame(socket: &mut Ws, method: &str) -> Value {
    let mut frames = std::iter::from_fn(|| socket.receive());
    frames.find(|frame| frame["method"] == method).expect("a frame")["params"].clone()
}

pub(crate) fn socket(daemon: &testkit::Daemon) -> Ws {
    let authorization = format!("Bearer {}", daemon.token);
    Ws::connect(daemon.port, &[("Authorization", &authorization)]).unwrap()
}

/// @pause_events
#[test]
fn every_socket_hears_of_a_pause_and_of_its_end() {
    let home = home();
    let daemon = home.daemon();
    let mut socket = socket(&daemon);
    for (duration, count) in [("30m", 1), ("off", 0)] {
        home.run(&["pause", duration]).ok();
        assert_eq!(frame(&mut socket, "pause/changed"), json!({}));
        let status = socket.rpc("status", &json!({})).unwrap();
        assert_eq!(status["pauses"].as_array().map(Vec::len), Some(count), "{status}");
    }
}

/// @session_list_rest
#[test]
fn a_page_of_sessions_has_at_least_one_row_and_at_most_a_thousand() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    for (limit, status) in [("0", 400), ("1", 200), ("1000", 200), ("1001", 400)] {
        assert_eq!(http.get(&format!("/api/sessions?limit={limit}")).status, status, "{limit}");
    }
}

/// @session_list_events
#[test]
fn every_socket_hears_of_each_change_to_the_list_of_sessions() {
    let home = home();
    let daemon = home.daemon();
    let mut socket = socket(&daemon);
    let mut expect = |reason: &str, id: &str, count: u64| {
        let params = json!({ "reason": reason, "sessionId": id, "unobservedCount": count });
        assert_eq!(frame(&mut socket, "session/list_changed"), params);
    };
    let http = daemon.http();
    event(&home, SESSION, "SessionStart", &json!({ "source": "startup" }));
    expect("started", SESSION, 0);
    http.send("PATCH", &format!("/api/sessions/{SESSION}"), br#"{"name":"Cart"}"#);
    expect("renamed", SESSION, 0);
    event(&home, SESSION, "Stop", &json!({}));
    expect("idle", SESSION, 1);
    event(&home, SESSION, "UserPromptSubmit", &json!({ "prompt": "go on" }));
    expect("observed", SESSION, 0);
    event(&home, SESSION, "Stop", &json!({}));
    expect("idle", SESSION, 1);
    // Neither repeats of the same name nor of an observation change the list.
    http.send("PATCH", &format!("/api/sessions/{SESSION}"), br#"{"name":"Cart"}"#);
    http.send("POST", "/api/sessions/*/observe", b"{}");
    expect("observed", "*", 0);
    http.send("POST", &format!("/api/sessions/{SESSION}/observe"), b"{}");
    // It was seen while it was idle, and is at work again: once, however many events follow.
    event(&home, SESSION, "UserPromptSubmit", &json!({ "prompt": "and round down" }));
    expect("started", SESSION, 0);
    event(&home, SESSION, "UserPromptSubmit", &json!({ "prompt": "go on" }));
    event(&home, SESSION, "SessionEnd", &json!({ "reason": "exit" }));
    expect("ended", SESSION, 0);
}

/// @resume_event
#[test]
fn subscribers_hear_of_a_resume_with_a_context_and_not_of_one_without() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    event(&home, SESSION, "SessionStart", &json!({ "source": "startup" }));
    let mut socket = socket(&daemon);
    socket.rpc("session/subscribe", &json!({ "session_id": SESSION })).unwrap();
    event(&home, SESSION, "SessionStart", &json!({ "source": "resume" }));
    let body = br#"{"setContext":{"setName":"ports","items":["80"]}}"#;
    http.send("PATCH", &format!("/api/sessions/{SESSION}"), body);
    let changed = frame(&mut socket, "session/event");
    assert_eq!(changed["event"]["data"]["reason"], "changed", "{changed}");
    event(&home, SESSION, "SessionStart", &json!({ "source": "compact" }));
    event(&home, SESSION, "SessionStart", &json!({ "source": "resume" }));
    let resumed = frame(&mut socket, "session/event");
    let data = json!({ "reason": "resume", "context": { "ports": ["80"] } });
    assert_eq!(resumed["event"]["data"], data);
    assert!(resumed["version"].as_u64() > changed["version"].as_u64(), "{resumed} {changed}");
}

/// @session_list_rest
#[test]
fn viewers_page_through_the_sessions_of_all_directories() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    for (number, model) in ["m-1", "m-2", "m-3"].iter().enumerate() {
        let id = format!("session-{number}");
        let start =
            json!({ "source": "startup", "model": model, "cwd": format!("/srv/d{}", number % 2) });
        event(&home, &id, "SessionStart", &start);
        let cwd = start["cwd"].clone();
        event(
            &home,
            &id,
            "UserPromptSubmit",
            &json!({ "prompt": format!("repair\npart {number}"), "cwd": cwd }),
        );
    }
    event(&home, "session-0", "Stop", &json!({ "cwd": "/srv/d0" }));
    http.send("PATCH", "/api/sessions/session-2", br#"{"name":"Cart rounding"}"#);
    let ids = |page: &Value| -> Vec<String> {
        let rows = page["sessions"].as_array().unwrap().iter();
        rows.map(|row| row["sessionId"].as_str().unwrap().to_owned()).collect()
    };
    let whole = http.get("/api/sessions").json();
    let row =
        whole["sessions"].as_array().unwrap().iter().find(|row| row["sessionId"] == "session-2");
    let row = row.unwrap();
    for (member, value) in [
        ("cwd", json!("/srv/d0")),
        ("project", json!("d0")),
        ("agent", json!("claude-code")),
        ("model", json!("m-3")),
        ("name", json!("Cart rounding")),
        ("isBusy", json!(true)),
        ("isUnobserved", json!(false)),
        ("currentIntent", json!("repair part 2")),
    ] {
        assert_eq!(row[member], value, "{member} of {row}");
    }
    let updated = row["updatedAt"].as_str().unwrap();
    assert!(updated.len() == 24 && updated.ends_with('Z'), "{updated}");
    assert_eq!(whole["unobservedCount"], 1);
    assert_eq!(whole["grouped"]["/srv/d1"].as_array().unwrap().len(), 1, "{whole}");
    assert_eq!(whole["grouped"]["/srv/d0"].as_array().unwrap().len(), 2);
    assert!(whole.get("next").is_none());
    let first = http.get("/api/sessions?limit=2").json();
    let rest =
        http.get(&format!("/api/sessions?limit=2&cursor={}", first["next"].as_str().unwrap()));
    let paged = [ids(&first), ids(&rest.json())].concat();
    assert_eq!(paged, ids(&whole));
    assert!(rest.json().get("next").is_none());
    assert_eq!(ids(&http.get("/api/sessions?q=CRTR").json()), ["session-2"]);
    assert_eq!(ids(&http.get("/api/sessions?state=idle").json()), ["session-0"]);
    assert_eq!(ids(&http.get("/api/sessions?project=d1").json()), ["session-1"]);
    for wrong in ["cursor=x", "state=busy", "limit=x", "page=2", "q=%ff"] {
        let refused = http.get(&format!("/api/sessions?{wrong}"));
        assert_eq!((refused.status, &refused.json()["code"]), (400, &json!("invalid")), "{wrong}");
    }
}

/// @session_commands
#[test]
fn a_user_shows_renames_and_resumes_a_session_by_a_prefix_and_deletes_it_by_its_id() {
    let home = home();
    let _daemon = home.daemon();
    event(&home, SESSION, "SessionStart", &json!({ "source": "startup", "model": "m-1" }));
    home.run(&["context", "set", "ports", "8080", "--session", SESSION]).ok();
    let short = &SESSION[..8];
    let renamed = home.run(&["sessions", "rename", short, "Cart", "rounding"]).ok();
    assert_eq!(renamed, format!("✔ {short} is called Cart rounding\n"));
    let shown = home.run(&["sessions", "show", short]).ok();
    for line in ["name: Cart rounding", "directory: /srv/shop", "model: m-1", "ports:", "  8080"] {
        assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
    }
    let dated = |name: &str| {
        let line = shown.lines().find_map(|line| line.strip_prefix(name));
        line.is_some_and(|at| at.ends_with(" ago)") && !at.contains('T'))
    };
    assert!(dated("started: ") && dated("last event: "), "{shown}");
    let listed = home.run(&["sessions", "--project", "*"]).ok();
    assert!(listed.contains("Cart rounding"), "{listed}");
    let receipts = home.run(&["receipts", "--session", short]).ok();
    assert_eq!(receipts, "Nothing was injected that matches these filters.\n");
    let resumed = home.run(&["sessions", "resume", short]).ok();
    assert!(
        resumed.starts_with("[SESSION RESUMED]\n") && resumed.contains("\nports: 8080\n---\n"),
        "{resumed}"
    );
    assert!(
        resumed.ends_with(&format!("\nResume it with: claude --resume {SESSION}\n")),
        "{resumed}"
    );
    let counted = home.run(&["sessions", "delete", short]);
    assert!(counted.code == 1 && counted.stderr.contains(SESSION), "{counted:?}");
    let deleted = home.run(&["sessions", "delete", SESSION, "--yes"]).ok();
    assert!(deleted.starts_with(&format!("✔ deleted session {SESSION} with ")), "{deleted}");
    assert_eq!(home.run(&["sessions", "show", short]).code, 1);
}

/// @session_read
#[test]
fn a_session_is_read_with_its_name_model_and_sets() {
    let home = home();
    let daemon = home.daemon();
    event(&home, SESSION, "SessionStart", &json!({ "source": "startup", "model": "m-1" }));
    let elsewhere = json!({ "source": "resume", "cwd": "/srv/shop/api" });
    event(&home, SESSION, "SessionStart", &elsewhere);
    event(&home, SESSION, "UserPromptSubmit", &json!({ "prompt": "x", "cwd": "/srv" }));
    let body = json!({ "name": "Cart", "envHint": "source .env",
        "context": { "ports": ["80", "two\nlines"] } });
    let path = format!("/api/sessions/{SESSION}");
    daemon.http().send("PATCH", &path, body.to_string().as_bytes());
    let text = home.run(&["get", &format!("session://{SESSION}")]).ok();
    for line in [
        "name: Cart",
        "model: m-1",
        "directory: /srv/shop/api",
        "environment: source .env",
        "state: active",
        "set ports: 80, two lines",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line}: {text}");
    }
    let session = daemon.http().get(&path).json();
    assert_eq!(
        (&session["cwd"], &session["meta"]["model"]),
        (&json!("/srv/shop/api"), &json!("m-1"))
    );
}

/// @session_scrub
#[test]
fn a_scrub_redacts_names_hints_and_items() {
    const TOKEN: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let home = home();
    let daemon = home.daemon();
    worked(&home, &daemon.http(), SESSION);
    home.run(&["stop"]).ok();
    let db = super::sqlite::open(&super::sqlite::path(&home));
    let updates = [
        ("session_details", "label"),
        ("session_details", "env_hint"),
        ("session_starts", "cwd"),
        ("session_starts", "model"),
        ("context_items", "item"),
        ("context_items", "set_name"),
    ];
    for (table, column) in updates {
        let update = format!("UPDATE {table} SET {column} = 'use {TOKEN}'");
        assert!(db.execute(&update, []).unwrap() > 0, "{table}.{column}");
    }
    drop(db);
    let scrubbed = home.run(&["scrub", "--json"]).json();
    for (place, count) in [
        ("session_name", 1),
        ("env_hint", 1),
        ("session_root", 1),
        ("session_model", 1),
        ("context", 2),
    ] {
        assert_eq!(scrubbed["by_place"][place], count, "{scrubbed}");
    }
    assert_eq!(files_with(&home, &[TOKEN]), [] as [std::path::PathBuf; 0]);
    assert_eq!(home.run(&["scrub"]).ok(), "no secrets found\n");
}

/// @session_scrub
#[test]
fn a_scrub_of_a_context_and_a_name_reaches_every_subscriber_with_a_new_version() {
    const TOKEN: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let home = home();
    let mut daemon = home.daemon();
    worked(&home, &daemon.http(), SESSION);
    home.run(&["stop"]).ok();
    daemon.wait();
    let db = super::sqlite::open(&super::sqlite::path(&home));
    for (table, column) in [("session_details", "label"), ("context_items", "item")] {
        let update = format!("UPDATE {table} SET {column} = 'use {TOKEN}'");
        assert!(db.execute(&update, []).unwrap() > 0, "{table}.{column}");
    }
    drop(db);
    let daemon = home.daemon();
    let mut socket = socket(&daemon);
    socket.rpc("session/subscribe", &json!({ "session_id": SESSION })).unwrap();
    let loaded = frame(&mut socket, "session/event");
    home.run(&["scrub"]).ok();
    let changed = frame(&mut socket, "session/event");
    assert_eq!(changed["event"]["data"]["reason"], "changed", "{changed}");
    assert!(!changed.to_string().contains(TOKEN), "{changed}");
    assert!(changed["version"].as_u64() > loaded["version"].as_u64(), "{loaded} {changed}");
    socket.rpc("session/subscribe", &json!({ "session_id": SESSION })).unwrap();
    assert_eq!(frame(&mut socket, "session/event")["version"], changed["version"]);
    // A text that another purge removes is published as well.
    home.run(&["purge", "--literal", "redacted", "--confirm"]).ok();
    let emptied = frame(&mut socket, "session/event");
    assert_eq!(emptied["event"]["data"]["context"], json!({}), "{emptied}");
}

/// @session_list
#[test]
fn a_session_is_active_from_a_prompt_to_its_answer_and_idle_otherwise() {
    let home = home();
    let daemon = home.daemon();
    let state = || {
        let session = daemon.http().get(&format!("/api/sessions/{SESSION}")).json();
        session["state"].as_str().expect("a state").to_owned()
    };
    let steps = [
        ("SessionStart", json!({ "source": "startup" }), "idle"),
        ("UserPromptSubmit", json!({ "prompt": "Round the cart up" }), "active"),
        // Within a turn the agent works on.
        ("PreCompact", json!({ "trigger": "auto" }), "active"),
        ("SessionStart", json!({ "source": "compact" }), "active"),
        ("Stop", json!({ "last_assistant_message": "The cart is rounded up." }), "idle"),
        ("PreCompact", json!({ "trigger": "manual" }), "idle"),
        ("SessionStart", json!({ "source": "compact" }), "idle"),
        ("SessionEnd", json!({ "reason": "other" }), "ended"),
        ("SessionStart", json!({ "source": "resume" }), "idle"),
        (
            "PreToolUse",
            json!({ "tool_name": "Bash", "tool_use_id": "t-1", "tool_input": { "command": "make" } }),
            "active",
        ),
    ];
    for (name, more, expected) in steps {
        event(&home, SESSION, name, &more);
        assert_eq!(state(), expected, "{name} {more}");
    }
}

/// @session_details
#[test]
fn a_misspelled_set_is_named_in_a_whole_context_and_not_when_it_is_cleared() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    worked(&home, &http, SESSION);
    let patch = |body: Value| {
        let path = format!("/api/sessions/{SESSION}");
        http.send("PATCH", &path, body.to_string().as_bytes()).json()
    };
    let done = patch(json!({ "context": { "fles": ["x"] } }));
    assert_eq!(done["warning"], "unknown set 'fles'; did you mean 'files'?", "{done}");
    let done = patch(json!({ "setContext": { "setName": "fles", "items": [] } }));
    assert_eq!(done["warning"], Value::Null, "{done}");
}

/// @session_delete
#[test]
fn receipts_are_counted_as_they_are_listed_and_a_purged_session_leaves_no_id() {
    let home = home();
    let daemon = home.daemon();
    worked(&home, &daemon.http(), SESSION);
    event(&home, "other-1", "SessionStart", &json!({ "source": "startup" }));
    let other = json!({ "session_id": "other-1", "project": "*" });
    let listed = home.call("receipts", &other)["receipts"].clone();
    let texts = listed.as_array().expect("a list").len();
    assert!(texts > 0, "{listed}");
    let counted = home.run(&["sessions", "delete", "other-1"]);
    let noun = if texts == 1 { "receipt" } else { "receipts" };
    assert!(counted.stderr.contains(&format!(", {texts} {noun}")), "{counted:?} {listed}");
    home.run(&["purge", "--session", SESSION, "--confirm"]).ok();
    home.run(&["stop"]).ok();
    assert_eq!(files_with(&home, &[WORD, SESSION]), [] as [std::path::PathBuf; 0]);
}

/// @session_kept
#[test]
fn a_backup_a_restore_and_a_repair_keep_names_hints_and_sets() {
    let home = home();
    let daemon = home.daemon();
    worked(&home, &daemon.http(), SESSION);
    let meta = || home.call("get_session", &json!({ "session_id": SESSION }))["meta"].clone();
    let before = meta();
    assert_eq!(before["name"], format!("{WORD} rounding"));
    let copy = home.path("copy.db");
    home.run(&["backup", copy.to_str().unwrap()]).ok();
    home.run(&["sessions", "delete", SESSION, "--yes"]).ok();
    home.run(&["stop"]).ok();
    home.run(&["restore", copy.to_str().unwrap()]).ok();
    assert_eq!(meta(), before, "restored");
    home.run(&["stop"]).ok();
    // A page of another table is overwritten: the readable rows are saved.
    let path = super::sqlite::path(&home);
    let db = super::sqlite::open(&path);
    let page = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let root = page("SELECT rootpage FROM sqlite_schema WHERE name = 'notices'");
    let size = page("PRAGMA page_size");
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(db);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = usize::try_from((root - 1) * size).unwrap();
    bytes[at..at + usize::try_from(size).unwrap()].fill(0xaa);
    std::fs::write(&path, bytes).unwrap();
    home.run(&["doctor", "--fix"]);
    assert_eq!(meta(), before, "repaired");
}

/// @session_bad_input
#[test]
fn bad_ids_and_bodies_are_invalid_on_rest_and_as_a_tool() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    event(&home, SESSION, "SessionStart", &json!({ "source": "startup" }));
    let long = "x".repeat(201);
    let ids = ["", ".", "..", "%2e%2e", "a%2Fb", "a%5Cb", "a%0Ab", "a%00b", "%ff", &long];
    for id in ids {
        for (method, path, body) in [
            ("GET", "", &b""[..]),
            ("DELETE", "", b""),
            ("PATCH", "", br#"{"name":"x"}"#),
            ("POST", "/observe", b"{}"),
        ] {
            let refused = http.send(method, &format!("/api/sessions/{id}{path}"), body);
            let said = (refused.status, refused.json()["code"].clone());
            assert_eq!(said, (400, json!("invalid")), "{method} {id:?}: {}", refused.text());
            assert!(refused.json()["error"].is_string());
        }
    }
    for id in ["", ".", "..", "a/b", "a\\b", "a\nb", "a\0b", &long] {
        for op in ["get_session", "delete_session", "observe_session"] {
            let error = http.rpc(op, &json!({ "session_id": id })).unwrap_err();
            assert_eq!(error["code"], 40001, "{op} {id:?}: {error}");
        }
    }
    let deep = format!("{{\"name\":{}1{}}}", "[".repeat(200), "]".repeat(200));
    let bodies: [&[u8]; 12] = [
        br#"{"name":"x"#,
        deep.as_bytes(),
        b"{\"name\":\"\xff\"}",
        b"name=x",
        b"[1]",
        b"null",
        br#"{"name":"x","more":1}"#,
        br#"{"name":7}"#,
        br#"{"name":"two\nlines"}"#,
        br#"{"name":"a\u001b[31mb"}"#,
        br#"{"name":"x\u0000"}"#,
        br#"{}"#,
    ];
    let path = format!("/api/sessions/{SESSION}");
    for body in bodies {
        let refused = http.send("PATCH", &path, body);
        let shown = String::from_utf8_lossy(body);
        assert_eq!(refused.status, 400, "{shown}: {}", refused.text());
        assert_eq!(refused.json()["code"], "invalid", "{shown}");
    }
    for kind in ["application/x-www-form-urlencoded", "text/plain", ""] {
        let form = http.clone().with("Content-Type", kind).send("PATCH", &path, b"name=x");
        let said = (form.status, form.json()["code"].clone());
        assert_eq!(said, (400, json!("invalid")), "{kind}: {}", form.text());
    }
    assert_eq!(http.get(&path).json()["meta"]["name"], "");
    let refused = home.run(&["sessions", "rename", SESSION, "two\nlines"]);
    assert_eq!(refused.code, 1, "{}", refused.stdout);
    let twice = http.send("PATCH", &path, br#"{"name":"first","name":"last"}"#);
    assert_eq!(twice.status, 200, "{}", twice.text());
    assert_eq!(http.get(&path).json()["meta"]["name"], "last");
}

/// @session_bad_input
#[test]
fn rest_errors_name_the_members_of_the_body() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    event(&home, SESSION, "SessionStart", &json!({ "source": "startup" }));
    let long = "x".repeat(1_025);
    let cases = [
        (json!({}), "`name`, `envHint`, `context` and `setContext`"),
        (json!({ "envHint": long }), "envHint has more than 1024 characters"),
        (json!({ "setContext": { "items": [] } }), "missing parameter `setContext.setName`"),
        (json!({ "setContext": 7 }), "setContext"),
    ];
    for (body, expected) in cases {
        let path = format!("/api/sessions/{SESSION}");
        let refused = http.send("PATCH", &path, body.to_string().as_bytes());
        let message = refused.json()["error"].as_str().expect("a text").to_owned();
        assert_eq!(refused.status, 400, "{message}");
        assert!(message.contains(expected), "{message}");
        assert!(!message.contains("env_hint") && !message.contains("set_context"), "{message}");
    }
}
