//! The full-text index as other files have to know it: its setting, and what a group of writes did to it, which the
//! writer has to know after COMMIT.

use crate::deferred::Deferred;

/// Pieces of the full-text index on a level before they become one of the next level. Twice as many as
/// by default: each word is written less often, and a search has a few more places to look at.
pub(crate) const MERGE: &str =
    "INSERT INTO passage_fts (passage_fts, rank) VALUES ('automerge', 8);";

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IndexState {
    /// How many documents were noted that the index does not contain yet.
    pub(crate) noted: usize,
    /// Whether the index was brought up to date with everything committed before.
    pub(crate) is_whole: bool,
    /// Whether every passage has its embedding.
    pub(crate) is_worked_out: bool,
    /// Whether there are postings to be packed, if that was looked at.
    pub(crate) is_loose: Option<bool>,
}

impl Deferred for IndexState {
    fn add(&mut self, later: IndexState) {
        self.noted += later.noted;
        self.is_whole |= later.is_whole;
        self.is_worked_out |= later.is_worked_out;
        self.is_loose = later.is_loose.or(self.is_loose);
    }
}
