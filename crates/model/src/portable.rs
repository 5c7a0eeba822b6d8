//! Records as the lines of a file: `rekindle export` writes them, and `rekindle import` reads them into any store. Ids
//! of the store are left out: a project is named by its key, a session by the agent's own id, a record by its origins.
//! Times are milliseconds since 1970, UTC.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use text::secrets::{Profile, Redacted, redact};

use crate::memory::{self, MemoryCategory};
use crate::observation::ObsType;
use crate::origin::Origin;
use crate::session::{PromptSource, SessionState};
use crate::{OpError, limits};

/// The version of the format. A file with a higher one is refused.
pub const PORTABLE_VERSION: u32 = 1;

/// One line of an export.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PortableRecord {
    /// The first line of a file.
    Rekindle {
        version: u32,
    },
    Project(PortableProject),
    Session(Box<PortableSession>),
    Prompt(PortablePrompt),
    Observation(Box<PortableObservation>),
    Memory(PortableMemory),
}

/// A project, before the lines that name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortableProject {
    pub key: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Remotes, roots and names that lead to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    pub created_at: i64,
}

/// A session, before its records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortableSession {
    /// The agent's own id of it.
    pub id: String,
    /// The key of its project.
    pub project: String,
    pub agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<Redacted<String>>,
    /// The session that it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    pub started_at: i64,
    pub last_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<i64>,
    pub state: SessionState,
    #[serde(default, skip_serializing_if = "is_false")]
    pub pinned: bool,
    /// The name that the user gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Redacted<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env_hint: Option<Redacted<String>>,
    /// Where it last started, and with which model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Redacted<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Left out, the summary is made of its records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Redacted<Value>>,
    /// Numbers of its actions by type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signature: Vec<(ObsType, u64)>,
}

impl PortableSession {
    /// A session that is over, of which no more is known than this.
    pub fn ended(
        id: &str,
        project: &str,
        agent: &str,
        (start, end): (i64, i64),
    ) -> PortableSession {
        PortableSession {
            id: id.to_owned(),
            project: project.to_owned(),
            agent: agent.to_owned(),
            root: None,
            parent: None,
            started_at: start,
            last_at: end.max(start),
            ended_at: Some(end.max(start)),
            state: SessionState::Ended,
            pinned: false,
            label: None,
            env_hint: None,
            cwd: None,
            model: None,
            summary: None,
            signature: Vec::new(),
        }
    }
}

/// A prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortablePrompt {
    pub session: String,
    pub at: i64,
    pub source: PromptSource,
    /// The agent's event that reported it.
    pub event: String,
    pub content: Redacted<String>,
    /// The agent's own id of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_prompt_id: Option<String>,
    /// How many actions followed from it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub actions: u64,
    #[serde(default, skip_serializing_if = "is_false")]
    pub pinned: bool,
    /// Hashes that identify it, 32 hex digits each. The first one is its name in other lines.
    pub origins: Vec<String>,
}

/// An action, an answer or a mark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortableObservation {
    pub session: String,
    /// The first origin of the prompt that caused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    pub at: i64,
    pub kind: ObsType,
    /// The agent's event that reported it.
    pub event: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Redacted<String>>,
    #[serde(deserialize_with = "declared")]
    pub content: Redacted<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Redacted<Value>>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub failed: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub pinned: bool,
    /// The subagent that acted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// How many equal records it represents, the first one included, and the time of the last one.
    #[serde(default = "once", skip_serializing_if = "is_one")]
    pub count: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_at: Option<i64>,
    pub origins: Vec<String>,
}

/// A memory. The rules of `store_memory` apply to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortableMemory {
    /// A UUID. One without is derived from its first origin.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The key of its project.
    pub project: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<Redacted<String>>,
    /// The session in which it was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub at: i64,
    pub category: MemoryCategory,
    pub importance: f64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    pub content: String,
    /// Ids of memories that it replaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<String>,
    /// The tool or the kind of file that it was imported from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// A hash of the file's path, 32 hex digits, if it belongs to a file that is imported as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<String>,
}

/// Marks are declared by a user: the guard's rules for captured text would hide more of them.
fn declared<'de, D: Deserializer<'de>>(from: D) -> Result<Redacted<String>, D::Error> {
    Ok(redact(&String::deserialize(from)?, Profile::Declared))
}

fn once() -> u64 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(count: &u64) -> bool {
    *count == 1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl PortableRecord {
    /// Refuses names that are empty, too long or have control characters, hashes of another form, and memories against
    /// the rules. Secrets in memories are checked where they are stored.
    pub fn check(&self) -> Result<(), OpError> {
        match self {
            PortableRecord::Rekindle { version } => match *version <= PORTABLE_VERSION {
                true => Ok(()),
                false => {
                    let message = format!(
                        "version {version} is newer than this build, which reads {PORTABLE_VERSION}"
                    );
                    Err(OpError::invalid("version", message))
                }
            },
            PortableRecord::Project(project) => {
                check_name("name", &project.name, limits::PORTABLE_TEXT_MAX)?;
                for key in std::iter::once(&project.key).chain(&project.aliases) {
                    check_name("key", key, limits::PORTABLE_TEXT_MAX)?;
                }
                Ok(())
            }
            PortableRecord::Session(session) => {
                check_name("id", &session.id, limits::PORTABLE_TEXT_MAX)?;
                check_name("agent", &session.agent, limits::HOOK_NAME_BYTES_MAX)?;
                check_name("project", &session.project, limits::PORTABLE_TEXT_MAX)
            }
            PortableRecord::Prompt(prompt) => {
                check_name("session", &prompt.session, limits::PORTABLE_TEXT_MAX)?;
                check_name("event", &prompt.event, limits::HOOK_NAME_BYTES_MAX)?;
                check_hashes(&prompt.origins, 1)
            }
            PortableRecord::Observation(one) => {
                check_name("session", &one.session, limits::PORTABLE_TEXT_MAX)?;
                check_name("event", &one.event, limits::HOOK_NAME_BYTES_MAX)?;
                if one.metadata.as_ref().is_some_and(|metadata| !metadata.is_object()) {
                    return Err(OpError::invalid("metadata", "metadata is not an object"));
                }
                check_hashes(&one.origins, 1)?;
                check_hashes(one.prompt.as_slice(), 0)
            }
            PortableRecord::Memory(memory) => memory.check(),
        }
    }
}

impl PortableMemory {
    fn check(&self) -> Result<(), OpError> {
        check_name("project", &self.project, limits::PORTABLE_TEXT_MAX)?;
        memory::check_content(&self.content)?;
        memory::check_importance("importance", self.importance)?;
        memory::check_tags(&self.tags)?;
        if let Some(source) = &self.source {
            check_name("source", source, limits::HOOK_NAME_BYTES_MAX)?;
        }
        check_hashes(self.file.as_slice(), 0)?;
        match self.id.is_empty() {
            true => check_hashes(&self.origins, 1),
            false => {
                memory::read_id("id", &self.id)?;
                check_hashes(&self.origins, 0)
            }
        }
    }
}

fn check_name(param: &str, name: &str, max: usize) -> Result<(), OpError> {
    if name.is_empty() || name.len() > max || name.chars().any(char::is_control) {
        let message =
            format!("`{param}` is not a name of 1 to {max} bytes without control characters");
        return Err(OpError::invalid(param, message).with("max", max));
    }
    Ok(())
}

/// Refuses hashes of another form, and fewer or more than allowed.
fn check_hashes(hashes: &[String], least: usize) -> Result<(), OpError> {
    let fits = (least..=limits::PORTABLE_ORIGINS_MAX).contains(&hashes.len());
    match fits && hashes.iter().all(|hash| Origin::parse(hash).is_some()) {
        true => Ok(()),
        false => Err(OpError::invalid("origins", "a hash is missing or is not 32 hex digits")),
    }
}

/// Where an export continues. The first page begins without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportPosition {
    pub part: ExportPart,
    /// The session whose records follow.
    #[serde(default)]
    pub session: i64,
    /// The time and the id of the last record.
    #[serde(default)]
    pub at: i64,
    #[serde(default)]
    pub id: i64,
}

/// The parts of an export, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExportPart {
    #[default]
    Projects,
    Sessions,
    Memories,
}
