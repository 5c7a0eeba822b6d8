//! Listing components and their keys, and the statistics.

use super::*;

fn put(runtime: &Runtime, component: &str, key: &str, meta: Value) {
    let params = json!({ "component": component, "key": key, "value": "make", "meta": meta });
    call(runtime, "set_hint", params).unwrap();
}

/// The listed components with their counts and keys.
fn listed(runtime: &Runtime, params: Value) -> Vec<(String, u64, Option<Vec<String>>)> {
    let result = call(runtime, "list_components", params).unwrap();
    let components = result["components"].as_array().unwrap().iter();
    let row = |one: &Value| {
        let keys = one.get("keys").map(|keys| serde_json::from_value(keys.clone()).unwrap());
        (one["name"].as_str().unwrap().to_owned(), one["hint_count"].as_u64().unwrap(), keys)
    };
    components.map(row).collect()
}

/// @hints_list
#[test]
fn components_are_listed_by_name_or_by_prefix() {
    let folder = Folder::new();
    let runtime = open(&folder);
    for (component, key) in
        [("env/dev", "url"), ("tools", "x"), ("tools.lint", "run"), ("tools.test", "run")]
    {
        put(&runtime, component, key, json!({}));
    }
    put(&runtime, "tools.test", "fix", json!({}));
    put(&runtime, "tools.test", "run", json!({ "scope": { "os": ["linux"] } }));
    let exact = call(&runtime, "list_components", json!({})).unwrap();
    assert_eq!(exact["components"][0], json!({ "name": "env/dev", "hint_count": 1 }));
    let keys = |keys: &[&str]| Some(keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>());
    let lint = ("tools.lint".to_owned(), 1, keys(&["run"]));
    let test = ("tools.test".to_owned(), 3, keys(&["fix", "run"]));
    let tools = ("tools".to_owned(), 1, keys(&["x"]));
    let of = |component: &str| listed(&runtime, json!({ "component": component }));
    assert_eq!(of("tools*"), [tools.clone(), lint.clone(), test.clone()]);
    assert_eq!(of("tools.t*"), std::slice::from_ref(&test));
    assert_eq!(of("tools."), [lint, test]);
    assert_eq!(of("tools"), [tools]);
    assert_eq!(of("env/").len(), 1);
    assert_eq!(of("*").len(), 4);
    assert_eq!(of("nothing."), []);
    assert_eq!(
        code(call(&runtime, "list_components", json!({ "component": "nothing" }))),
        Code::NotFound
    );
}

/// @hints_stats
#[test]
fn the_statistics_count_hints_and_remaining_quotas() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let empty = call(&runtime, "hint_stats", json!({})).unwrap();
    assert_eq!(
        empty,
        json!({
            "hints": 0, "keys": 0, "components": 0, "variants": 0, "secrets": 0, "uses": 0,
            "lifetimes": { "session": 0, "duration": 0, "forever": 0 },
            "top_tags": [], "most_used": [],
            "quotas": {
                "hints": { "limit": 5000, "left": 5000 },
                "components": { "limit": 500, "left": 500 },
                "hints_of_component": { "limit": 200, "left": 200 },
            },
        })
    );
    put(&runtime, "api", "test", json!({ "ttl": "PT2H", "tags": ["test", "test", "slow"] }));
    put(&runtime, "web", "build", json!({ "ttl": "forever", "tags": ["build"] }));
    put(&runtime, "web", "build", json!({ "tags": ["build"], "scope": { "os": ["linux"] } }));
    put(&runtime, "web", "token", json!({ "sensitivity": "secret" }));
    put(&runtime, "web", "over", json!({ "ttl": "PT0.001S", "tags": ["over"] }));
    testkit::wait::wait_until("the hint is over", || {
        let found = call(&runtime, "get_hint", json!({ "component": "web", "key": "over" }));
        found.is_err().then_some(())
    });
    call(&runtime, "bump_hint", json!({ "component": "api", "key": "test", "delta": 3 })).unwrap();
    call(&runtime, "bump_hint", json!({ "component": "web", "key": "token" })).unwrap();
    let stats = call(&runtime, "hint_stats", json!({})).unwrap();
    assert_eq!(
        stats,
        json!({
            "hints": 4, "keys": 3, "components": 2, "variants": 2, "secrets": 1, "uses": 4,
            "lifetimes": { "session": 2, "duration": 1, "forever": 1 },
            "top_tags": [
                { "tag": "build", "hints": 2 }, { "tag": "slow", "hints": 1 },
                { "tag": "test", "hints": 1 },
            ],
            "most_used": [
                { "component": "api", "key": "test", "use_count": 3 },
                { "component": "web", "key": "token", "use_count": 1 },
            ],
            "quotas": {
                "hints": { "limit": 5000, "left": 4996 },
                "components": { "limit": 500, "left": 498 },
                "hints_of_component": { "limit": 200, "left": 197 },
            },
        })
    );
}
