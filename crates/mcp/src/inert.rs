//! Makes replies safe for a model to read: every string of a result or an error, member names included, passes
//! through [`text::neutral`]. All tools and resources use this module; nothing else in MCP neutralises text.

use std::borrow::Cow;

use model::Reply;
use rmcp::ErrorData;
use serde_json::{Map, Value};

/// Returns the reply with all markup neutralised that a model or its host would act on.
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

/// Returns an error of the protocol with its message and data neutralised: they may repeat a method, a URI or a
/// header of the request, which a model may have copied from hostile text.
pub(crate) fn protocol_error(mut error: ErrorData) -> ErrorData {
    if let Cow::Owned(inert) = text::neutral(&error.message) {
        error.message = inert.into();
    }
    if let Some(data) = &mut error.data {
        neutralise(data);
    }
    error
}

/// Returns the text with all markup neutralised.
pub(crate) fn line(mut line: String) -> String {
    text(&mut line);
    line
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
