//! Jobs: operations that take long, with their state and progress.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    // In the queue: jobs run one after the other.
    Waiting,
    Running,
    Done,
    Failed,
    Cancelled,
}

impl JobState {
    const ALL: [JobState; 5] = [
        JobState::Waiting,
        JobState::Running,
        JobState::Done,
        JobState::Failed,
        JobState::Cancelled,
    ];

    pub fn word(self) -> &'static str {
        match self {
            JobState::Waiting => "waiting",
            JobState::Running => "running",
            JobState::Done => "done",
            JobState::Failed => "failed",
            JobState::Cancelled => "cancelled",
        }
    }

    pub fn has_ended(self) -> bool {
        !matches!(self, JobState::Waiting | JobState::Running)
    }

    pub fn parse(word: &str) -> Option<JobState> {
        JobState::ALL.into_iter().find(|state| state.word() == word)
    }
}

/// A long operation that waits, runs or ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    pub id: i64,
    /// The operation, for example `maintain`.
    pub op: String,
    pub state: JobState,
    /// Why it failed: the code of the error, or `interrupted` if its process ended first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Milliseconds since 1970, UTC. While it waits, the time when it was queued.
    pub started_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<i64>,
    /// Its progress while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<JobProgress>,
}

/// The present step of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobProgress {
    /// For example `copying pages`.
    pub step: String,
    /// Units of this step that are done.
    pub done: u64,
    /// Units of this step in all, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}
