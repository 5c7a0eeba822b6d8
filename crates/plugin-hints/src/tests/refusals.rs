//! Bad input is refused with its code and leaves no trace.

use model::Code;
use serde_json::{Value, json};
use testkit::Folder;

use super::{call, code, open};

/// @hints_bad_input
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

/// @hints_bad_input
#[test]
fn a_bad_parameter_is_refused_by_name_and_leaves_no_trace() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let meta = |meta: Value| json!({ "component": "c", "key": "k", "value": "v", "meta": meta });
    let scope = |scope: Value| meta(json!({ "scope": scope }));
    for (op, params, param) in [
        ("set_hint", meta(json!({ "priority": 0 })), "meta.priority"),
        ("set_hint", meta(json!({ "priority": 11 })), "meta.priority"),
        ("set_hint", meta(json!({ "priority": 99_999 })), "meta.priority"),
        ("set_hint", meta(json!({ "priority": 5.5 })), "meta.priority"),
        ("set_hint", meta(json!({ "priority": "high" })), "meta.priority"),
        ("set_hint", meta(json!({ "confidence": -0.1 })), "meta.confidence"),
        ("set_hint", meta(json!({ "confidence": 7.0 })), "meta.confidence"),
        ("set_hint", meta(json!({ "ttl": "banana" })), "meta.ttl"),
        ("set_hint", meta(json!({ "ttl": "PT0S" })), "meta.ttl"),
        ("set_hint", meta(json!({ "ttl": "P1Y" })), "meta.ttl"),
        ("set_hint", meta(json!({ "ttl": 60 })), "meta.ttl"),
        ("set_hint", meta(json!({ "tags": "build" })), "meta.tags"),
        ("set_hint", meta(json!({ "tags": vec!["t"; 33] })), "meta.tags"),
        ("set_hint", meta(json!({ "reason": "r".repeat(2_001) })), "meta.reason"),
        ("set_hint", meta(json!({ "added_by": "r".repeat(201) })), "meta.added_by"),
        ("set_hint", meta(json!({ "sensitivity": "top" })), "meta.sensitivity"),
        ("set_hint", meta(json!({ "source": "dream" })), "meta.source"),
        ("set_hint", meta(json!({ "colour": "red" })), "meta.colour"),
        ("set_hint", scope(json!({ "os": ["beos"] })), "meta.scope.os[0]"),
        ("set_hint", scope(json!({ "planet": "mars" })), "meta.scope.planet"),
        ("set_hint", scope(json!({ "branch": vec!["b"; 33] })), "meta.scope.branch"),
        ("set_hint", json!({ "component": "c", "key": "k" }), "value"),
        ("set_hint", json!({ "key": "k", "value": "v" }), "component"),
        (
            "set_hint",
            json!({ "component": "c", "key": "k", "value": "v", "if_match_version": -1 }),
            "if_match_version",
        ),
        ("get_hint", json!({ "component": "c" }), "key"),
        (
            "get_hint",
            json!({ "component": "c", "key": "k", "context": { "os": "beos" } }),
            "context.os",
        ),
        (
            "get_hint",
            json!({ "component": "c", "key": "k", "context": { "weather": "x" } }),
            "context.weather",
        ),
        ("query_hints", json!({ "keys": "k" }), "keys"),
        ("export_hints", json!({ "format": "xml" }), "format"),
        ("import_hints", json!({ "payload": {}, "mode": "append" }), "mode"),
        ("import_hints", json!({ "payload": [] }), "payload"),
        ("import_hints", json!({ "payload": {} }), "payload.components"),
    ] {
        let error = call(&runtime, op, params.clone()).unwrap_err();
        let said = error.details.get("param").and_then(Value::as_str).unwrap_or_default();
        assert_eq!((error.code, said), (Code::Invalid, param), "{op} {params}: {error}");
        assert_eq!(error.to_wire()["data"]["reason"], "E_INVALID");
    }
    let listed = call(&runtime, "list_components", json!({})).unwrap();
    assert_eq!(listed["components"], json!([]));
}

/// @hints_paths_and_globs
#[test]
fn an_invalid_path_or_glob_is_refused() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let path = |abs: &str| json!({ "component": "c", "key": "k", "value": { "type": "path", "abs": abs } });
    let scope = |scope: Value| json!({ "component": "c", "key": "k", "value": "v", "meta": { "scope": scope } });
    for params in [
        path("rel/x"),
        path("/a/../b"),
        path("c:\\..\\b"),
        scope(json!({ "cwd_glob": ["../**"] })),
        scope(json!({ "cwd_glob": ["/a/../b"] })),
        scope(json!({ "cwd_glob": ["x".repeat(501)] })),
        scope(json!({ "cwd_glob": [""] })),
        scope(json!({ "branch": ["{a".repeat(100)] })),
    ] {
        let error = call(&runtime, "set_hint", params.clone()).unwrap_err();
        assert_eq!(error.to_wire()["code"], 40003, "{params}: {error}");
        assert_eq!(error.to_wire()["data"]["reason"], "E_SCOPE_INVALID");
    }
    let listed = call(&runtime, "list_components", json!({})).unwrap();
    assert_eq!(listed["components"], json!([]));
}
