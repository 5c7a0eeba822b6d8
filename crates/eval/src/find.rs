//! The one call of search: a question goes in, ranked records and sessions come out.

use std::time::{Duration, Instant};

use model::{OpError, limits};
use store::search::{self, Filter, Order, Recipe, Wanted};
use text::query;

use crate::corpus::Question;
use crate::index::Indexed;

/// A way to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Config {
    /// Any of the words of whole documents, by SQLite's full-text index alone.
    Plain,
    /// The lexical recipe: pairs of words, neighbours and the session count too.
    Lexical,
    /// The same together with the meaning of words.
    Table,
}

impl Config {
    pub const ALL: [Config; 3] = [Config::Plain, Config::Lexical, Config::Table];

    pub fn word(self) -> &'static str {
        match self {
            Config::Plain => "plain",
            Config::Lexical => "lexical",
            Config::Table => "table",
        }
    }

    pub fn parse(word: &str) -> Option<Config> {
        Config::ALL.into_iter().find(|config| config.word() == word)
    }
}

/// What a question found, best first.
pub(crate) struct Found {
    pub(crate) documents: Vec<i64>,
    pub(crate) sessions: Vec<i64>,
    pub(crate) took: Duration,
}

/// Asks the store as `search` does with `relevance` and without `diverse`, or the plain index.
pub(crate) fn find(indexed: &Indexed, question: &str, config: Config) -> Result<Found, OpError> {
    let recipe = match config {
        Config::Plain => return find_plainly(indexed, question),
        Config::Lexical => Recipe::Lexical,
        Config::Table => Recipe::Table,
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
    Ok(Found { documents: found.hits.into_iter().map(|hit| hit.id).collect(), sessions, took })
}

/// The type of questions that are prompts. For these it is measured whether something is shown with them.
const PROMPT: &str = "prompt";

/// Whether the answer to something that never happened says so: hits are marked as merely similar, and a
/// prompt is shown nothing.
pub(crate) fn is_silent(
    indexed: &Indexed,
    question: &Question,
    config: Config,
) -> Result<Option<bool>, OpError> {
    let recipe = match config {
        Config::Plain => return Ok(None),
        Config::Lexical => Recipe::Lexical,
        Config::Table => Recipe::Table,
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
        Ok(found.hits.is_empty() || !found.is_answered(rx, &query, &found.hits)?)
    })?;
    Ok(Some(silent))
}

/// A session is as good as the best of its documents.
fn find_plainly(indexed: &Indexed, question: &str) -> Result<Found, OpError> {
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
    Ok(Found { documents, sessions, took })
}
