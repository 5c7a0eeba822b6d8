//! Invented sessions of Gemini CLI, and the events that they become.

use model::json::Json;

use super::GeminiCli;
use crate::{ReadEvent, SessionPlace, TranscriptReader, Unread};

/// Reads lines and describes each event by its name and its words.
fn events(lines: &[&str]) -> Vec<String> {
    let mut reader = GeminiCli::default();
    let mut found = Vec::new();
    let mut sink = |event: ReadEvent<'_>| {
        let members = ["prompt", "prompt_response", "tool_name"];
        let words = members.iter().find_map(|name| event.payload.get(name).and_then(Json::as_str));
        found.push(format!("{} {}", event.name, words.unwrap_or_default()));
    };
    for line in lines {
        let _ = reader.line(line.as_bytes(), &mut sink);
    }
    reader.finish(true, &mut sink);
    found
}

const META: &str =
    r#"{"sessionId":"s-1","projectHash":"ab","startTime":"2026-10-05T09:00:00Z","kind":"main"}"#;
const PROMPT: &str = r#"{"id":"m-1","type":"user","content":[{"text":"why?"}]}"#;
const CALL: &str = r#"{"id":"m-2","type":"gemini","content":"","toolCalls":[{"id":"c-1","name":"glob","args":{},"status":"STATUS","result":[{"functionResponse":{"response":{"output":"a"}}}]}]}"#;
const ANSWER: &str = r#"{"id":"m-3","type":"gemini","content":"It was the cache."}"#;

#[test]
fn a_message_that_is_written_again_counts_once() {
    let open = CALL.replace("STATUS", "executing");
    let done = CALL.replace("STATUS", "success");
    assert_eq!(
        events(&[META, PROMPT, &open, &done, &done, ANSWER, r#"{"$set":{"lastUpdated":"x"}}"#]),
        ["BeforeAgent why?", "AfterTool glob", "AfterAgent It was the cache."]
    );
}

#[test]
fn a_whole_document_is_read_like_its_lines() {
    let document = META.replace('}', &format!(r#","messages":[{PROMPT},{ANSWER}]}}"#));
    assert_eq!(events(&[&document]), ["BeforeAgent why?", "AfterAgent It was the cache."]);
}

#[test]
fn a_cancelled_call_and_context_of_the_host_are_left_out() {
    let cancelled = CALL.replace("STATUS", "cancelled");
    let context = PROMPT.replace("why?", "<session_context>today</session_context>");
    assert!(events(&[META, &context, &cancelled]).is_empty());
}

#[test]
fn a_subagent_works_for_the_session_of_its_folder() {
    let mut reader = GeminiCli::default();
    let parent = Some("s-0".to_owned());
    reader.place(Some(&SessionPlace { parent, ..SessionPlace::default() }));
    let mut found = Vec::new();
    let done = CALL.replace("STATUS", "success");
    for line in [META, PROMPT, &done] {
        let _ = reader.line(line.as_bytes(), &mut |event| {
            let text =
                |name: &str| event.payload.get(name).and_then(Json::as_str).map(str::to_owned);
            found.push((event.name, text("session_id"), text("agent_id")));
        });
    }
    assert_eq!(found, [("AfterTool", Some("s-0".to_owned()), Some("s-1".to_owned()))]);
}

#[test]
fn lines_that_cannot_be_read_say_why() {
    let mut reader = GeminiCli::default();
    let mut read = |line: &str| reader.line(line.as_bytes(), &mut |_| {});
    assert_eq!(read("{"), Err(Unread::NotJson));
    assert_eq!(read("7"), Err(Unread::Malformed));
    assert_eq!(read(PROMPT), Err(Unread::Malformed), "the session is not known yet");
    assert_eq!(read(META), Ok(()));
    assert_eq!(read(r#"{"id":"m","type":"hologram"}"#), Err(Unread::UnknownKind));
}
