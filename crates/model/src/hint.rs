//! Hints: small facts under (component, key), in variants by scope.
//!
//! Read in this order: this file (what a hint is), `value`, `scope`, `ttl`, `rank`.

pub mod rank;
mod scope;
mod ttl;
mod value;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::OpError;
use crate::limits;

pub use scope::{HintScope, OneOrMany, Os, UNSCOPED, has_parent_step, scope_error};
pub use ttl::{Lifetime, Ttl};
pub use value::{Template, TemplateFormat, check_value, command_text, value_text};

// Whether a value may be shown to people unmasked. Doc comments on this enum, the next one and the types of a scope
// would become part of the schema, which costs every agent tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sensitivity {
    Secret,
    Normal,
}

// Where a hint comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HintSource {
    User,
    Agent,
    ToolOutput,
    FileImport,
}

/// A hint's metadata: everything but its value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HintMeta {
    /// Why the hint is true or useful.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Keywords, for example `build`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// From 1 to 10; default 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u8", range(min = 1, max = 10))]
    pub priority: Option<u8>,
    /// From 0 to 1; default 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// `session` (until the daemon ends), `forever`, or a duration such as `PT2H` or `P1D`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Ttl>,
    /// `secret` permits a credential and masks it on screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Sensitivity")]
    pub sensitivity: Option<Sensitivity>,
    /// Where the hint applies; everywhere if omitted.
    #[serde(deserialize_with = "crate::object::optional")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<HintScope>,
    /// Author type.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "HintSource")]
    pub source: Option<HintSource>,
    /// For example `agent:codex`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_by: Option<String>,
}

impl HintMeta {
    /// Which variant of its key the hint is.
    pub fn variant(&self) -> String {
        self.scope.as_ref().map_or_else(|| UNSCOPED.to_owned(), HintScope::canonical)
    }

    pub fn is_secret(&self) -> bool {
        self.sensitivity == Some(Sensitivity::Secret)
    }

    /// How long the hint lives; by default until the daemon ends.
    pub fn lifetime(&self) -> &Ttl {
        self.ttl.as_ref().unwrap_or(&Ttl::Session)
    }

    /// Checks sizes, ranges and the scope.
    pub fn check(&self) -> Result<(), OpError> {
        let over = |param: &str, what: &str, max: usize| {
            Err(OpError::invalid(param, format!("{what} is over {max}")).with("max", max))
        };
        let long = |text: &Option<String>, max| text.as_ref().is_some_and(|text| text.len() > max);
        let max = limits::HINT_REASON_BYTES_MAX;
        if long(&self.reason, max) {
            return over("meta.reason", "the length of the reason in bytes", max);
        }
        let max = limits::HINT_ADDED_BY_BYTES_MAX;
        if long(&self.added_by, max) {
            return over("meta.added_by", "the length of added_by in bytes", max);
        }
        if self.tags.len() > limits::HINT_TAGS_MAX {
            return over("meta.tags", "the number of tags", limits::HINT_TAGS_MAX);
        }
        let max = limits::HINT_TAG_BYTES_MAX;
        if self.tags.iter().any(|tag| tag.len() > max) {
            return over("meta.tags", "the length of a tag in bytes", max);
        }
        if self.priority.is_some_and(|priority| !(1..=10).contains(&priority)) {
            return Err(OpError::invalid("meta.priority", "the priority is not from 1 to 10"));
        }
        if self.confidence.is_some_and(|confidence| !(0.0..=1.0).contains(&confidence)) {
            return Err(OpError::invalid("meta.confidence", "the confidence is not from 0 to 1"));
        }
        self.scope.as_ref().map_or(Ok(()), HintScope::check)
    }
}

// A hint as every surface shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hint {
    /// A string, or an object with a `type`.
    pub value: Value,
    /// Metadata as given to `set_hint`. Its members are described in the schema of `set_hint` only, because every
    /// schema costs the agent tokens.
    #[schemars(description = "As `set_hint` takes it.", with = "serde_json::Map<String, Value>")]
    pub meta: HintMeta,
    /// Number of changes, from 1.
    pub version: u64,
    /// RFC 3339, UTC.
    pub created_at: String,
    /// RFC 3339, UTC.
    pub updated_at: String,
    /// When it was last bumped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<String>,
    /// How often it was bumped.
    #[serde(default)]
    pub use_count: u64,
}

/// A hint's component and key, checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HintName {
    pub component: String,
    pub key: String,
}

impl HintName {
    /// Checks that both names are non-empty, single-line and within their limit.
    pub fn new(component: String, key: String) -> Result<HintName, OpError> {
        for (param, name, example) in
            [("component", &component, "http-proxy"), ("key", &key, "build")]
        {
            if name.trim().is_empty() {
                return Err(OpError::invalid(param, format!("the {param} is empty"))
                    .hint(format!("Give a {param}, for example '{example}'.")));
            }
            let max = limits::HINT_NAME_BYTES_MAX;
            if name.len() > max {
                return Err(OpError::invalid(param, format!("the {param} is over {max} bytes"))
                    .with("max", max)
                    .hint(format!("Give a {param} of at most {max} bytes.")));
            }
            if matches!(name.as_str(), "." | "..") {
                // The path would be resolved as a parent or current directory.
                return Err(OpError::invalid(param, format!("the {param} is '{name}'"))
                    .hint("Give it a name with a letter or a digit in it."));
            }
            if name.chars().any(char::is_control) {
                return Err(OpError::invalid(
                    param,
                    format!("the {param} has a control character"),
                )
                .hint("Give a name of one line without tabs and escapes."));
            }
        }
        Ok(HintName { component, key })
    }

    /// The hint's path in the address space.
    pub fn path(&self) -> String {
        crate::entry::EntryPath::format("hint", &[&self.component, &self.key])
    }
}
