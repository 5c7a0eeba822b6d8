//! Operations to MCP: each message is answered on its own, whatever carried it here.
//!
//! Read in this order: [`McpServer`] (the two ways in), `message` (one line of JSON-RPC), `http`
//! (the layer in front of the SDK's HTTP service), `handler` (what the SDK asks of us), `tools`
//! and `resources` (the table of operations as MCP shows it), `instructions` (when to call what), `progress`
//! (notifications while a job runs), `subscriptions` (updates of resources), `inert` (neutralises replies). This crate
//! keeps no socket, no session and no state of a client. Only a surface holds state, in its [`McpSubscriptions`]. A
//! message that is sent again to another daemon has everything that is needed in itself and in its [`Peer`].

mod errors;
mod handler;
mod http;
mod inert;
mod instructions;
mod message;
mod progress;
mod resources;
mod subscriptions;
mod tools;
mod wording;

use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use contract::Table;
use model::{CallId, Caller, OpError};
use rmcp::RoleServer;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use runtime::Runtime;
use tokio::sync::mpsc;

use crate::handler::Handler;

pub use crate::instructions::server_instructions;
pub use crate::progress::{Notified, Notifying};
pub use crate::subscriptions::{McpSubscriptions, ResourceUpdates, SubscriptionChange};

/// The sender of a message, as known to the surface that received it.
#[derive(Clone, Debug)]
pub struct Peer {
    pub caller: Caller,
    /// The id of this message: sent again with the same id, a write is not done twice.
    pub call: CallId,
    /// The revision that `initialize` agreed upon earlier, if there was one.
    pub revision: Option<String>,
    /// The toolsets this client is shown, separated by commas; empty means the configured ones.
    pub tools: String,
    /// Takes notifications to the client, as lines, until the reply; none where the surface cannot send any.
    pub notify: Option<mpsc::Sender<String>>,
    /// The number of its subscriptions; none where the surface cannot keep any.
    pub subscriptions: Option<usize>,
}

/// The reply to one line, and the revision that the line negotiated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The reply without a line end; none for notifications.
    pub line: Option<String>,
    /// The revision that this very line agreed upon; the surface passes it along with later lines.
    pub revision: Option<String>,
    /// Changes of the client's subscriptions, which the surface applies before it sends the reply.
    pub changes: Vec<SubscriptionChange>,
}

/// An answer on its way. Boxed, because a bare future brings the SDK's code with it into every crate
/// that polls it.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The MCP face of a runtime. Cheap to clone.
#[derive(Clone)]
pub struct McpServer {
    handler: Handler,
    /// A peer without a client: the SDK requires a peer, and a single message has none.
    nobody: Arc<OnceLock<rmcp::Peer<RoleServer>>>,
    sdk: Arc<StreamableHttpService<Handler, NeverSessionManager>>,
    /// Ends the streams of the SDK's service.
    stop: Arc<dyn Fn() + Send + Sync>,
}

impl McpServer {
    pub fn new(runtime: Runtime) -> McpServer {
        let handler = Handler::new(runtime);
        let (sdk, stop) = http::sdk_service(handler.clone());
        McpServer { handler, nobody: Arc::default(), sdk: Arc::new(sdk), stop }
    }

    /// Ends the open streams of `/mcp`: the daemon stops.
    pub fn stop(&self) {
        (self.stop)();
    }
}

/// Checks that every name in a comma-separated list is a toolset; the error lists the toolsets.
pub fn check_toolset(table: &Table, list: &str) -> Result<(), OpError> {
    table.toolset(list).map(drop)
}

#[cfg(test)]
mod tests;
