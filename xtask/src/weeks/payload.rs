//! Turns a step into the payloads that Claude Code and Codex send to their hooks.

use serde_json::{Value, json};

use super::stories::StoryStep;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum WeekAgent {
    Claude,
    Codex,
}

impl WeekAgent {
    pub(super) fn name(self) -> &'static str {
        match self {
            WeekAgent::Claude => "claude-code",
            WeekAgent::Codex => "codex",
        }
    }
}

/// The members that all payloads of a session share.
pub(super) struct Frame<'a> {
    pub(super) agent: WeekAgent,
    pub(super) session: &'a str,
    pub(super) folder: &'a str,
}

impl Frame<'_> {
    pub(super) fn start(&self) -> HookPayload {
        self.event("SessionStart", json!({ "source": "startup" }))
    }

    /// Codex has no event for the end of a session.
    pub(super) fn end(&self) -> Option<HookPayload> {
        (self.agent == WeekAgent::Claude)
            .then(|| self.event("SessionEnd", json!({ "reason": "prompt_input_exit" })))
    }

    pub(super) fn step(&self, step: &StoryStep, hash: u64) -> HookPayload {
        match step {
            StoryStep::Prompt(text) => self.event("UserPromptSubmit", json!({ "prompt": text })),
            StoryStep::Answer(text) => self.event(
                "Stop",
                json!({ "stop_hook_active": false, "last_assistant_message": text }),
            ),
            StoryStep::Subagent(text) => self.event(
                "SubagentStop",
                json!({ "agent_id": "a1", "agent_type": "Explore", "last_assistant_message": text }),
            ),
            StoryStep::Read(path) => self.read(path),
            StoryStep::Grep(pattern) => self.run(&format!("rg -n '{pattern}' ."), "", false),
            StoryStep::Edit { path, old, new } => self.edit(path, old, new),
            StoryStep::Write { path, content } => self.write(path, content),
            StoryStep::Run { command, output, failed } => self.run(command, output, *failed),
            StoryStep::Commit(message) => {
                let command = format!("git commit -am '{}'", message.replace('\'', "'\\''"));
                let subject = message.lines().next().unwrap_or_default();
                let hash = hash & 0xfff_ffff;
                let output = format!("[main {hash:07x}] {subject}\n 2 files changed, 14 insertions(+), 3 deletions(-)");
                self.run(&command, &output, false)
            }
        }
    }

    fn read(&self, path: &str) -> HookPayload {
        match self.agent {
            WeekAgent::Codex => self.run(&format!("sed -n '1,160p' {path}"), "", false),
            WeekAgent::Claude => {
                let path = self.absolute(path);
                let file = json!({ "filePath": path, "content": "", "numLines": 1, "startLine": 1, "totalLines": 1 });
                let response = json!({ "type": "text", "file": file });
                self.tool("Read", json!({ "file_path": path }), response)
            }
        }
    }

    fn edit(&self, path: &str, old: &str, new: &str) -> HookPayload {
        match self.agent {
            WeekAgent::Codex => {
                let signed = |sign: &str, text: &str| {
                    text.lines().map(|line| format!("{sign}{line}\n")).collect::<String>()
                };
                let (gone, come) = (signed("-", old), signed("+", new));
                self.patch(&format!("*** Update File: {path}\n@@\n{gone}{come}"))
            }
            WeekAgent::Claude => {
                let path = self.absolute(path);
                let input = json!({ "file_path": path, "old_string": old, "new_string": new });
                let response = json!({ "filePath": path, "oldString": old, "newString": new });
                self.tool("Edit", input, response)
            }
        }
    }

    fn write(&self, path: &str, content: &str) -> HookPayload {
        match self.agent {
            WeekAgent::Codex => {
                let lines: String = content.lines().map(|line| format!("+{line}\n")).collect();
                self.patch(&format!("*** Add File: {path}\n{lines}"))
            }
            WeekAgent::Claude => {
                let path = self.absolute(path);
                let response = json!({ "type": "create", "filePath": path, "content": content });
                self.tool("Write", json!({ "file_path": path, "content": content }), response)
            }
        }
    }

    fn patch(&self, body: &str) -> HookPayload {
        let patch = format!("*** Begin Patch\n{body}*** End Patch");
        self.tool("apply_patch", json!({ "command": patch }), json!("Success. Updated files."))
    }

    /// A command. Codex reports the output and no exit code.
    fn run(&self, command: &str, output: &str, failed: bool) -> HookPayload {
        let input = json!({ "command": command });
        match (self.agent, failed) {
            (WeekAgent::Codex, _) => self.tool("Bash", input, json!(output)),
            (WeekAgent::Claude, false) => {
                let response = json!({ "stdout": output, "stderr": "", "interrupted": false });
                self.tool("Bash", input, response)
            }
            (WeekAgent::Claude, true) => {
                let error = format!("Exit code 1\n{output}");
                let rest = json!({ "tool_name": "Bash", "tool_input": input, "error": error });
                self.event("PostToolUseFailure", rest)
            }
        }
    }

    fn tool(&self, name: &str, input: Value, response: Value) -> HookPayload {
        let rest = json!({ "tool_name": name, "tool_input": input, "tool_response": response });
        self.event("PostToolUse", rest)
    }

    fn event(&self, event: &'static str, rest: Value) -> HookPayload {
        let mut payload = json!({
            "session_id": self.session,
            "cwd": self.folder,
            "hook_event_name": event,
        });
        if let (Some(all), Value::Object(rest)) = (payload.as_object_mut(), rest) {
            all.extend(rest);
        }
        HookPayload { event, payload }
    }

    fn absolute(&self, path: &str) -> String {
        format!("{}/{path}", self.folder)
    }
}

/// The name of a hook event and the payload on stdin.
pub(super) struct HookPayload {
    pub(super) event: &'static str,
    pub(super) payload: Value,
}
