//! Lifetimes of hints: an expired hint is never shown.

use contract::End;
use model::Code;
use serde_json::json;
use testkit::{Folder, wait_until};

use super::{Hints, call, code, found, get, open, set, set_with};

/// @hints_ttl
#[test]
fn hints_are_adopted_by_the_next_process_and_cleared_by_a_clean_end() {
    let folder = Folder::new();
    let first = open(&folder);
    set(&first, "session", "a").unwrap();
    let forever =
        json!({ "component": "web", "key": "kept", "value": "b", "meta": { "ttl": "forever" } });
    call(&first, "set_hint", forever).unwrap();
    assert_eq!(first.held(), 1);
    first.end(End::HandOver).unwrap();
    let second = open(&folder);
    assert_eq!(get(&second, "session").unwrap()["hint"]["value"], "a");
    second.end(End::Clean).unwrap();
    let third = open(&folder);
    assert_eq!(code(get(&third, "session")), Code::NotFound);
    assert_eq!(get(&third, "kept").unwrap()["hint"]["value"], "b");
}

/// @hints_ttl
#[test]
fn a_duration_outlives_a_clean_end_and_keeps_its_deadline() {
    let folder = Folder::new();
    let first = open(&folder);
    set_with(&first, "long", "v", json!({ "ttl": "PT2H" })).unwrap();
    set_with(&first, "short", "v", json!({ "ttl": "PT0.05S" })).unwrap();
    first.end(End::Clean).unwrap();
    first.close();
    let second = open(&folder);
    assert_eq!(get(&second, "long").unwrap()["hint"]["meta"]["ttl"], "PT2H");
    wait_until("the short one ends", || get(&second, "short").err());
    assert_eq!(second.held(), 0, "a duration keeps no daemon");
}

/// @hints_ttl
#[test]
fn a_change_renews_the_duration_and_a_bump_does_not() {
    let folder = Folder::new();
    let runtime = open(&folder);
    // Two hours that started an hour ago, from a document, which keeps its times.
    let ago = |hours: i64| model::time::rfc3339(runtime::clock::now_ms() - hours * 3_600_000);
    let hint = json!({ "value": "v", "meta": { "ttl": "PT2H" }, "updated_at": ago(1) });
    let over = json!({ "value": "v", "meta": { "ttl": "PT2H" }, "updated_at": ago(3) });
    let payload =
        json!({ "components": { "web": { "hints": { "a": hint, "b": hint, "over": over } } } });
    let taken = call(&runtime, "import_hints", json!({ "payload": payload })).unwrap();
    assert_eq!(taken, json!({ "imported": 2, "skipped": 1 }));
    let before = get(&runtime, "a").unwrap()["hint"]["updated_at"].clone();
    let bumped = call(&runtime, "bump_hint", json!({ "component": "web", "key": "a" })).unwrap();
    assert_eq!(bumped["hint"]["updated_at"], before);
    assert_eq!(bumped["hint"]["version"], 1);
    let changed = set(&runtime, "b", "w").unwrap();
    assert_ne!(changed["hint"]["updated_at"], before);
    assert_eq!(changed["hint"]["meta"]["ttl"], "PT2H");
}

/// @hints_expired
#[test]
fn an_expired_hint_is_not_found_and_frees_its_quota() {
    let folder = Folder::new();
    let runtime = folder.open(vec![std::sync::Arc::new(Hints::default())], &[("hints.max", "2")]);
    set(&runtime, "stays", "v").unwrap();
    let made = set_with(&runtime, "k", "gone", json!({ "ttl": "PT0.02S", "tags": ["t"] })).unwrap();
    assert_eq!(made["hint"]["version"], 1);
    let error = wait_until("it ends", || get(&runtime, "k").err());
    assert_eq!(error.code, Code::NotFound);
    assert_eq!(found(&runtime, json!({ "tags": ["t"] })), Vec::<String>::new());
    assert_eq!(found(&runtime, json!({ "component": "web" })), ["v"]);
    let listed = call(&runtime, "list_components", json!({ "component": "web" })).unwrap();
    assert_eq!(
        listed["components"],
        json!([{ "name": "web", "hint_count": 1, "keys": ["stays"] }])
    );
    let exported = call(&runtime, "export_hints", json!({})).unwrap();
    assert!(!exported.to_string().contains("gone"), "{exported}");
    let resources = call(&runtime, "list_resources", json!({})).unwrap();
    assert_eq!(resources["resources"].as_array().unwrap().len(), 1);
    let name = json!({ "component": "web", "key": "k" });
    assert_eq!(code(call(&runtime, "bump_hint", name.clone())), Code::NotFound);
    assert_eq!(code(call(&runtime, "delete_hint", name)), Code::NotFound);
    // There is room for another one, and its name starts at version 1 again.
    assert_eq!(set(&runtime, "other", "v").unwrap()["hint"]["version"], 1);
    assert_eq!(code(set(&runtime, "k", "one too many")), Code::Quota);
}

/// @hints_default_ttl
#[test]
fn the_default_lifetime_is_written_into_the_hint() {
    let folder = Folder::new();
    let settings = [("hints.default_ttl", "P1D")];
    let runtime = folder.open(vec![std::sync::Arc::new(Hints::default())], &settings);
    let meta = |reply: model::Reply| reply.unwrap()["hint"]["meta"].clone();
    assert_eq!(meta(set(&runtime, "a", "v")), json!({ "ttl": "P1D" }));
    assert_eq!(meta(set_with(&runtime, "b", "v", json!({ "ttl": "session" })))["ttl"], "session");
    assert_eq!(runtime.held(), 1);
}
