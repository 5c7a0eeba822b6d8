//! The answers to an agent's events, and the events that are not answered.

use agents::{AGENTS, Form, Kind};
use serde_json::{Value, json};

use super::{extract, payload};

fn answer(agent: &str, event: &str, text: &str) -> Option<Value> {
    let tool = json!({ "tool_name": "x", "prompt": "x", "new_cwd": "/x" });
    agents::answer(&extract(agent, &payload(event, tool)).unwrap(), text)
}

/// @capture_answers
#[test]
fn an_event_that_takes_text_is_answered_in_the_form_of_its_host() {
    let table = [
        ("claude-code", "SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure"),
        ("codex", "SessionStart UserPromptSubmit PreToolUse PostToolUse SubagentStart"),
        ("gemini-cli", "SessionStart BeforeAgent AfterTool"),
    ];
    for (agent, events) in table {
        for event in events.split(' ') {
            let expected = json!({
                "hookSpecificOutput": { "hookEventName": event, "additionalContext": "text" },
            });
            assert_eq!(answer(agent, event, "text\n"), Some(expected), "{agent} {event}");
            assert_eq!(answer(agent, event, " \n"), None);
        }
    }
}

/// @capture_answers
#[test]
fn cursor_and_our_plugin_take_the_text_as_a_member_of_its_own() {
    let table = [
        ("cursor", "sessionStart postToolUse postToolUseFailure"),
        ("opencode", "session.created session.compacted chat.message tool.execute.before"),
        ("opencode", "tool.execute.after message.part.updated"),
    ];
    for (agent, events) in table {
        for event in events.split(' ') {
            let expected = json!({ "additional_context": "text" });
            assert_eq!(answer(agent, event, "text\n"), Some(expected), "{agent} {event}");
        }
    }
}

/// @capture_stop_is_silent
#[test]
fn an_event_at_which_the_agent_stops_is_never_answered() {
    let silent = [
        "Stop",
        "SubagentStop",
        "StopFailure",
        "SessionEnd",
        "PreCompact",
        "PostCompact",
        "AfterAgent",
        "BeforeTool",
        "PreCompress",
        "CwdChanged",
        "Notification",
        "Setup",
        "stop",
        "subagentStop",
        "sessionEnd",
        "preCompact",
        // Cursor reads an answer to these as a permission, or as whether to continue.
        "preToolUse",
        "beforeSubmitPrompt",
        "beforeShellExecution",
        "beforeReadFile",
        "subagentStart",
        "session.idle",
        "session.deleted",
        "experimental.session.compacting",
    ];
    for agent in AGENTS {
        for event in silent {
            assert_eq!(answer(agent.name, event, "text"), None, "{} {event}", agent.name);
        }
    }
}

/// @capture_answer_limits
#[test]
fn a_long_text_ends_with_a_whole_line_within_the_limit_of_its_host() {
    let text = "twenty characters …\n".repeat(1_000);
    for agent in AGENTS {
        let start = agent.events.iter().find(|event| event.kind == Kind::SessionStart).unwrap();
        let answer = answer(agent.name, start.name, &text).unwrap();
        let told = match start.answer.unwrap() {
            Form::HookSpecificOutput => &answer["hookSpecificOutput"]["additionalContext"],
            Form::AdditionalContext => &answer["additional_context"],
        };
        let told = told.as_str().unwrap();
        assert!(told.encode_utf16().count() <= agent.chars_max);
        assert!(agent.tokens_max.is_none_or(|tokens| told.len().div_ceil(4) <= tokens));
        assert!(told.ends_with("characters …"), "{}", agent.name);
        assert!(told.len() > 8_000, "{}", agent.name);
    }
}
