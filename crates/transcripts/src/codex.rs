//! Codex: a file of JSON lines ("rollout") for each thread.
//!
//! A prompt is in a `response_item` and in an event; only the event is the user's own text. A tool call is in up to three
//! lines, which its `call_id` joins: the call, its output, and the event of its end. Of the output and the
//! event, the first that has the result is reported.

use std::collections::{HashMap, HashSet};
use std::mem;

use model::json::{Json, Members};
use model::origin::Origin;
use model::time;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{EventSink, LineMark, ReadEvent, TranscriptReader, Unread, mark};

/// Begins the ids of turns that Codex copied from a session of another agent.
const IMPORTED_TURN: &str = "external-import-turn";
/// Kinds of threads that Codex runs for itself.
const INTERNAL: [&str; 4] = ["memory_consolidation", "guardian", "compact", "review"];
/// Begins a text that the host, not the user, put into a message of the user.
const HOST_TAG: char = '<';

/// Reads the rollout of one thread.
#[derive(Default)]
pub struct Codex {
    thread: Option<Thread>,
    /// Tool calls without a result yet, by their id.
    calls: HashMap<String, OpenCall>,
    /// Ids of the calls of this turn whose result was reported.
    reported: HashSet<String>,
    turn: CodexTurn,
    title: Option<String>,
    /// How many prompts without the id of a turn had the same text.
    equal_prompts: HashMap<Origin, u32>,
}

/// The facts about a thread in its first line.
struct Thread {
    session: String,
    subagent: Option<String>,
    cwd: Option<String>,
    model: Option<String>,
    remote: Option<String>,
    /// Whether the thread is no work of the user's.
    is_internal: bool,
    /// Whether the lines are bare items, as before autumn 2025.
    is_bare: bool,
    /// The number of the first line that is the subagent's own. Lines before it are a copy of the parent's.
    own_from: Option<i64>,
}

struct OpenCall {
    tool: String,
    input: Value,
}

#[derive(Default)]
struct CodexTurn {
    id: Option<String>,
    prompts: u32,
    answers: u32,
    message: Option<(String, Option<i64>)>,
    /// Whether the turn is a copy from another thread or from a session of another agent.
    is_copied: bool,
}

/// The members of a line.
#[derive(Deserialize)]
struct CodexLine<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    timestamp: Option<String>,
    ordinal: Option<i64>,
    #[serde(borrow)]
    payload: Option<Json<'a>>,
}

/// A line of a rollout. A bare item is its own payload.
struct RolloutLine<'a> {
    kind: Option<String>,
    at: Option<i64>,
    ordinal: Option<i64>,
    payload: Json<'a>,
}

impl TranscriptReader for Codex {
    fn line(&mut self, line: &[u8], sink: &mut EventSink<'_>) -> Result<(), Unread> {
        if is_irrelevant(line) {
            return Ok(());
        }
        let RolloutLine { kind, at, ordinal, payload } = parts(line)?;
        if self.thread.is_none() {
            self.begin(&payload, kind.as_deref());
        }
        let own_from = self.thread.as_ref().and_then(|thread| thread.own_from);
        if own_from.zip(ordinal).is_some_and(|(own_from, ordinal)| ordinal < own_from) {
            return Ok(());
        }
        if self.thread.as_ref().is_none_or(|thread| thread.is_internal) {
            return if self.thread.is_some() { Ok(()) } else { Err(Unread::Malformed) };
        }
        match kind.as_deref() {
            Some("session_meta") | None => Ok(()),
            Some("turn_context") => {
                self.context(&payload);
                Ok(())
            }
            Some("event_msg") => self.event(&payload, at, sink),
            Some("response_item") => self.item(&payload, at, sink),
            Some("compacted" | "world_state" | "state" | "token_usage_record") => Ok(()),
            Some(kind) if kind.starts_with("inter_agent_communication") => Ok(()),
            Some(_) if self.thread.as_ref().is_some_and(|thread| thread.is_bare) => {
                self.item(&payload, at, sink)
            }
            Some(_) => Err(Unread::UnknownKind),
        }
    }

    fn finish(&mut self, is_over: bool, sink: &mut EventSink<'_>) {
        if is_over {
            self.end_turn(None, None, sink);
        }
    }

    fn can_start_here(&self, next: &[u8]) -> bool {
        static STARTED: LineMark = mark!(br#""type":"task_started""#);
        // Without the id of a turn, a prompt's id depends on all prompts before it.
        static TURN: LineMark = mark!(br#""turn_id":""#);
        let is_internal = self.thread.as_ref().is_some_and(|thread| thread.is_internal);
        self.calls.is_empty() && !is_internal && STARTED.is_in(next) && TURN.is_in(next)
    }

    fn prime(&mut self, first: &[u8]) {
        if let Ok(RolloutLine { kind, payload, .. }) = parts(first) {
            self.begin(&payload, kind.as_deref());
        }
    }

    fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    fn remote(&self) -> Option<&str> {
        self.thread.as_ref()?.remote.as_deref()
    }
}

impl Codex {
    /// Reads the first line. A fork repeats that of its parent later.
    fn begin(&mut self, meta: &Json<'_>, kind: Option<&str>) {
        let text_of = |member: &str| text(meta, member).map(str::to_owned);
        let Some(id) = text_of("id") else { return };
        let source = meta.get("source");
        let spawned = source.and_then(|source| source.get("subagent"));
        let names = [
            text(meta, "thread_source"),
            source.and_then(Json::as_str),
            spawned.and_then(Json::as_str),
        ];
        let spawn = spawned.and_then(|spawned| spawned.get("thread_spawn"));
        let parent = spawn.and_then(|spawn| text(spawn, "parent_thread_id"));
        let parent = parent.map(str::to_owned).or_else(|| spawned.and(text_of("parent_thread_id")));
        let is_internal = names.iter().flatten().any(|name| INTERNAL.contains(name))
            || spawned
                .is_some_and(|spawned| INTERNAL.iter().any(|name| spawned.get(name).is_some()));
        self.thread = Some(Thread {
            subagent: parent.is_some().then(|| id.clone()),
            session: parent.unwrap_or(id),
            cwd: text_of("cwd"),
            model: None,
            remote: meta.get("git").and_then(|git| text(git, "repository_url")).map(str::to_owned),
            is_internal,
            is_bare: kind.is_none(),
            own_from: meta
                .get("subagent_history_start_ordinal")
                .and_then(Json::as_number)
                .and_then(|first| first.as_i64()),
        });
    }

    fn context(&mut self, payload: &Json<'_>) {
        let text_of = |member: &str| text(payload, member).map(str::to_owned);
        if let Some(turn) = text_of("turn_id") {
            self.enter_turn(&turn);
        }
        let Some(thread) = &mut self.thread else { return };
        thread.cwd = text_of("cwd").or_else(|| thread.cwd.take());
        thread.model = text_of("model").or_else(|| thread.model.take());
    }

    /// Notes the turn that the next lines belong to.
    fn enter_turn(&mut self, id: &str) {
        if self.turn.id.as_deref() == Some(id) {
            return;
        }
        let subagent = self.thread.as_ref().and_then(|thread| thread.subagent.as_deref());
        let is_copied = id.starts_with(IMPORTED_TURN)
            || subagent.is_some_and(|thread| began_before(id, thread));
        self.turn = CodexTurn { id: Some(id.to_owned()), is_copied, ..CodexTurn::default() };
        self.reported.clear();
    }

    fn event(
        &mut self,
        payload: &Json<'_>,
        at: Option<i64>,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Unread> {
        let kind = text(payload, "type").ok_or(Unread::Malformed)?;
        match kind {
            "task_started" => {
                self.end_turn(None, None, sink);
                if let Some(turn) = text(payload, "turn_id") {
                    self.enter_turn(turn);
                }
            }
            "user_message" => self.prompt(text(payload, "message").unwrap_or_default(), at, sink),
            "agent_message" => self.said(text(payload, "message"), at),
            "task_complete" => {
                self.end_turn(text(payload, "last_agent_message"), at, sink);
            }
            "turn_aborted" => self.turn.message = None,
            "thread_name_updated" => self.title = text(payload, "thread_name").map(str::to_owned),
            "exec_command_end" => self.command_ended(payload, "call_id", at, sink),
            "item_completed" => {
                if let Some(turn) = text(payload, "turn_id") {
                    self.enter_turn(turn);
                }
                if let Some(item) = payload.get("item") {
                    self.completed(item, at, sink);
                }
            }
            // Other events repeat what items say, or are about the session itself.
            _ => {}
        }
        Ok(())
    }

    /// An item of a file in the paginated mode.
    fn completed(&mut self, item: &Json<'_>, at: Option<i64>, sink: &mut EventSink<'_>) {
        match text(item, "type") {
            Some("UserMessage") => self.prompt(&words(item).unwrap_or_default(), at, sink),
            Some("AgentMessage") => self.said(words(item).as_deref(), at),
            Some("CommandExecution") => self.command_ended(item, "id", at, sink),
            Some("McpToolCall") => {
                let (Some(id), Some(server), Some(tool)) =
                    (text(item, "id"), text(item, "server"), text(item, "tool"))
                else {
                    return;
                };
                let call = OpenCall {
                    tool: format!("mcp__{server}__{tool}"),
                    input: value(item.get("arguments")),
                };
                self.calls.insert(id.to_owned(), call);
                self.result(id, value(item.get("result")), at, sink);
            }
            _ => {}
        }
    }

    fn item(
        &mut self,
        item: &Json<'_>,
        at: Option<i64>,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Unread> {
        let is_bare = self.thread.as_ref().is_some_and(|thread| thread.is_bare);
        let id = || text(item, "call_id").or_else(|| text(item, "id"));
        match text(item, "type").ok_or(Unread::Malformed)? {
            "message" => match (text(item, "role"), words(item)) {
                (Some("assistant"), words) => self.said(words.as_deref(), at),
                (Some("user"), Some(words)) if is_bare && !words.starts_with(HOST_TAG) => {
                    self.end_turn(None, None, sink);
                    self.turn = CodexTurn::default();
                    self.prompt(&words, at, sink);
                }
                _ => {}
            },
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                if let Some(id) = id()
                    && !self.reported.contains(id)
                    && let Some(call) = call(item)
                {
                    self.calls.insert(id.to_owned(), call);
                }
            }
            "function_call_output" | "custom_tool_call_output" => {
                if let Some(id) = id() {
                    self.result(id, output(item.get("output")), at, sink);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn said(&mut self, words: Option<&str>, at: Option<i64>) {
        if let Some(words) = words.filter(|words| !words.trim().is_empty()) {
            self.turn.message = Some((words.to_owned(), at));
        }
    }

    fn prompt(&mut self, words: &str, at: Option<i64>, sink: &mut EventSink<'_>) {
        let Some(thread) = &self.thread else { return };
        // A subagent's task was written by the agent.
        if words.trim().is_empty() || thread.subagent.is_some() || self.turn.is_copied {
            return;
        }
        self.turn.prompts += 1;
        if self.turn.id.is_none() {
            let text = Origin::of(&[&thread.session, words]);
            let number = self.equal_prompts.entry(text).or_default();
            *number += 1;
            self.turn.id = Some(format!("{text}-{number}"));
        }
        // A turn may get further prompts while the agent works.
        let id = match (&self.turn.id, self.turn.prompts) {
            (Some(id), 1) => id.clone(),
            (Some(id), number) => format!("{id}#{number}"),
            (None, _) => return,
        };
        let mut payload = self.payload();
        payload.set("turn_id", Json::Text(id.into()));
        payload.set("prompt", Json::Text(words.to_owned().into()));
        sink(ReadEvent { name: "UserPromptSubmit", payload: payload.into(), at, position: None });
    }

    /// The end of a command, with its exit code.
    fn command_ended(
        &mut self,
        end: &Json<'_>,
        id: &str,
        at: Option<i64>,
        sink: &mut EventSink<'_>,
    ) {
        let Some(id) = text(end, id) else { return };
        if !self.calls.contains_key(id) {
            let Some(command) = end.get("command").and_then(command_line) else { return };
            let call = OpenCall { tool: "Bash".to_owned(), input: json!({ "command": command }) };
            self.calls.insert(id.to_owned(), call);
        }
        let said = text(end, "aggregated_output").or_else(|| text(end, "stdout"));
        let code = end.get("exit_code").and_then(Json::as_number).and_then(|code| code.as_i64());
        let response = match code {
            Some(0) | None => json!(said.unwrap_or_default()),
            Some(code) => json!({ "output": said, "exit_code": code }),
        };
        self.result(id, response, at, sink);
    }

    /// Reports a tool call with its result, once.
    fn result(&mut self, id: &str, response: Value, at: Option<i64>, sink: &mut EventSink<'_>) {
        let Some(call) = self.calls.remove(id) else { return };
        if !self.reported.insert(id.to_owned()) || self.turn.is_copied {
            return;
        }
        let mut payload = self.payload();
        payload.set("tool_use_id", Json::Text(id.into()));
        payload.set("tool_name", Json::Text(call.tool.as_str().into()));
        payload.set("tool_input", Json::from(&call.input));
        payload.set("tool_response", Json::from(&response));
        sink(ReadEvent { name: "PostToolUse", payload: payload.into(), at, position: None });
    }

    /// Reports the answer of the turn.
    fn end_turn(&mut self, last: Option<&str>, at: Option<i64>, sink: &mut EventSink<'_>) {
        let message = mem::take(&mut self.turn.message);
        if self.turn.is_copied {
            return;
        }
        let last = last.filter(|last| !last.trim().is_empty());
        let (words, at) = match (last, message) {
            (Some(last), said) => (last.to_owned(), at.or(said.and_then(|(_, at)| at))),
            (None, Some((words, said_at))) => (words, said_at),
            (None, None) => return,
        };
        self.turn.answers += 1;
        let is_subagent = self.thread.as_ref().is_some_and(|thread| thread.subagent.is_some());
        let mut payload = self.payload();
        payload.set("last_assistant_message", Json::Text(words.into()));
        let name = if is_subagent { "SubagentStop" } else { "Stop" };
        let position = Some(self.turn.answers);
        sink(ReadEvent { name, payload: payload.into(), at, position });
    }

    /// The members that all events have.
    fn payload(&self) -> Members<'_> {
        let mut payload = Members::default();
        let Some(thread) = &self.thread else { return payload };
        payload.set("session_id", Json::Text(thread.session.as_str().into()));
        let optional = [
            ("cwd", &thread.cwd),
            ("turn_id", &self.turn.id),
            ("agent_id", &thread.subagent),
            ("model", &thread.model),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                payload.set(name, Json::Text(value.as_str().into()));
            }
        }
        payload
    }
}

/// Whether a turn is older than a thread, by the times in their ids. A subagent's rollout begins with a copy of its
/// parent's lines, with new times and the old ids of the turns. Ids of another form tell nothing.
fn began_before(turn: &str, thread: &str) -> bool {
    /// Milliseconds since 1970, the first 48 bits of a UUID of version 7.
    fn time_of(id: &str) -> Option<u64> {
        const VERSION: usize = 14;
        if id.len() != 36 || id.as_bytes()[VERSION] != b'7' {
            return None;
        }
        let digits = format!("{}{}", id.get(..8)?, id.get(9..13)?);
        u64::from_str_radix(&digits, 16).ok()
    }
    time_of(turn).zip(time_of(thread)).is_some_and(|(turn, thread)| turn < thread)
}

fn parts(line: &[u8]) -> Result<RolloutLine<'_>, Unread> {
    let not_read = |error: serde_json::Error| match error.classify() {
        serde_json::error::Category::Data => Unread::Malformed,
        _ => Unread::NotJson,
    };
    let whole: CodexLine<'_> = serde_json::from_slice(line).map_err(not_read)?;
    let at = whole.timestamp.as_deref().and_then(time::parse_rfc3339);
    match whole.payload {
        Some(payload) => Ok(RolloutLine { kind: whole.kind, at, ordinal: whole.ordinal, payload }),
        None => {
            let bare: Json<'_> = serde_json::from_slice(line).map_err(not_read)?;
            let state = bare.get("record_type").map(|_| "state".to_owned());
            Ok(RolloutLine { kind: state.or(whole.kind), at, ordinal: None, payload: bare })
        }
    }
}

/// Whether a line, by its first bytes, has nothing that a hook would report. This is true of most lines.
fn is_irrelevant(line: &[u8]) -> bool {
    static PAYLOAD: LineMark = mark!(br#""payload":{"type":""#);
    const KINDS: [&[u8]; 4] =
        [b"token_count\"", b"reasoning\"", b"agent_reasoning\"", b"ghost_snapshot\""];
    let head = &line[..line.len().min(160)];
    let kind = PAYLOAD.find(head).map(|at| &head[at + br#""payload":{"type":""#.len()..]);
    kind.is_some_and(|kind| KINDS.iter().any(|irrelevant| kind.starts_with(irrelevant)))
}

fn text<'j>(json: &'j Json<'_>, member: &str) -> Option<&'j str> {
    json.get(member).and_then(Json::as_str)
}

fn value(json: Option<&Json<'_>>) -> Value {
    json.and_then(|json| serde_json::to_value(json).ok()).unwrap_or_default()
}

/// The words of a message's content.
fn words(message: &Json<'_>) -> Option<String> {
    let parts = message.get("content")?.as_list()?;
    let texts: Vec<&str> = parts.iter().filter_map(|part| text(part, "text")).collect();
    let words = texts.join("\n");
    (!words.trim().is_empty()).then_some(words)
}

/// A tool call as the hook has it: commands are called `Bash`, whatever tool runs them.
fn call(item: &Json<'_>) -> Option<OpenCall> {
    if let Some(command) = item.get("action").and_then(|action| action.get("command")) {
        let command = command_line(command)?;
        return Some(OpenCall { tool: "Bash".to_owned(), input: json!({ "command": command }) });
    }
    let name = text(item, "name")?;
    let name = match text(item, "namespace") {
        Some(namespace) if namespace.starts_with("mcp__") => format!("{namespace}__{name}"),
        _ => name.to_owned(),
    };
    let given = text(item, "arguments")
        .map(|text| serde_json::from_str(text).unwrap_or_else(|_| json!(text)));
    let given: Value =
        given.unwrap_or_else(|| value(item.get("arguments").or_else(|| item.get("input"))));
    if !matches!(
        name.as_str(),
        "exec_command" | "shell" | "shell_command" | "local_shell" | "container.exec"
    ) {
        let input = match given {
            Value::String(text) => json!({ "command": text }),
            given => given,
        };
        return Some(OpenCall { tool: name, input });
    }
    let command = given.get("cmd").or_else(|| given.get("command")).unwrap_or(&given);
    let command = command_line(&Json::from(command)).unwrap_or_default();
    Some(OpenCall { tool: "Bash".to_owned(), input: json!({ "command": command }) })
}

/// The command that a list of words runs: `["bash", "-lc", "cargo test"]` is `cargo test`.
fn command_line(command: &Json<'_>) -> Option<String> {
    match command {
        Json::Text(command) => Some(command.to_string()),
        Json::List(words) => {
            let words: Vec<&str> = words.iter().filter_map(Json::as_str).collect();
            match words.as_slice() {
                [] => None,
                [shell, flag, script] if shell.ends_with("sh") && flag.starts_with('-') => {
                    Some((*script).to_owned())
                }
                words => Some(words.join(" ")),
            }
        }
        _ => None,
    }
}

/// The result of a call as the hook has it. Older versions wrote it as JSON in a text, with the exit code.
fn output(output: Option<&Json<'_>>) -> Value {
    let Some(told) = output.and_then(Json::as_str) else { return listed(output) };
    if told.starts_with('{')
        && let Ok(inner) = serde_json::from_str::<Value>(told)
        && let Some(said) = inner.get("output").and_then(Value::as_str)
    {
        let code = inner.get("metadata").and_then(|metadata| metadata.get("exit_code"));
        return match code.and_then(Value::as_i64) {
            Some(0) | None => json!(said),
            Some(code) => json!({ "output": said, "exit_code": code }),
        };
    }
    json!(told)
}

/// The words of a result that is a list of items.
fn listed(output: Option<&Json<'_>>) -> Value {
    let Some(items) = output.and_then(Json::as_list) else { return value(output) };
    let texts: Vec<&str> = items.iter().filter_map(|item| text(item, "text")).collect();
    json!(texts.join("\n"))
}

#[cfg(test)]
mod tests;
