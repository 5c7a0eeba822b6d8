//! Answers of hooks as objects with a `type`, the format of the specification of CLAMS.

use model::ghap::{RunOutcome, reason};
use model::hook::{Happening, HookEvent, ToldEntry};
use serde_json::{Value, json};

/// The object for an event and its text with these entries; none if the event has no object.
pub(crate) fn answer(
    event: &HookEvent,
    text: Option<&str>,
    entries: &[ToldEntry],
) -> Option<Value> {
    let content = text.map(str::trim_end);
    let has = |wanted: &str| entries.iter().any(|entry| first_reason(entry).starts_with(wanted));
    let rich = |content: &str| {
        let tokens = text::tokens::estimate(content);
        json!({ "type": "rich", "content": content, "token_count": tokens })
    };
    match (&event.what, content) {
        (Happening::SessionStarted(_), Some(content)) => {
            let kind = if has(reason::ORPHAN) { "orphan_detected" } else { "session_started" };
            Some(json!({ "type": kind, "session_id": event.session, "content": content }))
        }
        (Happening::SessionStarted(_), None) => {
            Some(json!({ "type": "session_started", "session_id": event.session }))
        }
        (Happening::Prompted(_), Some(content)) => Some(rich(content)),
        (Happening::Prompted(_), None) => {
            Some(json!({ "type": "degraded", "reason": "no_context" }))
        }
        (Happening::ToolUsed(_), Some(content)) if has(reason::OUTCOME) => {
            let mut answer = json!({ "type": "outcome", "content": content });
            let outcome =
                entries.iter().find_map(|entry| RunOutcome::of_reason(first_reason(entry)));
            if let Some(action) = outcome.and_then(RunOutcome::suggested_action) {
                answer["suggested_action"] = action.into();
            }
            Some(answer)
        }
        (Happening::ToolStarting(_) | Happening::ToolUsed(_), Some(content)) => {
            Some(match has(reason::CHECK_IN) {
                true => json!({ "type": "reminder", "content": content }),
                false => rich(content),
            })
        }
        _ => None,
    }
}

/// The reason that a plugin gave; others may follow it.
fn first_reason(entry: &ToldEntry) -> &str {
    entry.reason.split("; ").next().unwrap_or_default()
}
