//! The caller's situation. The surface fills it in; an explicit parameter overrides it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The caller's situation: working directory, repository, branch, system, environment, open files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Situation {
    /// Absolute working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Repository, for example `git:org/repo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// Branch that is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Operating system: `linux`, `darwin` or `windows`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<String>,
    /// Environment variables.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Files open in the editor.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files_open: Vec<String>,
}

impl Situation {
    pub fn is_empty(&self) -> bool {
        *self == Situation::default()
    }
}
