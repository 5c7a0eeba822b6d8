//! REST routes through a real socket: methods, mapping, refusals.

use std::time::{Duration, Instant};

use contract::{Access, Cx, Op, OpInfo, Operation, Plugin, RestMethod, RestRoute};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;

const HINT: &str = "/api/hints/web/build";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RenameParams {
    id: u32,
    #[serde(default)]
    label: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct RenameOutput {
    id: u32,
    label: Option<String>,
    tier: String,
}

/// An operation that is called by PATCH.
struct Rename;

impl Op for Rename {
    const INFO: OpInfo = OpInfo {
        name: "rename_box",
        access: Access::Write { destructive: false, idempotent: true },
        rest: &[RestRoute::new(RestMethod::Patch, "/api/boxes/{id}").body(&[("newLabel", "label")])],
        ..OpInfo::BASE
    };
    type Params = RenameParams;
    type Output = RenameOutput;

    fn run(&self, cx: &Cx<'_>, params: RenameParams) -> Result<RenameOutput, OpError> {
        let RenameParams { id, label } = params;
        Ok(RenameOutput { id, label, tier: format!("{:?}", cx.caller.tier) })
    }
}

/// An operation that clients may not call.
struct AgentsOnly;

impl Op for AgentsOnly {
    const INFO: OpInfo = OpInfo {
        name: "agents_only",
        tiers: &[Tier::Agent],
        rest: &[RestRoute::new(RestMethod::Get, "/api/boxes")],
        ..OpInfo::BASE
    };
    type Params = serde_json::Map<String, Value>;
    type Output = serde_json::Map<String, Value>;

    fn run(&self, _: &Cx<'_>, params: Self::Params) -> Result<Self::Output, OpError> {
        Ok(params)
    }
}

struct BoxesPlugin;

impl Plugin for BoxesPlugin {
    fn name(&self) -> &'static str {
        "boxes"
    }

    fn operations(&self) -> Vec<Operation> {
        vec![Operation::new(Rename), Operation::new(AgentsOnly)]
    }
}

async fn server() -> TestServer {
    TestServer::over(HintsHome::with_plugin(Arc::new(BoxesPlugin)), limits::CONNECTIONS_MAX).await
}

/// @rest_routes
#[tokio::test]
async fn a_hint_is_written_read_and_deleted_by_its_path() {
    let server = server().await;
    let missing = server.ask("GET", HINT, &[], "").await;
    assert_eq!((missing.status, missing.word().as_str()), (404, "not_found"));
    let body = r#"{"value":"make","meta":{"scope":{"os":["linux"]}}}"#;
    let put = server.ask("PUT", HINT, &[], body).await;
    assert_eq!((put.status, &put.json()["hint"]["version"]), (200, &json!(1)));
    let got = server.ask("GET", &format!("{HINT}?os=linux"), &[], "").await;
    let called = r#"{"jsonrpc":"2.0","id":1,"method":"get_hint",
        "params":{"component":"web","key":"build","context":{"os":"linux"}}}"#;
    let called = server.ask("POST", "/rpc", &[], called).await;
    assert_eq!(got.json()["hint"], called.json()["result"]["hint"]);
    assert_eq!(got.json()["hint"]["value"], "make");
    assert_eq!(got.headers["cache-control"], "no-store");
    let elsewhere = server.ask("GET", &format!("{HINT}?os=darwin"), &[], "").await;
    assert_eq!(elsewhere.json()["hint"], Value::Null);
    let head = server.ask("HEAD", HINT, &[], "").await;
    assert_eq!((head.status, head.headers["content-type"].as_str()), (200, "application/json"));
    let other = server.ask("DELETE", &format!("{HINT}?scope=%7B%7D"), &[], "").await;
    assert_eq!(other.status, 404, "no hint has this scope: {}", other.body);
    let gone = server.ask("DELETE", HINT, &[], "").await;
    assert_eq!((gone.status, &gone.json()["deleted"]), (200, &json!(true)));
    assert_eq!(server.ask("GET", HINT, &[], "").await.status, 404);
}

#[tokio::test]
async fn a_plugins_route_is_served_with_its_own_names_and_types() {
    let server = server().await;
    let patched = server.ask("PATCH", "/api/boxes/7", &[], r#"{"newLabel":"blue"}"#).await;
    assert_eq!(patched.status, 200, "{}", patched.body);
    assert_eq!(patched.json(), json!({ "id": 7, "label": "blue", "tier": "Client" }));
    let bad = server.ask("PATCH", "/api/boxes/x", &[], "{}").await;
    assert_eq!((bad.status, bad.word().as_str()), (400, "invalid"));
    let forbidden = server.ask("GET", "/api/boxes", &[], "").await;
    assert_eq!((forbidden.status, forbidden.word().as_str()), (403, "forbidden"));
}

/// @rest_is_strict
#[tokio::test]
async fn undeclared_methods_and_parameters_are_refused_in_json() {
    let server = server().await;
    for (method, path, body, status) in [
        ("GET", "/api/hints/web/build?colour=red", "", 400),
        ("GET", "/api/hints/web/build?os=linux&os=linux", "", 400),
        ("GET", "/api/hints/web/%zz", "", 400),
        ("GET", "/api/hints/web/build", r#"{"os":"linux"}"#, 400),
        ("DELETE", "/api/hints/web/build?scope=x", "", 400),
        ("PUT", "/api/hints/web/build", "", 400),
        ("PUT", "/api/hints/web/build", "[]", 400),
        ("PUT", "/api/hints/web/build", "{", 400),
        // A parameter of the operation, but not of the route.
        ("PUT", "/api/hints/web/build", r#"{"value":"x","typed":true}"#, 400),
        ("PUT", "/api/hints/web/build", r#"{"value":"x","key":"other"}"#, 400),
        ("PUT", "/api/hints/web/build?value=x", "{}", 400),
        ("PUT", "/api/hints/web/a%00b", r#"{"value":"x"}"#, 400),
        ("GET", "/api/hints/web", "", 404),
        ("GET", "/api/hints/web/", "", 400),
        ("GET", "/api/hints/web/build/", "", 404),
        ("GET", "/api/hints/web/..", "", 400),
        ("GET", "/api/hints/%2e%2e/build", "", 400),
        ("GET", "/api/nothing", "", 404),
        ("POST", "/api/hints/web/build", "{}", 405),
        ("OPTIONS", "/api/hints/web/build", "", 405),
    ] {
        let reply = server.ask(method, path, &[], body).await;
        assert_eq!(reply.status, status, "{method} {path} {body}: {}", reply.body);
        let told = reply.json();
        assert!(told["error"].is_string() && told["code"].is_string(), "{told}");
        if status == 405 {
            assert_eq!(reply.headers["allow"], "GET, HEAD, PUT, DELETE");
        }
    }
    let large = "x".repeat(limits::REQUEST_BYTES_MAX);
    let large = server.ask("PUT", HINT, &[], &format!(r#"{{"value":"{large}"}}"#)).await;
    assert_eq!((large.status, large.word().as_str()), (413, "too_large"));
    // A length that is too large is refused before the body arrives, also where there is no such method.
    let length = limits::REQUEST_BYTES_MAX + (1 << 20);
    for (line, status) in [("PUT /api/hints/web/build", 413), ("POST /api/hints/web/build", 405)] {
        let head = format!(
            "{line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        let mut fastest = Duration::MAX;
        for _ in 0..3 {
            let mut client = server.connect().await;
            let sent = Instant::now();
            client.send(&head).await;
            let refused = client.reply().await;
            assert_eq!(refused.status, status, "{line}: {}", refused.body);
            assert!(refused.json()["error"].is_string() && refused.json()["code"].is_string());
            fastest = fastest.min(sent.elapsed());
        }
        assert!(fastest < limits::BODY_DISCARD, "{line}: the body was waited for: {fastest:?}");
    }
    let listed = r#"{"jsonrpc":"2.0","id":1,"method":"list_components"}"#;
    let listed = server.ask("POST", "/rpc", &[], listed).await.json();
    assert_eq!(listed["result"]["components"], json!([]), "nothing was written");
}

/// @rest_is_strict
#[tokio::test]
async fn an_id_in_a_path_is_decoded_once() {
    let server = server().await;
    for (path, key) in [
        ("/api/hints/web/a%2Fb", "a/b"),
        ("/api/hints/web/a%252Fb", "a%2Fb"),
        ("/api/hints/web/a+b%3F", "a+b?"),
        ("/api/hints/web/%C3%A4", "ä"),
    ] {
        assert_eq!(
            server.ask("POST", "/rpc", &[], &set_hint(1, key).to_string()).await.status,
            200
        );
        let got = server.ask("GET", path, &[], "").await.json();
        assert_eq!(got["hint"]["value"], format!("make {key}"), "{path}");
    }
}

/// @bodies_are_declared_as_json
#[tokio::test]
async fn a_body_of_a_route_has_to_be_declared_as_json() {
    let server = server().await;
    let token = format!("Authorization: Bearer {TOKEN}");
    let hint = |method, kind: &'static str, body: &'static str| {
        let headers = ["Host: localhost".to_owned(), token.clone(), kind.to_owned()];
        let server = &server;
        async move {
            let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
            server.ask_bare(method, HINT, &headers, body).await.status
        }
    };
    for kind in ["Content-Type: text/plain", "X-None: 1"] {
        for method in ["GET", "PUT", "DELETE"] {
            assert_eq!(hint(method, kind, r#"{"value":"x"}"#).await, 400, "{method} {kind}");
        }
        assert_eq!(hint("PUT", kind, "").await, 400, "an empty body of {kind}");
        assert_eq!(hint("GET", kind, "").await, 404, "without a body nothing is declared");
        assert_eq!(hint("DELETE", kind, "").await, 404, "without a body nothing is declared");
    }
}

#[tokio::test]
async fn a_call_id_makes_a_repeated_put_harmless() {
    let server = server().await;
    let id = "Rekindle-Call-Id: 000102030405060708090a0b0c0d0e0f";
    let first = server.ask("PUT", HINT, &[id], r#"{"value":"x"}"#).await;
    let second = server.ask("PUT", HINT, &[id], r#"{"value":"x"}"#).await;
    assert_eq!((second.status, &second.body), (200, &first.body));
    let bad = server.ask("PUT", HINT, &["Rekindle-Call-Id: 1"], r#"{"value":"x"}"#).await;
    assert_eq!((bad.status, bad.word().as_str()), (400, "invalid"));
}
