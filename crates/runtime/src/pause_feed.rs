//! The feed of pauses: every client of `/ws` hears that one began, changed or was ended.

use contract::{Feed, FeedParams};
use model::OpError;
use model::event::{EventFilter, Published};
use serde_json::{Value, json};
use store::Rx;

/// The kind of the event. A pause that ends by itself at its time causes none.
pub(crate) const PAUSES_CHANGED: &str = "pause/changed";

pub(crate) struct PauseFeed;

impl Feed for PauseFeed {
    fn name(&self) -> &'static str {
        "pauses"
    }

    fn method(&self) -> &'static str {
        PAUSES_CHANGED
    }

    fn filter(&self, params: &FeedParams, _: &Rx<'_>) -> Result<EventFilter, OpError> {
        match params.keys().next() {
            Some(name) => Err(OpError::invalid(name, format!("unknown parameter `{name}`"))),
            None => Ok(changes()),
        }
    }

    fn for_everyone(&self) -> Option<EventFilter> {
        Some(changes())
    }

    /// Clients read the pauses from `status`.
    fn message(&self, _: &Published) -> Value {
        json!({})
    }
}

fn changes() -> EventFilter {
    EventFilter { kind: Some(PAUSES_CHANGED.to_owned()), ..EventFilter::default() }
}
