//! Complete runs over small sets, from files to the report.

mod published;
mod refused;

use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};

use crate::corpus::EvalCorpus;
use crate::input::InputFile;
use crate::scratch::RunDir;
use crate::{EvalInput, EvalPlan, EvalReport, Floor, RunWatch, SearchConfig};

/// A directory with files for one test.
struct Files(RunDir);

impl Files {
    fn new() -> Files {
        Files(RunDir::new(&std::env::temp_dir()).unwrap())
    }

    fn write(&self, name: &str, text: &str) -> std::path::PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn lines(&self, documents: &[Value], questions: &[Value]) -> EvalInput {
        let text =
            |lines: &[Value]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        EvalInput::Lines {
            documents: self.write("docs.jsonl", &text(documents)),
            questions: self.write("questions.jsonl", &text(questions)),
        }
    }
}

fn plan(input: EvalInput) -> EvalPlan {
    EvalPlan {
        input,
        pooled: false,
        configs: vec![SearchConfig::Plain],
        clock: || 1_700_000_000_000,
    }
}

fn run(plan: &EvalPlan) -> Result<EvalReport, model::OpError> {
    let stop = AtomicBool::new(false);
    crate::run(plan, &mut RunWatch { tell: &mut |_| (), stop: &stop })
}

fn measured(documents: &[Value], questions: &[Value]) -> Value {
    let files = Files::new();
    run(&plan(files.lines(documents, questions))).unwrap().to_json()
}

fn doc(id: &str, text: &str) -> Value {
    json!({ "id": id, "text": text })
}

/// @eval_silence
#[test]
fn questions_without_evidence_count_by_whether_the_answer_says_so() {
    let documents: Vec<Value> = (0..9)
        .map(|i| doc(&format!("d{i}"), &format!("the zebra crossed road number{i}")))
        .collect();
    let questions = [
        json!({ "id": "q1", "type": "question", "text": "which walrus ate the pudding", "gold": [] }),
        json!({ "id": "q2", "type": "question", "text": "the zebra crossed the road", "gold": [] }),
        json!({ "id": "q3", "type": "prompt", "text": "teach the walrus to swim", "gold": [] }),
        json!({ "id": "q4", "type": "prompt", "text": "which road did the zebra cross", "gold": [] }),
    ];
    let files = Files::new();
    let mut plan = plan(files.lines(&documents, &questions));
    plan.configs = vec![SearchConfig::Plain, SearchConfig::Table];
    let json = run(&plan).unwrap().to_json();
    let types = &json["configs"]["table"]["types"];
    assert_eq!(
        (&types["question"]["silent"], &types["prompt"]["silent"]),
        (&json!(0.5), &json!(0.5))
    );
    assert!(json["configs"]["plain"]["all"]["silent"].is_null());
}

/// @eval_recall
#[test]
fn recall_is_the_share_of_evidence_and_sessions_are_ranked_separately() {
    let documents = [
        json!({ "id": "a", "session": "s1", "pos": 1, "role": "user", "text": "zebra crossing" }),
        json!({ "id": "b", "session": "s1", "pos": 2, "text": "an okapi is no zebra" }),
        json!({ "id": "c", "session": "s2", "role": "assistant", "text": "walrus" }),
        json!({ "id": "d", "text": "nothing of that kind", "time": "2026-01-02T03:04:05Z" }),
    ];
    let questions = [
        json!({ "id": "q1", "type": "one", "text": "walrus", "gold": ["c"], "gold_sessions": ["s2"] }),
        json!({ "id": "q2", "type": "two", "text": "walrus", "gold": ["c", "a"] }),
        json!({ "id": "q3", "text": "quagga", "gold": ["d"], "gold_sessions": ["s1"] }),
        json!({ "id": "q4", "text": "zebra", "gold": [] }),
    ];
    let json = measured(&documents, &questions);
    let plain = &json["configs"]["plain"];
    assert_eq!(plain["all"]["questions"], 4);
    assert_eq!(plain["all"]["questions_with_gold"], 3);
    assert_eq!(plain["all"]["questions_with_gold_sessions"], 2);
    // Of three questions, one finds all, one half, one nothing.
    assert_eq!(plain["all"]["documents"]["R@5"], 0.5);
    assert_eq!(plain["all"]["documents"]["any@1"], 0.6667);
    assert_eq!(plain["all"]["documents"]["MRR"], 0.6667);
    assert_eq!(plain["all"]["sessions"]["R@1"], 0.5);
    assert_eq!(plain["types"]["one"]["documents"]["nDCG@10"], 1.0);
    assert_eq!(plain["types"]["two"]["documents"]["R@20"], 0.5);
    assert_eq!(plain["types"]["two"]["sessions"], Value::Null);
    assert_eq!(plain["types"].as_object().unwrap().len(), 2, "no type is no group");
    assert!(
        plain["latency_ms"]["p95"].as_f64().unwrap()
            >= plain["latency_ms"]["p50"].as_f64().unwrap()
    );
    assert!(plain["index_bytes"].is_u64());
}

#[test]
fn a_document_is_found_by_each_passage_and_counts_once() {
    let filler = "This sentence has exactly seven plain words. ".repeat(60);
    let long =
        format!("{filler} The xylophone stands here. {filler} The glockenspiel stands there.");
    let documents = [doc("short", "a tuba and a lute"), doc("long", &long)];
    let questions = [
        json!({ "id": "q1", "text": "xylophone", "gold": ["long"] }),
        json!({ "id": "q2", "text": "glockenspiel or xylophone", "gold": ["long"] }),
        json!({ "id": "q3", "text": "sentence", "gold": ["long"] }),
    ];
    let json = measured(&documents, &questions);
    assert_eq!(json["configs"]["plain"]["all"]["documents"]["R@1"], 1.0);
}

/// @eval_plain
#[test]
fn the_plain_index_has_whole_documents_without_passages_or_sessions() {
    let filler = |count: usize| "leaf ".repeat(count);
    let both = format!("zebra {} heron", filler(150));
    let mut documents = vec![json!({ "id": "both", "session": "s1", "text": both })];
    for word in ["zebra", "heron"] {
        let text = format!("{word} {}", filler(45));
        documents.push(json!({ "id": word, "session": "s2", "text": text }));
    }
    documents.extend((0..6).map(|i| doc(&format!("d{i}"), &filler(40))));
    let questions =
        [json!({ "id": "q", "text": "zebra or heron", "gold": ["both"], "gold_sessions": ["s1"] })];
    let files = Files::new();
    let mut plan = plan(files.lines(&documents, &questions));
    plan.configs = vec![SearchConfig::Plain, SearchConfig::Lexical];
    let json = run(&plan).unwrap().to_json();
    let of = |config: &str| {
        let all = &json["configs"][config]["all"];
        (all["documents"]["R@1"].clone(), all["sessions"]["R@1"].clone())
    };
    assert_eq!(of("plain"), (json!(1.0), json!(1.0)));
    assert_eq!(of("lexical").0, json!(0.0), "its two words stand in two passages");
    let bytes = |config: &str| json["configs"][config]["index_bytes"].as_u64().unwrap();
    assert!(bytes("plain") > 0 && bytes("plain") != bytes("lexical"), "each has its own");
}

/// @eval_scopes
#[test]
fn a_scope_is_searched_alone_unless_all_are_pooled() {
    let documents: Vec<Value> = ["north", "south"]
        .iter()
        .flat_map(|scope| {
            let other = if *scope == "north" { "fjord fjord fjord" } else { "a fjord once" };
            [
                json!({ "id": format!("{scope}-1"), "scope": scope, "text": other }),
                json!({ "id": format!("{scope}-2"), "scope": scope, "text": "plain land" }),
                json!({ "id": "shared", "scope": scope, "text": "the same in both" }),
            ]
        })
        .collect();
    let questions = [json!({ "id": "q", "scope": "south", "text": "fjord", "gold": ["south-1"] })];
    let files = Files::new();
    let alone = plan(files.lines(&documents, &questions));
    let report = run(&alone).unwrap();
    assert_eq!((report.scopes, report.documents), (2, 6));
    assert_eq!(report.to_json()["configs"]["plain"]["all"]["documents"]["R@1"], 1.0);
    let report = run(&EvalPlan { pooled: true, ..alone }).unwrap();
    assert_eq!((report.scopes, report.documents), (1, 5), "what scopes share is there once");
    let json = report.to_json();
    assert_eq!(json["configs"]["plain"]["all"]["documents"]["R@1"], 0.0);
    assert_eq!(json["configs"]["plain"]["all"]["documents"]["R@5"], 1.0);
}

/// @eval_intervals
#[test]
fn configurations_are_compared_with_the_first_by_intervals() {
    let files = Files::new();
    let documents = [doc("a", "the heron waits"), doc("b", "the stork flies")];
    let questions = [
        json!({ "id": "1", "type": "bird", "text": "heron", "gold": ["a"] }),
        json!({ "id": "2", "type": "bird", "text": "stork", "gold": ["b"] }),
    ];
    let input = files.lines(&documents, &questions);
    let report = run(&EvalPlan { configs: SearchConfig::ALL.to_vec(), ..plan(input) }).unwrap();
    let json = report.to_json();
    let names: Vec<&String> = json["configs"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["plain", "lexical", "table"]);
    assert_eq!(json["configs"]["plain"]["all"]["difference"], Value::Null);
    let difference = &json["configs"]["table"]["all"]["difference"];
    assert_eq!(difference["to"], "plain");
    assert_eq!(difference["documents"]["R@5"], json!({ "mean": 0.0, "low": 0.0, "high": 0.0 }));
    assert_eq!(json["configs"]["table"]["types"]["bird"]["difference"]["to"], "plain");
    let table = report.table();
    assert!(table.starts_with("2 questions over 2 documents in 1 scope\n"), "{table}");
    assert!(table.contains("documents, points above plain (95 % interval)"), "{table}");
    assert!(table.contains("+0.0 (+0.0 to +0.0)"), "{table}");
    assert!(!table.contains("sessions"), "nothing is said of what nobody asked for: {table}");
}

/// @eval_floor
#[test]
fn a_value_below_its_floor_is_reported_with_both_numbers() {
    let files = Files::new();
    let questions = [
        json!({ "id": "1", "type": "bird", "text": "heron", "gold": ["a"] }),
        json!({ "id": "2", "text": "stork", "gold": ["a"] }),
    ];
    let report = run(&plan(files.lines(&[doc("a", "the heron waits")], &questions))).unwrap();
    let short = |floor: &str| report.short_of(&[Floor::parse(floor).unwrap()]);
    assert_eq!(short("all.documents.R@5=0.5"), [""; 0]);
    assert_eq!(short("bird.documents.MRR=1"), [""; 0]);
    assert_eq!(
        short("all.documents.R@5=0.51"),
        ["plain:all.documents.R@5 is 0.5000, at least 0.51 is wanted"]
    );
    for unmeasured in ["all.sessions.R@5=0", "fish.documents.R@5=0", "table:all.documents.R@5=0"] {
        let told = short(unmeasured);
        assert!(told.len() == 1 && told[0].contains("was not measured"), "{unmeasured}: {told:?}");
    }
}

/// @eval_documents
#[test]
fn a_session_is_written_in_order_with_increasing_times() {
    let files = Files::new();
    let at = |id: &str, session: Option<&str>, pos: Option<i64>, time: Option<&str>| json!({ "id": id, "session": session, "pos": pos, "time": time, "text": id });
    let same = Some("2023-05-08T13:56:00Z");
    let documents = [
        at("0", Some("x"), Some(3), same),
        at("1", None, None, None),
        at("2", Some("y"), None, None),
        at("3", Some("x"), Some(1), same),
        at("4", Some("y"), None, Some("1999-01-01T00:00:00Z")),
        at("5", Some("x"), Some(2), Some("2023-05-08T13:55:00Z")),
    ];
    let EvalInput::Lines { documents, questions } =
        files.lines(&documents, &[json!({ "id": 7, "text": "", "gold": [] })])
    else {
        panic!("lines were made");
    };
    let source = |path: &std::path::Path| InputFile::given("docs", path, path).unwrap();
    let (documents, questions) = (source(&documents), source(&questions));
    let stop = AtomicBool::new(false);
    let mut watch = RunWatch { tell: &mut |_| (), stop: &stop };
    let mut corpus = EvalCorpus::read(&documents, &questions, false, &mut watch).unwrap();
    let scope = corpus.take(0);
    let order: Vec<usize> = scope.documents.iter().map(|one| one.number).collect();
    assert_eq!(order, [3, 5, 0, 1, 2, 4]);
    let texts: Vec<String> =
        scope.documents.iter().map(|one| corpus.texts.of(one).unwrap()).collect();
    assert_eq!(texts, ["3", "5", "0", "1", "2", "4"]);
    for two in scope.documents.windows(2).filter(|two| two[0].session == two[1].session) {
        assert!(two[0].at < two[1].at);
    }
    assert_eq!(scope.documents[0].at, 1_683_554_160_000, "a time that is given counts");
}

#[test]
fn a_run_that_is_stopped_ends_with_an_error() {
    let files = Files::new();
    let input = files.lines(&[doc("a", "heron")], &[json!({ "id": "q", "text": "x", "gold": [] })]);
    let stop = AtomicBool::new(true);
    let error = crate::run(&plan(input), &mut RunWatch { tell: &mut |_| (), stop: &stop });
    assert!(error.unwrap_err().message.contains("interrupted"));
}
