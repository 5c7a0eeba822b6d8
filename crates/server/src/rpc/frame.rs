//! A JSON frame. Only the members of a request are read, straight into a struct.

use model::json::{self, Picked};
use model::limits;
use serde_json::Value;

/// A parsed frame.
#[expect(
    clippy::large_enum_variant,
    reason = "almost every frame is one call, and a box costs more"
)]
pub(crate) enum RpcFrame {
    One(RpcMembers),
    Batch(Vec<RpcFrame>),
    /// Neither an object nor a list.
    Other,
}

/// The members of an object that we use. If one occurs twice, the last one counts.
#[derive(Default)]
pub(crate) struct RpcMembers {
    pub(crate) id: Option<Value>,
    pub(crate) jsonrpc: Option<Value>,
    pub(crate) method: Option<Value>,
    pub(crate) params: Option<Value>,
    pub(crate) rekindle: Option<Value>,
}

impl RpcMembers {
    /// The method's name, if it is a string.
    pub(crate) fn method(&self) -> Option<&str> {
        self.method.as_ref()?.as_str()
    }

    /// A member of the envelope.
    pub(crate) fn of_envelope(&self, name: &str) -> Option<&Value> {
        self.rekindle.as_ref()?.get(name)
    }
}

/// The members of a request, in the order of [`RpcFrame::of`].
const NAMES: [&str; 5] = ["id", "jsonrpc", "method", "params", "rekindle"];

impl RpcFrame {
    /// Parses a frame. Of a batch over the limit, only one member past the limit is read.
    pub(crate) fn read(text: &[u8]) -> Result<RpcFrame, serde_json::Error> {
        json::pick(text, &NAMES, limits::BATCH_MAX).map(RpcFrame::of)
    }

    fn of(picked: Picked<Value, 5>) -> RpcFrame {
        match picked {
            Picked::Object([id, jsonrpc, method, params, rekindle]) => {
                RpcFrame::One(RpcMembers { id, jsonrpc, method, params, rekindle })
            }
            Picked::List(frames) => RpcFrame::Batch(frames.into_iter().map(RpcFrame::of).collect()),
            Picked::Other => RpcFrame::Other,
        }
    }
}
