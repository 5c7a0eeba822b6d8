//! The last repair of the store, as one line for sessions that start: records may be missing.

use contract::{Candidate, Moment, Occasion, Slot};
use model::{limits, time};

/// The last notice, if it is from the last day.
pub(super) fn candidates(moment: &Moment<'_>) -> Vec<Candidate> {
    if !matches!(moment.occasion, Occasion::SessionStart(_)) {
        return Vec::new();
    }
    let since = time::rfc3339(moment.now.saturating_sub(limits::NOTICES_TOLD_MS));
    // A notice starts with its time, which sorts as text.
    let last = moment.store.notices().pop().filter(|notice| *notice >= since);
    last.map(|notice| candidate(notice, &since)).into_iter().collect()
}

fn candidate(notice: String, since: &str) -> Candidate {
    let at = notice.get(..since.len()).unwrap_or_default();
    Candidate {
        path: format!("notice://{at}"),
        score: 1.0,
        reasons: vec!["the store was repaired within the last day".to_owned()],
        cells: vec![notice],
        ..Candidate::new(Slot::Repaired)
    }
}
