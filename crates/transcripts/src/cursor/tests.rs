//! Invented conversations of Cursor, and the events that they become.

use model::json::Json;
use serde_json::{Value, json};

use super::Cursor;
use crate::{ReadEvent, SessionPlace, TranscriptReader, Unread};

/// Reads rows and describes each event by its name, its words and its id.
fn events_of(place: SessionPlace, rows: &[Value]) -> Vec<String> {
    let mut reader = Cursor::default();
    reader.place(Some(&place));
    let mut found = Vec::new();
    let mut sink = |event: ReadEvent<'_>| {
        let text = |name: &str| event.payload.get(name).and_then(Json::as_str).unwrap_or_default();
        let words = ["prompt", "text", "tool_name", "error_message"].map(text).concat();
        let ids = [text("generation_id"), text("tool_use_id")].join(" ");
        found.push(format!("{} {words} {}", event.name, ids.trim()).trim_end().to_owned());
        assert_eq!(text("conversation_id"), "c-1");
    };
    for row in rows {
        reader.line(row.to_string().as_bytes(), &mut sink).unwrap();
    }
    reader.finish(true, &mut sink);
    found
}

fn bubble(id: &str, data: Value) -> Value {
    json!({ "kind": "bubble", "id": id, "data": data })
}

fn tool(id: &str, status: &str) -> Value {
    let tool = json!({ "name": "run_terminal_command_v2", "status": status, "toolCallId": id, "rawArgs": "{\"command\":\"make\"}",
                       "result": "{\"output\":\"ok\",\"exitCodeV2\":0}", "error": "no" });
    bubble("b-9", json!({ "type": 2, "text": "", "toolFormerData": tool }))
}

#[test]
fn a_conversation_in_the_database_becomes_the_events_of_hooks() {
    let rows = [
        json!({ "kind": "composer", "id": "c-1", "data": { "name": "Cart" } }),
        bubble(
            "b-1",
            json!({ "type": 1, "text": "why?", "requestId": "r-1", "createdAt": "2026-10-05T09:00:00Z" }),
        ),
        bubble("b-2", json!({ "type": 2, "text": "let me look" })),
        tool("call_1", "completed"),
        tool("call_2", "error"),
        tool("call_3", "cancelled"),
        bubble("b-3", json!({ "type": 2, "text": "the cache" })),
        bubble("b-4", json!({ "type": 1, "text": "thanks" })),
    ];
    assert_eq!(
        events_of(SessionPlace::default(), &rows),
        [
            "beforeSubmitPrompt why? r-1",
            "postToolUse Shell r-1 call_1",
            "postToolUseFailure Shellno r-1 call_2",
            "afterAgentResponse the cache r-1",
            "beforeSubmitPrompt thanks b-4",
        ]
    );
}

#[test]
fn lines_of_the_agent_have_neither_ids_nor_times() {
    let says =
        |role: &str, blocks: Value| json!({ "role": role, "message": { "content": blocks } });
    let text = |words: &str| json!({ "type": "text", "text": words });
    let call = json!({ "type": "tool_use", "name": "Shell", "input": { "command": "ls" } });
    let rows = [
        says("user", json!([text("<attached>x</attached><user_query>\nwhy?\n</user_query>")])),
        says("assistant", json!([text("let me look"), call])),
        says("user", json!([{ "type": "tool_result", "content": "a" }])),
        says("assistant", json!([{ "type": "thinking", "thinking": "hm" }, text("the cache")])),
        json!({ "type": "turn_ended", "status": "success" }),
    ];
    let place = SessionPlace { session: Some("c-1".to_owned()), ..SessionPlace::default() };
    assert_eq!(
        events_of(place, &rows),
        ["beforeSubmitPrompt why?", "postToolUse Shell", "afterAgentResponse the cache"]
    );
    let child = SessionPlace {
        session: Some("c-2".to_owned()),
        parent: Some("c-1".to_owned()),
        ..SessionPlace::default()
    };
    assert_eq!(
        events_of(child, &rows),
        ["postToolUse Shell", "subagentStop the cache"],
        "the agent wrote the task"
    );
}

#[test]
fn a_subagent_has_an_answer_for_each_of_its_tasks() {
    let place = SessionPlace {
        session: Some("c-2".to_owned()),
        parent: Some("c-1".to_owned()),
        ..SessionPlace::default()
    };
    let says = |kind: u8, text: &str| json!({ "type": kind, "text": text });
    let rows = [
        bubble("b-1", says(1, "explore the cache")),
        bubble("b-2", says(2, "let me look")),
        tool("call_1", "completed"),
        bubble("b-3", says(2, "it is stale")),
        bubble("b-4", says(1, "and the index?")),
        bubble("b-5", says(2, "it is fresh")),
    ];
    assert_eq!(
        events_of(place.clone(), &rows),
        ["postToolUse Shell call_1", "subagentStop it is stale", "subagentStop it is fresh"]
    );
    let mut reader = Cursor::default();
    reader.place(Some(&place));
    let mut positions = Vec::new();
    let mut sink = |event: ReadEvent<'_>| {
        assert_eq!(event.payload.get("agent_id").and_then(Json::as_str), Some("c-2"));
        positions.extend(event.position);
    };
    for row in &rows {
        reader.line(row.to_string().as_bytes(), &mut sink).unwrap();
    }
    reader.finish(false, &mut sink);
    assert_eq!(positions, [1], "the last answer may not be whole yet");
}

#[test]
fn unknown_kinds_and_damaged_rows_have_different_problems() {
    let mut reader = Cursor::default();
    let mut read = |line: &str| reader.line(line.as_bytes(), &mut |_| {});
    assert_eq!(read("{"), Err(Unread::NotJson));
    assert_eq!(read("[]"), Err(Unread::Malformed));
    assert_eq!(read("{}"), Err(Unread::Malformed));
    assert_eq!(read(r#"{"type":"dream"}"#), Err(Unread::UnknownKind));
    assert_eq!(read(r#"{"role":"ghost","message":{"content":[]}}"#), Err(Unread::UnknownKind));
    assert_eq!(read(r#"{"kind":"bubble","id":"b","data":{}}"#), Err(Unread::Malformed));
    assert_eq!(read(r#"{"kind":"bubble","id":"b","data":{"type":9}}"#), Err(Unread::UnknownKind));
}
