//! MCP as agents see it: revisions, tools, toolsets, resources, and nothing else on stdout.

use serde_json::{Value, json};
use testkit::{Home, Mcp, Sse};

use super::home;
use super::ways::{modern, modern_meta, of_tool, request};

/// Revisions that start with a handshake.
const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

fn hint() -> Value {
    json!({ "component": "web", "key": "build", "value": "make" })
}

/// A stdio client with the handshake done.
fn client(home: &Home, flags: &[&str]) -> Mcp {
    let mut mcp = home.serve_with(flags);
    mcp.initialize("2025-11-25");
    mcp
}

fn tool_names(reply: &Value) -> Vec<&str> {
    let tools = reply["result"]["tools"].as_array().unwrap_or_else(|| panic!("{reply}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// @mcp_revisions
#[test]
fn every_revision_with_a_handshake_is_spoken_on_stdio() {
    for revision in REVISIONS {
        let home = home();
        for role in ["primary", "proxy"] {
            let _first = (role == "proxy").then(|| client(&home, &[]));
            let mut mcp = home.serve();
            assert_eq!(mcp.initialize(revision), revision, "{role}");
            assert_eq!(mcp.request("ping", &json!({}))["result"], json!({}));
            let stored = of_tool(
                &mcp.request("tools/call", &json!({ "name": "set_hint", "arguments": hint() })),
            );
            assert_eq!(stored.unwrap()["hint"]["value"], "make", "{revision} {role}");
        }
    }
    let home = home();
    assert_eq!(home.serve().initialize("1999-01-01"), "2025-11-25");
}

/// @mcp_revisions
#[test]
fn every_revision_with_a_handshake_is_spoken_over_http() {
    let home = home();
    let daemon = home.daemon();
    for revision in REVISIONS {
        let info = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": info });
        let body = request("initialize", &params);
        let reply = daemon.http().post("/mcp", body.as_bytes()).json();
        assert_eq!(reply["result"]["protocolVersion"], revision);
        assert!(reply["result"]["instructions"].as_str().unwrap().len() < 2_000);
        let http = daemon.http().with("MCP-Protocol-Version", revision).with("Mcp-Session-Id", "x");
        let call = json!({ "name": "set_hint", "arguments": hint() });
        let answer = http.post("/mcp", request("tools/call", &call).as_bytes());
        assert_eq!((answer.status, of_tool(&answer.json()).is_ok()), (200, true), "{revision}");
        let mut sse = Sse::open(&daemon.http(), "/sse");
        let message = serde_json::from_str(&body).unwrap();
        assert_eq!(sse.request(&message)["result"]["protocolVersion"], revision);
    }
    let unknown = daemon.http().with("MCP-Protocol-Version", "1999-01-01");
    let answer = unknown.post("/mcp", request("tools/list", &json!({})).as_bytes());
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32600)));
}

/// @mcp_without_handshake
#[test]
fn the_revision_without_a_handshake_is_spoken_on_stdio_and_http() {
    let home = home();
    let daemon = home.daemon();
    let (status, discovered) = modern(&daemon.http(), "server/discover", &json!({}));
    assert_eq!(status, 200, "{discovered}");
    let known = discovered["result"]["supportedVersions"].as_array().unwrap();
    assert!(known.contains(&json!("2026-07-28")), "{discovered}");
    let call = json!({ "name": "set_hint", "arguments": hint() });
    let (status, reply) = modern(&daemon.http(), "tools/call", &call);
    assert_eq!((status, &reply["result"]["resultType"]), (200, &json!("complete")), "{reply}");
    assert_eq!(of_tool(&reply).unwrap()["hint"]["version"], 1);
    let (status, reply) = modern(&daemon.http(), "no/such", &json!({}));
    assert_eq!((status, &reply["error"]["code"]), (404, &json!(-32601)), "{reply}");

    let mut mcp = home.serve();
    let mut call = call;
    call["_meta"] = modern_meta();
    assert_eq!(of_tool(&mcp.request("tools/call", &call)).unwrap()["hint"]["version"], 2);
    let discovered = mcp.request("server/discover", &json!({ "_meta": modern_meta() }));
    let info = &discovered["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(info["name"], "rekindle", "{discovered}");
}

/// @tools_list_is_deterministic
#[test]
fn the_list_of_tools_is_the_same_bytes_every_time_and_in_order() {
    let home = home();
    let mut primary = client(&home, &["--tools", "all"]);
    let mut proxy = client(&home, &["--tools", "all"]);
    let lists: Vec<String> = [&mut primary, &mut proxy]
        .into_iter()
        .flat_map(|mcp| {
            (0..2)
                .map(|_| mcp.request("tools/list", &json!({}))["result"].to_string())
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(lists.windows(2).all(|pair| pair[0] == pair[1]), "{lists:?}");
    let list = primary.request("tools/list", &json!({}));
    let names = tool_names(&list);
    assert!(names.is_sorted(), "{names:?}");
    for tool in list["result"]["tools"].as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        let hints = &tool["annotations"];
        for name in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(hints[name].is_boolean(), "{name} of {tool}");
        }
    }
}

/// The tools that are listed by default.
const CORE: [&str; 18] = [
    "assemble_context",
    "bump_hint",
    "file_history",
    "get_hint",
    "get_observations",
    "get_relevant_context",
    "mark",
    "query_hints",
    "recent_context",
    "resolve_ghap",
    "search",
    "session_trace",
    "set_hint",
    "set_relevant_context",
    "start_ghap",
    "store_memory",
    "timeline",
    "update_ghap",
];

/// The tools of the toolset `hints`.
const HINTS: [&str; 9] = [
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

/// @toolsets
#[test]
fn a_toolset_decides_which_tools_are_listed_and_not_which_may_be_called() {
    let home = home();
    let mut usual = client(&home, &[]);
    assert_eq!(tool_names(&usual.request("tools/list", &json!({}))), CORE);
    let mut entries = client(&home, &["--tools", "entries"]);
    assert_eq!(tool_names(&entries.request("tools/list", &json!({}))), ["get", "list_resources"]);
    assert_eq!(entries.call("set_hint", &hint()).unwrap()["hint"]["version"], 1);
    let mut both = client(&home, &["--tools", "entries,hints"]);
    let listed = both.request("tools/list", &json!({}));
    let mut expected = [&HINTS[..], &["get", "list_resources"]].concat();
    expected.sort_unstable();
    assert_eq!(tool_names(&listed), expected);
    let mut all = client(&home, &["--tools=all"]);
    let listed = all.request("tools/list", &json!({}));
    let names = tool_names(&listed);
    assert!(names.contains(&"status"), "{names:?}");
    assert!(!names.contains(&"stop") && !names.contains(&"hook"), "{names:?}");
}

/// @core_is_listed_short
#[test]
fn core_leaves_out_advanced_parameters_that_calls_may_still_have() {
    let home = home();
    let mut usual = client(&home, &[]);
    let listed = usual.request("tools/list", &json!({}))["result"]["tools"].take();
    let tool = |name: &str| listed.as_array().unwrap().iter().find(|tool| tool["name"] == name);
    let search = tool("search").unwrap();
    let names = |tool: &Value| tool["inputSchema"]["properties"].as_object().unwrap().clone();
    assert!(names(search).contains_key("query") && !names(search).contains_key("explain"));
    assert_eq!(search["annotations"], json!({ "readOnlyHint": true, "openWorldHint": false }));
    let start = tool("start_ghap").unwrap();
    assert_eq!(start["annotations"], json!({ "destructiveHint": false, "openWorldHint": false }));
    assert!(start.get("outputSchema").is_none(), "{start}");
    let words = json!({ "query": "anything", "explain": true, "order_by": "recent" });
    let found = usual.call("search", &words).unwrap();
    assert_eq!(found["results"], json!([]), "{found}");
    let mut own = client(&home, &["--tools", "core,memory"]);
    let listed = own.request("tools/list", &json!({}))["result"]["tools"].take();
    let tool = |name: &str| listed.as_array().unwrap().iter().find(|tool| tool["name"] == name);
    let search = tool("search").unwrap();
    assert!(names(search).contains_key("explain") && search["outputSchema"].is_object());
    assert!(tool("start_ghap").unwrap().get("outputSchema").is_none());
}

/// @toolsets
#[test]
fn the_toolset_is_also_set_by_the_environment_or_the_address() {
    let mut home = home();
    home.set("REKINDLE_TOOLS", "entries");
    let entries = ["get", "list_resources"];
    let mut mcp = client(&home, &[]);
    assert_eq!(tool_names(&mcp.request("tools/list", &json!({}))), entries);
    let mut flagged = client(&home, &["--tools", "hints"]);
    assert_eq!(tool_names(&flagged.request("tools/list", &json!({}))), HINTS);
    let port = home.discovery()["port"].as_u64().unwrap().try_into().unwrap();
    let http = testkit::Http::new(port).with("Authorization", &format!("Bearer {}", home.token()));
    let list = request("tools/list", &json!({}));
    let listed = |path: &str| http.post(path, list.as_bytes()).json();
    assert_eq!(tool_names(&listed("/mcp")), entries);
    assert_eq!(tool_names(&listed("/mcp?tools=hints")), HINTS);
    assert_eq!(tool_names(&listed("/mcp?tools=hints%2Centries")).len(), HINTS.len() + 2);
    let unknown = http.post("/mcp?tools=nonsense", list.as_bytes());
    assert_eq!((unknown.status, &unknown.json()["error"]["data"]["param"]), (400, &json!("tools")));
    let message = serde_json::from_str(&list).unwrap();
    let reply = Sse::open(&http, "/sse?tools=hints").request(&message);
    assert_eq!(tool_names(&reply), HINTS);
}

/// @unknown_toolset_is_a_usage_error
#[test]
fn an_unknown_toolset_is_a_usage_error() {
    let mut home = home();
    for flags in
        [&["serve", "--tools", "nonsense"][..], &["serve", "--http", "--tools=core,nonsense"]]
    {
        let run = home.run(flags);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
        assert!(run.stderr.contains("nonsense") && run.stderr.contains("core"), "{run:?}");
    }
    home.set("REKINDLE_TOOLS", "nonsense");
    assert_eq!(home.run(&["serve"]).code, 2);
}

/// @hints_are_resources
#[test]
fn every_hint_is_a_resource_that_can_be_listed_and_read() {
    let home = home();
    let mut mcp = client(&home, &[]);
    mcp.call("set_hint", &hint()).unwrap();
    let odd =
        json!({ "component": "a/b", "key": "ü 100%", "value": { "type": "command", "cmd": "ls" } });
    mcp.call("set_hint", &odd).unwrap();
    let listed = mcp.request("resources/list", &json!({}));
    let resources = listed["result"]["resources"].as_array().unwrap();
    let uris: Vec<&str> = resources.iter().map(|one| one["uri"].as_str().unwrap()).collect();
    assert_eq!(uris, ["hint://a%2Fb/%C3%BC%20100%25", "hint://web/build"]);
    for (resource, text) in resources.iter().zip([r#"{"type":"command","cmd":"ls"}"#, "make"]) {
        let read = mcp.request("resources/read", &json!({ "uri": resource["uri"] }));
        let contents = &read["result"]["contents"][0];
        assert_eq!(contents["text"], text, "{read}");
        assert_eq!(
            (&contents["uri"], &contents["mimeType"]),
            (&resource["uri"], &resource["mimeType"])
        );
    }
    let templates = mcp.request("resources/templates/list", &json!({}));
    let templates = templates["result"]["resourceTemplates"].as_array().unwrap();
    let has = |template: &str| templates.iter().any(|one| one["uriTemplate"] == template);
    assert!(has("hint://{component}/{key}"), "{templates:?}");
    let missing = mcp.request("resources/read", &json!({ "uri": "hint://web/none" }));
    assert_eq!(missing["error"]["code"], -32002, "{missing}");
    let read = home.run(&["get", "hint://web/build"]).ok();
    assert_eq!(read, "make\n");
}

/// @stdout_has_frames_only
#[test]
fn serve_writes_only_frames_to_stdout() {
    let home = home();
    let mut mcp = home.serve();
    let lines: [&[u8]; 7] = [
        b"\n",
        b"   \n",
        b"not json\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"no_such\"}}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\n",
    ];
    lines.into_iter().for_each(|line| mcp.send(line));
    let mut replies = Vec::new();
    let last = std::iter::from_fn(|| mcp.receive()).find_map(|line| {
        let reply: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        assert_eq!(reply["jsonrpc"], "2.0");
        replies.push(reply["id"].clone());
        (reply["id"] == 3).then_some(reply)
    });
    assert_eq!(last.unwrap()["result"], json!({}));
    assert_eq!(replies, [Value::Null, json!(1), json!(2), json!(3)]);
    mcp.close_stdin();
    assert_eq!(mcp.receive(), None);
    assert_eq!(mcp.wait(), Some(0));
}

/// @stdout_has_frames_only
#[test]
fn the_last_line_needs_no_newline() {
    let home = home();
    let line = br#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#;
    let run = home.run_with(&["serve"], line);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (0, "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n")
    );
}
