//! Whether an answer has everything that matches.

/// Whether an answer has everything that matches. Each stage of a query may lower it. A stage restores it only
/// if the part that it left out cannot belong to the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Completeness {
    #[default]
    Complete,
    /// Something was left out: words of a query that has too many, pairs of two very frequent words, or records,
    /// because there are too many, time was up or the index is damaged.
    Partial,
}

impl Completeness {
    pub fn is_partial(self) -> bool {
        self == Completeness::Partial
    }
}
