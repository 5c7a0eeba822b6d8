//! A frame of JSON, taken apart while it is parsed: the few members of a request need no map of their own.

use std::fmt;

use model::limits;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
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

impl<'de> Deserialize<'de> for Frame {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Frame, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Frame;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Frame, A::Error> {
        let mut members = Members::default();
        while let Some(name) = map.next_key::<Name>()? {
            let place = match name {
                Name::Id => &mut members.id,
                Name::Jsonrpc => &mut members.jsonrpc,
                Name::Method => &mut members.method,
                Name::Params => &mut members.params,
                Name::Rekindle => &mut members.rekindle,
                Name::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *place = Some(map.next_value()?);
        }
        Ok(Frame::One(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Frame, A::Error> {
        let mut frames = Vec::new();
        while frames.len() <= limits::BATCH_MAX {
            let Some(frame) = list.next_element()? else { return Ok(Frame::Batch(frames)) };
            frames.push(frame);
        }
        // One frame over the limit is enough to refuse the batch.
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Frame::Batch(frames))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Frame, E> {
        Ok(Frame::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Frame, E> {
        Ok(Frame::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Frame, E> {
        Ok(Frame::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Frame, E> {
        Ok(Frame::Other)
    }

    fn visit_str<E>(self, _: &str) -> Result<Frame, E> {
        Ok(Frame::Other)
    }

    fn visit_unit<E>(self) -> Result<Frame, E> {
        Ok(Frame::Other)
    }
}

/// The name of a member.
#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Name {
    Id,
    Jsonrpc,
    Method,
    Params,
    Rekindle,
    #[serde(other)]
    Other,
}
