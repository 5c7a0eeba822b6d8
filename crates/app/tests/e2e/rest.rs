//! Operations at HTTP paths of their own: their answers, guards and rules are those of every other surface.

use std::io::{BufReader, Write as _};

use serde_json::{Value, json};
use testkit::Home;
use testkit::browser::Browser;
use testkit::http::read_response;

use super::home;

const HINT: &str = "/api/hints/http-proxy/build";

fn link(home: &Home) -> String {
    let result = home.run(&["up", "--json"]).json();
    let page = result["page"].as_str().unwrap();
    page[page.find("/?link=").unwrap()..].to_owned()
}

/// @rest_routes
#[test]
fn a_hint_over_rest_is_the_hint_of_every_surface() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    let missing = http.get(HINT);
    assert_eq!((missing.status, &missing.json()["code"]), (404, &json!("not_found")));
    let put = http.send("PUT", HINT, br#"{"value":"make router","meta":{"reason":"why"}}"#);
    assert_eq!((put.status, &put.json()["hint"]["version"]), (200, &json!(1)));
    let name = json!({ "component": "http-proxy", "key": "build" });
    assert_eq!(http.get(HINT).json(), http.rpc("get_hint", &name).unwrap());
    assert_eq!(home.run(&["get", "hint://http-proxy/build"]).ok().trim_end(), "make router");
    let stale = http.send("PUT", HINT, br#"{"value":"x","if_match_version":9}"#);
    assert_eq!((stale.status, &stale.json()["code"]), (409, &json!("conflict")));
    let gone = http.send("DELETE", HINT, b"");
    assert_eq!((gone.status, &gone.json()["removed"]), (200, &json!(1)));
    assert_eq!(http.rpc("get_hint", &name).unwrap_err()["code"], 40401);
}

/// @rest_routes
#[test]
fn the_routes_that_operations_declare_are_the_ones_that_are_served() {
    let home = home();
    let daemon = home.daemon();
    let all = home.run(&["ops", "--json"]).json();
    let mut seen = 0;
    for op in all["operations"].as_array().unwrap() {
        for route in op["rest"].as_array().unwrap() {
            let text = |member: &str| route[member].as_str().unwrap();
            let path = text("path").replace(['{', '}'], "");
            assert!(path.starts_with("/api/"), "{path}");
            let allow = daemon.http().send("OPTIONS", &path, b"");
            let allowed = allow.header("Allow").unwrap_or_default().to_owned();
            assert_eq!(allow.status, 405);
            assert!(allowed.split(", ").any(|verb| verb == text("method")), "{path}: {allowed}");
            assert!(op["tiers"].as_array().unwrap().contains(&json!("client")), "{op}");
            for name in ["query", "body"].iter().flat_map(|place| route[*place].as_array().unwrap())
            {
                let param = name["param"].as_str().unwrap();
                let outer = param.split('.').next().unwrap();
                assert_ne!(op["params_schema"]["properties"][outer], Value::Null, "{param}");
            }
            let people = home.run(&["ops", op["name"].as_str().unwrap()]).ok();
            assert!(people.contains(&format!("{} {}", text("method"), text("path"))), "{people}");
            seen += 1;
        }
    }
    assert!(seen >= 3, "only {seen} routes");
}

/// @rest_is_strict
#[test]
fn a_request_that_a_route_does_not_declare_changes_nothing() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http();
    assert_eq!(http.send("PUT", HINT, br#"{"value":"make"}"#).status, 200);
    for (method, target, body, status) in [
        ("DELETE", "/api/hints/http-proxy/build?scop=%7B%7D", "", 400),
        ("DELETE", "/api/hints/http-proxy/build", r#"{"dry_run":true}"#, 400),
        ("DELETE", "/api/hints/http-proxy/%62uil%", "", 400),
        ("DELETE", "/api/hints/http-proxy/build%2F", "", 404),
        ("DELETE", "/api/hints/http-proxy/%2562uild", "", 404),
        ("DELETE", "/api/hints/http-proxy", "", 404),
        ("DELETE", "/api/hints/x/../http-proxy/build", "", 404),
        ("PUT", HINT, r#"{"value":"x","typed":true}"#, 400),
        ("PATCH", HINT, r#"{"value":"x"}"#, 405),
    ] {
        let answer = http.send(method, target, body.as_bytes());
        assert_eq!(answer.status, status, "{method} {target}: {}", answer.text());
        assert!(answer.json()["error"].is_string() && answer.json()["code"].is_string());
    }
    let hint = http.get("/api/hints/http-proxy/%62uild").json();
    assert_eq!((&hint["hint"]["value"], &hint["hint"]["version"]), (&json!("make"), &json!(1)));
}

/// @cookie_alone_gives_no_access
#[test]
fn the_page_proves_its_rest_requests_too() {
    let home = home();
    let daemon = home.daemon();
    assert_eq!(daemon.http().send("PUT", HINT, br#"{"value":"make"}"#).status, 200);
    let mut page = Browser::open(daemon.port, &link(&home));
    assert_eq!(page.http().get(HINT).status, 401);
    let target = format!("{HINT}?os=linux");
    let proof = page.proof("GET", &target, b"");
    let proved = page.http().with("Rekindle-Proof", &proof);
    assert_eq!(proved.get(HINT).status, 401, "another query");
    let proof = page.proof("GET", &target, b"");
    let proved = page.http().with("Rekindle-Proof", &proof);
    assert_eq!(proved.get(&target).json()["hint"]["value"], "make");
    assert_eq!(proved.send("DELETE", &target, b"").status, 401, "another method");
    let proof = page.proof("DELETE", HINT, b"");
    let proved = page.http().with("Rekindle-Proof", &proof);
    assert_eq!(proved.send("DELETE", HINT, b"{}").status, 401, "another body");
    let proof = page.proof("DELETE", HINT, b"");
    let neighbour = page.http().with("Origin", "http://127.0.0.1:1");
    assert_eq!(neighbour.with("Rekindle-Proof", &proof).send("DELETE", HINT, b"").status, 403);
    assert_eq!(page.http().with("Rekindle-Proof", &proof).send("DELETE", HINT, b"").status, 200);
}

/// @bodies_are_declared_as_json
#[test]
fn a_request_without_a_body_needs_no_content_type_and_may_not_have_that_of_a_form() {
    let home = home();
    let daemon = home.daemon();
    let observe = "/api/sessions/*/observe";
    let status = |path: &str, more: &str, body: &str| {
        let mut stream = daemon.http().connect();
        let head =
            format!("POST {path} HTTP/1.1\r\nConnection: close\r\nHost: localhost\r\n{more}");
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        read_response(&mut BufReader::new(stream)).expect("a response").status
    };
    let token = format!("Authorization: Bearer {}\r\n", daemon.token);
    assert_eq!(status(observe, &token, ""), 200);
    assert_eq!(status(observe, &token, "{}"), 400, "a body is declared");
    let form = format!("{token}Content-Type: text/plain\r\n");
    assert_eq!(status(observe, &form, ""), 400, "the empty form of a web page");
    assert_eq!(status("/rpc", &token, ""), 415);
    let elsewhere = format!("{token}Origin: http://evil.example\r\n");
    assert_eq!(status(observe, &elsewhere, ""), 403);
    assert_eq!(status(observe, "", ""), 401);
}
