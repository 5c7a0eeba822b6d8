//! What happened, in the past tense: written with its cause, published after COMMIT in order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::OpError;
use crate::limits;

/// Something that happened. It names its subject and carries no user text beyond that.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// For example `hint/changed`.
    pub kind: &'static str,
    /// The entry it is about, for example `hint://web/build`.
    pub subject: String,
    pub data: Value,
}

/// An event that was committed, with its place in the sequence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// Position in the one sequence of events.
    pub seq: u64,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    pub kind: String,
    pub subject: String,
    pub data: Value,
}

/// A hook event as far as the runtime keeps it today: its name, its session, its time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HookRecord {
    /// The event's own id: the same event is recorded once.
    pub id: crate::wire::CallId,
    /// Name of the event as the agent has it, for example `PostToolUse`.
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The agent's id of the tool call, with which a second registration of the hook is recognised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
}

impl HookRecord {
    /// Checks that every name in it is one: there, short and without control characters. Whoever
    /// takes in an event asks this first: the operation, the hook, and the reader of the spool.
    pub fn check(&self) -> Result<(), OpError> {
        let session = self.session.as_deref();
        let tool_use = self.tool_use_id.as_deref();
        let max = limits::HOOK_NAME_BYTES_MAX;
        for (param, name) in [
            ("event", Some(self.name.as_str())),
            ("payload.session_id", session),
            ("payload.tool_use_id", tool_use),
        ] {
            let bad = |name: &str| name.len() > max || name.chars().any(char::is_control);
            if name.is_some_and(bad) || (param == "event" && self.name.is_empty()) {
                return Err(OpError::invalid(
                    param,
                    format!("{param} is not a name of 1 to {max} plain bytes"),
                )
                .with("max", max));
            }
        }
        Ok(())
    }
}
