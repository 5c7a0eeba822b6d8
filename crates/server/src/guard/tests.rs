//! Hostile hosts, origins, cookies and links against the guard.

use std::time::Duration;

use hyper::Request;
use model::limits;

use super::*;

fn head(method: Method, target: &str, headers: &[(&str, &str)]) -> Parts {
    let mut request = Request::builder().method(method).uri(target);
    for (name, value) in headers {
        request = request.header(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    request.body(()).unwrap().into_parts().0
}

fn place(headers: &[(&str, &str)]) -> bool {
    check_place(&head(Method::GET, "/health", headers)).is_ok()
}

#[test]
fn a_loopback_host_is_accepted() {
    for host in [
        "localhost",
        "LOCALHOST:8765",
        "127.0.0.1",
        "127.0.0.1:8765",
        "127.9.8.7:1",
        "[::1]",
        "[::1]:8765",
        "[0:0:0:0:0:0:0:1]:80",
        "localhost:65535",
        "localhost:0",
    ] {
        assert!(place(&[("host", host)]), "{host}");
    }
}

#[test]
fn any_other_host_is_refused() {
    for host in [
        "",
        " ",
        "evil.com",
        "localhost.evil.com",
        "127.0.0.1.evil.com",
        "evil.com:8765",
        "127.0.0.1.nip.io",
        "localhost.",
        "127.0.0.1.",
        "localhost@evil.com",
        "evil.com@localhost",
        "user:pw@127.0.0.1",
        "localhost:8765@evil.com",
        "localhost:port",
        "localhost:",
        "localhost:-1",
        "localhost:+80",
        "localhost:65536",
        "localhost:80:80",
        "localhost:80/",
        "localhost/evil.com",
        "localhost evil.com",
        "localhost,evil.com",
        "0.0.0.0",
        "0",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "127.0.0.01",
        "128.0.0.1",
        "10.0.0.1",
        "192.168.1.1",
        "::1",
        "[::1",
        "[::1]evil.com",
        "[::1].evil.com",
        "[::1]:",
        "[::1]x:80",
        "[::2]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::1%25lo]",
        "[127.0.0.1]",
        "[localhost]",
        "localhost\u{e9}",
        "\u{ff4c}ocalhost",
        "localhost%00.evil.com",
        "localhost#",
        "localhost?x",
        "http://localhost",
    ] {
        assert!(!place(&[("host", host)]), "{host:?}");
    }
    assert!(!place(&[]), "no Host at all");
    assert!(!place(&[("host", "localhost"), ("host", "localhost")]), "two of them");
    assert!(!place(&[("host", "localhost"), ("host", "evil.com")]));
}

#[test]
fn an_origin_must_be_a_loopback_page() {
    let with = |origin| place(&[("host", "127.0.0.1:8765"), ("origin", origin)]);
    for origin in
        ["http://localhost", "http://127.0.0.1:3000", "https://localhost:8443", "http://[::1]:80"]
    {
        assert!(with(origin), "{origin}");
    }
    for origin in [
        "null",
        "",
        "*",
        "localhost",
        "//localhost",
        "file://",
        "http://",
        "http://evil.com",
        "http://localhost.evil.com",
        "http://127.0.0.1.evil.com",
        "http://localhost@evil.com",
        "http://evil.com@localhost",
        "http://localhost/",
        "http://localhost/x",
        "HTTP://localhost",
        "ftp://localhost",
        "ws://localhost",
        "chrome-extension://localhost",
        "http://localhost http://evil.com",
        "http://localhost, http://evil.com",
        "http:/localhost",
        "javascript://localhost",
    ] {
        assert!(!with(origin), "{origin:?}");
    }
    let two =
        [("host", "localhost"), ("origin", "http://localhost"), ("origin", "http://localhost")];
    assert!(!place(&two));
}

#[test]
fn a_target_that_names_a_server_is_refused() {
    for target in ["http://localhost/health", "http://evil.com/", "localhost:80"] {
        let head = head(Method::GET, target, &[("host", "localhost")]);
        assert_eq!(check_place(&head).map_err(|e| e.code), Err(Code::Forbidden), "{target}");
    }
}

#[test]
fn a_body_is_json_or_refused() {
    let with = |kind| is_json(&head(Method::POST, "/rpc", &[("content-type", kind)]).headers);
    for kind in [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json ;x",
    ] {
        assert!(with(kind), "{kind}");
    }
    for kind in [
        "",
        "text/plain",
        "text/plain; application/json",
        "application/jsonp",
        "application/json, text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/ld+json",
        "json",
    ] {
        assert!(!with(kind), "{kind}");
    }
    assert!(!is_json(&HeaderMap::new()));
}

fn check(auth: &Auth, method: Method, headers: &[(&str, &str)]) -> Result<(), Code> {
    let mut all = vec![("host", "127.0.0.1:8765")];
    all.extend(headers);
    auth.check(&head(method, "/rpc", &all)).map(drop).map_err(|error| error.code)
}

fn auth(token: Option<&str>) -> Auth {
    let browsers = Browsers::new("00c0ffee".into(), None, "http://127.0.0.1:8765", 8765);
    Auth::new(token.map(ToOwned::to_owned), browsers)
}

#[test]
fn only_the_right_token_opens() {
    let auth = auth(Some("s3cret-token"));
    for good in ["Bearer s3cret-token", "bearer s3cret-token", "BEARER  s3cret-token"] {
        assert_eq!(check(&auth, Method::POST, &[("authorization", good)]), Ok(()), "{good}");
    }
    for bad in [
        "",
        "Bearer",
        "Bearer ",
        "s3cret-token",
        "Basic s3cret-token",
        "Bearer s3cret-toke",
        "Bearer s3cret-token2",
        "Bearer S3cret-token",
        "Bearer s3cret-token,",
        "Bearer \u{e9}",
    ] {
        let refused = check(&auth, Method::POST, &[("authorization", bad)]);
        assert_eq!(refused, Err(Code::Unauthenticated), "{bad:?}");
    }
    assert_eq!(check(&auth, Method::GET, &[]), Err(Code::Unauthenticated));
    assert_eq!(
        check(&auth, Method::GET, &[("cookie", "rekindle_8765_00c0ffee=s3cret-token")]),
        Err(Code::Unauthenticated)
    );
    assert_eq!(check(&self::auth(None), Method::POST, &[]), Ok(()));
}

#[test]
fn an_empty_cookie_or_link_opens_nothing() {
    let auth = auth(Some("t"));
    assert_eq!(
        check(&auth, Method::GET, &[("cookie", "rekindle_8765_00c0ffee=")]),
        Err(Code::Unauthenticated)
    );
    assert!(auth.redeem("").is_none());
}

#[test]
fn a_link_opens_once_and_for_ten_minutes() {
    let auth = auth(Some("t"));
    let made = Instant::now();
    let link = auth.browsers.make_link(made);
    assert_ne!(link, auth.browsers.make_link(made));
    let redeem = |link: &str, now| auth.browsers.redeem(link, now).is_some();
    assert!(!redeem("wrong", made));
    assert!(redeem(&link, made));
    assert!(!redeem(&link, made), "used");
    let late = auth.browsers.make_link(made);
    assert!(!redeem(&late, made + limits::LINK_LIFETIME), "too old");
    let in_time = auth.browsers.make_link(made);
    assert!(redeem(&in_time, made + limits::LINK_LIFETIME - Duration::from_millis(1)));
}

#[test]
fn links_are_bounded_and_the_oldest_is_dropped() {
    let auth = auth(Some("t"));
    let first = auth.one_time_link();
    let links: Vec<String> = (0..limits::LINKS_MAX).map(|_| auth.one_time_link()).collect();
    assert!(auth.redeem(&first).is_none());
    assert!(auth.redeem(&links[0]).is_some());
}

/// An authorised browser: its cookie, its key and a challenge.
struct AuthorisedBrowser {
    cookie: String,
    key: String,
    challenge: String,
}

const OWN: (&str, &str) = ("origin", "http://127.0.0.1:8765");

fn authorised(auth: &Auth) -> AuthorisedBrowser {
    let opened = auth.redeem(&auth.one_time_link()).unwrap();
    let cookie = opened.set_cookie.split(';').next().unwrap().to_owned();
    let asks =
        head(Method::POST, "/challenge", &[("host", "127.0.0.1:8765"), OWN, ("cookie", &cookie)]);
    let given =
        serde_json::to_value(auth.challenge(&asks.headers, Some(&opened.code)).unwrap()).unwrap();
    assert!(auth.challenge(&asks.headers, Some(&opened.code)).is_err(), "the key is given once");
    let text = |name: &str| given[name].as_str().unwrap().to_owned();
    AuthorisedBrowser { key: text("key"), challenge: text("challenge"), cookie }
}

impl AuthorisedBrowser {
    fn proof(&self, counter: u64, method: &str) -> String {
        testkit::browser::sign(&self.key, &self.challenge, counter, (method, "/rpc"), b"")
    }
}

#[test]
fn a_proof_counts_once_and_only_for_the_pages_own_requests() {
    let auth = auth(Some("t"));
    let browser = authorised(&auth);
    let cookies = format!("other=1; {}; last=2", browser.cookie);
    let cookie = ("cookie", cookies.as_str());
    for method in [Method::GET, Method::POST] {
        let alone = check(&auth, method.clone(), &[cookie, OWN]);
        assert_eq!(alone, Err(Code::Unauthenticated), "the cookie alone");
    }
    let proof = browser.proof(1, "POST");
    let sent = [cookie, OWN, ("rekindle-proof", proof.as_str())];
    assert_eq!(check(&auth, Method::GET, &sent), Err(Code::Unauthenticated), "another method");
    assert_eq!(check(&auth, Method::POST, &sent), Ok(()));
    assert_eq!(check(&auth, Method::POST, &sent), Err(Code::Unauthenticated), "a replay");
    let offered = format!("rekindle, proof.{}", browser.proof(2, "GET"));
    let upgrade =
        [cookie, OWN, ("upgrade", "websocket"), ("sec-websocket-protocol", offered.as_str())];
    assert_eq!(check(&auth, Method::GET, &upgrade), Ok(()), "a WebSocket");
    for (counter, other) in (10..).zip([
        "http://127.0.0.1:3000",
        "http://localhost:8765",
        "http://127.0.0.1",
        "http://[::1]:8765",
    ]) {
        let proof = browser.proof(counter, "POST");
        let sent = [cookie, ("origin", other), ("rekindle-proof", proof.as_str())];
        assert_eq!(check(&auth, Method::POST, &sent), Err(Code::Forbidden), "{other}");
    }
    let proof = browser.proof(20, "POST");
    let no_origin = [cookie, ("rekindle-proof", proof.as_str())];
    assert_eq!(check(&auth, Method::POST, &no_origin), Err(Code::Forbidden));
    let wrong = ("cookie", "rekindle_8765_00c0ffee=00; xrekindle_8765_00c0ffee=1");
    let sent = [wrong, OWN, ("rekindle-proof", proof.as_str())];
    assert_eq!(check(&auth, Method::POST, &sent), Err(Code::Unauthenticated), "another cookie");
}

#[test]
fn a_proof_of_another_browser_or_another_challenge_is_refused() {
    let auth = auth(Some("t"));
    let (one, two) = (authorised(&auth), authorised(&auth));
    let mixed = [
        testkit::browser::sign(&two.key, &one.challenge, 1, ("POST", "/rpc"), b""),
        testkit::browser::sign(&one.key, &two.challenge, 1, ("POST", "/rpc"), b""),
        testkit::browser::sign(&one.key, &"0".repeat(64), 1, ("POST", "/rpc"), b""),
        two.proof(1, "POST"),
        String::new(),
        "x".to_owned(),
    ];
    for proof in mixed {
        let sent = [("cookie", one.cookie.as_str()), OWN, ("rekindle-proof", proof.as_str())];
        assert_eq!(check(&auth, Method::POST, &sent), Err(Code::Unauthenticated), "{proof}");
    }
}

#[test]
fn a_link_at_localhost_redirects_to_the_address() {
    let auth = auth(Some("t"));
    let address = |host| auth.browsers.address_for(Some(host));
    assert_eq!(address("localhost:8765"), Some("http://127.0.0.1:8765"));
    assert_eq!(address("LocalHost:8765"), Some("http://127.0.0.1:8765"));
    for host in ["127.0.0.1:8765", "localhost:9000", "localhost"] {
        assert_eq!(address(host), None, "{host}");
    }
}

#[test]
fn a_refusal_says_how_to_get_in_and_no_secret() {
    let auth = auth(Some("s3cret-token"));
    let error = auth.check(&head(Method::GET, "/rpc", &[])).unwrap_err();
    let text = error.to_wire().to_string();
    assert!(text.contains("rekindle up") && text.contains("`token`"), "{text}");
    assert!(!text.contains("s3cret") && !text.contains('/'), "{text}");
}
