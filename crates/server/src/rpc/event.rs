//! The call of a hook as our own clients make it, read where it stands: events come by the thousand, and most
//! of one is thrown away. What is written in any other way is left to [`Frame`](super::Frame), which knows how
//! to refuse it.

use model::limits;
use model::wire::Envelope;
use runtime::EventParams;
use serde::de::{Deserialize, Deserializer};
use serde_json::Value;

/// One event of a hook.
pub(crate) struct Event<'a> {
    /// None makes it a notification.
    pub(crate) id: Option<Value>,
    pub(crate) params: EventParams<'a>,
    pub(crate) envelope: Option<Envelope>,
}

impl<'a> Event<'a> {
    pub(crate) const METHOD: &'static str = "hook";

    /// The event in this line, if that is all there is in it and nothing is asked back about it.
    pub(crate) fn read(line: &'a [u8]) -> Option<Event<'a>> {
        // The memory of long lines is checked before they are parsed; `Frame` does that.
        if line.len() > limits::JSON_BYTES_LIGHT {
            return None;
        }
        let Call { id, params, rekindle, .. } = serde_json::from_slice(line).ok()?;
        let is_id = matches!(id, None | Some(Value::Null | Value::String(_) | Value::Number(_)));
        let asks = rekindle.as_ref().is_some_and(|envelope| envelope.env_stamp.is_some());
        (is_id && !asks).then_some(Event { id, params, envelope: rekindle })
    }
}

#[derive(serde::Deserialize)]
struct Call<'a> {
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

/// A member that is there, though it may be null.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(reader: D) -> Result<Option<T>, D::Error> {
    T::deserialize(reader).map(Some)
}
