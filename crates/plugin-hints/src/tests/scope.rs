//! Variants, and the gate that decides which of them apply.

use model::Code;
use model::situation::Situation;
use serde_json::{Value, json};
use testkit::Folder;

use super::{call, call_from, code, get, get_at, open, set, set_with};

fn scoped(runtime: &runtime::Runtime, value: &str, scope: &Value) {
    set_with(runtime, "k", value, json!({ "scope": scope })).unwrap();
}

/// The returned value, or the first reason why there is none.
fn answer(reply: model::Reply) -> Result<String, String> {
    let reply = reply.unwrap();
    let explain = &reply["match_explain"];
    if explain["matched"] == true {
        return Ok(reply["hint"]["value"].as_str().unwrap().to_owned());
    }
    assert_eq!((&reply["hint"], &explain["score"]), (&json!(null), &json!(0.0)));
    Err(explain["reasons"][0].as_str().unwrap().to_owned())
}

/// @hints_variants
#[test]
fn hints_of_one_key_that_differ_in_scope_coexist() {
    let folder = Folder::new();
    let runtime = open(&folder);
    scoped(&runtime, "linux", &json!({ "os": ["linux"], "branch": ["dev", "main"] }));
    scoped(&runtime, "anywhere", &json!({}));
    scoped(&runtime, "again", &json!({ "branch": ["main", "dev"], "os": ["linux"] }));
    let at = |os: &str| get_at(&runtime, "k", json!({ "os": os, "branch": "dev" })).unwrap();
    assert_eq!(at("linux")["hint"]["value"], "again");
    assert_eq!(at("linux")["hint"]["version"], 2);
    assert_eq!(at("darwin")["hint"]["value"], "anywhere");
    assert_eq!(at("darwin")["hint"]["version"], 1);
}

/// @hints_set_without_meta
#[test]
fn without_meta_the_only_variant_is_changed_else_the_unscoped_one() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let linux = json!({ "os": ["linux"] });
    scoped(&runtime, "a", &linux);
    let changed = set(&runtime, "k", "b").unwrap();
    assert_eq!(changed["hint"]["meta"]["scope"], linux);
    assert_eq!(changed["hint"]["version"], 2);
    scoped(&runtime, "c", &json!({ "os": ["darwin"] }));
    let new = set(&runtime, "k", "d").unwrap();
    assert_eq!((&new["hint"]["version"], &new["hint"]["meta"]), (&json!(1), &json!({})));
    let changed = set(&runtime, "k", "e").unwrap();
    assert_eq!((&changed["hint"]["version"], &changed["hint"]["meta"]), (&json!(2), &json!({})));
    assert_eq!(answer(get_at(&runtime, "k", json!({ "os": "linux" }))), Ok("b".into()));
}

/// @hints_gate_is_strict
#[test]
fn each_condition_holds_or_is_reported() {
    let rows = [
        (json!({ "cwd_glob": ["**/http-proxy*"] }), json!({ "cwd": "/srv/http-proxy" }), Ok(())),
        (json!({ "cwd_glob": ["**/http-proxy*"] }), json!({ "cwd": "/srv/http-proxy/" }), Ok(())),
        (
            json!({ "cwd_glob": ["**/http-proxy*"] }),
            json!({ "cwd": "/srv/http-proxy/src" }),
            Err("cwd=/srv/http-proxy/src matches none of [**/http-proxy*]"),
        ),
        (json!({ "cwd_glob": ["/a", "/srv/*"] }), json!({ "cwd": "/srv/x" }), Ok(())),
        (json!({ "cwd_glob": ["c:/code/*"] }), json!({ "cwd": "c:\\code\\x" }), Ok(())),
        (
            json!({ "cwd_glob": ["/a"] }),
            json!({}),
            Err("cwd is not known, the hint needs one of [/a]"),
        ),
        (json!({ "repo": "git:a/b" }), json!({ "repo": "git:a/b" }), Ok(())),
        (json!({ "repo": ["x", "git:a/b"] }), json!({ "repo": "git:a/b" }), Ok(())),
        (json!({ "repo": "https://h.org/a/b.git" }), json!({ "repo": "git:a/b" }), Ok(())),
        (json!({ "repo": "git:a/b" }), json!({ "repo": "git@h.org:a/b.git" }), Ok(())),
        (
            json!({ "repo": "https://h.org/a/b" }),
            json!({ "repo": "https://other.org/a/b" }),
            Err("repo=https://other.org/a/b not in [https://h.org/a/b]"),
        ),
        (
            json!({ "repo": "git:a/b" }),
            json!({ "repo": "git:a" }),
            Err("repo=git:a not in [git:a/b]"),
        ),
        (json!({ "branch": ["dev"] }), json!({ "branch": "dev" }), Ok(())),
        (json!({ "branch": ["dev"] }), json!({ "branch": "de" }), Err("branch=de not in [dev]")),
        (json!({ "branch": ["hotfix/*"] }), json!({ "branch": "hotfix/a" }), Ok(())),
        (
            json!({ "branch": ["hotfix/*"] }),
            json!({ "branch": "hotfix/a/b" }),
            Err("branch=hotfix/a/b not in [hotfix/*]"),
        ),
        (json!({ "branch": ["hotfix/**"] }), json!({ "branch": "hotfix/a/b" }), Ok(())),
        (json!({ "os": ["windows"] }), json!({ "os": "linux" }), Err("os=linux not in [windows]")),
        (json!({ "os": ["windows", "linux"] }), json!({ "os": "linux" }), Ok(())),
        (
            json!({ "os": ["linux"] }),
            json!({}),
            Err("os is not known, the hint needs one of [linux]"),
        ),
        (json!({ "env_required": ["A", "B"] }), json!({ "env": { "A": "", "B": "1" } }), Ok(())),
        (
            json!({ "env_required": ["A", "B"] }),
            json!({ "env": { "A": "1" } }),
            Err("env B is not set"),
        ),
        (json!({ "env_match": { "CI": "1" } }), json!({ "env": { "CI": "1" } }), Ok(())),
        (json!({ "env_match": { "CI": ["1", "2"] } }), json!({ "env": { "CI": "2" } }), Ok(())),
        (
            json!({ "env_match": { "CI": "1" } }),
            json!({ "env": { "CI": "0" } }),
            Err("env CI has another value"),
        ),
        (json!({ "env_match": { "CI": "1" } }), json!({}), Err("env CI is not set")),
        (
            json!({ "os": ["linux"], "branch": ["dev"] }),
            json!({ "os": "linux", "branch": "main" }),
            Err("branch=main not in [dev]"),
        ),
        (json!({ "os": [], "branch": [] }), json!({}), Ok(())),
    ];
    for (scope, context, expected) in rows {
        let folder = Folder::new();
        let runtime = open(&folder);
        scoped(&runtime, "v", &scope);
        let said = answer(get_at(&runtime, "k", context.clone()));
        let expected = expected.map(|()| "v".to_owned()).map_err(str::to_owned);
        assert_eq!(said, expected, "{scope} at {context}");
    }
}

/// @hints_no_match
#[test]
fn a_hint_that_does_not_apply_is_returned_by_no_operation() {
    let folder = Folder::new();
    let runtime = open(&folder);
    scoped(&runtime, "hidden-value", &json!({ "os": ["windows"] }));
    scoped(&runtime, "hidden-too", &json!({ "os": ["darwin"] }));
    let here = json!({ "os": "linux" });
    let got = get_at(&runtime, "k", here.clone()).unwrap();
    assert_eq!(
        got["match_explain"]["reasons"],
        json!(["os=linux not in [darwin]", "os=linux not in [windows]"])
    );
    let found = call(&runtime, "query_hints", json!({ "context": here })).unwrap();
    let listed = call(&runtime, "list_resources", json!({})).unwrap();
    let read = call(&runtime, "get", json!({ "path": "hint://web/k" })).unwrap_err();
    assert_eq!(read.code, Code::NotFound);
    for said in [got.to_string(), found.to_string(), listed.to_string(), format!("{read:?}")] {
        assert!(!said.contains("hidden"), "{said}");
    }
    assert_eq!(listed["resources"], json!([]));
}

/// @hints_no_match
#[test]
fn a_missing_key_is_not_found() {
    let folder = Folder::new();
    let runtime = open(&folder);
    scoped(&runtime, "v", &json!({ "os": ["windows"] }));
    let error = get(&runtime, "other").unwrap_err();
    assert_eq!(error.to_wire()["code"], 40401);
    assert_eq!(error.to_wire()["data"]["reason"], "E_NOT_FOUND");
    assert_eq!(code(get(&runtime, "K")), Code::NotFound, "names are case-sensitive");
}

/// @hints_situation
#[test]
fn the_surface_fills_in_what_the_context_leaves_out() {
    let folder = Folder::new();
    let runtime = open(&folder);
    scoped(&runtime, "v", &json!({ "os": ["linux"], "branch": ["dev"], "env_required": ["CI"] }));
    let seen = Situation {
        os: Some("linux".into()),
        branch: Some("dev".into()),
        env: [("CI".to_owned(), "1".to_owned())].into(),
        ..Situation::default()
    };
    let ask = |context: Value| {
        let params = json!({ "component": "web", "key": "k", "context": context });
        answer(call_from(&runtime, seen.clone(), "get_hint", params))
    };
    assert_eq!(ask(json!(null)), Ok("v".into()));
    assert_eq!(ask(json!({ "cwd": "/x" })), Ok("v".into()));
    assert_eq!(ask(json!({ "branch": "main" })), Err("branch=main not in [dev]".into()));
    assert_eq!(ask(json!({ "env": { "X": "1" } })), Err("env CI is not set".into()));
    let listed = call_from(&runtime, seen, "list_resources", json!({})).unwrap();
    assert_eq!(listed["resources"].as_array().unwrap().len(), 1);
}

/// @hints_reasons
#[test]
fn the_reasons_say_which_conditions_held() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let scope = json!({ "cwd_glob": ["/no", "**/http-proxy*"], "repo": "r", "branch": ["hotfix/*"], "os": ["linux"],
        "env_required": ["A", "B"], "env_match": { "C": "1" } });
    let meta = json!({ "scope": scope, "priority": 9, "confidence": 0.8 });
    set_with(&runtime, "k", "v", meta).unwrap();
    let context = json!({ "cwd": "/srv/http-proxy", "repo": "r", "branch": "hotfix/x", "os": "linux",
        "env": { "A": "1", "B": "2", "C": "1" } });
    let reasons = |runtime| {
        get_at(runtime, "k", context.clone()).unwrap()["match_explain"]["reasons"].clone()
    };
    let scope_reasons = [
        "cwd matched **/http-proxy*",
        "repo matched",
        "branch=hotfix/x allowed",
        "os=linux matched",
        "required env vars present: A, B",
        "env values matched",
    ];
    let rank = ["high priority (9/10)", "high confidence (0.8)"];
    assert_eq!(reasons(&runtime), json!([&scope_reasons[..], &rank[..]].concat()));
    let bump = json!({ "component": "web", "key": "k", "delta": 2, "context": context });
    call(&runtime, "bump_hint", bump).unwrap();
    let said = reasons(&runtime);
    assert!(said[6].as_str().unwrap().starts_with("recently used ("), "{said}");
    assert_eq!(said[7], "used 2 times");
}

/// @hints_names
#[test]
fn every_name_of_the_specification_is_answered() {
    let folder = Folder::new();
    let runtime = open(&folder);
    for (op, others) in [
        ("set_hint", &[][..]),
        ("get_hint", &[]),
        ("query_hints", &["query"]),
        ("bump_hint", &["bump"]),
        ("export_hints", &["export"]),
        ("import_hints", &["import"]),
        ("list_components", &[]),
        ("delete_hint", &[]),
    ] {
        for name in std::iter::once(&op).chain(others) {
            for alias in [format!("nudge.{name}"), format!("nudge_{name}")] {
                let found = runtime.table().find(&alias).map(|found| found.info.name);
                assert_eq!(found, Some(op), "{alias}");
            }
        }
    }
}

/// @situation_env
#[test]
fn the_requested_variables_follow_every_change() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let asked = |names: &[&str]| assert_eq!(runtime.asks_env().names, names);
    asked(&[]);
    scoped(&runtime, "a", &json!({ "env_required": ["B", "A", "B"] }));
    asked(&["A", "B"]);
    scoped(&runtime, "b", &json!({ "env_match": { "A": "1", "C": ["2"] } }));
    asked(&["A", "B", "C"]);
    let before = runtime.asks_env();
    call(&runtime, "bump_hint", json!({ "component": "web", "key": "k" })).unwrap();
    assert!(std::sync::Arc::ptr_eq(&before, &runtime.asks_env()), "a bump is no news");
    let scope = json!({ "env_required": ["A", "B", "B"] });
    let one = json!({ "component": "web", "key": "k", "scope": scope });
    call(&runtime, "delete_hint", one).unwrap();
    asked(&["A", "C"]);
    runtime.close();
    let next = open(&folder);
    assert_eq!(next.asks_env().names, ["A", "C"]);
    let payload = json!({ "schema_version": "1.0", "components": {} });
    let import = json!({ "payload": payload, "mode": "replace" });
    call(&next, "import_hints", import).unwrap();
    assert_eq!(*next.asks_env(), model::wire::EnvNames::default());
}
