//! Imports of transcripts: the messages between the command that reads files and the daemon that stores records.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportBatch {
    pub id: i64,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    /// The agents whose transcripts were read, separated by commas.
    pub source: String,
    /// Files that were read to their end.
    pub files: u64,
    /// Records that it added.
    pub added: u64,
}

/// How far a file was imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileCursor {
    /// A hash of the path, 32 hex digits.
    pub file: String,
    /// Bytes of the file when it was read.
    pub size: u64,
    /// When the file was last changed, in milliseconds since 1970.
    pub modified: i64,
    /// The byte from which a file that has grown is read again.
    pub position: u64,
    /// A hash of the first bytes, 32 hex digits. Another one means another file.
    pub head: String,
}

/// The results of the events of an import, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportCounts {
    pub prompts: u64,
    pub answers: u64,
    /// Tool calls, the failed ones included.
    pub actions: u64,
    pub failures: u64,
    #[serde(default)]
    pub memories: u64,
    /// Memories that were deleted, because the file that they come from has them no longer.
    #[serde(default)]
    pub removed: u64,
    /// Memories that look like secrets. They are not stored.
    #[serde(default)]
    pub secrets: u64,
    /// Events whose record was stored before, by a hook or by an import.
    pub known: u64,
    /// Events whose record the user purged.
    pub forgotten: u64,
    /// Events of projects or files that the settings exclude.
    pub excluded: u64,
    /// Events that retention would delete at once.
    pub too_old: u64,
}

/// The part of an import that is about one project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectImport {
    /// The sessions of its events, by the agent's own id.
    pub sessions: BTreeSet<String>,
    /// The sessions of the records that were added.
    pub added: BTreeSet<String>,
    pub counts: ImportCounts,
}

impl ProjectImport {
    /// Counts an event of a session, if it has one.
    pub fn count(&mut self, session: Option<&str>, counts: &ImportCounts) {
        self.sessions.extend(session.map(str::to_owned));
        self.added.extend(session.filter(|_| counts.added() > 0).map(str::to_owned));
        self.counts.add(counts);
    }

    /// Adds the sessions and counts of further events.
    pub fn add(&mut self, more: ProjectImport) {
        self.sessions.extend(more.sessions);
        self.added.extend(more.added);
        self.counts.add(&more.counts);
    }
}

impl ImportCounts {
    /// One event whose record was stored before.
    pub fn of_known() -> ImportCounts {
        ImportCounts { known: 1, ..ImportCounts::default() }
    }

    /// One event whose record the user purged.
    pub fn of_forgotten() -> ImportCounts {
        ImportCounts { forgotten: 1, ..ImportCounts::default() }
    }

    /// One event that the settings exclude.
    pub fn of_excluded() -> ImportCounts {
        ImportCounts { excluded: 1, ..ImportCounts::default() }
    }

    /// One event that retention would delete at once.
    pub fn of_too_old() -> ImportCounts {
        ImportCounts { too_old: 1, ..ImportCounts::default() }
    }

    /// How many records are new.
    pub fn added(&self) -> u64 {
        self.prompts + self.answers + self.actions + self.memories
    }

    /// Adds the counts of further events.
    pub fn add(&mut self, more: &ImportCounts) {
        self.prompts += more.prompts;
        self.answers += more.answers;
        self.actions += more.actions;
        self.failures += more.failures;
        self.memories += more.memories;
        self.removed += more.removed;
        self.secrets += more.secrets;
        self.known += more.known;
        self.forgotten += more.forgotten;
        self.excluded += more.excluded;
        self.too_old += more.too_old;
    }
}
