//! The full-text index: what is found of a document, as passages. [`crate::search`] reads it.
//!
//! A write only notes which documents the index does not know yet. Their words follow in transactions
//! of their own: when the writer has nothing else to do, and before a search
//! ([`crate::Store::catch_up`]), so that no event waits for the index and every search has it whole.
//! What is removed leaves the index at once.

use model::observation::{ObsType, Observation};
use model::session::Summary;
use model::{OpError, limits};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;
use text::{passages, words};

use crate::record_ids;
use crate::tx::{Rx, Tx};

const NOTE: &str = "INSERT INTO unindexed (doc, known) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
const FORGET_NOTE: &str = "DELETE FROM unindexed WHERE doc = ?1";
const WAITING: &str = "SELECT doc, known FROM unindexed ORDER BY doc LIMIT ?1";
pub(crate) const FORGET_FURTHER: &str = "DELETE FROM further_passages WHERE doc = ?1 RETURNING id";
const ADD_FURTHER: &str = "INSERT INTO further_passages (id, doc) VALUES (?1, ?2)";
const ADD: &str = "INSERT INTO passage_fts (rowid, body, parts) VALUES (?1, ?2, ?3)";
const REMOVE: &str = "DELETE FROM passage_fts WHERE rowid = ?1";
const OPTIMIZE: &str = "INSERT INTO passage_fts (passage_fts) VALUES ('optimize')";
const REMOVE_ALL: &str = "DELETE FROM further_passages; DELETE FROM unindexed; \
     INSERT INTO passage_fts (passage_fts) VALUES ('delete-all'); \
     INSERT INTO unindexed (doc, known) SELECT id, 0 FROM documents;";

/// Notes a document that is new.
pub(crate) fn add(tx: &Tx<'_>, doc: i64) -> Result<(), OpError> {
    note(tx, doc, false)
}

/// Notes that a document has other words than before.
pub(crate) fn changed(tx: &Tx<'_>, doc: i64) -> Result<(), OpError> {
    note(tx, doc, true)
}

fn note(tx: &Tx<'_>, doc: i64, known: bool) -> Result<(), OpError> {
    tx.late().unindexed();
    tx.sql(|db| db.prepare_cached(NOTE)?.execute(params![doc, known]).map(drop))
}

/// The same for words that nobody is to find any more, not even until the index is brought up to date.
pub(crate) fn renewed(tx: &Tx<'_>, doc: i64) -> Result<(), OpError> {
    remove(tx, doc)?;
    add(tx, doc)
}

/// Makes the document unfindable. Its words leave the file with [`optimize`].
pub(crate) fn remove(tx: &Tx<'_>, doc: i64) -> Result<(), OpError> {
    tx.sql(|db| {
        db.prepare_cached(FORGET_NOTE)?.execute([doc])?;
        take_out(db, doc)
    })
}

fn take_out(db: &Connection, doc: i64) -> rusqlite::Result<()> {
    let further: Vec<i64> = db
        .prepare_cached(FORGET_FURTHER)?
        .query_map([doc], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for passage in further.into_iter().chain([doc]) {
        db.prepare_cached(REMOVE)?.execute([passage])?;
    }
    Ok(())
}

/// Brings the index up to date and rewrites it without the words of what was removed or changed.
pub fn optimize(tx: &Tx<'_>) -> Result<(), OpError> {
    while index(tx)? {}
    tx.sql(|db| {
        // What the index leaves behind is to be unreadable too.
        db.pragma_update(None, "secure_delete", true)?;
        db.execute(OPTIMIZE, [])?;
        db.pragma_update(None, "secure_delete", false)
    })
}

/// How many passages there are in the index.
pub fn count(rx: &Rx<'_>) -> Result<u64, OpError> {
    // The table of their lengths has a row for each, and SQLite counts it page by page.
    const COUNT: &str = "SELECT count(*) FROM passage_fts_docsize";
    rx.sql(|db| db.prepare_cached(COUNT)?.query_row([], |row| row.get(0)))
}

/// Whether there are documents that the index does not know yet.
pub fn is_behind(rx: &Rx<'_>) -> Result<bool, OpError> {
    const ANY: &str = "SELECT EXISTS (SELECT 1 FROM unindexed)";
    rx.sql(|db| db.prepare_cached(ANY)?.query_row([], |row| row.get(0)))
}

/// Empties the index; every document waits to be put into it again.
pub fn rebuild(tx: &Tx<'_>) -> Result<(), OpError> {
    tx.late().unindexed();
    tx.sql(|db| db.execute_batch(REMOVE_ALL))
}

/// Puts documents into the index that it does not know yet, as many as are done in one go. Says whether
/// there are more.
pub(crate) fn index(tx: &Tx<'_>) -> Result<bool, OpError> {
    let most = limits::INDEX_BATCH;
    let waiting: Vec<(i64, bool)> = tx.sql(|db| {
        let mut select = db.prepare_cached(WAITING)?;
        select.query_map([most], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    })?;
    for (doc, known) in &waiting {
        if *known {
            tx.sql(|db| take_out(db, *doc))?;
        }
        if let Some(body) = body(tx, *doc)? {
            put_in(tx, *doc, &body)?;
        }
    }
    if let Some((last, _)) = waiting.last() {
        tx.sql(|db| db.prepare_cached("DELETE FROM unindexed WHERE doc <= ?1")?.execute([last]))?;
    }
    let more = waiting.len() == most;
    if !more {
        tx.late().indexed();
    }
    Ok(more)
}

fn put_in(tx: &Tx<'_>, doc: i64, body: &str) -> Result<(), OpError> {
    for (number, body) in passages::passages(body).into_iter().enumerate() {
        let passage = if number == 0 { doc } else { record_ids::next(tx)? };
        let parts = words::hidden_words(body);
        tx.sql(|db| {
            if number > 0 {
                db.prepare_cached(ADD_FURTHER)?.execute(params![passage, doc])?;
            }
            db.prepare_cached(ADD)?.execute(params![passage, body, parts])
        })?;
    }
    Ok(())
}

/// What a document is found by; none if it is gone or is nothing that anybody would search for.
fn body(tx: &Tx<'_>, doc: i64) -> Result<Option<String>, OpError> {
    const OBSERVED: &str = "SELECT o.kind, o.content, f.path, o.metadata \
         FROM observations o LEFT JOIN paths f ON f.id = o.file WHERE o.id = ?1";
    const SAID: &str = "SELECT content FROM prompts WHERE id = ?1";
    const SUMMARY: &str = "SELECT summary FROM sessions WHERE id = ?1";
    tx.sql(|db| {
        let observed = |row: &rusqlite::Row<'_>| {
            let metadata = row.get_ref(3)?.as_str_or_null()?;
            let metadata = metadata.and_then(|text| serde_json::from_str(text).ok());
            let path = row.get_ref(2)?.as_str_or_null()?;
            let body = || -> rusqlite::Result<String> {
                let content = row.get_ref(1)?.as_str()?;
                Ok(Observation::searched(content, path, metadata.as_ref().unwrap_or(&Value::Null)))
            };
            match ObsType::parse(row.get_ref(0)?.as_str()?) {
                Some(kind) if !kind.is_mark() => body().map(Some),
                _ => Ok(None),
            }
        };
        if let Some(found) = db.prepare_cached(OBSERVED)?.query_row([doc], observed).optional()? {
            return Ok(found);
        }
        let text = |row: &rusqlite::Row<'_>| row.get::<_, Option<String>>(0);
        if let Some(said) = db.prepare_cached(SAID)?.query_row([doc], text).optional()? {
            return Ok(said);
        }
        let summary = db.prepare_cached(SUMMARY)?.query_row([doc], text).optional()?.flatten();
        let summary = summary.and_then(|text| serde_json::from_str::<Summary>(&text).ok());
        Ok(summary.map(|summary| summary.text()))
    })
}
