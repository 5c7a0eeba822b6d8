//! Tests of the hints through dispatch, on a store of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use contract::End;
use model::{CallId, Caller, Code, Reply, Request, Road as _, Tier};
use runtime::Runtime;
use serde_json::{Value, json};
use testkit::Folder;

use crate::Hints;

static COUNT: AtomicU32 = AtomicU32::new(1);

fn open(folder: &Folder) -> Runtime {
    folder.open(vec![Arc::new(Hints::default())], &[])
}

fn call(runtime: &Runtime, op: &str, params: Value) -> Reply {
    let mut id = [0; 16];
    id[..4].copy_from_slice(&COUNT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    let caller = Caller { tier: Tier::Person, ..Caller::default() };
    runtime.call(Request { call: CallId(id), op: op.into(), params, caller })
}

fn set(runtime: &Runtime, key: &str, value: &str) -> Reply {
    call(runtime, "set_hint", json!({ "component": "web", "key": key, "value": value }))
}

fn get(runtime: &Runtime, key: &str) -> Reply {
    call(runtime, "get_hint", json!({ "component": "web", "key": key }))
}

fn code(reply: Reply) -> Code {
    reply.unwrap_err().code
}

#[test]
fn a_hint_comes_back_with_its_reason_and_counts_its_versions() {
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

#[test]
fn bad_names_and_values_are_refused_and_leave_no_trace() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let try_with = |component: &str, key: &str, value: Value| {
        call(&runtime, "set_hint", json!({ "component": component, "key": key, "value": value }))
    };
    for (component, key) in [("", "k"), ("c", "  "), ("c\n", "k"), ("c", &"k".repeat(201))] {
        assert_eq!(
            code(try_with(component, key, json!("v"))),
            Code::Invalid,
            "{component:?} {key:?}"
        );
    }
    for value in [json!(null), json!(7), json!([1]), json!({}), json!({ "type": "spell" })] {
        assert_eq!(code(try_with("c", "k", value.clone())), Code::Invalid, "{value}");
    }
    assert_eq!(code(try_with("c", "k", json!("x".repeat(65 * 1024)))), Code::TooLarge);
    let listed = call(&runtime, "list_resources", json!({})).unwrap();
    assert_eq!(listed["resources"], json!([]));
}

#[test]
fn the_quota_of_a_component_counts_new_names_only() {
    let folder = Folder::new();
    let runtime = open(&folder);
    for number in 0..200 {
        set(&runtime, &format!("k{number}"), "v").unwrap();
    }
    let error = set(&runtime, "one-more", "v").unwrap_err();
    assert_eq!((error.code, &error.details["limit"]), (Code::Quota, &json!(200)));
    assert!(set(&runtime, "k0", "again").is_ok());
}

#[test]
fn hints_are_adopted_by_the_next_opener_and_cleared_by_a_clean_end() {
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

#[test]
fn every_name_can_be_read_back_by_its_path() {
    let folder = Folder::new();
    let runtime = open(&folder);
    for key in ["a/b", "100%", "ünï cödé", "a?b#c", "..."] {
        set(&runtime, key, key).unwrap();
    }
    let listed = call(&runtime, "list_resources", json!({})).unwrap();
    let lines = listed["resources"].as_array().unwrap();
    assert_eq!(lines.len(), 5);
    for line in lines {
        let entry = call(&runtime, "get", json!({ "path": line["path"] })).unwrap();
        assert_eq!(entry["entry"]["path"], line["path"]);
    }
    assert_eq!(code(call(&runtime, "get", json!({ "path": "hint://web" }))), Code::Invalid);
    assert_eq!(code(call(&runtime, "get", json!({ "path": "spell://web/x" }))), Code::Invalid);
}
