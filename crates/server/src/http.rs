//! The daemon's HTTP face: accepts connections, times them, guards and routes each request.
//!
//! Our own paths are one `match`, without middleware; REST paths and files of the page come from the table of operations.
//! [`route`] handles a request from top to bottom. JSON-RPC, WebSocket, SSE, the page and MCP have modules of their own.

use std::borrow::Cow;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use contract::{RestPath, RestTable};
use http_body_util::Either;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Body as _, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use model::{CallId, Caller, OpError, Tier, limits};
use runtime::{Runtime, tasks};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;

use crate::assets::{Assets, HashedAsset};
use crate::connections::{Connections, Heard, Slot};
use crate::{events, guard, page, platform, rpc, sse, ws};

mod message;
mod receiving;

use receiving::Receiving;

pub(crate) use message::{Body, Refused, empty, json, query, query_pairs, rest_error, whole};

/// The header with which a client names its call, so that a repeat is recognised.
const CALL_ID: HeaderName = HeaderName::from_static("rekindle-call-id");

/// What the face is made of.
pub struct Face {
    pub runtime: Runtime,
    pub mcp: mcp::McpServer,
    pub connections: Arc<Connections>,
    pub auth: guard::Auth,
    pub port: u16,
    /// Milliseconds since 1970, UTC.
    pub started_at: i64,
}

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) face: Arc<Face>,
    pub(crate) sender: rpc::Sender,
    pub(crate) sse: sse::Sessions,
    rest: RestTable,
    assets: Assets,
    pub(crate) stop: watch::Receiver<bool>,
    /// Time to receive a whole request, headers included.
    receive: Duration,
}

/// One open connection. The tasks and streams that serve it keep it; the last one closes it.
pub(crate) struct Connection {
    pub(crate) shared: Arc<Shared>,
    pub(crate) slot: Slot,
    pub(crate) receiving: Receiving,
    /// Tells [`serve`] when the last connection is gone.
    _alive: mpsc::Sender<Infallible>,
}

/// Serves until `stop` turns true; then idle connections close and the others finish first.
pub async fn serve(listener: TcpListener, face: Arc<Face>, mut stop: watch::Receiver<bool>) {
    let (alive, mut gone) = mpsc::channel(1);
    let shared = Arc::new(Shared {
        sender: rpc::Sender {
            caller: Caller { tier: Tier::Client, ..Caller::default() },
            envelope: false,
            db: face.runtime.locations().database.display().to_string(),
        },
        sse: sse::Sessions::default(),
        rest: RestTable::new(face.runtime.table()),
        assets: Assets::new(page::ASSETS.iter().chain(face.runtime.table().assets())),
        stop: stop.clone(),
        receive: face.runtime.config().duration("daemon.request_timeout"),
        face,
    });
    loop {
        let accepted = tokio::select! {
            biased;
            () = stopped(&mut stop) => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let connection = Arc::new(Connection {
                    slot: shared.face.connections.admit("http"),
                    shared: shared.clone(),
                    receiving: Receiving::new(shared.receive),
                    _alive: alive.clone(),
                });
                tasks::spawn("http connection", connection.run(stream));
            }
            Err(error) => {
                let log = shared.face.runtime.log();
                log.warn("http", format_args!("a connection was not accepted: {error}"));
                if platform::is_out_of_files(&error) {
                    shared.face.connections.make_room();
                }
                sleep(limits::ACCEPT_PAUSE).await;
            }
        }
    }
    drop((listener, alive));
    // Nothing is ever sent: this ends when every connection has dropped its sender.
    gone.recv().await;
}

/// Ends when the daemon stops; a daemon that is gone has stopped, too.
pub(crate) async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

impl Connection {
    async fn run(self: Arc<Self>, stream: TcpStream) {
        // A small answer must not wait for the acknowledgement of the one before.
        let _ = stream.set_nodelay(true);
        let heard = self.clone();
        let io = TokioIo::new(Heard::new(stream, move || {
            heard.slot.touch();
            heard.receiving.heard();
        }));
        let answering = self.clone();
        let service = service_fn(move |request| answer(answering.clone(), request));
        let mut http = http1::Builder::new();
        // Hyper's own header timeout also ends idle connections; `late` does not.
        http.header_read_timeout(None).max_buf_size(limits::HTTP_HEAD_BYTES_MAX);
        // A client may close its side once it has said all; it is answered all the same.
        http.half_close(true);
        let mut serving = pin!(http.serve_connection(io, service).with_upgrades());
        let mut stop = self.shared.stop.clone();
        let mut stopping = false;
        loop {
            // `serving` comes first: `late` looks at what it has just received.
            tokio::select! {
                biased;
                _ = serving.as_mut() => return,
                () = self.slot.evicted() => {
                    let (log, kind) = (self.shared.face.runtime.log(), self.slot.kind());
                    log.info(kind, format_args!("a silent connection made room for a new one"));
                    return;
                }
                () = self.receiving.late() => return,
                () = stopped(&mut stop), if !stopping => {
                    stopping = true;
                    serving.as_mut().graceful_shutdown();
                }
            }
        }
    }
}

async fn answer(
    connection: Arc<Connection>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    connection.receiving.head_came();
    let asks_first = request.headers().contains_key(header::EXPECT);
    let (head, body) = request.into_parts();
    let mut body = Some(body);
    let mut response = route(&connection, head, &mut body).await;
    let status = response.status();
    if status.is_client_error() || status.is_server_error() {
        let rest = body.filter(|rest| !rest.is_end_stream());
        // The unread rest of a body would be parsed as the next request. A client that sent `Expect` sends no
        // body after a refusal.
        let ends = match rest {
            Some(rest) => asks_first || !message::drained(rest).await,
            None => false,
        };
        if ends {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }
    connection.receiving.answered();
    Ok(response)
}

/// The paths: our own, and those of the table.
#[derive(Clone, Copy)]
enum Path<'t> {
    Root,
    Health,
    Asset(&'t HashedAsset),
    Rest(&'t RestPath),
    Challenge,
    Rpc,
    Mcp,
    Sse,
    Messages,
    Ws,
    Hook,
    Events,
}

impl<'t> Path<'t> {
    fn of(path: &str, shared: &'t Shared) -> Option<Path<'t>> {
        Some(match path {
            "/" => Path::Root,
            "/rpc" => Path::Rpc,
            "/mcp" => Path::Mcp,
            "/health" => Path::Health,
            "/challenge" => Path::Challenge,
            "/sse" => Path::Sse,
            "/messages" => Path::Messages,
            "/ws" => Path::Ws,
            "/api/events" => Path::Events,
            _ if hook_event(path).is_some() => Path::Hook,
            _ => match shared.assets.find(path) {
                Some(asset) => Path::Asset(asset),
                None => Path::Rest(shared.rest.find(path)?),
            },
        })
    }

    /// The verbs it takes.
    fn allow(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Path::Rest(path) => return Cow::Owned(path.allow()),
            Path::Root => "GET, HEAD, POST",
            Path::Health | Path::Asset(_) => "GET, HEAD",
            Path::Rpc | Path::Messages | Path::Hook | Path::Challenge => "POST",
            Path::Mcp => "GET, POST, DELETE",
            Path::Sse | Path::Ws | Path::Events => "GET",
        })
    }

    /// Whether it needs no token because it shows no user data.
    fn is_public(self, method: &Method) -> bool {
        let shows_nothing = matches!(self, Path::Root | Path::Health | Path::Asset(_));
        shows_nothing && matches!(*method, Method::GET | Method::HEAD)
    }

    /// Whether the request has to be declared as JSON. A browser sends PUT, PATCH and DELETE to another origin only after
    /// a preflight, which never succeeds; their bodies follow the rule of POST all the same.
    fn needs_json(self, method: &Method, has_body: bool) -> bool {
        matches!(*method, Method::POST | Method::PUT | Method::PATCH)
            || (has_body && matches!(self, Path::Rest(_)))
    }

    /// Whether its errors are JSON-RPC's.
    fn speaks_rpc(self, method: &Method) -> bool {
        matches!(self, Path::Rpc | Path::Mcp)
            || (matches!(self, Path::Root) && method == Method::POST)
    }
}

/// The event in `/hook/{event}`.
fn hook_event(path: &str) -> Option<&str> {
    path.strip_prefix("/hook/").filter(|event| !event.is_empty() && !event.contains('/'))
}

/// Handles one request. If it is refused before its body is read, the body stays in `body`.
async fn route(
    connection: &Arc<Connection>,
    mut head: Parts,
    body: &mut Option<Incoming>,
) -> Response<Body> {
    let path = Path::of(head.uri.path(), &connection.shared);
    let rpc = path.is_some_and(|path| path.speaks_rpc(&head.method));
    if let Err(error) = guard::check_place(&head) {
        return Refused::from(error).response(rpc);
    }
    let public = path.is_some_and(|path| path.is_public(&head.method));
    // A browser asks by OPTIONS whether a foreign page may call, and asks without a token.
    if !public && head.method != Method::OPTIONS {
        let auth = &connection.shared.face.auth;
        let checked = match path {
            Some(Path::Challenge) => auth.check_before_proof(&head).map(|_| None),
            _ => auth.check(&head),
        };
        match checked {
            Ok(proved) => {
                // A request for a challenge has proved nothing yet.
                if !matches!(path, Some(Path::Challenge)) {
                    connection.slot.trust();
                }
                head.extensions.insert(proved);
            }
            Err(error) => return Refused::from(error).response(rpc),
        }
    }
    let Some(path) = path else {
        return Refused::from(OpError::not_found("nothing is at this path")).response(false);
    };
    let allow = path.allow();
    if !allow.split(", ").any(|verb| verb == head.method.as_str()) {
        let error = OpError::invalid("", "this path does not take the verb")
            .hint(format!("It takes {allow}."));
        let refused = Refused { status: StatusCode::METHOD_NOT_ALLOWED, error };
        let mut response = refused.response(false);
        if let Ok(allow) = HeaderValue::try_from(&*allow) {
            response.headers_mut().insert(header::ALLOW, allow);
        }
        return response;
    }
    let has_body = body.as_ref().is_some_and(|body| !body.is_end_stream());
    if path.needs_json(&head.method, has_body) && !guard::is_json(&head.headers) {
        let error = OpError::invalid("", "the body is not declared as application/json")
            .hint("Send the header `Content-Type: application/json`.");
        return Refused { status: StatusCode::UNSUPPORTED_MEDIA_TYPE, error }.response(rpc);
    }
    let handled = handle(connection, path, head, body).await;
    handled.unwrap_or_else(|refused| refused.response(rpc))
}

/// A request that passed the guard, given to its surface.
async fn handle(
    connection: &Arc<Connection>,
    path: Path<'_>,
    head: Parts,
    body: &mut Option<Incoming>,
) -> Result<Response<Body>, Refused> {
    let face = &connection.shared.face;
    match path {
        Path::Rpc => answer_rpc(connection, &head, body).await,
        Path::Root if head.method == Method::POST => answer_rpc(connection, &head, body).await,
        Path::Root => Ok(page::root(&face.auth, &head)),
        Path::Asset(asset) => Ok(page::asset(asset, &head.headers)),
        Path::Rest(path) => answer_rest(connection, path, &head, body).await,
        Path::Challenge => {
            let bytes = message::read(connection, &head, body).await?;
            Ok(page::challenge(&face.auth, &head.headers, &bytes)?)
        }
        Path::Health => Ok(json(StatusCode::OK, health())),
        Path::Mcp => {
            let peer = peer(connection, &head)?;
            let bytes = message::read(connection, &head, body).await?;
            let answer = face.mcp.http(Request::from_parts(head, bytes), peer).await;
            Ok(answer.map(|body| Either::Right(UnsyncBoxBody::new(body))))
        }
        Path::Sse => Ok(sse::open(connection, peer(connection, &head)?)),
        Path::Messages => {
            let peer = peer(connection, &head)?;
            let session = query(&head, "session_id").unwrap_or_default();
            let bytes = message::read(connection, &head, body).await?;
            Ok(sse::post(&connection.shared, &session, peer, &bytes).await?)
        }
        Path::Ws => {
            let peer = peer(connection, &head)?;
            // A handshake has no body.
            Ok(ws::upgrade(connection, Request::from_parts(head, ()), peer))
        }
        Path::Hook => answer_hook(connection, &head, body).await,
        Path::Events => Ok(events::open(connection, &head).await?),
    }
}

async fn answer_rpc(
    connection: &Connection,
    head: &Parts,
    body: &mut Option<Incoming>,
) -> Result<Response<Body>, Refused> {
    let call = call_id(head)?;
    let bytes = message::read(connection, head, body).await?;
    let shared = &connection.shared;
    let answer = rpc::answer(&shared.face.runtime, &bytes, &shared.sender, call).await;
    Ok(match (answer.body, answer.refusal) {
        (Some(body), None) => json(StatusCode::OK, body),
        (Some(body), Some(_)) => json(StatusCode::BAD_REQUEST, body),
        (None, _) => empty(StatusCode::ACCEPTED),
    })
}

/// Calls the operation that a REST path and method name. The caller is a client, as with JSON-RPC.
async fn answer_rest(
    connection: &Connection,
    path: &RestPath,
    head: &Parts,
    body: &mut Option<Incoming>,
) -> Result<Response<Body>, Refused> {
    let endpoint = path.endpoint(head.method.as_str());
    let endpoint = endpoint.ok_or_else(|| OpError::internal("the path has no such method"))?;
    let call = call_id(head)?.unwrap_or_else(client::mint);
    let bytes = message::read(connection, head, body).await?;
    let shared = &connection.shared;
    let runtime = &shared.face.runtime;
    runtime.table().check_size(endpoint.op.name, bytes.len())?;
    let query = head.uri.query().unwrap_or_default();
    let params = endpoint.params(head.uri.path(), query, &bytes)?;
    let (op, caller) = (endpoint.op.name.to_owned(), shared.sender.caller.clone());
    let result = runtime.call_async(model::Request { call, op, params, caller }).await?;
    let mut response = json(StatusCode::OK, result.to_string());
    let headers = response.headers_mut();
    // A result of GET is the user's data: no cache keeps a copy of it.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Ok(response)
}

/// A hook event as the agent sends it, answered with the agent's hook JSON.
async fn answer_hook(
    connection: &Connection,
    head: &Parts,
    body: &mut Option<Incoming>,
) -> Result<Response<Body>, Refused> {
    let event = hook_event(head.uri.path()).and_then(model::entry::decode);
    let event =
        event.ok_or_else(|| OpError::invalid("event", "the event's name is not readable"))?;
    let call = call_id(head)?.unwrap_or_else(client::mint);
    let bytes = message::read(connection, head, body).await?;
    let payload = runtime::read_event(&bytes)?;
    let request = model::Request {
        call,
        op: "hook".to_owned(),
        params: json!({ "event": event, "payload": payload }),
        caller: Caller { tier: Tier::Hook, ..Caller::default() },
    };
    let mut result = connection.shared.face.runtime.call_async(request).await?;
    let answer = match result.get_mut("answer").map(Value::take) {
        Some(Value::Null) | None => json!({}),
        Some(answer) => answer,
    };
    Ok(json(StatusCode::OK, answer.to_string()))
}

/// An agent that speaks MCP on this connection; without `?tools=` it sees the configured toolset.
fn peer(connection: &Connection, head: &Parts) -> Result<mcp::Peer, OpError> {
    let tools = query(head, "tools").unwrap_or_default();
    mcp::check_toolset(connection.shared.face.runtime.table(), &tools)?;
    Ok(mcp::Peer {
        caller: Caller { tier: Tier::Agent, ..Caller::default() },
        call: call_id(head)?.unwrap_or_else(client::mint),
        revision: None,
        tools,
    })
}

fn call_id(head: &Parts) -> Result<Option<CallId>, OpError> {
    let Some(given) = head.headers.get(&CALL_ID) else { return Ok(None) };
    match given.to_str().ok().and_then(CallId::parse) {
        Some(call) => Ok(Some(call)),
        None => Err(OpError::invalid(CALL_ID.as_str(), "a call id is 32 hexadecimal digits")),
    }
}

fn health() -> String {
    let (version, pid) = (env!("CARGO_PKG_VERSION"), std::process::id());
    json!({ "status": "healthy", "server": "rekindle", "version": version, "pid": pid }).to_string()
}

#[cfg(test)]
mod tests;
