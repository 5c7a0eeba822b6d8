//! The order of several hints.

use serde_json::{Value, json};
use testkit::Folder;

use super::{call, found, get_at, open, set_with};

/// Imports hints of `web` with times and counts.
fn seed(runtime: &runtime::Runtime, hints: Value) {
    let payload = json!({ "components": { "web": { "hints": hints } } });
    call(runtime, "import_hints", json!({ "payload": payload })).unwrap();
}

fn score(reply: &Value) -> f64 {
    reply["match_explain"]["score"].as_f64().unwrap()
}

/// @hints_ranking
#[test]
fn the_score_is_the_formula_with_two_decimals() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let scope = json!({ "cwd_glob": ["/a"], "branch": ["dev"], "os": ["linux"] });
    let meta = json!({ "priority": 7, "confidence": 0.8, "scope": scope });
    set_with(&runtime, "k", "v", meta).unwrap();
    let here = json!({ "cwd": "/a", "branch": "dev", "os": "linux" });
    let got = get_at(&runtime, "k", here.clone()).unwrap();
    assert!((score(&got) - 0.52).abs() < 1e-9, "{got}");
    // Ten uses just now add 0.3 × (1 − 1/e).
    let bump = json!({ "component": "web", "key": "k", "delta": 10, "context": here });
    call(&runtime, "bump_hint", bump).unwrap();
    let got = get_at(&runtime, "k", here).unwrap();
    assert!((score(&got) - 0.71).abs() < 1e-9, "{got}");
    set_with(&runtime, "plain", "v", json!({})).unwrap();
    let got = get_at(&runtime, "plain", json!({})).unwrap();
    assert!((score(&got) - 0.3).abs() < 1e-9, "priority 5 and confidence 0.5 if left out: {got}");
}

/// @hints_ranking
#[test]
fn old_uses_and_changes_no_longer_count() {
    let folder = Folder::new();
    let runtime = open(&folder);
    seed(
        &runtime,
        json!({ "old": { "value": "v", "meta": { "ttl": "forever" }, "updated_at": "2001-01-01T00:00:00",
            "last_used_at": "2001-01-01T00:00:00", "use_count": 1000 } }),
    );
    let got = get_at(&runtime, "old", json!({})).unwrap();
    assert!((score(&got) - 0.2).abs() < 1e-9, "nothing is left of use and recency: {got}");
    let reasons = got["match_explain"]["reasons"].to_string();
    assert!(reasons.contains("days ago") && reasons.contains("used 1000 times"), "{reasons}");
}

/// @hints_ranking
#[test]
fn each_part_of_the_score_decides_when_the_others_are_equal() {
    for (better, worse) in [
        (json!({ "meta": { "priority": 6 } }), json!({ "meta": {} })),
        (json!({ "meta": { "confidence": 0.6 } }), json!({ "meta": {} })),
        (json!({ "meta": { "scope": { "os": ["linux"] } } }), json!({ "meta": {} })),
        (json!({ "use_count": 1, "last_used_at": "2099-01-01T00:00:00Z" }), json!({})),
        (json!({}), json!({ "updated_at": "2001-01-01T00:00:00Z" })),
    ] {
        let folder = Folder::new();
        let runtime = open(&folder);
        let with = |value: &str, mut hint: Value| {
            hint["value"] = json!(value);
            hint
        };
        seed(&runtime, json!({ "a": with("worse", worse), "b": with("better", better.clone()) }));
        let order = found(&runtime, json!({ "context": { "os": "linux" } }));
        assert_eq!(order, ["better", "worse"], "{better}");
    }
}

/// @hints_tie_break
#[test]
fn ties_are_broken_by_priority_then_the_later_change_then_the_name() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let old = "2001-01-01T00:00:00Z";
    let older = "2000-01-01T00:00:00Z";
    seed(
        &runtime,
        json!({
            "d": { "value": "d", "updated_at": older },
            "b": { "value": "b", "updated_at": older },
            "c": { "value": "c", "updated_at": old },
            "a": { "value": "a", "updated_at": old, "meta": { "priority": 4, "confidence": 0.6 } },
            "e": { "value": "e", "updated_at": older, "meta": { "priority": 6, "confidence": 0.4 } },
        }),
    );
    let order = found(&runtime, json!({}));
    assert_eq!(order, ["e", "c", "b", "d", "a"]);
}

/// @hints_open_files
#[test]
fn an_open_file_raises_the_hints_of_its_component() {
    let folder = Folder::new();
    let runtime = open(&folder);
    for component in ["api", "proxy"] {
        let params = json!({ "component": component, "key": "k", "value": component });
        call(&runtime, "set_hint", params).unwrap();
    }
    let first = |files: Value| {
        let query = json!({ "keys": ["k"], "limit": 1, "context": { "files_open": files } });
        let found = call(&runtime, "query_hints", query).unwrap()["hints"][0].clone();
        (found["component"].clone(), found["match_explain"]["reasons"].to_string())
    };
    assert_eq!(first(json!([])).0, "proxy", "the later one");
    let (component, reasons) = first(json!(["/srv/api/src/main.rs"]));
    assert_eq!(component, "api");
    assert!(reasons.contains("an open file belongs to it"), "{reasons}");
    let (component, _) = first(json!(["C:\\code\\api\\main.rs"]));
    assert_eq!(component, "api");

    set_with(&runtime, "g", "v", json!({ "scope": { "cwd_glob": ["**/gate*"] } })).unwrap();
    let at = |files: Value| {
        score(&get_at(&runtime, "g", json!({ "cwd": "/x/gate", "files_open": files })).unwrap())
    };
    assert!(at(json!(["/x/gate/src/a.rs"])) > at(json!(["/x/other/a.rs"])));
}
