//! One message of JSON-RPC, or a batch where the revision had them: its shape, its errors, and its
//! way to the SDK's handler. How it arrived and where the reply goes is the caller's business.

use std::convert::Infallible;
use std::future::{Future, ready};

use model::{OpError, limits, weight};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, CustomRequest, ErrorCode, ErrorData, GetExtensions,
    GetMeta, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::{RequestContext, Service, serve_directly};
use rmcp::transport::Transport;
use rmcp::{Peer as Recipient, RoleServer};
use serde_json::{Map, Value, json};

use crate::errors::protocol_error;
use crate::{Answer, Answering, McpServer, Peer, SubscriptionChange, inert};

/// The first revision that has no batches any more.
const WITHOUT_BATCHES: &str = "2025-06-18";

/// The result of handling a message.
#[derive(Default)]
pub(crate) struct Outcome {
    /// The reply as JSON text; none for notifications.
    pub(crate) reply: Option<String>,
    /// The revision that the message agreed upon.
    pub(crate) revision: Option<String>,
    /// It was not valid JSON-RPC: HTTP answers with the status 400.
    pub(crate) malformed: bool,
    /// Changes of the client's subscriptions.
    pub(crate) changes: Vec<SubscriptionChange>,
}

/// A message by its shape.
pub(crate) enum Shape {
    Request {
        id: RequestId,
        method: String,
        params: Option<Value>,
    },
    /// A notification, or a response to a question that we never ask.
    Unanswered,
    /// The notification that a request is cancelled.
    Cancelled {
        id: Value,
    },
    /// Not a valid message: the reason, and the id if it was readable.
    Invalid {
        id: Value,
        why: &'static str,
    },
}

impl McpServer {
    /// Answers one line from stdio, a PROXY, an event stream or a WebSocket.
    pub fn line<'a>(&'a self, line: &'a [u8], from: Peer) -> Answering<'a, Answer> {
        Box::pin(self.line_of(line, from))
    }

    async fn line_of(&self, line: &[u8], from: Peer) -> Answer {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Answer::default();
        }
        let outcome = match parse(line) {
            Ok(message) => match self.too_large(&message, line.len()) {
                Some(refused) => refused,
                None => self.message(message, from).await,
            },
            Err(refused) => refused,
        };
        Answer { line: outcome.reply, revision: outcome.revision, changes: outcome.changes }
    }

    /// The refusal of a message that took too many bytes on the wire.
    pub(crate) fn too_large(&self, message: &Value, bytes: usize) -> Option<Outcome> {
        let error = self.handler.check_size(message, bytes).err()?;
        let id = message.get("id").filter(|id| id.is_string() || id.is_number());
        Some(refused(id, &error))
    }

    /// Answers one message or batch.
    pub(crate) async fn message(&self, message: Value, from: Peer) -> Outcome {
        match message {
            Value::Array(members) => self.batch(members, from).await,
            message => self.single(shape(message), from).await,
        }
    }

    async fn batch(&self, members: Vec<Value>, from: Peer) -> Outcome {
        if members.is_empty() {
            return invalid(&Value::Null, "the batch is empty");
        }
        if from.revision.as_deref().is_some_and(|revision| revision >= WITHOUT_BATCHES) {
            return invalid(&Value::Null, "this revision of MCP has no batches");
        }
        if members.len() > limits::BATCH_MAX {
            let why = format!("the batch has more than {} members", limits::BATCH_MAX);
            return invalid(&Value::Null, &why);
        }
        let mut replies = Vec::new();
        let (mut revision, mut changes) = (None, Vec::new());
        // One after the other, as they were written: a later member may rely on an earlier one.
        for (index, member) in members.into_iter().enumerate() {
            let from = Peer { call: from.call.member(index), ..from.clone() };
            let outcome = self.single(shape(member), from).await;
            replies.extend(outcome.reply);
            revision = outcome.revision.or(revision);
            changes.extend(outcome.changes);
        }
        let reply = (!replies.is_empty()).then(|| format!("[{}]", replies.join(",")));
        Outcome { reply, revision, malformed: false, changes }
    }

    async fn single(&self, shape: Shape, from: Peer) -> Outcome {
        match shape {
            Shape::Request { id, method, params } => self.request(id, method, params, from).await,
            // Only `subscriptions/listen` can be cancelled. Other requests are answered before the next line is read,
            // or run to their end.
            Shape::Cancelled { id } if from.subscriptions.is_some() => {
                let changes = vec![SubscriptionChange::Cancel { id }];
                Outcome { changes, ..Outcome::default() }
            }
            Shape::Unanswered | Shape::Cancelled { .. } => Outcome::default(),
            Shape::Invalid { id, why } => invalid(&id, why),
        }
    }

    async fn request(
        &self,
        id: RequestId,
        method: String,
        params: Option<Value>,
        from: Peer,
    ) -> Outcome {
        let unreadable = CustomRequest::new(method.clone(), None);
        let mut members = Map::new();
        members.insert("method".to_owned(), Value::String(method));
        members.extend(params.map(|params| ("params".to_owned(), params)));
        // A request that the SDK cannot parse keeps its method, so that the handler can say what is wrong.
        let mut request: ClientRequest =
            serde_json::from_value(Value::Object(members)).unwrap_or_else(|_| unreadable.into());
        if let Some(count) = from.subscriptions
            && let Some(changed) = self.handler.change_subscriptions(&request, &id, count)
        {
            let (reply, changes) = match changed {
                Ok((reply, change)) => (reply, vec![change]),
                Err(error) => {
                    (error_reply(&id.into_json_value(), &protocol_error(&error)), Vec::new())
                }
            };
            return Outcome { reply: Some(reply), changes, ..Outcome::default() };
        }
        let mut context = RequestContext::new(id.clone(), self.nobody());
        context.meta = std::mem::take(request.get_meta_mut());
        context.extensions = std::mem::take(request.extensions_mut());
        context.extensions.insert(from);
        let result = Service::handle_request(&self.handler, request, context).await;
        let revision = match &result {
            Ok(ServerResult::InitializeResult(result)) => Some(result.protocol_version.to_string()),
            _ => None,
        };
        let reply = match result {
            Ok(result) => ServerJsonRpcMessage::response(result, id.clone()),
            Err(error) => {
                ServerJsonRpcMessage::error(inert::protocol_error(error), Some(id.clone()))
            }
        };
        let reply = serde_json::to_string(&reply).unwrap_or_else(|error| {
            let failure = ErrorData::internal_error(
                format!("the reply cannot be written as JSON: {error}"),
                None,
            );
            error_reply(&id.into_json_value(), &failure)
        });
        Outcome { reply: Some(reply), revision, ..Outcome::default() }
    }

    /// A peer to which every send fails. In the SDK only a service can create a peer, so it is taken
    /// from a service whose client has disconnected.
    fn nobody(&self) -> Recipient<RoleServer> {
        let made = self.nobody.get_or_init(|| {
            serve_directly::<RoleServer, _, _, _, _>(self.handler.clone(), Left, None)
                .peer()
                .clone()
        });
        made.clone()
    }
}

/// The connection to a client that has disconnected.
struct Left;

impl Transport<RoleServer> for Left {
    type Error = Infallible;

    fn send(
        &mut self,
        _item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        ready(Ok(()))
    }

    fn receive(&mut self) -> impl Future<Output = Option<ClientJsonRpcMessage>> + Send {
        ready(None)
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Infallible>> + Send {
        ready(Ok(()))
    }
}

/// Parses a message. Refuses invalid JSON, and JSON that would take too much memory when parsed.
pub(crate) fn parse(message: &[u8]) -> Result<Value, Outcome> {
    weight::check(message).map_err(|error| refused(None, &error))?;
    serde_json::from_slice(message).map_err(|error| unparsable(&error))
}

fn refused(id: Option<&Value>, error: &OpError) -> Outcome {
    let reply = json!({ "jsonrpc": "2.0", "id": id, "error": error.to_wire() }).to_string();
    Outcome { reply: Some(reply), ..Outcome::default() }
}

/// Classifies a message by its members. Whether the method exists is not checked.
pub(crate) fn shape(message: Value) -> Shape {
    let Value::Object(mut members) = message else {
        return Shape::Invalid { id: Value::Null, why: "the message is not an object" };
    };
    let given = members.remove("id");
    let id = match &given {
        Some(Value::String(text)) => Some(RequestId::String(text.as_str().into())),
        Some(number) => number.as_i64().map(RequestId::Number),
        None => None,
    };
    let readable = given.clone().filter(|id| id.is_string() || id.is_number());
    let bad = |why| Shape::Invalid { id: readable.unwrap_or_default(), why };
    if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return bad("`jsonrpc` is not \"2.0\"");
    }
    match (members.remove("method"), id) {
        (Some(Value::String(method)), Some(id)) => {
            Shape::Request { id, method, params: members.remove("params") }
        }
        (Some(Value::String(method)), None) if given.is_none() => {
            let id = members.get("params").and_then(|params| params.get("requestId"));
            match id.filter(|_| method == "notifications/cancelled") {
                Some(id) => Shape::Cancelled { id: id.clone() },
                None => Shape::Unanswered,
            }
        }
        (Some(Value::String(_)), None) => bad("`id` is neither a string nor an integer"),
        (Some(_), _) => bad("`method` is not a string"),
        (None, _) if members.contains_key("result") || members.contains_key("error") => {
            Shape::Unanswered
        }
        (None, _) => bad("`method` is missing"),
    }
}

/// The reply to a message that is not JSON.
fn unparsable(error: &serde_json::Error) -> Outcome {
    let error = ErrorData::parse_error(format!("the message is not JSON: {error}"), None);
    Outcome {
        reply: Some(error_reply(&Value::Null, &error)),
        malformed: true,
        ..Outcome::default()
    }
}

/// The reply to JSON that is not a request.
fn invalid(id: &Value, why: &str) -> Outcome {
    let error = ErrorData::new(ErrorCode::INVALID_REQUEST, why.to_owned(), None);
    Outcome { reply: Some(error_reply(id, &error)), malformed: true, ..Outcome::default() }
}

/// An error reply, with `"id": null` where there is no id: the SDK would leave the member out.
pub(crate) fn error_reply(id: &Value, error: &ErrorData) -> String {
    let error = inert::protocol_error(error.clone());
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
}
