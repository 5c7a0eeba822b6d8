//! Fast path for the hook call of our own clients: parses it without copying, because events arrive by the thousand
//! and most of their content is discarded. A line in any other form is left to [`RpcFrame`](super::RpcFrame), which also
//! reports errors.

use model::limits;
use model::wire::Envelope;
use runtime::EventParams;
use serde::de::{Deserialize, Deserializer};
use serde_json::Value;

/// One event of a hook.
pub(crate) struct HookLine<'a> {
    /// `None` for a notification.
    pub(crate) id: Option<Value>,
    pub(crate) params: EventParams<'a>,
    pub(crate) envelope: Option<Envelope>,
}

impl<'a> HookLine<'a> {
    pub(crate) const METHOD: &'static str = "hook";

    /// The event in this line; `None` if the line has another form, is long, or has an `env_stamp`, with which the daemon may
    /// have to request variables first.
    pub(crate) fn read(line: &'a [u8]) -> Option<HookLine<'a>> {
        // The memory of long lines is checked before they are parsed; `RpcFrame` does that.
        if line.len() > limits::JSON_BYTES_LIGHT {
            return None;
        }
        let HookCall { id, params, rekindle, .. } = serde_json::from_slice(line).ok()?;
        let is_id = matches!(id, None | Some(Value::Null | Value::String(_) | Value::Number(_)));
        let asks = rekindle.as_ref().is_some_and(|envelope| envelope.env_stamp.is_some());
        (is_id && !asks).then_some(HookLine { id, params, envelope: rekindle })
    }
}

#[derive(serde::Deserialize)]
struct HookCall<'a> {
    #[serde(rename = "jsonrpc")]
    _version: Version,
    #[serde(default, deserialize_with = "given")]
    id: Option<Value>,
    #[serde(rename = "method")]
    _method: Method,
    #[serde(borrow)]
    params: EventParams<'a>,
    #[serde(default, deserialize_with = "given")]
    rekindle: Option<Envelope>,
}

#[derive(serde::Deserialize)]
enum Version {
    #[serde(rename = "2.0")]
    Two,
}

#[derive(serde::Deserialize)]
enum Method {
    #[serde(rename = "hook")]
    Hook,
}

/// Deserializes a member that is present, even if it is null.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(reader: D) -> Result<Option<T>, D::Error> {
    T::deserialize(reader).map(Some)
}
