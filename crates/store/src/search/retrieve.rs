//! Retrieval: the passages that match the query, with their lexical scores.
//!
//! A query for any of several words reads the postings ([`super::words`]) and is exact. Adjacent words and operators
//! are looked up in the full-text index, within a part of the time.

use std::collections::{HashMap, HashSet};

use index::bm25::{self, Word};
use index::{Passages, Scored};
use model::{OpError, limits};
use rusqlite::types::Value;
use rusqlite::{Params, Row, params_from_iter};
use text::query::{self, Condition, Form, Query};
use text::terms::term;

use super::exact_matches::ExactMatches;
use super::whole_documents::Look;
use super::words::words;
use super::{Conditions, Evidence, Matches, Search};
use crate::aggregate::json_ids;
use crate::cells::Cells as _;
use crate::deadline::{self, LOOKS_GRANTED};
use crate::index_health;

/// The weight of adjacent words relative to single words.
const PAIRS_WEIGHT: f64 = 0.5;

impl Matches {
    /// The documents that these conditions admit, as far as the catalogue knows.
    pub(super) fn among(&self, passages: &Passages, conditions: &Conditions) -> Matches {
        let admits = |one: &&Scored| conditions.on_passages.admits(passages, one.passage);
        Matches {
            scored: self.scored.iter().filter(admits).copied().collect(),
            sessions: self.sessions.clone(),
            evidence: self.evidence.clone(),
            adjacent: self.adjacent.clone(),
        }
    }

    /// Keeps only documents that may contain the typed name: those that do, and those that have its words side by side
    /// and were not read.
    pub(super) fn keep(&mut self, search: &Search<'_, '_>, exact: &ExactMatches) {
        let doc = |one: &Scored| search.passages.doc(one.passage);
        self.scored.retain(|one| doc(one).is_some_and(|doc| exact.admits(doc)));
        self.scored.extend(exact.passages.iter().copied().map(Scored::nothing));
    }
}

impl Search<'_, '_> {
    /// The passages that match the query.
    pub(super) fn retrieve(&self, exact: &ExactMatches, weighs: bool) -> Result<Matches, OpError> {
        let scored = match self.query.form {
            Form::Empty => Vec::new(),
            // A document with the exact name has all of its words next to each other.
            Form::AnyTerm if self.query.name().is_some() && !exact.passages.is_empty() => {
                return self.words(weighs).map(|(matches, _)| matches);
            }
            Form::AnyTerm => return self.words_and_pairs(weighs),
            Form::Operators | Form::AllTerms | Form::Prefix => match self.query.condition() {
                Condition::Has(..) | Condition::Word(_) => self.by_index()?,
                condition => self.by_documents(&condition)?,
            },
        };
        Ok(Matches { scored, ..Matches::default() })
    }

    /// Passages with any of the words, with a higher score for those in which two of the words are adjacent.
    pub(super) fn words_and_pairs(&self, weighs: bool) -> Result<Matches, OpError> {
        let (mut matches, words) = self.words(weighs)?;
        let (pairs, all) = self.affordable_pairs(&words);
        let (pairs, whole) = self.full_text(&pairs.join(" OR "), None)?;
        if all && whole && pairs.len() <= limits::SEARCH_ADJACENT_MAX {
            let docs = pairs.iter().filter_map(|pair| self.passages.doc(pair.passage));
            let mut docs: Vec<i64> = docs.collect();
            docs.sort_unstable();
            matches.adjacent = Some(docs);
        }
        let admitted = pairs.into_iter().filter(|pair| self.admits(pair.passage));
        matches.scored.extend(
            admitted
                .map(|Scored { passage, score }| Scored { passage, score: score * PAIRS_WEIGHT }),
        );
        Ok(matches)
    }

    /// Passages with any of the words, and those words that some passage has.
    fn words(&self, weighs: bool) -> Result<(Matches, Vec<Word<'_>>), OpError> {
        let Search { rx, query, conditions, passages, effort, .. } = *self;
        let Some(mut words) = words(rx, passages.end(), query.terms())? else {
            // Stop words have no postings; only the full-text index has them.
            let scored = self.by_index()?;
            return Ok((Matches { scored, ..Matches::default() }, Vec::new()));
        };
        if words.len() > limits::QUERY_WORDS_MAX {
            self.lower();
            words.truncate(limits::QUERY_WORDS_MAX);
        }
        let filter = &conditions.on_passages;
        let scored = bm25::score(passages, &words, 0, filter, &filter.admits_of_run(passages));
        let mut evidence = Evidence::of(passages, query, &words, effort.recipe);
        evidence.add_named(rx, query, filter.projects.as_deref())?;
        // Whole sessions are scored only if a match belongs to a session.
        let in_session = |one: &Scored| passages.session_number(one.passage) != 0;
        let sessions = match weighs && scored.iter().any(in_session) {
            true => bm25::whole_sessions(passages, &words),
            false => Vec::new(),
        };
        Ok((Matches { scored, sessions, evidence, adjacent: None }, words))
    }

    /// Pairs of adjacent words that some passage may have, and whether these are all such pairs. Pairs of two very
    /// frequent words are left out: finding a pair costs as much as finding its rarer word.
    fn affordable_pairs(&self, words: &[Word<'_>]) -> (Vec<String>, bool) {
        let Query { pairs, .. } = self.query;
        let own = words.iter().filter(|word| term(word.word).as_ref() == Some(&word.term));
        let known: HashMap<&str, usize> = own.map(|word| (word.word, word.count)).collect();
        let rarer = |pair: &[String; 2]| {
            let counts = pair.iter().map(|word| known.get(word.as_str()).copied());
            counts.reduce(|a, b| Some(a?.min(b?))).flatten()
        };
        let costs: Vec<_> = pairs.iter().filter_map(|pair| Some((pair, rarer(pair)?))).collect();
        let affordable = costs.iter().filter(|(_, cost)| *cost <= self.effort.rows);
        let phrases: Vec<String> = affordable.map(|(pair, _)| query::phrase(*pair)).collect();
        let all = phrases.len() == costs.len();
        if !all {
            self.lower();
        }
        (phrases, all)
    }

    /// Documents that match in the full-text index.
    fn by_index(&self) -> Result<Vec<Scored>, OpError> {
        Ok(self.full_text(&self.query.expression(), self.scope()?)?.0)
    }

    /// The passages of documents that fulfil a condition as a whole, scored by their words, phrases and prefixes.
    fn by_documents(&self, condition: &Condition) -> Result<Vec<Scored>, OpError> {
        let Search { rx, query, conditions, passages, effort, .. } = *self;
        let scope: Option<HashSet<i64>> = self.scope()?.map(|scope| scope.into_iter().collect());
        let in_scope = |passage: usize| {
            scope
                .as_ref()
                .is_none_or(|scope| i64::try_from(passage).is_ok_and(|p| scope.contains(&p)))
        };
        let filter = &conditions.on_passages;
        let asked = query.whole_words().filter_map(|word| Some((word.as_str(), term(word)?)));
        let mut words = words(rx, passages.end(), asked.collect())?.unwrap_or_default();
        let mut look = Look::new(self, self.retrieval, &words);
        let chosen = look.documents(condition)?;
        let others = look.scored;
        let admits = |passage: usize| {
            passages.doc(passage).is_some_and(|doc| chosen.has(doc))
                && filter.admits(passages, passage)
                && in_scope(passage)
        };
        let newest = (0..passages.end()).rev().filter(|passage| admits(*passage));
        let newest: Vec<usize> = newest.take(effort.rows).collect();
        if newest.len() == effort.rows {
            self.lower();
        }
        let first = newest.last().copied().unwrap_or_default();
        words.truncate(limits::QUERY_WORDS_MAX);
        let mut scored = bm25::score(passages, &words, first, filter, &admits);
        let others = others.into_iter();
        scored.extend(others.filter(|one| one.passage >= first && admits(one.passage)));
        // Also documents with a score of zero, because they match by stop words only.
        scored.extend(newest.into_iter().map(Scored::nothing));
        Ok(scored)
    }

    /// The passages that match an FTS5 expression, the newest if there are too many, and whether these are all of them. Only
    /// the passages of a scope are considered.
    fn full_text(
        &self,
        expression: &str,
        scope: Option<Vec<i64>>,
    ) -> Result<(Vec<Scored>, bool), OpError> {
        const NEWEST: &str = "SELECT rowid, bm25(passage_fts, 1.0, 0.5) FROM passage_fts \
             WHERE passage_fts MATCH ?1 ORDER BY rowid DESC LIMIT ?2";
        // The plus keeps the index from looking up every word for every single passage.
        const NEWEST_IN_SCOPE: &str = "SELECT rowid, bm25(passage_fts, 1.0, 0.5) FROM passage_fts \
             WHERE passage_fts MATCH ?1 AND +rowid IN (SELECT value FROM json_each(?3)) \
             ORDER BY rowid DESC LIMIT ?2";
        let mut scored = Vec::new();
        if expression.is_empty() || scope.as_ref().is_some_and(Vec::is_empty) {
            return Ok((scored, true));
        }
        let most = self.effort.rows;
        let mut values: Vec<Value> =
            vec![expression.to_owned().into(), i64::try_from(most).unwrap_or(i64::MAX).into()];
        let sql = if scope.is_some() { NEWEST_IN_SCOPE } else { NEWEST };
        values.extend(scope.map(|scope| json_ids(scope).into()));
        let _watch = self.retrieval.watch(LOOKS_GRANTED);
        let whole = self.full_text_rows(sql, params_from_iter(values), |row| {
            // FTS5 returns a smaller bm25() for a better match.
            scored.push(Scored { passage: row.cell(0)?, score: -row.cell::<f64>(1)? });
            Ok(true)
        })?;
        let whole = whole && scored.len() < most;
        if !whole {
            self.lower();
        }
        Ok((scored, whole))
    }

    /// Calls `each` with the rows of a statement on the full-text index until it returns false. Returns whether there
    /// are no more rows; false also at the deadline, and if the index is damaged: the postings still find single words.
    pub(super) fn full_text_rows(
        &self,
        sql: &str,
        values: impl Params,
        mut each: impl FnMut(&Row<'_>) -> rusqlite::Result<bool>,
    ) -> Result<bool, OpError> {
        let whole = index_health::read_index(self.rx, |db| {
            let mut select = db.prepare_cached(sql)?;
            let mut rows = select.query(values)?;
            loop {
                match rows.next() {
                    Ok(Some(row)) if each(row)? => {}
                    Ok(row) => return Ok(row.is_none()),
                    Err(error) if deadline::interrupted(&error) => return Ok(false),
                    Err(error) => return Err(error),
                }
            }
        })?;
        Ok(whole == Some(true))
    }
}
