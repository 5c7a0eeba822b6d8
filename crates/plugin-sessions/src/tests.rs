//! Tests of the context of sessions through dispatch, each on a store of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use model::situation::Situation;
use model::{CallId, Caller, Code, Reply, Request, Road as _, Tier};
use runtime::Runtime;
use serde_json::{Value, json};
use testkit::Local;

use crate::Sessions;

static COUNT: AtomicU32 = AtomicU32::new(1);

fn local() -> Local {
    Local::at_home("/home/u", vec![Arc::new(Sessions)], &[])
}

fn call(runtime: &Runtime, op: &str, params: Value) -> Reply {
    call_in(runtime, None, op, params)
}

/// Calls an operation from this directory.
fn call_in(runtime: &Runtime, cwd: Option<&str>, op: &str, params: Value) -> Reply {
    let mut id = [0; 16];
    id[..4].copy_from_slice(&COUNT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    let situation = Situation { cwd: cwd.map(str::to_owned), ..Situation::default() };
    let caller = Caller { tier: Tier::Agent, situation, ..Caller::default() };
    runtime.call(Request { call: CallId(id), op: op.into(), params, caller })
}

fn set(runtime: &Runtime, name: &str, items: &[&str], mode: &str) -> Reply {
    let params = json!({ "setName": name, "items": items, "mode": mode, "session_id": "s-1" });
    call(runtime, "set_relevant_context", params)
}

fn context(runtime: &Runtime) -> Value {
    call(runtime, "get_relevant_context", json!({ "session_id": "s-1" })).unwrap()["context"]
        .clone()
}

/// @context_sets
#[test]
fn a_set_is_replaced_merged_and_cleared_with_the_sentences_of_the_specification() {
    let Local { runtime, .. } = &local();
    let steps = [
        (("ports", &["80", "80", "81"][..], "replace"), "Set ports: 2 items"),
        (("ports", &["82", "81"], "merge"), "Merged ports: 3 items"),
        (("ports", &[], "merge"), "Merged ports: 3 items"),
        (("hosts", &["a"], "replace"), "Set hosts: 1 items"),
        (("ports", &["9"], "replace"), "Set ports: 1 items"),
    ];
    for ((name, items, mode), message) in steps {
        assert_eq!(set(runtime, name, items, mode).unwrap()["message"], message);
    }
    assert_eq!(context(runtime).to_string(), r#"{"ports":["9"],"hosts":["a"]}"#);
    let cleared = set(runtime, "ports", &[], "replace").unwrap();
    assert_eq!(cleared["message"], "Cleared ports");
    assert_eq!(cleared["context"], json!({ "hosts": ["a"] }));
    let one = call(runtime, "get_relevant_context", json!({ "setName": "x", "session_id": "s-1" }));
    assert_eq!(one.unwrap()["context"], json!({ "x": [] }));
}

/// @context_limits
#[test]
fn items_that_do_not_fit_are_named_and_too_many_change_nothing() {
    let Local { runtime, .. } = &local();
    let ten: Vec<String> = (0..10).map(|port| port.to_string()).collect();
    let ten: Vec<&str> = ten.iter().map(String::as_str).collect();
    for name in ["a", "b", "c", "d", "e"] {
        set(runtime, name, &ten, "replace").unwrap();
    }
    let merged = set(runtime, "a", &["10", "3", "11"], "merge").unwrap();
    assert_eq!(merged["dropped"], json!(["10", "11"]));
    let before = context(runtime);
    let error = set(runtime, "f", &["one"], "replace").unwrap_err();
    assert_eq!(error.message, "Context too large (51 items, max 50). Remove some items first.");
    assert_eq!(context(runtime), before);
}

/// @context_files
#[test]
fn files_are_stored_as_absolute_paths_and_other_items_as_they_are() {
    let Local { runtime, .. } = &local();
    let params = json!({ "setName": "files", "items": ["src/./a.rs", "~/n.md", "/x//y/../z"], "session_id": "s-1" });
    let set = call_in(runtime, Some("/srv/shop"), "set_relevant_context", params).unwrap();
    assert_eq!(set["context"]["files"], json!(["/srv/shop/src/a.rs", "/home/u/n.md", "/x/z"]));
    let params =
        json!({ "setName": "notes", "items": ["a/./b", "two\nlines"], "session_id": "s-1" });
    let set = call_in(runtime, Some("/srv/shop"), "set_relevant_context", params).unwrap();
    assert_eq!(set["context"]["notes"], json!(["a/./b", "two\nlines"]));
    let lost = json!({ "setName": "files", "items": ["a.rs"], "session_id": "s-elsewhere" });
    assert_eq!(call(runtime, "set_relevant_context", lost).unwrap_err().code, Code::Invalid);
    let unknown =
        call(runtime, "get_relevant_context", json!({ "session_id": "s-elsewhere" })).unwrap();
    assert_eq!(unknown["message"], "No context stored for this session");
}

/// @context_bad_input
#[test]
fn bad_parameters_are_refused_and_store_nothing() {
    let Local { runtime, .. } = &local();
    let long = "x".repeat(1_025);
    let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let calls = [
        (json!({}), Code::Invalid),
        (json!({ "setName": "files" }), Code::Invalid),
        (json!({ "setName": "files", "items": "/a" }), Code::Invalid),
        (json!({ "setName": "files", "items": [1] }), Code::Invalid),
        (json!({ "setName": "files", "items": [""] }), Code::Invalid),
        (json!({ "setName": "notes", "items": [long] }), Code::Invalid),
        (json!({ "setName": "", "items": ["a"] }), Code::Invalid),
        (json!({ "setName": "a\u{7}", "items": ["a"] }), Code::Invalid),
        (json!({ "setName": "a", "items": ["a"], "mode": "append" }), Code::Invalid),
        (json!({ "setName": "a", "items": ["a"], "more": 1 }), Code::Invalid),
        (json!({ "setName": "a", "items": [token] }), Code::SecretRejected),
    ];
    for (mut params, code) in calls {
        if params != json!({}) {
            params["session_id"] = "s-1".into();
        }
        let error = call(runtime, "set_relevant_context", params.clone()).unwrap_err();
        assert_eq!(error.code, code, "{params}: {error:?}");
    }
    for id in ["", ".", "..", "a/b", "a\\b", "a\nb", &"x".repeat(201)] {
        let params = json!({ "setName": "a", "items": ["a"], "session_id": id });
        let error = call(runtime, "set_relevant_context", params).unwrap_err();
        assert_eq!(error.code, Code::Invalid, "{id:?}");
    }
    let none = call(runtime, "get_relevant_context", json!({})).unwrap_err();
    assert_eq!(none.code, Code::NotFound, "nothing was stored, so there is no session");
    set(runtime, "__proto__", &["a"], "replace").unwrap();
    assert_eq!(context(runtime), json!({ "__proto__": ["a"] }));
}

/// @context_default_session
#[test]
fn a_call_without_a_session_means_the_one_that_was_active_last() {
    let Local { runtime, .. } = &local();
    for id in ["s-1", "s-2"] {
        let params = json!({ "setName": "ports", "items": [id], "session_id": id });
        call(runtime, "set_relevant_context", params).unwrap();
    }
    let got = call(runtime, "get_relevant_context", json!({})).unwrap();
    assert_eq!((&got["session_id"], &got["context"]["ports"]), (&json!("s-2"), &json!(["s-2"])));
    let misspelled = set(runtime, "fles", &["a"], "replace").unwrap();
    assert_eq!(misspelled["warning"], "unknown set 'fles'; did you mean 'files'?");
}

/// @session_details
#[test]
fn a_session_has_a_name_a_hint_and_a_context_that_change_together_or_not_at_all() {
    let Local { runtime, .. } = &local();
    set(runtime, "ports", &["80"], "replace").unwrap();
    let update = |params: Value| {
        let mut params = params;
        params["session_id"] = "s-1".into();
        call(runtime, "update_session", params)
    };
    let meta =
        || call(runtime, "get_session", json!({ "session_id": "s-1" })).unwrap()["meta"].clone();
    let done = update(json!({
        "name": " Cart rounding ",
        "env_hint": "source .env",
        "context": { "files": ["/srv/shop/a.rs"], "servers": ["a"] },
        "set_context": { "setName": "servers", "items": ["b"], "mode": "merge" },
    }));
    assert_eq!(done.unwrap(), json!({ "success": true, "dropped": [] }));
    assert_eq!(meta()["name"], "Cart rounding");
    assert_eq!(meta()["envHint"], "source .env");
    assert_eq!(meta()["context"], json!({ "files": ["/srv/shop/a.rs"], "servers": ["a", "b"] }));
    let before = meta();
    let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let wrong = [
        (json!({}), Code::Invalid),
        (json!({ "name": "x".repeat(201) }), Code::Invalid),
        (json!({ "name": "new", "env_hint": "x".repeat(1_025) }), Code::Invalid),
        (json!({ "name": "new", "context": { "files": "a" } }), Code::Invalid),
        (json!({ "name": "new", "context": { "": ["a"] } }), Code::Invalid),
        (json!({ "name": "new", "set_context": { "setName": "a" } }), Code::Invalid),
        (
            json!({ "name": "new", "env_hint": format!("export TOKEN={token}") }),
            Code::SecretRejected,
        ),
    ];
    for (params, code) in wrong {
        let error = update(params.clone()).unwrap_err();
        assert_eq!(error.code, code, "{params}: {error:?}");
    }
    assert_eq!(meta(), before);
    update(json!({ "name": "", "env_hint": "", "context": {} })).unwrap();
    let cleared = meta();
    assert_eq!((&cleared["name"], &cleared["context"]), (&json!(""), &json!({})));
    assert!(cleared.get("envHint").is_none(), "{cleared}");
    let unknown = call(runtime, "update_session", json!({ "session_id": "s-none", "name": "x" }));
    assert_eq!(unknown.unwrap_err().code, Code::NotFound);
}

/// Reports an event of a session in this directory at a time in seconds, as the agent does.
fn event(runtime: &Runtime, session: &str, cwd: &str, name: &str, at: i64) {
    let mut id = [0; 16];
    id[..4].copy_from_slice(&COUNT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    let payload = json!({ "session_id": session, "cwd": cwd, "prompt": "go on with it" });
    let params = json!({ "event": name, "at": at * 1_000, "payload": payload });
    let caller = Caller { tier: Tier::Hook, ..Caller::default() };
    runtime.call(Request { call: CallId(id), op: "hook".into(), params, caller }).unwrap();
}

/// @session_list
#[test]
fn sessions_are_listed_by_the_time_when_they_were_active_and_by_state_characters_and_page() {
    let plugins: Vec<Arc<dyn contract::Plugin>> =
        vec![Arc::new(plugin_observations::Observations), Arc::new(Sessions)];
    let Local { runtime, .. } = &Local::at_home("/home/u", plugins, &[]);
    let hour = |hours: i64| runtime::clock::now_ms() / 1_000 - 36_000 + hours * 3_600;
    for (session, cwd, at) in [
        ("s-long", "/srv/shop", 1),
        ("s-short", "/srv/shop", 2),
        ("s-long", "/srv/shop", 4),
        ("s-late", "/srv/api", 6),
    ] {
        event(runtime, session, cwd, "UserPromptSubmit", hour(at));
    }
    let list = |mut params: Value| {
        params["project"] = "*".into();
        call(runtime, "list_sessions", params).unwrap()
    };
    let names = |params: Value| -> Vec<String> {
        let listed = list(params);
        let rows = listed["sessions"].as_array().unwrap().iter();
        rows.map(|row| row["session_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(json!({})), ["s-late", "s-long", "s-short"]);
    let then = json!({ "after": hour(1) + 60, "before": hour(3) });
    assert_eq!(names(then), ["s-long", "s-short"], "the long one went on later");
    assert_eq!(names(json!({ "after": hour(5) })), ["s-late"]);
    assert_eq!(names(json!({ "before": hour(2) })), ["s-long"]);
    assert_eq!(names(json!({ "query": "SRVap" })), ["s-late"]);
    event(runtime, "s-short", "/srv/shop", "Stop", hour(3));
    assert_eq!(names(json!({ "state": "idle" })), ["s-short"]);
    assert_eq!(names(json!({ "unobserved": true })), ["s-short"]);
    call(runtime, "observe_session", json!({ "session_id": "s-short" })).unwrap();
    assert_eq!(names(json!({ "unobserved": true })), [] as [&str; 0]);
    let name = json!({ "session_id": "s-long", "name": "Cart rounding" });
    call(runtime, "update_session", name).unwrap();
    assert_eq!(names(json!({ "query": "crtrnd" })), ["s-long"]);
    let (mut paged, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = list(json!({ "limit": 1, "cursor": cursor }));
        paged.extend(
            page["sessions"].as_array().unwrap().iter().map(|row| row["session_id"].clone()),
        );
        let Some(next) = page.get("next") else { break };
        cursor = next.clone();
    }
    assert_eq!(json!(paged), json!(names(json!({}))));
    for wrong in [
        json!({ "cursor": "x" }),
        json!({ "limit": 0 }),
        json!({ "limit": -1 }),
        json!({ "limit": 101 }),
    ] {
        let refused = call(runtime, "list_sessions", wrong.clone()).unwrap_err();
        assert_eq!(refused.code, Code::Invalid, "{wrong}");
    }
}
