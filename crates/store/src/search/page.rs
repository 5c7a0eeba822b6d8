//! Paging: as many hits as the limit, or more if a few sessions have most of them.

use std::collections::HashMap;

use model::limits;

/// Fetch past the limit until `count` hits remain after capping each session at `per_session`.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    pub per_session: usize,
    pub count: usize,
}

impl Spread {
    /// How many hits are needed, from the first on, given the session of each hit in order; none if all hits are not
    /// enough.
    pub(super) fn reach(&self, mut sessions: impl Iterator<Item = i64>) -> Option<usize> {
        let mut counts: HashMap<i64, usize> = HashMap::new();
        let mut missing = self.count;
        let last = sessions.position(|session| {
            let count = counts.entry(session).or_default();
            *count += 1;
            missing -= usize::from(*count <= self.per_session);
            missing == 0
        });
        last.map(|last| last + 1)
    }
}

/// How many hits to return, from the first on, given the session of each hit, so that a few sessions do not fill a
/// page.
pub(super) fn reach(spread: Option<Spread>, sessions: impl ExactSizeIterator<Item = i64>) -> usize {
    let all = sessions.len();
    let reach = spread.map_or(0, |spread| spread.reach(sessions).unwrap_or(all));
    reach.min(limits::SEARCH_SPREAD_MAX)
}
