//! The one call of search: takes a question, returns ranked records and sessions.

use std::time::{Duration, Instant};

use model::{OpError, limits};
use store::search::{self, Filter, Hit, Order, Recipe, Wanted};
use text::query;

use crate::corpus::EvalQuestion;
use crate::index::Indexed;

/// A search configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchConfig {
    /// Any of the words, over whole documents, by SQLite's full-text index alone.
    Plain,
    /// The lexical ranking: pairs of words, neighbours and the session count too.
    Lexical,
    /// The lexical ranking and embeddings.
    Table,
}

impl SearchConfig {
    pub const ALL: [SearchConfig; 3] =
        [SearchConfig::Plain, SearchConfig::Lexical, SearchConfig::Table];

    pub fn word(self) -> &'static str {
        match self {
            SearchConfig::Plain => "plain",
            SearchConfig::Lexical => "lexical",
            SearchConfig::Table => "table",
        }
    }

    pub fn parse(word: &str) -> Option<SearchConfig> {
        SearchConfig::ALL.into_iter().find(|config| config.word() == word)
    }
}

/// The results of a question, best first.
pub(crate) struct SearchResults {
    pub(crate) documents: Vec<i64>,
    pub(crate) sessions: Vec<i64>,
    pub(crate) took: Duration,
}

/// Searches the store as `search` does with `relevance` and without `diverse`, or the plain index.
pub(crate) fn find(
    indexed: &Indexed,
    question: &str,
    config: SearchConfig,
) -> Result<SearchResults, OpError> {
    let recipe = match config {
        SearchConfig::Plain => return find_plainly(indexed, question),
        SearchConfig::Lexical => Recipe::Lexical,
        SearchConfig::Table => Recipe::Table,
    };
    let store = &indexed.store;
    let started = Instant::now();
    let query = query::rewrite(question);
    let filter = Filter::default();
    let wanted = Wanted::of(Order::Best, limits::EVAL_HITS);
    let found = store.read(|rx| search::hits_by(recipe, rx, &query, &filter, wanted))?;
    let took = started.elapsed();
    let sessions =
        store.read(|rx| search::sessions(recipe, rx, &query, &filter, limits::EVAL_HITS))?;
    Ok(SearchResults {
        documents: found.hits.into_iter().map(|hit| hit.id).collect(),
        sessions,
        took,
    })
}

/// The type of questions that are prompts. For these, it is measured whether something is shown with them.
const PROMPT: &str = "prompt";

/// Whether the answer to a question about something that never happened says so: hits are marked as merely similar,
/// and a prompt is shown nothing.
pub(crate) fn is_silent(
    indexed: &Indexed,
    question: &EvalQuestion,
    config: SearchConfig,
) -> Result<Option<bool>, OpError> {
    let recipe = match config {
        SearchConfig::Plain => return Ok(None),
        SearchConfig::Lexical => Recipe::Lexical,
        SearchConfig::Table => Recipe::Table,
    };
    let filter = Filter::default();
    if question.kind.as_deref() == Some(PROMPT) {
        let query = query::any_of(&question.text);
        let shown = indexed.store.read(|rx| search::related(rx, &query, &filter))?;
        return Ok(Some(shown.is_empty()));
    }
    let query = query::rewrite(&question.text);
    let wanted = Wanted::of(Order::Best, limits::EVAL_HITS);
    let silent = indexed.store.read(|rx| {
        let found = search::hits_by(recipe, rx, &query, &filter, wanted)?;
        let terms = |hit: &Hit| found.terms_of(rx, hit.id);
        Ok(found.hits.is_empty() || !found.is_answered(rx, &query, &found.hits, terms)?)
    })?;
    Ok(Some(silent))
}

/// A session ranks like the best of its documents.
fn find_plainly(indexed: &Indexed, question: &str) -> Result<SearchResults, OpError> {
    let Some(plain) = &indexed.plain else { return Err(OpError::internal("no plain index")) };
    let started = Instant::now();
    let documents = plain.find(question, limits::EVAL_HITS)?;
    let took = started.elapsed();
    let mut sessions: Vec<i64> = Vec::new();
    for session in documents.iter().filter_map(|id| indexed.session_of.get(id)) {
        if !sessions.contains(session) {
            sessions.push(*session);
        }
    }
    Ok(SearchResults { documents, sessions, took })
}
