//! Ranking: orders documents by the recipe ([`index::recipe`]) or by their words alone.

use std::collections::HashSet;

use index::nearest::Begun;
use index::recipe::Candidates;
use index::{Hit, Order, Scored};
use meaning::Vector;
use model::{OpError, limits};

use super::exact_matches::ExactMatches;
use super::unindexed::Unindexed;
use super::{Search, Wanted};

/// The meaning of a query: its vector and the scan for the nearest passages.
pub(super) struct Meant<'m> {
    pub(super) vector: Option<&'m Vector>,
    /// The scan for the passages nearest to the vector, if wanted.
    pub(super) scan: Option<Begun<'m>>,
    /// Whether documents without any of the query's words are listed too.
    pub(super) more: bool,
}

/// Documents that the filter admits, best or newest first.
pub(super) struct Filtered {
    /// The candidates to be ranked, and the documents after them.
    pub(super) documents: Vec<Hit>,
    pub(super) others: Vec<Hit>,
    /// Passages that contain the typed text exactly, with their scores.
    pub(super) typed: Vec<Scored>,
}

impl Search<'_, '_> {
    /// The documents ranked by words, neighbours, session and embedding, and how many of them were ranked.
    pub(super) fn rank_by_recipe(
        &self,
        order: Order,
        filtered: Filtered,
        sessions: &[f64],
        (exact, unindexed): (&ExactMatches, Unindexed),
        meant: Meant<'_>,
    ) -> Result<(Vec<Hit>, usize), OpError> {
        let Meant { vector, scan, more } = meant;
        let admit = |passages: &[usize]| self.admit(passages);
        let mut candidates = Candidates::new(self.passages, &admit, filtered.documents);
        candidates.admit(&exact.passages)?;
        candidates.look_around(sessions, more)?;
        if let Some(vector) = vector {
            let nearest = scan.map(Begun::finish).unwrap_or_default();
            candidates.compare(vector, &nearest)?;
        }
        candidates.add_unindexed(unindexed.compared(vector));
        let mut hits = candidates.ranked();
        exact.mark(self.passages, &mut hits);
        hits.sort_by_key(|hit| !hit.exact);
        let most = limits::SEARCH_CANDIDATES;
        let weighed = if order == Order::Best { most.min(hits.len()) } else { hits.len() };
        let most = hits.iter().map(|hit| hit.lexical).fold(0.0, f64::max);
        behind(&mut hits, filtered.others, most);
        Ok((hits, weighed))
    }

    /// The documents ranked by their words or by time, and how many of them were ranked.
    pub(super) fn rank_by_words(
        &self,
        order: Order,
        filtered: Filtered,
        (exact, unindexed): (&ExactMatches, Unindexed),
    ) -> Result<(Vec<Hit>, usize), OpError> {
        let Filtered { mut documents, mut others, typed } = filtered;
        if order == Order::Newest {
            add(&mut documents, std::mem::take(&mut others));
        } else {
            let wanted = Wanted::of(order, limits::SEARCH_EXACT_READ);
            add(&mut documents, self.filter(wanted, typed)?);
        }
        exact.mark(self.passages, &mut documents);
        let mut hits = among(documents, unindexed, order);
        if order == Order::Best {
            hits.sort_by_key(|hit| !hit.exact);
        }
        let weighed = hits.len();
        // The others stay behind, so that the next page begins where this one ends.
        behind(&mut hits, others, 1.0);
        Ok((hits, weighed))
    }
}

/// Adds the documents that are not there yet.
pub(super) fn add(documents: &mut Vec<Hit>, more: Vec<Hit>) {
    let known: HashSet<i64> = documents.iter().map(|hit| hit.id).collect();
    documents.extend(more.into_iter().filter(|hit| !known.contains(&hit.id)));
}

/// Appends documents that were not ranked, without duplicates. Each one's score is its lexical score divided
/// by `most`, but at most the lowest score of the ranked hits.
fn behind(hits: &mut Vec<Hit>, others: Vec<Hit>, most: f64) {
    let known: HashSet<i64> = hits.iter().map(|hit| hit.id).collect();
    let least = hits.iter().map(|hit| hit.score).fold(f64::INFINITY, f64::min);
    let new = others.into_iter().filter(|hit| !known.contains(&hit.id));
    // Without a passage they are not compared with other hits.
    hits.extend(new.map(|hit| Hit { score: least.min(hit.lexical / most), passage: 0, ..hit }));
}

/// The hits and the unindexed documents, sorted together.
fn among(mut hits: Vec<Hit>, unindexed: Unindexed, order: Order) -> Vec<Hit> {
    if !unindexed.found.is_empty() {
        let known: HashSet<i64> = unindexed.found.iter().map(|(hit, _)| hit.id).collect();
        hits.retain(|hit| !known.contains(&hit.id));
        hits.extend(unindexed.found.into_iter().map(|(hit, _)| hit));
        hits.sort_by(|a, b| {
            let newer = (b.at, b.id).cmp(&(a.at, a.id));
            match order {
                Order::Newest => newer,
                Order::Best | Order::BestAndNewest => b.lexical.total_cmp(&a.lexical).then(newer),
            }
        });
    }
    // Without a passage they are not compared with other hits.
    hits.iter_mut().for_each(|hit| (hit.score, hit.passage) = (hit.lexical, 0));
    hits
}
