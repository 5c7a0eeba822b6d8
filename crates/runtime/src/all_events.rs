//! The feed of all events.

use contract::{Feed, FeedParams};
use model::OpError;
use model::event::{EventFilter, Published};
use place::{Question, Wanted};
use serde_json::{Value, json};
use store::Rx;

/// All events, or those of a kind, a subject or a project.
pub(crate) struct AllEvents;

impl Feed for AllEvents {
    fn name(&self) -> &'static str {
        "events"
    }

    fn method(&self) -> &'static str {
        "event"
    }

    fn filter(&self, params: &FeedParams, rx: &Rx<'_>) -> Result<EventFilter, OpError> {
        let mut filter = EventFilter::default();
        for (name, value) in params {
            let Some(text) = value.as_str() else {
                return Err(OpError::invalid(name, format!("{name} is not a text")));
            };
            match name.as_str() {
                "kind" => filter.kind = Some(text.to_owned()),
                "subject" => filter.subject = Some(text.to_owned()),
                "project" => {
                    let wanted = Wanted::Named(text.to_owned());
                    let found = Question::new(None, wanted).scope(rx)?.ids().unwrap_or_default();
                    let [project] = found[..] else {
                        let message = "several projects have this name";
                        return Err(OpError::invalid(name, message)
                            .hint("Give its key or root; `rekindle project list` shows them."));
                    };
                    filter.project = Some(project);
                }
                _ => {
                    return Err(OpError::invalid(name, format!("unknown parameter `{name}`"))
                        .hint("Known are kind, subject and project."));
                }
            }
        }
        Ok(filter)
    }

    fn message(&self, event: &Published) -> Value {
        let Published { seq, at, kind, subject, reason, data, .. } = event;
        let at = model::time::rfc3339(*at);
        let mut message =
            json!({ "seq": seq, "at": at, "kind": kind, "subject": subject, "data": data });
        if let Some(reason) = reason {
            message["reason"] = reason.as_str().into();
        }
        message
    }
}
