//! The totals of an import, for its report.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use ::import::{FileReport, RecordReport};
use model::import::{ImportCounts, ProjectImport};

use super::batches::SentBatch;

/// The result of an import.
#[derive(Default)]
pub(super) struct ImportTotals {
    pub(super) batch: Option<i64>,
    pub(super) counts: ImportCounts,
    /// By the names of the agent and of the project.
    pub(super) projects: BTreeMap<(&'static str, String), ProjectTotals>,
    /// The sessions of the records that were added.
    pub(super) sessions: BTreeSet<String>,
    /// Texts that were redacted, by the rule that applied.
    pub(super) redacted: BTreeMap<String, u64>,
    pub(super) files: u64,
    pub(super) unchanged: u64,
    /// Lines of unknown kinds.
    pub(super) unknown: u64,
    pub(super) unreadable: Vec<(PathBuf, String)>,
    pub(super) problems: Vec<(PathBuf, FileReport)>,
    pub(super) record_problems: Vec<(PathBuf, RecordReport)>,
    /// Facts about sessions whose project only the daemon knows.
    notes: BTreeMap<(&'static str, String), SessionNotes>,
    /// The project of each session.
    places: BTreeMap<(&'static str, String), String>,
}

/// The totals of an agent in a project.
#[derive(Default)]
pub(super) struct ProjectTotals {
    pub(super) sent: ProjectImport,
    pub(super) notes: SessionNotes,
}

/// Counts of a session that only the reader of its transcript knows.
#[derive(Default)]
pub(super) struct SessionNotes {
    pub(super) redacted: BTreeMap<String, u64>,
    /// Lines of unknown kinds, and lines that were skipped.
    pub(super) not_understood: u64,
    known: u64,
}

impl ImportTotals {
    /// The totals of an import that is continued, or of a new one.
    pub(super) fn of(batch: Option<i64>) -> ImportTotals {
        ImportTotals { batch, ..ImportTotals::default() }
    }

    /// Counts an event that a dry run does not send, because it sent a copy of it before.
    pub(super) fn copied(&mut self, source: &'static str, session: &str) {
        self.notes.entry((source, session.to_owned())).or_default().known += 1;
        self.counts.known += 1;
    }

    /// Counts the texts that were redacted in an event, by rule.
    pub(super) fn redact(&mut self, source: &'static str, session: &str, rules: Vec<String>) {
        for rule in rules {
            let notes = self.notes.entry((source, session.to_owned())).or_default();
            *notes.redacted.entry(rule.clone()).or_default() += 1;
            *self.redacted.entry(rule).or_default() += 1;
        }
    }

    /// Counts a file that was read to its end.
    pub(super) fn read(&mut self, source: &'static str, path: PathBuf, report: FileReport) {
        self.files += 1;
        self.unknown += report.unknown;
        let skipped: u64 = report.problems.values().map(|(_, count)| count).sum();
        // Several sessions in one file are a session that was resumed, so all of them are in one project.
        if let Some(session) = report.sessions.first().filter(|_| report.unknown + skipped > 0) {
            let notes = self.notes.entry((source, session.clone())).or_default();
            notes.not_understood += report.unknown + skipped;
        }
        if !report.problems.is_empty() {
            self.problems.push((path, report));
        }
    }

    /// Adds the answer of the daemon to a call.
    pub(super) fn add(&mut self, source: &'static str, sent: SentBatch) {
        self.batch = sent.batch.or(self.batch);
        self.counts.add(&sent.counts);
        for (project, part) in sent.projects {
            for session in &part.sessions {
                self.places.insert((source, session.clone()), project.clone());
            }
            self.sessions.extend(part.added.iter().cloned());
            self.projects.entry((source, project)).or_default().sent.add(part);
        }
    }

    /// Gives the notes about sessions to their projects.
    pub(super) fn settle(&mut self) {
        for (session, notes) in std::mem::take(&mut self.notes) {
            let Some(project) = self.places.get(&session) else { continue };
            let totals = self.projects.entry((session.0, project.clone())).or_default();
            totals.notes.not_understood += notes.not_understood;
            totals.sent.counts.known += notes.known;
            for (rule, count) in notes.redacted {
                *totals.notes.redacted.entry(rule).or_default() += count;
            }
        }
    }
}
