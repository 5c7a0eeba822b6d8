//! Pins and marks.

use model::situation::Situation;
use model::{Caller, Code, Tier};
use serde_json::{Value, json};

use super::super::reading::{API, HOUR, WEB, World, code};
use super::RANDOM;

const S: (&str, &str) = ("s-1", WEB);

/// @pin_twice
#[test]
fn a_pin_lasts_until_it_is_removed_and_pinning_twice_changes_nothing() {
    let world = World::new();
    world.prompt(S, 2 * HOUR, "what a question");
    world.command(S, HOUR, "make");
    for content in ["make", "what a question"] {
        let id = world.id(content);
        for (op, pinned, changed) in [
            ("pin_observation", true, true),
            ("pin_observation", true, false),
            ("unpin_observation", false, true),
            ("unpin_observation", false, false),
        ] {
            assert_eq!(
                world.ask(op, json!({ "id": id })),
                json!({ "id": id, "is_pinned": pinned, "changed": changed })
            );
            let found = world.ask("get_observations", json!({ "ids": [id] }));
            assert_eq!(found["results"][0]["is_pinned"], pinned);
        }
    }
}

#[test]
fn an_unknown_record_cannot_be_pinned_or_unpinned() {
    let world = World::new();
    for id in [json!(1), json!(0), json!(-5), json!(i64::MAX)] {
        for op in ["pin_observation", "unpin_observation"] {
            assert_eq!(code(world.call(op, json!({ "id": id }))), Code::NotFound, "{op} {id}");
        }
    }
    for hostile in [json!({}), json!({ "id": "one" }), json!({ "id": 1, "force": true })] {
        assert_eq!(code(world.call("pin_observation", hostile)), Code::Invalid);
    }
}

/// Marks a text as an agent in this session and directory.
fn mark(world: &World, session: Option<&str>, cwd: &str, params: Value) -> Value {
    let situation = Situation { cwd: Some(cwd.into()), ..Situation::default() };
    let session = session.map(str::to_owned);
    let caller = Caller { tier: Tier::Agent, session, situation, ..Caller::default() };
    world.call_as(caller, "mark", params).unwrap()
}

/// @mark_in_the_session
#[test]
fn a_mark_belongs_to_the_session_of_its_caller_and_is_in_its_summary() {
    let world = World::new();
    world.prompt(S, 2 * HOUR, "please find out why it fails");
    let made = mark(&world, Some("s-1"), API, json!({ "text": " the cache lies " }));
    assert_eq!((&made["session_id"], &made["project"]), (&json!("s-1"), &json!("web")));
    let found = world.ask("get_observations", json!({ "ids": [made["id"]] }));
    let record = &found["results"][0];
    assert_eq!(
        (&record["obs_type"], &record["content"]),
        (&json!("marker"), &json!("the cache lies"))
    );
    assert_eq!(record["prompt_id"], world.id("please find out why it fails"));
    assert_eq!(world.found(json!({ "query": "cache", "obs_type": "marker" })), ["the cache lies"]);
    let summaries = world.ask("session_summaries", json!({}));
    assert_eq!(summaries["results"][0]["summary"]["learned"], json!(["the cache lies"]));
}

/// @mark_in_the_session
#[test]
fn a_mark_creates_the_session_that_it_is_the_first_to_name() {
    let world = World::new();
    let marked = mark(&world, Some("s-new"), WEB, json!({ "text": "ports are in ports.toml" }));
    assert_eq!(marked["session_id"], "s-new", "{marked}");
    assert_eq!(marked["project"], "web", "{marked}");
    let listed = world.call_from(Some(WEB), "list_sessions", json!({})).unwrap();
    assert_eq!(listed["sessions"][0]["session_id"], "s-new", "{listed}");
    world.ask("pause", json!({}));
    let marked = mark(&world, Some("s-paused"), WEB, json!({ "text": "a second lesson" }));
    assert_eq!(
        marked["session_id"], "marks:/nowhere/web",
        "a pause lets no session begin: {marked}"
    );
}

/// @mark_of_nobody
#[test]
fn marks_of_callers_without_a_session_share_one_session_per_project() {
    let world = World::new();
    world.command(S, HOUR, "make");
    world.command(("s-2", API), HOUR, "make");
    let first = mark(&world, None, WEB, json!({ "text": "one" }));
    let second = mark(&world, None, WEB, json!({ "text": "two" }));
    let other = mark(&world, Some("s-1"), WEB, json!({ "text": "three", "project": "api" }));
    assert_eq!(first["session_id"], second["session_id"]);
    assert_ne!(first["session_id"], other["session_id"]);
    assert_eq!((&first["project"], &other["project"]), (&json!("web"), &json!("api")));
    let own = mark(&world, Some("s-1"), API, json!({ "text": "four", "project": "web" }));
    assert_eq!(own["session_id"], "s-1", "the named project is that of the session");
    let trace = world.ask("session_trace", json!({ "session_id": first["session_id"] }));
    assert_eq!(trace["prompts"][0]["observation_count"], 2);
    assert_ne!(trace["ended_at"], json!(null), "nobody is in it");
}

/// @mark_is_no_conversation
#[test]
fn the_session_of_marks_is_not_listed_among_conversations() {
    let world = World::new();
    world.prompt(S, 2 * HOUR, "please find out why it fails");
    world.stop(S, HOUR);
    mark(&world, None, WEB, json!({ "text": "the cache lies" }));
    for (op, list) in [("list_sessions", "sessions"), ("session_summaries", "results")] {
        let listed = world.ask(op, json!({ "project": "*" }));
        let names: Vec<&Value> =
            listed[list].as_array().unwrap().iter().map(|one| &one["session_id"]).collect();
        assert_eq!(names, ["s-1"], "{op}");
    }
}

/// @mark_is_no_conversation
#[test]
fn a_mark_outside_a_session_is_the_only_record_with_its_text() {
    let world = World::new();
    let marked = mark(&world, None, WEB, json!({ "text": "the cache lies" }));
    assert_eq!(world.found(json!({ "query": "cache" })), ["the cache lies"]);
    let trace = world.ask("session_trace", json!({ "session_id": marked["session_id"] }));
    assert_eq!(trace["summary"], json!(null), "{trace}");
}

/// @mark_is_guarded
#[test]
fn a_mark_that_looks_like_a_secret_is_refused_and_not_repeated() {
    let world = World::new();
    let error = world.call("mark", json!({ "text": "password=hunter2hunter" })).unwrap_err();
    assert_eq!((error.code, &error.details["rule"]), (Code::SecretRejected, &json!("password")));
    assert!(!format!("{error:?}").contains("hunter2"));
    assert_eq!(world.ask("memory_stats", json!({}))["observations"], 0);
    // People may write long random words; the rules for captured text are stricter.
    let kept = world.ask("mark", json!({ "text": format!("build {RANDOM} is the good one") }));
    let found = world.ask("get_observations", json!({ "ids": [kept["id"]] }));
    assert!(found["results"][0]["content"].as_str().unwrap().contains(RANDOM));
}

#[test]
fn a_mark_says_something_and_belongs_to_one_project() {
    let world = World::new();
    world.command(("s-1", "/nowhere/a/app"), HOUR, "make");
    world.command(("s-2", "/nowhere/b/app"), HOUR, "make");
    for hostile in [
        json!({ "text": "" }),
        json!({ "text": " \n\t " }),
        json!({ "text": "x".repeat(2_001) }),
        json!({ "text": "x", "project": "*" }),
        json!({ "text": "x", "project": null }),
        json!({ "text": "x", "project": "app" }),
        json!({ "text": "x", "session": "s-1" }),
        json!({}),
    ] {
        assert_eq!(code(world.call("mark", hostile.clone())), Code::Invalid, "{hostile}");
    }
    assert_eq!(
        code(world.call("mark", json!({ "text": "x", "project": "nobody" }))),
        Code::NotFound
    );
    let error = world.call("mark", json!({ "text": "x", "project": "app" })).unwrap_err();
    let one = error.details["projects"][0].clone();
    assert_eq!(
        world.ask("mark", json!({ "text": "é".repeat(2_000), "project": one }))["project"],
        "app"
    );
}
