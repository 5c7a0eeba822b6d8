//! Cursor: conversations in the editor's database, and JSON lines of its agent.
//!
//! `import` hands over the rows of the database as JSON objects: the conversation (`kind` is `composer`), then its
//! messages (`bubble`) in their order. The lines of the agent have a `role`, and neither ids nor times.

use std::mem;

use model::json::{Json, Members};
use model::time;
use serde_json::{Value, json};

use crate::{EventSink, ReadEvent, SessionPlace, TranscriptReader, Unread};

/// The tools of the editor by the names that its hooks use for them. Versions add a suffix, such as `_v2`.
const TOOLS: [(&str, &str); 18] = [
    ("run_terminal_c", "Shell"),
    ("read_file", "Read"),
    ("search_replace", "StrReplace"),
    ("edit_file", "Edit"),
    ("edit_notebook", "EditNotebook"),
    ("apply_patch", "ApplyPatch"),
    ("write", "Write"),
    ("delete_file", "Delete"),
    ("grep", "Grep"),
    ("ripgrep", "Grep"),
    ("codebase_search", "SemanticSearch"),
    ("semantic_search", "SemanticSearch"),
    ("file_search", "Glob"),
    ("glob_file_search", "Glob"),
    ("list_dir", "Glob"),
    ("web_search", "WebSearch"),
    ("web_fetch", "WebFetch"),
    ("task", "Task"),
];

/// Encloses the user's own words in the lines of the agent.
const QUERY: (&str, &str) = ("<user_query>", "</user_query>");

/// Reads one conversation.
#[derive(Default)]
pub struct Cursor {
    session: Option<String>,
    parent: Option<String>,
    cwd: Option<String>,
    title: Option<String>,
    prompt: Option<String>,
    answers: u32,
    /// The newest words of the agent, and their time.
    answer: Option<(String, Option<i64>)>,
}

impl TranscriptReader for Cursor {
    fn line(&mut self, line: &[u8], sink: &mut EventSink<'_>) -> Result<(), Unread> {
        let row: Json<'_> = serde_json::from_slice(line).map_err(|_| Unread::NotJson)?;
        if row.as_object().is_none() {
            return Err(Unread::Malformed);
        }
        let Some(kind) = text(&row, "kind") else { return self.agent_line(&row, sink) };
        let id = text(&row, "id").ok_or(Unread::Malformed)?;
        let data = row.get("data").filter(|data| data.as_object().is_some());
        let data = data.ok_or(Unread::Malformed)?;
        match kind {
            "composer" => {
                self.session = Some(id.to_owned());
                let title = text(data, "name").filter(|name| !name.trim().is_empty());
                self.title = title.map(str::to_owned);
                Ok(())
            }
            "bubble" => self.bubble(id, data, sink),
            _ => Err(Unread::UnknownKind),
        }
    }

    fn finish(&mut self, is_over: bool, sink: &mut EventSink<'_>) {
        if is_over {
            self.end_turn(sink);
        }
    }

    fn can_start_here(&self, _: &[u8]) -> bool {
        false
    }

    fn place(&mut self, place: Option<&SessionPlace>) {
        let Some(place) = place else { return };
        self.cwd.clone_from(&place.cwd);
        self.parent.clone_from(&place.parent);
        self.session.clone_from(&place.session);
    }

    fn title(&self) -> Option<&str> {
        self.title.as_deref().filter(|_| self.parent.is_none())
    }
}

impl Cursor {
    /// Reads a message of the editor.
    fn bubble(
        &mut self,
        id: &str,
        data: &Json<'_>,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Unread> {
        let at = moment(data.get("createdAt"));
        if let Some(folder) = text(data, "workspaceProjectDir").filter(|dir| dir.starts_with('/')) {
            self.cwd = Some(folder.to_owned());
        }
        let words = text(data, "text").unwrap_or_default();
        match data.get("type").and_then(Json::as_number).and_then(serde_json::Number::as_i64) {
            Some(1) => {
                let request = text(data, "requestId").filter(|id| !id.is_empty());
                self.prompted(words, Some(request.unwrap_or(id)), at, sink);
                Ok(())
            }
            Some(2) => {
                if let Some(tool) =
                    data.get("toolFormerData").filter(|tool| text(tool, "name").is_some())
                {
                    self.answer = None;
                    self.tool(id, tool, at, sink);
                }
                self.said(words, at);
                Ok(())
            }
            Some(_) => Err(Unread::UnknownKind),
            None => Err(Unread::Malformed),
        }
    }

    fn tool(&self, bubble: &str, tool: &Json<'_>, at: Option<i64>, sink: &mut EventSink<'_>) {
        let name = text(tool, "name").unwrap_or_default();
        let known = TOOLS.iter().find(|(start, _)| name.starts_with(start));
        let input = inside(tool.get("rawArgs")).or_else(|| inside(tool.get("params")));
        let result = text(tool, "result").unwrap_or_default();
        let failed = match text(tool, "status") {
            Some("completed") => false,
            Some("error") => true,
            // The call was cancelled, or the user did not allow it.
            _ => return,
        };
        let mut input = input.unwrap_or_default();
        // The hooks of the editor have another name for this member.
        if let Some(path) =
            input.get("target_file").or_else(|| input.get("relativeWorkspacePath")).cloned()
        {
            input["file_path"] = path;
        }
        let output = output(result);
        let mut payload = self.payload();
        let id = text(tool, "toolCallId").filter(|id| !id.trim().is_empty()).unwrap_or(bubble);
        payload.set("tool_use_id", Json::Text(id.into()));
        payload.set("tool_name", Json::Text(known.map_or(name, |(_, known)| known).into()));
        payload.set("tool_input", Json::from(&input));
        let name = if failed {
            let said = text(tool, "error").or_else(|| output["error"].as_str()).unwrap_or(result);
            payload.set("error_message", Json::Text(said.into()));
            "postToolUseFailure"
        } else {
            payload.set("tool_output", Json::Text(output.to_string().into()));
            "postToolUse"
        };
        sink(ReadEvent { name, payload: payload.into(), at, position: None });
    }

    /// Reads a line of the agent.
    fn agent_line(&mut self, row: &Json<'_>, sink: &mut EventSink<'_>) -> Result<(), Unread> {
        let Some(role) = text(row, "role") else {
            return match text(row, "type") {
                Some("turn_ended") => {
                    self.end_turn(sink);
                    Ok(())
                }
                Some(_) => Err(Unread::UnknownKind),
                None => Err(Unread::Malformed),
            };
        };
        let content = row.get("message").and_then(|message| message.get("content"));
        let content = content.ok_or(Unread::Malformed)?;
        let blocks = content.as_list().unwrap_or_default();
        let texts = blocks.iter().filter(|block| text(block, "type") == Some("text"));
        let texts: Vec<&str> = texts.filter_map(|block| text(block, "text")).collect();
        let words = content.as_str().map_or_else(|| texts.join("\n"), str::to_owned);
        match role {
            "user" => {
                self.prompted(query(&words), None, None, sink);
                Ok(())
            }
            "assistant" => {
                let calls = blocks.iter().filter(|block| text(block, "type") == Some("tool_use"));
                let calls: Vec<&Json<'_>> = calls.collect();
                for call in &calls {
                    self.agent_call(call, sink);
                }
                self.answer = None;
                self.said(if calls.is_empty() { &words } else { "" }, None);
                Ok(())
            }
            "system" | "tool" => Ok(()),
            _ => Err(Unread::UnknownKind),
        }
    }

    /// Reports a call of which only the input is known.
    fn agent_call(&self, call: &Json<'_>, sink: &mut EventSink<'_>) {
        let Some(tool) = text(call, "name") else { return };
        let input = value(call.get("input"));
        let mut payload = self.payload();
        payload.set("tool_name", Json::Text(tool.into()));
        payload.set("tool_input", Json::from(&input));
        sink(ReadEvent { name: "postToolUse", payload: payload.into(), at: None, position: None });
    }

    fn prompted(
        &mut self,
        words: &str,
        id: Option<&str>,
        at: Option<i64>,
        sink: &mut EventSink<'_>,
    ) {
        if words.trim().is_empty() {
            return;
        }
        self.end_turn(sink);
        // The agent wrote the task of a subagent.
        if self.parent.is_some() {
            return;
        }
        self.prompt = id.map(str::to_owned);
        self.answers = 0;
        let mut payload = self.payload();
        payload.set("prompt", Json::Text(words.into()));
        let name = "beforeSubmitPrompt";
        sink(ReadEvent { name, payload: payload.into(), at, position: None });
    }

    fn said(&mut self, words: &str, at: Option<i64>) {
        if !words.trim().is_empty() {
            self.answer = Some((words.to_owned(), at));
        }
    }

    fn end_turn(&mut self, sink: &mut EventSink<'_>) {
        let Some((words, at)) = mem::take(&mut self.answer) else { return };
        self.answers += 1;
        // Without the id of a prompt or of a subagent, an answer is recognised by its text.
        let is_subagent = self.parent.is_some();
        let position = (is_subagent || self.prompt.is_some()).then_some(self.answers);
        let mut payload = self.payload();
        payload.set("text", Json::Text(words.into()));
        let name = if is_subagent { "subagentStop" } else { "afterAgentResponse" };
        sink(ReadEvent { name, payload: payload.into(), at, position });
    }

    /// The members that all events have.
    fn payload(&self) -> Members<'_> {
        let mut payload = Members::default();
        let subagent = self.session.as_ref().filter(|_| self.parent.is_some());
        let optional = [
            ("conversation_id", self.parent.as_ref().or(self.session.as_ref())),
            ("agent_id", subagent),
            ("cwd", self.cwd.as_ref()),
            ("generation_id", self.prompt.as_ref()),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                payload.set(name, Json::Text(value.as_str().into()));
            }
        }
        payload
    }
}

/// The user's own words in a line of the agent, which also has what the editor added.
fn query(words: &str) -> &str {
    let inside = words.split_once(QUERY.0).map(|(_, rest)| rest);
    inside.map_or(words, |rest| rest.split_once(QUERY.1).map_or(rest, |(query, _)| query).trim())
}

/// The result of a tool as the hook has it.
fn output(result: &str) -> Value {
    let mut output = match serde_json::from_str(result) {
        Ok(Value::Object(members)) => Value::Object(members),
        _ => json!({ "output": result }),
    };
    if let Some(code) = output.get("exitCodeV2").cloned() {
        output["exitCode"] = code;
    }
    output
}

/// A JSON object that is inside a text, or is there itself.
fn inside(json: Option<&Json<'_>>) -> Option<Value> {
    let found = match json? {
        Json::Text(text) => serde_json::from_str(text).ok()?,
        other => serde_json::to_value(other).ok()?,
    };
    Value::is_object(&found).then_some(found)
}

fn value(json: Option<&Json<'_>>) -> Value {
    json.and_then(|json| serde_json::to_value(json).ok()).unwrap_or_default()
}

/// A time as text or in milliseconds since 1970.
fn moment(json: Option<&Json<'_>>) -> Option<i64> {
    match json? {
        Json::Text(text) => time::parse_rfc3339(text),
        Json::Number(number) => number.as_i64(),
        _ => None,
    }
}

fn text<'j>(json: &'j Json<'_>, member: &str) -> Option<&'j str> {
    json.get(member).and_then(Json::as_str)
}

#[cfg(test)]
mod tests;
