//! Checks the full-text index and replaces it if it is damaged. All of it is derived from the records, so nothing
//! is lost with it.
//!
//! FTS5 notices damage inside a segment, but takes an index without segments for an empty one. That is why some
//! stored passages are looked up too.

use std::sync::atomic::Ordering;

use model::{OpError, limits};
use rusqlite::{Connection, OptionalExtension, params};

use crate::catalogue::Catalogue;
use crate::cells::Cells as _;
use crate::error::StoreError;
use crate::passages;
use crate::tx::{Rx, Tx};

/// The virtual table and the tables in which FTS5 stores it.
const VIRTUAL_TABLE: &str = "passage_fts";
const SHADOWS: [&str; 4] =
    ["passage_fts_data", "passage_fts_idx", "passage_fts_docsize", "passage_fts_config"];

/// Characters of a word that is looked up in the check.
const PROBE_CHARS: std::ops::RangeInclusive<usize> = 2..=64;

/// Whether a failed statement on the index says that the index itself is damaged: every other fault of the
/// database has an error code of its own.
pub(crate) fn is_index_fault(error: &rusqlite::Error) -> bool {
    StoreError::of(error).is_none()
}

/// Says what is wrong with the index; `None` if it is sound.
pub(crate) fn damage(db: &Connection) -> rusqlite::Result<Option<String>> {
    const SEGMENTS: &str = "PRAGMA quick_check(passage_fts)";
    told(|| match find(db)? {
        None => Ok(db.query_row(SEGMENTS, [], |row| row.cell(0)).optional()?.filter(is_finding)),
        found => Ok(found),
    })
}

/// Says what is wrong with the index, without its segments: a check of the whole database includes them.
pub(crate) fn damage_besides_segments(db: &Connection) -> rusqlite::Result<Option<String>> {
    told(|| find(db))
}

/// Takes an error of the index for damage.
fn told(
    find: impl FnOnce() -> rusqlite::Result<Option<String>>,
) -> rusqlite::Result<Option<String>> {
    match find() {
        Err(error) if is_index_fault(&error) => Ok(Some(error.to_string())),
        found => found,
    }
}

fn is_finding(line: &String) -> bool {
    line != "ok"
}

/// Whether a line of SQLite's check is about the index.
pub(crate) fn is_about_index(line: &str) -> bool {
    line.contains(" FTS5 table ")
}

fn find(db: &Connection) -> rusqlite::Result<Option<String>> {
    const LOOK: &str =
        "SELECT rowid FROM passage_fts WHERE passage_fts MATCH '\"rekindle\"' LIMIT 1";
    const VERSION: &str = "SELECT v FROM passage_fts_config WHERE k = 'version'";
    const COUNTS: &str = "SELECT (SELECT count(*) FROM passages), \
         (SELECT count(*) FROM passage_fts_docsize)";
    // A connection that has the table open does not read its version again.
    let version: Option<i64> = db.query_row(VERSION, [], |row| row.cell(0)).optional()?;
    if version.is_none_or(|version| !(4..=5).contains(&version)) {
        return Ok(Some("its version is missing or unknown".to_owned()));
    }
    db.query_row(LOOK, [], |_| Ok(())).optional()?;
    let (passages, known): (u64, u64) =
        db.query_row(COUNTS, [], |row| Ok((row.cell(0)?, row.cell(1)?)))?;
    if passages != known {
        return Ok(Some(format!("it has {known} of {passages} passages")));
    }
    let (probed, missed) = probe(db)?;
    Ok((missed * 2 > probed).then(|| format!("{missed} of {probed} checked passages are missing")))
}

/// Looks up the first word of some documents, spread over the whole index. Returns how many, and how many of them
/// were not found.
fn probe(db: &Connection) -> rusqlite::Result<(usize, usize)> {
    const ENDS: &str = "SELECT min(id), max(id) FROM passages";
    const DOC: &str = "SELECT doc FROM passages WHERE id >= ?1 ORDER BY id LIMIT 1";
    const FIRST: &str = "SELECT min(id) FROM passages WHERE doc = ?1 \
         AND NOT EXISTS (SELECT 1 FROM unindexed WHERE unindexed.doc = ?1)";
    const HAS: &str = "SELECT EXISTS (SELECT 1 FROM passage_fts WHERE passage_fts MATCH ?1 \
         AND rowid = ?2)";
    let ends = db.query_row(ENDS, [], |row| Ok((row.cell(0)?, row.cell(1)?)))?;
    let (Some(first), Some(last)): (Option<i64>, Option<i64>) = ends else { return Ok((0, 0)) };
    let catalogue = Catalogue::default();
    let rx = Rx::new(db, &catalogue);
    let (mut probed, mut missed) = (0, 0);
    let steps = limits::INDEX_PROBES - 1;
    for step in 0..=steps {
        let from = first.saturating_add(last.saturating_sub(first) / steps * step);
        let doc: Option<i64> =
            db.prepare_cached(DOC)?.query_row([from], |row| row.cell(0)).optional()?;
        let Some(doc) = doc else { continue };
        let passage: Option<i64> = db.prepare_cached(FIRST)?.query_row([doc], |row| row.cell(0))?;
        // A record that cannot be read is reported elsewhere.
        let body = passages::text(&rx, doc).ok().flatten().unwrap_or_default();
        let (Some(passage), Some(word)) = (passage, probe_word(&body)) else { continue };
        let given = params![format!("\"{word}\""), passage];
        let found: bool = db.prepare_cached(HAS)?.query_row(given, |row| row.cell(0))?;
        probed += 1;
        missed += usize::from(!found);
    }
    Ok((probed, missed))
}

/// The first word of a text if every tokenizer splits it off at the blanks around it.
fn probe_word(body: &str) -> Option<&str> {
    let word = body.split_whitespace().next()?;
    let plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./:".contains(&byte));
    let has_token = word.bytes().any(|byte| byte.is_ascii_alphanumeric());
    (plain && has_token && PROBE_CHARS.contains(&word.len())).then_some(word)
}

/// Checks the index and replaces it if it is damaged. Returns what was wrong.
pub fn mend(tx: &Tx<'_>) -> Result<Option<String>, OpError> {
    let damage = tx.sql(damage)?;
    if damage.is_some() {
        rebuild_damaged(tx)?;
    }
    Ok(damage)
}

/// Replaces the index because a statement failed on it. Refuses after several times in one process: then a rebuild
/// does not help, and would be repeated for ever.
pub(crate) fn rebuild_damaged(tx: &Tx<'_>) -> Result<(), OpError> {
    let max = limits::INDEX_REBUILDS_MAX;
    if tx.memo().index_rebuilds.fetch_add(1, Ordering::Relaxed) >= max {
        return Err(OpError::internal(format!(
            "the full-text index is damaged again after {max} rebuilds"
        ))
        .with("max", max)
        .hint("Restart the daemon with `rekindle stop`; if it stays, `rekindle backup` and `rekindle restore` make a new file."));
    }
    passages::rebuild(tx)
}

/// Runs statements on the index. `None` if they fail because it is damaged.
pub(crate) fn unless_damaged<T>(
    tx: &Tx<'_>,
    f: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> Result<Option<T>, OpError> {
    tx.sql(|db| match f(db) {
        Err(error) if is_index_fault(&error) => Ok(None),
        done => done.map(Some),
    })
}

/// Empties the full-text index. If FTS5 cannot open or empty it, its tables are dropped; the schema creates them
/// again.
pub(crate) fn empty(db: &Connection) -> rusqlite::Result<()> {
    const DELETE_ALL: &str = "INSERT INTO passage_fts (passage_fts) VALUES ('delete-all')";
    const VERSION: &str = "SELECT EXISTS (SELECT 1 FROM passage_fts_config \
         WHERE k = 'version' AND v BETWEEN 4 AND 5)";
    let emptied = db
        .query_row(VERSION, [], |row| row.cell::<bool>(0))
        .and_then(|known| if known { db.execute(DELETE_ALL, []).map(|_| true) } else { Ok(false) });
    match emptied {
        Ok(true) => Ok(()),
        Err(error) if !is_index_fault(&error) => Err(error),
        _ => drop_tables(db),
    }
}

/// Drops the tables of the index one by one: `DROP TABLE` of the virtual table would open it first.
fn drop_tables(db: &Connection) -> rusqlite::Result<()> {
    for shadow in SHADOWS {
        db.execute_batch(&format!("DROP TABLE IF EXISTS {shadow}"))?;
    }
    db.execute_batch(&format!(
        "PRAGMA writable_schema = ON; \
         DELETE FROM sqlite_schema WHERE type = 'table' AND name = '{VIRTUAL_TABLE}'; \
         PRAGMA writable_schema = RESET;"
    ))
}
