//! Long-lived connections: the stream of the older MCP transport, WebSockets, and how a stop ends them.

use futures_util::{SinkExt as _, StreamExt as _};
use model::Road as _;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::*;

impl TestServer {
    async fn websocket(&self, path: &str, protocol: Option<&str>) -> WebSocketStream<TcpStream> {
        let url = format!("ws://{}{path}", self.address);
        let mut request = url.into_client_request().unwrap();
        let headers = request.headers_mut();
        headers.insert("authorization", format!("Bearer {TOKEN}").parse().unwrap());
        if let Some(protocol) = protocol {
            headers.insert("sec-websocket-protocol", protocol.parse().unwrap());
        }
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (socket, _) = tokio_tungstenite::client_async(request, stream).await.unwrap();
        socket
    }
}

#[tokio::test]
async fn the_older_transport_answers_on_its_stream() {
    let server = TestServer::new().await;
    let mut stream = server.connect().await;
    stream
        .send(&format!(
            "GET /sse HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        ))
        .await;
    let (status, headers) = stream.head().await.unwrap();
    assert_eq!((status, headers["content-type"].as_str()), (200, "text/event-stream"));
    let mut data = async || loop {
        if let Some(data) = stream.line().await.unwrap().strip_prefix("data: ") {
            return data.to_owned();
        }
    };
    let endpoint = data().await;
    assert!(endpoint.starts_with("/messages?session_id="), "{endpoint}");
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    }});
    assert_eq!(server.ask("POST", &endpoint, &[], &hello.to_string()).await.status, 202);
    let answer: Value = serde_json::from_str(&data().await).unwrap();
    assert_eq!(answer["result"]["protocolVersion"], "2024-11-05");
    let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(server.ask("POST", &endpoint, &[], note).await.status, 202);
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "set_hint", "arguments": { "component": "web", "key": "k", "value": "v" },
    }});
    assert_eq!(server.ask("POST", &endpoint, &[], &call.to_string()).await.status, 202);
    let answer: Value = serde_json::from_str(&data().await).unwrap();
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(2), &json!(false)));
    for unknown in ["/messages?session_id=none", "/messages"] {
        let reply = server.ask("POST", unknown, &[], note).await;
        assert_eq!((reply.status, reply.word().as_str()), (404, "not_found"));
    }
}

async fn next(socket: &mut WebSocketStream<TcpStream>) -> Value {
    match socket.next().await {
        Some(Ok(Message::Text(text))) => serde_json::from_str(&text).unwrap(),
        other => panic!("no text: {other:?}"),
    }
}

async fn close_code(socket: &mut WebSocketStream<TcpStream>) -> CloseCode {
    match socket.next().await {
        Some(Ok(Message::Close(Some(frame)))) => frame.code,
        other => panic!("no close: {other:?}"),
    }
}

#[tokio::test]
async fn a_websocket_carries_calls_and_events_in_sequence() {
    let server = TestServer::new().await;
    let mut socket = server.websocket("/ws", None).await;
    let mut ask = async |frame: Value| {
        socket.send(Message::text(frame.to_string())).await.unwrap();
        next(&mut socket).await
    };
    let bad = ask(
        json!({ "jsonrpc": "2.0", "id": 1, "method": "events/subscribe", "params": { "x": 1 } }),
    )
    .await;
    assert_eq!(bad["error"]["code"], 40001);
    let subscribe =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "events/subscribe", "params": {} });
    assert_eq!(ask(subscribe).await["result"]["subscribed"], true);
    assert_eq!(ask(json!([])).await["error"]["code"], -32600);
    for key in ["a", "b", "c"] {
        let reply = server.ask("POST", "/rpc", &[], &set_hint(1, key).to_string()).await;
        assert_eq!(reply.status, 200);
    }
    let mut last = 0;
    for key in ["a", "b", "c"] {
        let event = next(&mut socket).await;
        assert_eq!((&event["method"], &event["id"]), (&json!("event"), &Value::Null), "{event}");
        assert_eq!(event["params"]["subject"], format!("hint://web/{key}"));
        let seq = event["params"]["seq"].as_u64().unwrap();
        assert!(seq > last, "{event}");
        last = seq;
    }
    let unsubscribe = json!({ "jsonrpc": "2.0", "id": 2, "method": "events/unsubscribe" });
    socket.send(Message::text(unsubscribe.to_string())).await.unwrap();
    assert_eq!(next(&mut socket).await["result"]["subscribed"], false);
    server.ask("POST", "/rpc", &[], &set_hint(1, "d").to_string()).await;
    socket.send(Message::text(get_hint(3, "d").to_string())).await.unwrap();
    assert_eq!(next(&mut socket).await["id"], 3, "no event comes after unsubscribing");
}

#[tokio::test]
async fn a_filter_of_a_subscription_is_applied_and_several_can_be_made() {
    let server = TestServer::new().await;
    let mut socket = server.websocket("/ws", None).await;
    let mut ask = async |frame: Value| {
        socket.send(Message::text(frame.to_string())).await.unwrap();
        next(&mut socket).await
    };
    let subscribe = |params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": "events/subscribe", "params": params });
    for params in [json!({ "kind": 1 }), json!({ "project": "nobody" }), json!([])] {
        let bad = ask(subscribe(params.clone())).await;
        assert!(bad["error"]["message"].is_string(), "{params}: {bad}");
    }
    let unknown = json!({ "jsonrpc": "2.0", "id": 1, "method": "nothing/subscribe" });
    assert_eq!(ask(unknown).await["error"]["code"], -32601);
    assert_eq!(
        ask(subscribe(json!({ "subject": "hint://web/b" }))).await["result"]["subscribed"],
        true
    );
    assert_eq!(ask(subscribe(json!({ "kind": "hint/" }))).await["result"]["subscribed"], true);
    for key in ["a", "b"] {
        server.ask("POST", "/rpc", &[], &set_hint(1, key).to_string()).await;
    }
    let mut subjects = Vec::new();
    for _ in 0..3 {
        subjects.push(next(&mut socket).await["params"]["subject"].as_str().unwrap().to_owned());
    }
    assert_eq!(subjects, ["hint://web/a", "hint://web/b", "hint://web/b"]);
}

/// @events_as_server_sent_events
#[tokio::test]
async fn a_feed_is_sent_as_server_sent_events() {
    let server = TestServer::new().await;
    for path in ["/api/events", "/api/events?feed=none", "/api/events?feed=events&x=1"] {
        let refused = server.ask("GET", path, &[], "").await;
        assert_eq!((refused.status, refused.word().as_str()), (400, "invalid"), "{path}");
    }
    let mut stream = server.connect().await;
    let path = "/api/events?feed=events&subject=hint%3A%2F%2Fweb%2Fb";
    stream
        .send(&format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        ))
        .await;
    let (status, headers) = stream.head().await.unwrap();
    assert_eq!((status, headers["content-type"].as_str()), (200, "text/event-stream"));
    for key in ["a", "b"] {
        server.ask("POST", "/rpc", &[], &set_hint(1, key).to_string()).await;
    }
    let mut line_with = async |prefix: &str| loop {
        if let Some(rest) = stream.line().await.unwrap().strip_prefix(prefix) {
            return rest.to_owned();
        }
    };
    assert_eq!(line_with("event: ").await, "event");
    assert_eq!(line_with("id: ").await, "2");
    let data: Value = serde_json::from_str(&line_with("data: ").await).unwrap();
    assert_eq!((&data["subject"], &data["seq"]), (&json!("hint://web/b"), &json!(2)));
}

#[tokio::test]
async fn a_subscriber_that_does_not_keep_up_is_closed_with_a_reason() {
    let server = TestServer::new().await;
    let mut socket = server.websocket("/ws", None).await;
    let subscribe = r#"{"jsonrpc":"2.0","id":1,"method":"events/subscribe"}"#;
    socket.send(Message::text(subscribe)).await.unwrap();
    assert_eq!(next(&mut socket).await["result"]["subscribed"], true);
    // This test has one thread: while it calls, the socket's task cannot empty its queue.
    for _ in 0..=limits::SUBSCRIBER_QUEUE_MAX {
        let params = json!({ "component": "web", "key": "k", "value": "v" });
        let caller = Caller::default();
        let op = "set_hint".to_owned();
        let call = client::mint();
        server.home.runtime.call(model::Request { call, op, params, caller }).unwrap();
    }
    for _ in 0..limits::SUBSCRIBER_QUEUE_MAX {
        assert_eq!(next(&mut socket).await["method"], "event");
    }
    let Some(Ok(Message::Close(Some(frame)))) = socket.next().await else { panic!("no close") };
    assert_eq!(frame.code, CloseCode::Policy);
    assert!(frame.reason.contains("1024"), "{}", frame.reason);
}

/// @context_event_stream
#[tokio::test]
async fn an_event_stream_that_does_not_keep_up_ends_with_a_reason() {
    let server = TestServer::new().await;
    let mut stream = server.connect().await;
    stream
        .send(&format!(
            "GET /api/events?feed=events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        ))
        .await;
    assert_eq!(stream.head().await.unwrap().0, 200);
    // This test has one thread: while it calls, the stream cannot empty its queue.
    for _ in 0..=limits::SUBSCRIBER_QUEUE_MAX {
        let params = json!({ "component": "web", "key": "k", "value": "v" });
        let (op, call, caller) = ("set_hint".to_owned(), client::mint(), Caller::default());
        server.home.runtime.call(model::Request { call, op, params, caller }).unwrap();
    }
    let rest = stream.rest().await;
    let (events, last) = rest.split_once("event: closed\n").expect("a last event");
    assert_eq!(events.matches("event: event\n").count(), limits::SUBSCRIBER_QUEUE_MAX);
    assert!(
        last.starts_with("data: {\"reason\":\"more than 1024 events were waiting\"}"),
        "{last}"
    );
}

#[tokio::test]
async fn mcp_is_a_sub_protocol_of_the_websocket() {
    let server = TestServer::new().await;
    let mut socket = server.websocket("/ws?tools=all", Some("mcp")).await;
    socket.send(Message::text(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)).await.unwrap();
    assert_eq!(next(&mut socket).await, json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
    socket.send(Message::text(r#"{"jsonrpc":"2.0","id":2,"method":"get_hint"}"#)).await.unwrap();
    assert_eq!(next(&mut socket).await["error"]["code"], -32601);
}

#[tokio::test]
async fn a_websocket_says_why_it_closes() {
    let server = TestServer::new().await;
    let mut binary = server.websocket("/ws", None).await;
    binary.send(Message::binary(vec![1, 2, 3])).await.unwrap();
    assert_eq!(close_code(&mut binary).await, CloseCode::Unsupported);
    let mut large = server.websocket("/ws", None).await;
    let sent = large.send(Message::text("x".repeat(limits::WS_MESSAGE_BYTES_MAX + 1))).await;
    assert!(sent.is_ok());
    assert_eq!(close_code(&mut large).await, CloseCode::Size);
    // A masked text frame with a byte that is not UTF-8.
    let mut wrong = server.websocket("/ws", None).await;
    wrong.get_mut().write_all(&[0x81, 0x81, 0, 0, 0, 0, 0xff]).await.unwrap();
    assert_eq!(close_code(&mut wrong).await, CloseCode::Invalid);
    let plain = server.ask("GET", "/ws", &[], "").await;
    assert_eq!((plain.status, plain.headers["sec-websocket-version"].as_str()), (426, "13"));
}

#[tokio::test]
async fn a_stop_ends_idle_connections_streams_and_sockets_at_once() {
    let server = TestServer::new().await;
    let mut idle = server.connect().await;
    assert_eq!(idle.ask("GET", "/health", &["Host: localhost"], "").await.status, 200);
    let mut silent = server.connect().await;
    let mut stream = server.connect().await;
    stream
        .send(&format!(
            "GET /sse HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        ))
        .await;
    assert_eq!(stream.head().await.unwrap().0, 200);
    let mut socket = server.websocket("/ws", None).await;
    let mut count = server.face.connections.changed();
    count.wait_for(|open| *open == 4).await.unwrap();
    server.stop.send_replace(true);
    assert_eq!(idle.rest().await, "");
    assert_eq!(silent.rest().await, "");
    assert!(stream.rest().await.ends_with("0\r\n\r\n"));
    assert_eq!(close_code(&mut socket).await, CloseCode::Away);
    drop(socket);
    server.serving.await.unwrap();
    assert_eq!(server.face.connections.open(), 0);
    drop(server.home);
}
