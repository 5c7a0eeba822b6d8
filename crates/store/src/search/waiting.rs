//! Documents that the index does not know yet, weighed by their own texts: whoever asks right after much was
//! written, or may only read, finds them all the same.

use std::collections::HashMap;
use std::time::Instant;

use meaning::Vector;
use model::{OpError, limits};
use text::query::{Exact, Query};
use text::terms::{self, Terms};
use text::{passages as cut, words};

use super::any_term::{self, Weights};
use super::{Conditions, Hit};
use crate::catalogue::Passages;
use crate::passages;
use crate::tx::Rx;

/// The documents that wait and have what is asked for, the newest first, with what their words are worth.
#[derive(Default)]
pub(super) struct Waiting {
    pub(super) found: Vec<(Hit, String)>,
    /// Whether not all that wait were looked at.
    pub(super) partial: bool,
}

impl Waiting {
    pub(super) fn of(
        rx: &Rx<'_>,
        passages: &Passages,
        query: &Query,
        conditions: &Conditions,
    ) -> Result<Waiting, OpError> {
        let mut waiting = Waiting::default();
        let ids = passages::unindexed(rx)?;
        if ids.is_empty() {
            return Ok(waiting);
        }
        let until = Instant::now() + limits::UNINDEXED_PATIENCE;
        let mut texts = Vec::new();
        for (at, doc) in ids.into_iter().enumerate() {
            if at >= limits::UNINDEXED_READ_MAX && Instant::now() >= until {
                waiting.partial = true;
                break;
            }
            let text = passages::text(rx, doc)?;
            texts.extend(text.filter(|text| query.is_met_by(text)).map(|it| (doc, it)));
        }
        let hits = conditions.documents(rx, texts.iter().map(|(doc, _)| *doc))?;
        let found = texts.into_iter().filter_map(|(doc, text)| Some((*hits.get(&doc)?, text)));
        waiting.found = found.collect();
        waiting.weigh(rx, passages, query)?;
        let exact = query.exact();
        let is_exact = |text: &str| exact.as_ref().is_some_and(|exact| exact.is_in(text));
        waiting.found.iter_mut().for_each(|(hit, text)| hit.exact = is_exact(text));
        Ok(waiting)
    }

    /// Works out what the words of each are worth, as if the index knew them.
    fn weigh(&mut self, rx: &Rx<'_>, passages: &Passages, query: &Query) -> Result<(), OpError> {
        let known = any_term::words(rx, passages, &query.words)?.unwrap_or_default();
        let mut counts: HashMap<String, usize> = HashMap::new();
        for word in &query.words {
            let known =
                known.iter().find(|known| known.word == word).map_or(0, |known| known.count);
            counts.extend(terms::term(word).map(|term| (term, known)));
        }
        let mut pieces: Vec<Vec<Terms>> = Vec::new();
        for (_, text) in &self.found {
            let of = |piece: &str| {
                let mut terms = Terms::of(piece, &words::hidden_words(piece));
                terms.twice.retain(|term, _| counts.contains_key(term));
                terms
            };
            pieces.push(cut::passages(text).into_iter().map(of).collect());
        }
        for term in pieces.iter().flatten().flat_map(|terms| terms.twice.keys()) {
            if let Some(count) = counts.get_mut(term) {
                *count += 1;
            }
        }
        let new: usize = pieces.iter().map(Vec::len).sum();
        let weights = Weights::new(passages, new);
        for ((hit, _), pieces) in self.found.iter_mut().zip(&pieces) {
            let worth = |terms: &Terms| -> f64 {
                let each = terms.twice.iter();
                each.map(|(term, twice)| {
                    let count = counts.get(term).copied().unwrap_or_default();
                    weights.idf(count) * weights.often(*twice, terms.length)
                })
                .sum()
            };
            // Whatever it has been found by, it counts for something.
            hit.lexical = pieces.iter().map(worth).fold(any_term::IDF_MIN, f64::max);
        }
        Ok(())
    }

    /// Whether one of them contains a name as it was typed.
    pub(super) fn any_exact(&self) -> bool {
        self.found.iter().any(|(hit, _)| hit.exact)
    }

    /// Leaves only those that contain what was typed.
    pub(super) fn keep(&mut self, name: &Exact) {
        self.found.retain(|(_, text)| name.is_in(text));
    }

    /// As many as are worth to be weighed against others, with how near in meaning each is.
    pub(super) fn compared(mut self, vector: Option<&Vector>) -> Vec<Hit> {
        self.found.sort_by(|(a, _), (b, _)| {
            b.exact.cmp(&a.exact).then(b.lexical.total_cmp(&a.lexical)).then(b.id.cmp(&a.id))
        });
        self.found.truncate(limits::SEARCH_CANDIDATES);
        let near = |text: &str| {
            let own = cut::passages(text).into_iter().filter_map(Vector::of);
            vector.map_or(0.0, |vector| {
                own.map(|own| meaning::cosine(vector, &own)).fold(0.0, f32::max).into()
            })
        };
        self.found.iter().map(|(hit, text)| Hit { meaning: near(text), ..*hit }).collect()
    }
}
