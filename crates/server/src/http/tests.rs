//! The HTTP server through a real TCP socket: access, verbs, limits, eviction, the page. Streams are in `streams`.

mod assets;
mod rest;
mod streams;

use std::collections::HashMap;
use std::time::Instant;

use model::limits;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::task::JoinHandle;

use super::*;
use crate::rpc::tests::{HintsHome, get_hint, set_hint};

const TOKEN: &str = "the-token";

/// An HTTP server on a port of its own.
struct TestServer {
    home: HintsHome,
    face: Arc<Face>,
    address: std::net::SocketAddr,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

impl TestServer {
    async fn new() -> TestServer {
        TestServer::with(limits::CONNECTIONS_MAX, &[]).await
    }

    async fn with(connections: usize, settings: &[(&str, &str)]) -> TestServer {
        TestServer::over(HintsHome::with(settings), connections).await
    }

    async fn over(home: HintsHome, connections: usize) -> TestServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let own = format!("http://{address}");
        let browsers = guard::Browsers::new("00c0ffee".into(), None, &own, address.port());
        let face = Arc::new(Face {
            runtime: home.runtime.clone(),
            mcp: mcp::McpServer::new(home.runtime.clone()),
            connections: Connections::new(connections),
            auth: guard::Auth::new(Some(TOKEN.to_owned()), browsers),
            port: address.port(),
            started_at: 0,
        });
        let (stop, stopping) = watch::channel(false);
        let serving = tasks::spawn("test", serve(listener, face.clone(), stopping));
        TestServer { home, face, address, stop, serving }
    }

    async fn connect(&self) -> TestClient {
        TestClient(BufReader::new(TcpStream::connect(self.address).await.unwrap()))
    }

    /// Sends one request with the token on a new connection.
    async fn ask(&self, method: &str, path: &str, headers: &[&str], body: &str) -> HttpReply {
        let token = format!("Authorization: Bearer {TOKEN}");
        let mut all = vec!["Host: localhost", "Content-Type: application/json", &token];
        all.extend(headers);
        self.connect().await.ask(method, path, &all, body).await
    }

    /// Sends one request with these headers only: no token, no `Host`.
    async fn ask_bare(&self, method: &str, path: &str, headers: &[&str], body: &str) -> HttpReply {
        self.connect().await.ask(method, path, headers, body).await
    }
}

struct TestClient(BufReader<TcpStream>);

struct HttpReply {
    status: u16,
    headers: HashMap<String, String>,
    body: String,
}

impl HttpReply {
    fn json(&self) -> Value {
        assert_eq!(self.headers["content-type"], "application/json", "{}", self.body);
        serde_json::from_str(&self.body).unwrap()
    }

    fn word(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }
}

impl TestClient {
    async fn send(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.unwrap();
    }

    async fn ask(&mut self, method: &str, path: &str, headers: &[&str], body: &str) -> HttpReply {
        let mut lines = headers.join("\r\n");
        if !lines.is_empty() {
            lines.push_str("\r\n");
        }
        let length = body.len();
        self.send(&format!(
            "{method} {path} HTTP/1.1\r\n{lines}Content-Length: {length}\r\n\r\n{body}"
        ))
        .await;
        if method != "HEAD" {
            return self.reply().await;
        }
        let (status, headers) = self.head().await.expect("an answer");
        HttpReply { status, headers, body: String::new() }
    }

    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).await;
        (read.ok()? > 0).then(|| line.trim_end().to_owned())
    }

    async fn head(&mut self) -> Option<(u16, HashMap<String, String>)> {
        let status = self.line().await?.split(' ').nth(1)?.parse().ok()?;
        let mut headers = HashMap::new();
        while let Some((name, value)) = self.line().await?.split_once(": ") {
            headers.insert(name.to_owned(), value.to_owned());
        }
        Some((status, headers))
    }

    async fn reply(&mut self) -> HttpReply {
        let (status, headers) = self.head().await.expect("an answer");
        let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).await.unwrap();
        HttpReply { status, headers, body: String::from_utf8(body).unwrap() }
    }

    /// Everything that arrives until the other side closes.
    async fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        // A reset counts as the end, too.
        let _ = self.0.read_to_end(&mut rest).await;
        String::from_utf8_lossy(&rest).into_owned()
    }
}

#[tokio::test]
async fn one_connection_carries_many_calls() {
    let server = TestServer::new().await;
    let mut client = server.connect().await;
    let token = format!("Authorization: Bearer {TOKEN}");
    let headers = ["Host: 127.0.0.1:1", "Content-Type: application/json; charset=utf-8", &token];
    for path in ["/rpc", "/"] {
        let set = client.ask("POST", path, &headers, &set_hint(1, path).to_string()).await;
        assert_eq!((set.status, &set.json()["result"]["hint"]["version"]), (200, &json!(1)));
        let got = client.ask("POST", path, &headers, &get_hint(2, path).to_string()).await;
        assert_eq!(got.json()["result"]["hint"]["value"], format!("make {path}"));
    }
    assert_eq!(server.face.connections.open(), 1);
}

#[tokio::test]
async fn health_needs_no_token_and_names_the_server() {
    let server = TestServer::new().await;
    let reply = server.ask_bare("GET", "/health", &["Host: localhost"], "").await;
    let health = reply.json();
    assert_eq!(reply.status, 200);
    assert_eq!(health["status"], "healthy");
    assert_eq!(health["server"], "rekindle");
    assert_eq!(health["pid"], std::process::id());
    assert_eq!(health["version"], env!("CARGO_PKG_VERSION"));
}

#[tokio::test]
async fn every_path_and_verb_refuses_a_foreign_host_and_origin() {
    let server = TestServer::new().await;
    let paths = [
        "/",
        "/health",
        "/rpc",
        "/mcp",
        "/sse",
        "/messages",
        "/ws",
        "/api/events",
        "/hook/Stop",
        "/session.js",
        "/api/hints/web/build",
        "/none",
    ];
    for path in paths {
        for method in ["GET", "POST", "OPTIONS", "DELETE", "PUT"] {
            let rebound = server.ask_bare(method, path, &["Host: evil.com"], "").await;
            let foreign = ["Host: localhost", "Origin: http://evil.com"];
            let foreign = server.ask_bare(method, path, &foreign, "").await;
            assert_eq!((rebound.status, foreign.status), (403, 403), "{method} {path}");
        }
    }
    let spoken = server.ask_bare("POST", "/rpc", &["Host: evil.com"], "{}").await;
    assert_eq!(spoken.json()["error"]["code"], 40301);
    assert_eq!(server.ask_bare("GET", "/none", &["Host: evil.com"], "").await.word(), "forbidden");
}

#[tokio::test]
async fn without_the_token_nothing_but_health_and_page_is_open() {
    let server = TestServer::new().await;
    let host = ["Host: localhost", "Content-Type: application/json"];
    for (method, path) in [
        ("POST", "/"),
        ("POST", "/rpc"),
        ("GET", "/rpc"),
        ("POST", "/mcp"),
        ("GET", "/mcp"),
        ("DELETE", "/mcp"),
        ("GET", "/sse"),
        ("POST", "/messages"),
        ("GET", "/ws"),
        ("GET", "/api/events"),
        ("POST", "/hook/Stop"),
        ("GET", "/api/hints/web/build"),
        ("DELETE", "/api/hints/web/build"),
        ("GET", "/none"),
        ("PUT", "/"),
    ] {
        let reply = server.ask_bare(method, path, &host, "{}").await;
        assert_eq!(reply.status, 401, "{method} {path}");
        assert_eq!(reply.headers["www-authenticate"], "Bearer");
        let told = reply.json().to_string();
        assert!(told.contains("rekindle up") && !told.contains(TOKEN), "{told}");
    }
    for path in ["/", "/health", "/style.css", "/session.js"] {
        assert_eq!(server.ask_bare("GET", path, &host[..1], "").await.status, 200, "{path}");
        assert_eq!(server.ask_bare("OPTIONS", path, &host[..1], "").await.status, 405, "{path}");
    }
}

#[tokio::test]
async fn unknown_paths_and_verbs_are_answered_in_json_and_without_cors() {
    let server = TestServer::new().await;
    for path in
        ["/nope", "/rpc/", "/health/x", "/hook", "/hook/", "/hook/a/b", "//", "/%2e%2e/token"]
    {
        let reply = server.ask("GET", path, &[], "").await;
        assert_eq!((reply.status, reply.word().as_str()), (404, "not_found"), "{path}");
    }
    for (method, path, allow) in [
        ("GET", "/rpc", "POST"),
        ("PUT", "/", "GET, HEAD, POST"),
        ("POST", "/health", "GET, HEAD"),
        ("OPTIONS", "/rpc", "POST"),
        ("OPTIONS", "/mcp", "GET, POST, DELETE"),
        ("DELETE", "/ws", "GET"),
    ] {
        let reply = server.ask(method, path, &["Origin: http://localhost"], "").await;
        assert_eq!(
            (reply.status, reply.headers["allow"].as_str()),
            (405, allow),
            "{method} {path}"
        );
        assert!(reply.json()["error"].is_string());
        assert!(!reply.headers.keys().any(|name| name.starts_with("access-control")));
    }
}

#[tokio::test]
async fn an_unknown_path_is_a_page_for_a_browser_and_json_for_a_program() {
    let server = TestServer::new().await;
    let browser = ["Host: localhost", "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"];
    for path in ["/nonsense", "/view/%3Cb%3Etimeline", "/rpc/"] {
        let reply = server.ask_bare("GET", path, &browser, "").await;
        assert_eq!(reply.status, 404, "{path}");
        assert_eq!(reply.headers["content-type"], "text/html; charset=utf-8");
        assert!(reply.headers["content-security-policy"].contains("default-src 'none'"));
        assert!(reply.body.contains("no such page") && !reply.body.contains(path), "{path}");
    }
    for accept in ["Accept: */*", "Accept: application/json", "X-None: 1"] {
        let reply = server.ask_bare("GET", "/nonsense", &["Host: localhost", accept], "").await;
        assert_eq!((reply.status, reply.word().as_str()), (401, "unauthenticated"), "{accept}");
    }
    for (method, path) in [("POST", "/nonsense"), ("GET", "/sse"), ("GET", "/api/events")] {
        assert_eq!(server.ask_bare(method, path, &browser, "").await.status, 401, "{path}");
    }
    let foreign = server.ask_bare("GET", "/nonsense", &["Host: evil.com", browser[1]], "").await;
    assert_eq!(foreign.word(), "forbidden");
}

#[tokio::test]
async fn a_body_of_another_kind_is_refused_in_the_paths_own_form() {
    let server = TestServer::new().await;
    let token = format!("Authorization: Bearer {TOKEN}");
    for kind in ["Content-Type: text/plain", "X-None: 1"] {
        for path in ["/rpc", "/", "/mcp"] {
            let reply =
                server.ask_bare("POST", path, &["Host: localhost", &token, kind], "{}").await;
            assert_eq!(reply.status, 415, "{path}");
            assert_eq!(
                (&reply.json()["jsonrpc"], &reply.json()["id"]),
                (&json!("2.0"), &Value::Null)
            );
        }
        let hook =
            server.ask_bare("POST", "/hook/Stop", &["Host: localhost", &token, kind], "{}").await;
        assert_eq!((hook.status, hook.word().as_str()), (415, "invalid"));
    }
}

#[tokio::test]
async fn statuses_follow_the_table() {
    let server = TestServer::new().await;
    let note = r#"{"jsonrpc":"2.0","method":"status"}"#;
    for (body, status) in [
        ("{", 400),
        ("[]", 400),
        ("1", 400),
        (r#"{"id":1}"#, 400),
        ("\u{0}", 400),
        (note, 202),
        (r#"{"jsonrpc":"2.0","id":1,"method":"nope"}"#, 200),
        (r#"[1]"#, 200),
    ] {
        assert_eq!(server.ask("POST", "/rpc", &[], body).await.status, status, "{body}");
    }
    assert_eq!(server.ask("POST", "/rpc", &[], note).await.body, "");
}

#[tokio::test]
async fn a_call_id_in_the_header_makes_a_repeat_harmless() {
    let server = TestServer::new().await;
    let id = "Rekindle-Call-Id: 000102030405060708090a0b0c0d0e0f";
    let body = set_hint(1, "once").to_string();
    let first = server.ask("POST", "/rpc", &[id], &body).await;
    let second = server.ask("POST", "/rpc", &[id], &body).await;
    assert_eq!(first.body, second.body);
    assert_eq!(second.json()["result"]["hint"]["version"], 1);
    let bad = server.ask("POST", "/rpc", &["Rekindle-Call-Id: 12"], &body).await;
    assert_eq!((bad.status, bad.json()["error"]["code"].as_i64()), (400, Some(40001)));
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_and_its_sender_reads_the_limit() {
    let server = TestServer::new().await;
    let body = "x".repeat(limits::BODY_BYTES_MAX + 1);
    for path in ["/rpc", "/mcp"] {
        let reply = server.ask("POST", path, &[], &body).await;
        assert_eq!(reply.status, 413);
        assert_eq!(reply.json()["error"]["code"], 41301);
        assert_eq!(reply.json()["error"]["data"]["max"], limits::BODY_BYTES_MAX);
    }
    let hook = server.ask("POST", "/hook/Stop", &[], &body).await;
    assert_eq!((hook.status, hook.word().as_str()), (413, "too_large"));
    let mut client = server.connect().await;
    let head = format!(
        "POST /rpc HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    );
    client.send(&head).await;
    assert_eq!(client.reply().await.status, 413);
}

#[tokio::test]
async fn an_announced_length_over_the_limit_is_refused_before_the_body_arrives() {
    let server = TestServer::new().await;
    let length = limits::BODY_BYTES_MAX + 1;
    let head = format!(
        "POST /rpc HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    let mut fastest = Duration::MAX;
    for _ in 0..5 {
        let mut client = server.connect().await;
        let sent = Instant::now();
        client.send(&head).await;
        assert_eq!(client.reply().await.status, 413);
        fastest = fastest.min(sent.elapsed());
    }
    assert!(fastest < limits::BODY_DISCARD, "the body was waited for: {fastest:?}");
}

#[tokio::test]
async fn an_incomplete_body_is_not_processed() {
    let server = TestServer::new().await;
    let mut client = server.connect().await;
    let body = set_hint(1, "half").to_string();
    let length = body.len() + 1;
    client
        .send(&format!(
            "POST /rpc HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
        .await;
    client.0.get_mut().shutdown().await.unwrap();
    client.rest().await;
    let got = server.ask("POST", "/rpc", &[], &get_hint(2, "half").to_string()).await;
    assert_eq!(got.json()["error"]["code"], 40401);
}

#[tokio::test]
async fn a_slow_request_is_cut_off_in_its_head_and_in_its_body() {
    let server =
        TestServer::with(limits::CONNECTIONS_MAX, &[("daemon.request_timeout", "150ms")]).await;
    let mut head = server.connect().await;
    head.send("GET /health HTTP/1.1\r\nHost: loc").await;
    let mut body = server.connect().await;
    body.send(&format!(
        "POST /rpc HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{{\"json"
    ))
    .await;
    // An idle connection has no time limit: it outlives both of them.
    let mut idle = server.connect().await;
    assert_eq!(idle.ask("GET", "/health", &["Host: localhost"], "").await.status, 200);
    assert_eq!(head.rest().await, "");
    let late = body.reply().await;
    assert_eq!((late.status, late.json()["error"]["code"].as_i64()), (408, Some(50401)));
    assert_eq!(body.rest().await, "");
    let again = idle.ask("GET", "/health", &["Host: localhost"], "").await;
    assert_eq!(again.status, 200);
}

#[tokio::test]
async fn at_the_limit_the_longest_idle_connection_is_closed() {
    let server = TestServer::with(4, &[]).await;
    let mut idle = Vec::new();
    let mut count = server.face.connections.changed();
    for number in 1..=4 {
        idle.push(server.connect().await);
        count.wait_for(|open| *open == number).await.unwrap();
    }
    // The first one sends a request, so the second has been idle longest.
    assert_eq!(idle[0].ask("GET", "/health", &["Host: localhost"], "").await.status, 200);
    let fresh = server.ask_bare("GET", "/health", &["Host: localhost"], "").await;
    assert_eq!(fresh.status, 200);
    assert_eq!(idle[1].rest().await, "");
    assert_eq!(idle[0].ask("GET", "/health", &["Host: localhost"], "").await.status, 200);
}

#[tokio::test]
async fn many_idle_connections_do_not_keep_a_new_client_out() {
    let server = TestServer::with(64, &[]).await;
    let mut idle = Vec::new();
    for _ in 0..300 {
        idle.push(server.connect().await);
    }
    let reply = server.ask("POST", "/rpc", &[], &set_hint(1, "k").to_string()).await;
    assert_eq!(reply.status, 200);
    assert!(server.face.connections.open() <= 64);
}

/// @page_trusted_types
#[tokio::test]
async fn the_link_opens_the_page_once_and_its_key_calls() {
    let server = TestServer::new().await;
    let host = format!("Host: {}", server.address);
    let closed = server.ask_bare("GET", "/", &[&host], "").await;
    assert!(closed.body.contains("rekindle up") && !closed.body.contains("facts"));
    let path = format!("/?link={}", server.face.auth.one_time_link());
    let preview = server.ask_bare("HEAD", &path, &[&host], "").await;
    assert!(preview.status == 200 && !preview.headers.contains_key("set-cookie"), "not used up");
    let opened = server.ask_bare("GET", &path, &[&host], "").await;
    assert_eq!(opened.status, 303);
    let (after, code) = opened.headers["location"].split_once("#open=").unwrap();
    assert_eq!(after, "/");
    let cookie = &opened.headers["set-cookie"];
    assert!(cookie.contains("_00c0ffee=") && !cookie.contains(TOKEN), "{cookie}");
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000"), "{cookie}");
    let cookie = format!("Cookie: {}", cookie.split(';').next().unwrap());
    assert_eq!(server.ask_bare("GET", &path, &[&host], "").await.status, 403, "used up");

    let page = server.ask_bare("GET", "/", &[&host, &cookie], "").await;
    assert!(page.body.contains("<script type=\"module\""));
    let policy = &page.headers["content-security-policy"];
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert!(
        policy.ends_with("require-trusted-types-for 'script'; trusted-types 'none'"),
        "{policy}"
    );
    assert_eq!(page.headers["x-content-type-options"], "nosniff");
    assert_eq!(page.headers["referrer-policy"], "no-referrer");

    let kind = "Content-Type: application/json";
    let status = r#"{"jsonrpc":"2.0","id":1,"method":"status"}"#;
    let own = format!("Origin: http://{}", server.address);
    let alone = server.ask_bare("POST", "/rpc", &[&host, &cookie, kind, &own], status).await;
    assert_eq!(alone.status, 401, "the cookie alone");
    let code = json!({ "code": code }).to_string();
    let given = server.ask_bare("POST", "/challenge", &[&host, &cookie, kind, &own], &code).await;
    let given = given.json();
    let text = |name: &str| given[name].as_str().unwrap();
    let sign = |counter| {
        let (key, challenge) = (text("key"), text("challenge"));
        let to = ("POST", "/rpc");
        let proof = testkit::browser::sign(key, challenge, counter, to, status.as_bytes());
        format!("Rekindle-Proof: {proof}")
    };
    let proof = sign(1);
    let page = [&host, &cookie, kind, &own, &proof];
    let called = server.ask_bare("POST", "/rpc", &page, status).await;
    assert!(called.json()["result"].is_object(), "{}", called.body);
    assert_eq!(server.ask_bare("POST", "/rpc", &page, status).await.status, 401, "a replay");
    let proof = sign(2);
    let page = [&host, &cookie, kind, &own, &proof];
    let other = status.replace("status", "stop");
    assert_eq!(server.ask_bare("POST", "/rpc", &page, &other).await.status, 401, "another body");
    let proof = sign(3);
    let neighbour = [&host, &cookie, kind, &proof, "Origin: http://127.0.0.1:3000"];
    assert_eq!(server.ask_bare("POST", "/rpc", &neighbour, status).await.status, 403);
    let no_origin = [&host, &cookie, kind, &proof];
    assert_eq!(server.ask_bare("POST", "/rpc", &no_origin, status).await.status, 403);
}

#[tokio::test]
async fn a_hook_event_is_recorded_and_answered_with_the_hooks_json() {
    let server = TestServer::new().await;
    let reply = server.ask("POST", "/hook/Stop", &[], r#"{"session_id":"s1"}"#).await;
    assert_eq!((reply.status, reply.body.as_str()), (200, "{}"));
    let status = r#"{"jsonrpc":"2.0","id":1,"method":"status"}"#;
    let status = server.ask("POST", "/rpc", &[], status).await.json();
    assert_eq!(status["result"]["last_event"]["name"], "Stop");
    let bad = server.ask("POST", "/hook/Stop", &[], "{").await;
    assert_eq!((bad.status, bad.word().as_str()), (400, "invalid"));
}

#[tokio::test]
async fn mcp_is_reached_by_every_verb_and_checks_its_toolsets() {
    let server = TestServer::new().await;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let count = |reply: &HttpReply| reply.json()["result"]["tools"].as_array().unwrap().len();
    let core = server.ask("POST", "/mcp", &[], list).await;
    let all = server.ask("POST", "/mcp?tools=all", &[], list).await;
    assert!(count(&core) < count(&all), "{}", core.body);
    let unknown = server.ask("POST", "/mcp?tools=all%2Cnope", &[], list).await;
    assert_eq!((unknown.status, unknown.json()["error"]["code"].as_i64()), (400, Some(40001)));
    assert_eq!(server.ask("GET", "/mcp", &[], "").await.status, 405);
}

#[test]
fn a_query_parameter_is_decoded() {
    let head = |target: &str| Request::builder().uri(target).body(()).unwrap().into_parts().0;
    for (target, value) in [
        ("/mcp?tools=a%2Cb", Some("a,b")),
        ("/mcp?x=1&tools=a+b&tools=c", Some("a b")),
        ("/mcp?tools=%zz%4", Some("%zz%4")),
        ("/mcp?tools=", Some("")),
        ("/mcp?tools=%ff", None),
        ("/mcp?nottools=1", None),
        ("/mcp", None),
    ] {
        assert_eq!(query(&head(target), "tools").as_deref(), value, "{target}");
    }
}
