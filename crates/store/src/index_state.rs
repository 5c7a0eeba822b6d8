//! State of the full-text index for other modules: its setting, and the changes of a group of writes, which the writer
//! needs after COMMIT.

use crate::deferred::Deferred;

/// FTS5 `automerge`: how many segments a level has before they are merged into one segment of the next level. Twice the
/// default: each word is rewritten less often, and a search reads a few more segments.
pub(crate) const MERGE: &str =
    "INSERT INTO passage_fts (passage_fts, rank) VALUES ('automerge', 8);";

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IndexState {
    /// How many documents were added to the unindexed ones.
    pub(crate) noted: usize,
    /// Whether the index was brought up to date with everything committed before.
    pub(crate) is_whole: bool,
    /// Whether every passage has its embedding.
    pub(crate) is_worked_out: bool,
    /// Whether all records are counted.
    pub(crate) is_counted: bool,
    /// Whether the counts of records were discarded.
    pub(crate) is_uncounted: bool,
}

impl Deferred for IndexState {
    fn add(&mut self, later: IndexState) {
        self.noted += later.noted;
        self.is_whole |= later.is_whole;
        self.is_worked_out |= later.is_worked_out;
        self.is_counted |= later.is_counted;
        self.is_uncounted |= later.is_uncounted;
    }
}
