//! Paging: as many hits as are wanted, or more where a few sessions have most of them.

use std::collections::HashMap;

use model::limits;

/// More than the limit are wanted if a few sessions have most of them: until there are so many of which none
/// is one too many of its session.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    pub per_session: usize,
    pub count: usize,
}

impl Spread {
    /// How many hits of these sessions it takes, from the first on; none if all of them do not do.
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

/// How many hits of these sessions are wanted, from the first on, so that those of few sessions do not fill a page.
pub(super) fn reach(spread: Option<Spread>, sessions: impl ExactSizeIterator<Item = i64>) -> usize {
    let all = sessions.len();
    let reach = spread.map_or(0, |spread| spread.reach(sessions).unwrap_or(all));
    reach.min(limits::SEARCH_SPREAD_MAX)
}
