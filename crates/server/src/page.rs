//! The web page: its files, its headers, and the one-time link that opens it.
//!
//! The files are in `web/` and compiled into the binary. They contain no data: the page calls `/rpc`
//! for it, and proves each request with its key. Without the cookie it shows how to get a link.

use bytes::Bytes;
use contract::Asset;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use model::OpError;
use serde::Deserialize;

use crate::assets::HashedAsset;
use crate::guard::{self, Auth, OpenedPage};
use crate::http::{Body, empty, json, query, whole};

const INDEX: &str = include_str!("../../../web/index.html");
const CLOSED: &str = include_str!("../../../web/closed.html");
const MISSING: &str = include_str!("../../../web/missing.html");

/// The files that the page loads, as `build.rs` lists them; plugins may add to them.
pub(crate) const ASSETS: &[Asset] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The page may load its style, script and data from this server only. No script may turn a text into
/// markup or code: the browser refuses it, because no Trusted Types policy can be created.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
         img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

const HTML: &str = "text/html; charset=utf-8";

/// The answer to a person who opens an address that does not exist; `None` for a program, which gets JSON. The
/// text is the same for every address, so it says nothing that a program could use without the token.
pub(crate) fn missing(head: &Parts) -> Option<Response<Body>> {
    let accepts =
        head.headers.get_all(header::ACCEPT).iter().filter_map(|kinds| kinds.to_str().ok());
    let accepts_html = accepts
        .flat_map(|kinds| kinds.split(','))
        .filter_map(|kind| kind.split(';').next())
        .any(|kind| kind.trim().eq_ignore_ascii_case("text/html"));
    let is_read = matches!(head.method, Method::GET | Method::HEAD);
    (is_read && accepts_html).then(|| file(StatusCode::NOT_FOUND, HTML, MISSING))
}

/// `GET /`: the page, or instructions how to open it; `/?link=…` redeems a one-time link.
pub(crate) fn root(auth: &Auth, head: &Parts) -> Response<Body> {
    // A HEAD request, as a link preview sends it, must not use up the link.
    let link = query(head, "link").filter(|_| head.method == Method::GET);
    let Some(link) = link else {
        return if auth.knows_browser(&head.headers) {
            let mut response = file(StatusCode::OK, HTML, INDEX);
            set_cookie(&mut response, auth.browsers.renewed_cookie(&head.headers));
            response
        } else {
            file(StatusCode::OK, HTML, CLOSED)
        };
    };
    if let Some(address) = auth.browsers.address_for(guard::only(&head.headers, &header::HOST)) {
        let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
        return redirect(&format!("{address}{target}"));
    }
    let after = address_after_link(head);
    match auth.redeem(&link) {
        Some(OpenedPage { set_cookie: cookie, code }) => {
            // The part after `#` is not sent to servers: the page reads it and fetches its key.
            let mut response = redirect(&format!("{after}#open={code}"));
            set_cookie(&mut response, Some(cookie));
            response
        }
        // In an authorised browser a used link still opens the page.
        None if auth.knows_browser(&head.headers) => redirect(&after),
        None => file(StatusCode::FORBIDDEN, HTML, CLOSED),
    }
}

/// `POST /challenge`: issues a challenge for the proofs of the page. With `{"code":…}` also its key.
pub(crate) fn challenge(
    auth: &Auth,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Response<Body>, OpError> {
    #[derive(Default, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Params {
        #[serde(default)]
        code: Option<String>,
    }
    let params: Params = serde_json::from_slice(body)
        .map_err(|error| OpError::invalid("", format!("the body is not understood: {error}")))?;
    let challenge = auth.challenge(headers, params.code.as_deref())?;
    let text = serde_json::to_string(&challenge)
        .map_err(|error| OpError::internal(format!("the challenge is not JSON: {error}")))?;
    Ok(with_headers(json(StatusCode::OK, text)))
}

/// The address without the parameter `link`; the other parameters are unchanged.
fn address_after_link(head: &Parts) -> String {
    let pairs = head.uri.query().unwrap_or_default().split('&');
    let others: Vec<&str> =
        pairs.filter(|pair| !pair.is_empty() && !pair.starts_with("link=")).collect();
    if others.is_empty() { "/".to_owned() } else { format!("/?{}", others.join("&")) }
}

/// A file that the page loads, or 304 if the browser has this very content.
pub(crate) fn asset(hashed: &HashedAsset, request: &HeaderMap) -> Response<Body> {
    let Asset { media_type, bytes, .. } = hashed.asset;
    let mut response = with_headers(match hashed.is_known(request) {
        true => empty(StatusCode::NOT_MODIFIED),
        false => whole(StatusCode::OK, media_type, Bytes::from_static(bytes)),
    });
    let headers = response.headers_mut();
    if let Ok(etag) = HeaderValue::try_from(&hashed.etag) {
        headers.insert(header::ETAG, etag);
    }
    // A browser may cache the file but must revalidate it: the next build may have another one at this path.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn redirect(to: &str) -> Response<Body> {
    let mut response = with_headers(empty(StatusCode::SEE_OTHER));
    if let Ok(to) = HeaderValue::try_from(to) {
        response.headers_mut().insert(header::LOCATION, to);
    }
    response
}

fn set_cookie(response: &mut Response<Body>, cookie: Option<String>) {
    if let Some(cookie) = cookie.and_then(|cookie| HeaderValue::try_from(cookie).ok()) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
}

fn file(status: StatusCode, kind: &'static str, text: &'static str) -> Response<Body> {
    with_headers(whole(status, kind, Bytes::from_static(text.as_bytes())))
}

/// Adds the headers that every file and redirection of the page has.
fn with_headers(mut response: Response<Body>) -> Response<Body> {
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
