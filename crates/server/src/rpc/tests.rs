//! Frames in, answers out, over a real runtime on a database in a temporary folder.

use std::ops::Deref;
use std::sync::Arc;

use model::Tier;
use testkit::Local;

use super::*;

/// A runtime with hints over an empty database of its own.
pub(crate) struct HintsHome(Local);

impl Deref for HintsHome {
    type Target = Local;

    fn deref(&self) -> &Local {
        &self.0
    }
}

impl HintsHome {
    pub(crate) fn new() -> HintsHome {
        HintsHome::with(&[])
    }

    /// A runtime with these settings instead of the defaults.
    pub(crate) fn with(settings: &[(&str, &str)]) -> HintsHome {
        HintsHome(Local::new(vec![Arc::new(plugin_hints::Hints::default())], settings))
    }

    /// A runtime with hints and this plugin.
    pub(crate) fn with_plugin(plugin: Arc<dyn contract::Plugin>) -> HintsHome {
        HintsHome(Local::new(vec![Arc::new(plugin_hints::Hints::default()), plugin], &[]))
    }

    async fn raw(&self, frame: &[u8], call: Option<CallId>) -> RpcReply {
        answer(&self.runtime, frame, &sender(false), call).await
    }

    async fn ask(&self, frame: &Value) -> Value {
        parse(&self.raw(frame.to_string().as_bytes(), None).await)
    }
}

fn sender(envelope: bool) -> Sender {
    Sender {
        caller: Caller { tier: Tier::Client, ..Caller::default() },
        envelope,
        db: "/our.db".to_owned(),
    }
}

fn parse(answer: &RpcReply) -> Value {
    serde_json::from_str(answer.body.as_deref().unwrap()).unwrap()
}

pub(crate) fn set_hint(id: u64, key: &str) -> Value {
    let params = json!({ "component": "web", "key": key, "value": format!("make {key}") });
    json!({ "jsonrpc": "2.0", "id": id, "method": "set_hint", "params": params })
}

pub(crate) fn get_hint(id: u64, key: &str) -> Value {
    let params = json!({ "component": "web", "key": key });
    json!({ "jsonrpc": "2.0", "id": id, "method": "get_hint", "params": params })
}

#[tokio::test]
async fn a_request_is_answered_by_its_operation_under_every_name() {
    let home = HintsHome::new();
    let set = home.ask(&set_hint(1, "build")).await;
    assert_eq!((&set["id"], &set["result"]["hint"]["value"]), (&json!(1), &json!("make build")));
    for name in ["get_hint", "nudge.get_hint", "nudge_get_hint"] {
        let mut frame = get_hint(2, "build");
        frame["method"] = name.into();
        assert_eq!(home.ask(&frame).await["result"]["hint"]["value"], "make build", "{name}");
    }
}

#[tokio::test]
async fn members_are_in_the_order_of_the_specification() {
    let home = HintsHome::new();
    home.ask(&set_hint(1, "build")).await;
    let good = home.raw(get_hint(7, "build").to_string().as_bytes(), None).await.body.unwrap();
    assert!(good.starts_with(r#"{"jsonrpc":"2.0","id":7,"result":{"#), "{good}");
    let bad = home.raw(get_hint(7, "none").to_string().as_bytes(), None).await.body.unwrap();
    assert!(bad.starts_with(r#"{"jsonrpc":"2.0","id":7,"error":{"code":40401,"#), "{bad}");
}

#[tokio::test]
async fn every_type_of_id_is_returned_unchanged() {
    let home = HintsHome::new();
    for id in [json!(null), json!("x\u{1f525}"), json!(-3), json!(1.5), json!(u64::MAX), json!("")]
    {
        let frame = json!({ "jsonrpc": "2.0", "id": id, "method": "status" });
        let answer = home.ask(&frame).await;
        assert!(answer["result"].is_object(), "{answer}");
        assert_eq!(answer["id"], id);
    }
}

#[tokio::test]
async fn invalid_json_is_refused_as_a_parse_error() {
    let home = HintsHome::new();
    let deep = [b'['; 100_000];
    let deep_params =
        [br#"{"jsonrpc":"2.0","id":1,"method":"status","params":"#.as_slice(), &[b'['; 500]]
            .concat();
    let frames: [&[u8]; 12] = [
        b"",
        b" ",
        b"hello",
        b"{",
        b"{\"jsonrpc\":",
        b"{} {}",
        b"[1,",
        b"\xff\xfe\x00",
        b"\0",
        b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"status\"}",
        &deep,
        &deep_params,
    ];
    for frame in frames {
        let answer = home.raw(frame, None).await;
        assert_eq!(answer.refusal, Some(Refusal::Unparsable), "{frame:?}");
        let answer = parse(&answer);
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32700), &Value::Null));
    }
}

#[tokio::test]
async fn an_invalid_request_is_refused_with_its_id_if_that_is_readable() {
    let home = HintsHome::new();
    for (frame, id) in [
        (json!(1), Value::Null),
        (json!("x"), Value::Null),
        (json!(null), Value::Null),
        (json!([]), Value::Null),
        (json!({}), Value::Null),
        (json!({ "id": 4, "method": "status" }), json!(4)),
        (json!({ "jsonrpc": "1.0", "id": 4, "method": "status" }), json!(4)),
        (json!({ "jsonrpc": 2.0, "id": 4, "method": "status" }), json!(4)),
        (json!({ "jsonrpc": "2.0", "id": "a" }), json!("a")),
        (json!({ "jsonrpc": "2.0", "id": "a", "method": 1 }), json!("a")),
        (json!({ "jsonrpc": "2.0", "id": "a", "result": {} }), json!("a")),
        (json!({ "jsonrpc": "2.0", "id": [1], "method": "status" }), Value::Null),
        (json!({ "jsonrpc": "2.0", "id": true, "method": "status" }), Value::Null),
        (json!({ "jsonrpc": "2.0", "id": {}, "method": "status" }), Value::Null),
    ] {
        let answer = home.raw(frame.to_string().as_bytes(), None).await;
        assert_eq!(answer.refusal, Some(Refusal::NotARequest), "{frame}");
        let answer = parse(&answer);
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &id), "{frame}");
    }
}

#[tokio::test]
async fn bad_parameters_and_methods_are_errors_of_the_call() {
    let home = HintsHome::new();
    for (method, params, code) in [
        ("get_hint", json!(["web", "build"]), 40001),
        ("get_hint", json!("web"), 40001),
        ("get_hint", json!(3), 40001),
        ("get_hint", json!({ "component": "web" }), 40001),
        ("get_hint", json!({ "component": "web", "key": "k", "more": 1 }), 40001),
        ("get_hint", json!({ "component": 1, "key": "k" }), 40001),
        ("no_such_method", json!({}), -32601),
        ("", json!({}), -32601),
        ("rpc.discover", json!([1]), -32601),
    ] {
        let frame = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = home.raw(frame.to_string().as_bytes(), None).await;
        assert_eq!(answer.refusal, None, "{frame}");
        let answer = parse(&answer);
        assert_eq!(answer["error"]["code"], code, "{frame}: {answer}");
        assert!(answer["error"]["data"]["reason"].is_string(), "{answer}");
    }
}

#[tokio::test]
async fn a_batch_is_answered_in_order_and_its_bad_members_one_by_one() {
    let home = HintsHome::new();
    let note = json!({ "jsonrpc": "2.0", "method": "status" });
    let batch = json!([set_hint(1, "a"), 5, note, get_hint(2, "a"), { "id": 9 }, get_hint(3, "b")]);
    let answer = home.raw(batch.to_string().as_bytes(), None).await;
    assert_eq!(answer.refusal, None);
    let answer = parse(&answer);
    let seen: Vec<(Value, Value)> = answer
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["id"].clone(), one["error"]["code"].clone()))
        .collect();
    let expected = [
        (json!(1), Value::Null),
        (Value::Null, json!(-32600)),
        (json!(2), Value::Null),
        (json!(9), json!(-32600)),
        (json!(3), json!(40401)),
    ];
    assert_eq!(seen, expected, "{answer}");
}

#[tokio::test]
async fn notifications_run_without_an_answer() {
    let home = HintsHome::new();
    let mut note = set_hint(1, "quiet");
    note.as_object_mut().unwrap().remove("id");
    let unknown = json!({ "jsonrpc": "2.0", "method": "no_such_method", "params": [1] });
    for frame in [note.clone(), unknown.clone(), json!([note, unknown])] {
        let answer = home.raw(frame.to_string().as_bytes(), None).await;
        assert_eq!((answer.body, answer.refusal), (None, None), "{frame}");
    }
    assert_eq!(home.ask(&get_hint(2, "quiet")).await["result"]["hint"]["value"], "make quiet");
}

#[tokio::test]
async fn a_batch_over_its_limit_is_refused_with_the_number() {
    let home = HintsHome::new();
    let member = json!({ "jsonrpc": "2.0", "method": "no_such_method" });
    let most = Value::Array(vec![member.clone(); limits::BATCH_MAX]);
    assert_eq!(home.raw(most.to_string().as_bytes(), None).await.body, None);
    let over = Value::Array(vec![member; limits::BATCH_MAX + 1]);
    let answer = home.ask(&over).await;
    assert_eq!(answer["error"]["code"], 41301);
    assert_eq!(answer["error"]["data"]["max"], limits::BATCH_MAX);
}

#[tokio::test]
async fn only_imports_and_hooks_may_be_larger_than_a_request() {
    let home = HintsHome::new();
    let padding = "x".repeat(limits::REQUEST_BYTES_MAX);
    let large = |method| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "event": padding } });
    for method in ["set_hint", "status", "no_such_method"] {
        let answer = home.ask(&large(method)).await;
        assert_eq!(answer["error"]["code"], 41301, "{method}");
        assert_eq!(answer["error"]["data"]["max"], limits::REQUEST_BYTES_MAX);
    }
    assert_ne!(home.ask(&large("hook")).await["error"]["code"], 41301);
}

#[tokio::test]
async fn a_repeated_call_returns_the_stored_answer_alone_and_in_a_batch() {
    let home = HintsHome::new();
    let call = Some(CallId([7; 16]));
    let frame = set_hint(1, "once").to_string();
    let first = home.raw(frame.as_bytes(), call).await.body;
    assert_eq!(home.raw(frame.as_bytes(), call).await.body, first);
    let version = home.ask(&get_hint(2, "once")).await["result"]["hint"]["version"].clone();
    assert_eq!(version, 1);
    let batch = json!([set_hint(1, "a"), set_hint(2, "b")]).to_string();
    let call = Some(CallId([8; 16]));
    let first = home.raw(batch.as_bytes(), call).await.body;
    assert_eq!(home.raw(batch.as_bytes(), call).await.body, first);
    for key in ["a", "b"] {
        let hint = home.ask(&get_hint(3, key)).await["result"]["hint"].clone();
        assert_eq!((&hint["value"], &hint["version"]), (&json!(format!("make {key}")), &json!(1)));
    }
}

#[tokio::test]
async fn an_envelope_counts_only_where_it_is_honoured() {
    let home = HintsHome::new();
    let mut frame = json!({ "jsonrpc": "2.0", "id": 1, "method": "status" });
    frame["rekindle"] = json!({ "call": CallId([1; 16]), "tier": "hook", "db": "/our.db" });
    let ask = async |frame: &Value, envelope| {
        let frame = frame.to_string();
        parse(&answer(&home.runtime, frame.as_bytes(), &sender(envelope), None).await)
    };
    assert!(ask(&frame, false).await["result"].is_object(), "a stranger's tier is not believed");
    assert_eq!(ask(&frame, true).await["error"]["code"], 40301, "a hook may not ask for status");
    frame["rekindle"]["tier"] = "person".into();
    assert!(ask(&frame, true).await["result"].is_object());
    frame["rekindle"]["db"] = "/other.db".into();
    assert_eq!(ask(&frame, true).await["error"]["code"], 40902);
    frame["rekindle"] = json!({ "call": "nonsense" });
    assert_eq!(ask(&frame, true).await["error"]["code"], 40001);
}
