//! Observations: immutable records of an agent's actions, and their types.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::{OpError, limits};

macro_rules! obs_types {
    ($($variant:ident $word:literal,)*) => {
        /// The type of an observation.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum ObsType { $($variant,)* }

        impl ObsType {
            pub const ALL: &'static [ObsType] = &[$(ObsType::$variant,)*];

            /// The name on the wire and in the store.
            pub fn word(self) -> &'static str {
                match self { $(ObsType::$variant => $word,)* }
            }

            pub fn parse(word: &str) -> Option<ObsType> {
                match word { $($word => Some(ObsType::$variant),)* _ => None }
            }
        }
    };
}

obs_types! {
    FileRead "file_read",
    FileWrite "file_write",
    FileEdit "file_edit",
    Command "command",
    CommandError "command_error",
    GitCommit "git_commit",
    GitPush "git_push",
    Github "github",
    Search "search",
    TaskSpawn "task_spawn",
    WebFetch "web_fetch",
    WebSearch "web_search",
    McpCall "mcp_call",
    ToolOther "tool_other",
    UserPrompt "user_prompt",
    Answer "answer",
    SessionStart "session_start",
    SessionResume "session_resume",
    SessionClear "session_clear",
    SessionCompact "session_compact",
    SessionFork "session_fork",
    SessionEnd "session_end",
    SessionSummary "session_summary",
    Marker "marker",
}

impl ObsType {
    /// Weight in lists that are not ranked by a query, from 0 to 1.
    pub fn weight(self) -> f64 {
        match self {
            ObsType::FileEdit => 1.0,
            ObsType::Command | ObsType::Answer => 0.67,
            ObsType::SessionCompact => 0.5,
            ObsType::McpCall => 0.33,
            _ => 0.17,
        }
    }

    /// How informative a record of this type is in a search, from 0 to 1. Messages, commits and errors contain
    /// findings, edits and runs contain work, and reads contain neither.
    pub fn telling(self) -> f64 {
        use ObsType as O;
        match self {
            O::UserPrompt | O::Answer | O::GitCommit | O::Marker | O::CommandError => 1.0,
            O::SessionSummary | O::FileEdit | O::FileWrite => 0.67,
            O::Command | O::GitPush | O::Github | O::McpCall => 0.5,
            O::TaskSpawn | O::WebFetch | O::WebSearch | O::ToolOther => 0.33,
            _ => 0.0,
        }
    }

    /// How many days it is retained unless it is pinned.
    pub fn kept_days(self) -> i64 {
        use ObsType as O;
        match self {
            O::GitCommit | O::GitPush | O::Marker | O::CommandError => 730,
            O::UserPrompt | O::Answer | O::SessionSummary => 730,
            O::FileWrite | O::FileEdit => 365,
            O::Command | O::Github => 180,
            kind if kind.is_mark() => 365,
            _ => 90,
        }
    }

    /// Whether it certainly changed files or the repository: a write, an edit, a commit or a push.
    /// A command may have changed something too, which is unknown.
    pub fn intervenes(self) -> bool {
        use ObsType as O;
        matches!(self, O::FileWrite | O::FileEdit | O::GitCommit | O::GitPush)
    }

    /// Whether it is talk, that is, something that was said: only talk can replace a statement, or be replaced.
    pub fn is_talk(self) -> bool {
        matches!(self, ObsType::UserPrompt | ObsType::Answer | ObsType::Marker)
    }

    /// Whether it counts as an action of the prompt that caused it. Markers and answers do not.
    pub fn is_action(self) -> bool {
        !matches!(self, ObsType::Marker | ObsType::Answer)
    }

    /// Whether it marks a moment of the session instead of an action of the agent.
    pub fn is_mark(self) -> bool {
        use ObsType as O;
        matches!(
            self,
            O::SessionStart
                | O::SessionResume
                | O::SessionClear
                | O::SessionCompact
                | O::SessionFork
                | O::SessionEnd
        )
    }
}

/// The type of a record on the wire: a type of observation, or the name of a plugin's record type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordType {
    Observed(ObsType),
    Other(KindWord),
}

/// The name of a record type that is not an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KindWord {
    /// The name, padded with zeros.
    bytes: [u8; limits::KIND_BYTES_MAX],
}

impl RecordType {
    /// The type with this name; `None` if the name is empty or too long.
    pub fn of(word: &str) -> Option<RecordType> {
        if let Some(kind) = ObsType::parse(word) {
            return Some(RecordType::Observed(kind));
        }
        let mut bytes = [0; limits::KIND_BYTES_MAX];
        bytes.get_mut(..word.len())?.copy_from_slice(word.as_bytes());
        (!word.is_empty()).then_some(RecordType::Other(KindWord { bytes }))
    }

    pub fn word(&self) -> &str {
        match self {
            RecordType::Observed(kind) => kind.word(),
            RecordType::Other(KindWord { bytes }) => {
                let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
                bytes.get(..end).and_then(|word| std::str::from_utf8(word).ok()).unwrap_or_default()
            }
        }
    }

    /// The type that rules about types apply to: a plugin's type counts as `tool_other`.
    pub fn kind(self) -> ObsType {
        match self {
            RecordType::Observed(kind) => kind,
            RecordType::Other(_) => ObsType::ToolOther,
        }
    }
}

impl From<ObsType> for RecordType {
    fn from(kind: ObsType) -> RecordType {
        RecordType::Observed(kind)
    }
}

impl PartialEq<ObsType> for RecordType {
    fn eq(&self, kind: &ObsType) -> bool {
        *self == RecordType::Observed(*kind)
    }
}

impl Serialize for RecordType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for RecordType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RecordType, D::Error> {
        let word = String::deserialize(deserializer)?;
        RecordType::of(&word).ok_or_else(|| D::Error::custom("not a word for a type of record"))
    }
}

/// The error for a word that is no type of record; it lists those that are.
pub fn unknown_type<'w>(word: &str, types: impl IntoIterator<Item = &'w str>) -> OpError {
    let types: Vec<&str> = types.into_iter().collect();
    let meant = text::suggest::did_you_mean(word, types.iter().copied());
    let meant = meant.map(|meant| format!("{meant} "));
    OpError::invalid("", format!("no record is of the type '{word}'")).hint(format!(
        "{}Choose from: {}.",
        meant.unwrap_or_default(),
        types.join(", ")
    ))
}

/// The `format` of a [`RecordType`] in schemas of parameters. The table of operations replaces it by the words for the kinds
/// of records that plugins bring.
pub const RECORD_TYPE_FORMAT: &str = "record-type";

impl JsonSchema for RecordType {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RecordType".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = ObsType::ALL.iter().map(|kind| kind.word()).collect();
        json_schema!({ "type": "string", "format": RECORD_TYPE_FORMAT, "enum": words })
    }
}

/// Prefix of the text of a damaged record.
pub const DAMAGED_MARK: &str = "[damaged record]";

/// One record of an action of an agent, as returned on the wire. Prompts are returned in this form too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    pub id: i64,
    /// Seconds since 1970, UTC.
    pub timestamp: i64,
    /// Left out for a record that is in no session.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub session_id: String,
    pub project: String,
    /// The kind of the record, for example `file_edit`.
    #[schemars(with = "String")]
    pub obs_type: RecordType,
    /// The agent's event it was drawn from.
    pub source_event: String,
    pub tool_name: Option<String>,
    pub file_path: Option<String>,
    pub content: String,
    /// An object; its members depend on the type.
    pub metadata: Option<Value>,
    pub is_pinned: bool,
    /// The prompt that caused it.
    pub prompt_id: Option<i64>,
    /// Which agent, for example `claude-code`.
    pub agent: String,
    /// The subagent that acted; none for the agent itself.
    pub agent_id: Option<String>,
    /// Whether a part of the record is damaged in the database; the readable part is shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
    /// Milliseconds since 1970, UTC; the sort key.
    #[serde(skip)]
    pub at_ms: i64,
    /// The project in the store.
    #[serde(skip)]
    pub project_row: i64,
}

impl Observation {
    /// Whether the action failed.
    pub fn failed(&self) -> bool {
        let flag = self.metadata.as_ref().and_then(|meta| meta.get("failed")?.as_bool());
        self.obs_type == ObsType::CommandError || flag == Some(true)
    }

    /// The tool's error message.
    pub fn error(&self) -> Option<&str> {
        self.metadata.as_ref()?.get("error")?.as_str()
    }

    /// The searchable text of an observation: the shown text, its subject, and its result.
    pub fn searched(content: &str, file_path: Option<&str>, metadata: &Value) -> String {
        let mut text = content.to_owned();
        let more =
            ["commit_message", "commit_hash", "error"].map(|name| metadata.get(name)?.as_str());
        for part in more.into_iter().chain([file_path]).flatten() {
            if !text.contains(part) {
                text.push('\n');
                text.push_str(part);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_survives_its_word_and_the_word_is_the_one_of_the_wire() {
        for kind in ObsType::ALL {
            assert_eq!(ObsType::parse(kind.word()), Some(*kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.word());
        }
        assert_eq!(ObsType::parse("banana"), None);
    }

    #[test]
    fn the_type_of_a_record_survives_the_wire_whether_or_not_it_is_an_observation() {
        let longest = "k".repeat(limits::KIND_BYTES_MAX);
        for word in ["file_edit", "banana", longest.as_str()] {
            let kind = RecordType::of(word).unwrap();
            assert_eq!(kind.word(), word);
            assert_eq!(serde_json::to_value(kind).unwrap(), word);
            assert_eq!(serde_json::from_value::<RecordType>(word.into()).unwrap(), kind);
        }
        assert_eq!(RecordType::of("file_edit").unwrap(), ObsType::FileEdit);
        assert_eq!(RecordType::of("banana").unwrap().kind(), ObsType::ToolOther);
        assert_eq!((RecordType::of(""), RecordType::of(&(longest + "k"))), (None, None));
    }
}
