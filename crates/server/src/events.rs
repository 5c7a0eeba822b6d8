//! `GET /api/events?feed=NAME`: a feed as server-sent events. The other query parameters are those of the feed. A feed
//! may have a query parameter of its own that selects it, such as `session=ID`.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use contract::Table;
use futures_util::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{Either, StreamBody};
use hyper::Response;
use hyper::body::Frame;
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use model::OpError;
use model::limits;
use runtime::bus::{Delivery, Subscription};
use runtime::feeds::FeedSubscription;
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::http::{Body, HttpConnection, query_pairs, stopped};

/// The last event of a stream that the daemon ends. Its data has the `reason`.
const CLOSED: &str = "closed";

/// One stream, until the client leaves, is too slow, or the daemon stops.
struct EventStream {
    /// Held so that the connection counts as open.
    _connection: Arc<HttpConnection>,
    subscription: Subscription,
    feed: FeedSubscription,
    /// Pieces that are sent before any event.
    waiting: VecDeque<String>,
    /// Whether the reason for the end was sent.
    has_ended: bool,
    stop: watch::Receiver<bool>,
}

impl EventStream {
    async fn next(&mut self) -> Option<String> {
        if let Some(piece) = self.waiting.pop_front() {
            return Some(piece);
        }
        if self.has_ended {
            return None;
        }
        let feed = &self.feed.feed;
        let why = tokio::select! {
            () = stopped(&mut self.stop) => "the daemon is stopping".to_owned(),
            delivery = self.subscription.next() => match delivery {
                Some(Delivery { event, .. }) => {
                    return Some(piece(feed.method(), Some(event.seq), &feed.message(&event)));
                }
                None => self.subscription.reason(),
            },
            () = sleep(limits::SSE_KEEP_ALIVE) => return Some(": keep-alive\n\n".to_owned()),
        };
        self.has_ended = true;
        Some(piece(CLOSED, None, &json!({ "reason": why })))
    }
}

/// One event of the stream. JSON has no line breaks, so that one `data` line holds it.
fn piece(method: &str, seq: Option<u64>, data: &Value) -> String {
    let id = seq.map_or_else(String::new, |seq| format!("id: {seq}\n"));
    format!("event: {method}\n{id}data: {data}\n\n")
}

/// Subscribes and answers with the stream. The first message of the feed also answers a `Last-Event-ID`: events are
/// not stored, so the present state replaces those that the client missed.
pub(crate) async fn open(
    connection: &Arc<HttpConnection>,
    head: &Parts,
) -> Result<Response<Body>, OpError> {
    let runtime = &connection.shared.face.runtime;
    let mut params = Map::new();
    for (name, value) in query_pairs(head) {
        if params.insert(name.clone(), value.into()).is_some() {
            return Err(OpError::invalid(&name, format!("`{name}` is given twice")));
        }
    }
    let name = feed_name(runtime.table(), &mut params)?;
    let feed = runtime.feed(&name, Value::Object(params))?;
    let subscription = runtime.subscribe();
    let first = runtime.follow(subscription.filters(), feed.clone()).await?;
    // A comment makes clients and proxies notice that the stream is open.
    let mut waiting = VecDeque::from([": open\n\n".to_owned()]);
    waiting.extend(first.map(|first| piece(feed.feed.method(), first["version"].as_u64(), &first)));
    let stop = connection.shared.stop.clone();
    let (_connection, has_ended) = (connection.clone(), false);
    let state = EventStream { _connection, subscription, feed, waiting, has_ended, stop };
    let pieces = stream::unfold(state, |mut state| async move {
        let piece = state.next().await?;
        Some((Ok::<_, Infallible>(Frame::data(Bytes::from(piece))), state))
    });
    let body = UnsyncBoxBody::new(StreamBody::new(pieces));
    let mut response = Response::new(Either::Right(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// The name of the feed that the query selects, by `feed` or by a parameter of the feed's own, which is renamed.
fn feed_name(table: &Table, params: &mut Map<String, Value>) -> Result<String, OpError> {
    if let Some(Value::String(name)) = params.remove("feed") {
        return Ok(name);
    }
    for feed in table.feeds() {
        let Some((query, param)) = feed.query() else { continue };
        if let Some(value) = params.remove(query) {
            params.insert(param.to_owned(), value);
            return Ok(feed.name().to_owned());
        }
    }
    let known = table.feed("").err();
    let error = OpError::invalid("session", "the query names neither a session nor a feed");
    Err(OpError { hint: known.and_then(|known| known.hint), ..error })
}
