//! Searching and listing hints.

use model::Code;
use serde_json::{Value, json};
use testkit::Folder;

use super::{call, code, found, get, open, set};

fn filled() -> (Folder, runtime::Runtime) {
    let folder = Folder::new();
    let runtime = open(&folder);
    for (component, key, value, tags) in [
        ("api", "build", json!("docker build api"), json!(["build", "docker"])),
        ("api", "test", json!({ "type": "command", "cmd": "make test" }), json!(["test"])),
        ("web", "build", json!("npm run build"), json!(["build", "npm"])),
        ("web", "dir", json!({ "type": "path", "abs": "/srv/web" }), json!([])),
        ("web", "conf", json!({ "type": "json", "data": { "port": 8080 } }), json!([])),
    ] {
        let meta = json!({ "tags": tags });
        let params = json!({ "component": component, "key": key, "value": value, "meta": meta });
        call(&runtime, "set_hint", params).unwrap();
    }
    (folder, runtime)
}

fn names(runtime: &runtime::Runtime, params: Value) -> Vec<String> {
    let reply = call(runtime, "query_hints", params).unwrap();
    let hints = reply["hints"].as_array().unwrap().iter();
    let name = |hint: &Value| {
        format!("{}/{}", hint["component"].as_str().unwrap(), hint["key"].as_str().unwrap())
    };
    let mut names: Vec<String> = hints.map(name).collect();
    names.sort();
    names
}

/// @hints_query
#[test]
fn filters_are_conjunctive_and_values_of_a_list_are_alternatives() {
    let (_folder, runtime) = filled();
    for (params, expected) in [
        (json!({ "component": "api" }), &["api/build", "api/test"][..]),
        (json!({ "component": "nobody" }), &[]),
        (json!({ "keys": ["build", "dir"] }), &["api/build", "web/build", "web/dir"]),
        (json!({ "component": "web", "keys": ["dir", "dir", "no"] }), &["web/dir"]),
        (json!({ "tags": ["docker", "npm"] }), &["api/build", "web/build"]),
        (json!({ "tags": ["build", "docker", "build"] }), &["api/build", "web/build"]),
        (json!({ "tags": ["nothing"] }), &[]),
        (json!({ "component": "api", "tags": ["build"] }), &["api/build"]),
        (json!({ "regex": "build" }), &["api/build", "web/build"]),
        (json!({ "regex": "^make\\s" }), &["api/test"]),
        (json!({ "regex": "^/srv" }), &["web/dir"]),
        (json!({ "regex": "808\\d" }), &["web/conf"]),
        (json!({ "regex": "(?i)DOCKER", "tags": ["build"] }), &["api/build"]),
        (json!({}), &["api/build", "api/test", "web/build", "web/conf", "web/dir"]),
    ] {
        assert_eq!(names(&runtime, params.clone()), expected, "{params}");
    }
}

/// @hints_query
#[test]
fn a_query_gives_score_and_reasons_and_at_most_its_limit() {
    let (_folder, runtime) = filled();
    let reply = call(&runtime, "query_hints", json!({ "limit": 2 })).unwrap();
    let hints = reply["hints"].as_array().unwrap();
    assert_eq!(hints.len(), 2);
    for hint in hints {
        assert_eq!(hint["match_explain"]["matched"], true);
        let exact = hint["score"].as_f64().unwrap();
        let shown = hint["match_explain"]["score"].as_f64().unwrap();
        assert!((exact - shown).abs() <= 0.005, "{hint}");
    }
    for limit in [json!(0), json!(-1), json!(1.5), json!("many")] {
        assert_eq!(code(call(&runtime, "query_hints", json!({ "limit": limit }))), Code::Invalid);
    }
    assert_eq!(names(&runtime, json!({ "limit": 100_000 })).len(), 5);
    for n in 0..20 {
        set(&runtime, &format!("k{n}"), "v").unwrap();
    }
    assert_eq!(names(&runtime, json!({})).len(), 10, "ten by default");
}

/// @hints_query
#[test]
fn a_hostile_regex_is_refused_or_harmless() {
    let (_folder, runtime) = filled();
    let long = "a".repeat(60_000);
    set(&runtime, "long", &long).unwrap();
    for bad in
        ["(", "[z-a]", "(a)\\1", "(?=a)", "\\p{Greek}", "(((a{99}){99}){99})", &"a|".repeat(600)]
    {
        let error = call(&runtime, "query_hints", json!({ "regex": bad })).unwrap_err();
        assert_eq!(
            (error.code, &error.details["param"]),
            (Code::Invalid, &json!("regex")),
            "{bad}"
        );
    }
    // Patterns with catastrophic backtracking in other engines.
    for slow in ["(a+)+$", "(a|aa)+b", "^(([a-z])+.)+[A-Z]$"] {
        assert!(call(&runtime, "query_hints", json!({ "regex": slow })).is_ok(), "{slow}");
    }
    assert_eq!(names(&runtime, json!({ "regex": "(a+)+$" })), ["web/long"]);
}

/// @hints_list
#[test]
fn components_are_listed_with_their_counts_and_one_with_its_keys() {
    let (_folder, runtime) = filled();
    let list =
        |params: Value| call(&runtime, "list_components", params).unwrap()["components"].clone();
    let all = json!([{ "name": "api", "hint_count": 2 }, { "name": "web", "hint_count": 3 }]);
    assert_eq!(list(json!({})), all);
    let meta = json!({ "scope": { "os": ["linux"] } });
    let variant = json!({ "component": "api", "key": "test", "value": "t", "meta": meta });
    call(&runtime, "set_hint", variant).unwrap();
    let api = json!([{ "name": "api", "hint_count": 3, "keys": ["build", "test"] }]);
    assert_eq!(list(json!({ "component": "api" })), api);
    let nobody = json!({ "component": "nobody" });
    assert_eq!(code(call(&runtime, "list_components", nobody)), Code::NotFound);
}

#[test]
fn the_index_by_tag_follows_every_change() {
    let (_folder, runtime) = filled();
    let tagged = |tag: &str| names(&runtime, json!({ "tags": [tag] }));
    let retag = json!({ "component": "api", "key": "build", "value": "v", "meta": { "tags": ["new", "new"] } });
    call(&runtime, "set_hint", retag).unwrap();
    assert_eq!((tagged("docker").len(), tagged("new").len()), (0, 1));
    call(&runtime, "bump_hint", json!({ "component": "api", "key": "build" })).unwrap();
    assert_eq!(tagged("new"), ["api/build"]);
    call(&runtime, "delete_hint", json!({ "component": "api", "key": "build" })).unwrap();
    assert_eq!(tagged("new"), Vec::<String>::new());
    assert_eq!(found(&runtime, json!({ "component": "web", "tags": ["npm"] })), ["npm run build"]);
    assert!(get(&runtime, "build").is_ok());
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
