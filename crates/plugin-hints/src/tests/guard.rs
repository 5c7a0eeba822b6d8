//! The secret guard in front of hints. Secrets are put together here, so that none stands in the source.

use std::sync::Arc;

use model::Code;
use serde_json::{Value, json};
use testkit::Folder;

use super::{Hints, call, get, open, set, set_with};

fn aws() -> String {
    format!("{}{}", "AKIA", "Q3EGRAFMWU5TN7XL")
}

fn refused_in(reply: model::Reply) -> String {
    let error = reply.unwrap_err();
    assert_eq!(error.to_wire()["code"], 40002, "{error}");
    assert_eq!(error.to_wire()["data"]["reason"], "E_SECRET_REJECTED");
    assert!(error.details["rule"].is_string());
    assert!(!format!("{error:?}").contains(&aws()), "the value is repeated");
    error.details["param"].as_str().unwrap().to_owned()
}

/// @hints_secret_guard
#[test]
fn a_secret_is_refused_wherever_it_stands() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let with = |value: Value, meta: Value| {
        call(
            &runtime,
            "set_hint",
            json!({ "component": "web", "key": "k", "value": value, "meta": meta }),
        )
    };
    let template = json!({ "type": "template", "format": "jinja", "body": "{{a}}", "defaults": { "a": aws() } });
    for value in [
        json!(aws()),
        json!(format!("export KEY={} && make", aws())),
        json!({ "type": "command", "cmd": format!("run {}", aws()) }),
        template,
        json!({ "type": "json", "data": { "deep": [{ "x": aws() }] } }),
        json!({ "type": "json", "data": { "password": format!("{}{}", "hunt", "er2-correct-horse") } }),
        json!("0123456789abcdef".repeat(4)),
    ] {
        assert_eq!(refused_in(with(value, json!({}))), "value");
    }
    assert_eq!(refused_in(with(json!("v"), json!({ "reason": aws() }))), "meta.reason");
    let listed = call(&runtime, "list_components", json!({})).unwrap();
    assert_eq!(listed["components"], json!([]));
    for harmless in [
        "a.b.c",
        "0123456789abcdef0123456789abcdef",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "docker compose build router",
        "/srv/token/dir",
    ] {
        assert!(set(&runtime, "k", harmless).is_ok(), "{harmless}");
    }
}

/// @hints_secret_guard
#[test]
fn either_word_lets_a_secret_in_and_it_is_marked() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let by_meta = set_with(&runtime, "a", &aws(), json!({ "sensitivity": "secret" })).unwrap();
    assert_eq!(by_meta["hint"]["meta"]["sensitivity"], "secret");
    let params = json!({ "component": "web", "key": "b", "value": aws(), "allow_secret": true });
    let by_param = call(&runtime, "set_hint", params).unwrap();
    assert_eq!(by_param["hint"]["meta"]["sensitivity"], "secret");
    assert_eq!(get(&runtime, "b").unwrap()["hint"]["value"], aws());
    // The hint keeps its mark, and so another secret may follow.
    assert!(set(&runtime, "a", &format!("x {}", aws())).is_ok());
    assert_eq!(refused_in(set_with(&runtime, "a", &aws(), json!({}))), "value");
}

/// @hints_secret_guard
#[test]
fn an_import_refuses_a_secret_as_a_bad_member() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let payload = json!({ "components": { "web": { "hints": {
        "good": { "value": "v" }, "bad": { "value": aws() },
        "marked": { "value": aws(), "meta": { "sensitivity": "secret" } } } } } });
    let import = |more: Value| {
        let mut params = json!({ "payload": payload });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call(&runtime, "import_hints", params)
    };
    refused_in(import(json!({})));
    assert_eq!(get(&runtime, "good").unwrap_err().code, Code::NotFound, "all or nothing");
    let taken = import(json!({ "on_error": "skip" })).unwrap();
    assert_eq!((&taken["imported"], &taken["skipped"]), (&json!(2), &json!(1)));
    assert!(!taken.to_string().contains(&aws()), "{taken}");
    let taken = import(json!({ "allow_secret": true })).unwrap();
    assert_eq!((&taken["imported"], &taken["skipped"]), (&json!(1), &json!(2)));
    assert_eq!(get(&runtime, "bad").unwrap()["hint"]["meta"]["sensitivity"], "secret");
    assert_eq!(get(&runtime, "good").unwrap()["hint"]["meta"], json!({}));
}

/// @hints_secret_guard
#[test]
fn people_see_a_secret_masked() {
    let folder = Folder::new();
    let runtime = open(&folder);
    set_with(&runtime, "a", &aws(), json!({ "sensitivity": "secret", "tags": ["t"] })).unwrap();
    let name = json!({ "component": "web", "key": "a" });
    for (op, params) in [("get_hint", name), ("query_hints", json!({ "tags": ["t"] }))] {
        let result = call(&runtime, op, params.clone()).unwrap();
        let pretty = runtime.table().find(op).unwrap().info.cli.pretty.unwrap();
        let text = pretty(&params, &result);
        assert!(text.contains("value: AKIA****N7XL") && !text.contains(&aws()), "{text}");
    }
}

/// @hints_secret_guard
#[test]
fn the_guard_can_be_turned_off() {
    let folder = Folder::new();
    let runtime = folder.open(vec![Arc::new(Hints::default())], &[("hints.secret_guard", "0")]);
    assert_eq!(set(&runtime, "a", &aws()).unwrap()["hint"]["meta"], json!({}));
}
