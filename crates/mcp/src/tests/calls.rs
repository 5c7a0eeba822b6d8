//! Tools called: results, aliases, errors, repeats, batches.

use model::{CallId, Caller, Request, Tier};
use serde_json::{Value, json};

use super::{Bench, peer, request, schema};
use crate::Peer;

#[tokio::test]
async fn a_result_is_the_same_as_structure_and_as_text() {
    let bench = Bench::new();
    let set =
        bench.call("set_hint", json!({"component": "web", "key": "build", "value": "make"})).await;
    assert_eq!(set["isError"], false, "{set}");
    let got = bench.call("get_hint", json!({"component": "web", "key": "build"})).await;
    assert_eq!(got["structuredContent"]["hint"]["value"], "make");
    for result in [set, got] {
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(result["content"][0]["type"], "text");
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
    }
}

#[tokio::test]
async fn the_results_of_all_examples_match_their_output_schema() {
    let table = Bench::new();
    let mut seen = 0;
    for (op, form) in table.local.runtime.table().toolset("all").unwrap() {
        let promised = op.as_tool(form)["outputSchema"].take();
        for example in op.info.examples {
            let bench = Bench::new();
            for (number, (name, params)) in (1..).zip(example.before) {
                let params = serde_json::from_str(params).unwrap();
                let caller = Caller { tier: Tier::Client, ..Caller::default() };
                let request =
                    Request { call: CallId([number; 16]), op: name.to_string(), params, caller };
                bench.local.runtime.call_async(request).await.unwrap();
            }
            let result =
                bench.call(op.info.name, serde_json::from_str(example.params).unwrap()).await;
            assert_eq!(result["isError"], false, "{}: {result}", op.info.name);
            let checked = schema::check(&promised, &result["structuredContent"]);
            assert_eq!(checked, Ok(()), "{}: {result}", op.info.name);
            seen += 1;
        }
    }
    assert!(seen >= 2, "no example was run");
}

#[tokio::test]
async fn every_name_and_alias_can_be_called_whether_listed_or_not() {
    let bench = Bench::new();
    for name in ["set_hint", "nudge.set_hint", "nudge_set_hint"] {
        let arguments = json!({"component": "web", "key": name, "value": "x"});
        assert_eq!(bench.call(name, arguments).await["isError"], false, "{name}");
    }
    let from = Peer { tools: "core".to_owned(), ..peer() };
    let status = request("tools/call", json!({"name": "status"}));
    assert_eq!(bench.ask_as(from, &status).await["result"]["isError"], false);
}

#[tokio::test]
async fn an_error_of_an_operation_is_a_result_the_model_can_read() {
    let bench = Bench::new();
    for (arguments, code) in [
        (json!({"component": "a", "key": "b"}), 40401),
        (json!({"component": "a"}), 40001),
        (json!({"component": "a", "key": "b", "colour": 1}), 40001),
        (json!({"component": 1, "key": "b"}), 40001),
        (Value::Null, 40001),
    ] {
        let result = bench.call("get_hint", arguments.clone()).await;
        assert_eq!(result["isError"], true, "{arguments}: {result}");
        assert!(result.get("structuredContent").is_none(), "{result}");
        let error: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(error["code"], code, "{arguments}");
        assert!(error["message"].is_string() && error["data"]["reason"].is_string(), "{error}");
    }
}

#[tokio::test]
async fn arguments_that_are_no_object_are_the_models_to_mend() {
    let bench = Bench::new();
    for arguments in [json!([1]), json!("x"), json!(3), json!(true)] {
        let result = bench.call("get_hint", arguments.clone()).await;
        assert_eq!(result["isError"], true, "{arguments}: {result}");
        let error: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!((&error["code"], &error["data"]["param"]), (&json!(40001), &json!("arguments")));
        assert!(result.get("resultType").is_none(), "{result}");
    }
}

#[tokio::test]
async fn an_unknown_tool_is_a_protocol_error() {
    let bench = Bench::new();
    let error = bench.ask(&request("tools/call", json!({"name": "no_such"}))).await["error"].take();
    assert_eq!(error["code"], -32602);
    assert!(error["message"].as_str().unwrap().contains("no_such"), "{error}");
    for params in [json!({}), json!({"name": 3}), json!([]), json!(3), Value::Null] {
        let reply = bench.ask(&request("tools/call", params.clone())).await;
        assert_eq!(reply["error"]["code"], -32602, "{params}: {reply}");
    }
}

#[tokio::test]
async fn an_agent_is_refused_an_operation_of_another_tier() {
    let bench = Bench::new();
    let result = bench.call("hook", json!({"event": "Stop"})).await;
    assert_eq!(result["isError"], true);
    assert!(result["content"][0]["text"].as_str().unwrap().contains("E_FORBIDDEN"), "{result}");
}

#[tokio::test]
async fn a_line_that_is_sent_again_is_idempotent() {
    let bench = Bench::new();
    let arguments = json!({"component": "web", "key": "build", "value": "make"});
    let line =
        request("tools/call", json!({"name": "set_hint", "arguments": arguments})).to_string();
    let from = peer();
    let first = bench.server.line(line.as_bytes(), from.clone()).await;
    assert_eq!(first, bench.server.line(line.as_bytes(), from).await);
    let other = bench.call("set_hint", arguments).await;
    assert_eq!(other["structuredContent"]["hint"]["version"], 2);
}

#[tokio::test]
async fn a_batch_is_answered_in_order_and_each_member_is_its_own_call() {
    let bench = Bench::new();
    let member = |id: u32, key: &str| {
        let arguments = json!({"component": "web", "key": key, "value": key});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
               "params": {"name": "set_hint", "arguments": arguments}})
    };
    let notification = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let batch = json!([member(1, "a"), notification, member(2, "b"), 5, member(3, "a")]);
    let replies = bench.ask(&batch).await;
    let ids: Vec<&Value> = replies.as_array().unwrap().iter().map(|reply| &reply["id"]).collect();
    assert_eq!(ids, [&json!(1), &json!(2), &Value::Null, &json!(3)]);
    assert_eq!(replies[2]["error"]["code"], -32600);
    let hint = |at: usize| &replies[at]["result"]["structuredContent"]["hint"];
    assert_eq!((&hint(1)["value"], &hint(3)["version"]), (&json!("b"), &json!(2)));
}

#[tokio::test]
async fn a_batch_is_refused_when_empty_too_long_or_of_a_later_revision() {
    let bench = Bench::new();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let long = Value::Array(vec![ping.clone(); model::limits::BATCH_MAX + 1]);
    let later = Peer { revision: Some("2025-06-18".to_owned()), ..peer() };
    let earlier = Peer { revision: Some("2025-03-26".to_owned()), ..peer() };
    for (from, batch) in [(peer(), json!([])), (peer(), long), (later, json!([ping]))] {
        let reply = bench.ask_as(from, &batch).await;
        assert_eq!((&reply["error"]["code"], &reply["id"]), (&json!(-32600), &Value::Null));
    }
    assert_eq!(bench.ask_as(earlier, &json!([ping])).await[0]["result"], json!({}));
}
