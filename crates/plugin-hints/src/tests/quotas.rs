//! Quotas of hints.

use std::sync::Arc;

use model::Code;
use serde_json::{Map, Value, json};
use testkit::Folder;

use super::{Hints, call, open, set, set_with};

/// @hints_quotas
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

/// A document with this many components and keys in each.
fn document(components: usize, keys: usize) -> Value {
    let hints: Map<String, Value> =
        (0..keys).map(|n| (format!("k{n}"), json!({ "value": "v" }))).collect();
    let of = json!({ "hints": hints });
    let all: Map<String, Value> = (0..components).map(|n| (format!("c{n}"), of.clone())).collect();
    json!({ "schema_version": "1.0", "components": all })
}

fn refusal(reply: model::Reply) -> (Code, u64) {
    let error = reply.unwrap_err();
    (error.code, error.details["limit"].as_u64().unwrap())
}

/// @hints_quotas
#[test]
fn an_import_obeys_every_quota_and_leaves_nothing_behind() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let import = |payload: Value, mode: &str, on_error: &str| {
        call(
            &runtime,
            "import_hints",
            json!({ "payload": payload, "mode": mode, "on_error": on_error }),
        )
    };
    set(&runtime, "mine", "v").unwrap();
    for (components, keys, limit) in [(1, 201, 200), (501, 1, 500), (26, 200, 5_000)] {
        for mode in ["merge", "replace"] {
            let refused = refusal(import(document(components, keys), mode, "abort"));
            assert_eq!(refused, (Code::Quota, limit));
        }
        let listed = call(&runtime, "list_components", json!({})).unwrap();
        assert_eq!(listed["components"], json!([{ "name": "web", "hint_count": 1 }]));
    }
    let taken = import(document(1, 201), "merge", "skip").unwrap();
    assert_eq!((&taken["imported"], &taken["skipped"]), (&json!(200), &json!(1)));
    assert_eq!(taken["errors"][0]["reason"], "E_QUOTA");
    let taken = import(document(25, 200), "replace", "abort").unwrap();
    assert_eq!(taken, json!({ "imported": 5_000, "skipped": 0 }));
    assert_eq!(refusal(set(&runtime, "mine", "v")), (Code::Quota, 5_000));
    let taken = import(document(500, 1), "replace", "abort").unwrap();
    assert_eq!(taken["imported"], 500);
    assert_eq!(refusal(set(&runtime, "mine", "v")), (Code::Quota, 500));
}

/// @hints_quotas
#[test]
fn the_setting_bounds_all_hints_and_counts_variants() {
    let folder = Folder::new();
    let runtime = folder.open(vec![Arc::new(Hints::default())], &[("hints.max", "3")]);
    for os in ["linux", "darwin", "windows"] {
        set_with(&runtime, "k", os, json!({ "scope": { "os": [os] } })).unwrap();
    }
    assert_eq!(refusal(set_with(&runtime, "k", "any", json!({}))), (Code::Quota, 3));
    assert!(set_with(&runtime, "k", "again", json!({ "scope": { "os": ["linux"] } })).is_ok());
}
