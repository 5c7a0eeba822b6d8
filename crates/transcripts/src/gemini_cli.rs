//! Gemini CLI: a file for each session, as one JSON document (until 0.39) or as JSON lines.
//!
//! A message is written again when the results of its tool calls arrive, so a call is reported once, when it has a
//! result. A turn that the user rewound is reported too.

use std::collections::HashSet;
use std::mem;

use model::json::{Json, Members};
use model::time;
use serde_json::{Value, json};

use crate::{EventSink, ReadEvent, SessionPlace, TranscriptReader, Unread};

/// Begins a message of the host about the session.
const HOST_CONTEXT: &str = "<session_context>";

/// Reads a session's file, or that of a subagent.
#[derive(Default)]
pub struct GeminiCli {
    session: Option<String>,
    /// The session that a subagent works for.
    parent: Option<String>,
    /// The file's own id, if it belongs to a subagent.
    subagent: Option<String>,
    cwd: Option<String>,
    title: Option<String>,
    /// Ids of the prompts and tool calls that were reported.
    reported: HashSet<String>,
    turn: GeminiTurn,
}

#[derive(Default)]
struct GeminiTurn {
    prompt: Option<String>,
    answers: u32,
    message: Option<(String, Option<i64>)>,
    has_open_calls: bool,
}

impl TranscriptReader for GeminiCli {
    fn line(&mut self, line: &[u8], sink: &mut EventSink<'_>) -> Result<(), Unread> {
        let whole: Json<'_> = serde_json::from_slice(line).map_err(|_| Unread::NotJson)?;
        if whole.as_object().is_none() {
            return Err(Unread::Malformed);
        }
        if whole.get("$rewindTo").is_some() {
            return Ok(());
        }
        let set = whole.get("$set");
        self.about(set.unwrap_or(&whole));
        if let Some(messages) = set.unwrap_or(&whole).get("messages").and_then(Json::as_list) {
            for message in messages {
                self.message(message, sink);
            }
            return Ok(());
        }
        if set.is_some() || whole.get("sessionId").is_some() {
            return Ok(());
        }
        match text(&whole, "type") {
            Some(_) if self.session.is_none() => Err(Unread::Malformed),
            Some("user" | "gemini") => {
                self.message(&whole, sink);
                Ok(())
            }
            Some("info" | "error" | "warning") => Ok(()),
            Some(_) => Err(Unread::UnknownKind),
            None => Err(Unread::Malformed),
        }
    }

    fn finish(&mut self, is_over: bool, sink: &mut EventSink<'_>) {
        if is_over {
            self.end_turn(sink);
        }
    }

    fn can_start_here(&self, next: &[u8]) -> bool {
        const USER: &[u8] = br#""type":"user""#;
        if self.turn.has_open_calls || !next.windows(USER.len()).any(|window| window == USER) {
            return false;
        }
        // A prompt that is written again begins no turn.
        let line: Option<Json<'_>> = serde_json::from_slice(next).ok();
        let id = line.as_ref().and_then(|line| text(line, "id")).unwrap_or_default();
        !self.reported.contains(&format!("prompt {id}"))
    }

    fn prime(&mut self, first: &[u8]) {
        if let Ok(first) = serde_json::from_slice::<Json<'_>>(first) {
            self.about(&first);
        }
    }

    fn place(&mut self, place: Option<&SessionPlace>) {
        let Some(SessionPlace { cwd, parent, .. }) = place else { return };
        self.cwd.clone_from(cwd);
        self.parent.clone_from(parent);
    }

    fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }
}

impl GeminiCli {
    /// Reads the members that are about the session.
    fn about(&mut self, whole: &Json<'_>) {
        let text_of = |member: &str| text(whole, member).map(str::to_owned);
        if self.session.is_none() {
            self.session = text_of("sessionId");
            if self.parent.is_some() || text(whole, "kind") == Some("subagent") {
                self.subagent.clone_from(&self.session);
                self.session = self.parent.clone().or(self.session.take());
            }
        }
        if let Some(title) = text_of("summary").filter(|title| !title.trim().is_empty()) {
            self.title = Some(title);
        }
        let directories = whole.get("directories").and_then(Json::as_list);
        if let Some(first) = directories.and_then(|list| list.first()).and_then(Json::as_str)
            && self.cwd.is_none()
        {
            self.cwd = Some(first.to_owned());
        }
    }

    fn message(&mut self, message: &Json<'_>, sink: &mut EventSink<'_>) {
        let at = text(message, "timestamp").and_then(time::parse_rfc3339);
        match text(message, "type") {
            Some("user") => self.prompt(message, at, sink),
            Some("gemini") => {
                let calls = message.get("toolCalls").and_then(Json::as_list).unwrap_or_default();
                self.turn.has_open_calls = calls.iter().any(|call| status(call).is_none());
                for call in calls {
                    self.call(call, at, sink);
                }
                if let Some(words) = words(message) {
                    self.turn.message = Some((words, at));
                } else if !calls.is_empty() {
                    self.turn.message = None;
                }
            }
            _ => {}
        }
    }

    fn prompt(&mut self, message: &Json<'_>, at: Option<i64>, sink: &mut EventSink<'_>) {
        let Some(words) = words(message) else { return };
        let id = text(message, "id").unwrap_or_default();
        let is_host = words.trim_start().starts_with(HOST_CONTEXT) || self.subagent.is_some();
        if is_host || !self.reported.insert(format!("prompt {id}")) {
            return;
        }
        self.end_turn(sink);
        self.turn = GeminiTurn { prompt: Some(id.to_owned()), ..GeminiTurn::default() };
        let mut payload = self.payload();
        payload.set("prompt", Json::Text(words.into()));
        sink(ReadEvent { name: "BeforeAgent", payload: payload.into(), at, position: None });
    }

    fn call(&mut self, call: &Json<'_>, at: Option<i64>, sink: &mut EventSink<'_>) {
        let (Some(id), Some(name)) = (text(call, "id"), text(call, "name")) else { return };
        // A cancelled call was not allowed, or was stopped by the user.
        let Some(failed) = status(call) else { return };
        if !self.reported.insert(format!("call {id}")) {
            return;
        }
        let response = response(call, failed);
        let args = call.get("args").and_then(|args| serde_json::to_value(args).ok());
        let args = args.unwrap_or_default();
        let mut payload = self.payload();
        payload.set("tool_use_id", Json::Text(id.into()));
        payload.set("tool_name", Json::Text(name.into()));
        payload.set("tool_input", Json::from(&args));
        payload.set("tool_response", Json::from(&response));
        let at = text(call, "timestamp").and_then(time::parse_rfc3339).or(at);
        sink(ReadEvent { name: "AfterTool", payload: payload.into(), at, position: None });
    }

    fn end_turn(&mut self, sink: &mut EventSink<'_>) {
        let Some((words, at)) = mem::take(&mut self.turn.message) else { return };
        self.turn.answers += 1;
        let position = Some(self.turn.answers);
        let mut payload = self.payload();
        payload.set("prompt_response", Json::Text(words.into()));
        sink(ReadEvent { name: "AfterAgent", payload: payload.into(), at, position });
    }

    /// The members that all events have.
    fn payload(&self) -> Members<'_> {
        let mut payload = Members::default();
        let optional = [
            ("session_id", &self.session),
            ("cwd", &self.cwd),
            ("prompt_id", &self.turn.prompt),
            ("agent_id", &self.subagent),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                payload.set(name, Json::Text(value.as_str().into()));
            }
        }
        payload
    }
}

/// Whether a call failed; `None` if it has no result, or was cancelled.
fn status(call: &Json<'_>) -> Option<bool> {
    match text(call, "status")? {
        "success" => Some(false),
        "error" => Some(true),
        _ => None,
    }
}

/// The result of a call as the hook has it.
fn response(call: &Json<'_>, failed: bool) -> Value {
    let results = call.get("result").and_then(Json::as_list).unwrap_or_default();
    let said = results.iter().filter_map(|result| {
        let response = result.get("functionResponse")?.get("response")?;
        text(response, "output").or_else(|| text(response, "error"))
    });
    let said: Vec<&str> = said.collect();
    let said = said.join("\n");
    match failed {
        true => json!({ "llmContent": said, "error": { "message": said } }),
        false => json!({ "llmContent": said }),
    }
}

fn text<'j>(json: &'j Json<'_>, member: &str) -> Option<&'j str> {
    json.get(member).and_then(Json::as_str)
}

/// The words of a message.
fn words(message: &Json<'_>) -> Option<String> {
    let content = message.get("content")?;
    let words = match content {
        Json::Text(words) => words.to_string(),
        Json::List(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| text(part, "text")).collect();
            texts.join("\n")
        }
        _ => return None,
    };
    (!words.trim().is_empty()).then_some(words)
}

#[cfg(test)]
mod tests;
