//! `rekindle eval`: its output, its errors, and that it leaves no files behind.

use std::fmt::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::home::signal;
use testkit::{Home, wait_until};

use super::home;

const DOCUMENTS: [&str; 6] = [
    r#"{"id":"d1","scope":"shop","session":"s1","pos":1,"role":"user","text":"Which database do we take?","time":"2026-01-05T09:00:00Z"}"#,
    r#"{"id":"d2","scope":"shop","session":"s1","pos":2,"role":"assistant","text":"SQLite: one file, nothing to run.","colour":"blue"}"#,
    r#"{"id":"d3","scope":"shop","session":"s2","pos":1,"role":"user","text":"The checkout test fails with ECONNREFUSED on port 5433."}"#,
    r#"{"id":"d4","scope":"shop","text":"Deploys go out on Tuesday."}"#,
    r#"{"id":"d5","scope":"notes","session":"s1","pos":1,"text":"The editor saves drafts every ten seconds."}"#,
    r#"{"id":"d6","scope":"notes","session":"s1","pos":2,"text":"SQLite is not used in the editor."}"#,
];
const QUESTIONS: [&str; 4] = [
    r#"{"id":"q1","scope":"shop","type":"decision","text":"sqlite nothing to run","gold":["d2"],"gold_sessions":["s1"]}"#,
    r#"{"id":"q2","scope":"shop","type":"error","text":"ECONNREFUSED","gold":["d3"],"gold_sessions":["s2"]}"#,
    r#"{"id":"q3","scope":"notes","type":"decision","text":"how often are drafts saved","gold":["d5","d6"]}"#,
    r#"{"id":"q4","scope":"shop","text":"anything on the moon","gold":[]}"#,
];
const METRICS: [&str; 9] =
    ["R@1", "R@5", "R@10", "R@20", "any@1", "any@5", "any@10", "MRR", "nDCG@10"];

/// A home with the small set, and a temporary directory of its own to find leftover files.
fn with_set() -> Home {
    let mut home = home();
    let temporary = home.path("tmp");
    std::fs::create_dir(&temporary).unwrap();
    home.set("TMPDIR", temporary.to_str().unwrap());
    home.write("docs.jsonl", &DOCUMENTS.join("\n"));
    home.write("questions.jsonl", &QUESTIONS.join("\n"));
    home
}

fn left_behind(home: &Home) -> usize {
    std::fs::read_dir(home.path("tmp")).unwrap().count()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// @eval_numbers
#[test]
fn eval_prints_the_same_numbers_as_json_and_as_text() {
    let home = with_set();
    let run = home.run(&["eval", "docs.jsonl", "questions.jsonl", "--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "nothing but the result in a pipe");
    let json = run.json();
    assert_eq!(keys(&json), ["configs"]);
    assert_eq!(keys(&json["configs"]), ["plain", "lexical", "table"]);
    for (name, config) in json["configs"].as_object().unwrap() {
        assert_eq!(keys(config), ["all", "types", "latency_ms", "index_bytes"], "{name}");
        assert_eq!(keys(&config["latency_ms"]), ["p50", "p95"]);
        assert!(config["index_bytes"].is_u64());
        assert_eq!(keys(&config["types"]), ["decision", "error"]);
        let all = &config["all"];
        assert_eq!(all["questions"], 4);
        assert_eq!(
            (&all["questions_with_gold"], &all["questions_with_gold_sessions"]),
            (&json!(3), &json!(2))
        );
        for unit in ["documents", "sessions"] {
            assert_eq!(keys(&all[unit]), METRICS, "{name} {unit}");
            let share = |value: &Value| (0.0..=1.0).contains(&value.as_f64().unwrap());
            assert!(all[unit].as_object().unwrap().values().all(share), "{name}: {all}");
        }
        assert_eq!(all["documents"]["any@1"], 1.0, "{name}: {all}");
        assert_eq!(all["sessions"]["MRR"], 1.0, "{name}: {all}");
        assert_eq!(config["types"]["error"]["documents"]["R@1"], 1.0);
        match name.as_str() {
            "plain" => assert_eq!(all["difference"], Value::Null),
            _ => {
                assert_eq!(all["difference"]["to"], "plain");
                let interval = &all["difference"]["documents"]["R@5"];
                assert_eq!(keys(interval), ["mean", "low", "high"]);
            }
        }
    }
    let table = home.run(&["eval", "docs.jsonl", "questions.jsonl", "--config", "lexical"]).ok();
    assert!(table.starts_with("4 questions over 6 documents in 2 scopes\n"), "{table}");
    assert!(table.contains("documents, %  questions"), "{table}");
    assert!(table.contains("p95 ms"), "{table}");
    assert!(!table.contains("plain"), "one configuration is compared with nothing: {table}");
}

/// @eval_leaves_nothing
#[test]
fn eval_leaves_no_file_behind_and_does_not_change_the_users_memory() {
    let home = with_set();
    let daemon = home.daemon();
    let count = || daemon.http().rpc("memory_stats", &json!({})).unwrap();
    let before = count();
    home.run(&["eval", "docs.jsonl", "questions.jsonl"]).ok();
    assert_eq!(home.run(&["eval", "docs.jsonl", "docs.jsonl"]).code, 1);
    assert_eq!(left_behind(&home), 0);
    let after = count();
    for what in ["observations", "prompts", "sessions", "projects", "database_bytes"] {
        assert_eq!(before[what], after[what], "{what}");
    }
    let found = daemon.http().rpc("search", &json!({ "query": "sqlite", "project": "*" })).unwrap();
    assert_eq!(found["results"], json!([]));
    drop(daemon);
    // Without a memory, none is created.
    let home = with_set();
    home.run(&["eval", "docs.jsonl", "questions.jsonl"]).ok();
    assert!(!home.path("data").exists());
}

/// @eval_leaves_nothing
#[test]
fn an_interrupted_eval_removes_its_files() {
    let home = with_set();
    let mut documents = String::new();
    for number in 0..60_000 {
        writeln!(documents, r#"{{"id":{number},"text":"word{number} is followed by {number}"}}"#)
            .unwrap();
    }
    home.write("many.jsonl", &documents);
    home.write("one.jsonl", r#"{"id":"q","text":"word7","gold":[7]}"#);
    let mut command = home.command(["eval", "many.jsonl", "one.jsonl"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("a folder for the run", || (left_behind(&home) > 0).then_some(()));
    signal(child.id(), "INT");
    let status = wait_until("the end of the run", || child.try_wait().ok().flatten());
    assert_eq!(status.code(), Some(130));
    assert_eq!(left_behind(&home), 0);
}

/// @eval_refusals
#[test]
fn eval_names_the_file_and_the_line_of_invalid_input() {
    let home = with_set();
    home.write("bad.jsonl", &format!("{}\n{{\"id\":\"d9\"}}\n", DOCUMENTS[0]));
    let run = home.run(&["eval", "bad.jsonl", "questions.jsonl"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("bad.jsonl line 2: `text` is missing"), "{run:?}");
    assert!(run.stderr.contains("hint: One JSON object per line, such as {"), "{run:?}");
    let json = home.run(&["eval", "bad.jsonl", "questions.jsonl", "--json"]).json();
    assert_eq!(json["error"]["data"]["line"], 2);
    for line in [
        &["eval", "docs.jsonl"][..],
        &["eval", "docs.jsonl", "questions.jsonl", "--format", "locomo"],
        &["eval", "docs.jsonl", "questions.jsonl", "--config", "vectors"],
        &["eval", "docs.jsonl", "questions.jsonl", "--config", "plain,plain"],
        &["eval", "docs.jsonl", "questions.jsonl", "--at-least", "R@5=0.5"],
    ] {
        assert_eq!(home.run(line).code, 2, "{line:?}");
    }
}

/// @eval_floor
#[test]
fn eval_fails_if_a_number_is_below_its_floor() {
    let home = with_set();
    let eval = |floor: &str| {
        home.run(&["eval", "docs.jsonl", "questions.jsonl", "--json", "--at-least", floor])
    };
    assert_eq!(eval("all.documents.R@5=0.5").code, 0);
    let short = eval("plain:decision.documents.R@1=0.9");
    assert_eq!(short.code, 1);
    assert_eq!(keys(&short.json()), ["configs"], "the numbers are printed all the same");
    assert!(
        short.stderr.contains("plain:decision.documents.R@1 is 0.7500, at least 0.9"),
        "{short:?}"
    );
}

/// @eval_published
#[test]
fn eval_reads_a_published_file() {
    let home = with_set();
    let turn = |id: &str, text: &str| json!({ "speaker": "Ada", "dia_id": id, "text": text });
    let sample = json!({
        "sample_id": "conv-1",
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [turn("D1:1", "I repaired the gramophone."), turn("D1:2", "It plays.")],
        },
        "qa": [{ "question": "gramophone", "answer": "it", "evidence": ["D1:1"], "category": 4 }],
    });
    home.write("locomo.json", &json!([sample]).to_string());
    let run =
        home.run(&["eval", "locomo.json", "--format", "locomo", "--config", "plain", "--json"]);
    assert_eq!(run.json()["configs"]["plain"]["types"]["single-hop"]["documents"]["R@1"], 1.0);
}
