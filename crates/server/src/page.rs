//! The web page: its files, its headers, and the one-time link that opens it.
//!
//! The files stand in `web/` and are part of the binary. They hold no data: with the cookie, the
//! page asks `/rpc` for what it shows; without it, it says how to get a link.

use bytes::Bytes;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};

use crate::guard::{Auth, COOKIE};
use crate::http::{Body, empty, query, whole};

const INDEX: &str = include_str!("../../../web/index.html");
const CLOSED: &str = include_str!("../../../web/closed.html");
const STYLE: &str = include_str!("../../../web/style.css");
const SCRIPT: &str = include_str!("../../../web/app.js");

/// The page gets its style, its script and its data from here and nothing from anywhere else.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
         img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// `GET /`: the page, or how to open it; `/?link=…` opens it.
pub(crate) fn root(auth: &Auth, head: &Parts) -> Response<Body> {
    // A HEAD request, as a preview sends it, must not use the link up.
    let link = query(head, "link").filter(|_| head.method == Method::GET);
    match link.map(|link| auth.redeem(&link)) {
        Some(Some(session)) => opened(&session),
        // A link that is used up does no harm in a browser that is let in already.
        _ if auth.knows_browser(&head.headers) => {
            file(StatusCode::OK, "text/html; charset=utf-8", INDEX)
        }
        Some(None) => file(StatusCode::FORBIDDEN, "text/html; charset=utf-8", CLOSED),
        None => file(StatusCode::OK, "text/html; charset=utf-8", CLOSED),
    }
}

pub(crate) fn style() -> Response<Body> {
    file(StatusCode::OK, "text/css; charset=utf-8", STYLE)
}

pub(crate) fn script() -> Response<Body> {
    file(StatusCode::OK, "text/javascript; charset=utf-8", SCRIPT)
}

/// Gives the browser its session and takes the used link out of its address bar.
fn opened(session: &str) -> Response<Body> {
    let cookie = format!("{COOKIE}={session}; HttpOnly; SameSite=Strict; Path=/");
    let mut response = with_headers(empty(StatusCode::SEE_OTHER));
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, HeaderValue::from_static("/"));
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        headers.insert(header::SET_COOKIE, cookie);
    }
    response
}

fn file(status: StatusCode, kind: &'static str, text: &'static str) -> Response<Body> {
    with_headers(whole(status, kind, Bytes::from_static(text.as_bytes())))
}

fn with_headers(mut response: Response<Body>) -> Response<Body> {
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
