//! By id, around a record, along a session, along a file.

use model::Code;
use serde_json::{Value, json};

use super::{API, HOUR, WEB, World, code, texts};

const S: (&str, &str) = ("s-1", WEB);

/// @read_by_id
#[test]
fn records_are_read_once_each_in_the_requested_order_and_missing_ones_are_left_out() {
    let world = World::new();
    world.prompt(S, 3 * HOUR, "first question");
    world.command(S, 2 * HOUR, "second run");
    let (prompt, run) = (world.id("first question"), world.id("second run"));
    let ids = json!([run, 99_999, prompt, run]);
    let found = world.ask("get_observations", json!({ "ids": ids }));
    assert_eq!(texts(&found["results"]), ["second run", "first question"]);
    assert_eq!(found["results"][1]["obs_type"], "user_prompt");
    assert_eq!(found["results"][0]["prompt_id"], prompt);
    let none = world.ask("get_observations", json!({ "ids": [99_999] }));
    assert_eq!(none["results"], json!([]));
}

/// @read_by_id
#[test]
fn from_one_to_fifty_records_are_read_at_once() {
    let world = World::new();
    let error = world.call("get_observations", json!({ "ids": [] })).unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str()),
        (Code::Invalid, "ids array must not be empty")
    );
    let ids: Vec<i64> = (1..=51).collect();
    let error = world.call("get_observations", json!({ "ids": ids })).unwrap_err();
    assert_eq!(error.code, Code::Invalid);
    assert_eq!(error.message, "ids array must not exceed 50 elements");
    assert!(world.call("get_observations", json!({ "ids": ids[..50] })).is_ok());
}

/// @read_timeline
#[test]
fn a_timeline_has_prompts_and_answers() {
    let world = World::new();
    world.prompt(S, 5 * HOUR, "first question");
    world.command(S, 4 * HOUR, "make zebra");
    world.prompt(S, 3 * HOUR, "second question");
    world.prompt(("s-9", WEB), 3 * HOUR, "of another session");
    let anchor = world.id("make zebra");
    let found = world.ask("timeline", json!({ "anchor": anchor, "before": 1, "after": 1 }));
    assert_eq!(texts(&found["before"]), ["first question"]);
    assert_eq!(texts(&found["after"]), ["second question"]);
    assert_eq!(found["after"][0]["obs_type"], "user_prompt");
}

/// @read_timeline
#[test]
fn a_timeline_is_in_order_of_time_and_within_one_session() {
    let world = World::new();
    for number in 1..=9 {
        world.command(S, (10 - number) * HOUR, &format!("step {number}"));
        world.command(("s-2", WEB), (10 - number) * HOUR, &format!("other {number}"));
    }
    let anchor = world.id("step 5");
    let ask = |before: Value, after: Value| {
        let mut params = json!({ "anchor": anchor });
        if !before.is_null() {
            params["before"] = before;
        }
        if !after.is_null() {
            params["after"] = after;
        }
        let found = world.ask("timeline", params);
        assert_eq!(found["anchor"]["content"], "step 5");
        (texts(&found["before"]), texts(&found["after"]))
    };
    let steps = |range: std::ops::RangeInclusive<i32>| -> Vec<String> {
        range.map(|number| format!("step {number}")).collect()
    };
    assert_eq!(ask(json!(null), json!(null)), (steps(1..=4), steps(6..=9)));
    assert_eq!(ask(json!(2), json!(1)), (steps(3..=4), steps(6..=6)));
    assert_eq!(ask(json!(0), json!(0)), (vec![], vec![]));
    assert_eq!(ask(json!(-3), json!(1)), (vec![], steps(6..=6)));
    assert_eq!(ask(json!(9_999), json!(9_999)), (steps(1..=4), steps(6..=9)));
    let error = world.call("timeline", json!({ "anchor": 99_999 })).unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str()),
        (Code::NotFound, "anchor observation not found")
    );
}

/// @read_trace
#[test]
fn a_trace_groups_what_happened_by_the_prompt_that_caused_it() {
    let world = World::new();
    world.start(S, 9 * HOUR);
    world.prompt(S, 8 * HOUR, "first");
    world.command(S, 8 * HOUR, "one");
    // Within the same second as the first prompt.
    world.prompt(S, 8 * HOUR - 1, "second");
    world.command(S, 8 * HOUR - 2, "two");
    world.command(S, 7 * HOUR, "three");
    world.stop(S, 6 * HOUR);
    let trace = world.ask("session_trace", json!({ "session_id": "s-1" }));
    assert_eq!((&trace["project"], &trace["ended_at"]), (&json!("web"), &json!(null)));
    assert_eq!(trace["started_at"], (world.now - 9 * HOUR) / 1000);
    assert_eq!(trace["summary"]["intent"], "first");
    let groups: Vec<(Value, Value, Vec<String>)> = trace["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| {
            assert_eq!(group["observation_count"], group["observations"].as_array().unwrap().len());
            (group["source"].clone(), group["content"].clone(), texts(&group["observations"]))
        })
        .collect();
    let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        groups,
        [
            (json!("system"), json!(null), list(&["startup"])),
            (json!("user"), json!("first"), list(&["one"])),
            (json!("user"), json!("second"), list(&["two", "three"])),
        ]
    );
    assert_eq!(trace["prompts"][0]["prompt_id"], json!(null));
}

/// @read_trace
#[test]
fn a_trace_keeps_to_its_window_and_an_unknown_session_is_named() {
    let world = World::new();
    world.prompt(S, 8 * HOUR, "early");
    world.command(S, 4 * HOUR, "late");
    let at = |hours: i64| (world.now - hours * HOUR) / 1000;
    let trace = |params: Value| world.ask("session_trace", params)["prompts"].clone();
    let before = trace(json!({ "session_id": "s-1", "before": at(6) }));
    assert_eq!((&before[0]["content"], &before[0]["observations"]), (&json!("early"), &json!([])));
    let after = trace(json!({ "session_id": "s-1", "after": at(6) }));
    assert_eq!(
        (&after[0]["source"], &texts(&after[0]["observations"])[0][..]),
        (&json!("system"), "late")
    );
    assert_eq!(trace(json!({ "session_id": "s-1", "after": at(1) })), json!([]));
    let error = world.call("session_trace", json!({ "session_id": "s-9" })).unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (Code::NotFound, "Session not found: s-9"));
}

/// @read_file_history
#[test]
fn a_file_is_found_in_all_forms_of_its_path_with_the_words_behind_each_touch() {
    let world = World::new();
    world.prompt(S, 9 * HOUR, "repair the token of the login page");
    world.edit(S, 8 * HOUR, "/nowhere/web/src/auth.rs", "Edit src/auth.rs: ttl");
    world.stop(S, 7 * HOUR);
    world.read(("s-2", WEB), 6 * HOUR, "/nowhere/web/src/auth.rs");
    for (cwd, path) in [
        (None, "/nowhere/web/src/auth.rs"),
        (None, "auth.rs"),
        (None, "src/auth.rs"),
        (Some(WEB), "src/auth.rs"),
        (Some("/nowhere/web/src/deep"), "../auth.rs"),
    ] {
        let params = json!({ "file_path": path, "project": "web" });
        let history = world.call_from(cwd, "file_history", params).unwrap();
        let sessions: Vec<&str> = history["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["session_id"].as_str().unwrap())
            .collect();
        assert_eq!(sessions, ["s-2", "s-1"], "{path} from {cwd:?}");
        let first = &history["sessions"][1];
        assert_eq!(first["summary_intent"], "repair the token of the login page");
        let touch = &first["touches"][0];
        assert_eq!(touch["prompt_content"], "repair the token of the login page");
        assert_eq!((&touch["obs_type"], &touch["is_pinned"]), (&json!("file_edit"), &json!(false)));
        assert_eq!(history["sessions"][0]["touches"][0]["prompt_content"], json!(null));
        assert_eq!(history["file_path"], path);
    }
    let none = world.ask("file_history", json!({ "file_path": "nothing.rs" }));
    assert_eq!(none["sessions"], json!([]));
    assert_eq!(code(world.call("file_history", json!({ "file_path": " " }))), Code::Invalid);
}

/// @read_file_history
#[test]
fn the_history_of_a_renamed_file_names_its_earlier_names_and_their_records() {
    let world = World::new();
    world.edit(S, 9 * HOUR, "/nowhere/web/src/first.py", "Edit src/first.py: a");
    world.command(S, 8 * HOUR, "git mv src/first.py src/old.py");
    world.edit(("s-2", WEB), 7 * HOUR, "/nowhere/web/src/old.py", "Edit src/old.py: b");
    world.command(("s-2", WEB), 6 * HOUR, "git mv src/old.py src/util.py && git status");
    world.edit(("s-3", WEB), 5 * HOUR, "/nowhere/web/src/util.py", "Edit src/util.py: c");
    let history = world.ask("file_history", json!({ "file_path": "util.py" }));
    let names: Vec<&str> = history["earlier_names"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["file_path"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["src/old.py", "src/first.py"], "{history}");
    let sessions = history["sessions"].as_array().unwrap().iter();
    let sessions: Vec<&str> = sessions.map(|one| one["session_id"].as_str().unwrap()).collect();
    assert_eq!(sessions, ["s-3", "s-2", "s-1"], "{history}");
    let shown = world.shown("file_history", json!({ "file_path": "util.py" }));
    assert!(shown.contains("it was src/old.py."), "{shown}");
    let other = world.ask("file_history", json!({ "file_path": "first.py" }));
    assert!(other["earlier_names"].is_null(), "{other}");
}

/// @read_file_history
#[test]
fn a_name_that_very_many_files_have_finds_those_of_the_project() {
    let world = World::new();
    world.edit(S, 9 * HOUR, "/nowhere/web/src/old/mod.rs", "Edit src/old/mod.rs: web");
    for number in 0..150 {
        let path = format!("/nowhere/api/m{number}/mod.rs");
        world.edit(("s-2", API), HOUR, &path, "Edit: api");
    }
    for params in [
        json!({ "file_path": "mod.rs", "project": "web" }),
        json!({ "file_path": "old/mod.rs", "project": "*" }),
    ] {
        let history = world.ask("file_history", params.clone());
        let touches = texts(&history["sessions"][0]["touches"]);
        assert_eq!(touches, ["Edit src/old/mod.rs: web"], "{params}");
    }
    let found = json!({ "query": "edit", "file_path": "mod.rs", "project": "web" });
    assert_eq!(world.found(found), ["Edit src/old/mod.rs: web"]);
    let before = (world.now - 5 * HOUR) / 1000;
    let all = json!({ "file_path": "mod.rs", "project": "*", "before": before });
    let history = world.ask("file_history", all);
    assert_eq!(texts(&history["sessions"][0]["touches"]), ["Edit src/old/mod.rs: web"]);
}

/// @search_filters @read_file_history
#[test]
fn a_file_of_another_project_is_meant_when_that_is_named_though_there_is_one_here() {
    let world = World::new();
    world.edit(S, HOUR, "/nowhere/web/src/m.rs", "Edit src/m.rs: ibex of web");
    world.edit(("s-2", API), HOUR, "/nowhere/api/src/m.rs", "Edit src/m.rs: ibex of api");
    let table = [
        (json!("api"), vec!["Edit src/m.rs: ibex of api"]),
        (json!("web"), vec!["Edit src/m.rs: ibex of web"]),
        (Value::Null, vec!["Edit src/m.rs: ibex of web"]),
    ];
    for (project, expected) in table {
        let mut params = json!({ "query": "ibex", "file_path": "src/m.rs" });
        if !project.is_null() {
            params["project"] = project;
        }
        let found = world.call_from(Some("/nowhere/web"), "search", params.clone()).unwrap();
        let found: Vec<&str> = found["results"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|hit| hit["content_preview"].as_str())
            .collect();
        assert_eq!(found, expected, "{params}");
    }
}

/// @read_file_history
#[test]
fn a_history_goes_on_when_the_project_has_another_root() {
    let world = World::new();
    world.edit(S, 9 * HOUR, "/nowhere/web/src/q.rs", "Edit src/q.rs: before");
    world.ask("alias_project", json!({ "project": "web", "alias": "/nowhere/moved" }));
    world.edit(("s-2", "/nowhere/moved"), HOUR, "/nowhere/moved/src/q.rs", "Edit src/q.rs: after");
    for path in ["src/q.rs", "/nowhere/moved/src/q.rs", "/nowhere/web/src/q.rs"] {
        let params = json!({ "file_path": path, "project": "web" });
        let history = world.call_from(Some("/nowhere/moved"), "file_history", params).unwrap();
        let sessions = history["sessions"].as_array().unwrap();
        let touches: Vec<String> =
            sessions.iter().flat_map(|session| texts(&session["touches"])).collect();
        assert_eq!(touches, ["Edit src/q.rs: after", "Edit src/q.rs: before"], "{path}");
    }
}

/// @read_file_history
#[test]
fn the_limit_of_a_history_counts_touches_and_reads_can_be_left_out() {
    let world = World::new();
    let path = "/nowhere/api/a.rs";
    for number in 0..70 {
        world.edit((&format!("s-{}", number % 2), API), number * HOUR, path, &format!("e{number}"));
    }
    world.read(("s-reader", API), 0, path);
    let touches = |mut params: Value| -> Vec<String> {
        params["file_path"] = path.into();
        let history = world.ask("file_history", params);
        let sessions = history["sessions"].as_array().unwrap();
        sessions.iter().flat_map(|session| texts(&session["touches"])).collect()
    };
    assert_eq!(touches(json!({})).len(), 10);
    assert_eq!(touches(json!({ "limit": 1_000 })).len(), 50);
    assert_eq!(touches(json!({ "limit": 1 })), [path]);
    assert_eq!(touches(json!({ "limit": -1 })), [path]);
    assert_eq!(touches(json!({ "limit": 1, "interventions_only": true })), ["e0"]);
    let at = |hours: i64| (world.now - hours * HOUR) / 1000;
    assert_eq!(touches(json!({ "after": at(3), "before": at(1) })), ["e2"]);
}

/// @read_sessions
#[test]
fn actions_are_counted_before_the_turn_ends() {
    let world = World::new();
    world.start(S, 2 * HOUR);
    world.command(S, HOUR, "make");
    world.command(S, 0, "make test");
    let listed = world.ask("list_sessions", json!({}));
    assert_eq!(listed["sessions"][0]["actions"], 2);
}

/// @read_sessions
#[test]
fn sessions_and_summaries_are_listed_with_the_last_active_first() {
    let world = World::new();
    for (number, session) in ["s-a", "s-b", "s-c"].into_iter().enumerate() {
        let ago = (9 - i64::try_from(number).unwrap()) * HOUR;
        let at = (session, WEB);
        world.prompt(at, ago, &format!("the intent of session {session} in words"));
        world.command(at, ago - 1, "make");
        if session != "s-b" {
            world.stop(at, ago - 2);
        }
    }
    let summaries = world.ask("session_summaries", json!({}));
    let results = summaries["results"].as_array().unwrap();
    assert_eq!(results.len(), 2, "a session that never rested has no summary yet");
    assert_eq!(results[0]["session_id"], "s-c");
    assert_eq!(results[0]["summary"]["intent"], "the intent of session s-c in words");
    for (op, list) in [("session_summaries", "results"), ("list_sessions", "sessions")] {
        let least = world.ask(op, json!({ "limit": -1 }));
        assert_eq!(least[list].as_array().unwrap().len(), 1, "{op}");
    }
    let sessions = world.ask("list_sessions", json!({ "limit": 2 }));
    let names: Vec<&Value> =
        sessions["sessions"].as_array().unwrap().iter().map(|one| &one["session_id"]).collect();
    assert_eq!(names, ["s-c", "s-b"]);
    assert_eq!(
        (&sessions["sessions"][0]["state"], &sessions["sessions"][0]["actions"]),
        (&json!("idle"), &json!(1))
    );
    assert_eq!(sessions["sessions"][1]["state"], "active");
}

/// @read_sessions
#[test]
fn a_summary_joins_the_intent_with_its_own_answer_and_names_the_last_answer_as_such() {
    let world = World::new();
    let s = ("s-1", WEB);
    world.prompt(s, 9 * HOUR, "repair the rounding of the cart totals");
    world.command(s, 9 * HOUR - 1, "make");
    world.answer(s, 8 * HOUR, "The cart rounds each total once.");
    let shown = world.shown("session_summaries", json!({}));
    assert!(shown.contains("\n    last answer: The cart rounds each total once."), "{shown}");
    assert!(!shown.contains("    answer: "), "said once: {shown}");
    world.prompt(s, 7 * HOUR, "how many invoices are overdue?");
    world.answer(s, 6 * HOUR, "Three invoices are overdue.");
    let summaries = world.ask("session_summaries", json!({}));
    assert_eq!(summaries["results"][0]["answer"], "The cart rounds each total once.");
    let shown = world.shown("session_summaries", json!({}));
    let lines = "  repair the rounding of the cart totals\n    answer: The cart rounds each total \
                 once.\n    last prompt: how many invoices are overdue?\n    last answer: Three invoices are \
                 overdue.";
    assert!(shown.contains(lines), "{shown}");
}

/// @read_sessions
#[test]
fn a_summary_of_an_unanswered_intent_names_the_prompt_of_its_last_answer() {
    let world = World::new();
    let s = ("s-1", WEB);
    world.prompt(s, 9 * HOUR, "why does the nightly export time out?");
    world.command(s, 9 * HOUR - 1, "make export");
    world.prompt(s, 7 * HOUR, "put the index of the orders back");
    world.answer(s, 6 * HOUR, "The index is back in migration 0057.");
    let shown = world.shown("session_summaries", json!({}));
    let lines = "  why does the nightly export time out?\n    last prompt: put the index of the orders \
                 back\n    last answer: The index is back in migration 0057.";
    assert!(shown.contains(lines), "{shown}");
}

/// @read_unknown_parameters
#[test]
fn an_unknown_parameter_is_refused_everywhere() {
    let world = World::new();
    for (op, params) in [
        ("get_observations", json!({ "ids": [1], "typo": 1 })),
        ("timeline", json!({ "anchor": 1, "typo": 1 })),
        ("recent_context", json!({ "typo": 1 })),
        ("session_trace", json!({ "session_id": "s", "typo": 1 })),
        ("file_history", json!({ "file_path": "a", "typo": 1 })),
        ("session_summaries", json!({ "typo": 1 })),
        ("list_sessions", json!({ "typo": 1 })),
    ] {
        assert_eq!(code(world.call(op, params)), Code::Invalid, "{op}");
    }
}
