//! Hints: small facts under (component, key). This is the minimal form; scopes and ranking follow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Code, OpError};
use crate::limits;

/// How long a hint lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ttl {
    /// Until the daemon ends cleanly.
    #[default]
    Session,
    /// Until it is deleted.
    Forever,
}

/// What is said about a hint besides its value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HintMeta {
    /// Why the hint is true or useful.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Words to find it by, for example `build`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// `session` (until the daemon ends) or `forever`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Ttl>,
}

/// A hint as every surface shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hint {
    /// A string, or an object with a `type`.
    pub value: Value,
    pub meta: HintMeta,
    /// Counts the changes of this hint, from 1.
    pub version: u64,
    /// RFC 3339, UTC.
    pub created_at: String,
    /// RFC 3339, UTC.
    pub updated_at: String,
}

/// The names a hint is found by, checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HintName {
    pub component: String,
    pub key: String,
}

impl HintName {
    /// Checks that both names are there, of one line and within their limit.
    pub fn new(component: String, key: String) -> Result<HintName, OpError> {
        for (param, name) in [("component", &component), ("key", &key)] {
            if name.trim().is_empty() {
                return Err(OpError::invalid(param, format!("the {param} is empty"))
                    .hint(format!("Give a {param}, for example 'build'.")));
            }
            let max = limits::HINT_NAME_BYTES_MAX;
            if name.len() > max {
                return Err(OpError::invalid(param, format!("the {param} is over {max} bytes"))
                    .with("max", max));
            }
            if matches!(name.as_str(), "." | "..") {
                // Its path would be read as a step in another one.
                return Err(OpError::invalid(param, format!("the {param} is '{name}'"))
                    .hint("Give it a name with a letter or a digit in it."));
            }
            if name.chars().any(char::is_control) {
                return Err(OpError::invalid(
                    param,
                    format!("the {param} has a control character"),
                ));
            }
        }
        Ok(HintName { component, key })
    }

    /// The hint's path in the address space.
    pub fn path(&self) -> String {
        crate::entry::EntryPath::format("hint", &[&self.component, &self.key])
    }
}

/// Checks a value: a string, or an object with a known `type`, within the size limit.
pub fn check_value(value: &Value) -> Result<(), OpError> {
    let max = limits::HINT_VALUE_BYTES_MAX;
    if value.to_string().len() > max {
        return Err(OpError::new(Code::TooLarge, format!("the value is over {max} bytes of JSON"))
            .with("param", "value")
            .with("max", max));
    }
    match value {
        Value::String(_) => Ok(()),
        Value::Object(object) => match object.get("type").and_then(Value::as_str) {
            Some("command" | "path" | "template" | "json") => Ok(()),
            _ => Err(OpError::invalid(
                "value",
                "the value's type is none of command, path, template, json",
            )),
        },
        _ => Err(OpError::invalid(
            "value",
            "the value is neither a string nor an object with a type",
        )
        .hint("Pass a string such as \"make build\".")),
    }
}

/// Checks what is said about a hint.
pub fn check_meta(meta: &HintMeta) -> Result<(), OpError> {
    let over = |param: &str, what: &str, max: usize| {
        OpError::invalid(param, format!("{what} is over {max}")).with("max", max)
    };
    if meta.reason.as_ref().is_some_and(|reason| reason.len() > limits::HINT_REASON_BYTES_MAX) {
        return Err(over(
            "meta.reason",
            "the length of the reason in bytes",
            limits::HINT_REASON_BYTES_MAX,
        ));
    }
    if meta.tags.len() > limits::HINT_TAGS_MAX {
        return Err(over("meta.tags", "the number of tags", limits::HINT_TAGS_MAX));
    }
    if meta.tags.iter().any(|tag| tag.len() > limits::HINT_TAG_BYTES_MAX) {
        return Err(over("meta.tags", "the length of a tag in bytes", limits::HINT_TAG_BYTES_MAX));
    }
    Ok(())
}
