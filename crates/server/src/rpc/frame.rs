//! A frame of JSON, of which only the members of a request are read: they need no map of their own.

use model::json::{self, Picked};
use model::limits;
use serde_json::Value;

/// What stands in a frame.
#[expect(
    clippy::large_enum_variant,
    reason = "almost every frame is one call, and a box costs more"
)]
pub(crate) enum Frame {
    One(Members),
    Batch(Vec<Frame>),
    /// Neither an object nor a list.
    Other,
}

/// The members of an object that mean something to us; of one that is there twice, the last.
#[derive(Default)]
pub(crate) struct Members {
    pub(crate) id: Option<Value>,
    pub(crate) jsonrpc: Option<Value>,
    pub(crate) method: Option<Value>,
    pub(crate) params: Option<Value>,
    pub(crate) rekindle: Option<Value>,
}

impl Members {
    /// The method's name, if it has one.
    pub(crate) fn method(&self) -> Option<&str> {
        self.method.as_ref()?.as_str()
    }

    /// A member of the envelope.
    pub(crate) fn of_envelope(&self, name: &str) -> Option<&Value> {
        self.rekindle.as_ref()?.get(name)
    }
}

/// The members of a request, in the order of [`Frame::of`].
const NAMES: [&str; 5] = ["id", "jsonrpc", "method", "params", "rekindle"];

impl Frame {
    /// Parses a frame. Of a batch that is too long, one member over the limit is read.
    pub(crate) fn read(text: &[u8]) -> Result<Frame, serde_json::Error> {
        json::pick(text, &NAMES, limits::BATCH_MAX).map(Frame::of)
    }

    fn of(picked: Picked<Value, 5>) -> Frame {
        match picked {
            Picked::Object([id, jsonrpc, method, params, rekindle]) => {
                Frame::One(Members { id, jsonrpc, method, params, rekindle })
            }
            Picked::List(frames) => Frame::Batch(frames.into_iter().map(Frame::of).collect()),
            Picked::Other => Frame::Other,
        }
    }
}
