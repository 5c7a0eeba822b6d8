//! Revisions, what the server says of itself, and what it lists.

use std::sync::Arc;

use contract::{Operation, Plugin, Table};
use model::limits;
use serde_json::{Value, json};

use super::{Bench, modern, peer, request};
use crate::{Answer, Peer, check_toolset};

fn initialize(revision: &str) -> Value {
    let client = json!({"name": "test", "version": "1"});
    request(
        "initialize",
        json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client}),
    )
}

#[tokio::test]
async fn each_older_revision_is_agreed_upon_and_handed_back() {
    let bench = Bench::new();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let line = initialize(revision).to_string();
        let answer = bench.server.line(line.as_bytes(), peer()).await;
        assert_eq!(answer.revision.as_deref(), Some(revision));
        let reply: Value = serde_json::from_str(&answer.line.unwrap()).unwrap();
        let result = &reply["result"];
        assert_eq!(result["protocolVersion"], revision);
        assert_eq!(result["serverInfo"]["name"], "rekindle");
        assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(result["capabilities"], json!({"tools": {}, "resources": {}}));
        assert_eq!(result["instructions"], instructions(&bench));
        assert!(result.get("resultType").is_none(), "{result}");
    }
}

#[tokio::test]
async fn a_revision_without_initialize_gets_the_newest_that_has_it() {
    let bench = Bench::new();
    for revision in ["2026-07-28", "2031-01-01", "one"] {
        let line = initialize(revision).to_string();
        let answer = bench.server.line(line.as_bytes(), peer()).await;
        assert_eq!(answer.revision.as_deref(), Some("2025-11-25"), "{revision}");
    }
}

#[tokio::test]
async fn an_initialize_without_its_parameters_is_refused_with_its_id() {
    let bench = Bench::new();
    let reply = bench.ask(&request("initialize", json!({"protocolVersion": "2025-11-25"}))).await;
    assert_eq!((&reply["error"]["code"], &reply["id"]), (&json!(-32602), &json!(7)));
}

#[tokio::test]
async fn discover_tells_all_revisions_and_how_long_it_holds() {
    let bench = Bench::new();
    let result = bench.ask(&modern("server/discover", json!({}))).await["result"].take();
    let supported = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
    assert_eq!(result["supportedVersions"], json!(supported));
    assert_eq!(result["resultType"], "complete");
    assert!(result["ttlMs"].is_u64() && result["cacheScope"].is_string(), "{result}");
    assert_eq!(result["instructions"], instructions(&bench));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "rekindle");
    let bare = bench.ask(&request("server/discover", json!({}))).await;
    assert_eq!(bare["error"]["code"], -32602, "{bare}");
}

#[tokio::test]
async fn a_modern_request_gets_the_modern_result_and_an_older_one_does_not() {
    let bench = Bench::new();
    let listed = bench.ask(&modern("tools/list", json!({}))).await["result"].take();
    assert_eq!(listed["resultType"], "complete");
    assert!(listed["ttlMs"].is_u64() && listed["cacheScope"].is_string(), "{listed}");
    let call = json!({"name": "get_hint", "arguments": {"component": "a", "key": "b"}});
    let called = bench.ask(&modern("tools/call", call)).await["result"].take();
    assert_eq!(called["resultType"], "complete");
    let older = bench.ask(&request("tools/list", json!({}))).await["result"].take();
    assert!(older.get("resultType").is_none() && older.get("ttlMs").is_none(), "{older}");
}

#[tokio::test]
async fn the_error_for_an_unknown_revision_lists_the_supported_ones() {
    let bench = Bench::new();
    let mut message = modern("tools/list", json!({}));
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let error = bench.ask(&message).await["error"].take();
    assert_eq!(error["code"], -32022);
    assert_eq!(error["data"]["requested"], "2031-01-01");
    assert_eq!(error["data"]["supported"].as_array().map(Vec::len), Some(5));
}

#[tokio::test]
async fn ping_is_answered_where_the_revision_has_it() {
    let bench = Bench::new();
    let bare = json!({"jsonrpc": "2.0", "id": "p", "method": "ping"});
    assert_eq!(bench.ask(&bare).await, json!({"jsonrpc": "2.0", "id": "p", "result": {}}));
    assert_eq!(bench.ask(&modern("ping", json!({}))).await["error"]["code"], -32601);
    assert_eq!(bench.ask(&modern("initialize", json!({}))).await["error"]["code"], -32601);
}

#[tokio::test]
async fn an_undeclared_method_is_unknown() {
    let bench = Bench::new();
    let reference = json!({"type": "ref/prompt", "name": "x"});
    let argument = json!({"name": "a", "value": "b"});
    for (method, params) in [
        ("prompts/list", json!({})),
        ("prompts/get", json!({"name": "x"})),
        ("completion/complete", json!({"ref": reference, "argument": argument})),
        ("logging/setLevel", json!({"level": "debug"})),
        ("resources/subscribe", json!({"uri": "hint://a/b"})),
        ("subscriptions/listen", json!({"notifications": {}})),
        ("tasks/get", json!({"taskId": "x"})),
        ("no/such", json!({})),
        ("", json!([1])),
    ] {
        for message in [request(method, params.clone()), request(method, Value::Null)] {
            let reply = bench.ask(&message).await;
            assert_eq!(reply["error"]["code"], -32601, "{method}: {reply}");
            assert_eq!(reply["id"], 7);
        }
    }
}

#[tokio::test]
async fn notifications_and_responses_have_no_reply() {
    let bench = Bench::new();
    for line in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","method":"no/such","params":[]}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":3,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"x"}}"#,
        r#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#,
        "",
        " \r\n",
    ] {
        assert_eq!(bench.server.line(line.as_bytes(), peer()).await, Answer::default(), "{line}");
    }
}

#[tokio::test]
async fn tools_are_listed_by_name_and_always_in_the_same_words() {
    let bench = Bench::new();
    let message = request("tools/list", json!({}));
    let first = bench.ask(&message).await;
    assert_eq!(first, bench.ask(&message).await);
    let tools = first["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.is_sorted() && names.contains(&"get_hint"), "{names:?}");
    for tool in tools {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{tool}");
        assert!(tool.to_string().len() < 4_000, "each tool costs every agent: {tool}");
    }
    let loaded = tools.iter().filter(|tool| tool["_meta"]["anthropic/alwaysLoad"] == true);
    let loaded: Vec<&str> = loaded.map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(loaded, ["get_hint", "get_observations", "search"]);
}

#[tokio::test]
async fn the_toolset_decides_what_is_listed() {
    let bench = Bench::new();
    let message = request("tools/list", json!({}));
    let names = async |tools: &str| -> Vec<String> {
        let from = Peer { tools: tools.to_owned(), ..peer() };
        let reply = bench.ask_as(from, &message).await;
        let tools = reply["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("").await, names("core").await);
    let hints = [
        "bump_hint",
        "delete_hint",
        "export_hints",
        "get_hint",
        "hint_stats",
        "import_hints",
        "list_components",
        "query_hints",
        "set_hint",
    ];
    assert_eq!(names("hints").await, hints);
    let all = names("all").await;
    assert!(all.len() > names("core").await.len() && !all.contains(&"hook".to_owned()), "{all:?}");
    let from = Peer { tools: "nonsense".to_owned(), ..peer() };
    let error = bench.ask_as(from, &message).await["error"].take();
    assert_eq!(error["code"], -32602);
    assert!(error["data"]["hint"].as_str().unwrap().contains("core"), "{error}");
    assert!(check_toolset(bench.local.runtime.table(), "nonsense").is_err());
    assert_eq!(check_toolset(bench.local.runtime.table(), "core,hints"), Ok(()));
}

#[tokio::test]
async fn a_cursor_that_the_server_did_not_issue_is_refused() {
    let bench = Bench::new();
    for method in ["tools/list", "resources/list", "resources/templates/list"] {
        let reply = bench.ask(&request(method, json!({"cursor": "x"}))).await;
        assert_eq!(reply["error"]["code"], -32602, "{method}");
    }
}

fn instructions(bench: &Bench) -> String {
    crate::server_instructions(bench.local.runtime.table())
}

/// @mcp_instructions
#[test]
fn the_instructions_are_short_and_name_only_what_exists() {
    let bench = Bench::new();
    let text = instructions(&bench);
    assert!(text.len() < limits::MCP_INSTRUCTIONS_BYTES_MAX, "{}", text.len());
    let table = bench.local.runtime.table();
    let words = text.split(|c: char| !(c.is_ascii_lowercase() || c == '_'));
    for name in words.filter(|word| word.contains('_')) {
        assert!(table.find(name).is_some(), "{name}");
    }
    // Every plugin's paragraph is there, in the order of their names.
    assert_eq!(table.instructions().count(), 2);
    let (hints, records) = (text.find("\n\nHints are"), text.find("\n\nRecords are"));
    assert!(
        text.starts_with("Rekindle is a memory") && hints.is_some() && hints < records,
        "{text}"
    );
    assert!(table.instructions().all(|paragraph| text.contains(paragraph)), "{text}");
}

/// A plugin that has nothing but instructions.
struct Talker(&'static str, &'static str);

impl Plugin for Talker {
    fn name(&self) -> &'static str {
        self.0
    }

    fn operations(&self) -> Vec<Operation> {
        Vec::new()
    }

    fn instructions(&self) -> &'static str {
        self.1
    }
}

#[test]
fn instructions_that_exceed_the_limit_are_left_out() {
    let long: &str = "x".repeat(limits::MCP_INSTRUCTIONS_BYTES_MAX).leak();
    let plugins: Vec<Arc<dyn Plugin>> = vec![
        Arc::new(Talker("zebra", "Last.")),
        Arc::new(Talker("lion", long)),
        Arc::new(Talker("mute", "")),
        Arc::new(Talker("ape", "First.")),
    ];
    let text = crate::server_instructions(&Table::new(&plugins));
    assert!(text.ends_with("what to do next.\n\nFirst.\n\nLast."), "{text}");
}
