//! Ids of records and sessions, in every form in which we print them.

use serde_json::{Value, json};
use testkit::Home;

use super::home;

const FIRST: &str = "7c1a90d2-0000-4000-8000-000000000001";
const SECOND: &str = "7c1a90ff-0000-4000-8000-000000000002";

/// A home with two sessions whose ids begin alike, each with one prompt.
fn two_sessions() -> Home {
    let home = home();
    for (session, prompt) in [(FIRST, "tame the zebrafish"), (SECOND, "feed the quokka")] {
        let payload = json!({ "session_id": session, "cwd": "/srv/app", "prompt": prompt });
        home.call("hook", &json!({ "event": "UserPromptSubmit", "payload": payload }));
    }
    home
}

fn id_of(home: &Home, word: &str) -> String {
    home.run(&["search", word, "--project", "*", "--ids"]).ok().trim().to_owned()
}

/// @ids_as_printed
#[test]
fn a_record_is_named_by_its_number_with_a_hash_or_by_its_path() {
    let home = two_sessions();
    let id = id_of(&home, "zebrafish");
    for written in [id.clone(), format!("#{id}"), format!("obs://{id}")] {
        let shown = home.run(&["show", &written]).ok();
        assert!(shown.contains("tame the zebrafish"), "{written}: {shown}");
        let around = home.run(&["timeline", &written]).ok();
        assert!(around.contains("tame the zebrafish"), "{written}: {around}");
        assert!(home.run(&["pin", &written]).ok().contains(&format!("#{id}")), "{written}");
    }
    let counted = home.run(&["purge", "--id", &format!("#{id}"), "--json"]).ok();
    assert_eq!(serde_json::from_str::<Value>(&counted).unwrap()["prompts"], 1, "{counted}");
    let mut agent = home.serve();
    agent.initialize("2025-11-25");
    let read = agent.call("get_observations", &json!({ "ids": [format!("#{id}")] })).unwrap();
    assert_eq!(read["results"][0]["content"], "tame the zebrafish");
    for wrong in ["#", "#x", "ftp://3"] {
        let failed = home.run(&["show", wrong]);
        assert_ne!(failed.code, 0, "{wrong}");
        assert!(failed.stderr.contains("is not the id of a record"), "{wrong}: {failed:?}");
    }
    let limit = home.run(&["search", "zebrafish", "--limit", "#5"]);
    assert_ne!(limit.code, 0, "only ids are written with a hash: {limit:?}");
}

/// @session_prefixes
#[test]
fn a_session_is_named_by_six_or_more_of_its_first_characters() {
    let home = two_sessions();
    for written in [FIRST.to_owned(), FIRST[..8].to_owned(), format!("session://{FIRST}")] {
        let traced = home.run(&["trace", &written]).ok();
        assert!(traced.contains("tame the zebrafish"), "{written}: {traced}");
        let found = home.run(&["search", "the", "--project", "*", "--session", &written]).ok();
        assert!(found.contains("zebrafish") && !found.contains("quokka"), "{written}: {found}");
    }
    let ambiguous = home.run(&["trace", &FIRST[..6]]);
    assert_eq!(ambiguous.code, 1, "{ambiguous:?}");
    for session in [FIRST, SECOND] {
        assert!(ambiguous.stderr.contains(session), "the candidates are listed: {ambiguous:?}");
    }
    for unknown in [&FIRST[..5], "7c1b90d2", "7c1a90%", "______"] {
        let failed = home.run(&["trace", unknown]);
        assert!(failed.stderr.contains("Session not found"), "{unknown}: {failed:?}");
    }
}

/// @session_prefixes
#[test]
fn a_reading_command_refuses_a_session_that_is_not_known() {
    let home = two_sessions();
    let commands: [&[&str]; 5] = [
        &["ghap"],
        &["ghap", "list"],
        &["fixes"],
        &["recall", "zebrafish"],
        &["premortem", "debugging"],
    ];
    for command in commands {
        for unknown in ["deadbeef", &FIRST[..5]] {
            let failed = home.run(&[command, &["--session", unknown]].concat());
            let not_found = format!("Session not found: {unknown}");
            assert_eq!(failed.code, 1, "{command:?}: {failed:?}");
            assert!(failed.stderr.contains(&not_found), "{command:?}: {failed:?}");
        }
        home.run(&[command, &["--session", &FIRST[..8]]].concat()).ok();
    }
    let short = home.run(&["sessions", "show", &FIRST[..5]]);
    assert!(short.stderr.contains("at least 6 characters"), "{short:?}");
}

/// @session_prefixes
#[test]
fn an_ambiguous_prefix_says_how_many_sessions_it_has_and_what_the_newest_are() {
    let home = home();
    for number in 0..7 {
        let payload = json!({
            "session_id": format!("abcdef12-{number}"), "cwd": "/srv/app",
            "prompt": format!("task number {number}"),
        });
        home.call("hook", &json!({ "event": "UserPromptSubmit", "payload": payload }));
    }
    let failed = home.run(&["trace", "abcdef"]);
    assert_eq!(failed.code, 1);
    for part in ["the ids of 7 sessions begin with 'abcdef'", "abcdef12-6 (20", "; and 2 more."] {
        assert!(failed.stderr.contains(part), "{part}: {failed:?}");
    }
}

/// @unknown_id_as_json
#[test]
fn an_unknown_id_is_an_error_object_with_json() {
    let home = two_sessions();
    let failed = home.run(&["show", "99999", "--json"]);
    assert_ne!(failed.code, 0);
    let printed: Value = serde_json::from_str(&failed.stdout).unwrap();
    assert_eq!(printed["error"]["message"], "there is no #99999", "{printed}");
    assert_eq!(failed.stderr, "");
}

/// @ids_as_printed
#[test]
fn an_entry_is_read_and_compared_by_the_id_of_its_record() {
    let home = two_sessions();
    let id = id_of(&home, "zebrafish");
    home.run(&["context", "set", "ports", "8080", "--session", FIRST]).ok();
    for written in [id.clone(), format!("#{id}")] {
        assert!(home.run(&["get", &written]).ok().contains("tame the zebrafish"), "{written}");
        for args in [&["similar", &written] as &[&str], &["similar", "--path", &written]] {
            let found = home.run(&[args, &["--project", "*"]].concat()).ok();
            assert!(!found.contains("tame the zebrafish"), "it is compared with others: {found}");
        }
    }
    let sets = home.run(&["get", &format!("context://{}", &FIRST[..8])]).ok();
    assert!(sets.contains("8080"), "{sets}");
    let unknown = home.run(&["get", "hnt://web/build"]);
    assert!(unknown.stderr.contains("Did you mean hint://?"), "{unknown:?}");
}

/// @session_prefixes
#[test]
fn every_printed_session_id_names_one_session() {
    let home = home();
    for last in [1, 2] {
        let payload = json!({
            "session_id": format!("5f2c9a10-aaaa-{last}"), "cwd": "/srv/app",
            "prompt": format!("rearrange the aquarium {last}"),
        });
        home.call("hook", &json!({ "event": "UserPromptSubmit", "payload": payload }));
    }
    let last_word = |text: &str| text.split_whitespace().last().unwrap_or_default().to_owned();
    let listed = home.run(&["sessions", "--project", "*", "--limit", "1"]).ok();
    let row = listed.lines().nth(1).unwrap();
    let hit = ["search", "aquarium", "--project", "*", "--limit", "1", "--columns", "session"];
    for id in [row.split(' ').next().unwrap().to_owned(), last_word(&home.run(&hit).ok())] {
        assert!(id.starts_with("5f2c9a10-aaaa-"), "{id}: {listed}");
        home.run(&["trace", &id]).ok();
    }
}

/// @unknown_id_as_json
#[test]
fn json_has_the_error_alone_or_the_result_alone() {
    let home = two_sessions();
    for args in [&["show", "99999"] as &[&str], &["sessions", "delete", FIRST]] {
        let printed = home.run(&[args, &["--json"]].concat()).json();
        let members: Vec<&String> = printed.as_object().unwrap().keys().collect();
        assert_eq!(members, ["error"], "{printed}");
    }
    let reduced = home.run(&["search", "zebrafish", "--project", "*", "--limit", "500", "--json"]);
    assert_eq!(reduced.stderr, "--limit 500 was reduced to 100, the maximum\n");
    assert!(reduced.json()["error"].is_null());
}

/// Two sessions, one with the other's id as its prefix, of which the shorter was deleted without its records.
fn deleted_beside(home: &Home, daemon: &testkit::Daemon) {
    for session in ["worker-7", "worker-77"] {
        let payload =
            json!({ "session_id": session, "cwd": "/srv/app", "prompt": "sort the parcels" });
        home.call("hook", &json!({ "event": "UserPromptSubmit", "payload": payload }));
    }
    let gone = daemon.http().send("DELETE", "/api/sessions/worker-7?keepObservations=true", b"");
    assert_eq!(gone.status, 200, "{}", gone.text());
}

/// @session_ids_whole
#[test]
fn the_id_of_a_deleted_session_selects_no_other_session_at_its_path() {
    let home = home();
    let daemon = home.daemon();
    deleted_beside(&home, &daemon);
    let http = daemon.http();
    for (method, path, body) in [
        ("GET", "/api/sessions/worker-7", ""),
        ("DELETE", "/api/sessions/worker-7", ""),
        ("PATCH", "/api/sessions/worker-7", r#"{"name":"Mail"}"#),
        ("POST", "/api/sessions/worker-7/observe", "{}"),
    ] {
        let answer = http.send(method, path, body.as_bytes());
        let error = json!({ "error": "Session not found: worker-7", "code": "not_found" });
        assert_eq!((answer.status, answer.json()), (404, error), "{method} {path}");
    }
    let kept = http.get("/api/sessions/worker-77").json();
    assert_eq!((&kept["sessionId"], &kept["meta"]["name"]), (&json!("worker-77"), &json!("")));
}

/// @session_ids_whole
#[test]
fn the_id_of_a_deleted_session_selects_no_other_session_in_a_call_or_a_tool() {
    let home = home();
    let daemon = home.daemon();
    deleted_beside(&home, &daemon);
    let session = json!({ "session_id": "worker-7" });
    let with = |more: Value| {
        let mut params = session.clone();
        params.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        params
    };
    let ports = json!({ "setName": "ports", "items": ["80"], "session_id": "worker-77" });
    daemon.http().rpc("set_relevant_context", &ports).unwrap();
    let calls = [
        ("delete_session", with(json!({ "confirm": true }))),
        ("get_session", session.clone()),
        ("update_session", with(json!({ "name": "Mail" }))),
        ("observe_session", session.clone()),
        ("resume_session", session.clone()),
        ("clear_context", with(json!({ "all": true }))),
        ("copy_context", json!({ "from": "worker-7", "session_id": "worker-77" })),
        ("handoff", session.clone()),
        ("session_trace", session.clone()),
        ("receipts", session.clone()),
    ];
    for (op, params) in calls {
        let error = daemon.http().rpc(op, &params).unwrap_err();
        assert_eq!(error["message"], "Session not found: worker-7", "{op}: {error}");
    }
    let mut agent = home.serve();
    agent.initialize("2025-11-25");
    for uri in ["session://worker-7", "context://worker-7/ports"] {
        let read = agent.request("resources/read", &json!({ "uri": uri }));
        assert!(read.to_string().contains("Session not found: worker-7"), "{uri}: {read}");
    }
    // Its own records stayed, and a purge by its id reaches them alone.
    let purged = daemon.http().rpc("purge", &with(json!({ "confirm": true }))).unwrap();
    assert_eq!(purged["prompts"], 1, "{purged}");
    assert!(daemon.http().rpc("purge", &with(json!({ "confirm": true }))).is_err());
    assert!(home.run(&["trace", "worker-77"]).ok().contains("sort the parcels"));
}

/// @session_prefix_deletes_nothing
#[test]
fn a_deletion_by_a_prefix_names_the_session_and_deletes_nothing() {
    let home = home();
    let daemon = home.daemon();
    deleted_beside(&home, &daemon);
    home.run(&["purge", "--session", "worker-7", "--confirm"]).ok();
    let commands: [&[&str]; 2] = [
        &["sessions", "delete", "worker-7", "--yes"],
        &["purge", "--session", "worker-7", "--confirm"],
    ];
    for command in commands {
        let refused = home.run(command);
        assert_eq!(refused.code, 1, "{refused:?}");
        let why = "nothing was deleted: 'worker-7' is only a prefix of the id worker-77";
        assert!(refused.stderr.contains(why), "{refused:?}");
    }
    assert!(home.run(&["trace", "worker-77"]).ok().contains("sort the parcels"));
    home.run(&["sessions", "delete", "worker-77", "--yes"]).ok();
}
