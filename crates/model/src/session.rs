//! Sessions and prompts, and the summary that is drawn from a session without any model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::observation::{ObsType, Observation};

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
}

/// What a session was about and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Summary {
    /// What the user wanted.
    pub intent: String,
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
    /// Draws the summary from a session's prompts, the first first, and from its observations, the
    /// last first. The same input gives the same summary; nothing gives none.
    pub fn of(prompts: &[Prompt], newest_first: &[Observation]) -> Option<Summary> {
        let acted = newest_first.iter().any(|seen| !seen.obs_type.is_mark());
        if prompts.is_empty() && !acted {
            return None;
        }
        let mut summary = Summary { intent: intent(prompts), ..Summary::default() };
        for seen in newest_first {
            let (list, text) = match seen.obs_type {
                ObsType::FileEdit | ObsType::FileWrite => {
                    (&mut summary.files_edited, seen.file_path.as_deref())
                }
                ObsType::FileRead => (&mut summary.files_read, seen.file_path.as_deref()),
                ObsType::GitCommit => (&mut summary.completed, Some(subject(seen))),
                ObsType::Marker => (&mut summary.learned, Some(seen.content.as_str())),
                _ if seen.failed() => (&mut summary.notes, seen.error().or(Some(&seen.content))),
                _ => continue,
            };
            let line = text.map(|text| text::one_line(text, limits::SUMMARY_LINE_CHARS_MAX));
            if let Some(line) = line.filter(|line| !line.is_empty())
                && list.len() < limits::SUMMARY_ITEMS_MAX
                && !list.contains(&line)
            {
                list.push(line);
            }
        }
        // What was edited was not only read.
        let edited = std::mem::take(&mut summary.files_edited);
        summary.files_read.retain(|path| !edited.contains(path));
        summary.files_edited = edited;
        Some(summary)
    }

    /// The summary as the text that is shown and searched.
    pub fn text(&self) -> String {
        let mut lines = vec![self.intent.clone()];
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

/// The first prompt of the user that says enough and led to something, else the first one.
fn intent(prompts: &[Prompt]) -> String {
    let by_user = || prompts.iter().filter(|prompt| prompt.source == PromptSource::User);
    let telling = by_user().find(|prompt| {
        prompt.actions > 0
            && prompt.content.split_whitespace().count() >= limits::SUMMARY_INTENT_WORDS_MIN
    });
    let chosen = telling.or_else(|| by_user().next());
    let content = chosen.map_or("", |prompt| prompt.content.as_str());
    text::one_line(content, limits::SUMMARY_LINE_CHARS_MAX)
}

/// The first line of a commit's message; its command where the message is not known.
fn subject(commit: &Observation) -> &str {
    let message = commit.metadata.as_ref().and_then(|meta| meta.get("commit_message")?.as_str());
    message.unwrap_or(&commit.content).lines().next().unwrap_or_default()
}
