//! Whether a hit is a likely answer, or only the nearest of the records.
//!
//! Neither words nor embeddings show that alone: a question about something that never happened shares common
//! words with many records, and the highest cosine among thousands is never low. Both together do.

use std::collections::HashSet;

use index::bm25::Word;
use index::{Hit, Order, Passages};
use model::{OpError, limits};
use text::query::{Form, Query};
use text::terms;
use text::words;

use super::{Filter, Hits, Recipe, alike, asks_for_meaning, hits};
use crate::passages;
use crate::tx::Rx;

/// The least that the share of the query's words, weighted by how rare they are, and the cosine have to come
/// to together. In the quality set four in five questions about decisions and times reach it, and at most one
/// in twenty questions about things that never happened.
const EVIDENCE_MIN: f64 = 0.9;
/// The least share of the words, for a recipe without embeddings.
const WORDS_ALONE_MIN: f64 = 0.5;
/// How near in meaning a record has to be to a prompt to be shown with it.
const RELATED_MEANING: f64 = 0.4;

/// The weights of a query's words as evidence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Each term with its weight: the rarer, the more. A term that no record has weighs most.
    weights: Vec<(String, f64)>,
    /// The sum that a likely hit reaches.
    least: f64,
}

/// Some terms of a query. A query of more than 64 is judged by its first 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TermSet(u64);

impl TermSet {
    /// The term at this place of the query.
    fn of(place: usize) -> TermSet {
        TermSet(if place < u64::BITS as usize { 1 << place } else { 0 })
    }

    pub fn or(self, other: TermSet) -> TermSet {
        TermSet(self.0 | other.0)
    }

    fn has(self, place: usize) -> bool {
        place < u64::BITS as usize && self.0 & (1 << place) != 0
    }
}

impl Evidence {
    /// The evidence for a query; `found` are its words that some passage has.
    pub(super) fn of(
        passages: &Passages,
        query: &Query,
        found: &[Word<'_>],
        recipe: Recipe,
    ) -> Evidence {
        let total = passages.count() as f64;
        let mut weights: Vec<(String, f64)> = Vec::new();
        for word in &query.words {
            let Some(term) = terms::term(word) else { continue };
            if weights.iter().any(|(known, _)| *known == term) {
                continue;
            }
            let having = found.iter().find(|one| one.word == word).map_or(0, |one| one.count);
            let having = having as f64;
            weights.push((term, (1.0 + (total - having + 0.5).max(0.0) / (having + 0.5)).ln()));
        }
        let least = if recipe == Recipe::Table { EVIDENCE_MIN } else { WORDS_ALONE_MIN };
        Evidence { weights, least }
    }

    /// The terms of the query that a text has, by their place in the query.
    pub fn terms_in(&self, text: &str) -> TermSet {
        let text = alike::head(text, limits::EVIDENCE_CHARS);
        let mut found = TermSet::default();
        let mut look = |word: &str| {
            // Most words begin otherwise than the terms, and need no stem.
            let begins_alike = |(term, _): &(String, f64)| terms::may_be_stem(term, word);
            if self.weights.iter().any(begins_alike)
                && let Some(term) = terms::term(word)
            {
                let place = self.weights.iter().position(|(known, _)| *known == term);
                found = found.or(place.map_or_else(TermSet::default, TermSet::of));
            }
        };
        words::words(text).for_each(|(_, word)| look(word));
        words::each_hidden_word(text, look);
        found
    }

    /// The share of the different terms of a text that the query has, small words aside.
    pub fn share_of_text(&self, text: &str) -> f64 {
        let said = words::words(text).filter(|(_, word)| !words::is_stop(&word.to_lowercase()));
        let said: HashSet<String> = said.filter_map(|(_, word)| terms::term(word)).collect();
        let asked = self.weights.iter().filter(|(term, _)| said.contains(term)).count();
        asked as f64 / said.len().max(1) as f64
    }

    /// The share of the weights that these terms have.
    pub fn share(&self, terms: TermSet) -> f64 {
        let total: f64 = self.weights.iter().map(|(_, weight)| weight).sum();
        let terms = self.weights.iter().enumerate().filter(|(place, _)| terms.has(*place));
        let has: f64 = terms.map(|(_, (_, weight))| weight).sum();
        if total > 0.0 { has / total } else { 0.0 }
    }

    /// Whether these terms and this cosine together make an answer likely.
    pub fn is_enough(&self, terms: TermSet, meaning: f64) -> bool {
        self.share(terms) + meaning >= self.least
    }
}

impl Hits {
    /// Whether one of the first hits is a likely answer to the query. This is always so for a name, a path,
    /// operators and single words, which list only documents that contain them. `terms` returns the terms of the query that
    /// a record is found by.
    pub fn is_answered(
        &self,
        query: &Query,
        first: &[Hit],
        mut terms: impl FnMut(&Hit) -> Result<TermSet, OpError>,
    ) -> Result<bool, OpError> {
        if query.form != Form::AnyTerm || query.exact().is_some() || !asks_for_meaning(query) {
            return Ok(true);
        }
        for hit in first.iter().take(limits::EVIDENCE_HITS) {
            if self.is_supported_by(hit, &mut terms)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The terms of the query that a record is found by.
    pub fn terms_of(&self, rx: &Rx<'_>, id: i64) -> Result<TermSet, OpError> {
        let text = passages::text(rx, id)?.unwrap_or_default();
        Ok(self.evidence.terms_in(&text))
    }

    /// Whether a hit has enough of the words and is near enough in meaning.
    pub fn is_supported(&self, rx: &Rx<'_>, hit: &Hit) -> Result<bool, OpError> {
        self.is_supported_by(hit, |hit| self.terms_of(rx, hit.id))
    }

    fn is_supported_by(
        &self,
        hit: &Hit,
        terms: impl FnOnce(&Hit) -> Result<TermSet, OpError>,
    ) -> Result<bool, OpError> {
        // Where no word of the query was found, hits have words that begin alike.
        if self.query.form != Form::AnyTerm {
            return Ok(false);
        }
        // A query of small words only cannot be judged.
        if hit.exact || self.evidence.weights.is_empty() {
            return Ok(true);
        }
        Ok(self.evidence.is_enough(terms(hit)?, hit.meaning))
    }
}

/// The records that a text is about, best first: they have its words and are near in meaning, both so much
/// that they are likely to help.
pub fn related(rx: &Rx<'_>, query: &Query, filter: &Filter<'_>) -> Result<Vec<Hit>, OpError> {
    if !asks_for_meaning(query) {
        return Ok(Vec::new());
    }
    let found = hits(rx, query, filter, Order::Best, limits::SEARCH_CANDIDATES)?;
    let near = |hit: &&Hit| hit.lexical > 0.0 && hit.meaning >= RELATED_MEANING;
    let mut related = Vec::new();
    let mut seen = HashSet::new();
    for hit in found.hits.iter().filter(near).take(limits::EVIDENCE_HITS) {
        if seen.insert(hit.id) && found.is_supported(rx, hit)? {
            related.push(*hit);
        }
    }
    Ok(related)
}
