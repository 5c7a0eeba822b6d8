//! JSON inside of texts: some agents send an object as a text.

use serde_json::Value;

use crate::encoding::with_valid_encoding;

pub use model::json::{Json, Members};

/// The JSON inside a text, repaired if its encoding is damaged.
pub(crate) fn inside(text: &str) -> Option<Json<'_>> {
    let repaired = || -> Option<Value> {
        let built = text.trim_start().starts_with(['{', '[']);
        let event = built.then(|| with_valid_encoding(text.as_bytes()))?;
        serde_json::from_slice(&event).ok()
    };
    serde_json::from_str(text).ok().or_else(|| repaired().map(Json::from))
}
