//! The filter of a search, on the catalogue and as SQL over the view of all documents: the only place where it is applied.

use std::collections::HashMap;

use index::{Hit, IdSet, PassageFilter, Passages, Ranking, Scored};
use model::observation::RecordType;
use model::{OpError, limits};
use rusqlite::types::Value;
use rusqlite::{Params, params_from_iter};

use super::{Search, Wanted};
use crate::aggregate::json_ids;
use crate::cells::Cells as _;
use crate::deadline;
use crate::tx::Rx;
use crate::{paths, sessions};

/// Conditions on documents; all of them have to hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter<'a> {
    /// None for all projects.
    pub projects: Option<&'a [i64]>,
    /// A type that [`crate::check_type`] knows.
    pub kind: Option<RecordType>,
    /// A session's id in the store.
    pub session: Option<i64>,
    /// Absolute, relative to `root`, or the end of a path.
    pub file: Option<&'a str>,
    /// Other stored paths of this file, through a symbolic link or in another working tree. Each is matched exactly.
    pub also: &'a [String],
    pub root: Option<&'a str>,
    /// Which agent, for example `claude-code`.
    pub agent: Option<&'a str>,
    pub failed: Option<bool>,
    /// Milliseconds since 1970; neither end is included.
    pub before: Option<i64>,
    pub after: Option<i64>,
    /// A document to leave out.
    pub except: Option<i64>,
}

/// Approximate number of documents that a statement reads between two checks of the deadline.
const ROWS_PER_LOOK: usize = 4;

/// Enumerating the documents that the filter admits may take the remaining time divided by this.
const SCOPE_SHARE: u32 = 5;

/// Passages whose documents are looked up at a time.
const CANDIDATES_AT_LEAST: usize = 32;
const CANDIDATES_AT_MOST: usize = 4_096;

/// Documents about files; answered by a covering index.
const OF_FILES: &str = "SELECT id FROM observations \
     WHERE file > 0 AND file IN (SELECT value FROM json_each(?1))";

/// Documents of failed actions; answered by a covering index.
pub(crate) const FAILED: &str = "SELECT id FROM observations WHERE failed = 1";

/// A filter, ready to be applied.
pub(crate) struct Conditions {
    sql: String,
    values: Vec<Value>,
    /// Whether an index leads to the documents, so that they can be enumerated if they are few.
    leads: bool,
    /// Whether the catalogue and the rows read for the filter decide for every document whether it is admitted.
    /// A filter by time is never plain, because the catalogue may have an outdated time.
    pub(super) plain: bool,
    pub(super) on_passages: PassageFilter,
}

/// The ids that a statement returns, unless they are more than `most`.
fn ids_at_most(
    rx: &Rx<'_>,
    most: usize,
    sql: &str,
    values: impl Params,
) -> Result<Option<IdSet>, OpError> {
    let ids: Vec<i64> = rx.sql(|db| {
        let mut select = db.prepare_cached(sql)?;
        let rows = select.query_map(values, |row| row.cell(0))?;
        rows.take(most + 1).collect()
    })?;
    Ok((ids.len() <= most).then(|| ids.into_iter().collect()))
}

/// The condition that a document is of one of these kinds, and its value; none for all kinds.
fn one_of(words: &[&str]) -> (&'static str, Option<Value>) {
    match words {
        [] => ("", None),
        [one] => ("kind = ?", Some((*one).to_owned().into())),
        several => (
            "kind IN (SELECT value FROM json_each(?))",
            Some(serde_json::json!(several).to_string().into()),
        ),
    }
}

impl Conditions {
    pub(crate) fn of(rx: &Rx<'_>, filter: &Filter<'_>) -> Result<Conditions, OpError> {
        Conditions::of_kinds(rx, filter, filter.kind.as_slice())
    }

    /// The conditions of a filter on documents of these kinds, instead of its own kind; of all kinds if there are none.
    pub(super) fn of_kinds(
        rx: &Rx<'_>,
        filter: &Filter<'_>,
        kinds: &[RecordType],
    ) -> Result<Conditions, OpError> {
        let files = match filter.file {
            Some(path) => {
                let mut files = paths::matching(rx, path, filter.root, filter.projects)?;
                for path in filter.also {
                    files.extend(paths::exact(rx, path)?);
                }
                Some(files)
            }
            None => None,
        };
        let about = match &files {
            Some(files) => {
                let files = json_ids(files.iter().copied());
                ids_at_most(rx, limits::SEARCH_FILE_DOCUMENTS, OF_FILES, [files])?
            }
            None => None,
        };
        let sessions = filter.agent.map(|agent| sessions::of_agent(rx, agent)).transpose()?;
        let failed = match filter.failed {
            Some(true) => ids_at_most(rx, limits::SEARCH_FAILED_DOCUMENTS, FAILED, [])?,
            _ => None,
        };
        let json = |ids: &[i64]| Value::from(json_ids(ids.iter().copied()));
        let words: Vec<&str> = kinds.iter().map(|kind| kind.word()).collect();
        let (is_kind, of_kinds) = one_of(&words);
        let flag = |flag: bool| Value::from(i64::from(flag));
        let leads = filter.projects.is_some() || filter.session.is_some() || files.is_some();
        // Record types without a file have NULL there: SQLite skips their part of the view without reading a row.
        let given: [(&str, Option<Value>); 9] = [
            ("project IN (SELECT value FROM json_each(?))", filter.projects.map(json)),
            ("session = ?", filter.session.map(Value::from)),
            ("file > 0 AND file IN (SELECT value FROM json_each(?))", files.as_deref().map(json)),
            (is_kind, of_kinds),
            ("agent = ?", filter.agent.map(|agent| agent.to_owned().into())),
            ("failed = ?", filter.failed.map(flag)),
            ("at < ?", filter.before.map(Value::from)),
            ("at > ?", filter.after.map(Value::from)),
            ("id <> ?", filter.except.map(Value::from)),
        ];
        let mut conditions = Conditions {
            sql: String::new(),
            values: Vec::new(),
            leads,
            plain: filter.file.is_some() == about.is_some()
                && filter.failed.is_some() == failed.is_some()
                && filter.before.is_none()
                && filter.after.is_none(),
            on_passages: PassageFilter {
                about,
                projects: filter.projects.map(<[i64]>::to_vec),
                session: filter.session,
                sessions: sessions.map(|ids| ids.into_iter().collect()),
                failed,
                kinds: (!words.is_empty())
                    .then(|| words.iter().map(|word| rx.registry().kind_of(word)).collect()),
                before: filter.before,
                after: filter.after,
                except: filter.except,
            },
        };
        for (condition, value) in given {
            if let Some(value) = value {
                conditions.sql.push_str(" AND ");
                conditions.sql.push_str(condition);
                conditions.values.push(value);
            }
        }
        Ok(conditions)
    }

    /// The documents of these passages that the conditions admit, without a score. If the catalogue can
    /// decide, the database is not queried: then a document may have been deleted since, and its other
    /// columns are as they were when its words were indexed.
    pub(super) fn hits(
        &self,
        rx: &Rx<'_>,
        passages: &Passages,
        of: &[usize],
    ) -> Result<HashMap<i64, Hit>, OpError> {
        if !self.plain {
            return self.documents(rx, of.iter().filter_map(|passage| passages.doc(*passage)));
        }
        let hit = |passage: &usize| self.on_passages.hit(passages, *passage);
        Ok(of.iter().filter_map(hit).map(|hit| (hit.id, hit)).collect())
    }

    /// The given documents that the conditions admit, without a score.
    pub(crate) fn documents(
        &self,
        rx: &Rx<'_>,
        ids: impl Iterator<Item = i64>,
    ) -> Result<HashMap<i64, Hit>, OpError> {
        let values = [Value::from(json_ids(ids))].into_iter().chain(self.values.iter().cloned());
        let mut documents = HashMap::new();
        rx.sql(|db| {
            let mut select = db.prepare_cached(&self.select_among())?;
            let mut rows = select.query(params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                let (id, at, project, session) =
                    (row.cell(0)?, row.cell(1)?, row.cell(3)?, row.cell(4)?);
                let kind = rx.registry().kind_of(&row.text(2)?);
                documents.insert(id, Hit { at, kind, ..Hit::new(id, session, project) });
            }
            Ok(())
        })?;
        Ok(documents)
    }

    pub(crate) fn select_among(&self) -> String {
        format!(
            "SELECT id, at, kind, project, coalesce(session, id) FROM documents \
             WHERE id IN (SELECT value FROM json_each(?)){}",
            self.sql
        )
    }

    /// The ids of all documents that the conditions admit, in order.
    pub(super) fn admitted(&self, rx: &Rx<'_>) -> Result<Vec<i64>, OpError> {
        let mut ids: Vec<i64> = rx.sql(|db| {
            let mut select = db.prepare(&self.select_scope())?;
            select.query_map(params_from_iter(&self.values), |row| row.cell(0))?.collect()
        })?;
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    pub(crate) fn select_scope(&self) -> String {
        format!("SELECT id FROM documents WHERE true{}", self.sql)
    }
}

/// The passages that were added last. They include the newest documents, since documents arrive roughly in
/// the order of their times.
pub(super) fn latest(scored: &[Scored]) -> Vec<Scored> {
    scored.get(scored.len().saturating_sub(CANDIDATES_AT_MOST)..).unwrap_or_default().to_vec()
}

impl Search<'_, '_> {
    /// The documents of these passages that the filter admits, by id, without a score.
    pub(super) fn admit(&self, of: &[usize]) -> Result<HashMap<i64, Hit>, OpError> {
        let Search { rx, passages, conditions, .. } = *self;
        let may = |passage: &&usize| conditions.on_passages.admits(passages, **passage);
        let of: Vec<usize> = of.iter().filter(may).copied().collect();
        conditions.hits(rx, passages, &of)
    }

    /// The documents of these passages that the filter admits, each with its best passage and the score of that, in
    /// the wanted order. If only the database can decide, very many may be looked up in vain, until the deadline.
    pub(super) fn filter(&self, wanted: Wanted, scored: Vec<Scored>) -> Result<Vec<Hit>, OpError> {
        let Search { rx, passages, conditions, .. } = *self;
        let Wanted { order, mut limit, spread } = wanted;
        let mut ranked = Ranking::new(passages, order, scored);
        let mut hits: Vec<Hit> = Vec::new();
        let mut places: HashMap<i64, usize> = HashMap::new();
        let mut looked_at = 0;
        while hits.len() >= limit || !ranked.is_empty() {
            if hits.len() >= limit {
                let sessions = || hits.iter().take(limit).map(|hit| hit.session);
                if limit >= limits::SEARCH_SPREAD_MAX
                    || spread.is_none_or(|spread| spread.reach(sessions()).is_some())
                {
                    break;
                }
                limit = limits::SEARCH_SPREAD_MAX.min(limit * 2);
                continue;
            }
            let is_enough = looked_at >= CANDIDATES_AT_MOST && !conditions.plain;
            if is_enough && self.effort.deadline.is_over() {
                self.lower();
                break;
            }
            let missing = limit - hits.len();
            // As many as are needed if the filter admits the same share as so far, plus a quarter.
            let likely = missing.saturating_mul(looked_at + 1) / (hits.len() + 1);
            let next = likely.saturating_mul(5) / 4;
            let next = ranked.take(next.clamp(CANDIDATES_AT_LEAST, CANDIDATES_AT_MOST));
            looked_at += next.len();
            let of: Vec<usize> = next.iter().map(|row| row.passage).collect();
            let documents = conditions.hits(rx, passages, &of)?;
            for Scored { passage, score } in next {
                let Some(document) = passages.doc(passage) else { continue };
                if let Some(hit) = places.get(&document).and_then(|place| hits.get_mut(*place)) {
                    if score > hit.lexical {
                        (hit.lexical, hit.passage) = (score, passage);
                    }
                } else if let Some(hit) = documents.get(&document) {
                    places.insert(document, hits.len());
                    hits.push(Hit { lexical: score, passage, ..*hit });
                }
            }
        }
        hits.truncate(limit);
        Ok(hits)
    }

    /// The passages of all documents that the filter admits, if these are few enough to search only them. `None` if
    /// enumerating them takes too long: a large project may have very many documents of which the rest of the filter
    /// admits hardly any.
    pub(super) fn scope(&self) -> Result<Option<Vec<i64>>, OpError> {
        const PASSAGES: &str = "SELECT id FROM passages \
             WHERE doc IN (SELECT value FROM json_each(?1))";
        let Search { rx, conditions, .. } = *self;
        if !conditions.leads {
            return Ok(None);
        }
        let most = self.effort.scope_documents;
        rx.sql(|db| {
            // A small scope is enumerated even on a busy machine: one check of the deadline covers a few documents.
            let looks = u32::try_from(most / ROWS_PER_LOOK).unwrap_or(u32::MAX);
            let watch = self.effort.deadline.share(SCOPE_SHARE).watch(looks);
            let mut select = db.prepare_cached(&conditions.select_scope())?;
            let ids = select
                .query_map(params_from_iter(&conditions.values), |row| row.cell(0))?
                .take(most + 1)
                .collect::<rusqlite::Result<Vec<i64>>>();
            let ids = match ids {
                Err(error) if deadline::interrupted(&error) => return Ok(None),
                ids => ids?,
            };
            if ids.len() > most {
                return Ok(None);
            }
            drop(watch);
            let mut passages = db.prepare_cached(PASSAGES)?;
            let passages = passages.query_map([json_ids(ids)], |row| row.cell(0))?;
            passages.collect::<rusqlite::Result<_>>().map(Some)
        })
    }
}
