//! Whether a hit is a likely answer, or only the nearest of the records.
//!
//! Neither words nor embeddings show that alone: a question about something that never happened shares common
//! words with many records, and the highest cosine among thousands is never low. Both together do.

use std::collections::HashSet;

use index::bm25::Word;
use index::{Hit, Order, Passages};
use meaning::Vector;
use model::{OpError, limits};
use text::query::{Form, Query};
use text::terms;
use text::words;

use super::{Filter, Hits, Recipe, alike, asks_for_meaning, hits};
use crate::tx::Rx;
use crate::{passages, projects};

/// The least sum of the cosine and the share of the query's words, weighted by how rare they are, that a likely answer
/// has. In the quality set four in five questions about decisions and times reach it, and at most one in twenty
/// questions about things that never happened.
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
    /// Other forms of these terms, each with the place of its term.
    other_forms: Vec<(String, usize)>,
    /// The sum that a likely hit reaches.
    least: f64,
    /// The projects that the query names.
    named: Vec<NamedProject>,
}

/// A project that a query names. Its name is no evidence for its own records: any of them may mention it.
#[derive(Clone, Debug, PartialEq)]
struct NamedProject {
    /// `None` means all projects that are searched: every hit is in one of them.
    id: Option<i64>,
    /// The terms of the name.
    terms: TermSet,
    /// The embedding of the query without the name.
    rest: Option<Vector>,
}

/// Some terms of a query. A query with more than 64 terms is judged by its first 64.
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

    fn without(self, other: TermSet) -> TermSet {
        TermSet(self.0 & !other.0)
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
            let having = found.iter().filter(|one| one.word == word).map(|one| one.count);
            let having = having.sum::<usize>() as f64;
            weights.push((term, (1.0 + (total - having + 0.5).max(0.0) / (having + 0.5)).ln()));
        }
        let mut other_forms = Vec::new();
        for (word, form) in query.terms() {
            let place = |term| weights.iter().position(|(known, _)| *known == term);
            if weights.iter().all(|(known, _)| *known != form) {
                other_forms.extend(terms::term(word).and_then(place).map(|place| (form, place)));
            }
        }
        let least = if recipe == Recipe::Table { EVIDENCE_MIN } else { WORDS_ALONE_MIN };
        Evidence { weights, other_forms, least, named: Vec::new() }
    }

    /// Adds the projects that the query names, among the `searched` ones or, if that is `None`, among all.
    pub(super) fn add_named(
        &mut self,
        rx: &Rx<'_>,
        query: &Query,
        searched: Option<&[i64]>,
    ) -> Result<(), OpError> {
        if self.weights.is_empty() || !asks_for_meaning(query) {
            return Ok(());
        }
        let mut of_searched = TermSet::default();
        for (id, name) in projects::names(rx)? {
            let terms = self.name_in(&name);
            match searched {
                _ if terms == TermSet::default() => {}
                Some(ids) if ids.contains(&id) => of_searched = of_searched.or(terms),
                Some(_) => {}
                None => self.named.push(self.named_project(query, Some(id), terms)),
            }
        }
        if of_searched != TermSet::default() {
            self.named.push(self.named_project(query, None, of_searched));
        }
        Ok(())
    }

    /// The terms and their other forms, each with its place in the query.
    fn known(&self) -> impl Iterator<Item = (&String, usize)> {
        let own = self.weights.iter().enumerate().map(|(place, (term, _))| (term, place));
        own.chain(self.other_forms.iter().map(|(form, place)| (form, *place)))
    }

    fn place(&self, term: &str) -> Option<usize> {
        self.known().find(|(known, _)| *known == term).map(|(_, place)| place)
    }

    /// The terms of a name; none unless the query has all of them.
    fn name_in(&self, name: &str) -> TermSet {
        let mut all = TermSet::default();
        for term in words::words(name).filter_map(|(_, word)| terms::term(word)) {
            match self.place(&term) {
                Some(place) => all = all.or(TermSet::of(place)),
                None => return TermSet::default(),
            }
        }
        all
    }

    fn named_project(&self, query: &Query, id: Option<i64>, terms: TermSet) -> NamedProject {
        let is_of_name = |word: &str| {
            terms::term(word)
                .and_then(|term| self.place(&term))
                .is_some_and(|place| terms.has(place))
        };
        let rest = words::words(query.typed()).map(|(_, word)| word);
        let rest: Vec<&str> = rest.filter(|word| !is_of_name(word)).collect();
        NamedProject { id, terms, rest: Vector::of(&rest.join(" ")) }
    }

    fn named(&self, project: i64) -> Option<&NamedProject> {
        self.named.iter().find(|one| one.id.is_none_or(|id| id == project))
    }

    /// The cosine of a hit and the query without the name of the hit's project.
    fn meaning(&self, passages: &Passages, hit: &Hit) -> f64 {
        let rest = self.named(hit.project).and_then(|named| named.rest.as_ref());
        let Some(rest) = rest.filter(|_| hit.meaning > 0.0 && hit.passage != 0) else {
            return hit.meaning;
        };
        let vectors = passages.siblings(hit.passage).filter_map(|at| passages.vector(at));
        vectors.map(|vector| meaning::cosine(rest, &vector)).fold(0.0, f32::max).into()
    }

    /// The terms of the query that the first [`limits::EVIDENCE_CHARS`] of a text have, by their place in the query.
    pub fn terms_in(&self, text: &str) -> TermSet {
        let text = alike::head(text, limits::EVIDENCE_CHARS);
        let mut found = TermSet::default();
        let mut look = |word: &str| {
            // Most words begin otherwise than the terms, and need no stem.
            let mut known = self.known();
            if known.any(|(term, _)| terms::may_be_stem(term, word))
                && let Some(term) = terms::term(word)
            {
                found = found.or(self.place(&term).map_or_else(TermSet::default, TermSet::of));
            }
        };
        words::words(text).for_each(|(_, word)| look(word));
        words::each_hidden_word(text, look);
        found
    }

    /// The share of the distinct terms of a text that the query has, stop words aside.
    pub fn share_of_text(&self, text: &str) -> f64 {
        let said = words::words(text).filter(|(_, word)| !words::is_stop(&word.to_lowercase()));
        let said: HashSet<String> = said.filter_map(|(_, word)| terms::term(word)).collect();
        let asked: HashSet<usize> =
            self.known().filter(|(term, _)| said.contains(*term)).map(|(_, place)| place).collect();
        asked.len() as f64 / said.len().max(1) as f64
    }

    /// The share of the weights that these terms have.
    pub fn share(&self, terms: TermSet) -> f64 {
        let total = self.weight(TermSet(u64::MAX));
        if total > 0.0 { self.weight(terms) / total } else { 0.0 }
    }

    fn weight(&self, terms: TermSet) -> f64 {
        let terms = self.weights.iter().enumerate().filter(|(place, _)| terms.has(*place));
        terms.map(|(_, (_, weight))| weight).sum()
    }

    /// Whether these terms and this cosine together make it likely that records of a project are an answer. The name
    /// of the project does not count.
    pub fn is_enough(&self, project: i64, terms: TermSet, meaning: f64) -> bool {
        let name = self.named(project).map(|named| named.terms).unwrap_or_default();
        let total = self.weight(TermSet(u64::MAX).without(name));
        // A query of nothing but the name and stop words gives nothing to judge by: it is always enough.
        total == 0.0 || self.weight(terms.without(name)) / total + meaning >= self.least
    }
}

impl Hits {
    /// Whether one of the first hits is a likely answer to the query. This is always so for a name, a path,
    /// operators and single words, which list only documents that contain them. `terms` returns the terms of the query that
    /// a record is found by.
    pub fn is_answered(
        &self,
        rx: &Rx<'_>,
        query: &Query,
        first: &[Hit],
        mut terms: impl FnMut(&Hit) -> Result<TermSet, OpError>,
    ) -> Result<bool, OpError> {
        if query.form != Form::AnyTerm || query.exact().is_some() || !asks_for_meaning(query) {
            return Ok(true);
        }
        for hit in first.iter().take(limits::EVIDENCE_HITS) {
            if self.is_supported_by(rx, hit, &mut terms)? {
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
        self.is_supported_by(rx, hit, |hit| self.terms_of(rx, hit.id))
    }

    /// How near a hit is in meaning to the query, without the name of its project.
    pub fn meaning(&self, rx: &Rx<'_>, hit: &Hit) -> Result<f64, OpError> {
        Ok(self.evidence.meaning(&*rx.passages()?, hit))
    }

    fn is_supported_by(
        &self,
        rx: &Rx<'_>,
        hit: &Hit,
        terms: impl FnOnce(&Hit) -> Result<TermSet, OpError>,
    ) -> Result<bool, OpError> {
        // If no word of the query was found, the search ran with prefixes: hits then only have words that begin alike.
        if self.query.form != Form::AnyTerm {
            return Ok(false);
        }
        // A query of nothing but stop words gives nothing to judge by: every hit counts as supported.
        if hit.exact || self.evidence.weights.is_empty() {
            return Ok(true);
        }
        let meaning = self.meaning(rx, hit)?;
        Ok(self.evidence.is_enough(hit.project, terms(hit)?, meaning))
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
        let is_near = found.meaning(rx, hit)? >= RELATED_MEANING;
        if is_near && seen.insert(hit.id) && found.is_supported(rx, hit)? {
            related.push(*hit);
        }
    }
    Ok(related)
}
