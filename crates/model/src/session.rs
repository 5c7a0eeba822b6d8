//! Sessions and prompts, and the summary of a session, which is extracted without a model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::observation::{DAMAGED_MARK, ObsType};
use crate::{OpError, limits};

/// The state of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    Active,
    /// The agent has answered and waits.
    Idle,
    Ended,
}

impl SessionState {
    pub fn word(self) -> &'static str {
        match self {
            SessionState::Active => "active",
            SessionState::Idle => "idle",
            SessionState::Ended => "ended",
        }
    }

    pub fn parse(word: &str) -> Option<SessionState> {
        Some(match word {
            "active" => SessionState::Active,
            "idle" => SessionState::Idle,
            "ended" => SessionState::Ended,
            _ => return None,
        })
    }
}

/// One conversation of one agent. Times are milliseconds since 1970, UTC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    pub id: i64,
    /// The agent's own id of the session.
    pub session_id: String,
    pub project_id: i64,
    pub project: String,
    pub agent: String,
    /// Top directory of the project where it was first seen.
    pub root: Option<String>,
    /// The session it was forked from.
    pub parent: Option<i64>,
    pub started_at: i64,
    pub last_at: i64,
    pub ended_at: Option<i64>,
    pub state: SessionState,
    pub is_pinned: bool,
    /// Number of actions by type, the most frequent first.
    pub signature: Vec<(ObsType, u64)>,
    pub summary: Option<Summary>,
}

impl Session {
    /// Its intent as one line, or its agent and project if it has none.
    pub fn title(&self) -> String {
        let intent = self.summary.as_ref().map(|summary| summary.intent.as_str());
        match intent.filter(|intent| !intent.is_empty()) {
            Some(intent) => text::one_line(intent, limits::PREVIEW_CHARS),
            None => format!("{} in {}", self.agent, self.project),
        }
    }
}

/// Whether an id can be a part of a path: `session://ID`, `/api/sessions/ID`.
pub(crate) fn is_addressable(id: &str) -> bool {
    !matches!(id, "" | "." | "..") && !id.contains(['/', '\\'])
}

/// Checks the id of a session in this parameter.
pub fn check_id(param: &str, id: &str) -> Result<(), OpError> {
    let max = limits::SESSION_ID_BYTES_MAX;
    let message = match id {
        "" => "the id of the session is empty".to_owned(),
        "." | ".." => format!("'{id}' is not the id of a session"),
        long if long.len() > max => format!("the id of the session has more than {max} bytes"),
        odd if !is_addressable(odd) || odd.chars().any(char::is_control) => {
            "the id of the session has a slash, a backslash or a control character".to_owned()
        }
        _ => return Ok(()),
    };
    Err(OpError::invalid(param, message).hint("`rekindle sessions` lists the ids of sessions."))
}

/// The author of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptSource {
    User,
    Agent,
}

impl PromptSource {
    pub fn word(self) -> &'static str {
        match self {
            PromptSource::User => "user",
            PromptSource::Agent => "agent",
        }
    }

    pub fn parse(word: &str) -> Option<PromptSource> {
        Some(match word {
            "user" => PromptSource::User,
            "agent" => PromptSource::Agent,
            _ => return None,
        })
    }
}

/// A prompt: a message to the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prompt {
    pub id: i64,
    /// The agent's own id of the session.
    pub session_id: String,
    pub project_id: i64,
    pub project: String,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    pub source: PromptSource,
    pub content: String,
    /// The agent's own id of the prompt.
    pub agent_prompt_id: Option<String>,
    /// How many actions followed from it.
    pub actions: u64,
    pub is_pinned: bool,
    /// Whether a part of the record is damaged in the database.
    pub damaged: bool,
}

/// An action of a session, as its summary needs it.
#[derive(Clone, Debug)]
pub struct Deed {
    pub kind: ObsType,
    pub failed: bool,
    pub file_path: Option<String>,
    pub content: String,
    /// Set for failures and commits only.
    pub metadata: Option<Value>,
}

/// A session's intent, outcome and findings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Summary {
    /// The user's intent.
    pub intent: String,
    /// The outcome: the first sentences of the agent's last answer.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub outcome: String,
    /// Subjects of the commits.
    pub completed: Vec<String>,
    /// Paths, the last first.
    pub files_edited: Vec<String>,
    pub files_read: Vec<String>,
    /// The last distinct errors, the last first.
    pub notes: Vec<String>,
    /// Marks of the session.
    pub learned: Vec<String>,
    pub next_steps: Vec<String>,
}

impl Summary {
    /// A summary with the user's intent and no outcome yet.
    pub fn new(intent: &str) -> Summary {
        let intent = text::one_line(intent, limits::SUMMARY_LINE_CHARS_MAX);
        Summary { intent, ..Summary::default() }
    }

    /// Marks this summary as partly damaged in the database.
    #[must_use]
    pub fn damaged(mut self) -> Summary {
        if !self.is_damaged() {
            self.intent = format!("{DAMAGED_MARK} {}", self.intent).trim_end().to_owned();
        }
        self
    }

    pub fn is_damaged(&self) -> bool {
        self.intent.starts_with(DAMAGED_MARK)
    }

    /// Whether there is room for another action of this type.
    pub fn wants(&mut self, kind: ObsType, failed: bool) -> bool {
        match kind {
            ObsType::Answer if !failed => self.outcome.is_empty(),
            _ => self.list(kind, failed).is_some_and(|list| list.len() < limits::SUMMARY_ITEMS_MAX),
        }
    }

    /// Adds an action of the session. Actions are added newest first.
    pub fn add(&mut self, deed: &Deed) {
        if !self.wants(deed.kind, deed.failed) {
            return;
        }
        if deed.kind == ObsType::Answer && !deed.failed {
            self.outcome = text::gist(&deed.content, limits::SUMMARY_OUTCOME_CHARS_MAX);
            return;
        }
        let mut said = deed.text();
        if deed.failed {
            // The first line of an output may be the progress of a test run; the one that names the error comes later.
            let finding = text::telling::finding(said);
            let at = (finding.as_ptr() as usize).saturating_sub(said.as_ptr() as usize);
            said = said.get(at..).filter(|_| !finding.is_empty()).unwrap_or(said);
        }
        let line = text::one_line(said, limits::SUMMARY_LINE_CHARS_MAX);
        if let Some(list) = self.list(deed.kind, deed.failed)
            && !line.is_empty()
            && !list.contains(&line)
        {
            list.push(line);
        }
    }

    /// Completes the summary after the last action was added. Deterministic.
    #[must_use]
    pub fn finished(mut self) -> Summary {
        // A file that was edited is not listed as read, too.
        let edited = &self.files_edited;
        self.files_read.retain(|path| !edited.contains(path));
        self
    }

    /// The list for actions of this type, if there is one.
    fn list(&mut self, kind: ObsType, failed: bool) -> Option<&mut Vec<String>> {
        match kind {
            // The commit was made even if a later command of the line failed.
            ObsType::GitCommit => Some(&mut self.completed),
            // A failed action neither changed nor read anything.
            _ if failed => Some(&mut self.notes),
            ObsType::FileEdit | ObsType::FileWrite => Some(&mut self.files_edited),
            ObsType::FileRead => Some(&mut self.files_read),
            ObsType::Marker => Some(&mut self.learned),
            _ => None,
        }
    }

    /// The text of the summary for display.
    pub fn told(&self) -> String {
        self.text_with(self.details())
    }

    /// The text of the summary for search, without the outcome: search finds that in the answer itself, which would
    /// be a second hit with equal words.
    pub fn text(&self) -> String {
        self.text_with(self.lists())
    }

    fn text_with(&self, details: Vec<String>) -> String {
        let mut lines = vec![self.intent.clone()];
        lines.extend(details);
        lines.retain(|line| !line.is_empty());
        lines.join("\n")
    }

    /// The lines of the summary below the intent.
    pub fn details(&self) -> Vec<String> {
        let outcome = Some(&self.outcome).filter(|outcome| !outcome.is_empty());
        outcome
            .map(|outcome| format!("last answer: {outcome}"))
            .into_iter()
            .chain(self.lists())
            .collect()
    }

    fn lists(&self) -> Vec<String> {
        let lists = [
            ("completed", &self.completed),
            ("edited", &self.files_edited),
            ("notes", &self.notes),
            ("learned", &self.learned),
            ("next", &self.next_steps),
        ];
        let lines = lists
            .into_iter()
            .flat_map(|(title, list)| list.iter().map(move |line| format!("{title}: {line}")));
        lines.collect()
    }
}

/// Whether a prompt states the intent of a session: it has enough words and led to actions. A question about the
/// state of the work leads to reads, and is not an intent.
pub fn tells_intent(content: &str, actions: u64) -> bool {
    actions > 0
        && content.split_whitespace().count() >= limits::SUMMARY_INTENT_WORDS_MIN
        && !text::is_small_talk(content)
}

impl Deed {
    /// The line about it in the summary: the file, the first line of a commit's message, the error, or else its
    /// content.
    fn text(&self) -> &str {
        let told = |name: &str| self.metadata.as_ref()?.get(name)?.as_str();
        match self.kind {
            _ if self.failed && self.kind != ObsType::GitCommit => {
                told("error").unwrap_or(&self.content)
            }
            ObsType::FileEdit | ObsType::FileWrite | ObsType::FileRead => {
                self.file_path.as_deref().unwrap_or_default()
            }
            ObsType::GitCommit => {
                let message = told("commit_message").unwrap_or(&self.content);
                message.lines().next().unwrap_or_default()
            }
            _ => &self.content,
        }
    }
}
