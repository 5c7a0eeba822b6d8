//! Hostile hosts, origins, cookies and links against the guard.

use hyper::Request;

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
fn a_loopback_host_is_let_in() {
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
    auth.check(&head(method, "/rpc", &all)).map_err(|error| error.code)
}

#[test]
fn only_the_right_token_opens() {
    let auth = Auth::new(Some("s3cret-token".into()));
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
        check(&auth, Method::GET, &[("cookie", "rekindle_session=s3cret-token")]),
        Err(Code::Unauthenticated)
    );
    assert_eq!(check(&Auth::new(None), Method::POST, &[]), Ok(()));
}

#[test]
fn an_empty_cookie_or_link_opens_nothing() {
    let auth = Auth::new(Some("t".into()));
    assert_eq!(
        check(&auth, Method::GET, &[("cookie", "rekindle_session=")]),
        Err(Code::Unauthenticated)
    );
    assert_eq!(auth.redeem(""), None);
}

#[test]
fn a_link_opens_once_and_for_ten_minutes() {
    let auth = Auth::new(Some("t".into()));
    let made = Instant::now();
    let link = auth.link_made_at(made);
    assert_ne!(link, auth.link_made_at(made));
    assert!(auth.redeem_at("wrong", made).is_none());
    assert!(auth.redeem_at(&link, made).is_some());
    assert!(auth.redeem_at(&link, made).is_none(), "used");
    let late = auth.link_made_at(made);
    assert!(auth.redeem_at(&late, made + limits::LINK_LIFETIME).is_none(), "too old");
    let in_time = auth.link_made_at(made);
    assert!(
        auth.redeem_at(
            &in_time,
            made + limits::LINK_LIFETIME - std::time::Duration::from_millis(1)
        )
        .is_some()
    );
}

#[test]
fn links_and_sessions_are_bounded_and_the_oldest_goes() {
    let auth = Auth::new(Some("t".into()));
    let first = auth.one_time_link();
    let links: Vec<String> = (0..limits::LINKS_MAX).map(|_| auth.one_time_link()).collect();
    assert!(auth.redeem(&first).is_none());
    assert!(auth.redeem(&links[0]).is_some());
}

#[test]
fn the_cookie_counts_only_for_the_pages_own_requests() {
    let auth = Auth::new(Some("t".into()));
    let session = auth.redeem(&auth.one_time_link()).unwrap();
    let cookie = format!("other=1; rekindle_session={session}; last=2");
    let cookie = ("cookie", cookie.as_str());
    let own = ("origin", "http://127.0.0.1:8765");
    assert_eq!(check(&auth, Method::GET, &[cookie]), Ok(()));
    assert_eq!(check(&auth, Method::POST, &[cookie, own]), Ok(()));
    assert_eq!(check(&auth, Method::GET, &[cookie, own, ("upgrade", "websocket")]), Ok(()));
    assert_eq!(check(&auth, Method::POST, &[cookie]), Err(Code::Forbidden), "no origin");
    assert_eq!(
        check(&auth, Method::GET, &[cookie, ("upgrade", "websocket")]),
        Err(Code::Forbidden)
    );
    for other in
        ["http://127.0.0.1:3000", "http://localhost:8765", "http://127.0.0.1", "http://[::1]:8765"]
    {
        let other = ("origin", other);
        assert_eq!(check(&auth, Method::POST, &[cookie, other]), Err(Code::Forbidden), "{other:?}");
        assert_eq!(check(&auth, Method::GET, &[cookie, other]), Err(Code::Forbidden), "{other:?}");
    }
    let wrong = ("cookie", "rekindle_session=00; xrekindle_session=1");
    assert_eq!(check(&auth, Method::POST, &[wrong, own]), Err(Code::Unauthenticated));
}

#[test]
fn a_refusal_says_how_to_get_in_and_no_secret() {
    let auth = Auth::new(Some("s3cret-token".into()));
    let error = auth.check(&head(Method::GET, "/rpc", &[])).unwrap_err();
    let text = error.to_wire().to_string();
    assert!(text.contains("rekindle up") && text.contains("`token`"), "{text}");
    assert!(!text.contains("s3cret") && !text.contains('/'), "{text}");
}
