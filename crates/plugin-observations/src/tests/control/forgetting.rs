//! Purge: deletes the records that match all filters for good, and no others.

use model::{CallId, Caller, Code, Request, Road as _, Tier};
use serde_json::{Value, json};

use super::super::reading::{API, DAY, HOUR, WEB, World, code};
use super::files_hold;

const S: (&str, &str) = ("s-1", WEB);

/// Observations, prompts and sessions that a purge names.
fn counts(answer: &Value) -> (u64, u64, u64) {
    let number = |name: &str| answer[name].as_u64().unwrap();
    (number("observations"), number("prompts"), number("sessions"))
}

/// Counts of a dry run and of the purge after it, which have to agree.
fn purge(world: &World, filter: Value) -> (u64, u64, u64) {
    let planned = world.ask("purge", filter.clone());
    assert_eq!(planned["purged"], false);
    let mut act = filter;
    act["confirm"] = true.into();
    let done = world.ask("purge", act.clone());
    assert_eq!(done["purged"], true);
    assert_eq!(done["samples"], json!([]), "what is gone is not told");
    assert_eq!(counts(&planned), counts(&done));
    assert_eq!(counts(&world.ask("purge", act)), (0, 0, 0), "a purge of nothing changes nothing");
    counts(&done)
}

/// @purge_wants_a_filter
#[test]
fn without_a_filter_nothing_is_purged() {
    let world = World::new();
    world.command(S, HOUR, "make");
    for params in [
        json!({}),
        json!({ "confirm": true }),
        json!({ "project": "*", "confirm": true }),
        json!({ "project": null, "confirm": true }),
    ] {
        let error = world.call("purge", params.clone()).unwrap_err();
        assert_eq!(error.code, Code::Invalid, "{params}");
        assert!(error.hint.unwrap().contains("older_than"));
    }
    assert_eq!(world.found(json!({ "query": "make" })), ["make"]);
}

/// @purge_dry_run
#[test]
fn without_confirm_a_purge_counts_and_shows_the_newest_five() {
    let world = World::new();
    world.prompt(S, 3 * HOUR, "run it\nseven times");
    for number in 1..=7 {
        world.command(S, 2 * HOUR - number, &format!("run {number}"));
    }
    let planned = world.ask("purge", json!({ "session_id": "s-1" }));
    assert_eq!(counts(&planned), (7, 1, 1));
    let shown: Vec<&str> = planned["samples"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sample| sample["content_preview"].as_str().unwrap())
        .collect();
    assert_eq!(shown, ["run 7", "run 6", "run 5", "run 4", "run 3"]);
    let text = world.shown("purge", json!({ "session_id": "s-1" }));
    assert!(text.starts_with("would purge 7 observations, 1 prompt, 1 session\n"), "{text}");
    assert!(text.ends_with("--confirm does it."), "{text}");
    assert_eq!(world.found(json!({ "query": "run", "diverse": false })).len(), 8);
}

/// @purge_filters_hold_together
#[test]
fn all_filters_have_to_hold() {
    let world = World::new();
    for (session, cwd) in [("s-web", WEB), ("s-api", API)] {
        world.prompt((session, cwd), 5 * DAY, "tell me about the pelican");
        world.edit((session, cwd), 4 * DAY, "/x/old.rs", "old pelican");
        world.command((session, cwd), 3 * DAY, "pelican --version");
        world.edit((session, cwd), HOUR, "/x/new.rs", "new pelican");
    }
    let filter = json!({
        "search": "pelican", "project": "web", "obs_type": "file_edit", "older_than": 2,
    });
    assert_eq!(purge(&world, filter), (1, 0, 0));
    let left = world.found(json!({ "query": "\"old pelican\"", "diverse": false }));
    assert_eq!(left, ["old pelican"], "that of the other project");
    let before = world.now / 1000 - 60;
    let both = json!({ "session_id": "s-api", "before": before, "obs_type": "user_prompt" });
    assert_eq!(purge(&world, both), (0, 1, 0));
    let id = world.id("pelican --version");
    let neither = json!({ "ids": [id], "search": "walrus" });
    assert_eq!(purge(&world, neither), (0, 0, 0));
}

/// @purge_by_words
#[test]
fn a_search_takes_whole_words_and_all_of_them() {
    let world = World::new();
    world.command(S, 3 * HOUR, "alpha beta");
    world.command(S, 2 * HOUR, "alpha gamma");
    world.command(S, HOUR, "alphabet");
    let planned = |search: &str| counts(&world.ask("purge", json!({ "search": search }))).0;
    assert_eq!(planned("alpha beta"), 1);
    assert_eq!(planned("alpha"), 2);
    assert_eq!(planned("alph"), 0, "a beginning is not a word");
    assert_eq!(planned("beta OR gamma"), 2);
    assert_eq!(planned("alpha NOT beta"), 1);
    for nothing in ["", "...", "\"", "zebra"] {
        assert_eq!(planned(nothing), 0, "{nothing}");
    }
    for beginning in ["alph*", "\"alph\"*", "alpha NOT bet*", "NEAR(alpha bet*)"] {
        let error = world.call("purge", json!({ "search": beginning })).unwrap_err();
        assert_eq!((error.code, &error.details["param"]), (Code::Invalid, &json!("search")));
    }
    assert_eq!(planned("alpha *.beta"), 1, "a star that is no operator is no word");
    let long: Vec<String> = (0..70).map(|number| format!("word{number}")).collect();
    let error = world.call("purge", json!({ "search": long.join(" ") })).unwrap_err();
    assert_eq!((error.code, &error.details["max"]), (Code::Invalid, &json!(63)));
}

/// @purge_leaves_no_trace
#[test]
fn purged_text_is_in_no_file_of_the_store() {
    let world = World::new();
    let word = "zanzibarquux";
    for number in 0..50 {
        world.command(S, 5 * HOUR - number, &format!("filler {number}"));
    }
    world.prompt(S, 4 * HOUR, &format!("the word is {word} and it must not stay"));
    world.edit(S, 3 * HOUR, &format!("/w/{word}.rs"), &format!("Edit {word}"));
    world.ask("mark", json!({ "text": format!("remember {word}"), "project": "web" }));
    world.stop(S, 2 * HOUR);
    // A new session gets a briefing, so that there is a receipt.
    let payload = json!({ "session_id": "s-2", "cwd": WEB, "source": "startup" });
    let told = world.ask("hook", json!({ "event": "SessionStart", "payload": payload }));
    assert!(told["context"].as_str().unwrap().contains(word), "{told}");
    assert!(files_hold(&world, word));
    assert_eq!(purge(&world, json!({ "search": word })), (2, 1, 1));
    assert!(!files_hold(&world, word));
    assert_eq!(world.found(json!({ "query": word })), [""; 0]);
    let summaries = world.ask("session_summaries", json!({}));
    assert!(!summaries.to_string().contains(word), "{summaries}");
    assert_eq!(world.found(json!({ "query": "filler", "limit": 100, "diverse": false })).len(), 50);
}

/// @purge_ignores_pins
#[test]
fn a_pin_does_not_protect_from_a_purge() {
    let world = World::new();
    world.command(S, HOUR, "pinned deed");
    let id = world.id("pinned deed");
    world.ask("pin_observation", json!({ "id": id }));
    assert_eq!(purge(&world, json!({ "ids": [id] })), (1, 0, 1));
}

#[test]
fn unknown_names_and_invalid_filters_are_refused_and_unknown_ids_match_nothing() {
    let world = World::new();
    world.command(S, HOUR, "make");
    assert_eq!(code(world.call("purge", json!({ "project": "nobody" }))), Code::NotFound);
    assert_eq!(code(world.call("purge", json!({ "session_id": "nobody" }))), Code::NotFound);
    assert_eq!(purge(&world, json!({ "ids": [9_999, -1] })), (0, 0, 0));
    assert_eq!(purge(&world, json!({ "ids": [] })), (0, 0, 0));
    for hostile in [
        json!({ "older_than": -1 }),
        json!({ "older_than": 1e300 }),
        json!({ "ids": "1" }),
        json!({ "ids": [1.5] }),
        json!({ "obs_type": "everything" }),
        json!({ "before": "soon" }),
        json!({ "confirm": "yes", "ids": [1] }),
        json!({ "everything": true }),
        json!([]),
    ] {
        assert_eq!(code(world.call("purge", hostile.clone())), Code::Invalid, "{hostile}");
    }
    let far = json!({ "older_than": u32::MAX });
    assert_eq!(purge(&world, far), (0, 0, 0));
    assert_eq!(world.found(json!({ "query": "make" })), ["make"]);
}

/// @purge_of_a_project
#[test]
fn a_purged_project_leaves_no_name_no_root_and_no_path_of_its_own_behind() {
    let world = World::new();
    let gone = ("s-1", "/nowhere/aardwolf");
    for at in [gone, ("s-2", API)] {
        world.edit(at, HOUR, "/nowhere/shared.rs", "Edit shared.rs: numbat");
    }
    world.edit(gone, HOUR, "/nowhere/aardwolf/src/a.rs", "Edit a.rs: numbat");
    world.ask("alias_project", json!({ "project": "aardwolf", "alias": "/nowhere/pangolin" }));
    world.ask("mark", json!({ "text": "a lesson", "project": "aardwolf" }));
    let planned = world.ask("purge", json!({ "project": "aardwolf" }));
    assert_eq!((counts(&planned), &planned["projects"]), ((3, 0, 2), &json!(1)));
    let text = world.shown("purge", json!({ "project": "aardwolf" }));
    assert!(
        text.starts_with("would purge 3 observations, 0 prompts, 2 sessions, 1 project"),
        "{text}"
    );
    let done = world.ask("purge", json!({ "project": "aardwolf", "confirm": true }));
    assert_eq!((counts(&done), &done["projects"]), ((3, 0, 2), &json!(1)));
    assert_eq!(code(world.call("purge", json!({ "project": "aardwolf" }))), Code::NotFound);
    let found = world.ask("file_history", json!({ "file_path": "/nowhere/shared.rs" }));
    assert_eq!(found["sessions"][0]["session_id"], "s-2", "what others use stays");
    let listed = world.ask("list_projects", json!({})).to_string();
    assert!(!listed.contains("aardwolf") && !listed.contains("pangolin"), "{listed}");
    for word in ["/nowhere/aardwolf", "pangolin"] {
        assert!(!files_hold(&world, word), "{word}");
    }
}

/// @purge_of_a_project
#[test]
fn a_project_of_which_nothing_is_left_but_its_names_can_be_purged() {
    let world = World::new();
    world.command(("s-1", "/nowhere/aardwolf"), HOUR, "make");
    let only = json!({ "project": "aardwolf", "session_id": "s-1", "confirm": true });
    assert_eq!(world.ask("purge", only)["projects"], 0, "a session is not the whole project");
    assert!(world.ask("list_projects", json!({})).to_string().contains("aardwolf"));
    let done = world.ask("purge", json!({ "project": "aardwolf", "confirm": true }));
    assert_eq!((counts(&done), &done["projects"]), ((0, 0, 0), &json!(1)));
    assert_eq!(world.ask("list_projects", json!({}))["projects"], json!([]));
}

/// @forgetting_is_for_people
#[test]
fn an_agent_may_not_purge_scrub_or_pause() {
    let world = World::new();
    world.command(S, HOUR, "make");
    for (op, params) in [
        ("purge", json!({ "older_than": 0, "confirm": true })),
        ("scrub", json!({})),
        ("pause", json!({})),
        ("maintain", json!({ "sweep": true })),
        ("merge_projects", json!({ "from": "web", "into": "web" })),
    ] {
        let caller = Caller { tier: Tier::Agent, ..Caller::default() };
        assert_eq!(code(world.call_as(caller, op, params)), Code::Forbidden, "{op}");
    }
}

#[test]
fn a_repeated_call_gets_the_first_answer() {
    let world = World::new();
    world.command(S, HOUR, "make");
    let again = || {
        let params = json!({ "older_than": 0, "confirm": true });
        let caller = Caller { tier: Tier::Person, ..Caller::default() };
        let request = Request { call: CallId([9; 16]), op: "purge".into(), params, caller };
        world.local.runtime.call(request).unwrap()
    };
    let first = again();
    assert_eq!(counts(&first), (1, 0, 1));
    assert_eq!(again(), first);
}
