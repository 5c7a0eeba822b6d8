//! The feed of new bookmarks: `bookmarks/subscribe` on `/ws`, and `GET /api/events?feed=bookmarks`.

use contract::{Feed, FeedParams};
use model::OpError;
use model::event::{EventFilter, Published};
use serde_json::{Value, json};
use store::{Rx, bookmarks};

pub(crate) struct BookmarkFeed;

impl Feed for BookmarkFeed {
    fn name(&self) -> &'static str {
        "bookmarks"
    }

    fn method(&self) -> &'static str {
        "bookmark/added"
    }

    fn filter(&self, params: &FeedParams, _: &Rx<'_>) -> Result<EventFilter, OpError> {
        if let Some(name) = params.keys().next() {
            return Err(OpError::invalid(name, format!("unknown parameter `{name}`")));
        }
        Ok(EventFilter { kind: Some(self.method().to_owned()), ..EventFilter::default() })
    }

    fn first(&self, _: &FeedParams, rx: &Rx<'_>) -> Result<Option<Value>, OpError> {
        let newest = bookmarks::newest(rx, None, 1)?.pop();
        Ok(Some(json!({ "newest": newest.map(|bookmark| bookmark.url) })))
    }

    fn message(&self, event: &Published) -> Value {
        json!({ "path": event.subject, "url": event.data["url"] })
    }
}
