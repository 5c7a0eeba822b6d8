//! The border between an agent and us, crossed by captured and by hostile events.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod answers;
mod documented;
mod fingerprints;
mod hostile;
mod killed;
mod members;
mod plain_failures;
mod replay;
mod results;
mod secrets;
mod tools;

use model::OpError;
use model::hook::{Happening, HookEvent, ToolUse};
use model::wire::CallId;
use serde_json::{Value, json};

/// The event that an agent's payload becomes.
fn extract(agent: &str, payload: &Value) -> Result<HookEvent, OpError> {
    agents::extract(Some(agent), None, &payload.into(), CallId([7; 16]), 1_700_000_000_000)
}

/// A payload with the members that every event has.
fn payload(event: &str, more: Value) -> Value {
    let mut payload = json!({
        "session_id": "s1", "cwd": "/home/user/project", "hook_event_name": event,
    });
    if let (Some(members), Value::Object(more)) = (payload.as_object_mut(), more) {
        members.extend(more);
    }
    payload
}

/// The use of a tool after which this was the response.
fn used(agent: &str, event: &str, tool: &str, input: Value, response: Value) -> ToolUse {
    let members = json!({ "tool_name": tool, "tool_input": input, "tool_response": response });
    tool_of(extract(agent, &payload(event, members)).unwrap())
}

/// A tool of Claude Code that worked.
fn claude(tool: &str, input: Value) -> ToolUse {
    used("claude-code", "PostToolUse", tool, input, json!({}))
}

/// An event of over 1 MiB as the hook sends it.
fn shorten(event: &Value) -> Value {
    let event = event.to_string();
    serde_json::from_slice(&agents::shortened(event.as_bytes()).unwrap()).unwrap()
}

fn tool_of(event: HookEvent) -> ToolUse {
    match event.what {
        Happening::ToolUsed(tool) | Happening::ToolStarting(tool) => tool,
        other => panic!("no tool: {other:?}"),
    }
}
