//! How much is kept: counts over all aggregates, the first and the last moment, the size of the file.

use model::OpError;
use model::observation::ObsType;
use rusqlite::params;

use crate::cells::Cells as _;
use crate::tx::Rx;
use crate::{observations, projects, prompts, recent, sessions};

/// What is in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    /// The most frequent kind first; repeats that were folded count once.
    pub observations: Vec<(ObsType, u64)>,
    pub prompts: u64,
    pub sessions: u64,
    pub projects: u64,
    /// Observations, prompts and summaries.
    pub pinned: u64,
    /// Milliseconds since 1970, UTC, of the first and the last observation or prompt.
    pub oldest: Option<i64>,
    pub newest: Option<i64>,
    /// Bytes of the whole database.
    pub bytes: u64,
}

pub(crate) const FIRST_OF_KIND: &str =
    "SELECT min(at) FROM observations WHERE project = ?1 AND kind = ?2";
pub(crate) const LAST_OF_KIND: &str =
    "SELECT max(at) FROM observations WHERE project = ?1 AND kind = ?2";
pub(crate) const FIRST_PROMPT: &str = "SELECT min(at) FROM prompts WHERE project = ?1";
pub(crate) const LAST_PROMPT: &str = "SELECT max(at) FROM prompts WHERE project = ?1";

/// Counts everything.
pub fn totals(rx: &Rx<'_>) -> Result<Totals, OpError> {
    let ids = projects::ids(rx)?;
    let (oldest, newest) = span(rx, &ids)?;
    Ok(Totals {
        observations: observations::counts(rx, Some(&ids))?,
        prompts: prompts::count(rx)?,
        sessions: sessions::count(rx)?,
        projects: ids.len() as u64,
        pinned: pinned(rx)?,
        oldest,
        newest,
        bytes: bytes(rx)?,
    })
}

/// Of one project and one kind the index knows both ends, so that no row is read.
fn span(rx: &Rx<'_>, projects: &[i64]) -> Result<(Option<i64>, Option<i64>), OpError> {
    let (mut first, mut last): (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());
    for project in projects {
        let mut look = |sql: [&str; 2], given: &[&dyn rusqlite::ToSql]| {
            let [from, to] = sql.map(|sql| {
                rx.sql(|db| {
                    db.prepare_cached(sql)?.query_row(given, |row| row.cell::<Option<i64>>(0))
                })
            });
            first.extend(from?);
            last.extend(to?);
            Ok::<(), OpError>(())
        };
        look([FIRST_PROMPT, LAST_PROMPT], params![project])?;
        for (word, _) in recent::kinds(rx, *project)? {
            look([FIRST_OF_KIND, LAST_OF_KIND], params![project, word])?;
        }
    }
    Ok((first.into_iter().min(), last.into_iter().max()))
}

fn pinned(rx: &Rx<'_>) -> Result<u64, OpError> {
    const PINNED: &str = "SELECT (SELECT count(*) FROM observations WHERE pinned = 1) \
         + (SELECT count(*) FROM prompts WHERE pinned = 1) \
         + (SELECT count(*) FROM sessions WHERE pinned = 1)";
    rx.sql(|db| db.prepare_cached(PINNED)?.query_row([], |row| row.cell(0)))
}

/// Bytes of the texts that were kept: of observations, prompts and summaries, and each path once.
pub fn text_bytes(rx: &Rx<'_>) -> Result<u64, OpError> {
    const TEXTS: &str = "SELECT \
         (SELECT total(octet_length(content) + octet_length(coalesce(metadata, ''))) \
            FROM observations) \
         + (SELECT total(octet_length(content)) FROM prompts) \
         + (SELECT total(octet_length(summary)) FROM sessions) \
         + (SELECT total(octet_length(path)) FROM paths)";
    rx.sql(|db| db.query_row(&format!("SELECT CAST(({TEXTS}) AS INTEGER)"), [], |row| row.cell(0)))
}

/// Bytes of what finds records by any of their words and by meaning: passages with their vectors, and
/// postings, in whole pages.
pub fn search_bytes(rx: &Rx<'_>) -> Result<u64, OpError> {
    const BYTES: &str = "SELECT coalesce(sum(pgsize), 0) FROM dbstat \
         WHERE aggregate = TRUE AND name IN \
         ('passages', 'passages_by_doc', 'postings', 'packed_postings')";
    rx.sql(|db| db.query_row(BYTES, [], |row| row.cell(0)))
}

/// Bytes of the database, free pages included.
pub fn bytes(rx: &Rx<'_>) -> Result<u64, OpError> {
    rx.sql(|db| {
        let number = |pragma: &str| db.pragma_query_value(None, pragma, |row| row.cell::<u64>(0));
        Ok(number("page_count")?.saturating_mul(number("page_size")?))
    })
}
