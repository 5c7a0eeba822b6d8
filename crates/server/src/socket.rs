//! The unix socket: newline-delimited JSON-RPC for our own clients and other programs of this user.
//!
//! Besides every operation it has methods of its own: hello, retire, stay, link, forget_browsers, follow, and a raw MCP line
//! that a PROXY forwards. It may ask the client for environment variables.

mod events;
pub(crate) mod follow;
mod line;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use contract::{Code, OpError};
use mcp::{Notified, Notifying, Peer};
use model::wire::{Answer, Envelope, Hello};
use model::{Caller, Tier, limits};
use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use self::events::PendingEvents;
pub(crate) use self::line::read_line;
use crate::connections::{ConnectionSlot, ReadObserver};
use crate::platform;
use crate::primary::{EndReason, PrimaryState};
use crate::rpc::{self, RpcFrame, RpcMembers};

/// Accepts connections until stopped, then waits for the open ones. A later listener replaces the one before.
pub(crate) async fn serve(
    mut listener: UnixListener,
    mut listeners: mpsc::Receiver<UnixListener>,
    shared: Arc<PrimaryState>,
    mut stop: watch::Receiver<bool>,
) {
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) if is_ours(&stream) => {
                    let slot = Arc::new(shared.connections.admit("socket"));
                    // The peer is this user.
                    slot.trust();
                    open.spawn(connection(stream, slot, shared.clone(), stop.clone()));
                }
                Ok(_) => shared.runtime.log().warn("socket", format_args!("refused another user")),
                Err(error) => {
                    shared.runtime.log().warn("socket", format_args!("accept failed: {error}"));
                    if platform::is_out_of_files(&error) {
                        shared.connections.make_room();
                    }
                    // Give evicted connections time to close before the next `accept`.
                    tokio::time::sleep(limits::ACCEPT_PAUSE).await;
                }
            },
            Some(next) = listeners.recv() => listener = next,
            _ = open.join_next(), if !open.is_empty() => {}
            _ = stop.changed() => break,
        }
    }
    drop(listener);
    while open.join_next().await.is_some() {}
}

fn is_ours(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == client::platform::uid())
}

async fn connection(
    stream: UnixStream,
    slot: Arc<ConnectionSlot>,
    shared: Arc<PrimaryState>,
    mut stop: watch::Receiver<bool>,
) {
    let (reader, mut writer) = stream.into_split();
    let heard = slot.clone();
    let reader = ReadObserver::new(reader, move || heard.touch());
    let mut reader = BufReader::with_capacity(limits::SOCKET_READ_AHEAD_BYTES, reader);
    let limit = shared.runtime.config().duration("daemon.request_timeout");
    let sender = sender(&shared);
    let mut events = PendingEvents::default();
    // Keeps the part of a line that was read when `select!` cancels the read.
    let mut line = Vec::new();
    loop {
        let read = tokio::select! {
            replies = events.next() => SocketInput::Answered(replies),
            read = receive(&mut reader, &mut line, limit), if events.has_room() => SocketInput::Read(read),
            _ = slot.evicted() => return,
            // Requests that arrived before the stop are answered; later ones go to the next PRIMARY.
            _ = stop.wait_for(|stop| *stop) => SocketInput::Read(Ok(false)),
        };
        let (replies, leave) = match read {
            SocketInput::Answered(replies) => (replies, false),
            SocketInput::Read(Ok(true)) => {
                let mut replies = String::new();
                if !events.begin(&shared, &sender, &mut reader, &mut line).await {
                    replies = events.rest().await;
                    let reply = match rpc::parse(&line) {
                        Ok(RpcFrame::One(members)) if members.method() == Some(follow::FOLLOW) => {
                            let ends = (&mut reader, writer);
                            let updates = shared.runtime.entry_updates();
                            let wanted = follow::serve(members, ends, updates, &slot, &mut stop);
                            if let Some(mut writer) = wanted.await
                                && shared.was_stopped()
                            {
                                let _ = writer.write_all(follow::stopped_frame().as_bytes()).await;
                            }
                            return;
                        }
                        Ok(frame) => answer(&shared, frame, line.len(), &sender, &mut writer).await,
                        Err(refused) => refused.body,
                    };
                    replies.extend(reply.map(|reply| reply + "\n"));
                }
                line.clear();
                (replies, false)
            }
            SocketInput::Read(Err(error)) if error.kind() == io::ErrorKind::FileTooLarge => {
                (events.rest().await + &too_large() + "\n", true)
            }
            SocketInput::Read(_) => (events.rest().await, true),
        };
        if !replies.is_empty() {
            tokio::select! {
                written = writer.write_all(replies.as_bytes()) => if written.is_err() { return },
                _ = slot.evicted() => return,
            }
        }
        if leave {
            return;
        }
    }
}

/// The next thing to handle on a connection.
enum SocketInput {
    Answered(String),
    Read(io::Result<bool>),
}

/// Waits for a line: without limit for its start, up to `limit` for the rest. Cancellation-safe: the part that was
/// read stays in `line`.
async fn receive<R: AsyncBufRead + Unpin>(
    reader: &mut R,
    line: &mut Vec<u8>,
    limit: Duration,
) -> io::Result<bool> {
    if line.is_empty() {
        reader.fill_buf().await?;
    }
    match tokio::time::timeout(limit, read_line(reader, line)).await {
        Ok(read) => read,
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// The answer to a line over the size limit, also used on stdio.
pub(crate) fn too_large() -> String {
    failure(&Value::Null, &OpError::over_size("the line", limits::LINE_BYTES_MAX))
}

fn failure(id: &Value, error: &OpError) -> String {
    rpc::reply_text(id, &Err(error.clone()))
}

/// A call of one of the socket's own methods.
struct OwnCall {
    id: Value,
    method: String,
    params: Value,
    rekindle: Option<Envelope>,
}

impl OwnCall {
    /// `None` if the request does not have the form of our own clients.
    fn read(members: RpcMembers) -> Option<OwnCall> {
        let RpcMembers { id, method, params, rekindle, .. } = members;
        let envelope = rekindle.filter(|envelope| !envelope.is_null());
        Some(OwnCall {
            id: id?,
            method: method?.as_str()?.to_owned(),
            params: params.unwrap_or_default(),
            rekindle: envelope.map(serde_json::from_value).transpose().ok()?,
        })
    }
}

fn sender(shared: &PrimaryState) -> rpc::Sender {
    rpc::Sender { caller: Caller::default(), envelope: true, db: shared.db.clone() }
}

async fn answer(
    shared: &Arc<PrimaryState>,
    frame: RpcFrame,
    bytes: usize,
    sender: &rpc::Sender,
    writer: &mut OwnedWriteHalf,
) -> Option<String> {
    let frame = match frame {
        RpcFrame::One(members) => {
            if let Some(question) = question(shared, &members) {
                return Some(question);
            }
            if members.method().is_some_and(|method| method.starts_with("rekindle/")) {
                let Some(own) = OwnCall::read(members) else {
                    return Some(failure(
                        &Value::Null,
                        &OpError::invalid("", "not a call of ours"),
                    ));
                };
                let reply = own_method(shared, &own, writer).await;
                return Some(rpc::reply_text(&own.id, &reply));
            }
            RpcFrame::One(members)
        }
        other => other,
    };
    rpc::answer_frame(&shared.runtime, frame, bytes, sender, None).await.body
}

/// A question instead of an answer, if the client's list of environment variable names is not the one that the stored
/// scopes need. Clients that send no stamp are not asked.
fn question(shared: &PrimaryState, members: &RpcMembers) -> Option<String> {
    let known = members.of_envelope("env_stamp")?.as_i64()?;
    let id = members.id.as_ref()?;
    let asked = shared.runtime.asks_env();
    (asked.stamp != known).then(|| Answer::asks_env(id, &asked).to_string())
}

async fn own_method(
    shared: &Arc<PrimaryState>,
    own: &OwnCall,
    writer: &mut OwnedWriteHalf,
) -> Result<Value, OpError> {
    match own.method.as_str() {
        "rekindle/hello" => hello(shared, &own.params),
        "rekindle/retire" => Ok(retire(shared)),
        "rekindle/stay" => {
            shared.stays.store(true, Ordering::Relaxed);
            Ok(json!({ "stays": true }))
        }
        "rekindle/link" => Ok(json!({ "link": shared.face.auth.one_time_link() })),
        "rekindle/forget_browsers" => {
            let forgotten = shared.face.auth.browsers.forget();
            shared.face.connections.end_browsers();
            Ok(json!({ "forgotten": forgotten }))
        }
        "rekindle/mcp" => mcp_line(shared, own, writer).await,
        other => Err(OpError::new(Code::UnknownMethod, format!("no method is called '{other}'"))),
    }
}

fn hello(shared: &PrimaryState, params: &Value) -> Result<Value, OpError> {
    if let Some(db) = params["db"].as_str() {
        rpc::check_db(db, &shared.db)?;
    }
    let hello = Hello {
        server: "rekindle".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        build: shared.options.build.to_string(),
        pid: std::process::id(),
        port: shared.face.port,
        address: shared.address(),
        db: shared.db.clone(),
        taken_port: shared.taken_port.clone(),
    };
    Ok(json!(hello))
}

/// Ends so that a newer build can take over, if the requesting client is our only one.
fn retire(shared: &PrimaryState) -> Value {
    let needed = *shared.stdio_open.borrow() || shared.others() > 1;
    if !needed {
        shared.end(EndReason::Retired);
    }
    json!({ "leaving": !needed })
}

/// One MCP line of a PROXY. While it is worked on, a PROXY that asks for it gets notifications for its client, and frames without
/// a line as signs of life.
async fn mcp_line(
    shared: &PrimaryState,
    own: &OwnCall,
    writer: &mut OwnedWriteHalf,
) -> Result<Value, OpError> {
    let envelope =
        own.rekindle.clone().ok_or_else(|| OpError::invalid("rekindle", "no envelope"))?;
    if let Some(db) = &envelope.db {
        rpc::check_db(db, &shared.db)?;
    }
    let line = own.params["line"].as_str().ok_or_else(|| OpError::invalid("line", "no line"))?;
    let tools =
        envelope.tools.unwrap_or_else(|| shared.runtime.config().text("mcp.tools").to_owned());
    let caller = Caller { tier: Tier::Agent, ..envelope.caller };
    let (queue, frames) = mpsc::channel(limits::NOTIFICATIONS_QUEUE_MAX);
    let follows = own.params["follows"] == json!(true);
    let peer = Peer {
        caller,
        call: envelope.call,
        revision: envelope.revision,
        tools,
        notify: follows.then(|| queue.clone()),
        subscriptions: own.params["subscriptions"].as_u64().and_then(|n| usize::try_from(n).ok()),
    };
    let work = async {
        tokio::select! {
            answer = shared.mcp.line(line.as_bytes(), peer) => answer,
            never = signs_of_life(queue), if follows => match never {},
        }
    };
    let mut work = Notifying::new(work, frames);
    let answer = loop {
        let line = match work.next().await {
            Notified::Line(line) => line,
            Notified::Result(answer) => break answer,
        };
        let params = if line.is_empty() { json!({}) } else { json!({ "line": line }) };
        let frame = json!({ "jsonrpc": "2.0", "method": "rekindle/mcp", "params": params });
        // A PROXY that has left is noticed when it is answered.
        let _ = writer.write_all(format!("{frame}\n").as_bytes()).await;
    };
    let mut reply = json!({ "line": answer.line, "revision": answer.revision });
    if !answer.changes.is_empty() {
        reply["changes"] = json!(answer.changes);
    }
    Ok(reply)
}

/// Puts an empty line into the queue at intervals.
async fn signs_of_life(queue: mpsc::Sender<String>) -> Infallible {
    loop {
        tokio::time::sleep(limits::FORWARD_ALIVE).await;
        // If the queue is full, the frames in it are signs of life.
        let _ = queue.try_send(String::new());
    }
}
