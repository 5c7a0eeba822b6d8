//! Published files: small ones of the same form, made up for this project.

use serde_json::{Value, json};

use super::{Files, plan, run};
use crate::{EvalInput, EvalPlan, EvalReport, PublishedFormat};

fn read(format: PublishedFormat, file: &Value) -> Result<EvalReport, model::OpError> {
    read_plan(format, file, false)
}

fn read_plan(
    format: PublishedFormat,
    file: &Value,
    pooled: bool,
) -> Result<EvalReport, model::OpError> {
    let files = Files::new();
    let file = files.write("published.json", &file.to_string());
    run(&EvalPlan { pooled, ..plan(EvalInput::Published { file, format }) })
}

fn conversation(sample: &str) -> Value {
    json!({
        "sample_id": sample,
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bruno",
            "session_2_date_time": "9:05 am on 3 June, 2024",
            "session_2": [
                { "speaker": "Bruno", "dia_id": "D2:1", "text": "I bought a kayak." },
                { "speaker": "Ada", "dia_id": "D2:2", "text": "Look!",
                  "img_url": ["x"], "blip_caption": "a lighthouse at dusk" },
            ],
            "session_1_date_time": "1:56 pm on 8 May, 2024",
            "session_1": [
                { "speaker": "Ada", "dia_id": "D1:1", "text": "My sourdough failed again." },
                { "speaker": "Bruno", "dia_id": "D1:2", "text": "Mine too." },
            ],
            "session_3_date_time": "1:00 pm on 9 June, 2024",
        },
        "event_summary": {},
        "qa": [
            { "question": "What did Bruno buy?", "answer": "a kayak", "evidence": ["D2:1"], "category": 4 },
            { "question": "lighthouse and sourdough", "answer": 2, "evidence": ["D2:2; D1:1"], "category": 1 },
            { "question": "kayak", "answer": "?", "evidence": ["D:11:26", "D2:1"], "category": 2 },
            { "question": "nobody knows", "answer": "", "evidence": [], "category": 3 },
            { "question": "gone", "adversarial_answer": "", "evidence": ["D9:9"], "category": 5 },
        ],
    })
}

/// @eval_published
#[test]
fn locomo_is_read_as_it_is_published() {
    let report =
        read(PublishedFormat::Locomo, &json!([conversation("one"), conversation("two")])).unwrap();
    assert_eq!((report.scopes, report.documents), (2, 8));
    let json = report.to_json();
    let all = &json["configs"]["plain"]["all"];
    assert_eq!(all["questions"], 6, "questions without evidence are left out");
    assert_eq!(json["left_out"], json!({ "questions": 4, "evidence": 4 }), "and counted");
    let told = "omitted: 4 questions without evidence, 4 names of evidence that the file does not";
    assert!(report.table().contains(told), "{}", report.table());
    assert_eq!(all["documents"]["R@10"], 1.0, "the caption of a picture is part of its turn");
    assert_eq!(all["questions_with_gold_sessions"], 6);
    assert_eq!(all["sessions"]["R@5"], 1.0);
    let types: Vec<&String> =
        json["configs"]["plain"]["types"].as_object().unwrap().keys().collect();
    assert_eq!(types, ["multi-hop", "single-hop", "temporal"]);
    let multi = &json["configs"]["plain"]["types"]["multi-hop"];
    assert_eq!(multi["documents"]["R@1"], 0.5, "two turns in one member of the evidence are two");
    // Both conversations in one index: their turns stay distinct.
    let report = read_plan(
        PublishedFormat::Locomo,
        &json!([conversation("one"), conversation("two")]),
        true,
    );
    assert_eq!(report.unwrap().documents, 8);
}

fn question(id: &str, sessions: &[(&str, Value)], answers: &[&str]) -> Value {
    let ids: Vec<&str> = sessions.iter().map(|(id, _)| *id).collect();
    let turns: Vec<&Value> = sessions.iter().map(|(_, turns)| turns).collect();
    json!({
        "question_id": id, "question_type": "single-session-user", "question": "which lens for birds",
        "answer": 5, "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        "haystack_session_ids": ids, "haystack_sessions": turns, "answer_session_ids": answers,
    })
}

/// @eval_published
#[test]
fn longmemeval_is_read_as_it_is_published() {
    let lens = json!([
        { "role": "user", "content": "Which lens is good for birds?", "has_answer": true },
        { "role": "assistant", "content": "A long one.", "has_answer": false },
    ]);
    let bread = json!([{ "role": "user", "content": "How long does bread keep?" }]);
    let file = json!([
        question("q1", &[("answer_1", lens.clone()), ("s2", bread.clone())], &["answer_1"]),
        // Without marked turns it counts for sessions only.
        question("q2_abs", &[("s2", bread.clone()), ("answer_9", bread.clone())], &["answer_9"]),
        question("q3", &[("s2", lens), ("s2", bread)], &[]),
    ]);
    let report = read(PublishedFormat::Longmemeval, &file).unwrap();
    assert_eq!((report.scopes, report.documents), (3, 8));
    let json = report.to_json();
    let all = &json["configs"]["plain"]["all"];
    assert_eq!(all["questions"], 3);
    assert_eq!(all["questions_with_gold"], 2);
    assert_eq!(all["questions_with_gold_sessions"], 2);
    assert_eq!(all["documents"]["R@1"], 1.0);
    assert_eq!(all["sessions"]["any@1"], 0.5);
    // In the pool, a session that two questions share exists once, and a different one stays separate.
    assert_eq!(read_plan(PublishedFormat::Longmemeval, &file, true).unwrap().documents, 6);
}

#[test]
fn a_file_of_another_form_is_refused_with_the_reason() {
    let told = |format, file: Value| read(format, &file).unwrap_err().message;
    assert!(
        told(PublishedFormat::Locomo, json!({}))
            .contains("is not a file of locomo: invalid type: map")
    );
    assert!(told(PublishedFormat::Locomo, json!([])).contains("its list is empty"));
    assert!(
        told(PublishedFormat::Longmemeval, json!([conversation("one")]))
            .contains("missing field `question_id`")
    );
    let broken = json!([{ "conversation": { "session_1": [{ "text": "x" }] }, "qa": [] }]);
    assert!(
        told(PublishedFormat::Locomo, broken)
            .contains("session_1 of sample-1 is not a list of turns")
    );
    let mut uneven = question("q1", &[], &[]);
    uneven["haystack_session_ids"] = json!(["a"]);
    assert!(told(PublishedFormat::Longmemeval, json!([uneven])).contains("as many session ids"));
}
