//! Checks the index of passages (the full-text index, the postings and the passages themselves) and replaces it if
//! it is damaged. All of it is derived from the records, so nothing is lost with it.
//!
//! FTS5 notices damage inside a segment, but takes an index without segments for an empty one, and nothing
//! notices a lost row of the postings. That is why some documents are looked up too, with all their words.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use index::IdSet;
use model::{OpError, limits};
use rusqlite::{Connection, OptionalExtension, params};

use crate::aggregate::{Records, Registry};
use crate::catalogue::Catalogue;
use crate::cells::Cells as _;
use crate::error::StoreError;
use crate::passages;
use crate::postings::soundness;
use crate::tx::{Rx, Tx};

/// The virtual table and the tables in which FTS5 stores it.
const VIRTUAL_TABLE: &str = "passage_fts";
const SHADOWS: [&str; 4] =
    ["passage_fts_data", "passage_fts_idx", "passage_fts_docsize", "passage_fts_config"];

/// Characters of a word that is looked up in the check.
const PROBE_CHARS: std::ops::RangeInclusive<usize> = 2..=64;

/// Whether the error of a statement on the index means that the index itself is damaged: every other fault of
/// the database has an error code of its own.
pub(crate) fn is_index_fault(error: &rusqlite::Error) -> bool {
    StoreError::of(error).is_none()
}

/// Describes the damage to the index, after a check of all posting lists and segments; `None` if it is sound.
pub(crate) fn damage(db: &Connection, registry: &Registry) -> rusqlite::Result<Option<String>> {
    const SEGMENTS: &str = "PRAGMA quick_check(passage_fts)";
    told(|| {
        if let Some(found) = find(db, registry)? {
            return Ok(Some(found));
        }
        if let Some(found) = unsound_postings(db)? {
            return Ok(Some(found));
        }
        Ok(db.query_row(SEGMENTS, [], |row| row.cell(0)).optional()?.filter(is_finding))
    })
}

/// Describes the damage to the index that a few lookups and the rows of its passages show. The segments of the
/// full-text index are left to the check of the whole database, which includes them.
pub(crate) fn damage_besides_segments(
    db: &Connection,
    registry: &Registry,
) -> rusqlite::Result<Option<String>> {
    told(|| find(db, registry))
}

/// Reports an error of the index as damage.
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

/// Whether a line of SQLite's check is about the index: `malformed inverted index for FTS5 table …`, or what FTS5 met
/// while it read, such as `fts5: corruption found reading blob …`.
pub(crate) fn is_about_index(line: &str) -> bool {
    line.contains(" FTS5 table ") || line.starts_with("fts5: ")
}

fn find(db: &Connection, registry: &Registry) -> rusqlite::Result<Option<String>> {
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
    if let Some(found) = misnumbered(db)? {
        return Ok(Some(found));
    }
    let catalogue = Catalogue::default();
    let rx = Rx::new(db, &catalogue, registry);
    match probe(db, &rx)? {
        None => misfiled(db, &rx),
        found => Ok(found),
    }
}

/// Names a record whose passages have another session, project or kind than the record, so a filtered search may miss
/// it. Reads all passages: about 1 µs for each.
fn misfiled(db: &Connection, rx: &Rx<'_>) -> rusqlite::Result<Option<String>> {
    // A damaged record is indexed with fallback values, so the records found here are compared once more with these
    // values.
    let as_filed = |kind: &dyn Records| {
        let session = if kind.in_session() { "coalesce(d.session, 0)" } else { "0" };
        format!(
            "NOT EXISTS (SELECT 1 FROM ({}) d WHERE d.id = p.doc AND p.session = {session} \
             AND d.project = p.project AND d.kind = p.kind)",
            kind.documents()
        )
    };
    let nowhere: Vec<String> = rx.registry().records().map(as_filed).collect();
    let different = format!("SELECT DISTINCT doc FROM passages p WHERE {}", nowhere.join(" AND "));
    let mut select = db.prepare_cached(&different)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let doc = row.cell(0)?;
        if let Ok(false) = passages::are_filed(rx, doc) {
            let what = "another session, project or type";
            return Ok(Some(format!("it has record {doc} under {what}")));
        }
    }
    Ok(None)
}

/// Whether the numbers of new passages would exceed [`limits::RECORD_NUMBER_MAX`].
pub(crate) fn is_out_of_numbers(db: &Connection) -> rusqlite::Result<bool> {
    const BEYOND: &str = "SELECT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'passages' \
         AND seq >= ?1) OR EXISTS (SELECT 1 FROM passages WHERE id >= ?1)";
    db.prepare_cached(BEYOND)?.query_row([limits::RECORD_NUMBER_MAX], |row| row.cell(0))
}

/// Says which numbers of passages or blocks cannot be right.
fn misnumbered(db: &Connection) -> rusqlite::Result<Option<String>> {
    const LAST: &str = "SELECT coalesce((SELECT min(id) FROM passages), 1), \
         coalesce((SELECT max(id) FROM passages), 0), (SELECT count(*) FROM passages), \
         coalesce((SELECT max(id) FROM removed_passages), 0), \
         coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'passages'), 0)";
    const GAP: &str = "SELECT EXISTS (SELECT 1 FROM \
         (SELECT id - lag(id, 1, 0) OVER (ORDER BY id) AS gap FROM passages) WHERE gap > ?1)";
    let (first, last, count, removed, sequence): (i64, i64, i64, i64, i64) =
        db.query_row(LAST, [], |row| {
            Ok((row.cell(0)?, row.cell(1)?, row.cell(2)?, row.cell(3)?, row.cell(4)?))
        })?;
    let end = last.max(removed);
    if first < 1 || end > limits::RECORD_NUMBER_MAX {
        return Ok(Some(format!("its passages have the numbers {first} to {end}")));
    }
    if soundness::are_beyond(db, usize::try_from(end).unwrap_or_default())? {
        return Ok(Some("it has lists of words of passages that do not exist".to_owned()));
    }
    if sequence > end.saturating_add(limits::PASSAGE_GAP_MAX) {
        return Ok(Some(format!("its next passage would have the number {sequence}")));
    }
    if last > count.saturating_add(limits::PASSAGE_GAP_MAX)
        && db.query_row(GAP, [limits::PASSAGE_GAP_MAX], |row| row.cell(0))?
    {
        return Ok(Some(format!("it has {count} passages with numbers up to {last}")));
    }
    Ok(None)
}

/// Reads all postings: each list has to be well-formed and to lead to passages that exist, or that were removed
/// since the last rewrite.
fn unsound_postings(db: &Connection) -> rusqlite::Result<Option<String>> {
    const KNOWN: &str = "SELECT id FROM passages UNION ALL SELECT id FROM removed_passages";
    let mut known = IdSet::default();
    let mut select = db.prepare(KNOWN)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.cell(0)?;
        if !(0..=limits::RECORD_NUMBER_MAX).contains(&id) {
            return Ok(Some(format!("a passage has the number {id}")));
        }
        known.add(id);
    }
    let is_known = |id: usize| i64::try_from(id).is_ok_and(|id| known.has(id));
    let sound = soundness::are_sound(db, &is_known)?;
    Ok((!sound).then(|| "a list of the passages with a word is damaged".to_owned()))
}

/// Looks up some documents. For at least half of them, the first word has to be in the full-text index; all words of
/// their first passages have to be in the postings.
fn probe(db: &Connection, rx: &Rx<'_>) -> rusqlite::Result<Option<String>> {
    const FIRST: &str = "SELECT min(id) FROM passages WHERE doc = ?1 \
         AND NOT EXISTS (SELECT 1 FROM unindexed WHERE unindexed.doc = ?1)";
    const HAS: &str = "SELECT EXISTS (SELECT 1 FROM passage_fts WHERE passage_fts MATCH ?1 \
         AND rowid = ?2)";
    let docs = sample(db)?;
    // All in one go: a frequent word is looked up once.
    if let Ok(false) = passages::are_posted(rx, &docs, limits::INDEX_PROBE_PASSAGES) {
        return Ok(Some("it lacks words of records".to_owned()));
    }
    let (mut probed, mut missed) = (0, 0);
    for doc in docs {
        let passage: Option<i64> = db.prepare_cached(FIRST)?.query_row([doc], |row| row.cell(0))?;
        let body = passages::text(rx, doc).ok().flatten().unwrap_or_default();
        let (Some(passage), Some(word)) = (passage, probe_word(&body)) else { continue };
        let given = params![format!("\"{word}\""), passage];
        let found: bool = db.prepare_cached(HAS)?.query_row(given, |row| row.cell(0))?;
        probed += 1;
        missed += usize::from(!found);
    }
    Ok((missed * 2 > probed).then(|| format!("{missed} of {probed} checked passages are missing")))
}

/// Documents of the index: half of them spread evenly over it, the others at random.
fn sample(db: &Connection) -> rusqlite::Result<Vec<i64>> {
    const ENDS: &str = "SELECT min(id), max(id) FROM passages";
    const DOC: &str = "SELECT doc FROM passages WHERE id >= ?1 ORDER BY id LIMIT 1";
    const RANDOM: &str = "SELECT ?1 + abs(random() % ?2)";
    let ends = db.query_row(ENDS, [], |row| Ok((row.cell(0)?, row.cell(1)?)))?;
    let mut docs = BTreeSet::new();
    let (Some(first), Some(last)): (Option<i64>, Option<i64>) = ends else { return Ok(Vec::new()) };
    let length = last.saturating_sub(first);
    let half = limits::INDEX_PROBES / 2;
    for step in 0..half {
        let spread = first.saturating_add(length.saturating_mul(step) / (half - 1));
        let given = [first, length.saturating_add(1)];
        let random = db.prepare_cached(RANDOM)?.query_row(given, |row| row.cell(0))?;
        for from in [spread, random] {
            let mut select = db.prepare_cached(DOC)?;
            docs.extend(select.query_row([from], |row| row.cell::<i64>(0)).optional()?);
        }
    }
    Ok(docs.into_iter().collect())
}

/// The first word of a text if every tokenizer splits it off at the blanks around it.
fn probe_word(body: &str) -> Option<&str> {
    let word = body.split_whitespace().next()?;
    let plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./:".contains(&byte));
    let has_token = word.bytes().any(|byte| byte.is_ascii_alphanumeric());
    (plain && has_token && PROBE_CHARS.contains(&word.len())).then_some(word)
}

/// Checks the index and replaces it if it is damaged, unless this process has replaced it several times: the next
/// write that needs the index then fails and says so. Returns the damage.
pub fn mend(tx: &Tx<'_>) -> Result<Option<String>, OpError> {
    let damage = tx.sql(|db| damage(db, tx.registry()))?;
    let rebuilds = tx.facts().index_rebuilds.load(Ordering::Relaxed);
    if damage.is_some() && rebuilds < limits::INDEX_REBUILDS_MAX {
        rebuild_damaged(tx)?;
    }
    Ok(damage)
}

/// Replaces the index because a statement failed on it. Refuses after several times in one process: then a rebuild
/// does not help, and would be repeated for ever.
pub(crate) fn rebuild_damaged(tx: &Tx<'_>) -> Result<(), OpError> {
    let max = limits::INDEX_REBUILDS_MAX;
    if tx.facts().index_rebuilds.fetch_add(1, Ordering::Relaxed) >= max {
        return Err(OpError::internal(format!(
            "the full-text index is damaged again after {max} rebuilds"
        ))
        .with("max", max)
        .hint("Run `rekindle stop`, then try again. If it is damaged again, `rekindle backup` and `rekindle restore` of that file make a new database."));
    }
    passages::rebuild(tx)
}

/// Runs a query on the index. `None` if it fails because the index is damaged: a search then continues with its
/// other ways of finding documents, and the damage is repaired later.
pub(crate) fn read_index<T>(
    rx: &Rx<'_>,
    f: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> Result<Option<T>, OpError> {
    let read = unless_damaged(rx, f)?;
    if read.is_none() {
        rx.note_damaged_index();
    }
    Ok(read)
}

/// Runs statements on the index. `None` if they fail because it is damaged.
pub(crate) fn unless_damaged<T>(
    rx: &Rx<'_>,
    f: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> Result<Option<T>, OpError> {
    rx.sql(|db| match f(db) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_of_the_full_text_index_is_no_damage_of_the_database() {
        let table = [
            ("malformed inverted index for FTS5 table main.passage_fts", true),
            ("fts5: corruption found reading blob 412316860417 from table \"passage_fts\"", true),
            ("Tree 12 page 40: btreeInitPage() returns error code 11", false),
            ("row 7 missing from index observations_by_time", false),
        ];
        for (line, expected) in table {
            assert_eq!(is_about_index(line), expected, "{line}");
        }
    }
}
