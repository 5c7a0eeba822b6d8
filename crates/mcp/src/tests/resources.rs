//! Entries as resources.

use serde_json::{Value, json};

use super::{Bench, modern, request};

async fn bench_with_hints() -> Bench {
    let bench = Bench::new();
    for (key, value) in [("build", "make all"), ("a b/c", "odd name")] {
        let set =
            bench.call("set_hint", json!({"component": "web", "key": key, "value": value})).await;
        assert_eq!(set["isError"], false, "{set}");
    }
    bench
}

#[tokio::test]
async fn every_listed_resource_can_be_read_by_its_uri() {
    let bench = bench_with_hints().await;
    let listed = bench.ask(&request("resources/list", json!({}))).await;
    let resources = listed["result"]["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 2, "{listed}");
    for resource in resources {
        let read = bench.ask(&request("resources/read", json!({"uri": resource["uri"]}))).await;
        let content = &read["result"]["contents"][0];
        assert_eq!(content["uri"], resource["uri"], "{read}");
        assert_eq!(content["mimeType"], resource["mimeType"]);
        assert!(content["text"].is_string() && resource["name"].is_string(), "{resource}");
    }
    let uris: Vec<&Value> = resources.iter().map(|resource| &resource["uri"]).collect();
    assert!(uris.contains(&&json!("hint://web/build")), "{uris:?}");
}

#[tokio::test]
async fn templates_say_how_a_uri_is_made() {
    let bench = Bench::new();
    let listed = bench.ask(&request("resources/templates/list", json!({}))).await;
    let template = &listed["result"]["resourceTemplates"][0];
    assert_eq!(template["uriTemplate"], "hint://{component}/{key}");
    assert!(template["name"].is_string() && template["description"].is_string(), "{template}");
}

#[tokio::test]
async fn a_resource_that_is_not_there_has_the_number_of_the_revision() {
    let bench = Bench::new();
    let uri = json!({"uri": "hint://web/none"});
    for (message, code) in [
        (request("resources/read", uri.clone()), -32002),
        (modern("resources/read", uri.clone()), -32602),
    ] {
        let error = bench.ask(&message).await["error"].take();
        assert_eq!(error["code"], code, "{error}");
        assert_eq!(error["data"]["uri"], "hint://web/none");
    }
}

#[tokio::test]
async fn a_uri_that_is_none_of_ours_is_refused() {
    let bench = Bench::new();
    for uri in ["", "web", "hint://../x", "file:///etc/passwd", "nothing://x", "hint://%zz/x"] {
        let reply = bench.ask(&request("resources/read", json!({"uri": uri}))).await;
        let code = reply["error"]["code"].as_i64().unwrap();
        assert!(code == -32602 || code == -32002, "{uri}: {reply}");
        assert_eq!(reply["error"]["data"]["uri"], uri);
    }
    let reply = bench.ask(&request("resources/read", json!({}))).await;
    assert_eq!(reply["error"]["code"], -32602);
}
