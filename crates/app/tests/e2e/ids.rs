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
    for wrong in ["#", "#x", "hint://3"] {
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
    let commands: [&[&str]; 6] = [
        &["context", "get"],
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
