//! Replies as a model may read them: every text of a result or an error, names of members included, passes
//! through [`text::neutral`]. This is the only place where MCP does it; all tools and resources go through it.

use std::borrow::Cow;

use model::Reply;
use serde_json::{Map, Value};

/// The reply with nothing in it that acts on a model or its host.
pub(crate) fn reply(reply: Reply) -> Reply {
    match reply {
        Ok(mut value) => {
            neutralise(&mut value);
            Ok(value)
        }
        Err(mut error) => {
            text(&mut error.message);
            error.hint.as_mut().map(text);
            error.details = members(std::mem::take(&mut error.details));
            Err(error)
        }
    }
}

fn neutralise(value: &mut Value) {
    match value {
        Value::String(string) => text(string),
        Value::Array(items) => items.iter_mut().for_each(neutralise),
        Value::Object(object) => *object = members(std::mem::take(object)),
        _ => {}
    }
}

fn members(object: Map<String, Value>) -> Map<String, Value> {
    let member = |(mut name, mut value)| {
        text(&mut name);
        neutralise(&mut value);
        (name, value)
    };
    object.into_iter().map(member).collect()
}

fn text(text: &mut String) {
    if let Cow::Owned(inert) = text::neutral(text) {
        *text = inert;
    }
}
