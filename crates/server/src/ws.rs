//! `/ws`: JSON-RPC 2.0 over WebSocket with feeds of events as notifications, or MCP as sub-protocol `mcp`.

use std::collections::HashMap;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;

use futures_util::stream::FuturesUnordered;
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::upgrade::Upgraded;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use mcp::{Peer, ResourceUpdates, SubscriptionChange};
use model::{OpError, limits};
use runtime::bus::{Delivery, Subscription, SubscriptionFilters};
use runtime::feeds::FeedSubscription;
use runtime::{Runtime, tasks};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::Error;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::Utf8Bytes;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Message, Role, WebSocketConfig};

use crate::connections::Eviction;
use crate::http::{Body, HttpConnection, empty, rest_error, stopped};
use crate::rpc;

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// Size of the read buffer, and of the write buffer before it is flushed.
const BUFFER_BYTES: usize = 16 * 1024;
/// The sub-protocol for MCP.
const MCP: &str = "mcp";
/// The sub-protocol of all other connections, for the page: it sends its proof as another sub-protocol, and a
/// browser requires the server to select one of those that it offered.
const PLAIN: &str = "rekindle";

/// `GET /ws`: answers the handshake and hands the connection over to a task of its own.
pub(crate) fn upgrade(
    connection: &Arc<HttpConnection>,
    mut request: Request<()>,
    peer: Peer,
) -> Response<Body> {
    let Some(accept) = accept(request.headers()) else {
        let error = OpError::invalid("", "this path speaks WebSocket, version 13")
            .hint("Open it with a WebSocket client.");
        let mut response = rest_error(StatusCode::UPGRADE_REQUIRED, &error);
        let headers = response.headers_mut();
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        return response;
    };
    let offers = |word| lists(request.headers(), &header::SEC_WEBSOCKET_PROTOCOL, word);
    let chosen = [MCP, PLAIN].into_iter().find(|word| offers(word));
    let speaks_mcp = chosen == Some(MCP);
    let upgraded = hyper::upgrade::on(&mut request);
    let (notify, notifications) = mpsc::channel(limits::NOTIFICATIONS_QUEUE_MAX);
    let (subscription, feeds) = match speaks_mcp {
        true => (None, Vec::new()),
        false => {
            let (subscription, feeds) = connection.shared.face.runtime.subscribe_with_feeds();
            (Some(subscription), feeds)
        }
    };
    let conversation = WsSession {
        connection: connection.clone(),
        mcp: speaks_mcp.then_some(Peer { notify: Some(notify), ..peer }),
        notifications,
        updates: ResourceUpdates::new(connection.shared.face.runtime.clone()),
        subscription,
        subscribing: 0,
        feeds: feeds.into_iter().map(|feed| (feed.key(), feed)).collect(),
    };
    tasks::spawn("websocket", async move {
        let Ok(upgraded) = upgraded.await else { return };
        let config = WebSocketConfig::default()
            .max_message_size(Some(limits::WS_MESSAGE_BYTES_MAX))
            .max_frame_size(Some(limits::WS_MESSAGE_BYTES_MAX))
            .read_buffer_size(BUFFER_BYTES)
            .write_buffer_size(BUFFER_BYTES);
        let io = TokioIo::new(upgraded);
        conversation.run(Socket::from_raw_socket(io, Role::Server, Some(config)).await).await;
    });
    let mut response = empty(StatusCode::SWITCHING_PROTOCOLS);
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    if let Some(chosen) = chosen {
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(chosen));
    }
    response
}

/// The `Sec-WebSocket-Accept` value, if this is a WebSocket handshake.
fn accept(headers: &HeaderMap) -> Option<HeaderValue> {
    let key = headers.get(header::SEC_WEBSOCKET_KEY)?;
    let is_handshake = lists(headers, &header::CONNECTION, "upgrade")
        && lists(headers, &header::UPGRADE, "websocket")
        && lists(headers, &header::SEC_WEBSOCKET_VERSION, "13");
    // A key is 16 bytes in base 64.
    if !is_handshake || key.len() != 24 {
        return None;
    }
    HeaderValue::try_from(derive_accept_key(key.as_bytes())).ok()
}

/// Whether a header's comma-separated list has this word.
fn lists(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let lines = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|item| item.trim().eq_ignore_ascii_case(word))
}

/// One WebSocket from its handshake to its end.
struct WsSession {
    connection: Arc<HttpConnection>,
    /// Set when the sub-protocol is MCP.
    mcp: Option<Peer>,
    /// Notifications of MCP calls that run.
    notifications: mpsc::Receiver<String>,
    /// The resources that an MCP client subscribed to.
    updates: ResourceUpdates,
    /// The client's subscriptions; none if it speaks MCP.
    subscription: Option<Subscription>,
    /// Calls that subscribe and are not answered yet. Until they are, no event is sent: the first message of a
    /// subscription precedes its events.
    subscribing: usize,
    /// The subscriptions by their keys. They give notifications their form.
    feeds: HashMap<String, FeedSubscription>,
}

/// The result of a frame: lines for the client, in order.
#[derive(Default)]
struct Done {
    lines: Vec<String>,
    revision: Option<String>,
    /// Changes of an MCP client's subscriptions.
    changes: Vec<SubscriptionChange>,
    /// The subscription that was added or removed.
    changed: Option<FeedSubscription>,
    /// Whether the frame asked for a subscription.
    subscribes: bool,
}

/// A frame that is about the subscriptions of this socket.
struct FeedCall {
    id: Option<Value>,
    subscribes: bool,
    subscription: Result<FeedSubscription, OpError>,
}

/// Why the conversation ends.
enum WsEnd {
    /// The peer closed the connection, or it failed.
    Gone,
    /// We close it, with a reason.
    Closed(CloseCode, String),
    /// We close it after bytes that are not valid frames, with a reason.
    Unreadable(CloseCode, String),
}

impl WsSession {
    async fn run(mut self, mut socket: Socket) {
        let end = self.converse(&mut socket).await;
        // If the peer does not complete the closing handshake in time, the connection is dropped.
        let _ = timeout(limits::WS_CLOSE, close(&mut socket, end)).await;
    }

    async fn converse(&mut self, socket: &mut Socket) -> WsEnd {
        let connection = self.connection.clone();
        let mut stop = connection.shared.stop.clone();
        let mut stop = pin!(stopped(&mut stop));
        let mut evicted = pin!(connection.slot.evicted());
        let mut working = FuturesUnordered::new();
        loop {
            let lines = tokio::select! {
                () = &mut stop => {
                    self.answer_the_rest(socket, working).await;
                    return WsEnd::Closed(CloseCode::Away, "the daemon is stopping".to_owned());
                }
                why = &mut evicted => {
                    let (code, why) = match why {
                        Eviction::Idle => {
                            (CloseCode::Again, "made room for a new connection after a long silence")
                        }
                        Eviction::Forgotten => (CloseCode::Policy, "this browser was forgotten"),
                    };
                    return WsEnd::Closed(code, why.to_owned());
                }
                Some(done) = working.next() => self.finish(done),
                Some(line) = self.notifications.recv() => vec![line],
                updated = self.updates.next() => match updated {
                    Ok(lines) => lines,
                    Err(reason) => return WsEnd::Closed(CloseCode::Policy, reason),
                },
                event = next_event(&mut self.subscription), if self.subscribing == 0 => {
                    match event {
                        Ok(delivery) => self.notification(&delivery).into_iter().collect(),
                        Err(reason) => return WsEnd::Closed(CloseCode::Policy, reason),
                    }
                }
                message = socket.next(), if working.len() < limits::IN_FLIGHT_MAX => {
                    let text = match read(message) {
                        Ok(Some(text)) => text,
                        Ok(None) => continue,
                        Err(end) => return end,
                    };
                    let call = self.feed_call(&text);
                    let filters = call.as_ref().map(|call| self.filters(call));
                    working.push(work(connection.clone(), self.peer(), text, call.zip(filters)));
                    continue;
                }
            };
            for line in lines {
                if !send(socket, line).await {
                    return WsEnd::Gone;
                }
            }
        }
    }

    /// Answers the requests that arrived before the daemon stops. The daemon's shutdown limits the wait.
    async fn answer_the_rest(
        &mut self,
        socket: &mut Socket,
        mut working: FuturesUnordered<impl Future<Output = Done>>,
    ) {
        while let Some(done) = working.next().await {
            for line in self.finish(done) {
                if !send(socket, line).await {
                    return;
                }
            }
        }
    }

    fn finish(&mut self, done: Done) -> Vec<String> {
        // Notifications of a call precede its reply.
        let mut lines = Vec::new();
        while let Ok(line) = self.notifications.try_recv() {
            lines.push(line);
        }
        lines.extend(done.lines);
        self.updates.apply(done.changes);
        if let (Some(peer), Some(revision)) = (&mut self.mcp, done.revision) {
            peer.revision = Some(revision);
        }
        self.subscribing = self.subscribing.saturating_sub(usize::from(done.subscribes));
        match done.changed {
            Some(changed) if done.subscribes => drop(self.feeds.insert(changed.key(), changed)),
            // Queued events of this subscription are no longer sent.
            Some(changed) => self.feeds.retain(|key, _| !changed.ends(key)),
            None => {}
        }
        lines
    }

    /// The peer of the next message, with a call id of its own.
    fn peer(&self) -> Option<Peer> {
        let subscriptions = Some(self.updates.count());
        self.mcp.clone().map(|peer| Peer { call: client::mint(), subscriptions, ..peer })
    }

    /// The frame as one about a feed: `NAME/subscribe` or `NAME/unsubscribe`.
    fn feed_call(&self, text: &str) -> Option<FeedCall> {
        if self.mcp.is_some() || !text.contains("subscribe") {
            return None;
        }
        let call = rpc::read_call(rpc::parse(text.as_bytes()).ok()?).ok()?;
        let (feed, subscribes) = match call.method.rsplit_once('/')? {
            (feed, "subscribe") => (feed, true),
            (feed, "unsubscribe") => (feed, false),
            _ => return None,
        };
        let runtime = &self.connection.shared.face.runtime;
        // For another method whose name ends so, the dispatcher reports an unknown method.
        runtime.table().feed(feed).ok()?;
        let subscription = runtime.feed(feed, call.params);
        Some(FeedCall { id: call.id, subscribes, subscription })
    }

    /// The filters of this client, which the call is about to change.
    fn filters(&mut self, call: &FeedCall) -> SubscriptionFilters {
        self.subscribing += usize::from(call.subscribes);
        let runtime = &self.connection.shared.face.runtime;
        self.subscription.get_or_insert_with(|| runtime.subscribe()).filters()
    }

    /// The notification of an event; none for a subscription that ended meanwhile.
    fn notification(&self, delivery: &Delivery) -> Option<String> {
        let FeedSubscription { feed, .. } = self.feeds.get(&*delivery.key)?;
        Some(notification(feed.method(), feed.message(&delivery.event)))
    }
}

/// Sends one message. False if the peer is gone, or did not read it within [`limits::REQUEST_RECEIVE`].
async fn send(socket: &mut Socket, line: String) -> bool {
    matches!(timeout(limits::REQUEST_RECEIVE, socket.send(Message::text(line))).await, Ok(Ok(())))
}

/// Answers one message.
async fn work(
    connection: Arc<HttpConnection>,
    peer: Option<Peer>,
    text: Utf8Bytes,
    feed: Option<(FeedCall, SubscriptionFilters)>,
) -> Done {
    let shared = &connection.shared;
    let runtime = &shared.face.runtime;
    match (peer, feed) {
        (Some(peer), _) => {
            let answer = shared.face.mcp.line(text.as_bytes(), peer).await;
            let lines = answer.line.into_iter().collect();
            let (revision, changes) = (answer.revision, answer.changes);
            Done { lines, revision, changes, ..Done::default() }
        }
        (None, Some((call, filters))) => change_subscription(runtime, call, filters).await,
        (None, None) => {
            let answer = rpc::answer(runtime, text.as_bytes(), &shared.sender, None).await;
            Done { lines: answer.body.into_iter().collect(), ..Done::default() }
        }
    }
}

/// Subscribes to a feed or unsubscribes from it. The reply precedes the first message.
async fn change_subscription(
    runtime: &Runtime,
    call: FeedCall,
    filters: SubscriptionFilters,
) -> Done {
    let FeedCall { id, subscribes, subscription } = call;
    let changed = match subscription {
        Ok(subscription) if subscribes => {
            let followed = runtime.follow(filters, subscription.clone()).await;
            followed.map(|first| (subscription, first))
        }
        Ok(subscription) => {
            filters.remove(|key| subscription.ends(key));
            Ok((subscription, None))
        }
        Err(error) => Err(error),
    };
    let reply = changed.as_ref().map(|_| json!({ "subscribed": subscribes }));
    let reply = id.map(|id| rpc::reply_text(&id, &reply.map_err(Clone::clone)));
    let mut lines: Vec<String> = reply.into_iter().collect();
    let (changed, first) = changed.ok().unzip();
    if let (Some(subscription), Some(Some(first))) = (&changed, first) {
        lines.push(notification(subscription.feed.method(), first));
    }
    Done { lines, changed, subscribes, ..Done::default() }
}

/// The text of a message; `None` for control frames, which the protocol handles by itself.
fn read(message: Option<Result<Message, Error>>) -> Result<Option<Utf8Bytes>, WsEnd> {
    match message {
        Some(Ok(Message::Text(text))) => Ok(Some(text)),
        Some(Ok(Message::Binary(_))) => {
            Err(WsEnd::Closed(CloseCode::Unsupported, "send text frames".to_owned()))
        }
        Some(Ok(_)) => Ok(None),
        Some(Err(Error::Capacity(_))) => {
            let why = format!("a message is at most {} bytes", limits::WS_MESSAGE_BYTES_MAX);
            Err(WsEnd::Unreadable(CloseCode::Size, why))
        }
        Some(Err(Error::Utf8(_))) => {
            Err(WsEnd::Unreadable(CloseCode::Invalid, "text has to be UTF-8".to_owned()))
        }
        Some(Err(Error::Protocol(_))) => {
            Err(WsEnd::Unreadable(CloseCode::Protocol, "this is not WebSocket".to_owned()))
        }
        Some(Err(_)) | None => Err(WsEnd::Gone),
    }
}

/// The next event, or why no more events are sent. Waits for ever without a subscription.
async fn next_event(subscription: &mut Option<Subscription>) -> Result<Delivery, String> {
    match subscription {
        Some(subscription) => subscription.next().await.ok_or_else(|| subscription.reason()),
        None => pending().await,
    }
}

fn notification(method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}

/// Sends the close frame, then reads the rest of the input: unread bytes would reset the connection before the peer
/// reads the reason.
async fn close(socket: &mut Socket, end: WsEnd) {
    let (code, reason, readable) = match end {
        WsEnd::Gone => return,
        WsEnd::Closed(code, reason) => (code, reason, true),
        WsEnd::Unreadable(code, reason) => (code, reason, false),
    };
    let frame = CloseFrame { code, reason: reason.into() };
    if socket.send(Message::Close(Some(frame))).await.is_err() {
        return;
    }
    if readable {
        while let Some(Ok(_)) = socket.next().await {}
        return;
    }
    let mut rest = vec![0; BUFFER_BYTES];
    while let Ok(1..) = socket.get_mut().read(&mut rest).await {}
}
