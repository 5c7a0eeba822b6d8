//! Ghaps through the real binary: stated, proved by runs, resolved, found again.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::{Home, Mcp};

use super::ghaps_hooks::starts;
use super::home;
use super::learned_hooks::falsified;

pub(super) const SESSION: &str = "s-1";

/// Parameters of a new ghap in a session.
pub(super) fn new(session: &str) -> Value {
    json!({
        "domain": "debugging",
        "strategy": "root-cause-analysis",
        "goal": "Find why the login test is flaky",
        "hypothesis": "The clock of the test host runs ahead",
        "action": "Freeze the clock in the login tests",
        "prediction": "The login tests pass with a frozen clock",
        "session_id": session,
    })
}

pub(super) fn confirmed(session: &str) -> Value {
    json!({ "status": "confirmed", "result": "It was the clock", "session_id": session })
}

fn with(mut params: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    params
}

/// The error in the text of a tool's result.
fn typed_error(agent: &mut Mcp, tool: &str, arguments: &Value) -> Value {
    let request = json!({ "name": tool, "arguments": arguments });
    let result = agent.request("tools/call", &request)["result"].clone();
    assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    let mut body: Value = serde_json::from_str(text).unwrap();
    assert_eq!(body.as_object().unwrap().len(), 1, "{text}");
    body["error"].take()
}

/// @ghap_life
#[test]
fn a_ghap_is_started_changed_resolved_and_found_as_an_experience() {
    let home = home();
    let _daemon = home.daemon();
    let started = home.call("start_ghap", &new(SESSION));
    let id = started["id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("ghap_") && id.len() == 27, "{id}");
    let active = |what: &str| {
        let active = home.call("get_active_ghap", &json!({ "session_id": SESSION }));
        assert_eq!(active["id"], id, "{what}: {active}");
        active
    };
    for unchanged in [
        json!({ "note": "It fails at midnight" }),
        json!({ "strategy": "read-the-error" }),
        json!({ "hypothesis": "The clock of the test host runs ahead" }),
    ] {
        let updated = home.call("update_ghap", &with(unchanged, &json!({ "session_id": SESSION })));
        assert_eq!((&updated["success"], &updated["iteration_count"]), (&json!(true), &json!(1)));
    }
    let change =
        json!({ "hypothesis": "Two \"tests\"\n<b>share</b> `one` user", "session_id": SESSION });
    assert_eq!(home.call("update_ghap", &change)["iteration_count"], 2);
    let now = active("changed");
    assert_eq!(now["history"][0]["hypothesis"], "The clock of the test host runs ahead");
    assert_eq!(now["notes"][0]["text"], "It fails at midnight");
    assert_eq!((&now["strategy"], &now["has_active"]), (&json!("read-the-error"), &json!(true)));
    assert_eq!(now["hypothesis"], change["hypothesis"]);
    let none_resolved = home.run(&["ghap", "list", "--project", "*"]).ok();
    assert!(none_resolved.contains("No resolved ghaps"), "{none_resolved}");
    assert!(none_resolved.contains("1 active ghap: "), "{none_resolved}");
    let resolved = home.call(
        "resolve_ghap",
        &json!({
            "status": "falsified", "result": "They still fail", "surprise": "The zebra is asleep",
            "root_cause": { "category": "test-isolation", "description": "Two quaggas share a user" },
            "lesson": { "what_worked": "A user for each okapi", "takeaway": "Never share users" },
            "session_id": SESSION,
        }),
    );
    assert_eq!((&resolved["id"], &resolved["confidence_tier"]), (&json!(id), &json!("silver")));
    let none = home.call("get_active_ghap", &json!({ "session_id": SESSION }));
    assert_eq!(none["has_active"], false, "{none}");
    for (axis, words) in [
        ("full", "flaky login"),
        ("surprise", "zebra"),
        ("root_cause", "quaggas"),
        ("full", "okapi"),
    ] {
        let query = json!({ "query": words, "axis": axis, "project": "*" });
        let found = home.call("search_experiences", &query);
        assert_eq!(
            (&found["count"], &found["results"][0]["id"]),
            (&json!(1), &json!(id)),
            "{words}"
        );
    }
    // Its goal is not on the axis of surprises.
    let query = json!({ "query": "flaky login", "axis": "surprise", "project": "*" });
    assert_eq!(home.call("search_experiences", &query)["count"], 0);
    let plain = home.call("search", &json!({ "query": "quaggas", "project": "*" }));
    assert_eq!(plain["results"][0]["obs_type"], "experience", "{plain}");
    let listed = home.call("list_ghap_entries", &json!({ "project": "*", "outcome": "falsified" }));
    assert_eq!((&listed["count"], &listed["results"][0]["id"]), (&json!(1), &json!(id)));
    for none in ["confirmed", "hypothesis"] {
        let listed = home.call("list_ghap_entries", &json!({ "project": "*", "outcome": none }));
        assert_eq!(listed["count"], 0, "{none}");
    }
    home.call("delete_ghap", &json!({ "ghap_id": id }));
    // The index has the stem of the word.
    assert!(!home.files().iter().any(|(_, bytes)| has(bytes, "quagga")), "nothing is left");
    let found = home.call("search_experiences", &json!({ "query": "quaggas", "project": "*" }));
    assert_eq!(found["count"], 0);
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

/// @ghap_in_search
#[test]
fn a_falsified_experience_is_marked_among_similar_records_and_as_an_entry() {
    let home = home();
    let _daemon = home.daemon();
    starts(&home, SESSION, "startup");
    falsified(&home, SESSION);
    let similar = json!({ "text": "Find why the login test is flaky", "project": "*" });
    let similar = home.call("find_similar", &similar);
    let note = "falsified: it was believed and is wrong";
    assert_eq!(similar["results"][0]["note"], note, "{similar}");
    let path = format!("obs://{}", similar["results"][0]["id"]);
    let entry = home.call("get", &json!({ "path": path }));
    assert_eq!(entry["entry"]["attributes"]["note"], note, "{entry}");
}

/// @ghap_one_active
#[test]
fn a_session_has_one_active_ghap_in_each_project() {
    let home = home();
    let _daemon = home.daemon();
    for name in ["web", "api"] {
        std::fs::create_dir_all(home.path(name)).unwrap();
    }
    let at = |dir: &str| json!({ "cwd": home.path(dir).to_str().unwrap() });
    let first = home.call("start_ghap", &with(new(SESSION), &at("web")));
    let second = home.call("start_ghap", &with(new(SESSION), &at("api")));
    let third = home.call("start_ghap", &with(new("s-2"), &at("web")));
    let ids: BTreeSet<&str> =
        [&first, &second, &third].iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 3);
    let error = home.daemon_error("start_ghap", &with(new(SESSION), &at("web")));
    assert_eq!(
        (&error["code"], &error["data"]["type"]),
        (&json!(40902), &json!("active_ghap_exists"))
    );
    assert!(error["message"].as_str().unwrap().contains(first["id"].as_str().unwrap()));
    let in_api = with(json!({ "session_id": SESSION }), &at("api"));
    assert_eq!(home.call("get_active_ghap", &in_api)["id"], second["id"]);
    home.call("resolve_ghap", &with(confirmed(SESSION), &at("api")));
    assert_eq!(home.call("get_active_ghap", &in_api)["has_active"], false);
    // Without a directory it is the one where the session began.
    let own = home.call("get_active_ghap", &json!({ "session_id": SESSION }));
    assert_eq!(own["id"], first["id"]);
}

/// @ghap_races
#[test]
fn of_ten_starts_and_ten_resolutions_at_once_one_succeeds() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    let token = home.token();
    let http = http.with("Authorization", &format!("Bearer {token}"));
    let at_once = |method: &str, params: &Value| {
        std::thread::scope(|scope| {
            let calls: Vec<_> = (0..10).map(|_| scope.spawn(|| http.rpc(method, params))).collect();
            calls.into_iter().map(|call| call.join().unwrap()).collect::<Vec<_>>()
        })
    };
    let started = at_once("start_ghap", &new(SESSION));
    assert_eq!(started.iter().filter(|answer| answer.is_ok()).count(), 1, "{started:?}");
    for error in started.iter().filter_map(|answer| answer.as_ref().err()) {
        assert_eq!(error["data"]["type"], "active_ghap_exists", "{error}");
    }
    let resolved = at_once("resolve_ghap", &confirmed(SESSION));
    assert_eq!(resolved.iter().filter(|answer| answer.is_ok()).count(), 1, "{resolved:?}");
    for error in resolved.iter().filter_map(|answer| answer.as_ref().err()) {
        assert_eq!(error["code"], 40401, "{error}");
    }
    let listed = home.call("list_ghap_entries", &json!({ "project": "*" }));
    assert_eq!(listed["count"], 1);
}

/// Bad parameters of a tool, with the type of the error and words of its message.
type BadCall = (&'static str, Value, &'static str, &'static str);

fn bad_calls() -> Vec<BadCall> {
    [bad_starts(), bad_updates(), bad_resolutions(), bad_reads()].concat()
}

fn bad_starts() -> Vec<BadCall> {
    let long = "x".repeat(1_001);
    let start = |more: &Value| with(new(SESSION), more);
    vec![
        ("start_ghap", start(&json!({ "domain": "cooking" })), "validation_error", "`debugging`"),
        ("start_ghap", start(&json!({ "strategy": "luck" })), "validation_error", "`ask-user`"),
        ("start_ghap", start(&json!({ "goal": "  \n" })), "validation_error", "`goal` is blank"),
        (
            "start_ghap",
            start(&json!({ "goal": long })),
            "validation_error",
            "1001 characters, more than 1000",
        ),
        ("start_ghap", start(&json!({ "goal": 7 })), "validation_error", "goal"),
        ("start_ghap", start(&json!({ "colour": 7 })), "validation_error", "colour"),
        ("start_ghap", start(&json!({ "cwd": "web" })), "validation_error", "absolute"),
        ("start_ghap", start(&json!({ "session_id": "a/b" })), "validation_error", "session"),
        (
            "start_ghap",
            start(&json!({ "action": "export AWS=AKIAIOSFODNN7EXAMPLQ" })),
            "secret_rejected",
            "action",
        ),
        ("start_ghap", json!([1]), "validation_error", "not an object"),
    ]
}

fn bad_updates() -> Vec<BadCall> {
    let longer = "ä".repeat(2_001);
    vec![
        ("update_ghap", json!({ "session_id": SESSION }), "validation_error", "no field"),
        (
            "update_ghap",
            json!({ "hypothesis": "", "session_id": SESSION }),
            "validation_error",
            "blank",
        ),
        (
            "update_ghap",
            json!({ "note": longer, "session_id": SESSION }),
            "validation_error",
            "2001 characters, more than 2000",
        ),
        ("update_ghap", json!({ "note": "x", "session_id": "s-9" }), "not_found", "no active ghap"),
    ]
}

fn bad_resolutions() -> Vec<BadCall> {
    let falsified = json!({ "status": "falsified", "result": "no", "session_id": SESSION });
    let cause = json!({ "category": "bad-luck", "description": "no" });
    vec![
        (
            "resolve_ghap",
            json!({ "status": "hypothesis", "result": "x" }),
            "validation_error",
            "`confirmed`",
        ),
        ("resolve_ghap", falsified.clone(), "validation_error", "surprise"),
        (
            "resolve_ghap",
            with(falsified.clone(), &json!({ "surprise": "x" })),
            "validation_error",
            "root_cause",
        ),
        (
            "resolve_ghap",
            with(falsified, &json!({ "root_cause": cause })),
            "validation_error",
            "`wrong-scope`",
        ),
        (
            "resolve_ghap",
            with(confirmed(SESSION), &json!({ "lesson": {} })),
            "validation_error",
            "what_worked",
        ),
        (
            "resolve_ghap",
            with(confirmed(SESSION), &json!({ "root_cause": 7 })),
            "validation_error",
            "`root_cause`: invalid type: integer `7`, expected an object",
        ),
        (
            "resolve_ghap",
            with(
                confirmed(SESSION),
                &json!({ "lesson": { "what_worked": "password = hunter2222" } }),
            ),
            "secret_rejected",
            "lesson",
        ),
        ("resolve_ghap", confirmed("s-9"), "not_found", "no active ghap"),
    ]
}

fn bad_reads() -> Vec<BadCall> {
    vec![
        ("delete_ghap", json!({ "ghap_id": "7" }), "validation_error", "ghap_id"),
        (
            "delete_ghap",
            json!({ "ghap_id": "ghap_20270112_091530_k3f9ab" }),
            "not_found",
            "ghap_20270112",
        ),
        ("list_ghap_entries", json!({ "outcome": "won" }), "validation_error", "`falsified`"),
        ("list_ghap_entries", json!({ "since": "soonish" }), "validation_error", "since"),
        (
            "search_experiences",
            json!({ "query": "x", "axis": "y" }),
            "validation_error",
            "`root_cause`",
        ),
        ("search_experiences", json!({}), "validation_error", "query"),
    ]
}

/// @ghap_errors
#[test]
fn bad_input_is_refused_alike_on_mcp_rpc_and_the_command_line_and_stores_nothing() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http().with("Authorization", &format!("Bearer {}", home.token()));
    let mut agent = home.serve();
    agent.initialize("2025-11-25");
    for (tool, params, kind, words) in bad_calls() {
        let error = typed_error(&mut agent, tool, &params);
        assert_eq!(error["type"], kind, "{tool} {params}: {error}");
        assert!(error["message"].as_str().unwrap().contains(words), "{tool} {params}: {error}");
        if params.is_array() {
            continue;
        }
        let code = match kind {
            "not_found" => vec![40401],
            "secret_rejected" => vec![40002],
            _ => vec![40001, 40003],
        };
        let refused = http.rpc(tool, &params).unwrap_err();
        assert!(code.contains(&refused["code"].as_i64().unwrap()), "{tool} {params}: {refused}");
        let run = home.run(&["call", tool, &params.to_string(), "--json"]);
        assert_eq!((run.code, &run.json()["error"]["code"]), (1, &refused["code"]), "{params}");
    }
    let all = |outcome: &str| {
        let listed = home.call("list_ghap_entries", &json!({ "project": "*", "outcome": outcome }));
        listed["count"].as_u64().unwrap()
    };
    assert_eq!((all("hypothesis"), all("confirmed"), all("falsified")), (0, 0, 0));
    for secret in ["AKIAIOSFODNN7EXAMPLQ", "hunter2222"] {
        let holder = home.files().into_iter().find(|(_, bytes)| has(bytes, secret));
        assert_eq!(holder.map(|(path, _)| path), None, "{secret}");
    }
}

/// @ghap_commands
#[test]
fn the_command_line_states_shows_and_resolves_a_ghap() {
    let home = home();
    let _daemon = home.daemon();
    let ghap = |args: &[&str]| home.run(&[&["ghap"], args].concat());
    let started = ghap(&[
        "start",
        "--domain",
        "debugging",
        "--strategy",
        "read-the-error",
        "--goal",
        "Mend the door",
        "--hypothesis",
        "The hinge is loose",
        "--action",
        "Turn the screw",
        "--prediction",
        "The door closes again",
        "--session",
        SESSION,
    ])
    .ok();
    assert!(started.starts_with("✔ started ghap_"), "{started}");
    let shown = ghap(&["--session", SESSION]).ok();
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].contains("  debugging, read-the-error, iteration 1, "), "{shown}");
    assert_eq!(lines[1], "  Goal        Mend the door");
    assert_eq!(lines[2], "  Hypothesis  The hinge is loose");
    assert!(shown.contains("  Prediction  The door closes again"), "{shown}");
    let updated = ghap(&["update", "--action", "Oil it", "--session", SESSION]).ok();
    assert!(updated.contains("iteration 2"), "{updated}");
    let long = format!("The end of {} is shown", "a long note ".repeat(30).trim_end());
    ghap(&["update", "--note", &long, "--session", SESSION]).ok();
    let whole = ghap(&["show", "active", "--session", SESSION]).ok();
    let words = whole.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&long), "{whole}");
    assert!(
        words.contains("Earlier iteration 1, until ") && words.contains("loose | Turn the screw |")
    );
    let resolved = ghap(&[
        "resolve",
        "falsified",
        "--result",
        "It squeaks",
        "--surprise",
        "No screw at all",
        "--cause-category",
        "wrong-assumption",
        "--cause-description",
        "It is a sliding door",
        "--lesson-what-worked",
        "Looking first",
        "--session",
        SESSION,
    ])
    .ok();
    assert!(
        resolved.starts_with("✔ falsified: ghap_") && resolved.contains("(silver)"),
        "{resolved}"
    );
    let status = home.run(&["status"]).ok();
    assert!(status.contains("learning:   0 active ghaps, 1 experience"), "{status}");
    let listed = ghap(&["list", "--project", "*"]).ok();
    assert!(listed.contains("falsified") && listed.contains("Mend the door"), "{listed}");
    let found = ghap(&["search", "sliding", "door", "--project", "*"]).ok();
    assert!(found.contains("Root cause  wrong-assumption: It is a sliding door"), "{found}");
    assert!(found.contains("Worked      Looking first"), "{found}");
    let run = ghap(&["search", "sliding", "door", "--project", "*"]);
    assert_eq!(run.stderr, "1 result for \"sliding door\"\n");
    let id = found.split_whitespace().next().unwrap().to_owned();
    assert_eq!(ghap(&["delete", &id]).ok(), format!("✔ deleted {id}\n"));
}

/// @ghap_commands
#[test]
fn without_an_orphan_the_hint_names_the_list_once_in_the_words_of_the_caller() {
    let home = home();
    let _daemon = home.daemon();
    let unknown = home.run(&["ghap", "--session", SESSION]);
    assert!(unknown.stderr.contains("Session not found"), "{unknown:?}");
    home.call("start_session", &json!({ "session_id": SESSION }));
    let none = home.run(&["ghap", "abandon", "--reason", "It is gone", "--session", SESSION]);
    assert!(none.stderr.contains("`rekindle ghap list --outcome hypothesis` lists"), "{none:?}");
    assert!(!none.stderr.contains("list_ghap_entries"), "{none:?}");
    let mut agent = home.serve();
    let gone = json!({ "reason": "It is gone", "session_id": SESSION });
    let told = typed_error(&mut agent, "abandon_orphaned_ghap", &gone);
    let hint = "`list_ghap_entries` with outcome `hypothesis` lists";
    assert!(told.to_string().contains(hint), "{told}");
}

/// The error of a call over the socket.
trait DaemonError {
    fn daemon_error(&self, op: &str, params: &Value) -> Value;
}

impl DaemonError for Home {
    fn daemon_error(&self, op: &str, params: &Value) -> Value {
        let run = self.run(&["call", op, &params.to_string(), "--json"]);
        assert_eq!(run.code, 1, "{run:?}");
        run.json()["error"].take()
    }
}

/// @ghap_in_search
#[test]
fn search_marks_a_hypothesis_that_is_wrong_or_not_proved() {
    let home = home();
    home.call("start_ghap", &new(SESSION));
    let search = |words: &str| {
        home.call("search", &json!({ "query": words, "project": "*" }))["results"][0].clone()
    };
    let goal = new(SESSION)["goal"].as_str().unwrap().to_owned();
    assert_eq!(search(&goal)["note"], "not proved yet");
    let end = json!({ "status": "falsified", "result": "no", "surprise": "It was dry",
        "root_cause": { "category": "oversight", "description": "The pump was off" }, "session_id": SESSION });
    home.call("resolve_ghap", &end);
    let hit = search(&goal);
    assert_eq!(hit["note"], "falsified: it was believed and is wrong", "{hit}");
    let printed = home.run(&["search", &goal, "--project", "*"]).ok();
    assert!(printed.contains("[falsified: it was believed and is wrong]"), "{printed}");
    let mut agent = home.serve_with(&["--tools", "all"]);
    agent.initialize("2025-11-25");
    for (tool, params) in [
        ("search", json!({ "query": goal, "project": "*" })),
        ("get_observations", json!({ "ids": [hit["id"]] })),
    ] {
        let answer = agent.request("tools/call", &json!({ "name": tool, "arguments": params }));
        assert!(answer.to_string().contains("falsified: it was believed"), "{tool}: {answer}");
    }
}
