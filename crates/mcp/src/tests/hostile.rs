//! Bytes that no client should send: every one is answered or ignored, none does harm.

use serde_json::{Value, json};

use super::{Bench, peer};

async fn error_of(bench: &Bench, line: &[u8]) -> (i64, Value) {
    let answer = bench.server.line(line, peer()).await;
    let reply: Value = serde_json::from_str(&answer.line.unwrap()).unwrap();
    assert_eq!(reply["jsonrpc"], "2.0");
    (reply["error"]["code"].as_i64().unwrap(), reply["id"].clone())
}

#[tokio::test]
async fn invalid_json_is_answered_without_an_id() {
    let bench = Bench::new();
    let deep = [b'['; 10_000];
    let deep_object = br#"{"a":"#.repeat(10_000);
    let lines: [&[u8]; 12] = [
        b"hello",
        b"{",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"",
        b"\xff\xfe",
        b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}",
        b"\0",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\0b\"}",
        br#"{"jsonrpc":"2.0","id":"\ud800","method":"ping"}"#,
        b"{\"jsonrpc\":\"2.0\",\"id\":1e999,\"method\":\"ping\"}",
        b"{} {}",
        &deep,
        &deep_object,
    ];
    for line in lines {
        let shown = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
        assert_eq!(error_of(&bench, line).await, (-32700, Value::Null), "{shown}");
    }
}

#[tokio::test]
async fn json_that_is_no_request_is_answered_with_its_id_if_it_has_one() {
    let bench = Bench::new();
    for (line, id) in [
        ("3", Value::Null),
        ("null", Value::Null),
        ("\"x\"", Value::Null),
        ("{}", Value::Null),
        (r#"{"id":4}"#, json!(4)),
        (r#"{"jsonrpc":"2.0","id":4}"#, json!(4)),
        (r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, json!("a")),
        (r#"{"id":5,"method":"ping"}"#, json!(5)),
        (r#"{"jsonrpc":"2.0","id":5,"method":3}"#, json!(5)),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, json!(1.5)),
        (r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"ping"}"#, json!(u64::MAX)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#, Value::Null),
        ("[]", Value::Null),
    ] {
        assert_eq!(error_of(&bench, line.as_bytes()).await, (-32600, id), "{line}");
    }
}

#[tokio::test]
async fn odd_requests_are_answered_under_their_id() {
    let bench = Bench::new();
    let long = "x".repeat(100_000);
    let requests = [
        json!({"jsonrpc": "2.0", "id": i64::MIN, "method": "ping", "params": {"x": 1}}),
        json!({"jsonrpc": "2.0", "id": "", "method": "tools/list", "params": {"cursor": null}}),
        json!({"jsonrpc": "2.0", "id": long, "method": long}),
        json!({"jsonrpc": "2.0", "id": "\u{0}\u{2028}\"", "method": "tools/call",
               "params": {"name": "\u{0}", "arguments": {"\u{0}": long}}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"_meta": 3, "name": "status"}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
               "params": {"_meta": {"claudecode/toolUseId": [1]}, "name": "status"}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list",
               "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": 5}}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": [1]}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "result": {}, "error": 1}),
    ];
    for request in requests {
        let reply = bench.ask(&request).await;
        assert_eq!(reply["id"], request["id"]);
        let outcomes = ["result", "error"].iter().filter(|name| reply.get(**name).is_some());
        assert_eq!(outcomes.count(), 1, "{reply}");
    }
}

#[tokio::test]
async fn a_value_nested_as_deep_as_json_is_read_at_all_is_carried_or_refused() {
    let bench = Bench::new();
    for depth in [1, 60, 100, 120] {
        let value = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"set_hint","arguments":{{"component":"a","key":"b","value":{value}}}}}}}"#
        );
        let answer = bench.server.line(line.as_bytes(), peer()).await;
        let reply: Value = serde_json::from_str(&answer.line.unwrap()).unwrap();
        assert_eq!(reply["id"], 1, "{depth}: {reply}");
    }
}

/// A good line, truncated and with bytes changed or inserted, in a fixed order: each variant gets an
/// answer or silence, and the next good line is served.
#[tokio::test]
async fn no_mutation_of_a_line_stops_the_server() {
    let bench = Bench::new();
    let good = br#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"get_hint","arguments":{"component":"a","key":"b"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let mut state: u32 = 0x2545_F491;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        usize::try_from(state).unwrap() % below
    };
    let nasty = b"\0\"\\{}[],:\xff\x80e-+.9ntf \n";
    for _ in 0..2_000 {
        let mut line = good.to_vec();
        for _ in 0..=random(4) {
            let at = random(line.len());
            match random(3) {
                0 => line[at] = nasty[random(nasty.len())],
                1 => line.truncate(at.max(1)),
                _ => line.insert(at, nasty[random(nasty.len())]),
            }
        }
        let answer = bench.server.line(&line, peer()).await;
        if let Some(reply) = answer.line {
            assert!(serde_json::from_str::<Value>(&reply).is_ok(), "{reply}");
            assert!(!reply.contains('\n'), "{reply}");
        }
    }
    let answer = bench.server.line(good, peer()).await;
    assert!(answer.line.unwrap().contains("isError"));
}
