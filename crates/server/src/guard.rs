//! Who may come in: Host, Origin, content type, token, cookie and one-time link. Closed by default.
//!
//! The checks are pure over the request's head; which of them a path needs is decided in `http`.

use std::collections::VecDeque;
use std::hint::black_box;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Uri};
use model::{Code, OpError, limits};

/// The cookie that the page's requests carry.
pub(crate) const COOKIE: &str = "rekindle_session";

/// What opens the door: the token, browser sessions, and links that make one.
pub struct Auth {
    /// None: `--no-auth`.
    token: Option<String>,
    browser: Mutex<Browser>,
}

#[derive(Default)]
struct Browser {
    links: VecDeque<(String, Instant)>,
    sessions: VecDeque<String>,
}

impl Auth {
    /// Checks for this token; none lets everybody in who passes the origin and host checks.
    pub fn new(token: Option<String>) -> Auth {
        Auth { token, browser: Mutex::default() }
    }

    /// The secret part of `/?link=…`: it opens the page once, within ten minutes.
    pub fn one_time_link(&self) -> String {
        self.link_made_at(Instant::now())
    }

    fn link_made_at(&self, now: Instant) -> String {
        // A system without randomness gets a link that opens nothing.
        let Some(link) = secret() else { return String::new() };
        let mut browser = self.browser.lock().unwrap_or_else(PoisonError::into_inner);
        push_bounded(&mut browser.links, (link.clone(), now));
        link
    }

    /// Uses up a link and gives the secret of a new browser session for its cookie.
    pub(crate) fn redeem(&self, link: &str) -> Option<String> {
        self.redeem_at(link, Instant::now())
    }

    fn redeem_at(&self, link: &str, now: Instant) -> Option<String> {
        let mut browser = self.browser.lock().unwrap_or_else(PoisonError::into_inner);
        browser
            .links
            .retain(|(_, made)| now.saturating_duration_since(*made) < limits::LINK_LIFETIME);
        let place = browser.links.iter().position(|(known, _)| same(known, link))?;
        browser.links.remove(place);
        let session = secret()?;
        push_bounded(&mut browser.sessions, session.clone());
        Some(session)
    }

    /// Whether the page may show what runs: no token is asked for, or the cookie is good.
    pub(crate) fn knows_browser(&self, headers: &HeaderMap) -> bool {
        self.token.is_none() || self.has_session(headers)
    }

    /// `unauthenticated` unless the request carries the token, or the page's cookie and comes
    /// from the page.
    pub(crate) fn check(&self, head: &Parts) -> Result<(), OpError> {
        let Some(token) = &self.token else { return Ok(()) };
        if let Some(given) = head.headers.get(header::AUTHORIZATION) {
            return match bearer(given) {
                Some(given) if same(token, given) => Ok(()),
                _ => Err(unauthenticated("the token is wrong")),
            };
        }
        if !self.has_session(&head.headers) {
            return Err(unauthenticated("a token is needed"));
        }
        if comes_from_our_page(head) {
            return Ok(());
        }
        Err(OpError::new(Code::Forbidden, "the cookie counts only for the page's own requests")
            .hint("Programs send `Authorization: Bearer` with the token instead."))
    }

    fn has_session(&self, headers: &HeaderMap) -> bool {
        let browser = self.browser.lock().unwrap_or_else(PoisonError::into_inner);
        cookies(headers).any(|given| browser.sessions.iter().any(|known| same(known, given)))
    }
}

fn unauthenticated(message: &str) -> OpError {
    OpError::new(Code::Unauthenticated, message).hint(
        "`rekindle up` prints a link that opens the page; programs send `Authorization: Bearer` \
         with the text of the file `token` in the data directory.",
    )
}

/// Host and Origin, on every request and verb: both must be this machine's loopback.
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
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// What stands between `http(s)://` and the end of an Origin.
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

/// The values of our cookie.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}

/// Compares secrets in a time that does not tell how much of them is right.
fn same(known: &str, given: &str) -> bool {
    known.len() == given.len()
        && black_box(known.bytes().zip(given.bytes()).fold(0, |all, (a, b)| all | (a ^ b))) == 0
}

/// 256 random bits as text.
fn secret() -> Option<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn push_bounded<T>(queue: &mut VecDeque<T>, item: T) {
    if queue.len() >= limits::LINKS_MAX {
        queue.pop_front();
    }
    queue.push_back(item);
}

#[cfg(test)]
mod tests;
