//! The scenarios of the specification by their own names, and bad input with its exact code, for programs and agents.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::wait_until;

use super::ways::{Site, Surface};

/// A program over JSON-RPC, and an agent over each form of MCP.
const SURFACES: [Surface; 4] =
    [Surface::Rpc, Surface::StdioPrimary, Surface::StdioProxy, Surface::McpHttp];

fn build_hint() -> Value {
    json!({
        "component": "http-proxy", "key": "build",
        "value": { "type": "command", "shell": "bash", "cmd": "docker compose build router" },
        "meta": { "reason": "custom router image", "tags": ["build", "docker"], "priority": 7, "confidence": 0.8,
            "ttl": "session", "scope": { "cwd_glob": ["**/http-proxy*"], "os": ["linux", "darwin"] } },
    })
}

/// @hints_scenarios
#[test]
fn a_warm_start_finds_the_build_command_and_its_use_is_counted() {
    for way in SURFACES {
        let mut site = way.open();
        site.call("nudge.set_hint", &build_hint()).unwrap();
        let context = json!({ "cwd": "/srv/minerva/http-proxy", "branch": "dev", "os": "linux" });
        let get = json!({ "component": "http-proxy", "key": "build", "context": context });
        let got = site.call("nudge.get_hint", &get).unwrap();
        assert_eq!(got["hint"]["value"]["cmd"], "docker compose build router", "{way:?}");
        let reasons =
            json!(["cwd matched **/http-proxy*", "os=linux matched", "high confidence (0.8)"]);
        assert_eq!(got["match_explain"]["reasons"], reasons, "{way:?}");
        assert_eq!(got["match_explain"]["matched"], true);
        let bumped = site.call("nudge.bump", &get).unwrap();
        assert_eq!(
            (&bumped["hint"]["use_count"], &bumped["hint"]["version"]),
            (&json!(1), &json!(1))
        );
        let again = site.call("nudge.get_hint", &get).unwrap();
        let score = |got: &Value| got["match_explain"]["score"].as_f64().unwrap();
        assert!(score(&again) > score(&got), "{way:?}: {again}");
        let said = again["match_explain"]["reasons"].to_string();
        assert!(said.contains("recently used (") && said.contains("s ago)"), "{way:?}: {said}");
    }
}

/// @hints_scenarios
#[test]
fn a_failed_build_is_found_by_its_tag_and_the_best_fix_is_first() {
    for way in SURFACES {
        let mut site = way.open();
        site.call("nudge.set_hint", &build_hint()).unwrap();
        for (key, value, meta) in [
            (
                "rebuild",
                "docker compose build --no-cache",
                json!({ "tags": ["build"], "priority": 3 }),
            ),
            (
                "windows",
                "build.cmd",
                json!({ "tags": ["build"], "priority": 10, "scope": { "os": ["windows"] } }),
            ),
            ("lint", "make lint", json!({ "tags": ["lint"], "priority": 10 })),
        ] {
            let params =
                json!({ "component": "http-proxy", "key": key, "value": value, "meta": meta });
            site.call("nudge.set_hint", &params).unwrap();
        }
        let context = json!({ "cwd": "/srv/minerva/http-proxy", "os": "linux" });
        let query =
            json!({ "component": "http-proxy", "tags": ["build"], "context": context, "limit": 3 });
        let found = site.call("nudge.query", &query).unwrap();
        let hints = found["hints"].as_array().unwrap();
        let keys: Vec<&Value> = hints.iter().map(|hint| &hint["key"]).collect();
        assert_eq!(keys, ["build", "rebuild"], "{way:?}: {found}");
        assert_eq!(hints[0]["hint"]["value"]["cmd"], "docker compose build router");
        assert!(hints[0]["score"].as_f64() > hints[1]["score"].as_f64(), "{found}");
        let bump = json!({ "component": hints[0]["component"], "key": hints[0]["key"], "context": context });
        assert_eq!(site.call("nudge.bump", &bump).unwrap()["hint"]["use_count"], 1, "{way:?}");
    }
}

/// @hints_scenarios
#[test]
fn a_toggle_for_two_hours_applies_on_hotfix_branches_and_then_expires_silently() {
    for way in SURFACES {
        let mut site = way.open();
        let meta =
            json!({ "ttl": "PT2H", "tags": ["env", "test"], "scope": { "branch": ["hotfix/*"] } });
        let set = json!({ "component": "api", "key": "env.FEATURE_X", "value": "1", "meta": meta });
        let stored = site.call("nudge.set_hint", &set).unwrap();
        assert_eq!(stored["hint"]["meta"], meta, "{way:?}");
        let get = |branch: &str| json!({ "component": "api", "key": "env.FEATURE_X", "context": { "branch": branch } });
        assert_eq!(site.call("nudge.get_hint", &get("hotfix/abc")).unwrap()["hint"]["value"], "1");
        let elsewhere = site.call("nudge.get_hint", &get("main")).unwrap();
        assert_eq!(elsewhere["hint"], json!(null), "{way:?}: {elsewhere}");
        let reasons = json!(["branch=main not in [hotfix/*]"]);
        assert_eq!(elsewhere["match_explain"]["reasons"], reasons, "{way:?}");
        // A toggle that was set almost two hours ago: an imported document keeps its times.
        let almost = runtime::clock::now_ms() - 2 * 3_600_000 + 100;
        let mut hint = json!({ "value": "1", "meta": meta, "version": 2 });
        hint["updated_at"] = json!(model::time::rfc3339(almost));
        let payload = json!({ "components": { "api": { "hints": { "env.FEATURE_X": hint } } } });
        site.call("nudge.import", &json!({ "payload": payload, "mode": "replace" })).unwrap();
        let error = wait_until("two hours are over", || {
            site.call("nudge.get_hint", &get("hotfix/abc")).err()
        });
        assert_eq!(
            (&error["code"], &error["data"]["reason"]),
            (&json!(40401), &json!("E_NOT_FOUND"))
        );
    }
}

/// Bad calls: operation, parameters, the code and its word.
fn bad_calls() -> Vec<(&'static str, Value, i64, &'static str)> {
    let invalid = |op, params| (op, params, 40001, "E_INVALID");
    let set = |more: Value| {
        let mut params = json!({ "component": "web", "key": "build", "value": "bad" });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    let meta = |meta: Value| set(json!({ "meta": meta }));
    let scope = |scope: Value| meta(json!({ "scope": scope }));
    let import = |bad: Value| {
        let hints = json!({ "good": { "value": "v" }, "bad": bad, "other": { "value": "v" } });
        json!({ "payload": { "components": { "web": { "hints": hints } } }, "mode": "replace" })
    };
    // The JSON of a text is two bytes longer than the text.
    let over = "x".repeat(64 * 1024 - 1);
    let mut calls = vec![
        ("nudge.get_hint", json!({ "component": "web", "key": "none" }), 40401, "E_NOT_FOUND"),
        ("nudge.delete_hint", json!({ "component": "web", "key": "none" }), 40401, "E_NOT_FOUND"),
        ("nudge.bump", json!({ "component": "web", "key": "none" }), 40401, "E_NOT_FOUND"),
        ("nudge.set_hint", set(json!({ "value": over })), 41301, "E_TOO_LARGE"),
        ("nudge.set_hint", set(json!({ "if_match_version": 7 })), 40901, "E_CONFLICT"),
        ("nudge.set_hint", set(json!({ "if_match_version": 0 })), 40901, "E_CONFLICT"),
        (
            "nudge.set_hint",
            scope(json!({ "cwd_glob": ["{a".repeat(100)] })),
            40003,
            "E_SCOPE_INVALID",
        ),
        ("nudge.set_hint", scope(json!({ "cwd_glob": ["../**"] })), 40003, "E_SCOPE_INVALID"),
        (
            "nudge.set_hint",
            set(json!({ "value": { "type": "path", "abs": "rel/x" } })),
            40003,
            "E_SCOPE_INVALID",
        ),
        (
            "nudge.set_hint",
            set(json!({ "value": "password=hunter2hunter2" })),
            40002,
            "E_SECRET_REJECTED",
        ),
        ("nudge.import", import(json!({ "value": "x".repeat(64 * 1024) })), 41301, "E_TOO_LARGE"),
        (
            "nudge.import",
            import(json!({ "value": "password=hunter2hunter2" })),
            40002,
            "E_SECRET_REJECTED",
        ),
        invalid("nudge.import", import(json!({ "value": null }))),
        invalid("nudge.import", import(json!({ "value": "v", "meta": { "priority": 99 } }))),
        invalid(
            "nudge.import",
            json!({ "payload": { "schema_version": "2.0", "components": {} } }),
        ),
        invalid("nudge.set_hint", json!({ "component": "web", "key": "build" })),
        invalid("nudge.set_hint", json!({ "component": "", "key": "build", "value": "bad" })),
        invalid("nudge.get_hint", json!({ "component": "web" })),
        invalid("nudge.get_hint", json!({})),
        invalid("nudge.query", json!({ "tags": "build" })),
        invalid("nudge.export", json!({ "format": "xml" })),
    ];
    for value in [json!(null), json!(7), json!(["v"]), json!({ "type": "spell" })] {
        calls.push(invalid("nudge.set_hint", set(json!({ "value": value }))));
    }
    for priority in [json!(0), json!(11), json!(-1), json!(5.5), json!("high")] {
        calls.push(invalid("nudge.set_hint", meta(json!({ "priority": priority }))));
    }
    for confidence in [json!(-0.1), json!(1.01), json!("sure")] {
        calls.push(invalid("nudge.set_hint", meta(json!({ "confidence": confidence }))));
    }
    for ttl in ["banana", "PT0S", "P1Y", "-PT1H", "PT", "P1DT1.5H2M"] {
        calls.push(invalid("nudge.set_hint", meta(json!({ "ttl": ttl }))));
    }
    for regex in ["(", "[z-a]", "(a)\\1", "(?=a)"] {
        calls.push(invalid("nudge.query", json!({ "regex": regex })));
    }
    for limit in [json!(0), json!(-1), json!(1.5), json!("many")] {
        calls.push(invalid("nudge.query", json!({ "limit": limit })));
    }
    for delta in [json!(0), json!(-4), json!(0.5), json!("one")] {
        let params = json!({ "component": "web", "key": "build", "delta": delta });
        calls.push(invalid("nudge.bump", params));
    }
    calls
}

/// Everything that is stored.
fn stored(site: &mut Site) -> Value {
    site.call("nudge.export", &json!({})).unwrap()["payload"]["components"].clone()
}

/// @hints_bad_input
#[test]
fn each_bad_call_has_its_exact_code_and_changes_nothing_on_any_surface() {
    for way in SURFACES {
        let mut site = way.open();
        let meta = json!({ "reason": "why", "tags": ["build"], "priority": 7, "ttl": "P1D" });
        let set = json!({ "component": "web", "key": "build", "value": "make", "meta": meta });
        site.call("nudge.set_hint", &set).unwrap();
        let before = stored(&mut site);
        for (op, params, code, reason) in bad_calls() {
            let error = site.call(op, &params).expect_err(op);
            let told = (error["code"].as_i64(), error["data"]["reason"].as_str());
            let shown: String = params.to_string().chars().take(200).collect();
            assert_eq!(told, (Some(code), Some(reason)), "{way:?} {op} {shown}: {error}");
            assert!(!error.to_string().contains("hunter2"), "{way:?}: {error}");
        }
        assert_eq!(stored(&mut site), before, "{way:?}");
        // Valid calls without a result: an unknown component, and meta that is left out.
        let nobody = site.call("nudge.query", &json!({ "component": "nobody" })).unwrap();
        assert_eq!(nobody["hints"], json!([]), "{way:?}");
        let again = json!({ "component": "web", "key": "build", "value": "make all" });
        let changed = site.call("nudge.set_hint", &again).unwrap();
        assert_eq!((&changed["hint"]["meta"], &changed["hint"]["version"]), (&meta, &json!(2)));
    }
}

/// @hints_query
#[test]
fn a_regex_that_hangs_other_engines_is_answered_at_once() {
    for way in [Surface::Rpc, Surface::StdioPrimary] {
        let mut site = way.open();
        for (key, length) in [("short", 30), ("long", 60_000)] {
            let value = format!("{}!", "a".repeat(length));
            let params = json!({ "component": "web", "key": key, "value": value });
            site.call("nudge.set_hint", &params).unwrap();
        }
        for regex in ["^(a+)+$", "(a|aa)+b", "^(([a-z])+.)+[A-Z]$", "(.*a){20}b"] {
            let started = Instant::now();
            let found = site.call("nudge.query", &json!({ "regex": regex })).unwrap();
            let took = started.elapsed();
            assert_eq!(found["hints"], json!([]), "{way:?} {regex}");
            assert!(took < Duration::from_secs(3), "{way:?} {regex}: {took:?}");
        }
        // The next call is served as usual.
        let found = site.call("nudge.query", &json!({ "regex": "^a+!$" })).unwrap();
        assert_eq!(found["hints"].as_array().unwrap().len(), 2, "{way:?}");
    }
}
