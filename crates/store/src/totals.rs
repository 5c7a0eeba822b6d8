//! Counts over all aggregates, the times of the first and the last record, and the size of the file.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::OpError;
use model::observation::ObsType;

use crate::activity_counts::{self, TypeTotal};
use crate::aggregate::Aggregate;
use crate::cells::Cells as _;
use crate::tx::Rx;
use crate::{observations, projects, prompts, sessions};

/// Counts of the records in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    /// The most frequent kind first; repeats that were folded count once.
    pub observations: Vec<(ObsType, u64)>,
    pub prompts: u64,
    pub sessions: u64,
    pub projects: u64,
    /// Records of other kinds, by the name of their aggregate.
    pub others: Vec<(&'static str, u64)>,
    /// Observations, prompts and summaries.
    pub pinned: u64,
    /// Milliseconds since 1970, UTC, of the first and the last record.
    pub oldest: Option<i64>,
    pub newest: Option<i64>,
    /// Bytes of the whole database.
    pub bytes: u64,
}

/// Counts everything.
pub fn totals(rx: &Rx<'_>) -> Result<Totals, OpError> {
    let ids = projects::ids(rx)?;
    let (oldest, newest) = span(rx, &ids)?;
    let (observations, prompts) = match activity_counts::totals(rx)? {
        Some(totals) => summed(&totals, &ids),
        None => (observations::counts(rx, Some(&ids))?, prompts::count(rx)?),
    };
    Ok(Totals {
        observations,
        prompts,
        sessions: sessions::count(rx)?,
        projects: ids.len() as u64,
        others: others(rx)?,
        pinned: pinned(rx)?,
        oldest,
        newest,
        bytes: bytes(rx)?,
    })
}

/// The observations of these projects by type, and all prompts.
fn summed(totals: &[TypeTotal], projects: &[i64]) -> (Vec<(ObsType, u64)>, u64) {
    let (mut kinds, mut prompts) = (BTreeMap::new(), 0);
    for total in totals {
        match total.observations() {
            Some(kind) if projects.contains(&total.project) => {
                *kinds.entry(kind).or_default() += total.records;
            }
            Some(_) => {}
            None => prompts += total.records,
        }
    }
    let mut kinds: Vec<(ObsType, u64)> = kinds.into_iter().collect();
    kinds.sort_by_key(|(kind, count)| (Reverse(*count), *kind));
    (kinds, prompts)
}

/// Counts the records of other kinds than observation, prompt and session, as far as there are any.
fn others(rx: &Rx<'_>) -> Result<Vec<(&'static str, u64)>, OpError> {
    let others = rx.registry().records().filter(|records| !records.kinds().is_empty());
    let counts: Result<Vec<_>, OpError> =
        others.map(|records| Ok((records.name(), records.count(rx)?))).collect();
    Ok(counts?.into_iter().filter(|(_, count)| *count > 0).collect())
}

/// The first and the last time of all records.
fn span(rx: &Rx<'_>, projects: &[i64]) -> Result<(Option<i64>, Option<i64>), OpError> {
    let mut ends = Vec::new();
    for project in projects {
        for records in rx.registry().records() {
            ends.extend(records.span(rx, *project)?);
        }
    }
    Ok((ends.iter().copied().min(), ends.into_iter().max()))
}

fn pinned(rx: &Rx<'_>) -> Result<u64, OpError> {
    let kinds = rx.registry().records().filter(|records| records.can_be_pinned());
    kinds
        .map(|records| {
            let count = format!("SELECT count(*) FROM {} WHERE pinned = 1", records.name());
            rx.sql(|db| db.prepare_cached(&count)?.query_row([], |row| row.cell::<u64>(0)))
        })
        .sum()
}

/// Bytes of all stored texts: of records and summaries, and each path once.
pub fn text_bytes(rx: &Rx<'_>) -> Result<u64, OpError> {
    let queries = rx.registry().iter().filter_map(Aggregate::text_bytes);
    queries
        .map(|query| {
            let bytes = format!("SELECT CAST(({query}) AS INTEGER)");
            rx.sql(|db| db.query_row(&bytes, [], |row| row.cell::<u64>(0)))
        })
        .sum()
}

/// Bytes of the tables that searches by words and by meaning use: passages with their embeddings, and
/// postings, in whole pages.
pub fn search_bytes(rx: &Rx<'_>) -> Result<u64, OpError> {
    const BYTES: &str = "SELECT coalesce(sum(pgsize), 0) FROM dbstat \
         WHERE aggregate = TRUE AND name IN ('passages', 'passages_by_doc', 'postings')";
    rx.sql(|db| db.query_row(BYTES, [], |row| row.cell(0)))
}

/// Bytes of the database, free pages included.
pub fn bytes(rx: &Rx<'_>) -> Result<u64, OpError> {
    rx.sql(|db| {
        let number = |pragma: &str| db.pragma_query_value(None, pragma, |row| row.cell::<u64>(0));
        Ok(number("page_count")?.saturating_mul(number("page_size")?))
    })
}
