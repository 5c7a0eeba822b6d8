//! Invented sessions of OpenCode, and the events that they become.

use model::json::Json;
use serde_json::{Value, json};

use super::OpenCode;
use crate::{ReadEvent, SessionPlace, TranscriptReader, Unread};

/// Reads rows and describes each event by its name, its words and its position.
fn events_of(parent: Option<&str>, rows: &[Value]) -> Vec<String> {
    let mut reader = OpenCode::default();
    let place = SessionPlace { parent: parent.map(str::to_owned), ..SessionPlace::default() };
    reader.place(Some(&place));
    let mut found = Vec::new();
    let mut sink = |event: ReadEvent<'_>| {
        let text = |name: &str| event.payload.get(name).and_then(Json::as_str).unwrap_or_default();
        let words = ["prompt", "last_assistant_message", "tool_use_id"].map(text).concat();
        let position = event.position.map(|position| format!(" {position}")).unwrap_or_default();
        found.push(format!("{} {words}{position}", event.name));
        assert_eq!(text("session_id"), parent.unwrap_or("ses_1"));
        assert_eq!(text("agent_id"), parent.map_or("", |_| "ses_1"));
    };
    for row in rows {
        reader.line(row.to_string().as_bytes(), &mut sink).unwrap();
    }
    reader.finish(true, &mut sink);
    found
}

fn events(rows: &[Value]) -> Vec<String> {
    events_of(None, rows)
}

fn session() -> Value {
    json!({ "kind": "session", "id": "ses_1", "data": { "directory": "/shop", "title": "New session - 2026", "time": { "created": 100_000 } } })
}

fn message(id: &str, role: &str, at: i64, finish: Option<&str>) -> Value {
    json!({ "kind": "message", "id": id, "data": { "role": role, "time": { "created": at }, "finish": finish } })
}

fn words(text: &str) -> Value {
    json!({ "kind": "part", "id": "prt_1", "data": { "type": "text", "text": text } })
}

fn tool(call: &str, status: &str) -> Value {
    let state = json!({ "status": status, "input": { "command": "make" }, "output": "ok", "error": "no", "time": { "end": 100_009 } });
    json!({ "kind": "part", "id": "prt_9", "data": { "type": "tool", "callID": call, "tool": "bash", "state": state } })
}

const CALL: &str = "call_0123456789abcdefghij";

#[test]
fn a_session_becomes_the_events_of_the_plugin() {
    let rows = [
        session(),
        message("msg_1", "user", 100_001, None),
        words("why?"),
        words("and when?"),
        message("msg_2", "assistant", 100_002, Some("tool-calls")),
        words("let me look"),
        tool(CALL, "completed"),
        tool("call_1", "error"),
        tool("call_2", "running"),
        message("msg_3", "assistant", 100_003, Some("stop")),
        words("it was the cache"),
        words("so it is fixed"),
    ];
    assert_eq!(
        events(&rows),
        [
            "chat.message why?\nand when?",
            "tool.execute.after call_0123456789abcdefghij",
            "message.part.updated prt_9",
            "session.idle it was the cache\n\nso it is fixed 1"
        ]
    );
}

#[test]
fn words_that_no_user_wrote_and_copies_are_left_out() {
    let synthetic = |text: &str| json!({ "kind": "part", "id": "p", "data": { "type": "text", "text": text, "synthetic": true } });
    let summary = json!({ "kind": "message", "id": "msg_3", "data": { "role": "assistant", "summary": true, "time": { "created": 100_003 } } });
    let rows = [
        session(),
        message("msg_0", "user", 50_000, None),
        words("asked in the session that this one was forked from"),
        message("msg_1", "user", 100_001, None),
        synthetic("Continue if you have next steps"),
        message("msg_2", "user", 100_002, None),
        synthetic("The following tool was executed by the user"),
        message("msg_2b", "assistant", 100_002, None),
        tool(CALL, "completed"),
        summary,
        words("summary of the session"),
        message("msg_4", "user", 100_004, None),
        words("why?"),
    ];
    assert_eq!(events(&rows), ["chat.message why?"]);
}

/// A fork can be made within a second of the last message.
#[test]
fn a_message_that_is_a_millisecond_older_than_its_session_is_a_copy() {
    let rows = [
        session(),
        message("msg_1", "user", 99_998, None),
        words("asked in the session that this one was forked from"),
        message("msg_2", "assistant", 99_999, Some("stop")),
        tool(CALL, "completed"),
        words("answered there, too"),
        message("msg_3", "user", 100_000, None),
        words("why?"),
    ];
    assert_eq!(events(&rows), ["chat.message why?"]);
}

#[test]
fn only_the_calls_of_a_subagent_are_events() {
    let rows = [
        session(),
        message("msg_1", "user", 100_001, None),
        words("look for the cache"),
        message("msg_2", "assistant", 100_002, Some("stop")),
        tool(CALL, "completed"),
        words("it is in the cellar"),
    ];
    assert_eq!(events_of(Some("ses_0"), &rows), [format!("tool.execute.after {CALL}")]);
}

#[test]
fn messages_of_the_second_generation_hold_their_parts() {
    let row = |id: &str, kind: &str, data: Value| json!({ "kind": "session_message", "id": id, "type": kind, "at": 100_005, "data": data });
    let call = json!({ "type": "tool", "id": CALL, "name": "bash", "state": { "status": "completed", "input": {}, "content": [{ "type": "text", "text": "ok" }] } });
    let failed = json!({ "type": "tool", "id": "call_1", "name": "bash", "state": { "status": "error", "input": {}, "error": { "message": "no" } } });
    let rows = [
        session(),
        row("m_1", "user", json!({ "text": "why?" })),
        row("m_2", "assistant", json!({ "content": [call, failed], "finish": "tool-calls" })),
        row("m_3", "synthetic", json!({ "text": "go on" })),
        row(
            "m_4",
            "assistant",
            json!({ "content": [{ "type": "reasoning", "text": "hm" }, { "type": "text", "text": "the cache" }] }),
        ),
        row("m_5", "compaction", json!({ "summary": "a cache" })),
    ];
    assert_eq!(
        events(&rows),
        [
            "chat.message why?".to_owned(),
            format!("tool.execute.after {CALL}"),
            "message.part.updated m_2/call_1".to_owned(),
            "session.idle the cache 1".to_owned(),
        ]
    );
}

#[test]
fn unknown_kinds_and_damaged_rows_have_different_problems() {
    let mut reader = OpenCode::default();
    let mut read = |line: &str| reader.line(line.as_bytes(), &mut |_| {});
    assert_eq!(
        read(r#"{"kind":"message","id":"m","data":{"role":"user"}}"#),
        Err(Unread::Malformed)
    );
    assert_eq!(read(&session().to_string()), Ok(()));
    assert_eq!(read("{"), Err(Unread::NotJson));
    assert_eq!(read(r#"{"kind":"part","id":"p","data":{"type":"text"}}"#), Err(Unread::Malformed));
    assert_eq!(read(r#"{"kind":"dream","id":"d","data":{}}"#), Err(Unread::UnknownKind));
    assert_eq!(read(&message("m", "ghost", 1, None).to_string()), Err(Unread::UnknownKind));
    assert_eq!(read(&message("m", "user", 1, None).to_string()), Ok(()));
    let part = r#"{"kind":"part","id":"p","data":{"type":"hologram"}}"#;
    assert_eq!(read(part), Err(Unread::UnknownKind));
}
