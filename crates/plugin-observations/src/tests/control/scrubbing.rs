//! Scrub: secrets that came in before their rule did.

use serde_json::{Value, json};

use super::super::reading::{DAY, HOUR, WEB, World};
use super::{RANDOM, files_hold, leaky};

/// A store with the same secret in every place that a capture fills.
fn leaked() -> World {
    let world = leaky();
    let leak = |params: Value| world.ask("leak", params);
    let at = world.now - HOUR;
    let prompt = format!("please use the new word {RANDOM} from now on");
    leak(json!({ "cwd": WEB, "at": at, "content": prompt, "prompt": true }));
    leak(json!({
        "cwd": WEB, "at": at + 1, "content": format!("deploy with {RANDOM} twice {RANDOM}"),
        "path": format!("/w/deploy {RANDOM}"),
        "metadata": { "error": format!("denied: {RANDOM}"), "lines": 3 },
    }));
    leak(json!({ "cwd": WEB, "at": at + 2, "content": "walrus", "path": "/w/plain.rs" }));
    world.stop(("s-leak", WEB), HOUR - 3);
    world
}

/// @scrub_takes_secrets_out
#[test]
fn a_scrub_takes_secrets_out_of_every_place_and_every_file() {
    let world = leaked();
    assert!(files_hold(&world, RANDOM));
    let planned = world.ask("scrub", json!({ "dry_run": true }));
    assert_eq!(planned["scrubbed"], false);
    assert!(files_hold(&world, RANDOM), "a dry run changes nothing");
    let done = world.ask("scrub", json!({}));
    assert_eq!(done["scrubbed"], true);
    for answer in [&planned, &done] {
        assert_eq!(
            answer["by_place"],
            json!({ "content": 1, "file_path": 1, "metadata": 1, "prompt": 1, "summary": 1 })
        );
        let by_rule = answer["by_rule"].as_object().unwrap();
        assert_eq!(by_rule.keys().collect::<Vec<_>>(), ["entropy"]);
        assert_eq!(answer["found"], by_rule["entropy"]);
        assert!(!answer.to_string().contains(RANDOM));
    }
    assert!(!files_hold(&world, RANDOM));
    assert_eq!(world.found(json!({ "query": RANDOM })), [""; 0]);
    let found = world.found(json!({ "query": "twice" }));
    assert_eq!(found, ["deploy with [redacted:entropy] twice [redacted:entropy]"]);
    let history = world.ask("file_history", json!({ "file_path": "deploy [redacted:entropy]" }));
    assert_eq!(history["sessions"].as_array().unwrap().len(), 1, "{history}");
    assert_eq!(world.found(json!({ "query": "walrus" })), ["walrus"]);
}

/// @scrub_twice
#[test]
fn scrubbing_twice_finds_nothing_the_second_time() {
    let world = leaked();
    world.ask("scrub", json!({}));
    for params in [json!({}), json!({ "dry_run": true })] {
        let again = world.ask("scrub", params.clone());
        assert_eq!((&again["found"], &again["by_place"]), (&json!(0), &json!({})), "{params}");
        assert_eq!(world.shown("scrub", params), "no secrets found");
    }
}

#[test]
fn two_paths_that_differ_in_their_secret_become_one() {
    let world = leaky();
    for (after, secret) in [(0, RANDOM.to_owned()), (1, RANDOM.chars().rev().collect())] {
        let path = format!("/w/deploy {secret}");
        let at = world.now - HOUR + after;
        world.ask("leak", json!({ "cwd": WEB, "at": at, "content": "edit", "path": path }));
    }
    let done = world.ask("scrub", json!({}));
    assert_eq!(done["by_place"], json!({ "file_path": 2 }));
    let history = world.ask("file_history", json!({ "file_path": "/w/deploy [redacted:entropy]" }));
    let touches = history["sessions"][0]["touches"].as_array();
    assert_eq!(touches.map(Vec::len), Some(2), "{history}");
}

#[test]
fn what_only_looks_scrubbed_is_not_counted_and_marks_are_held_to_their_own_rules() {
    let world = leaky();
    let at = world.now - DAY;
    let forged = "see [redacted:my-own-rule] and [redacted:";
    world.ask("leak", json!({ "cwd": WEB, "at": at, "content": forged }));
    let mark = format!("the good build is {RANDOM}");
    world.ask("mark", json!({ "text": mark, "project": "web" }));
    let leak = format!("{forged} {RANDOM}");
    world.ask("leak", json!({ "cwd": WEB, "at": at + 1, "content": leak }));
    let done = world.ask("scrub", json!({}));
    assert_eq!(done["by_rule"], json!({ "entropy": 1 }));
    let both = [mark.clone(), format!("learned: {mark}")];
    assert_eq!(world.found(json!({ "query": "good build" })), both, "the summary repeats it");
}

#[test]
fn more_than_one_batch_is_looked_at_to_the_end() {
    let world = leaky();
    let many = model::limits::SCRUB_BATCH + 20;
    for number in 0..many {
        let secret = if number + 1 == many { RANDOM } else { "plain" };
        let at = world.now - DAY + i64::try_from(number).unwrap();
        let content = format!("deed {number} {secret}");
        world.ask("leak", json!({ "cwd": WEB, "at": at, "content": content }));
    }
    let done = world.ask("scrub", json!({}));
    assert_eq!(done["by_place"], json!({ "content": 1 }));
    assert!(!files_hold(&world, RANDOM));
}
