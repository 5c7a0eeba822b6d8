//! The HTTP server: accepts connections, enforces their timeouts, guards and routes each request.
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
use crate::connections::{ConnectionSlot, Connections, Eviction, ReadObserver};
use crate::{events, guard, page, platform, rpc, sse, ws};

mod message;
mod receiving;

use receiving::Receiving;

pub(crate) use message::{Body, Refused, empty, json, query, query_pairs, rest_error, whole};

/// The header with which a client names its call, so that a repeat is recognised.
const CALL_ID: HeaderName = HeaderName::from_static("rekindle-call-id");

/// The parts that the HTTP server needs.
pub struct Face {
    pub runtime: Runtime,
    pub mcp: mcp::McpServer,
    pub connections: Arc<Connections>,
    pub auth: guard::Auth,
    pub port: u16,
    /// Milliseconds since 1970, UTC.
    pub started_at: i64,
}

/// State that all connections share.
pub(crate) struct HttpState {
    pub(crate) face: Arc<Face>,
    pub(crate) sender: rpc::Sender,
    pub(crate) sse: sse::SseSessions,
    rest: RestTable,
    assets: Assets,
    pub(crate) stop: watch::Receiver<bool>,
    /// Time to receive a whole request, headers included.
    receive: Duration,
}

/// One open connection. The tasks and streams that serve it hold it; dropping the last reference closes it.
pub(crate) struct HttpConnection {
    pub(crate) shared: Arc<HttpState>,
    pub(crate) slot: ConnectionSlot,
    pub(crate) receiving: Receiving,
    /// Dropped with the connection; [`serve`] waits until all are.
    _alive: mpsc::Sender<Infallible>,
}

/// Serves until `stop` turns true. Then idle connections close, and the others finish their request first.
pub async fn serve(listener: TcpListener, face: Arc<Face>, mut stop: watch::Receiver<bool>) {
    let (alive, mut gone) = mpsc::channel(1);
    let shared = Arc::new(HttpState {
        sender: rpc::Sender {
            caller: Caller { tier: Tier::Client, ..Caller::default() },
            envelope: false,
            db: face.runtime.locations().database.display().to_string(),
        },
        sse: sse::SseSessions::default(),
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
                let connection = Arc::new(HttpConnection {
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
    // Nothing is ever sent: `recv` returns when every connection has dropped its sender.
    gone.recv().await;
}

/// Completes when the daemon stops, or when its sender is gone.
pub(crate) async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

impl HttpConnection {
    async fn run(self: Arc<Self>, stream: TcpStream) {
        // Without `TCP_NODELAY` a small answer would wait for the acknowledgement of the one before.
        let _ = stream.set_nodelay(true);
        let heard = self.clone();
        let io = TokioIo::new(ReadObserver::new(stream, move || {
            heard.slot.touch();
            heard.receiving.heard();
        }));
        let answering = self.clone();
        let service = service_fn(move |request| answer(answering.clone(), request));
        let mut http = http1::Builder::new();
        // Hyper's own header timeout also ends idle connections; `late` does not.
        http.header_read_timeout(None).max_buf_size(limits::HTTP_HEAD_BYTES_MAX);
        // A client may close its sending side after the request; it still gets its answer.
        http.half_close(true);
        let mut serving = pin!(http.serve_connection(io, service).with_upgrades());
        let mut stop = self.shared.stop.clone();
        let mut stopping = false;
        loop {
            // `serving` is polled first: `late` looks at the bytes that it has just received.
            tokio::select! {
                biased;
                _ = serving.as_mut() => return,
                why = self.slot.evicted() => {
                    let (log, kind) = (self.shared.face.runtime.log(), self.slot.kind());
                    let why = match why {
                        Eviction::Idle => "a silent connection made room for a new one",
                        Eviction::Forgotten => "a connection of a forgotten browser was closed",
                    };
                    log.info(kind, format_args!("{why}"));
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
    connection: Arc<HttpConnection>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    connection.receiving.head_received();
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
            // Reading a large body would delay the refusal.
            Some(rest) if message::announced(&rest) > limits::REQUEST_BYTES_MAX => {
                if !asks_first {
                    message::drain_beside(rest);
                }
                true
            }
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

/// The routes: our own paths, REST paths and assets.
#[derive(Clone, Copy)]
enum HttpPath<'t> {
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

impl<'t> HttpPath<'t> {
    fn of(path: &str, shared: &'t HttpState) -> Option<HttpPath<'t>> {
        Some(match path {
            "/" => HttpPath::Root,
            "/rpc" => HttpPath::Rpc,
            "/mcp" => HttpPath::Mcp,
            "/health" => HttpPath::Health,
            "/challenge" => HttpPath::Challenge,
            "/sse" => HttpPath::Sse,
            "/messages" => HttpPath::Messages,
            "/ws" => HttpPath::Ws,
            "/api/events" => HttpPath::Events,
            _ if hook_event(path).is_some() => HttpPath::Hook,
            _ => match shared.assets.find(path) {
                Some(asset) => HttpPath::Asset(asset),
                None => HttpPath::Rest(shared.rest.find(path)?),
            },
        })
    }

    /// The methods that it accepts, as the header `Allow` lists them.
    fn allow(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            HttpPath::Rest(path) => return Cow::Owned(path.allow()),
            HttpPath::Root => "GET, HEAD, POST",
            HttpPath::Health | HttpPath::Asset(_) => "GET, HEAD",
            HttpPath::Rpc | HttpPath::Messages | HttpPath::Hook | HttpPath::Challenge => "POST",
            HttpPath::Mcp => "GET, POST, DELETE",
            HttpPath::Sse | HttpPath::Ws | HttpPath::Events => "GET",
        })
    }

    /// Whether it needs no token because it shows no user data.
    fn is_public(self, method: &Method) -> bool {
        let shows_nothing = matches!(self, HttpPath::Root | HttpPath::Health | HttpPath::Asset(_));
        shows_nothing && matches!(*method, Method::GET | Method::HEAD)
    }

    /// Whether the request has to be declared as JSON. A browser sends PUT, PATCH and DELETE to another origin only after
    /// a preflight, which never succeeds; their bodies follow the rule of POST all the same. On a REST path an empty
    /// body need not be declared: token or proof, `Host` and `Origin` were checked before. A form always has a type, so
    /// it is refused even if it is empty.
    fn needs_json(self, head: &Parts, has_body: bool) -> bool {
        let writes = matches!(head.method, Method::POST | Method::PUT | Method::PATCH);
        match self {
            HttpPath::Rest(_) => {
                has_body || (writes && head.headers.contains_key(header::CONTENT_TYPE))
            }
            _ => writes,
        }
    }

    /// Whether its errors are JSON-RPC errors.
    fn speaks_rpc(self, method: &Method) -> bool {
        matches!(self, HttpPath::Rpc | HttpPath::Mcp)
            || (matches!(self, HttpPath::Root) && method == Method::POST)
    }
}

/// The event in `/hook/{event}`.
fn hook_event(path: &str) -> Option<&str> {
    path.strip_prefix("/hook/").filter(|event| !event.is_empty() && !event.contains('/'))
}

/// Handles one request. If it is refused before its body is read, the body stays in `body`.
async fn route(
    connection: &Arc<HttpConnection>,
    mut head: Parts,
    body: &mut Option<Incoming>,
) -> Response<Body> {
    let path = HttpPath::of(head.uri.path(), &connection.shared);
    let rpc = path.is_some_and(|path| path.speaks_rpc(&head.method));
    if let Err(error) = guard::check_place(&head) {
        return Refused::from(error).response(rpc);
    }
    if path.is_none()
        && let Some(page) = page::missing(&head)
    {
        return page;
    }
    let public = path.is_some_and(|path| path.is_public(&head.method));
    // A browser sends OPTIONS without a token, to ask whether a foreign page may call.
    if !public && head.method != Method::OPTIONS {
        let auth = &connection.shared.face.auth;
        // Before the check: if the browser is forgotten between the two, the connection is closed nevertheless.
        if guard::has_proof(&head.headers) {
            connection.slot.used_by_browser();
        }
        let checked = match path {
            Some(HttpPath::Challenge) => auth.check_before_proof(&head).map(|_| None),
            _ => auth.check(&head),
        };
        match checked {
            Ok(proved) => {
                // A request for a challenge has proved nothing yet.
                if !matches!(path, Some(HttpPath::Challenge)) {
                    connection.slot.trust();
                }
                head.extensions.insert(proved);
            }
            Err(error) => return Refused::from(error).response(rpc),
        }
    }
    let Some(path) = path else {
        return Refused::from(OpError::not_found("there is nothing at this path")).response(false);
    };
    let allow = path.allow();
    if !allow.split(", ").any(|verb| verb == head.method.as_str()) {
        let error = OpError::invalid("", "this path does not support the method of the request")
            .hint(format!("It supports {allow}."));
        let refused = Refused { status: StatusCode::METHOD_NOT_ALLOWED, error };
        let mut response = refused.response(false);
        if let Ok(allow) = HeaderValue::try_from(&*allow) {
            response.headers_mut().insert(header::ALLOW, allow);
        }
        return response;
    }
    let has_body = body.as_ref().is_some_and(|body| !body.is_end_stream());
    if path.needs_json(&head, has_body) && !guard::is_json(&head.headers) {
        let error = OpError::invalid("", "the body is not declared as application/json")
            .hint("Send the header `Content-Type: application/json`.");
        let status = match path {
            HttpPath::Rest(_) => StatusCode::BAD_REQUEST,
            _ => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        };
        return Refused { status, error }.response(rpc);
    }
    let handled = handle(connection, path, head, body).await;
    handled.unwrap_or_else(|refused| refused.response(rpc))
}

/// Handles a request that passed the guard.
async fn handle(
    connection: &Arc<HttpConnection>,
    path: HttpPath<'_>,
    head: Parts,
    body: &mut Option<Incoming>,
) -> Result<Response<Body>, Refused> {
    let face = &connection.shared.face;
    match path {
        HttpPath::Rpc => answer_rpc(connection, &head, body).await,
        HttpPath::Root if head.method == Method::POST => answer_rpc(connection, &head, body).await,
        HttpPath::Root => Ok(page::root(&face.auth, &head)),
        HttpPath::Asset(asset) => Ok(page::asset(asset, &head.headers)),
        HttpPath::Rest(path) => answer_rest(connection, path, &head, body).await,
        HttpPath::Challenge => {
            let bytes = message::read(connection, &head, body).await?;
            Ok(page::challenge(&face.auth, &head.headers, &bytes)?)
        }
        HttpPath::Health => Ok(json(StatusCode::OK, health(&face.auth))),
        HttpPath::Mcp => {
            let peer = peer(connection, &head)?;
            let bytes = message::read(connection, &head, body).await?;
            let answer = face.mcp.http(Request::from_parts(head, bytes), peer).await;
            Ok(answer.map(|body| Either::Right(UnsyncBoxBody::new(body))))
        }
        HttpPath::Sse => Ok(sse::open(connection, peer(connection, &head)?)),
        HttpPath::Messages => {
            let peer = peer(connection, &head)?;
            let session = query(&head, "session_id").unwrap_or_default();
            let bytes = message::read(connection, &head, body).await?;
            Ok(sse::post(&connection.shared, &session, peer, &bytes).await?)
        }
        HttpPath::Ws => {
            let peer = peer(connection, &head)?;
            // A handshake has no body.
            Ok(ws::upgrade(connection, Request::from_parts(head, ()), peer))
        }
        HttpPath::Hook => answer_hook(connection, &head, body).await,
        HttpPath::Events => Ok(events::open(connection, &head).await?),
    }
}

async fn answer_rpc(
    connection: &HttpConnection,
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
    connection: &HttpConnection,
    path: &RestPath,
    head: &Parts,
    body: &mut Option<Incoming>,
) -> Result<Response<Body>, Refused> {
    let endpoint = path.endpoint(head.method.as_str());
    let endpoint = endpoint.ok_or_else(|| OpError::internal("the path has no such method"))?;
    let call = call_id(head)?.unwrap_or_else(client::mint);
    let shared = &connection.shared;
    let runtime = &shared.face.runtime;
    let announced = body.as_ref().map_or(0, message::announced);
    if let Err(error) = runtime.table().check_size(endpoint.op.name, announced) {
        body.take().into_iter().for_each(|body| message::refuse(head, body));
        return Err(error.into());
    }
    let bytes = message::read(connection, head, body).await?;
    runtime.table().check_size(endpoint.op.name, bytes.len())?;
    let query = head.uri.query().unwrap_or_default();
    let params = endpoint.params(head.uri.path(), query, &bytes)?;
    let (op, caller) = (endpoint.op.name.to_owned(), shared.sender.caller.clone());
    let result = runtime.call_async(model::Request { call, op, params, caller }).await;
    let result = result.map_err(|error| endpoint.error(error))?;
    let mut response = json(StatusCode::OK, endpoint.answer(result).to_string());
    let headers = response.headers_mut();
    // The result of a GET is user data, which no cache may store.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Ok(response)
}

/// A hook event as the agent sends it, answered with the agent's hook JSON.
async fn answer_hook(
    connection: &HttpConnection,
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

/// The peer of an MCP message over HTTP. Without `?tools=` it gets the configured toolset.
fn peer(connection: &HttpConnection, head: &Parts) -> Result<mcp::Peer, OpError> {
    let tools = query(head, "tools").unwrap_or_default();
    mcp::check_toolset(connection.shared.face.runtime.table(), &tools)?;
    Ok(mcp::Peer {
        caller: Caller { tier: Tier::Agent, ..Caller::default() },
        call: call_id(head)?.unwrap_or_else(client::mint),
        revision: None,
        tools,
        notify: None,
        subscriptions: None,
    })
}

fn call_id(head: &Parts) -> Result<Option<CallId>, OpError> {
    let Some(given) = head.headers.get(&CALL_ID) else { return Ok(None) };
    match given.to_str().ok().and_then(CallId::parse) {
        Some(call) => Ok(Some(call)),
        None => Err(OpError::invalid(CALL_ID.as_str(), "a call id is 32 hexadecimal digits")),
    }
}

/// The answer to `/health`. It has the id of the database: if this daemon takes the port of another one, an open page
/// recognises that the database is not its own, and stays as it is.
fn health(auth: &guard::Auth) -> String {
    let (version, pid) = (env!("CARGO_PKG_VERSION"), std::process::id());
    let database = auth.browsers.database_id();
    json!({ "status": "healthy", "server": "rekindle", "version": version, "pid": pid, "database": database })
        .to_string()
}

#[cfg(test)]
mod tests;
