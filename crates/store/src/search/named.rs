//! What contains something exactly as it was typed.

use std::collections::HashSet;
use std::time::Instant;

use model::{OpError, limits};
use text::query::{Exact, Form, Query};

use super::ranking::{self, Ranking};
use super::records::{Documents, Look};
use super::{Conditions, Effort, Order};
use crate::catalogue::Passages;
use crate::passages;
use crate::tx::Rx;

/// Records that are read to see whether they contain a name before it is decided to go on.
const EXACT_AT_ONCE: usize = 100;

/// The documents that contain something exactly as it was typed: a path, a hash or the like.
#[derive(Default)]
pub(super) struct Named {
    /// A passage of each of those that were found to.
    pub(super) exact: Vec<usize>,
    /// All that have its words side by side, and those of them that were read and do not contain it.
    maybe: Documents,
    otherwise: HashSet<i64>,
    /// Whether there may be more than were read.
    pub(super) partial: bool,
}

impl Named {
    /// What the query names. A quotation alone, or beside operators, is found by the index; which of it has just
    /// these words is only an order, and has little time.
    pub(super) fn of(
        rx: &Rx<'_>,
        query: &Query,
        conditions: &Conditions,
        passages: &Passages,
        effort: &Effort,
    ) -> Result<Named, OpError> {
        let mut named = Named::default();
        let Some(exact) = query.exact() else { return Ok(named) };
        let is_quotation = query.form == Form::Operators;
        let until = Instant::now() + limits::QUOTATION_PATIENCE;
        let until = if is_quotation { effort.until.min(until) } else { effort.until };
        let effort = &Effort { until, ..*effort };
        let mut look = Look::within(effort, rx, passages, conditions, &[]);
        if is_quotation {
            // As many as are read, and always the same: else one page would be in another order than the next.
            look.rows = limits::SEARCH_EXACT_READ;
        }
        named.maybe = look.documents(&exact.condition())?;
        named.partial = look.partial;
        let scored = ranking::added_up(look.scored);
        let mut newest = Ranking::new(passages, Order::Newest, scored);
        let (mut read, mut put_last) = (HashSet::new(), Vec::new());
        let mut looked_at = 0;
        // So many in any case, and more of them until one contains it.
        while !newest.is_empty() {
            let is_enough = !named.exact.is_empty() || Instant::now() >= effort.until;
            if looked_at >= limits::SEARCH_EXACT_READ && is_enough {
                named.partial = true;
                break;
            }
            let next: Vec<usize> =
                newest.take(EXACT_AT_ONCE).iter().map(|one| one.passage).collect();
            looked_at += next.len();
            let documents = conditions.hits(rx, passages, &next)?;
            let mut longer: Option<Exact> = None;
            for passage in next {
                let Some(doc) = passages.doc(passage) else { continue };
                // A document comes again with each of its passages.
                if !documents.contains_key(&doc) || !read.insert(doc) {
                    continue;
                }
                let text = passages::text(rx, doc)?.unwrap_or_default();
                if exact.is_in(&text) {
                    named.exact.push(passage);
                } else {
                    named.otherwise.insert(doc);
                    let new = || exact.longer_in(&text).filter(|name| !put_last.contains(name));
                    longer = longer.or_else(new);
                }
            }
            // Where a longer name is in the way, all that has it can wait.
            if let Some(longer) = longer.filter(|_| named.exact.is_empty()) {
                let mut look = Look::within(effort, rx, passages, conditions, &[]);
                let others = look.documents(&longer.condition())?;
                put_last.push(longer);
                newest.put_last(|one| passages.doc(one.passage).is_some_and(|doc| others.has(doc)));
            }
        }
        named.partial &= !is_quotation;
        Ok(named)
    }

    /// Whether nothing speaks against it that a document contains what was typed.
    pub(super) fn admits(&self, doc: i64) -> bool {
        self.maybe.has(doc) && !self.otherwise.contains(&doc)
    }
}
