//! Tests at the boundary that surfaces use: one line or one HTTP request in, the answer out, with
//! a real runtime over a database in a temporary folder.

mod calls;
mod hostile;
mod lifecycle;
mod over_http;
mod resources;
mod schema;
mod text;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use contract::Tier;
use model::{CallId, Caller};
use serde_json::{Value, json};
use testkit::Local;

use crate::{McpServer, Peer};

static COUNTER: AtomicU64 = AtomicU64::new(1);

fn next() -> u64 {
    COUNTER.fetch_add(1, Ordering::Relaxed)
}

/// A server over an empty database of its own.
struct Bench {
    server: McpServer,
    local: Local,
}

impl Bench {
    fn new() -> Bench {
        let plugins: Vec<Arc<dyn contract::Plugin>> = vec![
            Arc::new(plugin_hints::Hints::default()),
            Arc::new(plugin_observations::Observations),
        ];
        Bench::over(plugins)
    }

    fn over(plugins: Vec<Arc<dyn contract::Plugin>>) -> Bench {
        let local = Local::new(plugins, &[]);
        Bench { server: McpServer::new(local.runtime.clone()), local }
    }

    /// The reply to a message that has one.
    async fn ask(&self, message: &Value) -> Value {
        self.ask_as(peer(), message).await
    }

    async fn ask_as(&self, from: Peer, message: &Value) -> Value {
        let answer = self.server.line(message.to_string().as_bytes(), from).await;
        serde_json::from_str(&answer.line.unwrap()).unwrap()
    }

    /// The result of a tool.
    async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.ask(&request("tools/call", json!({"name": tool, "arguments": arguments}))).await
            ["result"]
            .take()
    }
}

/// An agent that is shown the configured tools, with a call id of its own.
fn peer() -> Peer {
    Peer {
        caller: Caller { tier: Tier::Agent, ..Caller::default() },
        call: CallId((u128::from(next()) << 32).to_be_bytes()),
        revision: None,
        tools: String::new(),
        notify: None,
        subscriptions: None,
    }
}

fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}

/// A request that says everything by itself, as the modern revision wants.
fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    request(method, params)
}
