//! Versions, and the members that a change keeps.

use model::Code;
use serde_json::{Value, json};
use testkit::Folder;

use super::{call, code, get, open, set};

#[test]
fn a_hint_keeps_its_reason_and_counts_its_versions() {
    let folder = Folder::new();
    let runtime = open(&folder);
    assert_eq!(set(&runtime, "build", "make").unwrap()["hint"]["version"], 1);
    assert_eq!(set(&runtime, "build", "make all").unwrap()["hint"]["version"], 2);
    let found = get(&runtime, "build").unwrap();
    assert_eq!(found["hint"]["value"], "make all");
    assert_eq!(found["match_explain"]["matched"], true);
    assert_eq!(found["match_explain"]["reasons"], json!(["no scope restrictions"]));
    assert_eq!(code(get(&runtime, "deploy")), Code::NotFound);
}

/// @hints_if_match_version
#[test]
fn a_version_that_does_not_match_is_a_conflict_and_changes_nothing() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let with = |version: u64| {
        let params =
            json!({ "component": "web", "key": "k", "value": "v", "if_match_version": version });
        call(&runtime, "set_hint", params)
    };
    assert_eq!(code(with(3)), Code::Conflict);
    assert_eq!(with(0).unwrap()["hint"]["version"], 1);
    let error = with(0).unwrap_err();
    assert_eq!((error.code, &error.details["current_version"]), (Code::Conflict, &json!(1)));
    assert_eq!(with(1).unwrap()["hint"]["version"], 2);
}

/// @hints_meta_is_kept
#[test]
fn meta_is_kept_when_left_out_and_cleared_when_empty() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let with = |meta: Value| {
        let params = json!({ "component": "web", "key": "k", "value": "v", "meta": meta });
        call(&runtime, "set_hint", params).unwrap()["hint"]["meta"].clone()
    };
    let meta = json!({ "reason": "why", "tags": ["a", "b"], "ttl": "forever" });
    assert_eq!(with(meta.clone()), meta);
    assert_eq!(set(&runtime, "k", "w").unwrap()["hint"]["meta"], meta);
    assert_eq!(with(json!({})), json!({}));
}

/// @hints_concurrent_versions
#[test]
fn of_many_writers_with_the_same_version_one_wins_each_round() {
    let folder = Folder::new();
    let runtime = open(&folder);
    set(&runtime, "shared", "0").unwrap();
    let add_one = || {
        for _ in 0..25 {
            loop {
                let hint = get(&runtime, "shared").unwrap()["hint"].clone();
                let number: u64 = hint["value"].as_str().unwrap().parse().unwrap();
                let params = json!({ "component": "web", "key": "shared", "value": (number + 1).to_string(),
                    "if_match_version": hint["version"] });
                match call(&runtime, "set_hint", params) {
                    Ok(_) => break,
                    Err(error) => assert_eq!(error.code, Code::Conflict),
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(add_one);
        }
    });
    let hint = get(&runtime, "shared").unwrap()["hint"].clone();
    assert_eq!((&hint["value"], &hint["version"]), (&json!("200"), &json!(201)));
}

#[test]
fn eight_writers_of_their_own_names_lose_nothing() {
    let folder = Folder::new();
    let runtime = open(&folder);
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let runtime = &runtime;
            scope.spawn(move || {
                for round in 1..=100_u64 {
                    let stored = set(runtime, &format!("k{writer}"), "v").unwrap();
                    assert_eq!(stored["hint"]["version"], round);
                }
            });
        }
    });
    let listed = call(&runtime, "list_components", json!({})).unwrap();
    assert_eq!(listed["components"], json!([{ "name": "web", "hint_count": 8 }]));
}
