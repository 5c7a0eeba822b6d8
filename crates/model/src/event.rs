//! Events, named in the past tense. Noted in the transaction that caused them, published after COMMIT in order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An event. Kind, subject and reason are stored; project and data are only published, because data may contain user
/// text.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// For example `hint/changed`.
    pub kind: &'static str,
    /// The entry it is about, for example `hint://web/build`.
    pub subject: String,
    /// Why it happened, as one word, where one kind has several reasons.
    pub reason: Option<&'static str>,
    /// The project it belongs to, for subscribers that filter by project.
    pub project: Option<i64>,
    pub data: Value,
}

impl Event {
    pub fn new(kind: &'static str, subject: String) -> Event {
        Event { kind, subject, reason: None, project: None, data: Value::Null }
    }

    #[must_use]
    pub fn with_data(self, data: Value) -> Event {
        Event { data, ..self }
    }
}

/// A committed event with its sequence number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// Position in the one sequence of events.
    pub seq: u64,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    pub kind: String,
    pub subject: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip)]
    pub project: Option<i64>,
    pub data: Value,
}

/// Which events a subscriber gets. A member that is `None` admits all events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// A kind, or a prefix that ends with a slash: `hint/` admits `hint/changed`.
    pub kind: Option<String>,
    /// A subject, or a prefix that ends with a slash. Events about all entries of its scheme are admitted too.
    pub subject: Option<String>,
    /// A project. Events about all entries of a scheme are admitted too.
    pub project: Option<i64>,
}

impl EventFilter {
    pub fn admits(&self, event: &Published) -> bool {
        let fits = |wanted: &Option<String>, found: &str| match wanted {
            None => true,
            Some(prefix) if prefix.ends_with('/') => found.starts_with(prefix.as_str()),
            Some(whole) => whole == found,
        };
        // An event about `session://*` is about every session.
        let all_of = event.subject.strip_suffix('*').filter(|all| all.ends_with("://"));
        let about_all = |subject: &str| all_of.is_some_and(|scheme| subject.starts_with(scheme));
        fits(&self.kind, &event.kind)
            && (fits(&self.subject, &event.subject)
                || self.subject.as_deref().is_some_and(about_all))
            && self.project.is_none_or(|project| {
                event.project == Some(project) || (event.project.is_none() && all_of.is_some())
            })
    }
}

/// The part of a hook event that is recorded for every event: its name, its session, its time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HookRecord {
    /// The event's own id. A repeated id is not recorded again.
    pub id: crate::wire::CallId,
    /// Name of the event as the agent has it, for example `PostToolUse`.
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The agent's id of the tool call, by which a duplicate hook registration is detected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_about_all_entries_of_a_scheme_is_about_every_project() {
        let event = |subject: &str| Published {
            seq: 1,
            at: 0,
            kind: "session/list_changed".into(),
            subject: subject.into(),
            reason: None,
            project: None,
            data: Value::Null,
        };
        let filter = EventFilter { project: Some(7), ..EventFilter::default() };
        assert!(filter.admits(&event("session://*")));
        assert!(!filter.admits(&event("session://s-1")));
        assert!(!filter.admits(&Published { project: Some(8), ..event("session://*") }));
    }

    #[test]
    fn a_filter_admits_events_by_kind_subject_and_project() {
        let event = Published {
            seq: 1,
            at: 0,
            kind: "hint/changed".into(),
            subject: "hint://web/build".into(),
            reason: None,
            project: Some(7),
            data: Value::Null,
        };
        let text = |text: &str| Some(text.to_owned());
        let table = [
            (EventFilter::default(), true),
            (EventFilter { kind: text("hint/changed"), ..EventFilter::default() }, true),
            (EventFilter { kind: text("hint/"), ..EventFilter::default() }, true),
            (EventFilter { kind: text("hint"), ..EventFilter::default() }, false),
            (EventFilter { subject: text("hint://web/build"), ..EventFilter::default() }, true),
            (EventFilter { subject: text("hint://web/"), ..EventFilter::default() }, true),
            (EventFilter { subject: text("hint://we"), ..EventFilter::default() }, false),
            (EventFilter { project: Some(7), ..EventFilter::default() }, true),
            (EventFilter { project: Some(8), ..EventFilter::default() }, false),
            (
                EventFilter { kind: text("hint/"), subject: text("hint://api/"), project: Some(7) },
                false,
            ),
        ];
        for (filter, admitted) in table {
            assert_eq!(filter.admits(&event), admitted, "{filter:?}");
        }
        let all = Published { subject: "hint://*".into(), ..event };
        for (subject, admitted) in
            [("hint://web/build", true), ("hint://api/", true), ("hints://web", false)]
        {
            let filter = EventFilter { subject: text(subject), ..EventFilter::default() };
            assert_eq!(filter.admits(&all), admitted, "{subject}");
        }
    }
}
