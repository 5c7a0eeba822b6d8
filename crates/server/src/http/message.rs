//! Bodies in and out: reads a request's body within its bounds, writes answers and refusals.

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
use tokio::time::{Instant, timeout_at};

use crate::rpc;

/// Bytes of a body that are read and thrown away, so that its sender gets to read the refusal.
const DISCARD_BYTES_MAX: usize = 4 * limits::BODY_BYTES_MAX;

/// The body of every response: whole, or a stream.
pub(crate) type Body = Either<Full<Bytes>, UnsyncBoxBody<Bytes, Infallible>>;

/// A request that is turned away, in the form its path speaks.
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
        if self.status == StatusCode::REQUEST_TIMEOUT {
            let headers = response.headers_mut();
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// Reads the body, within its size and the request's time.
pub(crate) async fn read(head: &Parts, mut body: Incoming, due: Instant) -> Result<Bytes, Refused> {
    let late = |_| Refused {
        status: StatusCode::REQUEST_TIMEOUT,
        error: OpError::new(Code::Timeout, "the request did not arrive in time"),
    };
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let asks_first = head.headers.contains_key(header::EXPECT);
    if announced > limits::BODY_BYTES_MAX {
        if !asks_first && announced <= DISCARD_BYTES_MAX {
            timeout_at(due, discard(body)).await.map_err(late)?;
        }
        return Err(too_large());
    }
    match timeout_at(due, collect(&mut body)).await.map_err(late)? {
        Some(bytes) => Ok(bytes),
        None => {
            timeout_at(due, discard(body)).await.map_err(late)?;
            Err(too_large())
        }
    }
}

fn too_large() -> Refused {
    let max = limits::BODY_BYTES_MAX;
    OpError::new(Code::TooLarge, format!("the body is over {max} bytes")).with("max", max).into()
}

/// The whole body, or nothing if it is too large. One frame, the usual case, is not copied.
async fn collect(body: &mut Incoming) -> Option<Bytes> {
    let mut whole = Bytes::new();
    let mut parts = Vec::new();
    // A peer that breaks off never reads the answer, so what came is as good as anything.
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(data) = frame.into_data() else { continue };
        if whole.len() + parts.len() + data.len() > limits::BODY_BYTES_MAX {
            return None;
        }
        if whole.is_empty() && parts.is_empty() {
            whole = data;
            continue;
        }
        parts.extend_from_slice(&std::mem::take(&mut whole));
        parts.extend_from_slice(&data);
    }
    Some(if parts.is_empty() { whole } else { parts.into() })
}

async fn discard(mut body: Incoming) {
    let mut left = DISCARD_BYTES_MAX;
    while let Some(Ok(frame)) = body.frame().await {
        match left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

/// The value of a query parameter, decoded.
pub(crate) fn query(head: &Parts, name: &str) -> Option<String> {
    let pairs = head.uri.query()?.split('&');
    let value = pairs.filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name)?.1;
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
        Some(hint) => format!("{}. {hint}", error.message),
        None => error.message.clone(),
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
