//! Feeds: streams of events that clients subscribe to.

use model::OpError;
use model::event::{EventFilter, Published};
use serde_json::{Map, Value};
use store::Rx;

/// Parameters of a subscription.
pub type FeedParams = Map<String, Value>;

/// A stream of events. A client of `/ws` calls `NAME/subscribe` and `NAME/unsubscribe`; `GET /api/events?feed=NAME`
/// sends the same as server-sent events.
pub trait Feed: Send + Sync {
    fn name(&self) -> &'static str;

    /// The method of its notifications, for example `session/event`.
    fn method(&self) -> &'static str;

    /// The events that a subscription with these parameters gets. Unknown and wrong parameters are refused.
    fn filter(&self, params: &FeedParams, rx: &Rx<'_>) -> Result<EventFilter, OpError>;

    /// The query parameter that selects this feed without `feed=NAME` in `GET /api/events`, and the parameter of the
    /// feed that it gives.
    fn query(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// The first message of a subscription, sent before any event. Its number `version`, if it has one, is the id of the
    /// server-sent event.
    fn first(&self, _params: &FeedParams, _rx: &Rx<'_>) -> Result<Option<Value>, OpError> {
        Ok(None)
    }

    /// The events that every client of `/ws` gets without a subscription.
    fn for_everyone(&self) -> Option<EventFilter> {
        None
    }

    /// The parameters of the notification of an event.
    fn message(&self, event: &Published) -> Value;

    /// The position after which messages are pulled from the store, for a feed that is not made of events: after
    /// commits the runtime calls [`Feed::pull`], a few times a second at most. None for a feed of events.
    fn pulls_after(&self, _params: &FeedParams, _rx: &Rx<'_>) -> Result<Option<u64>, OpError> {
        Ok(None)
    }

    /// The message about everything after a position; none if nothing was added since.
    fn pull(
        &self,
        _params: &FeedParams,
        _rx: &Rx<'_>,
        _after: u64,
    ) -> Result<Option<Pulled>, OpError> {
        Ok(None)
    }
}

/// The result of reading the store for a feed.
pub struct Pulled {
    /// None if nothing that was read is for this subscription.
    pub message: Option<Value>,
    /// The position up to which the store was read.
    pub last: u64,
}
