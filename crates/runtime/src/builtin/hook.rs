//! `hook`: one event of an agent's hook, recorded once.

use std::sync::Arc;

use contract::{Access, Cx, Example, Op, OpInfo, Tier};
use model::event::HookRecord;
use model::{CallId, OpError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::hook_events;

use super::Shared;

pub(super) struct Hook(pub(super) Arc<Shared>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HookParams {
    /// Name of the event as the agent has it, for example `PostToolUse`.
    event: String,
    /// The event as the agent sends it; unknown members are ignored.
    #[serde(default)]
    payload: HookPayload,
    /// Id of the event, 32 hex digits; the same id is recorded once.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    id: Option<CallId>,
    /// When it happened, in milliseconds since 1970.
    #[serde(default)]
    at: Option<i64>,
}

/// The members of an event that are kept today.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct HookPayload {
    session_id: Option<String>,
    tool_use_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct HookOutput {
    /// Whether this event was new.
    recorded: bool,
    /// What the agent is told, in its own form; nothing when there is nothing to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Value>,
}

impl Op for Hook {
    const INFO: OpInfo = OpInfo {
        name: "hook",
        summary: "Record one event of an agent's hook",
        doc: "Agents reach this through `rekindle hook EVENT` or `POST /hook/EVENT`; the event is recorded once, whatever is sent twice.",
        access: Access::Write { destructive: false, idempotent: true },
        tiers: &[Tier::Hook, Tier::Client, Tier::Person],
        toolset: "system",
        large: true,
        examples: &[Example {
            title: "A tool was used",
            before: &[],
            params: r#"{"event":"PostToolUse","payload":{"session_id":"s-1","tool_name":"Bash"}}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = HookParams;
    type Output = HookOutput;

    fn run(&self, cx: &Cx<'_>, params: HookParams) -> Result<HookOutput, OpError> {
        let HookPayload { session_id, tool_use_id } = params.payload;
        let id = params.id.or(cx.store.call_id());
        let id = id.ok_or_else(|| OpError::invalid("id", "the event has no id"))?;
        let record = HookRecord {
            id,
            name: params.event,
            session: session_id,
            tool_use_id,
            at: params.at.unwrap_or(cx.now),
        };
        record.check()?;
        self.0.saw(&record);
        cx.store.write(move |tx| {
            let recorded = hook_events::record(tx, &record)?;
            Ok(HookOutput { recorded, answer: None })
        })
    }
}
