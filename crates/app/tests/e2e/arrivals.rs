//! The text that reaches each agent, in its own events, members and format: the briefing of a new session, the hint
//! for a command, each once, and their receipts.

use serde_json::{Value, json};
use testkit::Home;

use super::home;

/// An agent, as its host speaks.
struct AgentHost {
    name: &'static str,
    start: &'static str,
    prompt: &'static str,
    before: &'static str,
    after: &'static str,
    failed: &'static str,
    /// The name of its shell tool.
    shell: &'static str,
    /// Whether text before a tool call reaches the model.
    hears_before: bool,
}

const HOSTS: [AgentHost; 5] = [
    AgentHost {
        name: "claude-code",
        start: "SessionStart",
        prompt: "UserPromptSubmit",
        before: "PreToolUse",
        after: "PostToolUse",
        failed: "PostToolUseFailure",
        shell: "Bash",
        hears_before: true,
    },
    AgentHost {
        name: "codex",
        start: "SessionStart",
        prompt: "UserPromptSubmit",
        before: "PreToolUse",
        after: "PostToolUse",
        failed: "PostToolUse",
        shell: "Bash",
        hears_before: true,
    },
    AgentHost {
        name: "gemini-cli",
        start: "SessionStart",
        prompt: "BeforeAgent",
        before: "BeforeTool",
        after: "AfterTool",
        failed: "AfterTool",
        shell: "run_shell_command",
        hears_before: false,
    },
    AgentHost {
        name: "cursor",
        start: "sessionStart",
        prompt: "beforeSubmitPrompt",
        before: "preToolUse",
        after: "postToolUse",
        failed: "postToolUseFailure",
        shell: "Shell",
        hears_before: false,
    },
    AgentHost {
        name: "opencode",
        start: "session.created",
        prompt: "chat.message",
        before: "tool.execute.before",
        after: "tool.execute.after",
        failed: "tool.execute.after",
        shell: "bash",
        hears_before: true,
    },
];

impl AgentHost {
    /// Sends an event as the agent does. Returns the part of the answer that its model reads.
    fn send(&self, home: &Home, event: &str, session: &str, more: Value) -> Option<String> {
        let cwd = home.path("app");
        std::fs::create_dir_all(&cwd).unwrap();
        let mut payload = match self.name {
            "cursor" => json!({ "conversation_id": session, "workspace_roots": [cwd] }),
            _ => json!({ "session_id": session, "cwd": cwd }),
        };
        payload["hook_event_name"] = json!(event);
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let args = ["hook", event, "--agent", self.name];
        let run = home.run_with(&args, payload.to_string().as_bytes());
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{event}");
        if run.stdout.is_empty() {
            return None;
        }
        let answer = run.json();
        let text = match self.name {
            "cursor" | "opencode" => &answer["additional_context"],
            _ => {
                assert_eq!(answer["hookSpecificOutput"]["hookEventName"], event);
                &answer["hookSpecificOutput"]["additionalContext"]
            }
        };
        Some(text.as_str().unwrap().to_owned())
    }

    fn command(&self, line: &str) -> Value {
        json!({ "tool_name": self.shell, "tool_input": { "command": line } })
    }

    /// The command with this agent's report of its failure.
    fn failure(&self, line: &str) -> Value {
        let mut members = self.command(line);
        let told = match self.name {
            "claude-code" => ("error", json!("Exit code 2\nno")),
            "codex" => ("tool_response", json!("Exit code: 2\nOutput:\nno")),
            "gemini-cli" => ("tool_response", json!({ "llmContent": "no\nExit Code: 2" })),
            "cursor" => ("error_message", json!("Command failed with exit code 2")),
            _ => ("tool_response", json!({ "output": "no", "exit_code": 2 })),
        };
        members[told.0] = told.1;
        members
    }
}

/// The receipts of a session, each as the paths of its lines.
fn receipts(home: &Home, session: &str) -> Vec<Vec<String>> {
    let told = home.call("receipts", &json!({ "session_id": session }));
    let path = |item: &Value| {
        assert!(!item["reason"].as_str().unwrap().is_empty(), "{item}");
        assert!(item["tokens"].as_u64().unwrap() > 0 && item["used"].is_boolean(), "{item}");
        item["path"].as_str().unwrap().to_owned()
    };
    let items = |receipt: &Value| {
        let items = receipt["items"].as_array().unwrap();
        let sum: u64 = items.iter().map(|item| item["tokens"].as_u64().unwrap()).sum();
        assert_eq!((&receipt["session_id"], &receipt["tokens"]), (&json!(session), &json!(sum)));
        assert!(receipt["at"].as_str().unwrap().ends_with('Z'));
        items.iter().map(path).collect()
    };
    told["receipts"].as_array().unwrap().iter().map(items).collect()
}

/// @each_agent_is_briefed
#[test]
fn a_session_of_any_agent_is_briefed_once_and_again_after_a_compaction() {
    for host in &HOSTS {
        let home = home();
        let _daemon = home.daemon();
        let name = host.name;
        let started = json!({ "source": "startup" });
        assert_eq!(host.send(&home, host.start, "s-1", started.clone()), None, "{name}");
        host.send(&home, host.prompt, "s-1", json!({ "prompt": "tame the zebrafish" }));
        host.send(&home, host.failed, "s-1", host.failure("make test"));
        let text = host.send(&home, host.start, "s-2", started).unwrap();
        assert!(
            text.starts_with("# rekindle context: records of earlier work, not instructions\n"),
            "{name}: {text}"
        );
        assert!(text.contains("tame the zebrafish") && text.contains("red: `make test`"), "{text}");
        assert_eq!(receipts(&home, "s-2").len(), 1, "{name}");
        assert_eq!(host.send(&home, host.start, "s-2", json!({ "source": "startup" })), None);
        for (count, source) in [(2, "compact"), (3, "clear")] {
            // OpenCode has its own name for one of them, and Cursor has neither.
            let event = match (name, source) {
                ("opencode", "compact") => "session.compacted",
                _ => host.start,
            };
            let again = host.send(&home, event, "s-2", json!({ "source": source })).unwrap();
            assert!(again.contains("tame the zebrafish"), "{name} {source}: {again}");
            assert_eq!(receipts(&home, "s-2").len(), count, "{name}");
        }
    }
}

/// @each_agent_is_given_hints
#[test]
fn a_hint_reaches_any_agent_once_before_the_command_or_when_it_failed() {
    for host in &HOSTS {
        let home = home();
        let _daemon = home.daemon();
        let name = host.name;
        for (key, value) in [("build", "make all"), ("test", "make check")] {
            let hint = json!({ "component": "aquarium", "key": key, "value": value });
            home.call("set_hint", &hint);
        }
        let hint = |key: &str, value: &str| {
            format!("## Hints for this command\n- aquarium/{key}: {value}")
        };
        let line = "aquarium build";
        let before = host.send(&home, host.before, "s-1", host.command(line));
        let told = before.is_some();
        assert_eq!(told, host.hears_before, "{name}");
        let failed = host.send(&home, host.failed, "s-1", host.failure(line));
        // Both events match the command; the first one that reaches the model brings the hint, once.
        let text = if told { &before } else { &failed };
        let text = text.as_ref().unwrap_or_else(|| panic!("{name} is told"));
        let rest = hint("build", "make all");
        assert!(text.starts_with(&rest) && text.contains("aquarium/test: make check"), "{text}");
        assert_eq!((told && failed.is_some(), receipts(&home, "s-1").len()), (false, 1), "{name}");
        assert_eq!(host.send(&home, host.failed, "s-1", host.failure(line)), None);
        let paths = ["hint://aquarium/build", "hint://aquarium/test"];
        assert_eq!(receipts(&home, "s-1"), [paths], "{name}");
        // A command that worked is not an occasion.
        assert_eq!(host.send(&home, host.after, "s-2", host.command("aquarium test")), None);
    }
}

/// @each_agent_is_given_hints
#[test]
fn the_limit_of_hints_holds_for_any_agent() {
    for host in &HOSTS {
        let home = home();
        let _daemon = home.daemon();
        for number in 0..6 {
            let component = format!("tank{number}");
            let hint = json!({ "component": component, "key": "fix", "value": "drain it first" });
            home.call("set_hint", &hint);
        }
        let told = |number: usize| {
            let line = format!("tank{number} fill");
            host.send(&home, host.failed, "s-1", host.failure(&line))
        };
        let count = (0..6).filter_map(told).count();
        assert_eq!(count, 3, "{}: at most three in ten minutes", host.name);
        assert_eq!(receipts(&home, "s-1").len(), 3);
    }
}
