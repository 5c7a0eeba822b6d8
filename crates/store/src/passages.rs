//! The full-text index: documents are split into passages, which searches find. [`crate::search`] reads it.
//!
//! A write only notes which documents are unindexed. They are indexed in transactions of their own:
//! when the writer is idle, and before a search ([`crate::Store::catch_up`]). So no event waits for
//! the index, and a search finds it up to date. Deleted documents leave the index at once.

use meaning::Vector;
use model::event::Event;
use model::observation::ObsType;
use model::{OpError, limits};
use rusqlite::{Connection, Params, Row, params};
use serde_json::Value;
use text::terms::Terms;
use text::words;

use crate::aggregate::{Aggregate, Document};
use crate::cells::Cells as _;
use crate::index_state::{IndexState, MERGE};
use crate::table_info::{TableInfo, TableRole, WordColumn};
use crate::tx::{Rx, Tx};
use crate::{index_health, postings};

/// The row of the registry.
pub(crate) struct PassageIndex;

impl Aggregate for PassageIndex {
    fn name(&self) -> &'static str {
        "passages"
    }

    fn schema(&self) -> &'static str {
        SCHEMA
    }

    fn tables(&self) -> &'static [TableInfo] {
        const fn derived(name: &'static str) -> TableInfo {
            TableInfo { name, role: TableRole::Derived, ..TableInfo::PLAIN }
        }
        const KIND: WordColumn = WordColumn {
            name: "kind",
            knows: |word| ObsType::parse(word).is_some(),
            fallback: "tool_other",
        };
        const TABLES: &[TableInfo] = &[
            TableInfo { words: &[KIND], is_indexed: true, ..derived("passages") },
            derived("passage_changes"),
            derived("removed_passages"),
            derived("unindexed"),
        ];
        TABLES
    }
}

const NOTE: &str = "INSERT INTO unindexed (doc, known) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
const FORGET_NOTE: &str = "DELETE FROM unindexed WHERE doc = ?1";
const WAITING: &str = "SELECT doc, known FROM unindexed ORDER BY doc LIMIT ?1";
pub(crate) const FORGET: &str = "DELETE FROM passages WHERE doc = ?1 RETURNING id";
const ADD: &str = "INSERT INTO passages (doc, session, project, at, kind, length, words, vector) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
const ADD_WORDS: &str = "INSERT INTO passage_fts (rowid, body, parts) VALUES (?1, ?2, ?3)";
const REMOVE_WORDS: &str = "DELETE FROM passage_fts WHERE rowid = ?1";
const REMOVED: &str = "INSERT INTO removed_passages (id) VALUES (?1) ON CONFLICT DO NOTHING";
const OPTIMIZE: &str = "INSERT INTO passage_fts (passage_fts) VALUES ('optimize')";
const SCHEMA: &str = include_str!("schema/passages.sql");
/// Empties the index and notes all documents. `OR IGNORE`, because damage may have given two records the same id.
const REMOVE_ALL: &str = "DROP TABLE passages; DELETE FROM unindexed; DELETE FROM postings; \
     DROP TABLE IF EXISTS packed_postings; DELETE FROM removed_passages; \
     INSERT OR IGNORE INTO unindexed (doc, known) SELECT id, 0 FROM documents;";

/// Notes a document that is new.
pub(crate) fn add(tx: &Tx<'_>, doc: i64) -> Result<(), OpError> {
    note(tx, doc, false)
}

/// Notes that a document has other words than before.
pub(crate) fn changed(tx: &Tx<'_>, doc: i64) -> Result<(), OpError> {
    note(tx, doc, true)
}

fn note(tx: &Tx<'_>, doc: i64, known: bool) -> Result<(), OpError> {
    if known {
        forget_verdicts(tx, doc);
    }
    tx.defer(|index: &mut IndexState| index.noted += 1);
    tx.sql(|db| db.prepare_cached(NOTE)?.execute(params![doc, known]).map(drop))
}

/// Forgets the verdicts on the text of a document once this is committed.
fn forget_verdicts(tx: &Tx<'_>, doc: i64) {
    let catalogue = tx.facts().catalogue.clone();
    tx.after_commit(Box::new(move || catalogue.verdicts.forget(doc)));
}

/// Notes that a document has other words than before, and removes the old ones from the index at once,
/// so that no search finds them until the document is indexed again.
pub(crate) fn renewed(tx: &Tx<'_>, doc: i64) -> Result<(), OpError> {
    remove(tx, doc)?;
    add(tx, doc)
}

/// Runs a statement that replaces the texts of a document, and marks it for indexing. `None` if there is no such row;
/// false if the row is too damaged to change.
pub(crate) fn replaced(
    tx: &Tx<'_>,
    doc: i64,
    statement: &str,
    given: impl Params,
) -> Result<Option<bool>, OpError> {
    match tx.sql_on_row(|db| db.prepare_cached(statement)?.execute(given))? {
        None => Ok(Some(false)),
        Some(0) => Ok(None),
        Some(_) => renewed(tx, doc).map(|()| Some(true)),
    }
}

/// Removes a document from the index, so that no search finds it. Its words stay in the file until
/// [`optimize`].
pub(crate) fn remove(tx: &Tx<'_>, doc: i64) -> Result<(), OpError> {
    forget_verdicts(tx, doc);
    tx.sql(|db| db.prepare_cached(FORGET_NOTE)?.execute([doc]))?;
    take_out(tx, doc).map(drop)
}

/// Removes a document's passages. Returns false if the index was damaged and is empty now.
fn take_out(tx: &Tx<'_>, doc: i64) -> Result<bool, OpError> {
    let gone: Vec<usize> = tx.sql(|db| {
        let mut forget = db.prepare_cached(FORGET)?;
        let gone: Vec<usize> =
            forget.query_map([doc], |row| row.cell(0))?.collect::<rusqlite::Result<_>>()?;
        for passage in &gone {
            db.prepare_cached(REMOVED)?.execute([passage])?;
        }
        Ok(gone)
    })?;
    let removed = index_health::unless_damaged(tx, |db| {
        let mut remove = db.prepare_cached(REMOVE_WORDS)?;
        gone.iter().try_for_each(|passage| remove.execute([passage]).map(drop))
    })?;
    if removed.is_none() {
        return index_health::rebuild_damaged(tx).map(|()| false);
    }
    if !gone.is_empty() {
        let catalogue = tx.facts().catalogue.clone();
        tx.after_commit(Box::new(move || catalogue.remove(&gone)));
    }
    Ok(true)
}

/// Whether the index has all passages of these documents with all their words, in the blocks where a removal
/// expects them. Unindexed documents are skipped; of each of the others, at most `most` passages are looked
/// up.
pub(crate) fn are_posted(rx: &Rx<'_>, docs: &[i64], most: usize) -> Result<bool, OpError> {
    const WAITS: &str = "SELECT EXISTS (SELECT 1 FROM unindexed WHERE doc = ?1)";
    const OF_DOC: &str = "SELECT id FROM passages WHERE doc = ?1 ORDER BY id";
    for docs in docs.chunks(limits::INDEX_BATCH) {
        let mut batch = postings::Batch::default();
        for doc in docs {
            if rx.sql(|db| db.prepare_cached(WAITS)?.query_row([doc], |row| row.cell(0)))? {
                continue;
            }
            let ids: Vec<usize> = rx.sql(|db| {
                db.prepare_cached(OF_DOC)?.query_map([doc], |row| row.cell(0))?.collect()
            })?;
            // A record that cannot be read is reported elsewhere.
            let Ok(document) = rx.registry().document(rx, *doc) else { continue };
            let pieces: Vec<&str> = document.iter().flat_map(Document::passages).collect();
            if ids.len() != pieces.len() {
                return Ok(false);
            }
            for (id, piece) in ids.into_iter().zip(pieces).take(most) {
                batch.add(id, Terms::of(piece, &words::hidden_words(piece)));
            }
        }
        if index_health::unless_damaged(rx, |db| batch.is_stored(db))? != Some(true) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the passages of a document name its session, project and kind, which a search filters by. True for a
/// document that is unindexed or cannot be read.
pub(crate) fn are_filed(rx: &Rx<'_>, doc: i64) -> Result<bool, OpError> {
    const STRAY: &str = "SELECT EXISTS (SELECT 1 FROM passages WHERE doc = ?1 \
         AND (?2 IS NULL OR session IS NOT ?2 OR project IS NOT ?3 OR kind IS NOT ?4)) \
         AND NOT EXISTS (SELECT 1 FROM unindexed WHERE doc = ?1)";
    // A record that cannot be read is reported elsewhere.
    let Ok(document) = rx.registry().document(rx, doc) else { return Ok(true) };
    let (session, project, kind) = match document {
        Some(Document { session, project, kind, .. }) => (Some(session), Some(project), Some(kind)),
        None => (None, None, None),
    };
    let given = params![doc, session, project, kind];
    let is_stray: bool =
        rx.sql(|db| db.prepare_cached(STRAY)?.query_row(given, |row| row.cell(0)))?;
    Ok(!is_stray)
}

/// Prepares the removal of these documents' words: rebuilds the index if it lacks some of them where a removal
/// expects them. Otherwise a damaged index could keep them at another place.
pub fn ensure_posted(tx: &Tx<'_>, docs: &[i64]) -> Result<(), OpError> {
    if are_posted(tx, docs, usize::MAX)? { Ok(()) } else { rebuild(tx) }
}

/// Brings the index up to date and rewrites it without the words of removed or changed documents. A damaged index
/// is rebuilt first; returns whether it was.
pub fn optimize(tx: &Tx<'_>) -> Result<bool, OpError> {
    let damaged = index_health::mend(tx)?.is_some();
    while index(tx)? {}
    if index_health::unless_damaged(tx, |db| wiping(db, rewrite))?.is_some() {
        return Ok(damaged);
    }
    index_health::rebuild_damaged(tx)?;
    while index(tx)? {}
    tx.sql(|db| wiping(db, rewrite)).map(|()| true)
}

/// Runs `work` with `secure_delete` on, so that SQLite overwrites the data that it deletes.
fn wiping<T>(
    db: &Connection,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    db.pragma_update(None, "secure_delete", true)?;
    let done = work(db);
    db.pragma_update(None, "secure_delete", false)?;
    done
}

fn rewrite(db: &Connection) -> rusqlite::Result<()> {
    let gone: Vec<usize> = db
        .prepare_cached("SELECT id FROM removed_passages ORDER BY id")?
        .query_map([], |row| row.cell(0))?
        .collect::<rusqlite::Result<_>>()?;
    postings::take_out(db, &gone)?;
    db.execute("DELETE FROM removed_passages", [])?;
    db.execute(OPTIMIZE, []).map(drop)
}

/// How many passages there are in the index.
pub fn count(rx: &Rx<'_>) -> Result<u64, OpError> {
    const COUNT: &str = "SELECT count(*) FROM passages";
    rx.sql(|db| db.prepare_cached(COUNT)?.query_row([], |row| row.cell(0)))
}

/// The searchable text of a document; none if it is deleted or not searchable.
pub fn text(rx: &Rx<'_>, doc: i64) -> Result<Option<String>, OpError> {
    Ok(rx.registry().document(rx, doc)?.map(Document::whole))
}

pub(crate) const VECTORS: &str =
    "SELECT vector FROM passages WHERE doc = ?1 AND vector IS NOT NULL ORDER BY id LIMIT ?2";

/// The cosine of the two passages of two documents that are nearest to each other; 0 if it is not known. Only
/// the first passages of each are read, by index: a briefing cannot wait for the catalogue.
pub fn cosine(rx: &Rx<'_>, a: i64, b: i64) -> Result<f64, OpError> {
    let vectors = |doc: i64| -> Result<Vec<Vector>, OpError> {
        let given = params![doc, limits::COMPARED_PASSAGES_MAX];
        let read = |row: &Row<'_>| row.blob(0).map(Vector::from_bytes);
        let found: Vec<Option<Vector>> =
            rx.sql(|db| db.prepare_cached(VECTORS)?.query_map(given, read)?.collect())?;
        Ok(found.into_iter().flatten().collect())
    };
    let (a, b) = (vectors(a)?, vectors(b)?);
    let cosines = a.iter().flat_map(|a| b.iter().map(|b| f64::from(meaning::cosine(a, b))));
    Ok(cosines.fold(0.0, f64::max))
}

/// The number of projects whose records have this stem. For a frequent stem, only the newest passages are
/// counted.
pub fn projects_with(rx: &Rx<'_>, stem: &str) -> Result<usize, OpError> {
    const END: &str = "SELECT min(coalesce(max(id), 0), ?1) + 1 FROM passages";
    const PROJECTS: &str = "SELECT count(DISTINCT project) FROM passages \
         WHERE id IN (SELECT value FROM json_each(?1))";
    rx.sql(|db| {
        let most = limits::RECORD_NUMBER_MAX;
        let end = db.prepare_cached(END)?.query_row([most], |row| row.cell(0))?;
        let lists = postings::of_term(db, postings::blocks(end), stem)?;
        let mut having: Vec<usize> = lists.entries().map(|(passage, _)| passage).collect();
        having.sort_unstable_by(|a, b| b.cmp(a));
        having.truncate(limits::SPREAD_PASSAGES_MAX);
        let list = Value::from(having).to_string();
        db.prepare_cached(PROJECTS)?.query_row([list], |row| row.cell(0))
    })
}

/// Whether there are unindexed documents.
pub(crate) fn is_behind(tx: &Tx<'_>) -> Result<bool, OpError> {
    const ANY: &str = "SELECT EXISTS (SELECT 1 FROM unindexed)";
    tx.sql(|db| db.prepare_cached(ANY)?.query_row([], |row| row.cell(0)))
}

/// The number of unindexed documents.
pub fn waiting(rx: &Rx<'_>) -> Result<u64, OpError> {
    const COUNT: &str = "SELECT count(*) FROM unindexed";
    rx.sql(|db| db.prepare_cached(COUNT)?.query_row([], |row| row.cell(0)))
}

/// Whether passages lack their embedding although embeddings are enabled.
pub(crate) fn is_bare(tx: &Tx<'_>) -> Result<bool, OpError> {
    const ANY: &str = "SELECT ?1 AND EXISTS (SELECT 1 FROM passages WHERE vector IS NULL)";
    let meaning = tx.facts().meaning;
    tx.sql(|db| db.prepare_cached(ANY)?.query_row([meaning], |row| row.cell(0)))
}

/// Whether the index is one of a build that stored passages or postings differently.
pub(crate) fn is_old(rx: &Rx<'_>) -> Result<bool, OpError> {
    const OLD: &str = "SELECT NOT EXISTS (SELECT 1 FROM pragma_table_info('passages') WHERE name = 'at') \
         OR EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'packed_postings')";
    rx.sql(|db| db.query_row(OLD, [], |row| row.cell(0)))
}

/// Whether there are passages but no postings at all: their table was lost, and opening the database created an
/// empty one.
pub(crate) fn lost_postings(rx: &Rx<'_>) -> Result<bool, OpError> {
    const LOST: &str = "SELECT EXISTS (SELECT 1 FROM passages WHERE length > 0) \
         AND NOT EXISTS (SELECT 1 FROM postings)";
    rx.sql(|db| db.query_row(LOST, [], |row| row.cell(0)))
}

/// Empties the index and marks every document as unindexed.
pub fn rebuild(tx: &Tx<'_>) -> Result<(), OpError> {
    tx.defer(|index: &mut IndexState| index.noted += 1);
    tx.sql(|db| {
        index_health::empty(db)?;
        // Tables that are missing are created, so that all can be emptied.
        db.execute_batch(SCHEMA)?;
        db.execute_batch(REMOVE_ALL)?;
        db.execute_batch(SCHEMA)?;
        db.execute_batch(MERGE)
    })?;
    tx.note(Event::new("index/emptied", "index://passages".to_owned()))?;
    altered(tx)
}

/// Marks the passages as changed, so that cached copies of them are read again.
fn altered(tx: &Tx<'_>) -> Result<(), OpError> {
    const ALTERED: &str = "INSERT INTO passage_changes (id, count) VALUES (1, 1) \
         ON CONFLICT DO UPDATE SET count = count + 1";
    tx.sql(|db| db.prepare_cached(ALTERED)?.execute([]).map(drop))
}

/// Assigns the passages of one project to another.
pub(crate) fn merged(tx: &Tx<'_>, from: i64, into: i64) -> Result<(), OpError> {
    const MERGE_INTO: &str = "UPDATE passages SET project = ?2 WHERE project = ?1";
    tx.sql(|db| db.execute(MERGE_INTO, [from, into]))?;
    moved(tx, into)
}

/// Assigns to a project the passages of all records that now belong to it, after sessions moved between projects.
pub(crate) fn moved(tx: &Tx<'_>, project: i64) -> Result<(), OpError> {
    const MOVE: &str = "UPDATE passages SET project = ?1 WHERE project <> ?1 AND (EXISTS \
         (SELECT 1 FROM sessions WHERE id IN (session, doc) AND project = ?1) \
         OR (session = 0 AND EXISTS (SELECT 1 FROM documents WHERE id = doc AND project = ?1)))";
    tx.sql(|db| db.execute(MOVE, [project]))?;
    altered(tx)
}

/// Indexes a batch of unindexed documents, or else computes a batch of missing embeddings. Returns whether
/// there is more to do.
pub(crate) fn catch_up(tx: &Tx<'_>) -> Result<bool, OpError> {
    Ok(index(tx)? || (tx.facts().meaning && work_out(tx)?))
}

/// The unindexed documents, newest first, at most [`limits::UNINDEXED_MAX`]. A search that cannot
/// wait for the index scans their texts.
pub(crate) fn unindexed(rx: &Rx<'_>) -> Result<Vec<i64>, OpError> {
    const NEWEST: &str = "SELECT doc FROM unindexed ORDER BY doc DESC LIMIT ?1";
    let most = limits::UNINDEXED_MAX;
    rx.sql(|db| db.prepare_cached(NEWEST)?.query_map([most], |row| row.cell(0))?.collect())
}

/// Indexes a batch of unindexed documents. Returns whether there are more.
pub(crate) fn index(tx: &Tx<'_>) -> Result<bool, OpError> {
    let most = limits::INDEX_BATCH;
    let waiting: Vec<(i64, bool)> = tx.sql(|db| {
        let mut select = db.prepare_cached(WAITING)?;
        select.query_map([most], |row| Ok((row.cell(0)?, row.cell(1)?)))?.collect()
    })?;
    if !waiting.is_empty() && tx.sql(index_health::is_out_of_numbers)? {
        index_health::rebuild_damaged(tx)?;
        return Ok(true);
    }
    let mut batch = postings::Batch::default();
    let mut done = 0;
    for (doc, known) in &waiting {
        if done >= limits::INDEX_BATCH_BESIDE && tx.facts().foreground.has_hook() {
            break;
        }
        done += 1;
        if *known && !take_out(tx, *doc)? {
            return Ok(true);
        }
        if let Some(document) = tx.registry().document(tx, *doc)?
            && !put_in(tx, &document, &mut batch)?
        {
            index_health::rebuild_damaged(tx)?;
            return Ok(true);
        }
    }
    if index_health::unless_damaged(tx, |db| batch.write(db))?.is_none() {
        index_health::rebuild_damaged(tx)?;
        return Ok(true);
    }
    if let Some((last, _)) = waiting[..done].last() {
        tx.sql(|db| db.prepare_cached("DELETE FROM unindexed WHERE doc <= ?1")?.execute([last]))?;
    }
    let more = waiting.len() == most || done < waiting.len();
    if !more {
        tx.defer(|index: &mut IndexState| index.is_whole = true);
    }
    Ok(more)
}

/// Computes a batch of missing embeddings, for passages indexed while embeddings were disabled. Returns whether
/// there are more.
fn work_out(tx: &Tx<'_>) -> Result<bool, OpError> {
    const BARE: &str =
        "SELECT DISTINCT doc FROM passages WHERE vector IS NULL ORDER BY doc LIMIT ?1";
    const OF_DOC: &str = "SELECT id FROM passages WHERE doc = ?1 ORDER BY id";
    const SET: &str = "UPDATE passages SET vector = ?2 WHERE id = ?1";
    let most = limits::INDEX_BATCH;
    let docs: Vec<i64> =
        tx.sql(|db| db.prepare_cached(BARE)?.query_map([most], |row| row.cell(0))?.collect())?;
    let mut known: Vec<(usize, Vector)> = Vec::new();
    for doc in &docs {
        let document = tx.registry().document(tx, *doc)?;
        let mut bodies = document.iter().flat_map(Document::passages);
        tx.sql(|db| {
            let passages: Vec<usize> = db
                .prepare_cached(OF_DOC)?
                .query_map([doc], |row| row.cell(0))?
                .collect::<rusqlite::Result<_>>()?;
            for passage in passages {
                let vector = Vector::of(bodies.next().unwrap_or_default());
                // SQLite refuses this on a damaged row; the next rebuild of the index replaces the row.
                let _ = db.prepare_cached(SET)?.execute(params![passage, kept(vector.as_ref())]);
                known.extend(vector.map(|vector| (passage, vector)));
            }
            Ok(())
        })?;
    }
    let more = docs.len() == most;
    if !known.is_empty() {
        let catalogue = tx.facts().catalogue.clone();
        tx.after_commit(Box::new(move || catalogue.learn(&known)));
    }
    if !more {
        // A passage catalogue that was read from an earlier snapshot has to be read again, once.
        altered(tx)?;
        tx.defer(|index: &mut IndexState| index.is_worked_out = true);
    }
    Ok(more)
}

/// The stored form of a passage's embedding; empty for a passage without words.
fn kept(vector: Option<&Vector>) -> Vec<u8> {
    vector.map(|vector| vector.to_bytes().to_vec()).unwrap_or_default()
}

/// Adds a document's passages. Returns false if the index is damaged.
fn put_in(tx: &Tx<'_>, document: &Document, batch: &mut postings::Batch) -> Result<bool, OpError> {
    let words = document.texts.iter().map(|text| words::count(text)).sum::<usize>();
    let words = u16::try_from(words).unwrap_or(u16::MAX);
    for body in document.passages() {
        let hidden = words::hidden_words(body);
        let terms = Terms::of(body, &hidden);
        let vector = tx.facts().meaning.then(|| kept(Vector::of(body).as_ref()));
        let passage = tx.sql(|db| {
            let length = terms.length;
            let Document { id, session, project, at, kind, .. } = document;
            let given = params![id, session, project, at, kind, length, words, vector];
            db.prepare_cached(ADD)?.insert(given)
        })?;
        let given = params![passage, body, hidden];
        let added =
            index_health::unless_damaged(tx, |db| db.prepare_cached(ADD_WORDS)?.execute(given))?;
        if added.is_none() {
            return Ok(false);
        }
        batch.add(usize::try_from(passage).unwrap_or_default(), terms);
    }
    Ok(true)
}
