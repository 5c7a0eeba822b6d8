//! Input that is refused before anything is measured, and the errors.

use serde_json::json;

use super::{Files, plan, run};
use crate::{EvalInput, EvalPlan};

const DOCUMENT: &str = r#"{"id":"d","text":"heron"}"#;
const QUESTION: &str = r#"{"id":"q","text":"heron","gold":["d"]}"#;

fn refusal(documents: &str, questions: &str) -> model::OpError {
    let files = Files::new();
    let input = EvalInput::Lines {
        documents: files.write("docs.jsonl", documents),
        questions: files.write("questions.jsonl", questions),
    };
    run(&plan(input)).unwrap_err()
}

/// @eval_refusals
#[test]
fn a_wrong_document_is_reported_with_file_and_line() {
    for (line, what) in [
        ("{\"id\":\"x\",", "line 3: not JSON, at column"),
        ("[1]", "line 3: not a JSON object"),
        ("\u{0}", "line 3: not JSON"),
        (r#"{"text":"x"}"#, "line 3: `id` is missing"),
        (r#"{"id":"","text":"x"}"#, "line 3: `id` is empty"),
        (r#"{"id":["x"],"text":"x"}"#, "line 3: `id` is not a string"),
        (r#"{"id":"x"}"#, "line 3: `text` is missing"),
        (r#"{"id":"x","text":null}"#, "line 3: `text` is missing"),
        (r#"{"id":"x","text":5}"#, "line 3: `text` is not a string"),
        (r#"{"id":"x","text":"x","pos":"1"}"#, "line 3: `pos` is not a number"),
        (r#"{"id":"x","text":"x","time":"yesterday"}"#, "line 3: `time` is not an RFC 3339 time"),
        (r#"{"id":"x","text":"x","time":12}"#, "line 3: `time` is not an RFC 3339 time"),
        (r#"{"id":"d","text":"x"}"#, "line 3: the id `d` is already in line 1"),
    ] {
        // Empty lines are skipped, but count in line numbers.
        let error = refusal(&format!("{DOCUMENT}\n\n{line}\n"), QUESTION);
        assert!(error.message.contains("docs.jsonl"), "{line}: {error}");
        assert!(error.message.contains(what), "{line}: {error}");
        assert_eq!(error.details["line"], 3, "{line}");
        assert!(error.hint.is_some(), "{line}");
    }
}

/// @eval_refusals
#[test]
fn a_wrong_question_is_reported_with_file_and_line() {
    for (line, what) in [
        (r#"{"id":"x","gold":[]}"#, "line 2: `text` is missing"),
        (r#"{"id":"x","text":"x"}"#, "line 2: `gold` is missing"),
        (r#"{"id":"x","text":"x","gold":"d"}"#, "line 2: `gold` is not a list of strings"),
        (r#"{"id":"x","text":"x","gold":["e"]}"#, "line 2: `gold` names `e`, which is no document"),
        (
            r#"{"id":"x","text":"x","gold":[],"gold_sessions":["s"]}"#,
            "line 2: `gold_sessions` names `s`, which is no session",
        ),
        (
            r#"{"id":"x","scope":"far","text":"x","gold":[]}"#,
            "line 2: no document has the scope `far`",
        ),
        (r#"{"id":"q","text":"x","gold":[]}"#, "line 2: the id `q` is already in line 1"),
    ] {
        let error = refusal(DOCUMENT, &format!("{QUESTION}\n{line}"));
        assert!(error.message.contains("questions.jsonl"), "{line}: {error}");
        assert!(error.message.contains(what), "{line}: {error}");
    }
}

#[test]
fn empty_and_missing_files_are_refused() {
    assert!(refusal("", QUESTION).message.contains("docs.jsonl has no documents: no line"));
    let error = refusal(DOCUMENT, "\n \n");
    assert!(error.message.contains("questions.jsonl has no questions: no line"), "{error}");
    let files = Files::new();
    let nowhere = files.0.path().join("nowhere");
    let input = EvalInput::Lines { documents: nowhere.clone(), questions: nowhere };
    let error = run(&plan(input)).unwrap_err();
    assert_eq!(error.code, model::Code::NotFound);
    assert!(error.message.contains("nowhere"), "{error}");
}

#[test]
fn a_line_that_is_not_utf_8_is_refused_and_a_mark_of_byte_order_is_not() {
    let files = Files::new();
    let documents = files.0.path().join("docs.jsonl");
    std::fs::write(&documents, b"{\"id\":\"d\",\"text\":\"\xff\"}").unwrap();
    let questions = files.write("questions.jsonl", QUESTION);
    let input = EvalInput::Lines { documents: documents.clone(), questions };
    assert!(run(&plan(input.clone())).unwrap_err().message.contains("line 1: not JSON"));
    std::fs::write(&documents, format!("\u{feff}{DOCUMENT}\r\n")).unwrap();
    let report = run(&plan(input)).unwrap().to_json();
    assert_eq!(report["configs"]["plain"]["all"]["documents"]["R@1"], 1.0);
}

#[test]
fn a_pool_refuses_two_texts_with_one_id() {
    let files = Files::new();
    let documents = [
        json!({ "id": "d", "scope": "a", "text": "heron" }),
        json!({ "id": "d", "scope": "b", "text": "stork" }),
    ];
    let questions = [json!({ "id": "q", "scope": "a", "text": "heron", "gold": ["d"] })];
    let alone = plan(files.lines(&documents, &questions));
    run(&alone).unwrap();
    let error = run(&EvalPlan { pooled: true, ..alone }).unwrap_err();
    assert!(error.message.contains("line 2: the id `d` has another text in line 1"), "{error}");
}

/// @eval_refusals
#[test]
fn unknown_members_are_ignored() {
    let document = r#"{"id":1,"text":"heron","scope":null,"colour":"grey","session":null}"#;
    let question = r#"{"id":1,"text":"heron","gold":[1,"1"],"why":[{}]}"#;
    let files = Files::new();
    let input = EvalInput::Lines {
        documents: files.write("docs.jsonl", document),
        questions: files.write("questions.jsonl", question),
    };
    let report = run(&plan(input)).unwrap().to_json();
    assert_eq!(report["configs"]["plain"]["all"]["documents"]["R@1"], 1.0);
}
