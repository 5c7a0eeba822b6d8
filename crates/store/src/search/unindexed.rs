//! Unindexed documents, scored by their own texts: so a search right after many writes, or in a read-only store,
//! finds them too.

use std::collections::{HashMap, HashSet};

use index::bm25::{IDF_MIN, Weights};
use index::{Hit, Passages, RecordKind};
use meaning::Vector;
use model::{OpError, limits};
use text::passages as cut;
use text::query::{Exact, Query};
use text::terms::Terms;
use text::words::hidden_words;

use super::Search;
use super::words::words;
use crate::passages;
use crate::tx::Rx;

/// The unindexed documents that match the query, with their lexical scores.
#[derive(Default)]
pub(super) struct Unindexed {
    pub(super) found: Vec<(Hit, String)>,
}

impl Unindexed {
    pub(super) fn of(search: &Search<'_, '_>) -> Result<Unindexed, OpError> {
        let Search { rx, query, conditions, passages, .. } = *search;
        let mut waiting = Unindexed::default();
        let ids = passages::unindexed(rx)?;
        if ids.is_empty() {
            return Ok(waiting);
        }
        let terms: HashSet<String> = query.terms().into_iter().map(|(_, term)| term).collect();
        let mut texts = HashMap::new();
        for (at, doc) in ids.into_iter().enumerate() {
            if at >= limits::UNINDEXED_READ_MAX && search.effort.deadline.is_over() {
                search.lower();
                break;
            }
            if let Some(text) = passages::text(rx, doc)?.filter(|text| query.is_met_by(text)) {
                let pieces = pieces(&text, &terms);
                texts.insert(doc, (text, pieces));
            }
        }
        let weights = Weights::new(passages, texts.values().map(|(_, pieces)| pieces.len()).sum());
        let counts = counts(rx, passages, query, texts.values().flat_map(|(_, pieces)| pieces))?;
        let exact = query.exact();
        for (doc, mut hit) in conditions.documents(rx, texts.keys().copied())? {
            let Some((text, pieces)) = texts.remove(&doc) else { continue };
            let worth = |terms: &Terms| -> f64 {
                let each = terms.twice.iter();
                each.map(|(term, twice)| {
                    let count = counts.get(term).copied().unwrap_or_default();
                    weights.idf(count) * weights.often(*twice, terms.length)
                })
                .sum()
            };
            // Every match scores above zero, even one without a weighted word.
            hit.lexical = pieces.iter().map(worth).fold(IDF_MIN, f64::max);
            hit.exact = exact.as_ref().is_some_and(|exact| exact.is_in(&text));
            waiting.found.push((hit, text));
        }
        Ok(waiting)
    }

    /// Those of one of these kinds.
    pub(super) fn of_kinds(&self, kinds: &[RecordKind]) -> Unindexed {
        let found = self.found.iter().filter(|(hit, _)| kinds.contains(&hit.kind));
        Unindexed { found: found.cloned().collect() }
    }

    /// Whether one of them contains a name as it was typed.
    pub(super) fn any_exact(&self) -> bool {
        self.found.iter().any(|(hit, _)| hit.exact)
    }

    /// Keeps only documents that contain the typed name.
    pub(super) fn keep(&mut self, name: &Exact) {
        self.found.retain(|(_, text)| name.is_in(text));
    }

    /// The best documents, as many as are ranked, each with its similarity to the query's vector.
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

/// The terms of the query in each passage of a text.
fn pieces(text: &str, terms: &HashSet<String>) -> Vec<Terms> {
    let of = |piece: &str| {
        let mut own = Terms::of(piece, &hidden_words(piece));
        own.twice.retain(|term, _| terms.contains(term));
        own
    };
    cut::passages(text).into_iter().map(of).collect()
}

/// How many passages have each term of the query, counting those of the index and the `pieces` of unindexed documents.
fn counts<'t>(
    rx: &Rx<'_>,
    passages: &Passages,
    query: &Query,
    pieces: impl Iterator<Item = &'t Terms>,
) -> Result<HashMap<String, usize>, OpError> {
    let known = words(rx, passages.end(), query.terms())?.unwrap_or_default();
    let known = known.into_iter().map(|known| (known.term, known.count));
    let mut counts: HashMap<String, usize> = known.collect();
    for term in pieces.flat_map(|terms| terms.twice.keys()) {
        *counts.entry(term.clone()).or_default() += 1;
    }
    Ok(counts)
}
