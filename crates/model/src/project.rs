//! Projects: bodies of work on disk, known by their repository or by their place.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is known of the place where somebody stands, before a project is found for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProjectFacts {
    /// The repository's remote, normalised: `host/org/repo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_key: Option<String>,
    /// Top directory of the main work tree; all work trees share it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// What it is called: the root directory's name unless somebody chose another.
    pub name: String,
}

impl ProjectFacts {
    /// The key of a project that is made from this.
    pub fn key(&self) -> &str {
        self.remote_key.as_deref().or(self.root.as_deref()).unwrap_or(&self.name)
    }
}

/// A project as the store knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Project {
    pub id: i64,
    /// What `project://KEY` means: the remote, else the root path. It never changes.
    pub key: String,
    /// What is shown; several projects may share it.
    pub name: String,
    /// Where it was seen last.
    pub root: Option<String>,
}

/// A project and how much is kept of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectOverview {
    #[serde(flatten)]
    pub project: Project,
    /// Remotes and root paths that also lead to it.
    pub aliases: Vec<String>,
    pub sessions: u64,
    pub prompts: u64,
    pub observations: u64,
    /// Milliseconds since 1970, UTC, of its last event.
    pub last_at: Option<i64>,
}
