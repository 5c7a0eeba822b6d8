//! MCP's older HTTP+SSE transport: the answer to a posted message arrives on the open stream.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures_util::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{Either, StreamBody};
use hyper::body::Frame;
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use mcp::{Peer, ResourceUpdates, SubscriptionChange};
use model::{OpError, limits};
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::http::{Body, HttpConnection, HttpState, empty, stopped};

/// The open streams, by the id of their session.
#[derive(Default)]
pub(crate) struct SseSessions {
    open: Mutex<HashMap<String, SseSession>>,
}

#[derive(Clone)]
struct SseSession {
    queue: mpsc::Sender<String>,
    /// Takes changes of the client's subscriptions to the stream, which keeps them.
    changes: mpsc::UnboundedSender<Vec<SubscriptionChange>>,
    /// The number of its subscriptions.
    subscriptions: usize,
    /// The toolset asked for when the stream was opened.
    tools: String,
    /// The revision that `initialize` negotiated.
    revision: Option<String>,
}

impl SseSessions {
    fn open(&self) -> MutexGuard<'_, HashMap<String, SseSession>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reading end of a session, which ends with its stream.
struct SseStream {
    connection: Arc<HttpConnection>,
    id: String,
    queue: mpsc::Receiver<String>,
    changes: mpsc::UnboundedReceiver<Vec<SubscriptionChange>>,
    updates: ResourceUpdates,
    /// Notifications about an update that were not sent yet.
    updated: VecDeque<String>,
    stop: watch::Receiver<bool>,
}

impl Drop for SseStream {
    fn drop(&mut self) {
        self.connection.shared.sse.open().remove(&self.id);
    }
}

impl SseStream {
    /// The next piece of the stream; `None` when the daemon stops, or if the client does not keep up with updates.
    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(line) = self.updated.pop_front() {
                return Some(event("message", &line));
            }
            let piece = self.next_piece().await;
            if !matches!(&piece, Some(piece) if piece.is_empty()) {
                return piece;
            }
        }
    }

    /// The next piece of the stream, empty if there is none yet.
    async fn next_piece(&mut self) -> Option<String> {
        tokio::select! {
            biased;
            // A request that arrived before the stop is still answered, if the answer comes soon.
            () = stopped(&mut self.stop) => {
                let answer = timeout(limits::SSE_LAST_ANSWER, self.queue.recv()).await.ok().flatten();
                answer.map(|line| event("message", &line))
            }
            // Before the reply to the request that made the change.
            Some(changes) = self.changes.recv() => {
                self.updates.apply(changes);
                let count = self.updates.count();
                if let Some(session) = self.connection.shared.sse.open().get_mut(&self.id) {
                    session.subscriptions = count;
                }
                Some(String::new())
            }
            answer = self.queue.recv() => answer.map(|line| event("message", &line)),
            updated = self.updates.next() => {
                self.updated.extend(updated.ok()?);
                Some(String::new())
            }
            () = sleep(limits::SSE_KEEP_ALIVE) => Some(": keep-alive\n\n".to_owned()),
        }
    }
}

fn event(name: &str, data: &str) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// `GET /sse`: opens a session; its first event has the address for posting.
pub(crate) fn open(connection: &Arc<HttpConnection>, peer: Peer) -> Response<Body> {
    let id = client::mint().to_string();
    let (sender, queue) = mpsc::channel(limits::SUBSCRIBER_QUEUE_MAX);
    let (change, changes) = mpsc::unbounded_channel();
    let session = SseSession {
        queue: sender,
        changes: change,
        subscriptions: 0,
        tools: peer.tools,
        revision: None,
    };
    connection.shared.sse.open().insert(id.clone(), session);
    let first = event("endpoint", &format!("/messages?session_id={id}"));
    let stop = connection.shared.stop.clone();
    let updates = ResourceUpdates::new(connection.shared.face.runtime.clone());
    let (connection, updated) = (connection.clone(), VecDeque::new());
    let stream = SseStream { connection, id, queue, changes, updates, updated, stop };
    let state = (Some(first), stream);
    let pieces = stream::unfold(state, |(first, mut stream)| async move {
        let piece = match first {
            Some(first) => first,
            None => stream.next().await?,
        };
        Some((Ok::<_, Infallible>(Frame::data(Bytes::from(piece))), (None, stream)))
    });
    let body = UnsyncBoxBody::new(StreamBody::new(pieces));
    let mut response = Response::new(Either::Right(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// `POST /messages?session_id=`: one message. Its answer is sent on the session's stream.
pub(crate) async fn post(
    shared: &HttpState,
    id: &str,
    mut peer: Peer,
    message: &[u8],
) -> Result<Response<Body>, OpError> {
    let unknown = || {
        OpError::not_found("no open stream has this session_id")
            .hint("Open one with GET /sse; it says where to post.")
    };
    let session = shared.sse.open().get(id).cloned().ok_or_else(unknown)?;
    peer.tools = session.tools;
    peer.revision = session.revision;
    peer.notify = Some(session.queue.clone());
    peer.subscriptions = Some(session.subscriptions);
    let answer = shared.face.mcp.line(message, peer).await;
    if answer.revision.is_some()
        && let Some(session) = shared.sse.open().get_mut(id)
    {
        session.revision = answer.revision;
    }
    if !answer.changes.is_empty() {
        // A stream that has ended is noticed with the reply.
        let _ = session.changes.send(answer.changes);
    }
    match answer.line.map_or(Ok(()), |line| session.queue.try_send(line)) {
        Ok(()) => Ok(empty(StatusCode::ACCEPTED)),
        Err(TrySendError::Closed(_)) => Err(unknown()),
        Err(TrySendError::Full(_)) => {
            // Dropping the sender ends the stream after its queue is read.
            shared.sse.open().remove(id);
            let max = limits::SUBSCRIBER_QUEUE_MAX;
            Err(OpError::unavailable(format!("more than {max} answers wait on the stream"))
                .hint("Read the stream; open a new one with GET /sse."))
        }
    }
}
