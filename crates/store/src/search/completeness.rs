//! Whether an answer is all that there is.

/// The part that a stage of a query left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Words or pairs of words of the query, because it has too many or they are too frequent.
    Words,
    /// Records that the index has, because there are too many, time was up or the index is damaged.
    Matches,
    /// Records that the filter was not asked about, because time was up.
    Unfiltered,
    /// Records that the index does not know yet, because time was up.
    Unindexed,
}

/// Whether an answer is all that there is. Each stage of a query may lower it; none raises it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Completeness {
    #[default]
    Complete,
    /// The first that was left out.
    Without(Missing),
}

impl Completeness {
    pub fn is_partial(self) -> bool {
        self != Completeness::Complete
    }

    /// That of two parts of an answer together.
    pub(super) fn and(self, other: Completeness) -> Completeness {
        if self.is_partial() { self } else { other }
    }
}
