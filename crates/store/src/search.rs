//! Finding documents: the lexical score of passages, and the one filter below every surface.
//!
//! A document's score is that of its best passage: BM25 over the words, plus half of what adjacent
//! words bring. The index spends about a microsecond on each passage that has one of the words, so
//! that the number of passages that are looked at is bounded; an answer says if that made a difference.

pub(crate) mod filter;

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::time::Duration;

use model::observation::ObsType;
use model::{OpError, limits};
use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, params_from_iter};
use text::query::{self, Form, Query};

use crate::deadline::{self, Deadline};
use crate::tx::Rx;

pub(crate) use filter::Conditions;
pub use filter::Filter;
use filter::list;

/// How much adjacent words count beside the words.
const PAIRS_WEIGHT: f64 = 0.5;
/// Passages whose documents are looked up at a time.
const CANDIDATES_AT_LEAST: usize = 32;
const CANDIDATES_AT_MOST: usize = 4_096;

/// Which documents are wanted if there are more than the limit, and in which order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Those with the highest score.
    #[default]
    Best,
    Newest,
}

/// A document that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    pub id: i64,
    /// Comparable only with other hits of the same answer.
    pub lexical: f64,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    pub kind: ObsType,
    pub project: i64,
    pub session: i64,
}

/// What a search came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Hits {
    pub hits: Vec<Hit>,
    /// The query that ran, for its form and for reasons: the one given, or that for words which begin
    /// like its words.
    pub query: Query,
    /// Whether more may be there: a query took too long, or a word is too frequent.
    pub partial: bool,
    /// Words so frequent that only the newest records with them were looked at.
    pub frequent: Vec<String>,
}

/// Documents that match the query and the filter, best or newest first.
pub fn hits(
    rx: &Rx<'_>,
    query: &Query,
    filter: &Filter<'_>,
    order: Order,
    limit: usize,
) -> Result<Hits, OpError> {
    hits_within(&Effort::default(), rx, query, filter, (order, limit))
}

/// How much work a query may make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) rows: usize,
    pub(crate) scope_rows: usize,
    pub(crate) scope_documents: usize,
    pub(crate) patience: Duration,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort {
            rows: limits::SEARCH_ROWS_MAX,
            scope_rows: limits::SEARCH_SCOPE_ROWS,
            scope_documents: limits::SEARCH_SCOPE_DOCUMENTS,
            patience: limits::OPERATORS_PATIENCE,
        }
    }
}

/// The same with another effort.
pub(crate) fn hits_within(
    effort: &Effort,
    rx: &Rx<'_>,
    query: &Query,
    filter: &Filter<'_>,
    wanted: (Order, usize),
) -> Result<Hits, OpError> {
    let conditions = Conditions::of(rx, filter)?;
    let found = find(rx, query, &conditions, effort, wanted)?;
    // When no word is there, words that begin alike may be.
    match query.prefix().filter(|_| found.hits.is_empty()) {
        Some(beginnings) => find(rx, &beginnings, &conditions, effort, wanted),
        None => Ok(found),
    }
}

/// All documents that match, for what is to be done to every one of them: complete however long it
/// takes, and in the order of ids.
pub fn all(rx: &Rx<'_>, query: &Query, filter: &Filter<'_>) -> Result<Vec<i64>, OpError> {
    const ALL: &str = "SELECT rowid, 0.0 FROM passage_fts WHERE passage_fts MATCH ?1";
    let expression = query.expression();
    if expression.is_empty() {
        return Ok(Vec::new());
    }
    let conditions = Conditions::of(rx, filter)?;
    let mut passages = Passages::default();
    rx.sql(|db| passages.collect(db, ALL, &[expression.into()]))?;
    let hits = passages.documents(rx, &conditions, Order::Newest, usize::MAX)?;
    let mut ids: Vec<i64> = hits.into_iter().map(|hit| hit.id).collect();
    ids.sort_unstable();
    Ok(ids)
}

fn find(
    rx: &Rx<'_>,
    query: &Query,
    conditions: &Conditions,
    effort: &Effort,
    (order, limit): (Order, usize),
) -> Result<Hits, OpError> {
    let mut passages = Passages::default();
    match query.form {
        Form::Empty => {}
        Form::AnyTerm => passages.with_words(rx, query, conditions, effort)?,
        Form::Operators | Form::AllTerms | Form::Prefix => {
            let scope = conditions.scope(rx, effort.scope_documents)?;
            let _deadline = Deadline::after(effort.patience);
            passages.newest(rx, &query.expression(), scope.as_deref(), effort.rows)?;
        }
    }
    let (partial, frequent) = (passages.partial, std::mem::take(&mut passages.frequent));
    let hits = passages.documents(rx, conditions, order, limit)?;
    Ok(Hits { hits, query: query.clone(), partial, frequent })
}

/// Passages with their scores, as they are found.
#[derive(Default)]
struct Passages {
    scored: Vec<Scored>,
    partial: bool,
    frequent: Vec<String>,
}

#[derive(Clone, Copy)]
struct Scored {
    passage: i64,
    score: f64,
}

impl Passages {
    /// Passages with any of the words: all of them for rare words, the newest for words that are too
    /// frequent together.
    fn with_words(
        &mut self,
        rx: &Rx<'_>,
        query: &Query,
        conditions: &Conditions,
        effort: &Effort,
    ) -> Result<(), OpError> {
        let max = effort.rows;
        let counted = count_words(rx, &query.words, max)?;
        let total: usize = counted.iter().map(|(_, count)| count).sum();
        let scope = if total > effort.scope_rows {
            conditions.scope(rx, effort.scope_documents)?
        } else {
            None
        };
        let (mut rare, mut frequent, mut left) = (Vec::new(), Vec::new(), max);
        for (word, count) in &counted {
            if scope.is_some() || *count <= left {
                left = left.saturating_sub(*count);
                rare.push(query::term(word));
            } else {
                frequent.push(query::term(word));
                self.frequent.push((*word).to_owned());
            }
        }
        self.newest(rx, &rare.join(" OR "), scope.as_deref(), usize::MAX)?;
        let least = max / 10;
        self.newest(rx, &frequent.join(" OR "), scope.as_deref(), left.max(least))?;
        if !self.partial {
            // Many passages have several of them: they were few enough after all.
            self.frequent.clear();
        }
        // Finding adjacent words costs as much as finding the rarer one of them.
        let known: HashMap<&str, usize> = counted.into_iter().collect();
        let affordable =
            |word: &String| known.get(word.as_str()).is_some_and(|count| *count <= max);
        let pairs = query.pairs.iter().filter(|pair| {
            pair.iter().all(|word| known.contains_key(word.as_str())) && pair.iter().any(affordable)
        });
        let pairs: Vec<String> = pairs.map(|pair| query::phrase(pair)).collect();
        let words = self.scored.len();
        self.newest(rx, &pairs.join(" OR "), scope.as_deref(), max)?;
        self.scored.iter_mut().skip(words).for_each(|scored| scored.score *= PAIRS_WEIGHT);
        Ok(())
    }

    /// Adds the passages that match, the newest if there are too many. A scope says which passages
    /// count at all.
    fn newest(
        &mut self,
        rx: &Rx<'_>,
        expression: &str,
        scope: Option<&str>,
        max: usize,
    ) -> Result<(), OpError> {
        const NEWEST: &str = "SELECT rowid, bm25(passage_fts, 1.0, 0.5) FROM passage_fts \
             WHERE passage_fts MATCH ?1 ORDER BY rowid DESC LIMIT ?2";
        // The plus keeps the index from looking up every word for every single passage.
        const NEWEST_IN_SCOPE: &str = "SELECT rowid, bm25(passage_fts, 1.0, 0.5) FROM passage_fts \
             WHERE passage_fts MATCH ?1 AND +rowid IN (SELECT value FROM json_each(?3)) \
             ORDER BY rowid DESC LIMIT ?2";
        if expression.is_empty() || scope == Some(filter::NOTHING) {
            return Ok(());
        }
        let before = self.scored.len();
        let mut values: Vec<Value> =
            vec![expression.to_owned().into(), i64::try_from(max).unwrap_or(i64::MAX).into()];
        values.extend(scope.map(|scope| scope.to_owned().into()));
        let sql = if scope.is_some() { NEWEST_IN_SCOPE } else { NEWEST };
        rx.sql(|db| match self.collect(db, sql, &values) {
            // What was found until time was up stays.
            Err(error) if deadline::is_up() && is_interrupt(&error) => {
                self.partial = true;
                Ok(())
            }
            done => done,
        })?;
        self.partial |= self.scored.len() - before == max;
        Ok(())
    }

    /// Runs the statement and adds its rows.
    fn collect(&mut self, db: &Connection, sql: &str, values: &[Value]) -> rusqlite::Result<()> {
        let mut select = db.prepare_cached(sql)?;
        let mut rows = select.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            // The index counts downwards: the better, the smaller.
            let score = -row.get::<_, f64>(1)?;
            self.scored.push(Scored { passage: row.get(0)?, score });
        }
        Ok(())
    }

    /// The documents of the passages that the conditions let through, each with the score of its
    /// best passage.
    fn documents(
        self,
        rx: &Rx<'_>,
        conditions: &Conditions,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Hit>, OpError> {
        let mut ranked = self.ranked(order);
        let mut hits: Vec<Hit> = Vec::new();
        let mut places: HashMap<i64, usize> = HashMap::new();
        let mut looked_at = 0;
        while hits.len() < limit && !ranked.is_empty() {
            let missing = limit - hits.len();
            // As many as will do if the filter lets through what it did so far, and some more.
            let likely = missing.saturating_mul(looked_at + 1) / (hits.len() + 1);
            let next = likely.saturating_mul(5) / 4;
            let next = next.clamp(CANDIDATES_AT_LEAST, CANDIDATES_AT_MOST);
            let next: Vec<Ranked> = std::iter::from_fn(|| ranked.pop()).take(next).collect();
            looked_at += next.len();
            let owners = owners(rx, &next)?;
            let owner = |passage: i64| owners.get(&passage).copied().unwrap_or(passage);
            let documents = conditions.documents(rx, next.iter().map(|row| owner(row.passage)))?;
            for Ranked { passage, score, .. } in next {
                let document = owner(passage);
                if let Some(hit) = places.get(&document).and_then(|place| hits.get_mut(*place)) {
                    hit.lexical = hit.lexical.max(score);
                } else if let Some(hit) = documents.get(&document).filter(|_| hits.len() < limit) {
                    places.insert(document, hits.len());
                    hits.push(Hit { lexical: score, ..*hit });
                }
            }
        }
        Ok(hits)
    }

    /// Every passage once, with its scores added up; the first to pop is the first that counts.
    fn ranked(mut self, order: Order) -> BinaryHeap<Ranked> {
        self.scored.sort_by_key(|scored| scored.passage);
        self.scored.dedup_by(|later, kept| {
            let same = later.passage == kept.passage;
            if same {
                kept.score += later.score;
            }
            same
        });
        let rank = |Scored { passage, score }: Scored| Ranked {
            first: if order == Order::Best { score } else { 0.0 },
            passage,
            score,
        };
        self.scored.into_iter().map(rank).collect()
    }
}

/// A passage in the order in which passages are looked at; of equal ones the newer comes first.
struct Ranked {
    first: f64,
    passage: i64,
    score: f64,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Ranked) -> Ordering {
        self.first.total_cmp(&other.first).then(self.passage.cmp(&other.passage))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Ranked) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Ranked) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

fn is_interrupt(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
}

/// How many passages have each word, the rarest first; words that none has are left out. Counting
/// ends where a word is too frequent anyway, and a word that is not counted any more counts as such.
fn count_words<'w>(
    rx: &Rx<'_>,
    words: &'w [String],
    max: usize,
) -> Result<Vec<(&'w str, usize)>, OpError> {
    const COUNT: &str = "SELECT count(*) FROM \
         (SELECT 1 FROM passage_fts WHERE passage_fts MATCH ?1 LIMIT ?2)";
    let too_many = max.saturating_add(1);
    let mut left = limits::SEARCH_ROWS_COUNTED_MAX;
    let mut counted = Vec::with_capacity(words.len());
    for word in words {
        let count = if left == 0 {
            too_many
        } else {
            let limit = i64::try_from(too_many).unwrap_or(i64::MAX);
            let values: [Value; 2] = [query::term(word).into(), limit.into()];
            rx.sql(|db| db.prepare_cached(COUNT)?.query_row(values, |row| row.get(0)))?
        };
        left = left.saturating_sub(count);
        counted.push((word.as_str(), count));
    }
    counted.retain(|(_, count)| *count > 0);
    counted.sort_by_key(|(_, count)| *count);
    counted.truncate(limits::QUERY_WORDS_MAX);
    Ok(counted)
}

/// The documents of those passages that are not the first of theirs.
fn owners(rx: &Rx<'_>, passages: &[Ranked]) -> Result<HashMap<i64, i64>, OpError> {
    let ids = list(passages.iter().map(|row| row.passage));
    rx.sql(|db| {
        let mut select = db.prepare_cached(OWNERS)?;
        select.query_map([ids], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    })
}

pub(crate) const OWNERS: &str = "SELECT id, doc FROM further_passages \
     WHERE id IN (SELECT value FROM json_each(?1))";
