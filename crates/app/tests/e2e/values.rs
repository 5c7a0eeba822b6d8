//! Clusters of experiences and learned values through the real binary.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::{Value, json};
use testkit::{Home, Http, Mcp};

use super::home;

const SESSION: &str = "s-1";
/// A rule that fits the experiences about dates and times in tests.
const RULE: &str = "Freeze the time in tests: pass a clock instead of reading the current date";
/// A rule that fits those about slow queries.
const OTHER_RULE: &str =
    "Look at the query plan and add the matching composite index before anything else";

/// Experiences of these themes in the quality set, as the parameters of `start_ghap` and `resolve_ghap`.
fn experiences(themes: &[&str]) -> Vec<(Value, Value)> {
    let set = include_str!("../../../../quality/ghaps.jsonl");
    let row = |line: &str| {
        let ghap: Value = serde_json::from_str(line).unwrap();
        let part = |names: &[&str]| {
            let mut part = json!({ "session_id": SESSION });
            for name in names.iter().filter(|name| ghap.get(**name).is_some()) {
                part[name] = ghap[name].clone();
            }
            part
        };
        let start = ["domain", "strategy", "goal", "hypothesis", "action", "prediction"];
        let end = ["status", "result", "surprise", "root_cause", "lesson"];
        let is_wanted = themes.contains(&ghap["theme"].as_str().unwrap());
        is_wanted.then(|| (part(&start), part(&end)))
    };
    set.lines().filter_map(row).collect()
}

/// Adds experiences in the directory `shop` of a home.
fn learn(home: &Home, http: &Http, experiences: &[(Value, Value)]) {
    std::fs::create_dir_all(home.path("shop")).unwrap();
    let cwd = json!(home.path("shop"));
    for (start, end) in experiences {
        for (op, params) in [("start_ghap", start), ("resolve_ghap", end)] {
            let mut params = params.clone();
            params["cwd"] = cwd.clone();
            http.rpc(op, &params).unwrap();
        }
    }
}

/// The error in the text of a tool's result.
fn typed_error(agent: &mut Mcp, tool: &str, arguments: &Value) -> Value {
    let request = json!({ "name": tool, "arguments": arguments });
    let result = agent.request("tools/call", &request)["result"].clone();
    assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
    let body: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    body["error"].clone()
}

/// The only cluster that a rule is valid for.
fn fitting(http: &Http, clusters: &Value, rule: &str) -> String {
    let id = |one: &Value| one["cluster_id"].as_str().unwrap().to_owned();
    let is_valid = |id: &String| {
        let check = json!({ "text": rule, "cluster_id": id });
        http.rpc("validate_value", &check).unwrap()["valid"] == true
    };
    let all = clusters["clusters"].as_array().unwrap().iter().map(id);
    let fitting: Vec<String> = all.filter(is_valid).collect();
    let [only] = fitting.as_slice() else { panic!("{fitting:?} of {clusters}") };
    only.clone()
}

fn with_daemon(home: &Home) -> (testkit::Daemon, Http) {
    let daemon = home.daemon();
    let http = daemon.http().with("Authorization", &format!("Bearer {}", home.token()));
    (daemon, http)
}

/// Puts experiences into a home, and returns parameters with which the operation succeeds there. The experiences come from a
/// backup that is made once.
pub(super) fn params_in(home: &Home, op: &str) -> Value {
    static BACKUP: OnceLock<(Home, Value)> = OnceLock::new();
    let (_, made) = BACKUP.get_or_init(|| {
        let made = super::home();
        let file = made.path("experiences.db");
        let (_daemon, http) = with_daemon(&made);
        learn(&made, &http, &experiences(&["clock", "queries"]));
        let clusters = http.rpc("get_clusters", &json!({ "project": "*" })).unwrap();
        let cluster = fitting(&http, &clusters, RULE);
        let value = json!({ "text": RULE, "cluster_id": cluster });
        let stored = http.rpc("store_value", &value).unwrap();
        http.rpc("backup", &json!({ "file": file })).unwrap();
        let params = json!({ "file": file, "cluster_id": cluster, "value_id": stored["id"] });
        (made, params)
    });
    home.call("restore", &json!({ "file": made["file"] }));
    match op {
        "get_clusters" => json!({ "project": "*" }),
        "get_cluster_members" => json!({ "cluster_id": made["cluster_id"] }),
        "delete_value" => json!({ "value_id": made["value_id"] }),
        _ => json!({ "text": RULE, "cluster_id": made["cluster_id"] }),
    }
}

/// @clusters @cluster_ids
#[test]
fn experiences_become_clusters_whose_ids_keep_their_meaning() {
    let home = home();
    let (_daemon, http) = with_daemon(&home);
    let all = json!({ "project": "*" });
    let known = experiences(&["clock", "queries", "encoding"]);
    learn(&home, &http, &known[..19]);
    let error = http.rpc("get_clusters", &all).unwrap_err();
    assert_eq!(
        (&error["code"], &error["data"]["type"], &error["data"]["count"]),
        (&json!(40902), &json!("insufficient_data"), &json!(19)),
        "{error}"
    );
    learn(&home, &http, &known[19..]);
    let clusters = http.rpc("get_clusters", &all).unwrap();
    let listed = clusters["clusters"].as_array().unwrap();
    assert!(listed.len() >= 2 && clusters["count"] == listed.len(), "{clusters}");
    let placed: u64 = listed.iter().map(|one| one["size"].as_u64().unwrap()).sum();
    assert_eq!(placed + clusters["noise_count"].as_u64().unwrap(), 45, "{clusters}");
    for one in listed {
        assert_eq!(one["cluster_id"], format!("full_{}", one["label"]), "{one}");
        let weight = one["avg_weight"].as_f64().unwrap();
        assert!((0.5..=0.8).contains(&weight), "all are silver or bronze: {one}");
    }
    assert_eq!(http.rpc("get_clusters", &all).unwrap()["clusters"], clusters["clusters"]);
    let members = http
        .rpc("get_cluster_members", &json!({ "cluster_id": listed[0]["cluster_id"], "limit": 2 }));
    let members = members.unwrap();
    assert_eq!(members["count"], 2, "{members}");
    let first = members["members"][0]["id"].as_str().unwrap();
    assert!(first.starts_with("ghap_") && members["total"].as_u64().unwrap() > 2, "{members}");
    let shown = home.run(&["value", "clusters", "--project", "*"]).ok();
    assert!(shown.starts_with("cluster ") && shown.contains("in no cluster"), "{shown}");
    let all_members = |cluster: &Value| {
        let id = cluster["cluster_id"].as_str().unwrap().to_owned();
        let params = json!({ "cluster_id": id, "limit": 100 });
        let found = http.rpc("get_cluster_members", &params).unwrap();
        let name = |one: &Value| one["id"].as_str().unwrap().to_owned();
        (id, found["members"].as_array().unwrap().iter().map(name).collect::<BTreeSet<String>>())
    };
    let before: Vec<(String, BTreeSet<String>)> = listed.iter().map(&all_members).collect();
    // More experiences, another theme: the clusters keep their ids.
    learn(&home, &http, &experiences(&["upgrades"]));
    let more = http.rpc("get_clusters", &all).unwrap();
    let after = more["clusters"].as_array().unwrap().iter().map(&all_members);
    let after: Vec<(String, BTreeSet<String>)> = after.collect();
    let kept = before.iter().filter(|(id, old)| {
        after.iter().filter(|(now, _)| now == id).any(|(_, members)| {
            let shared = members.intersection(old).count();
            assert!(shared * 2 >= old.len(), "{id} has another meaning: {before:?} {after:?}");
            true
        })
    });
    assert!(kept.count() >= 2, "{before:?} {after:?}");
}

/// @value_valid @value_life @premortem @context_assembled @context_empty_query
#[test]
fn a_rule_that_fits_one_cluster_becomes_a_value() {
    let home = home();
    let (_daemon, http) = with_daemon(&home);
    let all = json!({ "project": "*" });
    learn(&home, &http, &experiences(&["clock", "queries", "encoding"]));
    let clusters = http.rpc("get_clusters", &all).unwrap();
    let clock = fitting(&http, &clusters, RULE);
    let queries = fitting(&http, &clusters, OTHER_RULE);
    assert_ne!(clock, queries);
    let check = |text: &str, cluster: &str| {
        http.rpc("validate_value", &json!({ "text": text, "cluster_id": cluster })).unwrap()
    };
    let valid = check(RULE, &clock);
    assert_eq!((&valid["valid"], &valid["threshold"]), (&json!(true), &json!(0.4)), "{valid}");
    assert!(valid["similarity"].as_f64().unwrap() >= 0.4);
    for (text, cluster, why) in [
        (RULE, queries.as_str(), ""),
        ("Fry the onions slowly in butter", clock.as_str(), "below 0.4"),
        // It shares no more with the lessons than any English sentence does.
        ("Bake the bread for forty minutes", clock.as_str(), "below 0.4"),
        ("Bake the bread for forty minutes", queries.as_str(), "below 0.4"),
    ] {
        let invalid = check(text, cluster);
        assert_eq!(invalid["valid"], false, "{invalid}");
        assert!(invalid["reason"].as_str().unwrap().contains(why), "{invalid}");
        let store = json!({ "text": text, "cluster_id": cluster });
        assert_eq!(http.rpc("store_value", &store).unwrap_err()["code"], 40001);
    }
    let store = json!({ "text": RULE, "cluster_id": clock, "axis": "full", "session_id": SESSION });
    let stored = http.rpc("store_value", &store).unwrap();
    let id = stored["id"].as_str().unwrap().to_owned();
    assert!(id.starts_with(&format!("value_{clock}_")), "{stored}");
    let again = http.rpc("store_value", &store).unwrap();
    assert_eq!(again, stored, "a rule that the cluster has is not stored twice");
    let listed = http.rpc("list_values", &all).unwrap();
    assert_eq!(listed["results"].as_array().unwrap().len(), 1, "{listed}");
    let holds = |text: &str| {
        let has = |bytes: &[u8]| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        home.files().iter().any(|(_, bytes)| has(bytes))
    };
    assert!(holds("value/stored"), "the event is stored");
    let values = http.rpc("list_values", &all).unwrap();
    let value = &values["results"][0];
    assert_eq!((&value["id"], &value["text"]), (&json!(id), &json!(RULE)));
    assert_eq!(value["validated_at"], value["created_at"]);
    let distance = value["distance_to_centroid"].as_f64().unwrap();
    assert!((distance + valid["similarity"].as_f64().unwrap() - 1.0).abs() < 1e-3, "{value}");
    assert!(!values.to_string().contains("null"), "{values}");
    let found = http.rpc("search", &json!({ "query": "freeze clock", "project": "*" })).unwrap();
    let types = found["results"].as_array().unwrap().iter().map(|hit| &hit["obs_type"]);
    assert!(types.clone().any(|kind| kind == "value"), "{found}");
    let entry = home.run(&["get", &format!("value://{id}")]).ok();
    assert!(entry.contains(RULE), "{entry}");
    let start = json!({ "session_id": "s-9", "cwd": home.path("shop"), "source": "startup" });
    let told = home.run_with(&["hook", "SessionStart"], start.to_string().as_bytes()).ok();
    assert!(told.contains(&format!("- value://{id} [1m ago] {RULE}")), "{told}");
    recalled(&home, &http, &id);
    let shown = home.run(&["value", "list", "--project", "*"]).ok();
    assert!(shown.contains(&id), "{shown}");
    assert!(home.run(&["value", "delete", &id]).ok().contains("deleted"));
    assert!(!holds(RULE), "nothing is left");
}

/// The value with this id is in the texts about a question and at a prompt, but not in those for the session that stored it.
fn recalled(home: &Home, http: &Http, id: &str) {
    let (cwd, path) = (home.path("shop"), format!("value://{id}"));
    let context = |query: &str| {
        let asked = json!({ "query": query, "cwd": cwd });
        let answer = http.rpc("assemble_context", &asked).unwrap();
        assert_eq!(answer, http.rpc("assemble_context", &asked).unwrap());
        let text = answer["markdown"].as_str().unwrap();
        assert!(
            text.starts_with(&format!("## Learned Values\n- [under 1h ago] {RULE}")),
            "{query}: {text}"
        );
        let item = answer["items"].as_array().unwrap().iter().find(|item| item["path"] == path);
        let item = item.unwrap_or_else(|| panic!("{answer}"));
        assert_eq!((&item["source"], &item["status"]), (&json!("values"), &json!("stored")));
        answer
    };
    context("how do I freeze the clock in tests");
    context("");
    let asked =
        json!({ "query": "the colour of the logo", "context_types": ["values"], "cwd": cwd });
    assert_eq!(http.rpc("assemble_context", &asked).unwrap()["item_count"], 0);
    let prompted = |session: &str| {
        let prompt = json!({ "session_id": session, "cwd": cwd,
            "prompt": "Freeze the time in the tests of the invoice date" });
        home.run_with(&["hook", "UserPromptSubmit"], prompt.to_string().as_bytes()).ok()
    };
    assert!(prompted("s-8").contains(RULE), "{}", prompted("s-7"));
    assert!(!prompted(SESSION).contains(RULE));
    let principles = |domain: &str| {
        let asked = json!({ "domain": domain, "cwd": cwd });
        let answer = http.rpc("get_premortem_context", &asked).unwrap();
        answer["markdown"].as_str().unwrap().contains(&format!("## Relevant Principles\n- {RULE}"))
    };
    assert!(principles("testing"), "the cluster has experiences with tests");
    assert!(!principles("documentation"), "and none with documentation");
}

/// Calls that are refused: the tool, its parameters, the type of the error and words of its message.
fn bad_calls(cluster: &str, key: &str) -> Vec<(&'static str, Value, &'static str, &'static str)> {
    let value = |text: &str| json!({ "text": text, "cluster_id": cluster });
    vec![
        ("get_clusters", json!({ "axis": "mood" }), "validation_error", "`root_cause`"),
        ("get_clusters", json!({ "axis": 7 }), "validation_error", "axis"),
        ("get_clusters", json!({ "ax": "full" }), "validation_error", "ax"),
        ("get_clusters", json!({ "cwd": "here" }), "validation_error", "absolute"),
        ("get_clusters", json!({ "axis": "surprise", "project": "*" }), "insufficient_data", "20"),
        ("get_cluster_members", json!({ "cluster_id": "full" }), "validation_error", "AXIS_N"),
        ("get_cluster_members", json!({ "cluster_id": "7" }), "validation_error", "AXIS_N"),
        ("get_cluster_members", json!({ "cluster_id": "full_999999" }), "not_found", "full_999999"),
        (
            "get_cluster_members",
            json!({ "cluster_id": cluster.replace("full", "strategy") }),
            "not_found",
            "strategy",
        ),
        ("validate_value", value(" \n"), "validation_error", "`text` is blank"),
        (
            "validate_value",
            value(&"ä".repeat(501)),
            "validation_error",
            "501 characters, more than 500",
        ),
        ("validate_value", value(key), "secret_rejected", "text"),
        ("validate_value", json!({ "text": "a rule" }), "validation_error", "cluster_id"),
        ("store_value", value(key), "secret_rejected", "text"),
        (
            "store_value",
            value("Fry the onions slowly in butter"),
            "validation_error",
            "does not fit",
        ),
        (
            "store_value",
            json!({ "text": RULE, "cluster_id": cluster, "axis": "surprise" }),
            "validation_error",
            "axis",
        ),
        ("list_values", json!({ "axis": "mood" }), "validation_error", "`root_cause`"),
        ("list_values", json!({ "limit": "many" }), "validation_error", "limit"),
        ("delete_value", json!({ "value_id": "7" }), "validation_error", "value_id"),
        (
            "delete_value",
            json!({ "value_id": "value_full_1_0a1b2c3d" }),
            "not_found",
            "value_full_1",
        ),
    ]
}

/// @value_errors
#[test]
fn bad_input_for_values_is_refused_alike_on_mcp_rpc_and_the_command_line() {
    let home = home();
    let (_daemon, http) = with_daemon(&home);
    learn(&home, &http, &experiences(&["clock", "queries"]));
    let clusters = http.rpc("get_clusters", &json!({ "project": "*" })).unwrap();
    let cluster = clusters["clusters"][0]["cluster_id"].as_str().unwrap();
    let key = ["ghp_", &"a1B2".repeat(9)].concat();
    let mut agent = home.serve();
    agent.initialize("2025-11-25");
    for (tool, params, kind, words) in bad_calls(cluster, &key) {
        let error = typed_error(&mut agent, tool, &params);
        assert_eq!(error["type"], kind, "{tool} {params}: {error}");
        assert!(error["message"].as_str().unwrap().contains(words), "{tool} {params}: {error}");
        let refused = http.rpc(tool, &params).unwrap_err();
        assert!(refused["message"].as_str().unwrap().contains(words), "{tool}: {refused}");
        let run = home.run(&["call", tool, &params.to_string(), "--json"]);
        assert_eq!((run.code, &run.json()["error"]["code"]), (1, &refused["code"]), "{params}");
    }
    assert_eq!(http.rpc("list_values", &json!({ "project": "*" })).unwrap()["count"], 0);
    let has =
        |(_, bytes): &(_, Vec<u8>)| bytes.windows(key.len()).any(|part| part == key.as_bytes());
    assert!(!home.files().iter().any(has), "no file has the secret");
}
