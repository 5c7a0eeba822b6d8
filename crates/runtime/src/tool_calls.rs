//! The sessions of calls of our own tools, by the agent's id of the call. An agent's hook reports a call before the call
//! arrives over MCP, and names the session; the MCP server's process only knows the session in which it was started.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use model::hook::{Happening, HookEvent};
use model::limits;

/// The latest calls. They are in memory only: a call follows its hook within moments.
#[derive(Default)]
pub(crate) struct ToolCalls(Mutex<VecDeque<ToolCall>>);

struct ToolCall {
    id: String,
    session: String,
}

impl ToolCalls {
    /// Notes the call of an event. An event about one of our own tools has no other content.
    pub(crate) fn saw(&self, event: &HookEvent) {
        let (Happening::Other, Some(id)) = (&event.what, &event.tool_use_id) else { return };
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.iter().any(|call| call.id == *id) {
            return;
        }
        if calls.len() >= limits::TOOL_CALLS_KEPT {
            calls.pop_front();
        }
        calls.push_back(ToolCall { id: id.clone(), session: event.session.clone() });
    }

    /// The session in which a call was made, if its hook was seen.
    pub(crate) fn session(&self, id: &str) -> Option<String> {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.iter().find(|call| call.id == id).map(|call| call.session.clone())
    }
}
