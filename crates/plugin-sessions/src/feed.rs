//! The feed of a session's context: `session/subscribe {session_id}` on `/ws`, or as server-sent events. Also
//! the feed of changes to the list of sessions, which every client of `/ws` gets.

use contract::{Feed, FeedParams};
use model::OpError;
use model::event::{EventFilter, Published};
use serde_json::{Value, json};
use store::session_events::LIST_CHANGED;
use store::{Rx, context, sessions};

use crate::target;

pub(crate) struct SessionFeed;

/// The kinds of events about the context of a session. Their subject is the session.
pub(crate) const KINDS: &str = "context/";

impl Feed for SessionFeed {
    fn name(&self) -> &'static str {
        "session"
    }

    fn method(&self) -> &'static str {
        "session/event"
    }

    fn query(&self) -> Option<(&'static str, &'static str)> {
        Some(("session", "session_id"))
    }

    /// A session may be subscribed to before it exists.
    fn filter(&self, params: &FeedParams, _: &Rx<'_>) -> Result<EventFilter, OpError> {
        Ok(changes_of(session_id(params)?))
    }

    fn first(&self, params: &FeedParams, rx: &Rx<'_>) -> Result<Option<Value>, OpError> {
        let name = session_id(params)?;
        let Some(session) = sessions::id_of(rx, name)? else { return Ok(None) };
        let sets = context::of_session(rx, session)?;
        let version = context::version(rx, session)?;
        let data = json!({ "reason": "load", "context": &sets });
        // Sent even without sets: a client that reconnects may still show sets that were cleared.
        let has_changed = version > 0 || !sets.is_empty();
        Ok(has_changed.then(|| frame(name, version, data)))
    }

    fn message(&self, event: &Published) -> Value {
        let mut data = json!({ "reason": event.reason, "context": event.data["context"] });
        if let Some(set) = event.data.get("setName") {
            data["setName"] = set.clone();
        }
        frame(named(event), event.seq, data)
    }
}

/// Changes to the list of sessions.
pub(crate) struct SessionListFeed;

impl Feed for SessionListFeed {
    fn name(&self) -> &'static str {
        "sessions"
    }

    fn method(&self) -> &'static str {
        LIST_CHANGED
    }

    fn filter(&self, params: &FeedParams, _: &Rx<'_>) -> Result<EventFilter, OpError> {
        match params.keys().next() {
            Some(name) => Err(OpError::invalid(name, format!("unknown parameter `{name}`"))),
            None => Ok(list_filter()),
        }
    }

    fn for_everyone(&self) -> Option<EventFilter> {
        Some(list_filter())
    }

    fn message(&self, event: &Published) -> Value {
        json!({
            "reason": event.reason,
            "sessionId": named(event),
            "unobservedCount": event.data["unobservedCount"],
        })
    }
}

fn list_filter() -> EventFilter {
    EventFilter { kind: Some(LIST_CHANGED.to_owned()), ..EventFilter::default() }
}

/// The session that an event is about.
fn named(event: &Published) -> &str {
    event.subject.strip_prefix("session://").unwrap_or(&event.subject)
}

/// The events about changes of a session's context.
pub(crate) fn changes_of(session: &str) -> EventFilter {
    let subject = format!("session://{session}");
    EventFilter { kind: Some(KINDS.to_owned()), subject: Some(subject), project: None }
}

fn frame(session: &str, version: u64, data: Value) -> Value {
    let event = json!({ "type": "caco.context", "data": data });
    json!({ "sessionId": session, "version": version, "event": event })
}

/// The only parameter.
fn session_id(params: &FeedParams) -> Result<&str, OpError> {
    if let Some(name) = params.keys().find(|name| *name != "session_id") {
        return Err(OpError::invalid(name, format!("unknown parameter `{name}`")));
    }
    let id = params.get("session_id").and_then(Value::as_str).ok_or_else(|| {
        OpError::invalid("session_id", "the id of the session is missing or no string")
    })?;
    target::check_id(id)?;
    Ok(id)
}
