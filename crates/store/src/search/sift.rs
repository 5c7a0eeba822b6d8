//! From passages in their order to the documents that are let through.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use model::{OpError, limits};

use super::ranking::Ranking;
use super::{Conditions, Hit, Scored, Wanted};
use crate::catalogue::Passages;
use crate::tx::Rx;

/// Passages whose documents are looked up at a time.
const CANDIDATES_AT_LEAST: usize = 32;
pub(super) const CANDIDATES_AT_MOST: usize = 4_096;

/// Finds the documents that the conditions let through. Where only the database can tell, very many may be
/// asked about in vain: that has an end.
pub(super) struct Sift<'s, 'r> {
    rx: &'s Rx<'r>,
    passages: &'s Passages,
    conditions: &'s Conditions,
    /// The time that is left for it.
    pub(super) left: Duration,
    /// Whether it ended before all were asked about.
    pub(super) partial: bool,
}

impl<'s, 'r> Sift<'s, 'r> {
    pub(super) fn new(
        rx: &'s Rx<'r>,
        passages: &'s Passages,
        conditions: &'s Conditions,
        left: Duration,
    ) -> Sift<'s, 'r> {
        Sift { rx, passages, conditions, left, partial: false }
    }

    /// The documents of these passages, each with the score of its best passage and with that passage, in
    /// this order.
    pub(super) fn documents(
        &mut self,
        wanted: Wanted,
        scored: Vec<Scored>,
    ) -> Result<Vec<(Hit, usize)>, OpError> {
        let Wanted { order, mut limit, spread } = wanted;
        let begun = Instant::now();
        let mut ranked = Ranking::new(self.passages, order, scored);
        let mut hits: Vec<(Hit, usize)> = Vec::new();
        let mut places: HashMap<i64, usize> = HashMap::new();
        let mut looked_at = 0;
        while hits.len() >= limit || !ranked.is_empty() {
            if hits.len() >= limit {
                let sessions = || hits.iter().take(limit).map(|(hit, _)| hit.session);
                if limit >= limits::SEARCH_SPREAD_MAX
                    || spread.is_none_or(|spread| spread.reach(sessions()).is_some())
                {
                    break;
                }
                limit = limits::SEARCH_SPREAD_MAX.min(limit * 2);
                continue;
            }
            let is_enough = looked_at >= CANDIDATES_AT_MOST && !self.conditions.plain;
            if is_enough && begun.elapsed() >= self.left {
                self.partial = true;
                break;
            }
            let missing = limit - hits.len();
            // As many as will do if the filter lets through what it did so far, and some more.
            let likely = missing.saturating_mul(looked_at + 1) / (hits.len() + 1);
            let next = likely.saturating_mul(5) / 4;
            let next = ranked.take(next.clamp(CANDIDATES_AT_LEAST, CANDIDATES_AT_MOST));
            looked_at += next.len();
            let of: Vec<usize> = next.iter().map(|row| row.passage).collect();
            let documents = self.conditions.hits(self.rx, self.passages, &of)?;
            for Scored { passage, score } in next {
                let Some(document) = self.passages.doc(passage) else { continue };
                if let Some((hit, at)) =
                    places.get(&document).and_then(|place| hits.get_mut(*place))
                {
                    if score > hit.lexical {
                        (hit.lexical, *at) = (score, passage);
                    }
                } else if let Some(hit) = documents.get(&document) {
                    places.insert(document, hits.len());
                    hits.push((Hit { lexical: score, ..*hit }, passage));
                }
            }
        }
        self.left = self.left.saturating_sub(begun.elapsed());
        hits.truncate(limit);
        Ok(hits)
    }
}
