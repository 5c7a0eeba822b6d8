//! Sessions and prompts, and the summary that is drawn from a session without any model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits;
use crate::observation::{DAMAGED_MARK, ObsType};

/// Whether something is going on in a session.
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
    /// The agent's own id of it.
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
    /// How often what was done, the most frequent first.
    pub signature: Vec<(ObsType, u64)>,
    pub summary: Option<Summary>,
}

/// Who wrote a prompt.
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

/// What was said to the agent.
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

/// Something that a session did, as far as its summary looks at it.
#[derive(Clone, Debug)]
pub struct Deed {
    pub kind: ObsType,
    pub failed: bool,
    pub file_path: Option<String>,
    pub content: String,
    /// Only of what failed, and of commits.
    pub metadata: Option<Value>,
}

/// What a session was about and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Summary {
    /// What the user wanted.
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
    /// What somebody marked as worth keeping.
    pub learned: Vec<String>,
    pub next_steps: Vec<String>,
}

impl Summary {
    /// A summary that says what the user wanted of a session and does not know yet what came of it.
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

    /// Whether there is room for one more thing of this kind.
    pub fn wants(&mut self, kind: ObsType, failed: bool) -> bool {
        match kind {
            ObsType::Answer if !failed => self.outcome.is_empty(),
            _ => self.list(kind, failed).is_some_and(|list| list.len() < limits::SUMMARY_ITEMS_MAX),
        }
    }

    /// Adds something that the session did. The last comes first.
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

    /// The summary when everything was added. The same input gives the same summary.
    #[must_use]
    pub fn finished(mut self) -> Summary {
        // What was edited was not only read.
        let edited = &self.files_edited;
        self.files_read.retain(|path| !edited.contains(path));
        self
    }

    /// Where things of this kind are told, if they are.
    fn list(&mut self, kind: ObsType, failed: bool) -> Option<&mut Vec<String>> {
        match kind {
            // What failed changed nothing and read nothing, whatever it was.
            _ if failed => Some(&mut self.notes),
            ObsType::FileEdit | ObsType::FileWrite => Some(&mut self.files_edited),
            ObsType::FileRead => Some(&mut self.files_read),
            ObsType::GitCommit => Some(&mut self.completed),
            ObsType::Marker => Some(&mut self.learned),
            _ => None,
        }
    }

    /// The text of the summary for display.
    pub fn told(&self) -> String {
        self.lines(&self.outcome)
    }

    /// The text of the summary for search, without the outcome: search finds that in the answer itself, and the
    /// same words would be two hits.
    pub fn text(&self) -> String {
        self.lines("")
    }

    fn lines(&self, outcome: &str) -> String {
        let mut lines = vec![self.intent.clone()];
        if !outcome.is_empty() {
            lines.push(format!("outcome: {outcome}"));
        }
        let lists = [
            ("completed", &self.completed),
            ("edited", &self.files_edited),
            ("notes", &self.notes),
            ("learned", &self.learned),
            ("next", &self.next_steps),
        ];
        for (title, list) in lists {
            lines.extend(list.iter().map(|line| format!("{title}: {line}")));
        }
        lines.retain(|line| !line.is_empty());
        lines.join("\n")
    }
}

/// Whether a prompt of the user says what a session is about: it says enough, and led to something. A
/// question about the state of the work leads to commands that look, but is not what a session is about.
pub fn tells_intent(content: &str, actions: u64) -> bool {
    actions > 0
        && content.split_whitespace().count() >= limits::SUMMARY_INTENT_WORDS_MIN
        && !text::is_small_talk(content)
}

impl Deed {
    /// What the summary says of it: the file, the first line of a commit's message, the error, or what
    /// it was where these are not known.
    fn text(&self) -> &str {
        let told = |name: &str| self.metadata.as_ref()?.get(name)?.as_str();
        match self.kind {
            _ if self.failed => told("error").unwrap_or(&self.content),
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
