//! Access control: Host, Origin, content type, token, and browsers with cookie and proof. Closed by default.
//!
//! The checks look at the request's head alone; `http` decides which of them a path needs.

use std::hint::black_box;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Instant;

use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Uri};
use model::{Code, OpError};

mod browsers;
mod proof;

pub use browsers::{Browsers, forget_stored};
pub(crate) use browsers::{OpenedPage, PageChallenge, has_proof};
pub(crate) use proof::{ProvedBody, sha256};

/// The header with which the page proves a request.
const PROOF: HeaderName = HeaderName::from_static("rekindle-proof");

/// Authenticates requests: by the token, or by a browser's cookie and proof.
pub struct Auth {
    /// None: `--no-auth`.
    token: Option<String>,
    pub(crate) browsers: Browsers,
}

impl Auth {
    /// Requires this token; with `None` the origin and host checks are enough.
    pub fn new(token: Option<String>, browsers: Browsers) -> Auth {
        Auth { token, browsers }
    }

    /// The secret part of `/?link=…`: it opens the page once, within ten minutes.
    pub fn one_time_link(&self) -> String {
        self.browsers.make_link(Instant::now())
    }

    /// Redeems a link. Returns the cookie, and the code with which the page fetches its key.
    pub(crate) fn redeem(&self, link: &str) -> Option<OpenedPage> {
        self.browsers.redeem(link, Instant::now())
    }

    /// Whether to show the page itself, which contains no data: no token is required, or the cookie is valid.
    pub(crate) fn knows_browser(&self, headers: &HeaderMap) -> bool {
        self.token.is_none() || self.browsers.knows(headers)
    }

    /// Issues the challenge that the page signs its requests with, and the key if the page sends the code of a link.
    pub(crate) fn challenge(
        &self,
        headers: &HeaderMap,
        code: Option<&str>,
    ) -> Result<PageChallenge, OpError> {
        match self.browsers.challenge(headers, code) {
            Some(challenge) => Ok(challenge),
            None if self.token.is_none() => Ok(self.browsers.no_challenge()),
            None => Err(unauthenticated("this browser is not authorised")),
        }
    }

    /// `unauthenticated` unless the request carries the token, or comes from the page with the cookie and a proof. A
    /// proof is valid for one body only.
    pub(crate) fn check(&self, head: &Parts) -> Result<Option<ProvedBody>, OpError> {
        if self.check_before_proof(head)? == Credentials::Enough {
            return Ok(None);
        }
        match self.browsers.proved(head) {
            Some(body) => Ok(Some(body)),
            None => Err(unauthenticated(
                "the cookie alone gives no access: the proof is missing, wrong or used",
            )),
        }
    }

    /// Checks everything but the proof. A request for a challenge cannot carry a proof yet.
    pub(crate) fn check_before_proof(&self, head: &Parts) -> Result<Credentials, OpError> {
        let Some(token) = &self.token else { return Ok(Credentials::Enough) };
        if let Some(given) = head.headers.get(header::AUTHORIZATION) {
            return match bearer(given) {
                Some(given) if same(token, given) => Ok(Credentials::Enough),
                _ => Err(unauthenticated("the token is wrong")),
            };
        }
        if !self.browsers.knows(&head.headers) {
            return Err(unauthenticated("a token is needed"));
        }
        if !comes_from_our_page(head) {
            return Err(OpError::new(
                Code::Forbidden,
                "the cookie counts only for the page's own requests",
            )
            .hint("Programs send `Authorization: Bearer` with the token instead."));
        }
        Ok(Credentials::CookieOnly)
    }
}

/// The credentials of a request, apart from a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Credentials {
    /// The request has the token, or no token is required.
    Enough,
    /// The page's cookie, which requires a proof as well.
    CookieOnly,
}

fn unauthenticated(message: &str) -> OpError {
    OpError::new(Code::Unauthenticated, message).hint(
        "`rekindle up` prints a link that opens the page; programs send `Authorization: Bearer` \
         with the text of the file `token` in the data directory.",
    )
}

/// Checks the target, the Host header and the Origin header of a request, with any method. The target must be a
/// path, Host must be a loopback address, and so must Origin if it is sent.
pub(crate) fn check_place(head: &Parts) -> Result<(), OpError> {
    if !is_origin_form(&head.uri) {
        return Err(OpError::new(Code::Forbidden, "the request names a server in its target")
            .hint("Send the path alone, as in `GET /health`; this is no proxy."));
    }
    let host = only(&head.headers, &header::HOST);
    if !host.is_some_and(is_loopback) {
        return Err(OpError::new(Code::Forbidden, "the Host header is not a loopback address")
            .hint("Use http://127.0.0.1, http://localhost or http://[::1] and the port."));
    }
    if head.headers.contains_key(header::ORIGIN) {
        let origin = only(&head.headers, &header::ORIGIN);
        if !origin.and_then(origin_authority).is_some_and(is_loopback) {
            return Err(OpError::new(Code::Forbidden, "the Origin is not a loopback address")
                .hint("Pages of other sites may not call this server."));
        }
    }
    Ok(())
}

/// Whether the body is declared as `application/json`.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    only(headers, &header::CONTENT_TYPE)
        .and_then(|text| text.split(';').next())
        .is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

/// The page's requests carry its own origin wherever a browser sends one; a page on another port
/// of this machine gets the same cookie from the browser, but has another origin.
fn comes_from_our_page(head: &Parts) -> bool {
    let host = only(&head.headers, &header::HOST);
    match only(&head.headers, &header::ORIGIN) {
        Some(origin) => match (origin_authority(origin), host) {
            (Some(origin), Some(host)) => origin.eq_ignore_ascii_case(host),
            _ => false,
        },
        None => {
            let safe = matches!(head.method, Method::GET | Method::HEAD);
            safe && !head.headers.contains_key(header::UPGRADE)
        }
    }
}

/// Whether the target is a path, not a whole address or another server's.
fn is_origin_form(uri: &Uri) -> bool {
    // `OPTIONS *` arrives as the path `*`, and is answered like any other OPTIONS.
    uri.scheme().is_none() && uri.authority().is_none()
}

/// The text of a header that is there exactly once.
pub(crate) fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// The part of an Origin after `http://` or `https://`.
fn origin_authority(origin: &str) -> Option<&str> {
    origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))
}

/// Whether `host[:port]` is `localhost`, an address in 127.0.0.0/8, or `[::1]`, and nothing else.
fn is_loopback(authority: &str) -> bool {
    let (host, rest) = match authority.strip_prefix('[') {
        Some(bracketed) => match bracketed.split_once(']') {
            Some((host, rest)) if host.parse::<Ipv6Addr>() == Ok(Ipv6Addr::LOCALHOST) => {
                (None, rest)
            }
            _ => return false,
        },
        None => {
            let end = authority.find(':').unwrap_or(authority.len());
            (Some(&authority[..end]), &authority[end..])
        }
    };
    let good_host = host.is_none_or(|host| {
        host.eq_ignore_ascii_case("localhost")
            || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
    });
    let good_port = match rest.strip_prefix(':') {
        Some(port) => port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok(),
        None => rest.is_empty(),
    };
    good_host && good_port
}

fn bearer(value: &HeaderValue) -> Option<&str> {
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Compares secrets in constant time, so that the duration does not show how much of the given one
/// is right.
fn same(known: &str, given: &str) -> bool {
    known.len() == given.len()
        && black_box(known.bytes().zip(given.bytes()).fold(0, |all, (a, b)| all | (a ^ b))) == 0
}

/// 256 random bits as text.
pub(crate) fn secret() -> Option<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).ok()?;
    Some(proof::hex(&bytes))
}

#[cfg(test)]
mod tests;
