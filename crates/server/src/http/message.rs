//! Bodies: reads a request's body within its bounds, writes answers and refusals.

use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Either, Full};
use hyper::body::{Body as _, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use model::{Code, OpError, limits};
use serde_json::{Value, json};

use super::HttpConnection;
use crate::guard::ProvedBody;
use crate::rpc;

/// The body of every response: complete, or a stream.
pub(crate) type Body = Either<Full<Bytes>, UnsyncBoxBody<Bytes, Infallible>>;

/// A rejected request. [`Refused::response`] renders it in the error format of its path.
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    pub(crate) error: OpError,
}

impl From<OpError> for Refused {
    fn from(error: OpError) -> Refused {
        let status = StatusCode::from_u16(error.code.row().http);
        Refused { status: status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), error }
    }
}

impl Refused {
    pub(crate) fn response(&self, rpc: bool) -> Response<Body> {
        let mut response = if rpc {
            let answer = rpc::reply_text(&Value::Null, &Err(self.error.clone()));
            json(self.status, answer)
        } else {
            rest_error(self.status, &self.error)
        };
        if self.status == StatusCode::UNAUTHORIZED {
            let headers = response.headers_mut();
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        // If a body is too large or too slow, its rest is not read.
        if matches!(self.status, StatusCode::REQUEST_TIMEOUT | StatusCode::PAYLOAD_TOO_LARGE) {
            let headers = response.headers_mut();
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// Takes and reads the body, within the size limit and the request's deadline.
pub(crate) async fn read(
    connection: &HttpConnection,
    head: &Parts,
    body: &mut Option<Incoming>,
) -> Result<Bytes, Refused> {
    let Some(body) = body.take() else { return Ok(Bytes::new()) };
    let read = tokio::select! {
        biased;
        read = read_all(head, body) => read,
        () = connection.receiving.cut() => Err(Refused {
            status: StatusCode::REQUEST_TIMEOUT,
            error: OpError::new(Code::Timeout, "the request did not arrive in time"),
        }),
    };
    connection.receiving.body_received();
    match (read, head.extensions.get::<Option<ProvedBody>>().and_then(Option::as_ref)) {
        (Ok(body), Some(proved)) if !proved.is(&body) => {
            Err(OpError::new(Code::Unauthenticated, "the proof is for another body").into())
        }
        (read, _) => read,
    }
}

/// The length that the head of the request announces.
pub(crate) fn announced(body: &Incoming) -> usize {
    usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX)
}

/// Takes a body that is refused for its announced length.
pub(crate) fn refuse(head: &Parts, body: Incoming) {
    // A client that sent `Expect` reads the refusal without sending its body.
    if !head.headers.contains_key(header::EXPECT) {
        drain_beside(body);
    }
}

/// Reads and discards a large body beside the refusal, which is sent at once, so that the client can finish sending.
pub(crate) fn drain_beside(body: Incoming) {
    if announced(&body) <= limits::BODY_DISCARD_BYTES_MAX {
        runtime::tasks::spawn("refused body", drained(body));
    }
}

async fn read_all(head: &Parts, mut body: Incoming) -> Result<Bytes, Refused> {
    if announced(&body) > limits::BODY_BYTES_MAX {
        refuse(head, body);
        return Err(too_large());
    }
    let mut first = Bytes::new();
    let mut all = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| OpError::invalid("", "the body broke off"))?;
        let Ok(data) = frame.into_data() else { continue };
        if first.len() + all.len() + data.len() > limits::BODY_BYTES_MAX {
            drained(body).await;
            return Err(too_large());
        }
        if first.is_empty() && all.is_empty() {
            // A body mostly arrives in one frame, which is not copied.
            first = data;
        } else {
            all.extend_from_slice(&std::mem::take(&mut first));
            all.extend_from_slice(&data);
        }
    }
    Ok(if all.is_empty() { first } else { all.into() })
}

fn too_large() -> Refused {
    OpError::over_size("the body", limits::BODY_BYTES_MAX).into()
}

/// Reads and discards the rest of a refused body, within a short time limit. Returns whether that was all of it.
/// Closing a connection with unread bytes resets it, and the client may never read the refusal.
pub(crate) async fn drained(mut body: Incoming) -> bool {
    let discard = async {
        let mut left = limits::BODY_DISCARD_BYTES_MAX;
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return false };
            match left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) {
                Some(rest) => left = rest,
                None => return false,
            }
        }
        true
    };
    tokio::time::timeout(limits::BODY_DISCARD, discard).await.unwrap_or(false)
}

/// The value of a query parameter, decoded.
pub(crate) fn query(head: &Parts, name: &str) -> Option<String> {
    let pairs = head.uri.query()?.split('&');
    let value = pairs.filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name)?.1;
    decoded(value)
}

/// All query parameters, decoded, in order. One that is not UTF-8 is left out.
pub(crate) fn query_pairs(head: &Parts) -> Vec<(String, String)> {
    let pairs = head.uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.filter_map(|(name, value)| decoded(name).zip(decoded(value))).collect()
}

/// A part of a query without its escapes.
fn decoded(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = match (first, after) {
            (b'%', [high, low, ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                digit(high).zip(digit(low)).and_then(|(h, l)| u8::try_from(h * 16 + l).ok())
            }
            _ => None,
        };
        bytes.push(escaped.unwrap_or(if first == b'+' { b' ' } else { first }));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).ok()
}

/// `{"error","code"}`: the form of errors outside JSON-RPC.
pub(crate) fn rest_error(status: StatusCode, error: &OpError) -> Response<Body> {
    let message = match &error.hint {
        // For `not_found` the message says enough, and the hint is about the command line.
        Some(hint) if error.code != Code::NotFound => format!("{}. {hint}", error.message),
        _ => error.message.clone(),
    };
    json(status, json!({ "error": message, "code": error.code.row().word }).to_string())
}

pub(crate) fn json(status: StatusCode, text: String) -> Response<Body> {
    whole(status, "application/json", text.into())
}

pub(crate) fn whole(status: StatusCode, kind: &'static str, bytes: Bytes) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::new(bytes)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

pub(crate) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::default()));
    *response.status_mut() = status;
    response
}
