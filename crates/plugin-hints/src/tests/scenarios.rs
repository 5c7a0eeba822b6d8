//! The scenarios of the specification, end to end through dispatch.

use serde_json::json;
use testkit::Folder;

use super::{call, open};

/// @hints_scenarios
#[test]
fn warm_start_and_fixing_a_build_error() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let set = json!({
        "component": "http-proxy", "key": "build",
        "value": { "type": "command", "shell": "bash", "cmd": "docker compose build router" },
        "meta": { "reason": "custom router image", "tags": ["build", "docker"], "priority": 7, "confidence": 0.8,
            "ttl": "session", "scope": { "cwd_glob": ["**/http-proxy*"], "branch": ["dev", "main"], "os": ["linux", "darwin"] } },
    });
    let stored = call(&runtime, "nudge.set_hint", set.clone()).unwrap();
    assert_eq!(stored["hint"]["meta"], set["meta"]);
    let context = json!({ "cwd": "/srv/minerva/http-proxy", "branch": "dev", "os": "linux" });
    let get = json!({ "component": "http-proxy", "key": "build", "context": context });
    let got = call(&runtime, "nudge.get_hint", get).unwrap();
    assert_eq!(got["hint"]["value"], set["value"]);
    let reasons = json!([
        "cwd matched **/http-proxy*",
        "branch=dev allowed",
        "os=linux matched",
        "high confidence (0.8)"
    ]);
    assert_eq!(got["match_explain"]["reasons"], reasons);
    let bump = json!({ "component": "http-proxy", "key": "build", "context": context });
    assert_eq!(call(&runtime, "nudge.bump", bump).unwrap()["hint"]["use_count"], 1);
    let other = json!({ "component": "http-proxy", "key": "rebuild", "value": "make", "meta": { "tags": ["build"] } });
    call(&runtime, "set_hint", other).unwrap();
    let query =
        json!({ "component": "http-proxy", "tags": ["build"], "context": context, "limit": 3 });
    let found = call(&runtime, "nudge.query", query).unwrap();
    assert_eq!(found["hints"].as_array().unwrap().len(), 2);
    assert_eq!(found["hints"][0]["hint"]["value"]["cmd"], "docker compose build router");
    assert_eq!(found["hints"][0]["key"], "build");
}

/// @hints_scenarios
#[test]
fn each_system_gets_its_own_directory() {
    let folder = Folder::new();
    let runtime = open(&folder);
    for (path, os) in
        [("c:\\code\\http-proxy", "windows"), ("/Users/dev/code/http-proxy", "darwin")]
    {
        let meta = json!({ "scope": { "os": [os] } });
        let params =
            json!({ "component": "http-proxy", "key": "directory", "value": path, "meta": meta });
        assert_eq!(call(&runtime, "set_hint", params).unwrap()["hint"]["version"], 1);
    }
    let get = |os: &str| {
        let params =
            json!({ "component": "http-proxy", "key": "directory", "context": { "os": os } });
        call(&runtime, "get_hint", params).unwrap()["hint"]["value"].clone()
    };
    assert_eq!(get("windows"), "c:\\code\\http-proxy");
    assert_eq!(get("darwin"), "/Users/dev/code/http-proxy");
    assert_eq!(get("linux"), json!(null));
}

/// @hints_scenarios
#[test]
fn a_toggle_for_two_hours_on_hotfix_branches() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let meta =
        json!({ "ttl": "PT2H", "tags": ["env", "test"], "scope": { "branch": ["hotfix/*"] } });
    let params = json!({ "component": "api", "key": "env.FEATURE_X", "value": "1", "meta": meta });
    call(&runtime, "set_hint", params).unwrap();
    let get = |branch: &str| {
        let params =
            json!({ "component": "api", "key": "env.FEATURE_X", "context": { "branch": branch } });
        call(&runtime, "get_hint", params).unwrap()["hint"]["value"].clone()
    };
    assert_eq!((get("hotfix/abc"), get("main")), (json!("1"), json!(null)));
}

/// @hints_scenarios
#[test]
fn a_seed_written_by_hand_serves_the_agent_at_once() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let payload = json!({ "schema_version": "1.0", "components": { "api": { "hints": {
        "test": { "value": "make test", "meta": { "tags": ["test"] } },
        "run": { "value": { "type": "command", "cmd": "make run" } } } } } });
    let taken =
        call(&runtime, "nudge.import", json!({ "payload": payload, "mode": "merge" })).unwrap();
    assert_eq!(taken, json!({ "imported": 2, "skipped": 0 }));
    let got = call(&runtime, "get_hint", json!({ "component": "api", "key": "test" })).unwrap();
    assert_eq!((&got["hint"]["value"], &got["hint"]["version"]), (&json!("make test"), &json!(1)));
}
