//! Documents that contain a name or quotation exactly as it was typed.

use std::collections::HashSet;

use index::{Hit, Order, Passages, Ranking, Scored, added_up};
use model::{OpError, limits};
use text::query::{Exact, Form};

use super::Search;
use super::whole_documents::{Documents, Look};
use crate::passages;

/// A quotation, which only affects the order of hits, gets the remaining time divided by this.
const QUOTATION_SHARE: u32 = 5;
/// Records that are checked for a name in one batch, before deciding whether to continue.
const EXACT_AT_ONCE: usize = 100;

/// The documents that contain something exactly as it was typed: a path, a hash or the like.
#[derive(Clone, Default)]
pub(super) struct ExactMatches {
    /// One passage of each document that contains the typed text.
    pub(super) passages: Vec<usize>,
    /// All documents with the words of the typed text side by side, and those of them that were read and do not contain
    /// the text.
    maybe: Documents,
    otherwise: HashSet<i64>,
}

impl ExactMatches {
    /// The passages with the exact names of the query. A quotation alone, or with operators, is left to the full-text
    /// index.
    pub(super) fn of(search: &Search<'_, '_>) -> Result<ExactMatches, OpError> {
        let Search { rx, query, conditions, passages, .. } = *search;
        let mut named = ExactMatches::default();
        let Some(exact) = query.exact() else { return Ok(named) };
        let before = search.completeness.get();
        let is_quotation = query.form == Form::Operators;
        let deadline = search.retrieval.share(if is_quotation { QUOTATION_SHARE } else { 1 });
        let mut look = Look::new(search, deadline, &[]);
        if is_quotation {
            // A fixed number of rows, so that all pages of the result have the same order.
            look.rows = limits::SEARCH_EXACT_READ;
        }
        named.maybe = look.documents(&exact.condition())?;
        let scored = added_up(look.scored);
        let mut newest = Ranking::new(passages, Order::Newest, scored);
        let (mut read, mut put_last) = (HashSet::new(), Vec::new());
        let mut looked_at = 0;
        // Read a fixed number of documents, then more until one contains the typed text or the time is up.
        while !newest.is_empty() {
            let is_enough = !named.passages.is_empty() || deadline.is_over();
            if looked_at >= limits::SEARCH_EXACT_READ && is_enough {
                search.lower();
                break;
            }
            let next: Vec<usize> =
                newest.take(EXACT_AT_ONCE).iter().map(|one| one.passage).collect();
            looked_at += next.len();
            let documents = conditions.hits(rx, passages, &next)?;
            let mut longer: Option<Exact> = None;
            for passage in next {
                let Some(doc) = passages.doc(passage) else { continue };
                // A document occurs once per passage.
                if !documents.contains_key(&doc) || !read.insert(doc) {
                    continue;
                }
                let text = passages::text(rx, doc)?.unwrap_or_default();
                if exact.is_in(&text) {
                    named.passages.push(passage);
                } else {
                    named.otherwise.insert(doc);
                    let new = || exact.longer_in(&text).filter(|name| !put_last.contains(name));
                    longer = longer.or_else(new);
                }
            }
            // If a longer name contains the typed one, documents with that longer name are read last.
            if let Some(longer) = longer.filter(|_| named.passages.is_empty()) {
                let before = search.completeness.get();
                let others = Look::new(search, deadline, &[]).documents(&longer.condition())?;
                search.completeness.set(before);
                put_last.push(longer);
                newest.put_last(|one| passages.doc(one.passage).is_some_and(|doc| others.has(doc)));
            }
        }
        if is_quotation {
            search.completeness.set(before);
        }
        Ok(named)
    }

    /// Marks the hits that contain the typed text.
    pub(super) fn mark(&self, passages: &Passages, hits: &mut [Hit]) {
        let exact: HashSet<i64> = self.passages.iter().filter_map(|at| passages.doc(*at)).collect();
        hits.iter_mut().for_each(|hit| hit.exact |= exact.contains(&hit.id));
    }

    /// The given passages that contain the typed text.
    pub(super) fn among(&self, scored: &[Scored]) -> Vec<Scored> {
        let wanted: HashSet<usize> = self.passages.iter().copied().collect();
        if wanted.is_empty() {
            return Vec::new();
        }
        scored.iter().filter(|one| wanted.contains(&one.passage)).copied().collect()
    }

    /// Whether a document may contain the typed text: it has the text's words side by side and was not ruled out.
    pub(super) fn admits(&self, doc: i64) -> bool {
        self.maybe.has(doc) && !self.otherwise.contains(&doc)
    }
}
