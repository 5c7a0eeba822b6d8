//! `/mcp`: methods, statuses, headers, and both forms of a reply.

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use super::{Bench, modern, peer, request};

/// Status, content type and body of the answer to one HTTP request.
async fn send(
    bench: &Bench,
    method: Method,
    headers: &[(&str, &str)],
    body: &str,
) -> (u16, String, String) {
    send_to(bench, "/mcp", method, headers, body).await
}

async fn send_to(
    bench: &Bench,
    uri: &str,
    method: Method,
    headers: &[(&str, &str)],
    body: &str,
) -> (u16, String, String) {
    let mut request = Request::builder().uri(uri).method(method);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Bytes::copy_from_slice(body.as_bytes())).unwrap();
    let reply = bench.server.http(request, peer()).await;
    let kind =
        reply.headers().get("content-type").map_or("", |kind| kind.to_str().unwrap()).to_owned();
    let status = reply.status().as_u16();
    let body = reply.into_body().collect().await.unwrap().to_bytes();
    (status, kind, String::from_utf8(body.to_vec()).unwrap())
}

/// Status and JSON of the answer to one POST.
async fn post(bench: &Bench, headers: &[(&str, &str)], message: &Value) -> (u16, Value) {
    let (status, kind, body) = send(bench, Method::POST, headers, &message.to_string()).await;
    assert_eq!(kind, "application/json", "{status} {body}");
    (status, serde_json::from_str(&body).unwrap())
}

fn get_hint() -> Value {
    json!({"name": "get_hint", "arguments": {"component": "a", "key": "b"}})
}

const NOW: (&str, &str) = ("MCP-Protocol-Version", "2026-07-28");

#[tokio::test]
async fn a_call_without_handshake_is_answered_whatever_is_accepted() {
    let bench = Bench::new();
    let message = request("tools/call", get_hint());
    let headers: [&[(&str, &str)]; 7] = [
        &[],
        &[("accept", "application/json")],
        &[("accept", "text/html")],
        &[("accept", "text/event-stream, */*;q=0.1")],
        &[("accept", "*/*"), ("mcp-session-id", "whatever")],
        &[
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2025-06-18"),
        ],
        // The header alone does not make a request modern.
        &[NOW, ("mcp-method", "something else")],
    ];
    for headers in headers {
        let (status, reply) = post(&bench, headers, &message).await;
        assert_eq!(
            (status, &reply["result"]["isError"]),
            (200, &json!(true)),
            "{headers:?} {reply}"
        );
    }
}

#[tokio::test]
async fn a_client_that_accepts_only_events_gets_an_event() {
    let bench = Bench::new();
    for (headers, message) in [
        (vec![("accept", "text/event-stream")], request("tools/call", get_hint())),
        (
            vec![("accept", "Text/Event-Stream;q=1, application/json;q=0")],
            request("ping", json!({})),
        ),
        (
            vec![("accept", "text/event-stream"), NOW, ("mcp-method", "tools/list")],
            modern("tools/list", json!({})),
        ),
    ] {
        let (status, kind, body) = send(&bench, Method::POST, &headers, &message.to_string()).await;
        assert_eq!((status, kind.as_str()), (200, "text/event-stream"), "{body}");
        let data =
            body.strip_prefix("event: message\ndata: ").unwrap().strip_suffix("\n\n").unwrap();
        assert_eq!(serde_json::from_str::<Value>(data).unwrap()["id"], 7);
    }
}

#[tokio::test]
async fn only_what_is_no_json_rpc_has_the_status_400() {
    let bench = Bench::new();
    for (body, status, code) in [
        ("", 400, -32700),
        ("{", 400, -32700),
        ("[]", 400, -32600),
        ("3", 400, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, 400, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#, 200, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, 200, -32602),
    ] {
        for accept in ["application/json", "text/event-stream"] {
            let (got, _, text) = send(&bench, Method::POST, &[("accept", accept)], body).await;
            assert_eq!(got, status, "{body} {text}");
            assert!(text.contains(&code.to_string()), "{body} {text}");
        }
    }
}

#[tokio::test]
async fn notifications_are_accepted_without_a_word() {
    let bench = Bench::new();
    for body in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"[{"jsonrpc":"2.0","method":"x"}]"#,
    ] {
        for headers in [&[][..], &[NOW][..]] {
            let answer = send(&bench, Method::POST, headers, body).await;
            assert_eq!(answer, (202, String::new(), String::new()), "{body}");
        }
    }
}

#[tokio::test]
async fn there_is_no_stream_to_get_and_no_session_to_end() {
    let bench = Bench::new();
    for method in [Method::GET, Method::PUT, Method::HEAD, Method::OPTIONS] {
        let (status, kind, body) =
            send(&bench, method, &[("accept", "text/event-stream")], "").await;
        assert_eq!((status, kind.as_str()), (405, "application/json"));
        assert!(body.contains("POST"), "{body}");
    }
    let session = ("mcp-session-id", "x");
    assert_eq!(send(&bench, Method::DELETE, &[session], "").await.0, 200);
    assert_eq!(send(&bench, Method::DELETE, &[session, NOW], "").await.0, 405);
}

#[tokio::test]
async fn initialize_needs_no_session_and_starts_none() {
    let bench = Bench::new();
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let body = Bytes::from(request("initialize", params).to_string());
    let request = Request::builder().method(Method::POST).uri("/mcp").body(body).unwrap();
    let reply = bench.server.http(request, peer()).await;
    assert_eq!(reply.status(), StatusCode::OK);
    assert!(!reply.headers().contains_key("mcp-session-id"));
    let body = reply.into_body().collect().await.unwrap().to_bytes();
    let reply: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(reply["result"]["protocolVersion"], "2025-06-18");
}

#[tokio::test]
async fn a_modern_request_is_held_to_its_headers() {
    let bench = Bench::new();
    let call = modern("tools/call", get_hint());
    let method = ("Mcp-Method", "tools/call");
    let name = ("Mcp-Name", "get_hint");
    let (status, reply) = post(&bench, &[NOW, method, name], &call).await;
    assert_eq!((status, &reply["result"]["resultType"]), (200, &json!("complete")), "{reply}");
    let bad: [&[(&str, &str)]; 5] = [
        &[],
        &[method, name],
        &[NOW, name],
        &[NOW, method, ("Mcp-Name", "set_hint")],
        &[("MCP-Protocol-Version", "2025-11-25"), method, name],
    ];
    for headers in bad {
        let (status, reply) = post(&bench, headers, &call).await;
        assert_eq!((status, &reply["error"]["code"]), (400, &json!(-32020)), "{headers:?} {reply}");
        assert_eq!(reply["id"], 7);
    }
}

#[tokio::test]
async fn a_modern_request_gets_the_statuses_of_its_revision() {
    let bench = Bench::new();
    for method in ["no/such", "prompts/list", "ping", "initialize"] {
        let message = modern(method, json!({}));
        let (status, reply) = post(&bench, &[NOW, ("mcp-method", method)], &message).await;
        assert_eq!((status, &reply["error"]["code"]), (404, &json!(-32601)), "{method} {reply}");
    }
    let mut unknown = modern("server/discover", json!({}));
    unknown["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("v999");
    let headers = [("mcp-protocol-version", "v999"), ("mcp-method", "server/discover")];
    let (status, reply) = post(&bench, &headers, &unknown).await;
    assert_eq!((status, &reply["error"]["code"]), (400, &json!(-32022)), "{reply}");
    let discover = [NOW, ("mcp-method", "server/discover")];
    let (status, reply) = post(&bench, &discover, &request("server/discover", json!({}))).await;
    assert_eq!((status, &reply["error"]["code"]), (400, &json!(-32602)), "{reply}");
    let (status, reply) = post(&bench, &discover, &modern("server/discover", json!({}))).await;
    assert_eq!((status, &reply["result"]["resultType"]), (200, &json!("complete")), "{reply}");
}

#[tokio::test]
async fn an_unknown_revision_is_refused_in_json() {
    let bench = Bench::new();
    let unknown = ("mcp-protocol-version", "1999-01-01");
    let (status, reply) = post(&bench, &[unknown], &request("tools/list", json!({}))).await;
    assert_eq!((status, &reply["id"], &reply["error"]["code"]), (400, &json!(7), &json!(-32600)));
    // The SDK refuses these in plain text: half of the modern form, and parameters in an array.
    let mut half = modern("tools/list", json!({}));
    half["params"]["_meta"]
        .as_object_mut()
        .unwrap()
        .remove("io.modelcontextprotocol/protocolVersion");
    for message in [half, request("server/discover", json!([1]))] {
        let (status, reply) = post(&bench, &[unknown], &message).await;
        assert_eq!(
            (status, &reply["id"], &reply["error"]["code"]),
            (400, &json!(7), &json!(-32600))
        );
    }
}

#[tokio::test]
async fn the_query_chooses_the_toolset() {
    let bench = Bench::new();
    for (query, count) in [("?tools=hints", 9), ("?a=b&tools=hints%2Ccore", 16)] {
        for (headers, message) in [
            (vec![], request("tools/list", json!({}))),
            (vec![NOW, ("mcp-method", "tools/list")], modern("tools/list", json!({}))),
        ] {
            let uri = format!("/mcp{query}");
            let body = message.to_string();
            let (status, _, text) = send_to(&bench, &uri, Method::POST, &headers, &body).await;
            let reply: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(
                (status, reply["result"]["tools"].as_array().map(Vec::len)),
                (200, Some(count)),
                "{uri} {reply}"
            );
        }
    }
}

#[tokio::test]
async fn modern_calls_know_their_caller_and_are_done_once() {
    let bench = Bench::new();
    let arguments = json!({"component": "web", "key": "build", "value": "make"});
    let body =
        modern("tools/call", json!({"name": "set_hint", "arguments": arguments})).to_string();
    let from = peer();
    for _ in 0..2 {
        let request = Request::builder()
            .method(Method::POST)
            .uri("/mcp")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", "set_hint")
            .body(Bytes::from(body.clone()))
            .unwrap();
        let reply = bench.server.http(request, from.clone()).await;
        let body = reply.into_body().collect().await.unwrap().to_bytes();
        let reply: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(reply["result"]["structuredContent"]["hint"]["version"], 1, "{reply}");
    }
}
