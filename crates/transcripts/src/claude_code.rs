//! Claude Code: a file of JSON lines for each session, and one for each of its subagents.
//!
//! An answer of the model consists of several lines with the same message id. A tool call and its result are in
//! different lines, with other calls between them. A prompt is a line of the user without a result.

use std::collections::HashMap;
use std::mem;

use model::json::{Json, Members};
use model::time;
use serde::Deserialize;
use serde_json::Value;

use crate::{EventSink, LineMark, PROMPT_LINE, ReadEvent, TranscriptReader, Unread, mark};

/// Kinds of lines without anything that a hook would report.
const IRRELEVANT: &[&str] = &[
    "progress",
    "file-history-snapshot",
    "queue-operation",
    "mode",
    "permission-mode",
    "last-prompt",
    "bridge-session",
    "atis-latch",
    "frame-link",
    "started",
    "result",
    "pr-link",
    "relocated",
    "worktree-state",
    "agent-name",
    "summary",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "tools-used",
    "cost-state",
];

/// How an interrupted turn ends, instead of with an answer.
const INTERRUPTED: &str = "[Request interrupted by user";
/// Begins the output of one of Claude Code's own commands.
const LOCAL_COMMAND: &str = "<local-command-";
/// The result of a tool that the user did not allow. It never ran.
const REJECTED: &str = "The user doesn't want to proceed with this tool use";
/// A line that is older than the first line of its file by more than this was copied, in milliseconds. Lines of one
/// moment may be in any order.
const COPIED_MS: i64 = 1_000;
/// The name of the subagent that summarises a session for its compaction begins with this.
const COMPACTION: &str = "acompact";

/// Reads a session's file, or that of a subagent.
#[derive(Default)]
pub struct ClaudeCode {
    /// Tool calls that have no result yet, by their id.
    calls: HashMap<String, OpenCall>,
    turn: ClaudeTurn,
    /// A slash command that is a prompt, unless its output follows: then it was one of Claude Code's own.
    command: Option<(ClaudeContext, String)>,
    title: Option<ClaudeTitle>,
    /// The first time in the file. Older lines were copied from another session.
    begun: Option<i64>,
}

/// A tool call before its result.
struct OpenCall {
    tool: String,
    input: Value,
}

/// The turn so far.
#[derive(Default)]
struct ClaudeTurn {
    prompt_id: Option<String>,
    /// The id of the prompt's line.
    line: Option<String>,
    /// The model's last message, if it has words.
    message: Option<ClaudeMessage>,
    /// Whether the answer was reported.
    is_answered: bool,
    answers: u32,
}

/// The words of one message of the model.
struct ClaudeMessage {
    id: Option<String>,
    text: String,
    /// Whether the model ended its turn with it.
    is_final: bool,
    context: ClaudeContext,
}

/// The members that most lines of a session share.
#[derive(Clone, Debug, Default)]
struct ClaudeContext {
    session: String,
    cwd: Option<String>,
    subagent: Option<String>,
    model: Option<String>,
    at: Option<i64>,
}

/// The title of a session. A title that the user chose takes precedence over one that the agent made.
struct ClaudeTitle {
    text: String,
    is_chosen: bool,
}

/// The members of a line.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaudeLine<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    session_id: Option<String>,
    uuid: Option<String>,
    prompt_id: Option<String>,
    timestamp: Option<Json<'a>>,
    cwd: Option<String>,
    agent_id: Option<String>,
    #[serde(default)]
    is_meta: bool,
    #[serde(default)]
    is_compact_summary: bool,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(borrow)]
    origin: Option<Json<'a>>,
    prompt_source: Option<Json<'a>>,
    subtype: Option<String>,
    custom_title: Option<String>,
    ai_title: Option<String>,
    #[serde(borrow)]
    message: Option<Json<'a>>,
    tool_use_result: Option<Json<'a>>,
    attachment: Option<Json<'a>>,
}

impl ClaudeLine<'_> {
    fn at(&self) -> Option<i64> {
        self.timestamp.as_ref().and_then(Json::as_str).and_then(time::parse_rfc3339)
    }

    fn context(&self) -> Option<ClaudeContext> {
        Some(ClaudeContext {
            session: self.session_id.clone()?,
            cwd: self.cwd.clone(),
            subagent: self.agent_id.clone(),
            model: None,
            at: self.at(),
        })
    }

    /// Whether the line is about the work of a subagent.
    fn is_of_subagent(&self) -> bool {
        self.is_sidechain || self.agent_id.is_some()
    }

    /// Whether Claude Code, not the user, wrote the prompt: a task in the background ended, or a reminder is due.
    fn is_of_host(&self) -> bool {
        let kind = self.origin.as_ref().and_then(|origin| origin.get("kind"));
        kind.and_then(Json::as_str) == Some("task-notification")
            || self.prompt_source.as_ref().and_then(Json::as_str) == Some("system")
    }

    /// Whether it is about the compaction of the session, which is no work of the user's.
    fn is_of_compaction(&self) -> bool {
        self.is_compact_summary
            || self.agent_id.as_deref().is_some_and(|id| id.starts_with(COMPACTION))
    }
}

impl TranscriptReader for ClaudeCode {
    fn line(&mut self, line: &[u8], sink: &mut EventSink<'_>) -> Result<(), Unread> {
        if is_irrelevant(line) {
            return Ok(());
        }
        let line: ClaudeLine<'_> =
            serde_json::from_slice(line).map_err(|error| match error.classify() {
                serde_json::error::Category::Data => Unread::Malformed,
                _ => Unread::NotJson,
            })?;
        if self.begun.is_none() {
            self.begun = line.at();
        }
        let kind = line.kind.as_deref().ok_or(Unread::Malformed)?;
        match kind {
            "user" => self.user(&line, sink),
            "assistant" => self.assistant(&line, sink),
            "system" => {
                self.system(&line, sink);
                Ok(())
            }
            "attachment" => self.attachment(&line, sink),
            "custom-title" => {
                self.titled(line.custom_title, true);
                Ok(())
            }
            "ai-title" => {
                self.titled(line.ai_title, false);
                Ok(())
            }
            kind if IRRELEVANT.contains(&kind) => Ok(()),
            _ => Err(Unread::UnknownKind),
        }
    }

    fn finish(&mut self, is_over: bool, sink: &mut EventSink<'_>) {
        self.submit_command(sink);
        if is_over || self.turn.message.as_ref().is_some_and(|message| message.is_final) {
            self.end_turn(sink);
        }
    }

    fn can_start_here(&self, next: &[u8]) -> bool {
        static USER: LineMark = mark!(br#""type":"user""#);
        // Quotes within a text are escaped, so these bytes are a member. Most lines of the user are results of tools,
        // the longest lines of all, and need not be parsed twice.
        static RESULT: LineMark = mark!(br#""type":"tool_result""#);
        let starts_turn = || {
            if !USER.is_in(next) || RESULT.is_in(next) {
                return false;
            }
            let line: Option<ClaudeLine<'_>> = serde_json::from_slice(next).ok();
            let line = line.filter(|line| line.kind.as_deref() == Some("user"));
            line.and_then(|line| prompt_of(&line)).is_some_and(|text| self.ends_calls(&text))
        };
        self.command.is_none() && starts_turn()
    }

    fn title(&self) -> Option<&str> {
        self.title.as_ref().map(|title| title.text.as_str())
    }
}

impl ClaudeCode {
    fn titled(&mut self, text: Option<String>, is_chosen: bool) {
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return };
        if is_chosen || self.title.as_ref().is_none_or(|known| !known.is_chosen) {
            self.title = Some(ClaudeTitle { text, is_chosen });
        }
    }

    fn user(&mut self, line: &ClaudeLine<'_>, sink: &mut EventSink<'_>) -> Result<(), Unread> {
        if line.is_meta || line.is_of_compaction() {
            return Ok(());
        }
        let context = line.context().ok_or(Unread::Malformed)?;
        let content = line.message.as_ref().and_then(|message| message.get("content"));
        let content = content.ok_or(Unread::Malformed)?;
        let results = content.as_list().into_iter().flatten();
        let results = results.filter(|block| kind_of(block) == Some("tool_result"));
        let mut has_result = false;
        for result in results {
            has_result = true;
            self.result(line, result, &context, sink);
        }
        if has_result {
            return Ok(());
        }
        let Some(text) = words(content) else { return Ok(()) };
        if line.is_of_subagent() {
            self.resume_subagent(line, &text, sink);
            return Ok(());
        }
        if text.starts_with(INTERRUPTED) {
            self.turn.message = None;
            return Ok(());
        }
        if text.trim_start().starts_with(LOCAL_COMMAND) {
            self.command = None;
            return Ok(());
        }
        // A fork gives its own prompt id to the lines that it copies; the id of a line stays.
        let is_copy = context.at.zip(self.begun).is_some_and(|(at, begun)| at < begun - COPIED_MS);
        let prompt_id = line.prompt_id.clone().filter(|_| !is_copy);
        self.end_turn(sink);
        self.start_turn(prompt_id.or_else(|| line.uuid.clone()), line.uuid.clone());
        match slash_command(&text) {
            // Its turn has an answer all the same.
            _ if line.is_of_host() => self.command = None,
            Some(command) => self.command = Some((context, command)),
            None => {
                self.calls.clear();
                self.prompt(&context, &text, sink);
            }
        }
        Ok(())
    }

    /// Reports the final answer of a subagent that gets another task. The task is left out, because the agent wrote it.
    fn resume_subagent(&mut self, line: &ClaudeLine<'_>, task: &str, sink: &mut EventSink<'_>) {
        let message = self.turn.message.as_ref().filter(|message| message.is_final);
        let subagent = message.and_then(|message| message.context.subagent.as_ref());
        if subagent.is_some() && subagent == line.agent_id.as_ref() && !is_report(task) {
            self.end_turn(sink);
        }
    }

    /// Whether no call is open after a prompt with these words. A call that has no result by the next prompt was
    /// interrupted and gets none; but Claude Code runs its own commands while a call is at work.
    fn ends_calls(&self, prompt: &str) -> bool {
        self.calls.is_empty() || slash_command(prompt).is_none()
    }

    fn start_turn(&mut self, prompt_id: Option<String>, line: Option<String>) {
        self.turn = ClaudeTurn { prompt_id, line, ..ClaudeTurn::default() };
    }

    fn prompt(&self, context: &ClaudeContext, text: &str, sink: &mut EventSink<'_>) {
        let mut payload = self.payload(context);
        payload.set("prompt", Json::Text(text.into()));
        let at = context.at;
        sink(ReadEvent { name: "UserPromptSubmit", payload: payload.into(), at, position: None });
    }

    /// Reports a slash command that turned out to be a prompt.
    fn submit_command(&mut self, sink: &mut EventSink<'_>) {
        if let Some((context, command)) = self.command.take() {
            self.calls.clear();
            self.prompt(&context, &command, sink);
        }
    }

    /// Reports a tool call whose result this is.
    fn result(
        &mut self,
        line: &ClaudeLine<'_>,
        result: &Json<'_>,
        context: &ClaudeContext,
        sink: &mut EventSink<'_>,
    ) {
        let Some(id) = result.get("tool_use_id").and_then(Json::as_str) else { return };
        let Some(call) = self.calls.remove(id) else { return };
        let content = result.get("content");
        let text = content.and_then(words).unwrap_or_default();
        if text.starts_with(REJECTED) {
            return;
        }
        let mut payload = self.payload(context);
        payload.set("tool_use_id", Json::Text(id.into()));
        payload.set("tool_name", Json::Text(call.tool.as_str().into()));
        payload.set("tool_input", Json::from(&call.input));
        let failed = result.get("is_error").and_then(Json::as_bool) == Some(true);
        let name = if failed {
            let error = text.strip_prefix("<tool_use_error>").unwrap_or(&text);
            let error = error.strip_suffix("</tool_use_error>").unwrap_or(error);
            payload.set("error", Json::Text(error.to_owned().into()));
            payload.set("is_interrupt", Json::Bool(text.contains(INTERRUPTED)));
            "PostToolUseFailure"
        } else {
            let response = line.tool_use_result.as_ref().or(content);
            payload.set("tool_response", response.cloned().unwrap_or(Json::Null));
            "PostToolUse"
        };
        sink(ReadEvent { name, payload: payload.into(), at: context.at, position: None });
    }

    fn assistant(&mut self, line: &ClaudeLine<'_>, sink: &mut EventSink<'_>) -> Result<(), Unread> {
        if line.is_of_compaction() {
            return Ok(());
        }
        self.submit_command(sink);
        let mut context = line.context().ok_or(Unread::Malformed)?;
        let message = line.message.as_ref().ok_or(Unread::Malformed)?;
        let text_of = |member: &str| message.get(member).and_then(Json::as_str);
        context.model = text_of("model").filter(|model| !model.starts_with('<')).map(str::to_owned);
        let blocks = message.get("content").and_then(Json::as_list).ok_or(Unread::Malformed)?;
        let (mut text, mut has_call) = (Vec::new(), false);
        for block in blocks {
            match kind_of(block) {
                Some("tool_use") => {
                    has_call = true;
                    self.call(block);
                }
                Some("text") => text.extend(block.get("text").and_then(Json::as_str)),
                _ => {}
            }
        }
        let is_final = match text_of("stop_reason") {
            Some(reason) => matches!(reason, "end_turn" | "stop_sequence"),
            // Earlier versions stored no reason. The file of a subagent ends with its answer.
            None => context.subagent.is_some() && !has_call,
        };
        self.said(text_of("id"), (&text.join("\n"), has_call), is_final, context);
        Ok(())
    }

    fn call(&mut self, block: &Json<'_>) {
        let text_of = |member: &str| block.get(member).and_then(Json::as_str).map(str::to_owned);
        let (Some(id), Some(tool)) = (text_of("id"), text_of("name")) else { return };
        let input = block.get("input").and_then(|input| serde_json::to_value(input).ok());
        self.calls.insert(id, OpenCall { tool, input: input.unwrap_or_default() });
    }

    /// Notes what the model said. Lines with the same id are parts of one message.
    fn said(
        &mut self,
        id: Option<&str>,
        (text, has_call): (&str, bool),
        is_final: bool,
        context: ClaudeContext,
    ) {
        let known = self.turn.message.as_mut();
        match known.filter(|known| id.is_some() && known.id.as_deref() == id) {
            Some(known) => {
                if !text.is_empty() {
                    let separator = if known.text.is_empty() { "" } else { "\n" };
                    known.text.extend([separator, text]);
                }
                known.is_final = is_final || known.is_final && !has_call;
                known.context = context;
            }
            None => {
                let id = id.map(str::to_owned);
                self.turn.message =
                    Some(ClaudeMessage { id, text: text.to_owned(), is_final, context });
            }
        }
        self.turn.is_answered = false;
    }

    fn system(&mut self, line: &ClaudeLine<'_>, sink: &mut EventSink<'_>) {
        match line.subtype.as_deref() {
            Some("turn_duration" | "stop_hook_summary") => self.end_turn(sink),
            Some("local_command") => self.command = None,
            _ => {}
        }
    }

    /// A prompt that was typed while the agent worked.
    fn attachment(
        &mut self,
        line: &ClaudeLine<'_>,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Unread> {
        let attachment = line.attachment.as_ref().ok_or(Unread::Malformed)?;
        let is_prompt = kind_of(attachment) == Some("queued_command")
            && !line.is_of_host()
            && attachment
                .get("commandMode")
                .and_then(Json::as_str)
                .is_none_or(|mode| mode == "prompt");
        let text = attachment.get("prompt").filter(|_| is_prompt && !line.is_of_subagent());
        let Some(text) = text.and_then(words) else { return Ok(()) };
        let context = line.context().ok_or(Unread::Malformed)?;
        let source = attachment.get("source_uuid").and_then(Json::as_str).map(str::to_owned);
        self.start_turn(source.or_else(|| line.uuid.clone()), line.uuid.clone());
        self.prompt(&context, &text, sink);
        Ok(())
    }

    /// Reports the answer of the turn, if it has one and no tool is at work. A call may never get a result; the model says
    /// that it has ended its turn all the same.
    fn end_turn(&mut self, sink: &mut EventSink<'_>) {
        self.submit_command(sink);
        let is_final = self.turn.message.as_ref().is_some_and(|message| message.is_final);
        let is_over =
            (self.calls.is_empty() || is_final) && !mem::replace(&mut self.turn.is_answered, true);
        let Some(message) = self.turn.message.take().filter(|_| is_over) else { return };
        if message.text.trim().is_empty() {
            return;
        }
        self.turn.answers += 1;
        let mut payload = self.payload(&message.context);
        payload.set("last_assistant_message", Json::Text(message.text.as_str().into()));
        let name = if message.context.subagent.is_some() { "SubagentStop" } else { "Stop" };
        let (at, position) = (message.context.at, Some(self.turn.answers));
        sink(ReadEvent { name, payload: payload.into(), at, position });
    }

    /// The members that all events have.
    fn payload<'p>(&'p self, context: &'p ClaudeContext) -> Members<'p> {
        let mut payload = Members::default();
        payload.set("session_id", Json::Text(context.session.as_str().into()));
        let optional = [
            ("cwd", &context.cwd),
            ("prompt_id", &self.turn.prompt_id),
            (PROMPT_LINE, &self.turn.line),
            ("agent_id", &context.subagent),
            ("model", &context.model),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                payload.set(name, Json::Text(value.as_str().into()));
            }
        }
        payload
    }
}

/// Whether a line is of a kind without interest, by its first bytes; most are. A line that is not recognised here is
/// parsed.
fn is_irrelevant(line: &[u8]) -> bool {
    let head = &line[..line.len().min(400)];
    let starts: [&[u8]; 2] = [br#"{"type":"api-request"#, br#"{"type":"file-history-snapshot""#];
    static PROGRESS: LineMark = mark!(br#""type":"progress","data":"#);
    starts.iter().any(|start| head.starts_with(start)) || PROGRESS.is_in(head)
}

/// Whether words in a line of the user are a report of Claude Code about the turn.
fn is_report(words: &str) -> bool {
    words.starts_with(INTERRUPTED) || words.trim_start().starts_with(LOCAL_COMMAND)
}

/// The words of a line of the user that is a prompt, which begins a turn.
fn prompt_of(line: &ClaudeLine<'_>) -> Option<String> {
    let content = line.message.as_ref()?.get("content")?;
    let mut blocks = content.as_list().into_iter().flatten();
    let is_own = !line.is_meta && !line.is_of_compaction() && !line.is_of_subagent();
    let is_result = blocks.any(|block| kind_of(block) == Some("tool_result"));
    words(content).filter(|text| is_own && !is_result && !is_report(text))
}

fn kind_of<'j>(block: &'j Json<'_>) -> Option<&'j str> {
    block.get("type").and_then(Json::as_str)
}

/// The words of a text, or of the text blocks of a list; `None` if there are none.
fn words(content: &Json<'_>) -> Option<String> {
    let text = match content {
        Json::Text(text) => text.to_string(),
        Json::List(blocks) => {
            let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Json::as_str));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

/// A slash command as the user typed it, from the tags in which Claude Code stores it.
fn slash_command(text: &str) -> Option<String> {
    let name = between(text, "<command-name>", "</command-name>")?;
    let arguments = between(text, "<command-args>", "</command-args>").unwrap_or_default();
    Some(format!("{} {}", name.trim(), arguments.trim()).trim_end().to_owned())
}

fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let start = text.find(open)? + open.len();
    let end = start + text[start..].find(close)?;
    Some(&text[start..end])
}

#[cfg(test)]
mod tests;
