//! `/mcp`: the thin layer in front of the SDK's streamable HTTP service. Requests in the modern
//! form go to the SDK, which knows their header rules; all others are answered as a line would be.
//! Host, origin, token and content type were checked before.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Channel, Full};
use model::limits;
use rmcp::model::{ErrorCode, ErrorData, ProtocolVersion, RequestId};
use rmcp::transport::common::http_header::HEADER_MCP_PROTOCOL_VERSION;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use runtime::tasks;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::handler::Handler;
use crate::message::{Outcome, Shape, error_reply, parse, shape};
use crate::{Answering, McpServer, Notified, Notifying, Peer};

type SdkService = StreamableHttpService<Handler, NeverSessionManager>;
type McpHttpReply = Response<BoxBody<Bytes, Infallible>>;

const JSON: &str = "application/json";
const EVENT_STREAM: &str = "text/event-stream";

/// Members of `_meta` that describe the client in each request. A request with one of them has the modern form.
const MODERN_META: [&str; 3] = [
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/clientInfo",
];

/// The SDK's service without sessions, which answers in JSON and leaves guarding to our server; and the function that ends
/// its streams.
pub(crate) fn sdk_service(handler: Handler) -> (SdkService, Arc<dyn Fn() + Send + Sync>) {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(limits::BODY_BYTES_MAX)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let streams = config.cancellation_token.clone();
    let service = StreamableHttpService::new(
        move || Ok(handler.for_request()),
        NeverSessionManager::default().into(),
        config,
    );
    (service, Arc::new(move || streams.cancel()))
}

impl McpServer {
    /// Answers one HTTP request to `/mcp`. A `tools` parameter of the query overrides the peer's.
    pub fn http(&self, request: Request<Bytes>, from: Peer) -> Answering<'_, McpHttpReply> {
        Box::pin(self.answer(request, from))
    }

    async fn answer(&self, request: Request<Bytes>, mut from: Peer) -> McpHttpReply {
        if let Some(tools) = asked_toolsets(request.uri().query().unwrap_or_default()) {
            from.tools = tools;
        }
        match *request.method() {
            Method::POST if accepts_only_events(request.headers()) => {
                self.clone().streamed(request, from).await
            }
            Method::POST => self.post(request, from, false).await,
            // There is no session to end, so ending it succeeds. The modern revision has no sessions
            // and no such method.
            Method::DELETE if !names_modern_revision(request.headers()) => {
                reply(StatusCode::OK, JSON, "{}".to_owned())
            }
            _ => not_allowed(),
        }
    }

    /// Answers with events: the progress of the call while it runs, then its reply. A call that reports nothing is answered
    /// in one piece, with the status of its reply.
    async fn streamed(self, request: Request<Bytes>, mut from: Peer) -> McpHttpReply {
        let (notify, notifications) = mpsc::channel(limits::NOTIFICATIONS_QUEUE_MAX);
        from.notify = Some(notify);
        let (mut events, body) = Channel::new(1);
        let (begin, begun) = oneshot::channel();
        tasks::spawn("mcp stream", async move {
            let mut begin = Some(begin);
            let mut work = Notifying::new(self.post(request, from, true), notifications);
            let reply = loop {
                match work.next().await {
                    Notified::Line(line) => {
                        // A client that has left misses the rest.
                        let _ = begin.take().map(|begin| begin.send(None));
                        let _ = events.send_data(as_event(&line).into()).await;
                    }
                    Notified::Result(reply) => break reply,
                }
            };
            if let Some(begin) = begin {
                let _ = begin.send(Some(reply));
                return;
            }
            let Ok(last) = reply.into_body().collect().await;
            let _ = events.send_data(last.to_bytes()).await;
        });
        match begun.await {
            Ok(Some(whole)) => whole,
            Ok(None) => of_body(StatusCode::OK, EVENT_STREAM, body.boxed()),
            Err(_) => {
                let error = ErrorData::internal_error("the call failed on a defect", None);
                let text = error_reply(&Value::Null, &error);
                reply(StatusCode::INTERNAL_SERVER_ERROR, JSON, text)
            }
        }
    }

    async fn post(&self, request: Request<Bytes>, mut from: Peer, streamed: bool) -> McpHttpReply {
        let message = match parse(request.body()) {
            Ok(message) => message,
            Err(refused) => return line_reply(refused, streamed),
        };
        if let Some(refused) = self.too_large(&message, request.body().len()) {
            return line_reply(refused, streamed);
        }
        if is_modern(&message)
            && let Some(id) = request_id(&message)
        {
            // The SDK parses the body again: free our tree first, so that there is only one in memory.
            drop(message);
            return self.modern(request, from, &id.into_json_value(), streamed).await;
        }
        match revision(request.headers()) {
            Ok(named) => from.revision = named.or(from.revision),
            // The header cannot contradict the agreed revision before `initialize` is answered: there is none yet.
            Err(error) if method_of(&message) != Some("initialize") => {
                let id = message.get("id").filter(|id| id.is_string() || id.is_number());
                let text = error_reply(id.unwrap_or(&Value::Null), &error);
                return reply(StatusCode::BAD_REQUEST, JSON, text);
            }
            Err(_) => {}
        }
        line_reply(self.message(message, from).await, streamed)
    }

    /// A request in the modern form, answered by the SDK.
    async fn modern(
        &self,
        request: Request<Bytes>,
        from: Peer,
        id: &Value,
        streamed: bool,
    ) -> McpHttpReply {
        let mut request = request.map(Full::new);
        // The SDK requires these headers. We do not require the first, and have already checked the others.
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        headers.insert(HOST, HeaderValue::from_static("localhost"));
        request.extensions_mut().insert(from);
        let answer = self.sdk.handle(request).await;
        let status = answer.status();
        let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let is_json = kind.is_some_and(|kind| kind.starts_with(JSON));
        let is_stream = kind.is_some_and(|kind| kind.starts_with(EVENT_STREAM));
        if is_stream || (is_json && !(streamed && status == StatusCode::OK)) {
            return answer;
        }
        let Ok(body) = answer.into_body().collect().await;
        let text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
        if is_json {
            return reply(status, EVENT_STREAM, as_event(&text));
        }
        // A few refusals of the SDK are plain text; ours are JSON on every surface.
        let error = ErrorData::new(ErrorCode::INVALID_REQUEST, text, None);
        reply(StatusCode::BAD_REQUEST, JSON, error_reply(id, &error))
    }
}

/// The HTTP response for a message that was handled as a line.
fn line_reply(outcome: Outcome, streamed: bool) -> McpHttpReply {
    match outcome.reply {
        None => reply(StatusCode::ACCEPTED, JSON, String::new()),
        Some(text) if outcome.malformed => reply(StatusCode::BAD_REQUEST, JSON, text),
        Some(text) if streamed => reply(StatusCode::OK, EVENT_STREAM, as_event(&text)),
        Some(text) => reply(StatusCode::OK, JSON, text),
    }
}

fn reply(status: StatusCode, kind: &'static str, text: String) -> McpHttpReply {
    if text.is_empty() {
        let mut reply = Response::new(Full::default().boxed());
        *reply.status_mut() = status;
        return reply;
    }
    of_body(status, kind, Full::new(Bytes::from(text)).boxed())
}

fn of_body(
    status: StatusCode,
    kind: &'static str,
    body: BoxBody<Bytes, Infallible>,
) -> McpHttpReply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    reply
}

fn not_allowed() -> McpHttpReply {
    let error = ErrorData::invalid_request("messages are sent here with POST", None);
    let text = error_reply(&Value::Null, &error);
    let mut reply = reply(StatusCode::METHOD_NOT_ALLOWED, JSON, text);
    reply.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    reply
}

/// One server-sent event that carries the whole reply; JSON text has no line ends in it.
fn as_event(text: &str) -> String {
    format!("event: message\ndata: {text}\n\n")
}

/// Whether the client takes an event stream and no JSON.
fn accepts_only_events(headers: &HeaderMap) -> bool {
    let accepted: Vec<&str> = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|range| {
            let mut parts = range.split(';').map(str::trim);
            let kind = parts.next()?;
            let refused = parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
            (!refused).then_some(kind)
        })
        .collect();
    let takes = |kind: &str| accepted.iter().any(|accepted| accepted.eq_ignore_ascii_case(kind));
    takes(EVENT_STREAM) && !takes(JSON) && !takes("application/*") && !takes("*/*")
}

fn is_modern(message: &Value) -> bool {
    let meta = message.get("params").and_then(|params| params.get("_meta"));
    let carries = |key: &&str| meta.is_some_and(|meta| meta.get(*key).is_some());
    method_of(message) == Some("server/discover") || MODERN_META.iter().any(carries)
}

/// The id of a message that is a request.
fn request_id(message: &Value) -> Option<RequestId> {
    let members = ["jsonrpc", "id", "method"];
    let member = |name: &str| Some((name.to_owned(), message.get(name)?.clone()));
    match shape(Value::Object(members.into_iter().filter_map(member).collect())) {
        Shape::Request { id, .. } => Some(id),
        _ => None,
    }
}

fn method_of(message: &Value) -> Option<&str> {
    message.get("method").and_then(Value::as_str)
}

/// The revision that the header names; an error if it is unknown. `None` without the header, and for the modern revision.
fn revision(headers: &HeaderMap) -> Result<Option<String>, ErrorData> {
    let Some(value) = headers.get(HEADER_MCP_PROTOCOL_VERSION) else { return Ok(None) };
    let named = value.to_str().unwrap_or_default();
    let mut known = ProtocolVersion::KNOWN_VERSIONS.iter();
    match known.find(|version| version.as_str() == named) {
        // The modern revision counts only with the modern form of a request.
        Some(version) => Ok(version.has_initialize().then(|| named.to_owned())),
        None => Err(ErrorData::invalid_request(
            format!("MCP-Protocol-Version names a revision that is not known here: {named}"),
            Some(serde_json::json!({ "supported": ProtocolVersion::KNOWN_VERSIONS })),
        )),
    }
}

fn names_modern_revision(headers: &HeaderMap) -> bool {
    let named = headers.get(HEADER_MCP_PROTOCOL_VERSION).and_then(|value| value.to_str().ok());
    named.is_some_and(|named| named >= ProtocolVersion::V_2026_07_28.as_str())
}

/// The `tools` parameter of a query, in which a comma may be written as `%2C`.
fn asked_toolsets(query: &str) -> Option<String> {
    let asked = query.split('&').find_map(|pair| pair.strip_prefix("tools="))?;
    Some(asked.replace("%2C", ",").replace("%2c", ","))
}
