//! Finding documents: one pipeline below every surface.
//!
//! 1. **Parse**: `text::query` parses the typed text.
//! 2. **Retrieve** ([`retrieve`]): passages that have the words ([`words`]), contain a name as it was typed
//!    ([`exact_matches`]), fulfil operators ([`whole_documents`]) or are not in the index yet ([`unindexed`]).
//! 3. **Filter** ([`filter`]): the documents of these passages that the filter lets through.
//! 4. **Rank** ([`rank`]): these documents in their order, by the recipe ([`index::recipe`]) if the query is a question.
//! 5. **Page** ([`page`]): as many of them as are wanted.
//!
//! All stages share one deadline, and each of them lowers the one [`Completeness`] of the answer if it left something
//! out.

mod alike;
mod completeness;
mod evidence;
mod exact_matches;
pub(crate) mod filter;
pub(crate) mod newer_talk;
mod page;
mod rank;
mod retrieve;
mod same;
pub(crate) mod similar;
mod unindexed;
mod whole_documents;
mod words;

use std::cell::Cell;

use index::{Passages, Scored, bm25, nearest, recipe};
use meaning::Vector;
use model::observation::RecordType;
use model::{OpError, limits};
use text::query::{Form, Query};

use crate::deadline::Deadline;
use crate::passages;
use crate::tx::Rx;

pub use alike::{Alike, ComparedText, SpecificMeaning};
pub use completeness::Completeness;
pub use evidence::{Evidence, TermSet, related};
use exact_matches::ExactMatches;
pub(crate) use filter::Conditions;
pub use filter::Filter;
pub use index::{Hit, Order};
pub use newer_talk::{NewerTalk, TalkText, talk_before, talk_since};
pub use page::Spread;
use rank::{Filtered, Meant};
pub use same::{TextsRead, admitted, cosine, newer_talk, same_texts};
pub use similar::{Similar, similar};
use unindexed::Unindexed;

/// How many documents are wanted, and which.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    pub order: Order,
    pub limit: usize,
    pub spread: Option<Spread>,
}

impl Wanted {
    pub fn of(order: Order, limit: usize) -> Wanted {
        Wanted { order, limit, spread: None }
    }
}

/// The signals that a score is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recipe {
    /// A document's words, which of them are adjacent, its neighbours and its session.
    Lexical,
    /// All of these and its embedding.
    #[default]
    Table,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Hits {
    pub hits: Vec<Hit>,
    /// The query that ran, for its form and for the reasons of hits: the given one, or its relaxed,
    /// exact-name or prefix form.
    pub query: Query,
    /// How many hits, from the first on, were ranked against each other. Which ones these are does not depend
    /// on the limit.
    pub weighed: usize,
    /// Whether every matching document was considered.
    pub completeness: Completeness,
    /// The evidence that a hit needs to be a likely answer.
    pub evidence: Evidence,
    /// The documents with two words of the query next to each other, in order of their ids; none if they were not
    /// searched, or not all of them are known.
    adjacent: Option<Vec<i64>>,
}

impl Hits {
    /// Whether a hit may contain all words of the query next to each other, as far as the index shows it.
    pub fn may_have_phrase(&self, hit: &Hit) -> bool {
        let adjacent = self.adjacent.as_ref().filter(|_| hit.passage != 0);
        adjacent.is_none_or(|docs| docs.binary_search(&hit.id).is_ok())
    }
}

/// Documents that match the query and the filter, best or newest first.
pub fn hits(
    rx: &Rx<'_>,
    query: &Query,
    filter: &Filter<'_>,
    order: Order,
    limit: usize,
) -> Result<Hits, OpError> {
    hits_by(Recipe::default(), rx, query, filter, Wanted::of(order, limit))
}

/// Documents that match the query and the filter, ranked by this recipe.
pub fn hits_by(
    recipe: Recipe,
    rx: &Rx<'_>,
    query: &Query,
    filter: &Filter<'_>,
    wanted: Wanted,
) -> Result<Hits, OpError> {
    // The first search of a process reads the catalogue, which does not count against the query's deadline.
    drop(rx.passages()?);
    hits_within(&Effort { recipe, ..Effort::default() }, rx, query, filter, wanted)
}

/// The sessions that match the query and the filter best, as ids in the store.
pub fn sessions(
    recipe: Recipe,
    rx: &Rx<'_>,
    query: &Query,
    filter: &Filter<'_>,
    limit: usize,
) -> Result<Vec<i64>, OpError> {
    let found =
        hits_by(recipe, rx, query, filter, Wanted::of(Order::Best, limits::SEARCH_CANDIDATES))?;
    let conditions = Conditions::of(rx, filter)?;
    let vector = Vector::of(query.typed()).filter(|_| recipe == Recipe::Table);
    let passages = rx.passages()?;
    let mut words = words::words(rx, passages.end(), query.terms())?.unwrap_or_default();
    words.truncate(limits::QUERY_WORDS_MAX);
    let whole = bm25::whole_sessions(&passages, &words);
    let mut sessions =
        recipe::sessions(&passages, &found.hits, &conditions.on_passages, &whole, vector.as_ref());
    sessions.truncate(limit);
    Ok(sessions)
}

/// How much work a query may make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) rows: usize,
    pub(crate) entries: usize,
    pub(crate) scope_documents: usize,
    /// The end of all stages whose cost cannot be predicted.
    pub(crate) deadline: Deadline,
    pub(crate) recipe: Recipe,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort {
            rows: limits::SEARCH_ROWS_MAX,
            entries: limits::SEARCH_ENTRIES_MAX,
            scope_documents: limits::SEARCH_SCOPE_DOCUMENTS,
            deadline: Deadline::after(limits::SEARCH_TIME),
            recipe: Recipe::default(),
        }
    }
}

#[cfg(test)]
impl Effort {
    /// An effort with this time limit.
    pub(crate) fn within(time: std::time::Duration) -> Effort {
        Effort { deadline: Deadline::after(time), ..Effort::default() }
    }
}

/// Documents of each of these kinds that match the query and the filter, kind by kind: the words are looked up once for all
/// of them, and each kind is ranked by itself.
pub fn hits_of_kinds(
    recipe: Recipe,
    rx: &Rx<'_>,
    query: &Query,
    (filter, kinds): (&Filter<'_>, &[RecordType]),
    wanted: Wanted,
) -> Result<Vec<Hits>, OpError> {
    drop(rx.passages()?);
    let effort = Effort { recipe, ..Effort::default() };
    let all = Conditions::of_kinds(rx, filter, kinds)?;
    let each = kinds.iter().map(|kind| Conditions::of_kinds(rx, filter, &[*kind]));
    let each = each.collect::<Result<Vec<Conditions>, OpError>>()?;
    let (passages, completeness) = (rx.passages()?, Cell::default());
    let search = Search::new(rx, query, &all, &passages, &effort, &completeness);
    let found = search.find_each(&each, wanted)?;
    let has_word = |found: &Hits| found.hits.iter().any(|hit| hit.lexical > 0.0);
    match query.prefix() {
        Some(prefixes) if !found.iter().any(has_word) => {
            let begun = Search { query: &prefixes, ..search }.find_each(&each, wanted)?;
            let better = |(found, begun): (Hits, Hits)| match begun.hits.is_empty() {
                true => found,
                false => begun,
            };
            Ok(found.into_iter().zip(begun).map(better).collect())
        }
        _ => Ok(found),
    }
}

/// Documents that match the query and the filter, within an effort.
pub(crate) fn hits_within(
    effort: &Effort,
    rx: &Rx<'_>,
    query: &Query,
    filter: &Filter<'_>,
    wanted: Wanted,
) -> Result<Hits, OpError> {
    let conditions = Conditions::of(rx, filter)?;
    if conditions.on_passages.admits_nothing() {
        let query = query.relaxed().unwrap_or_else(|| query.clone());
        let (completeness, evidence) = (Completeness::Complete, Evidence::default());
        let (hits, adjacent) = (Vec::new(), None);
        return Ok(Hits { hits, query, weighed: 0, completeness, evidence, adjacent });
    }
    let (passages, completeness) = (rx.passages()?, Cell::default());
    let search = Search::new(rx, query, &conditions, &passages, effort, &completeness);
    let mut found = search.find(wanted)?;
    if let Some(relaxed) = query.relaxed().filter(|_| found.hits.is_empty()) {
        return Search { query: &relaxed, ..search }.find(wanted);
    }
    // If no document has any of the words, try the words as prefixes. A partial answer does not show that no
    // document has one.
    let no_word = !found.completeness.is_partial()
        && found.query.form == query.form
        && found.hits.iter().all(|hit| hit.lexical == 0.0);
    if let Some(beginnings) = query.prefix().filter(|_| no_word) {
        let begun = Search { query: &beginnings, ..search }.find(wanted)?;
        if !begun.hits.is_empty() {
            return Ok(begun);
        }
        // The prefix search may have been cut off too.
        found.completeness = begun.completeness;
    }
    Ok(found)
}

/// All documents that match, in order of their ids, for an operation that changes every one of them. Each text is
/// read and checked, however long that takes: a damaged index must not decide what is deleted.
pub fn all(rx: &Rx<'_>, query: &Query, filter: &Filter<'_>) -> Result<Vec<i64>, OpError> {
    let mut found = Vec::new();
    for id in Conditions::of(rx, filter)?.admitted(rx)? {
        if passages::text(rx, id)?.is_some_and(|text| query.is_met_by(&text)) {
            found.push(id);
        }
    }
    Ok(found)
}

/// The result of [`all`] according to the index.
#[cfg(test)]
pub(crate) fn all_by_index(
    rx: &Rx<'_>,
    query: &Query,
    filter: &Filter<'_>,
) -> Result<Vec<i64>, OpError> {
    let conditions = Conditions::of(rx, filter)?;
    let (passages, completeness) = (rx.passages()?, Cell::default());
    let effort =
        Effort { entries: usize::MAX, ..Effort::within(std::time::Duration::from_secs(60)) };
    let search = Search::new(rx, query, &conditions, &passages, &effort, &completeness);
    let mut look = whole_documents::Look::new(&search, effort.deadline, &[]);
    let found = look.documents(&query.condition())?;
    let mut ids: Vec<i64> = conditions.documents(rx, found.ids())?.into_keys().collect();
    ids.sort_unstable();
    Ok(ids)
}

/// One reading of a query, and all that its stages need.
#[derive(Clone, Copy)]
struct Search<'s, 'r> {
    rx: &'s Rx<'r>,
    query: &'s Query,
    conditions: &'s Conditions,
    passages: &'s Passages,
    effort: &'s Effort,
    /// When retrieval has to end: the rest of the time is the filter's.
    retrieval: Deadline,
    completeness: &'s Cell<Completeness>,
}

impl<'s, 'r> Search<'s, 'r> {
    fn new(
        rx: &'s Rx<'r>,
        query: &'s Query,
        conditions: &'s Conditions,
        passages: &'s Passages,
        effort: &'s Effort,
        completeness: &'s Cell<Completeness>,
    ) -> Search<'s, 'r> {
        let retrieval = effort.deadline.all_but_a_fifth();
        Search { rx, query, conditions, passages, effort, retrieval, completeness }
    }

    /// Whether the filter may admit the document of a passage, as far as the catalogue can decide.
    fn admits(&self, passage: usize) -> bool {
        self.conditions.on_passages.admits(self.passages, passage)
    }

    /// Marks the answer as incomplete.
    fn lower(&self) {
        self.completeness.set(Completeness::Partial);
    }

    /// The whole pipeline for this reading of the query.
    fn find(&self, wanted: Wanted) -> Result<Hits, OpError> {
        let Search { query, conditions, passages, .. } = *self;
        let is_weighed = query.form == Form::AnyTerm && wanted.order != Order::Newest;
        let vector = self.vector(is_weighed);
        let more = asks_for_meaning(query);
        let near = vector.as_ref().filter(|_| more);
        nearest::beside(passages, &conditions.on_passages, near, |scan| {
            let retrieved = self.retrieved(is_weighed)?;
            let meant = Meant { vector: vector.as_ref(), scan, more };
            self.ranked(retrieved, wanted, is_weighed.then_some(meant))
        })
    }

    /// The pipeline for documents of several kinds, each with its own conditions: one retrieval, and a ranking for each.
    fn find_each(&self, each: &[Conditions], wanted: Wanted) -> Result<Vec<Hits>, OpError> {
        let Search { query, passages, .. } = *self;
        let is_weighed = query.form == Form::AnyTerm && wanted.order != Order::Newest;
        let vector = self.vector(is_weighed);
        let more = asks_for_meaning(query);
        let near = vector.as_ref().filter(|_| more);
        let retrieved = self.retrieved(is_weighed)?;
        let of_kind = |conditions| {
            let search = Search { conditions, ..*self };
            let own = retrieved.among(passages, conditions);
            nearest::beside(passages, &conditions.on_passages, near, |scan| {
                let meant = Meant { vector: vector.as_ref(), scan, more };
                search.ranked(own, wanted, is_weighed.then_some(meant))
            })
        };
        each.iter().map(of_kind).collect()
    }

    /// The embedding of the query, if hits are ranked by it.
    fn vector(&self, is_weighed: bool) -> Option<Vector> {
        let means = is_weighed && self.effort.recipe == Recipe::Table;
        means.then(|| Vector::of(self.query.typed())).flatten()
    }

    fn retrieved(&self, weighs: bool) -> Result<Retrieved, OpError> {
        let exact = ExactMatches::of(self)?;
        let before = self.completeness.get();
        let mut matches = self.retrieve(&exact, weighs)?;
        let retrieved = self.completeness.replace(before);
        let mut unindexed = Unindexed::of(self)?;
        // If the query is a name that some document contains exactly, documents without it are dropped.
        let is_there = !exact.passages.is_empty() || unindexed.any_exact();
        let name = self.query.name().filter(|_| is_there);
        if let Some(name) = &name {
            matches.keep(self, &exact);
            unindexed.keep(name);
        } else {
            // The words decide, so the answer is only as complete as the search for them. With an exact name it does
            // not matter whether the search for its single words was complete.
            self.completeness.set(retrieved.max(self.completeness.get()));
        }
        Ok(Retrieved { exact, matches, unindexed, is_named: name.is_some() })
    }

    fn ranked(
        &self,
        retrieved: Retrieved,
        wanted: Wanted,
        meant: Option<Meant<'_>>,
    ) -> Result<Hits, OpError> {
        let Retrieved { exact, matches, unindexed, is_named } = retrieved;
        // Filter.
        let Wanted { order, limit, spread } = wanted;
        let scored = index::added_up(matches.scored);
        let most = limits::SEARCH_CANDIDATES;
        let newest = match order {
            Order::BestAndNewest => {
                self.filter(Wanted::of(Order::Newest, most), filter::latest(&scored))?
            }
            Order::Best | Order::Newest => Vec::new(),
        };
        let by = if order == Order::Newest { Order::Newest } else { Order::Best };
        let typed = exact.among(&scored);
        // The candidates that are ranked do not depend on the limit.
        let mut documents =
            self.filter(Wanted { order: by, limit: limit.max(most), spread }, scored)?;
        let others = documents.split_off(most.min(documents.len()));
        rank::add(&mut documents, newest);
        // Rank.
        let filtered = Filtered { documents, others, typed };
        let (mut hits, weighed) = match meant {
            Some(meant) => {
                self.rank_by_recipe(order, filtered, &matches.sessions, (&exact, unindexed), meant)?
            }
            None => self.rank_by_words(by, filtered, (&exact, unindexed))?,
        };
        exact.mark(self.passages, &mut hits);
        // Page.
        // Return every ranked hit if the caller re-ranks.
        let all = match order {
            Order::BestAndNewest => weighed,
            Order::Best if limit >= most => weighed,
            Order::Best | Order::Newest => 0,
        };
        let reach = page::reach(spread, hits.iter().map(|hit| hit.session));
        hits.truncate(limit.max(all).max(reach));
        let weighed = weighed.min(hits.len());
        let query = if is_named { self.query.named() } else { self.query.clone() };
        let (completeness, evidence) = (self.completeness.get(), matches.evidence);
        let adjacent = matches.adjacent;
        Ok(Hits { hits, query, weighed, completeness, evidence, adjacent })
    }
}

/// The retrieved documents with their scores.
#[derive(Default)]
struct Matches {
    scored: Vec<Scored>,
    /// Scores of whole sessions; empty if these are not part of the ranking.
    sessions: Vec<f64>,
    evidence: Evidence,
    /// The documents with a pair of adjacent words, in order of their ids, if all of them are known.
    adjacent: Option<Vec<i64>>,
}

/// The result of retrieval.
struct Retrieved {
    exact: ExactMatches,
    matches: Matches,
    unindexed: Unindexed,
    /// Whether the query is a name that some document contains exactly.
    is_named: bool,
}

impl Retrieved {
    /// Only the documents that these conditions admit. Their kinds are some of those that were searched.
    fn among(&self, passages: &Passages, conditions: &Conditions) -> Retrieved {
        let kinds = conditions.on_passages.kinds.as_deref().unwrap_or_default();
        Retrieved {
            exact: self.exact.clone(),
            matches: self.matches.among(passages, conditions),
            unindexed: self.unindexed.of_kinds(kinds),
            is_named: self.is_named,
        }
    }
}

/// Whether the query is a question rather than a name: it has two different words that are not stop
/// words. Only then are documents listed that have none of its words.
pub fn asks_for_meaning(query: &Query) -> bool {
    let said = |part: &str| -> Vec<String> {
        let words = text::words::words(part).map(|(_, word)| word.to_lowercase());
        words.filter(|word| !text::words::is_stop(word)).collect()
    };
    let mut said = query.typed().split_whitespace().map(said).filter(|said| !said.is_empty());
    said.next().is_some_and(|first| said.any(|other| other != first))
}
