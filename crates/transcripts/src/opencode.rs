//! OpenCode: sessions in a database or in folders of small files. `import` hands over one JSON object for each row or
//! file: the session, then each message followed by its parts, in their order. `kind` names the table, `id` is that of
//! the row, and `data` is the agent's own JSON.
//!
//! The events are those that our plugin for OpenCode sends (`opencode.js` in `agents`).

use std::mem;

use model::json::{Json, Members};
use model::origin;
use serde_json::{Value, json};

use crate::{EventSink, ReadEvent, SessionPlace, TranscriptReader, Unread};

/// Begins the text by which OpenCode tells the model that the user ran a command. Hooks do not report it.
const USER_RAN: &str = "The following tool was executed by the user";

/// Begins a title that OpenCode gives to a session before it has one.
const NO_TITLE: [&str; 2] = ["New session - ", "Child session - "];

/// The error of a call that the user stopped.
const ABORTED: &str = "Tool execution aborted";

/// Reads one session.
#[derive(Default)]
pub struct OpenCode {
    session: Option<String>,
    /// The session that a subagent works for.
    parent: Option<String>,
    created: Option<i64>,
    directory: Option<String>,
    title: Option<String>,
    message: Option<OpenMessage>,
    turn: OpenCodeTurn,
}

/// A message whose parts are being read.
struct OpenMessage {
    id: String,
    is_user: bool,
    at: Option<i64>,
    /// Whether it was copied from another session, or summarises this one.
    is_skipped: bool,
    /// Whether the agent goes on after it; `None` if the message does not say.
    goes_on: Option<bool>,
    words: Vec<String>,
}

#[derive(Default)]
struct OpenCodeTurn {
    prompt: Option<String>,
    answers: u32,
    /// The text of the agent's newest message.
    answer: Option<(String, Option<i64>)>,
    /// Whether that message ends the turn.
    is_final: bool,
    /// Whether the user ran a command, which the next message reports as a call.
    is_of_user: bool,
}

impl TranscriptReader for OpenCode {
    fn line(&mut self, line: &[u8], sink: &mut EventSink<'_>) -> Result<(), Unread> {
        let row: Json<'_> = serde_json::from_slice(line).map_err(|_| Unread::NotJson)?;
        let data = row.get("data").filter(|data| data.as_object().is_some());
        let data = data.ok_or(Unread::Malformed)?;
        let id = text(&row, "id").ok_or(Unread::Malformed)?;
        match text(&row, "kind") {
            Some("session") => {
                self.about(id, data);
                Ok(())
            }
            _ if self.session.is_none() => Err(Unread::Malformed),
            Some("message") => self.message(id, data, time_of(data, "created"), sink),
            Some("part") => self.part(id, data, sink),
            Some("session_message") => self.whole_message(id, &row, data, sink),
            _ => Err(Unread::UnknownKind),
        }
    }

    fn finish(&mut self, is_over: bool, sink: &mut EventSink<'_>) {
        self.end_message(sink);
        if is_over || self.turn.is_final {
            self.end_turn(sink);
        }
    }

    fn can_start_here(&self, _: &[u8]) -> bool {
        false
    }

    fn place(&mut self, place: Option<&SessionPlace>) {
        self.parent = place.and_then(|place| place.parent.clone());
    }

    fn title(&self) -> Option<&str> {
        self.title.as_deref().filter(|_| self.parent.is_none())
    }
}

impl OpenCode {
    fn about(&mut self, id: &str, data: &Json<'_>) {
        self.session = Some(id.to_owned());
        self.directory = text(data, "directory").map(str::to_owned);
        self.created = time_of(data, "created");
        let is_title = |title: &&str| {
            !title.trim().is_empty() && !NO_TITLE.iter().any(|start| title.starts_with(start))
        };
        self.title = text(data, "title").filter(is_title).map(str::to_owned);
        if self.parent.is_none() {
            self.parent = text(data, "parentID").map(str::to_owned);
        }
    }

    fn message(
        &mut self,
        id: &str,
        data: &Json<'_>,
        at: Option<i64>,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Unread> {
        self.end_message(sink);
        let role = text(data, "role").ok_or(Unread::Malformed)?;
        // OpenCode creates a session before its first message, and a fork keeps the times of the messages that it copies.
        let is_copy = self.created.zip(at).is_some_and(|(created, at)| at < created);
        // In an assistant's message, `true` says that the message is a summary; in a user's message the member is an
        // object.
        let is_summary = data.get("summary").and_then(Json::as_bool) == Some(true);
        self.message = Some(OpenMessage {
            id: id.to_owned(),
            is_user: role == "user",
            at,
            is_skipped: is_copy || is_summary,
            goes_on: text(data, "finish").map(|reason| reason == "tool-calls"),
            words: Vec::new(),
        });
        if role == "user" {
            self.turn.is_of_user = false;
        } else if self.directory.is_none() {
            let path = data.get("path");
            self.directory = path.and_then(|path| text(path, "cwd")).map(str::to_owned);
        }
        match role {
            "user" | "assistant" => Ok(()),
            _ => Err(Unread::UnknownKind),
        }
    }

    fn part(&mut self, id: &str, data: &Json<'_>, sink: &mut EventSink<'_>) -> Result<(), Unread> {
        let Some(message) = &mut self.message else { return Err(Unread::Malformed) };
        match text(data, "type") {
            Some("text") => {
                let words = text(data, "text").ok_or(Unread::Malformed)?;
                let is = |member: &str| data.get(member).and_then(Json::as_bool) == Some(true);
                if is("synthetic") && words.starts_with(USER_RAN) {
                    self.turn.is_of_user = true;
                } else if !is("synthetic") && !is("ignored") {
                    message.words.push(words.to_owned());
                }
                Ok(())
            }
            Some("tool") => {
                let state = data.get("state").ok_or(Unread::Malformed)?;
                let (Some(call), Some(tool)) = (text(data, "callID"), text(data, "tool")) else {
                    return Err(Unread::Malformed);
                };
                let metadata = state.get("metadata");
                let exit = metadata.and_then(|metadata| metadata.get("exit"));
                let response =
                    json!({ "output": value(state.get("output")), "exit_code": value(exit) });
                let at = time_of(state, "end").or_else(|| time_of(state, "start"));
                let error = text(state, "error").unwrap_or_default();
                self.call((call, id, tool), (state, &response, error), at, sink);
                Ok(())
            }
            Some(
                "file" | "patch" | "subtask" | "agent" | "compaction" | "step-start"
                | "step-finish" | "snapshot" | "retry" | "reasoning",
            ) => Ok(()),
            Some(_) => Err(Unread::UnknownKind),
            None => Err(Unread::Malformed),
        }
    }

    /// Reads a message of the second generation, which holds its parts.
    fn whole_message(
        &mut self,
        id: &str,
        row: &Json<'_>,
        data: &Json<'_>,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Unread> {
        let at = time_of(data, "created").or_else(|| number(row, "at"));
        let kind = text(row, "type").or_else(|| text(data, "type")).ok_or(Unread::Malformed)?;
        match kind {
            "user" => {
                self.message(id, &json_of(&json!({ "role": "user" })), at, sink)?;
                let words = text(data, "text").ok_or(Unread::Malformed)?;
                self.message.iter_mut().for_each(|message| message.words.push(words.to_owned()));
                Ok(())
            }
            "assistant" => {
                let about = json!({ "role": "assistant", "finish": value(data.get("finish")) });
                self.message(id, &json_of(&about), at, sink)?;
                let content = data.get("content").and_then(Json::as_list).unwrap_or_default();
                content.iter().try_for_each(|part| self.content(id, part, sink))
            }
            "shell" | "synthetic" | "system" | "compaction" | "agent-switched"
            | "model-switched" => Ok(()),
            _ => Err(Unread::UnknownKind),
        }
    }

    /// Reads a part of a message of the second generation.
    fn content(
        &mut self,
        message: &str,
        part: &Json<'_>,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Unread> {
        match text(part, "type") {
            Some("text") => {
                let words = text(part, "text").ok_or(Unread::Malformed)?;
                self.message.iter_mut().for_each(|message| message.words.push(words.to_owned()));
                Ok(())
            }
            Some("tool") => {
                let state = part.get("state").ok_or(Unread::Malformed)?;
                let (Some(call), Some(tool)) = (text(part, "id"), text(part, "name")) else {
                    return Err(Unread::Malformed);
                };
                let texts = state.get("content").and_then(Json::as_list).unwrap_or_default();
                let texts: Vec<&str> = texts.iter().filter_map(|one| text(one, "text")).collect();
                let exit = state.get("structured").and_then(|structured| structured.get("exit"));
                let response = json!({ "output": texts.join("\n"), "exit_code": value(exit) });
                let error = state.get("error");
                let said =
                    error.and_then(|error| error.as_str().or_else(|| text(error, "message")));
                let at =
                    ["completed", "ran", "created"].iter().find_map(|name| time_of(part, name));
                let row = format!("{message}/{call}");
                self.call(
                    (call, &row, tool),
                    (state, &response, said.unwrap_or_default()),
                    at,
                    sink,
                );
                Ok(())
            }
            Some(_) => Ok(()),
            None => Err(Unread::Malformed),
        }
    }

    /// Reports a call that has a result. `row` identifies it if the model numbers its calls anew with every answer.
    fn call(
        &self,
        (call, row, tool): (&str, &str, &str),
        (state, response, error): (&Json<'_>, &Value, &str),
        at: Option<i64>,
        sink: &mut EventSink<'_>,
    ) {
        let Some(message) = &self.message else { return };
        if self.turn.is_of_user || message.is_skipped {
            return;
        }
        let id = if origin::is_unique_call(call) { call } else { row };
        let mut payload = self.payload();
        payload.set("tool_use_id", Json::Text(id.into()));
        payload.set("tool_name", Json::Text(tool.into()));
        let input = value(state.get("input"));
        payload.set("tool_input", Json::from(&input));
        let name = match text(state, "status") {
            Some("completed" | "success") => {
                payload.set("tool_response", Json::from(response));
                "tool.execute.after"
            }
            Some("error") => {
                payload.set("error", Json::Text(error.into()));
                payload.set("is_interrupt", Json::Bool(error == ABORTED));
                "message.part.updated"
            }
            _ => return,
        };
        let at = at.or(message.at);
        sink(ReadEvent { name, payload: payload.into(), at, position: None });
    }

    /// Ends a message: its words are the prompt, or the newest words of the agent.
    fn end_message(&mut self, sink: &mut EventSink<'_>) {
        let Some(message) = self.message.take().filter(|message| !message.is_skipped) else {
            return;
        };
        let is_subagent = self.parent.is_some();
        let words = |between: &str| {
            let words = message.words.join(between);
            (!words.trim().is_empty() && !is_subagent).then_some(words)
        };
        if !message.is_user {
            let answer = words("\n\n").filter(|_| message.goes_on != Some(true));
            self.turn.is_final = message.goes_on == Some(false);
            self.turn.answer = answer.map(|words| (words, message.at));
            return;
        }
        // The agent wrote the task of a subagent.
        let Some(words) = words("\n") else { return };
        self.end_turn(sink);
        let is_of_user = self.turn.is_of_user;
        self.turn =
            OpenCodeTurn { prompt: Some(message.id), is_of_user, ..OpenCodeTurn::default() };
        let mut payload = self.payload();
        payload.set("prompt", Json::Text(words.into()));
        let at = message.at;
        sink(ReadEvent { name: "chat.message", payload: payload.into(), at, position: None });
    }

    fn end_turn(&mut self, sink: &mut EventSink<'_>) {
        let Some((words, at)) = mem::take(&mut self.turn.answer) else { return };
        self.turn.answers += 1;
        let position = Some(self.turn.answers);
        let mut payload = self.payload();
        payload.set("last_assistant_message", Json::Text(words.into()));
        sink(ReadEvent { name: "session.idle", payload: payload.into(), at, position });
    }

    /// The members that all events have. A subagent's session is that of its parent.
    fn payload(&self) -> Members<'_> {
        let mut payload = Members::default();
        let subagent = self.session.as_ref().filter(|_| self.parent.is_some());
        let optional = [
            ("session_id", self.parent.as_ref().or(self.session.as_ref())),
            ("agent_id", subagent),
            ("cwd", self.directory.as_ref()),
            ("prompt_id", self.turn.prompt.as_ref()),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                payload.set(name, Json::Text(value.as_str().into()));
            }
        }
        payload
    }
}

fn text<'j>(json: &'j Json<'_>, member: &str) -> Option<&'j str> {
    json.get(member).and_then(Json::as_str)
}

fn number(json: &Json<'_>, member: &str) -> Option<i64> {
    let number = json.get(member).and_then(Json::as_number)?;
    number.as_i64()
}

/// A member of `time`, in milliseconds since 1970.
fn time_of(json: &Json<'_>, member: &str) -> Option<i64> {
    json.get("time").and_then(|time| number(time, member))
}

fn value(json: Option<&Json<'_>>) -> Value {
    json.and_then(|json| serde_json::to_value(json).ok()).unwrap_or_default()
}

fn json_of(value: &Value) -> Json<'_> {
    Json::from(value)
}

#[cfg(test)]
mod tests;
