//! Deleting and bumping one variant or all.

use model::Code;
use serde_json::{Value, json};
use testkit::Folder;

use super::{call, code, get, get_at, open, set, set_with};

fn two_systems() -> (Folder, runtime::Runtime) {
    let folder = Folder::new();
    let runtime = open(&folder);
    for os in ["linux", "darwin"] {
        set_with(&runtime, "k", os, json!({ "scope": { "os": [os] } })).unwrap();
    }
    set_with(&runtime, "k", "any", json!({ "priority": 10, "confidence": 1.0 })).unwrap();
    (folder, runtime)
}

fn with(mut more: Value) -> Value {
    more["component"] = json!("web");
    more["key"] = json!("k");
    more
}

/// @hints_delete
#[test]
fn a_delete_removes_all_variants_or_the_selected_one() {
    let (_folder, runtime) = two_systems();
    let delete = |more: Value| call(&runtime, "delete_hint", with(more));
    let gone = delete(json!({ "scope": { "os": ["darwin"] } })).unwrap();
    assert_eq!((&gone["deleted"], &gone["removed"]), (&json!(true), &json!(1)));
    assert_eq!(gone["previous"]["value"], "darwin");
    assert_eq!(code(delete(json!({ "scope": { "os": ["darwin"] } }))), Code::NotFound);
    let gone = delete(json!({ "scope": {} })).unwrap();
    assert_eq!(gone["previous"]["value"], "any");
    let error = delete(json!({ "context": { "os": "windows" } })).unwrap_err();
    assert_eq!(
        (error.code, &error.details["reasons"][0]),
        (Code::NotFound, &json!("os=windows not in [linux]"))
    );
    let gone = delete(json!({ "context": { "os": "linux" } })).unwrap();
    assert_eq!(gone["previous"]["value"], "linux");
    assert_eq!(code(get(&runtime, "k")), Code::NotFound);
    assert_eq!(code(delete(json!({}))), Code::NotFound);

    let (_folder, runtime) = two_systems();
    let gone = call(&runtime, "delete_hint", with(json!({}))).unwrap();
    assert_eq!((&gone["removed"], &gone["previous"]["value"]), (&json!(3), &json!("any")));
    let listed = call(&runtime, "list_components", json!({})).unwrap();
    assert_eq!(listed["components"], json!([]));
    let both = with(json!({ "scope": {}, "context": {} }));
    assert_eq!(code(call(&runtime, "delete_hint", both)), Code::Invalid);
}

/// @hints_bump
#[test]
fn a_bump_counts_up_one_variant_and_changes_nothing_else() {
    let (_folder, runtime) = two_systems();
    let bump = |more: Value| call(&runtime, "bump_hint", with(more));
    let linux = bump(json!({ "scope": { "os": ["linux"] }, "delta": 3 })).unwrap()["hint"].clone();
    assert_eq!((&linux["value"], &linux["use_count"]), (&json!("linux"), &json!(3)));
    assert_eq!(linux["version"], 1);
    assert!(linux["last_used_at"].is_string());
    let best = bump(json!({})).unwrap()["hint"].clone();
    assert_eq!((&best["value"], &best["use_count"]), (&json!("any"), &json!(1)));
    let here = bump(json!({ "context": { "os": "darwin" } })).unwrap()["hint"].clone();
    assert_eq!(here["value"], "any");
    let full = bump(json!({ "scope": { "os": ["linux"] }, "delta": u64::MAX })).unwrap();
    assert_eq!(full["hint"]["use_count"], i64::MAX);
    let full = bump(json!({ "scope": { "os": ["linux"] } })).unwrap();
    assert_eq!(full["hint"]["use_count"], i64::MAX, "it stays where it is");
    for delta in [json!(0), json!(-1), json!(1.5), json!("two")] {
        assert_eq!(code(bump(json!({ "delta": delta }))), Code::Invalid, "{delta}");
    }
    let unknown = json!({ "component": "web", "key": "unknown" });
    assert_eq!(code(call(&runtime, "bump_hint", unknown)), Code::NotFound);
}

/// @hints_bump
#[test]
fn a_used_variant_ranks_before_an_unused_one() {
    let (_folder, runtime) = two_systems();
    let got =
        |runtime| get_at(runtime, "k", json!({ "os": "linux" })).unwrap()["hint"]["value"].clone();
    assert_eq!(got(&runtime), "any");
    let used = with(json!({ "scope": { "os": ["linux"] }, "delta": 50 }));
    call(&runtime, "bump_hint", used).unwrap();
    assert_eq!(got(&runtime), "linux");
    set(&runtime, "k", "changed").unwrap();
    assert_eq!(got(&runtime), "linux");
}

/// @hints_scoped_change
#[test]
fn a_change_keeps_use_count_and_creation() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let first = set(&runtime, "k", "a").unwrap()["hint"].clone();
    call(&runtime, "bump_hint", with(json!({ "delta": 2 }))).unwrap();
    let second = set(&runtime, "k", "b").unwrap()["hint"].clone();
    assert_eq!((&second["use_count"], &second["created_at"]), (&json!(2), &first["created_at"]));
}
