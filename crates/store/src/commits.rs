//! Commits by their hash. Git prints an abbreviated hash to the agent, and people paste hashes of
//! any length: two hashes match if one is a prefix of the other.

pub(crate) mod hash;

use model::{OpError, limits};
use rusqlite::params;

pub use hash::is_hash;

use crate::cells::Cells as _;
use crate::search::{Conditions, Filter, Hit};
use crate::tx::Rx;

/// The expression of the index `observations_by_commit_hash`. SQLite uses the index only for a query with the identical
/// expression.
macro_rules! commit_hash {
    () => {
        "CASE WHEN json_valid(metadata) THEN json_extract(metadata, '$.commit_hash') END"
    };
}

pub(crate) const WITH_HASH: &str =
    concat!("SELECT id FROM observations WHERE kind = 'git_commit' AND ", commit_hash!(), " = ?1");
pub(crate) const BEGINNING: &str = concat!(
    "SELECT id FROM observations WHERE kind = 'git_commit' AND ",
    commit_hash!(),
    " > ?1 AND ",
    commit_hash!(),
    " < ?1 || 'g' LIMIT ?2"
);

/// The commits that this hash may mean and the filter matches, newest first. Their scores are not set.
pub fn by_hash(rx: &Rx<'_>, hash: &str, filter: &Filter<'_>) -> Result<Vec<Hit>, OpError> {
    if !is_hash(hash) {
        return Ok(Vec::new());
    }
    let hash = hash.to_ascii_lowercase();
    let ids: Vec<i64> = rx.sql(|db| {
        let mut found = Vec::new();
        let mut with = db.prepare_cached(WITH_HASH)?;
        // No character of a hash takes more than a byte.
        let known = (limits::COMMIT_HASH_CHARS_MIN..=hash.len()).filter_map(|end| hash.get(..end));
        for known in known {
            for id in with.query_map([known], |row| row.cell(0))? {
                found.push(id?);
            }
        }
        let mut longer = db.prepare_cached(BEGINNING)?;
        let given = params![hash, limits::SEARCH_MAX];
        for id in longer.query_map(given, |row| row.cell(0))? {
            found.push(id?);
        }
        Ok(found)
    })?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let documents = Conditions::of(rx, filter)?.documents(rx, ids.into_iter())?;
    let mut hits: Vec<Hit> = documents.into_values().collect();
    hits.sort_unstable_by_key(|hit| std::cmp::Reverse((hit.at, hit.id)));
    Ok(hits)
}
