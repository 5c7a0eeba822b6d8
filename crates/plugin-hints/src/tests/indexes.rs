//! The indexes find what a full scan finds.

use serde_json::{Value, json};
use testkit::Folder;

use super::{call, open};

/// A pseudo-random generator with a fixed seed.
struct TestRng(u64);

impl TestRng {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// The hits of a query, in order: names with scopes.
fn found(
    runtime: &runtime::Runtime,
    mut params: Value,
    keep: impl Fn(&Value) -> bool,
) -> Vec<String> {
    params["context"] = json!({ "cwd": "/srv/web", "branch": "dev", "os": "linux" });
    params["limit"] = json!(1_000);
    let reply = call(runtime, "query_hints", params).unwrap();
    let hints = reply["hints"].as_array().unwrap().iter().filter(|hint| keep(hint));
    let shown = |hint: &Value| {
        format!("{}/{} {}", hint["component"], hint["key"], hint["hint"]["meta"]["scope"])
    };
    hints.map(shown).collect()
}

/// @hints_query
#[test]
fn a_query_by_tag_or_component_finds_what_a_full_scan_finds() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let mut rng = TestRng(7);
    let scopes = [
        json!({}),
        json!({ "os": ["linux"] }),
        json!({ "os": ["windows"] }),
        json!({ "cwd_glob": ["**/web"], "branch": ["dev", "main"] }),
        json!({ "cwd_glob": ["**/api"] }),
    ];
    for _ in 0..400 {
        let component = format!("c{}", rng.below(4));
        let name = json!({ "component": component, "key": format!("k{}", rng.below(12)) });
        let mut params = name.clone();
        let scope = &scopes[usize::try_from(rng.below(5)).unwrap()];
        let tags: Vec<String> = (0..rng.below(4)).map(|_| format!("t{}", rng.below(5))).collect();
        params["value"] = json!("v");
        params["meta"] = json!({ "tags": tags, "priority": rng.below(10) + 1, "scope": scope });
        // A missing hint cannot be deleted or bumped; that error is ignored here.
        let _ = match rng.below(6) {
            0 => call(&runtime, "delete_hint", name),
            1 => call(&runtime, "bump_hint", name),
            _ => call(&runtime, "set_hint", params),
        };
    }
    let all = found(&runtime, json!({}), |_| true);
    assert!(all.len() > 50, "{} hints hold here", all.len());
    for tags in [&["t0"][..], &["t1", "t2"], &["t3", "t3", "t4", "t0"], &["nothing"]] {
        let has = |hint: &Value| {
            let own = hint["hint"]["meta"]["tags"].as_array().map_or(&[][..], Vec::as_slice);
            own.iter().any(|tag| tags.iter().any(|wanted| tag == wanted))
        };
        // The order may change with the time between two queries.
        let expected = sorted(found(&runtime, json!({}), has));
        let by_tag = sorted(found(&runtime, json!({ "tags": tags }), |_| true));
        assert_eq!(by_tag, expected, "{tags:?}");
    }
    for component in ["c0", "c3"] {
        let expected = found(&runtime, json!({}), |hint| hint["component"] == component);
        let by_component = found(&runtime, json!({ "component": component }), |_| true);
        assert_eq!(sorted(by_component), sorted(expected));
    }
    for limit in [1, 2, 7] {
        let few = call(&runtime, "query_hints", json!({ "tags": ["t0"], "limit": limit })).unwrap();
        let many =
            call(&runtime, "query_hints", json!({ "tags": ["t0"], "limit": 1_000 })).unwrap();
        let keys = |reply: &Value, count: usize| -> Vec<(Value, Value)> {
            let hints = reply["hints"].as_array().unwrap().iter().take(count);
            hints.map(|hint| (hint["component"].clone(), hint["key"].clone())).collect()
        };
        let (few, best) = (keys(&few, limit + 1), keys(&many, limit + 3));
        assert_eq!(few.len(), limit.min(best.len()));
        assert!(few.iter().all(|hint| best.contains(hint)), "the best {limit} of them");
    }
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}
