//! JSON-RPC 2.0: one frame, an object or a batch, to its answer. Shared by HTTP, WebSocket and the unix socket.
//!
//! The surfaces decide how a frame arrives and which peers may send one.

mod event;
mod frame;

use std::pin::Pin;

use model::wire::Envelope;
use model::{CallId, Caller, Code, OpError, Reply, Request, limits, weight};
use runtime::Runtime;
use serde::Serialize;
use serde_json::{Value, json};

pub(crate) use event::HookLine;
pub(crate) use frame::{RpcFrame, RpcMembers};

/// The peer that sends frames on a connection.
pub struct Sender {
    pub caller: Caller,
    /// Whether the member `rekindle` beside a request is honoured: on the unix socket only.
    pub envelope: bool,
    /// Our database; a call whose envelope means another one is refused.
    pub db: String,
}

/// The answer to a frame.
pub struct RpcReply {
    /// `None` if the frame had only notifications.
    pub body: Option<String>,
    /// Set if the frame had no request at all.
    pub refusal: Option<Refusal>,
}

/// Why a frame had no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    Unparsable,
    NotARequest,
}

/// Answers one frame. `call` is the id that the client gave its call, if it did.
pub async fn answer(
    runtime: &Runtime,
    frame: &[u8],
    sender: &Sender,
    call: Option<CallId>,
) -> RpcReply {
    match parse(frame) {
        Ok(parsed) => answer_frame(runtime, parsed, frame.len(), sender, call).await,
        Err(refused) => refused,
    }
}

/// Parses a frame. Refuses invalid JSON, and JSON that would take too much memory when parsed.
pub(crate) fn parse(frame: &[u8]) -> Result<RpcFrame, RpcReply> {
    weight::check(frame).map_err(|error| RpcReply {
        body: Some(reply_text(&Value::Null, &Err(error))),
        refusal: None,
    })?;
    RpcFrame::read(frame).map_err(|error| unparsable(&error))
}

/// Answers a parsed frame; `bytes` is its size on the wire.
pub(crate) async fn answer_frame(
    runtime: &Runtime,
    frame: RpcFrame,
    bytes: usize,
    sender: &Sender,
    call: Option<CallId>,
) -> RpcReply {
    let line = FrameContext { runtime, sender, bytes };
    match frame {
        RpcFrame::Batch(members) => line.batch(members, call).await,
        single => match read_call(single) {
            Ok(single) => RpcReply { body: line.answer(single, call).await, refusal: None },
            Err(bad) => not_a_request(&bad),
        },
    }
}

/// Starts to record a hook event at once, and returns a future for its answer. `bytes` is its size on the wire,
/// `is_quiet` whether the spool had no older event when it arrived.
pub(crate) fn begin_event(
    runtime: &Runtime,
    event: HookLine<'_>,
    bytes: usize,
    sender: &Sender,
    is_quiet: bool,
) -> Pin<Box<dyn Future<Output = Option<String>> + Send>> {
    let line = FrameContext { runtime, sender, bytes };
    let HookLine { id, params, envelope } = event;
    let admitted = runtime
        .table()
        .check_size(HookLine::METHOD, bytes)
        .and_then(|()| line.admit(envelope, HookLine::METHOD, None));
    let begun =
        admitted.map(|(call, caller)| runtime.begin_event(params, (call, caller.tier), is_quiet));
    Box::pin(async move {
        let reply = match begun {
            Ok(under_way) => under_way.await,
            Err(error) => Err(error),
        };
        id.map(|id| reply_text(&id, &reply))
    })
}

fn unparsable(error: &serde_json::Error) -> RpcReply {
    let body = refusal(&Value::Null, -32700, &format!("the frame is not JSON: {error}"));
    RpcReply { body: Some(body), refusal: Some(Refusal::Unparsable) }
}

/// `not_ready` if the call is meant for another database than ours.
pub(crate) fn check_db(meant: &str, ours: &str) -> Result<(), OpError> {
    if meant == ours {
        return Ok(());
    }
    let message = format!("this daemon serves {ours}, the call is for {meant}");
    Err(OpError::new(Code::NotReady, message)
        .hint("Give each database its own runtime directory (REKINDLE_RUNTIME_DIR)."))
}

/// One request as it was sent.
pub(crate) struct RpcCall {
    /// `None` for a notification.
    pub(crate) id: Option<Value>,
    pub(crate) method: String,
    pub(crate) params: Value,
    envelope: Option<Value>,
}

/// A frame that is not a request, with its id if that was readable.
pub(crate) struct InvalidRequest {
    id: Value,
    why: &'static str,
}

/// Checks the members of a request.
pub(crate) fn read_call(frame: RpcFrame) -> Result<RpcCall, InvalidRequest> {
    let RpcFrame::One(RpcMembers { id, jsonrpc, method, params, rekindle }) = frame else {
        return Err(InvalidRequest { id: Value::Null, why: "a request is a JSON object" });
    };
    if !matches!(id, None | Some(Value::Null | Value::String(_) | Value::Number(_))) {
        return Err(InvalidRequest { id: Value::Null, why: "an id is a string, a number or null" });
    }
    let bad = |id: Option<Value>, why| Err(InvalidRequest { id: id.unwrap_or_default(), why });
    if jsonrpc.as_ref().and_then(Value::as_str) != Some("2.0") {
        return bad(id, "the member `jsonrpc` has to be \"2.0\"");
    }
    let Some(Value::String(method)) = method else {
        return bad(id, "the member `method` has to be a string");
    };
    Ok(RpcCall { id, method, params: params.unwrap_or_default(), envelope: rekindle })
}

/// The text of an answer, with its members in the order of the specification.
pub(crate) fn reply_text(id: &Value, reply: &Reply) -> String {
    match reply {
        Ok(result) => text(&SuccessReply { jsonrpc: "2.0", id, result }),
        Err(error) => error_text(id, &error.to_wire()),
    }
}

#[derive(Serialize)]
struct SuccessReply<'a> {
    jsonrpc: &'static str,
    id: &'a Value,
    result: &'a Value,
}

#[derive(Serialize)]
struct ErrorReply<'a> {
    jsonrpc: &'static str,
    id: &'a Value,
    error: &'a Value,
}

fn error_text(id: &Value, error: &Value) -> String {
    text(&ErrorReply { jsonrpc: "2.0", id, error })
}

fn text(answer: &impl Serialize) -> String {
    // Writing JSON values to memory cannot fail: their keys are strings.
    serde_json::to_string(answer).unwrap_or_default()
}

fn refusal(id: &Value, code: i64, message: &str) -> String {
    let data = json!({ "reason": Code::Invalid.row().reason });
    error_text(id, &json!({ "code": code, "message": message, "data": data }))
}

fn not_a_request(bad: &InvalidRequest) -> RpcReply {
    RpcReply { body: Some(refusal(&bad.id, -32600, bad.why)), refusal: Some(Refusal::NotARequest) }
}

/// The context in which a frame is answered.
struct FrameContext<'a> {
    runtime: &'a Runtime,
    sender: &'a Sender,
    bytes: usize,
}

impl FrameContext<'_> {
    async fn batch(&self, members: Vec<RpcFrame>, call: Option<CallId>) -> RpcReply {
        if members.is_empty() {
            return not_a_request(&InvalidRequest { id: Value::Null, why: "the batch is empty" });
        }
        if members.len() > limits::BATCH_MAX {
            let error = OpError::new(
                Code::TooLarge,
                format!("the batch has more than {} members", limits::BATCH_MAX),
            )
            .hint("Send it in parts.")
            .with("max", limits::BATCH_MAX);
            return RpcReply { body: Some(reply_text(&Value::Null, &Err(error))), refusal: None };
        }
        let mut answers = Vec::new();
        for (index, member) in members.into_iter().enumerate() {
            match read_call(member) {
                Ok(member) => {
                    let call = call.map(|call| call.member(index));
                    answers.extend(self.answer(member, call).await);
                }
                Err(bad) => answers.push(refusal(&bad.id, -32600, bad.why)),
            }
        }
        let body = (!answers.is_empty()).then(|| format!("[{}]", answers.join(",")));
        RpcReply { body, refusal: None }
    }

    async fn answer(&self, call: RpcCall, given: Option<CallId>) -> Option<String> {
        let RpcCall { id, method, params, envelope } = call;
        let reply = match self.request(method, params, envelope, given) {
            Ok(request) => self.runtime.call_async(request).await,
            Err(error) => Err(error),
        };
        id.map(|id| reply_text(&id, &reply))
    }

    fn request(
        &self,
        op: String,
        params: Value,
        envelope: Option<Value>,
        given: Option<CallId>,
    ) -> Result<Request, OpError> {
        self.runtime.table().check_size(&op, self.bytes)?;
        let envelope = envelope.filter(|_| self.sender.envelope).map(|envelope| {
            serde_json::from_value(envelope).map_err(|error| {
                OpError::invalid("rekindle", format!("the envelope cannot be read: {error}"))
            })
        });
        let (call, caller) = self.admit(envelope.transpose()?, &op, given)?;
        Ok(Request { call, op, params, caller })
    }

    /// The call's id and its caller. One of our own clients may set both in the envelope.
    fn admit(
        &self,
        envelope: Option<Envelope>,
        op: &str,
        given: Option<CallId>,
    ) -> Result<(CallId, Caller), OpError> {
        let Some(envelope) = envelope.filter(|_| self.sender.envelope) else {
            return Ok((given.unwrap_or_else(|| self.mint(op)), self.sender.caller.clone()));
        };
        if let Some(db) = &envelope.db {
            check_db(db, &self.sender.db)?;
        }
        Ok((envelope.call, envelope.caller))
    }

    /// An id for a call without one. The result of a read is never stored, so a read needs no random id.
    fn mint(&self, op: &str) -> CallId {
        match self.runtime.table().find(op) {
            Some(op) if op.info.access.is_read() => CallId([0; 16]),
            _ => client::mint(),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
