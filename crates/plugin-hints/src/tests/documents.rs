//! Export and import.

use model::Code;
use serde_json::{Value, json};
use testkit::Folder;

use super::{call, code, get, open, set};

fn import(runtime: &runtime::Runtime, payload: &Value, mode: &str) -> model::Reply {
    call(runtime, "import_hints", json!({ "payload": payload, "mode": mode }))
}

fn export(runtime: &runtime::Runtime) -> Value {
    call(runtime, "export_hints", json!({ "format": "json" })).unwrap()["payload"].clone()
}

/// @hints_lossless
#[test]
fn exported_hints_are_imported_without_loss() {
    let folder = Folder::new();
    let first = open(&folder);
    let values = [
        json!("text ü\n"),
        json!({ "type": "command", "shell": "sh", "cmd": "make" }),
        json!({ "type": "path", "os": ["windows"], "abs": "c:\\code" }),
        json!({ "type": "template", "format": "mustache", "body": "{{a}}", "defaults": { "a": "1" } }),
        json!({ "type": "json", "data": { "b": [1, 2.5, null], "a": {} } }),
    ];
    let metas = [
        json!({}),
        json!({ "reason": "r", "tags": ["b", "a"], "priority": 1, "confidence": 0.25, "ttl": "PT1,5H", "sensitivity": "normal",
            "source": "tool-output", "added_by": "agent:x", "scope": { "cwd_glob": ["b/**", "a"], "repo": "git:a/b",
            "branch": ["x"], "os": ["linux"], "env_required": ["A"], "env_match": { "B": "1", "C": ["2", "1"] } } }),
        json!({ "ttl": "forever", "scope": { "repo": ["a", "b"] } }),
    ];
    for (number, value) in values.iter().enumerate() {
        for meta in &metas {
            let params = json!({ "component": "web", "key": format!("k{number}"), "value": value, "meta": meta });
            for _ in 0..=number {
                call(&first, "set_hint", params.clone()).unwrap();
            }
        }
    }
    let bump = json!({ "component": "web", "key": "k1", "delta": 4, "scope": metas[1]["scope"] });
    call(&first, "bump_hint", bump).unwrap();
    let exported = export(&first);
    assert_eq!(exported["schema_version"], "1.0");
    assert_eq!(exported["components"]["web"]["variants"]["k0"].as_array().unwrap().len(), 2);
    for mode in ["merge", "replace"] {
        let folder = Folder::new();
        let second = open(&folder);
        let taken = import(&second, &exported, mode).unwrap();
        assert_eq!(taken, json!({ "imported": 15, "skipped": 0 }));
        assert_eq!(export(&second)["components"], exported["components"], "{mode}");
        second.close();
        let third = open(&folder);
        assert_eq!(export(&third)["components"], exported["components"], "from the journal");
    }
}

/// @hints_import_merge
#[test]
fn a_merge_keeps_the_later_version_and_a_replace_keeps_nothing() {
    let folder = Folder::new();
    let runtime = open(&folder);
    for key in ["old", "same", "new", "mine"] {
        set(&runtime, key, "a").unwrap();
        set(&runtime, key, "b").unwrap();
    }
    let hint = |version: u64| json!({ "value": "c", "version": version });
    let hints = json!({ "old": hint(1), "same": hint(2), "new": hint(3), "other": hint(7) });
    let payload = json!({ "schema_version": "1.0", "components": { "web": { "hints": hints } } });
    let taken = import(&runtime, &payload, "merge").unwrap();
    assert_eq!(taken, json!({ "imported": 2, "skipped": 2 }));
    let value = |key: &str| get(&runtime, key).unwrap()["hint"]["value"].clone();
    assert_eq!(
        (value("old"), value("same"), value("new"), value("mine")),
        (json!("b"), json!("b"), json!("c"), json!("b"))
    );
    assert_eq!(get(&runtime, "other").unwrap()["hint"]["version"], 7);
    let taken = import(&runtime, &payload, "replace").unwrap();
    assert_eq!(taken, json!({ "imported": 4, "skipped": 0 }));
    assert_eq!(value("old"), "c");
    assert_eq!(code(get(&runtime, "mine")), Code::NotFound);
}

/// @hints_import_all_or_nothing
#[test]
fn one_bad_member_stops_all_unless_it_is_skipped() {
    for (bad, reason) in [
        (json!({ "value": null }), "E_INVALID"),
        (json!({}), "E_INVALID"),
        (json!("text"), "E_INVALID"),
        (json!({ "value": "v", "colour": 1 }), "E_INVALID"),
        (json!({ "value": "v", "version": 0 }), "E_INVALID"),
        (json!({ "value": "v", "version": -1 }), "E_INVALID"),
        (json!({ "value": "v", "use_count": u64::MAX }), "E_INVALID"),
        (json!({ "value": "v", "updated_at": "yesterday" }), "E_INVALID"),
        (json!({ "value": "v", "meta": { "priority": 99 } }), "E_INVALID"),
        (json!({ "value": "v", "meta": { "ttl": "P1Y" } }), "E_INVALID"),
        (json!({ "value": "v", "meta": { "scope": { "cwd_glob": ["../x"] } } }), "E_SCOPE_INVALID"),
        (json!({ "value": "x".repeat(70_000) }), "E_TOO_LARGE"),
    ] {
        let folder = Folder::new();
        let runtime = open(&folder);
        set(&runtime, "mine", "v").unwrap();
        let hints = json!({ "a": { "value": "v" }, "bad": bad, "z": { "value": "v" } });
        let payload = json!({ "components": { "web": { "hints": hints } } });
        let error = import(&runtime, &payload, "replace").unwrap_err();
        let wire = error.to_wire();
        assert_eq!(
            (&wire["data"]["reason"], &wire["data"]["key"]),
            (&json!(reason), &json!("bad")),
            "{error}"
        );
        assert!(get(&runtime, "mine").is_ok() && get(&runtime, "a").is_err(), "{error}");
        let params = json!({ "payload": payload, "on_error": "skip" });
        let taken = call(&runtime, "import_hints", params).unwrap();
        assert_eq!((&taken["imported"], &taken["skipped"]), (&json!(2), &json!(1)), "{taken}");
        assert_eq!(taken["errors"][0]["reason"], reason);
        assert!(get(&runtime, "z").is_ok() && get(&runtime, "bad").is_err());
    }
}

/// @hints_import_schema_version
#[test]
fn every_document_of_version_1_is_read_and_no_later_one() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let with = |version: Value| {
        let payload = json!({ "schema_version": version, "components": {} });
        import(&runtime, &payload, "merge")
    };
    for good in ["1.0", "1", "1.7", "1.0.3"] {
        assert!(with(json!(good)).is_ok(), "{good}");
    }
    for bad in [
        json!("2.0"),
        json!("10.0"),
        json!("1.x"),
        json!("one"),
        json!(1.0),
        json!(null),
        json!(""),
    ] {
        let error = with(bad.clone()).unwrap_err();
        assert_eq!(
            (error.code, &error.details["param"]),
            (Code::Invalid, &json!("payload.schema_version")),
            "{bad}"
        );
    }
    assert!(import(&runtime, &json!({ "components": {} }), "merge").is_ok());
    for payload in [
        json!({ "components": [] }),
        json!({ "components": { "web": 1 } }),
        json!({ "components": { "web": { "hints": [] } } }),
        json!({ "components": { "web": { "variants": { "k": {} } } } }),
        json!({ "components": { "web": { "spells": {} } } }),
    ] {
        assert_eq!(code(import(&runtime, &payload, "merge")), Code::Invalid, "{payload}");
    }
}

#[test]
fn times_without_a_zone_are_utc_and_a_part_can_be_exported() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let hint =
        json!({ "value": "v", "created_at": "2025-11-04T10:00:00.123456", "last_used_at": null });
    let components =
        json!({ "web": { "hints": { "k": hint } }, "api": { "hints": { "k": { "value": "w" } } } });
    import(&runtime, &json!({ "components": components }), "merge").unwrap();
    assert_eq!(get(&runtime, "k").unwrap()["hint"]["created_at"], "2025-11-04T10:00:00.123Z");
    let part = call(&runtime, "export_hints", json!({ "component": "api" })).unwrap();
    let names: Vec<&String> = part["payload"]["components"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["api"]);
}
