//! What an agent is told, and when it is told nothing.

use agents::AGENTS;
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
        let answer = answer(agent.name, "SessionStart", &text).unwrap();
        let told = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(told.encode_utf16().count() <= agent.chars_max);
        assert!(agent.tokens_max.is_none_or(|tokens| told.len().div_ceil(4) <= tokens));
        assert!(told.ends_with("characters …"), "{}", agent.name);
        assert!(told.len() > 8_000, "{}", agent.name);
    }
}
