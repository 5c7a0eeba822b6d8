//! `recent_context`: its scores, and the records that it returns and leaves out.

use model::observation::ObsType;
use serde_json::{Value, json};

use super::{API, DAY, HOUR, WEB, World, texts};

const S: (&str, &str) = ("s-1", WEB);

fn near(record: &Value, expected: f64) {
    let score = record["score"].as_f64().unwrap();
    assert!((score - expected).abs() < 0.002, "{score} is not {expected}: {record}");
}

/// @read_recent
#[test]
fn a_score_is_made_of_age_kind_and_project() {
    let world = World::new();
    world.edit(S, 7 * DAY, "/nowhere/web/a.rs", "edit");
    world.command(("s-2", API), 0, "run");
    world.used(S, 14 * DAY, (ObsType::McpCall, None), "call", json!({}));
    let with = world.ask("recent_context", json!({ "project": "web" }));
    assert_eq!(texts(&with["results"]), ["run", "edit", "call"]);
    near(&with["results"][0], 0.5 + 0.3 * 0.67 + 0.2 * 0.3);
    near(&with["results"][1], 0.25 + 0.3 + 0.2);
    near(&with["results"][2], 0.125 + 0.3 * 0.33 + 0.2);
    let without = world.ask("recent_context", json!({}));
    assert_eq!(texts(&without["results"]), ["run", "edit", "call"]);
    near(&without["results"][0], 0.6 + 0.4 * 0.67);
    near(&without["results"][1], 0.3 + 0.4);
    near(&without["results"][2], 0.15 + 0.4 * 0.33);
}

/// @read_recent_once_per_file
#[test]
fn only_the_best_record_of_a_file_is_shown_and_every_record_without_a_file() {
    let world = World::new();
    world.edit(S, 3 * HOUR, "/nowhere/web/a.rs", "older edit");
    world.edit(S, 2 * HOUR, "/nowhere/web/a.rs", "newer edit");
    world.read(S, HOUR, "/nowhere/web/a.rs");
    world.command(S, HOUR, "make");
    world.command(S, 2 * HOUR, "make");
    let recent = world.ask("recent_context", json!({}));
    assert_eq!(texts(&recent["results"]), ["newer edit", "make", "make"]);
}

/// @read_recent
#[test]
fn equal_scores_are_broken_by_newer_id_and_future_times_count_as_now() {
    let world = World::new();
    world.command(S, -2 * DAY, "tomorrow one");
    world.command(S, -3 * DAY, "tomorrow two");
    let recent = world.ask("recent_context", json!({}));
    assert_eq!(texts(&recent["results"]), ["tomorrow two", "tomorrow one"]);
    near(&recent["results"][0], 0.6 + 0.4 * 0.67);
}

/// @read_recent
#[test]
fn the_number_is_thirty_and_stays_within_a_hundred() {
    let world = World::new();
    for number in 0..110 {
        world.command(S, HOUR, &format!("run {number}"));
    }
    let count =
        |params: Value| world.ask("recent_context", params)["results"].as_array().unwrap().len();
    assert_eq!(count(json!({})), 30);
    assert_eq!(count(json!({ "limit": 0 })), 1);
    assert_eq!(count(json!({ "limit": -1 })), 1);
    assert_eq!(count(json!({ "limit": 1_000 })), 100);
}

#[test]
fn times_bound_it_and_an_empty_store_gives_nothing() {
    let world = World::new();
    assert_eq!(world.ask("recent_context", json!({}))["results"], json!([]));
    for days in 1..=3 {
        world.command(S, days * DAY, &format!("day {days}"));
    }
    let at = |days: i64| (world.now - days * DAY) / 1000;
    let params = json!({ "after": at(3), "before": at(1) });
    assert_eq!(texts(&world.ask("recent_context", params)["results"]), ["day 2"]);
}

#[test]
fn a_record_is_there_in_full_with_its_score() {
    let world = World::new();
    world.prompt(S, 2 * HOUR, "do it");
    world.command(S, HOUR, "make");
    let recent = world.ask("recent_context", json!({}));
    let record = &recent["results"][0];
    for name in ["id", "timestamp", "session_id", "project", "obs_type", "source_event"] {
        assert!(!record[name].is_null(), "{name} in {record}");
    }
    for name in ["tool_name", "content", "metadata", "file_path", "is_pinned", "score"] {
        assert!(record.get(name).is_some(), "{name} in {record}");
    }
    assert_eq!(record["prompt_id"], world.id("do it"));
}

/// @read_recent_records
#[test]
fn recent_records_are_newest_first_with_prompts_and_without_marks_of_sessions() {
    let world = World::new();
    world.start(("s-1", WEB), 9 * HOUR);
    world.edit(("s-1", WEB), 8 * HOUR, "/nowhere/web/a.rs", "oldest");
    world.prompt(("s-1", WEB), 7 * HOUR, "a question");
    world.command(("s-2", API), 6 * HOUR, "of the api");
    world.command(("s-1", WEB), 5 * HOUR, "newest");
    let recent = |params| texts(&world.ask("recent_records", params)["results"]);
    assert_eq!(recent(json!({})), ["newest", "of the api", "a question", "oldest"]);
    assert_eq!(recent(json!({ "limit": 2 })), ["newest", "of the api"]);
    assert_eq!(recent(json!({ "project": "web" })), ["newest", "a question", "oldest"]);
    let between = json!({ "after": "450m", "before": "350m" });
    assert_eq!(recent(between), ["of the api", "a question"]);
    assert_eq!(recent(json!({ "session_id": "s-2" })), ["of the api"]);
    let own = json!({ "session_id": "s-1", "after": "450m", "limit": 5 });
    assert_eq!(recent(own), ["newest", "a question"]);
    let none = world.shown("recent_records", json!({ "after": "1m" }));
    assert_eq!(none, "Nothing is recorded after 1m.");
}

/// @read_recent
#[test]
fn answers_are_among_the_recent_records() {
    let world = World::new();
    let s = ("s-1", WEB);
    for number in 0..70 {
        world.command(s, HOUR + number * 1_000, &format!("make part{number}"));
    }
    world.answer(s, HOUR, "The parts are built, and the seventh one is slow.");
    let recent = world.ask("recent_context", json!({ "project": "*", "limit": 60 }));
    assert!(recent.to_string().contains("the seventh one is slow"), "{recent}");
}
