//! The secret guard of hints. Secrets are assembled here, so that none is in the source.

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
fn a_secret_is_refused_in_every_part_of_a_hint() {
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

/// Members other than value and reason that may contain a secret, each with such a meta.
fn meta_with_secret() -> Vec<(&'static str, Value)> {
    let password = format!("{}{}", "hunt", "er2-correct-horse");
    let scope = |scope: Value| json!({ "scope": scope });
    vec![
        ("meta.tags", json!({ "tags": ["build", aws()] })),
        ("meta.added_by", json!({ "added_by": format!("agent {}", aws()) })),
        ("meta.scope.cwd_glob", scope(json!({ "cwd_glob": [format!("/srv/{}/**", aws())] }))),
        (
            "meta.scope.repo",
            scope(json!({ "repo": format!("https://me:{password}@host.example/a/b") })),
        ),
        ("meta.scope.branch", scope(json!({ "branch": ["main", aws()] }))),
        ("meta.scope.env_required", scope(json!({ "env_required": [aws()] }))),
        ("meta.scope.env_match", scope(json!({ "env_match": { "A": ["b", aws()] } }))),
        ("meta.scope.env_match", scope(json!({ "env_match": { "PASSWORD": password } }))),
        ("meta.scope.env_match", scope(json!({ "env_match": { aws(): "b" } }))),
    ]
}

/// @hints_secret_guard
#[test]
fn a_secret_in_tags_authors_and_scopes_is_refused_by_its_member() {
    let folder = Folder::new();
    let runtime = open(&folder);
    for (param, meta) in meta_with_secret() {
        assert_eq!(refused_in(set_with(&runtime, "k", "v", meta.clone())), param);
        let hints = json!({ "k": { "value": "v", "meta": meta } });
        let payload = json!({ "components": { "web": { "hints": hints } } });
        let imported = call(&runtime, "import_hints", json!({ "payload": payload }));
        assert_eq!(refused_in(imported), param);
        let mut marked = meta.clone();
        marked["sensitivity"] = "secret".into();
        assert!(set_with(&runtime, "k", "v", marked).is_ok(), "{param}");
    }
}

/// @hints_secret_in_name
#[test]
fn a_secret_in_a_name_is_refused_even_if_it_is_marked() {
    let folder = Folder::new();
    let runtime = open(&folder);
    for (param, component, key) in [("component", aws(), "k".into()), ("key", "web".into(), aws())]
    {
        let set = json!({ "component": component, "key": key, "value": "v", "allow_secret": true });
        assert_eq!(refused_in(call(&runtime, "set_hint", set)), param);
        let hint = json!({ "value": "v", "meta": { "sensitivity": "secret" } });
        let hints = json!({ &key: hint });
        let payload = json!({ "components": { &component: { "hints": hints } } });
        let import = |on_error: &str| {
            let params = json!({ "payload": payload, "allow_secret": true, "on_error": on_error });
            call(&runtime, "import_hints", params)
        };
        assert_eq!(refused_in(import("abort")), param);
        let taken = import("skip").unwrap();
        assert_eq!((&taken["imported"], &taken["skipped"]), (&json!(0), &json!(1)));
        assert!(!taken.to_string().contains(&aws()), "{taken}");
    }
    let listed = call(&runtime, "list_components", json!({})).unwrap();
    assert_eq!(listed["components"], json!([]));
}

/// @hints_secret_entry
#[test]
fn an_entry_masks_a_secret_and_says_where_the_value_is() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let meta = json!({ "sensitivity": "secret", "reason": format!("rotated from {}", aws()), "tags": [aws()] });
    set_with(&runtime, "text", &aws(), meta.clone()).unwrap();
    let value = json!({ "type": "command", "cmd": format!("login {}", aws()) });
    let params = json!({ "component": "web", "key": "command", "value": value, "meta": meta });
    call(&runtime, "set_hint", params).unwrap();
    for (key, body) in [("text", "AKIA****N7XL"), ("command", "logi****N7XL")] {
        let read = call(&runtime, "get", json!({ "path": format!("hint://web/{key}") })).unwrap();
        assert!(!read.to_string().contains(&aws()), "{read}");
        assert_eq!(read["entry"]["body"], body);
        assert_eq!(read["entry"]["media_type"], "text/plain");
        assert!(read["entry"]["attributes"]["note"].as_str().unwrap().contains("get_hint"));
    }
    let listed = call(&runtime, "list_resources", json!({})).unwrap();
    assert_eq!(listed["resources"].as_array().unwrap().len(), 2);
    assert!(!listed.to_string().contains(&aws()), "{listed}");
    assert_eq!(get(&runtime, "text").unwrap()["hint"]["value"], aws());
}

/// @hints_render_secret
#[test]
fn a_rendered_secret_template_is_masked_in_text() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let value = json!({ "type": "template", "format": "interpolate", "body": format!("{} ${{who}}", aws()) });
    let name = json!({ "component": "web", "key": "t", "value": value, "allow_secret": true });
    call(&runtime, "set_hint", name).unwrap();
    let params = json!({ "component": "web", "key": "t", "render": { "who": "ann" } });
    let result = call(&runtime, "get_hint", params.clone()).unwrap();
    assert_eq!(result["rendered"], format!("{} ann", aws()));
    let pretty = runtime.table().find("get_hint").unwrap().info.cli.pretty.unwrap();
    let text = pretty(&params, &result, usize::MAX).unwrap();
    assert!(text.contains("rendered: AKIA**** ann") && !text.contains(&aws()), "{text}");
}

/// @hints_secret_guard
#[test]
fn allow_secret_or_sensitivity_stores_a_secret_and_it_is_marked() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let by_meta = set_with(&runtime, "a", &aws(), json!({ "sensitivity": "secret" })).unwrap();
    assert_eq!(by_meta["hint"]["meta"]["sensitivity"], "secret");
    let params = json!({ "component": "web", "key": "b", "value": aws(), "allow_secret": true });
    let by_param = call(&runtime, "set_hint", params).unwrap();
    assert_eq!(by_param["hint"]["meta"]["sensitivity"], "secret");
    assert_eq!(get(&runtime, "b").unwrap()["hint"]["value"], aws());
    // The hint keeps its mark, so another secret is accepted.
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
fn a_secret_is_masked_in_text() {
    let folder = Folder::new();
    let runtime = open(&folder);
    set_with(&runtime, "a", &aws(), json!({ "sensitivity": "secret", "tags": ["t"] })).unwrap();
    let name = json!({ "component": "web", "key": "a" });
    for (op, params) in [("get_hint", name), ("query_hints", json!({ "tags": ["t"] }))] {
        let result = call(&runtime, op, params.clone()).unwrap();
        let pretty = runtime.table().find(op).unwrap().info.cli.pretty.unwrap();
        let text = pretty(&params, &result, usize::MAX).unwrap();
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
