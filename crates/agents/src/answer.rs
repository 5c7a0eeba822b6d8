//! Our text in the form in which the host of an agent hands it to its model.

use model::hook::HookEvent;
use serde_json::{Value, json};
use text::HostLimits;

use crate::table::{AGENTS, Agent, Form, agent};

/// Whether the host of this event hands a text on to its model.
pub fn takes_text(event: &HookEvent) -> bool {
    agent(&event.agent).and_then(|agent| agent.event(&event.name)?.answer).is_some()
}

/// The answer to an event; `None` if the agent or the event takes no text, or if the text is empty.
pub fn answer(event: &HookEvent, text: &str) -> Option<Value> {
    answer_to(&event.agent, &event.name, text)
}

/// The answer that hands a text on to the model at an event of this name, in the form of this agent.
pub fn answer_to(agent_name: &str, event: &str, text: &str) -> Option<Value> {
    let agent = agent(agent_name)?;
    let form = agent.event(event)?.answer?;
    let text = agent.host_limits().cut(text.trim_end());
    if text.is_empty() {
        return None;
    }
    Some(match form {
        Form::HookSpecificOutput => json!({
            "hookSpecificOutput": { "hookEventName": event, "additionalContext": text },
        }),
        Form::AdditionalContext => json!({ "additional_context": text }),
    })
}

/// The limits of a text that the agent's host hands on; for an unknown agent, the smallest limits of all hosts.
pub fn host_limits(agent_name: Option<&str>) -> HostLimits {
    match agent_name.and_then(agent) {
        Some(agent) => agent.host_limits(),
        None => AGENTS.iter().map(Agent::host_limits).fold(HostLimits::NONE, HostLimits::and),
    }
}
