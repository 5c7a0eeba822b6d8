//! Every payload that was captured from a real agent, and what becomes of it.

use agents::AGENTS;
use expect_test::expect_file;
use model::hook::{Happening, HookEvent};
use model::wire::CallId;
use serde_json::{Value, json};

const CAPTURED: &str = include_str!("../../testdata/hooks.jsonl");

fn captured() -> impl Iterator<Item = (String, String, Value)> {
    lines(CAPTURED)
}

/// Client, event and payload of each line.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (String, String, Value)> {
    text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let word = |line: &Value, member: &str| line[member].as_str().unwrap().to_owned();
        let client = word(&line, "client").split(' ').next().unwrap().replace("codex-cli", "codex");
        (client, word(&line, "event"), line["stdin"].take())
    })
}

pub(super) fn extract(agent: Option<&str>, event: Option<&str>, payload: &Value) -> HookEvent {
    agents::extract(agent, event, &payload.into(), CallId([1; 16]), 1_700_000_000_000).unwrap()
}

pub(super) fn shown(what: &Happening) -> String {
    let (verb, tool) = match what {
        Happening::ToolStarting(tool) => ("starting", tool),
        Happening::ToolUsed(tool) => ("used", tool),
        other => return format!("{other:?}"),
    };
    let mut line = format!("{verb} {}: {:?}", tool.obs_type.word(), *tool.content);
    if let Some(path) = &tool.file_path {
        line += &format!(" at {}", **path);
    }
    if !tool.metadata.as_object().unwrap().is_empty() {
        line += &format!(" {}", *tool.metadata);
    }
    assert_eq!(tool.failed, tool.metadata.get("failed").is_some());
    line
}

/// @capture_replay
#[test]
fn captured_events_become_what_is_expected_of_them() {
    let lines = captured().map(|(client, event, payload)| {
        let event = extract(Some(&client), Some(&event), &payload);
        assert_eq!(event.session, payload["session_id"].as_str().unwrap());
        assert_eq!(event.cwd.as_ref().unwrap().as_str(), payload["cwd"].as_str().unwrap());
        for (ours, theirs) in [
            (&event.agent_id, payload.get("agent_id")),
            (&event.tool_use_id, payload.get("tool_use_id")),
            (
                &event.prompt_id,
                payload.get(if client == "codex" { "turn_id" } else { "prompt_id" }),
            ),
        ] {
            assert_eq!(ours.as_deref(), theirs.and_then(Value::as_str), "{payload}");
        }
        format!("{client} {} {}\n", event.name, shown(&event.what))
    });
    expect_file!["../../testdata/hooks.expected"].assert_eq(&lines.collect::<String>());
}

/// @capture_recognised
#[test]
fn an_agent_and_an_event_that_are_not_named_are_recognised() {
    for (client, event, payload) in captured() {
        let named = extract(Some(&client), Some(&event), &payload);
        assert_eq!(extract(None, None, &payload), named, "{client} {event}");
        // The folder is one sign; without it the others have to do, where there are any.
        let mut bare = payload.clone();
        bare["transcript_path"].take();
        let recognised = extract(None, None, &bare).agent;
        let shared = ["SessionStart", "SessionEnd"].contains(&event.as_str());
        assert!(recognised == client || shared && client == "codex", "{client} {event}");
    }
}

/// @capture_recognised
#[test]
fn the_tools_of_an_unidentified_agent_are_those_of_any_agent() {
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-a\n+b\n*** End Patch";
    for (tool, input, expected) in [
        ("shell", json!({"command": ["make", "all"]}), "command"),
        ("run_shell_command", json!({"command": "make all"}), "command"),
        ("apply_patch", json!({"input": patch}), "file_edit"),
        (
            "replace",
            json!({"file_path": "a.rs", "old_string": "a", "new_string": "b"}),
            "file_edit",
        ),
        ("mcp__db__query", json!({}), "mcp_call"),
        ("frobnicate", json!({}), "tool_other"),
    ] {
        let payload = json!({"session_id": "s-1", "cwd": "/w", "hook_event_name": "PostToolUse",
            "tool_name": tool, "tool_input": input, "tool_response": "done"});
        let kind = |agent| super::tool_of(extract(agent, None, &payload)).obs_type.word();
        assert_eq!(kind(None), expected, "{tool}");
        if tool != "mcp__db__query" {
            assert_eq!(kind(Some("claude-code")), "tool_other", "a named agent has no {tool}");
        }
    }
}

/// @capture_recognised
#[test]
fn mcp_tools_of_an_unidentified_agent_are_named_as_any_agent_names_them() {
    let payload = |tool: &str| {
        json!({"session_id": "s-1", "cwd": "/w", "hook_event_name": "PostToolUse",
            "tool_name": tool, "tool_input": {}, "tool_response": "done"})
    };
    for (tool, server, name) in [
        ("mcp__db__query", "db", "query"),
        ("mcp_db_query", "db", "query"),
        ("mcp_phttp_memory_set", "phttp", "memory_set"),
        ("MCP:query", "", "query"),
        ("MCP:db:query", "db", "query"),
    ] {
        let used = super::tool_of(extract(None, None, &payload(tool)));
        assert_eq!(used.obs_type.word(), "mcp_call", "{tool}");
        let part = |member: &str| used.metadata.get(member).and_then(Value::as_str);
        let server = Some(server).filter(|server| !server.is_empty());
        assert_eq!((part("server"), part("tool")), (server, Some(name)), "{tool}");
    }
    // Our own calls are not recorded, whichever agent makes them.
    let ours = extract(None, None, &payload("mcp_rekindle_search"));
    assert!(matches!(ours.what, Happening::Other), "{ours:?}");
}

/// @capture_record
#[test]
fn every_captured_event_that_record_takes_is_complete() {
    for (_, _, payload) in captured() {
        agents::strict(None, &(&payload).into()).unwrap();
        for member in ["session_id", "cwd", "hook_event_name"] {
            for wrong in [Value::Null, "".into(), true.into()] {
                let mut payload = payload.clone();
                payload[member] = wrong;
                let error = agents::strict(None, &(&payload).into()).unwrap_err();
                assert_eq!(error.details["param"], member);
            }
        }
    }
}

#[test]
fn the_table_names_no_event_and_no_tool_twice() {
    for agent in AGENTS {
        for (index, event) in agent.events.iter().enumerate() {
            assert!(agent.events[..index].iter().all(|other| other.name != event.name));
        }
        for (index, (name, _)) in agent.tools.iter().enumerate() {
            assert!(agent.tools[..index].iter().all(|(other, _)| other != name), "{name}");
        }
    }
    assert_eq!(AGENTS[0].name, "claude-code");
}
