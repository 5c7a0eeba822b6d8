//! The full-text index: what is found of a document, as passages. [`crate::search`] reads it.
//!
//! The index writes a piece of its file whenever a savepoint begins or ends, and every write of a
//! group is one. Changes therefore wait until all writes of the group have run, and are made
//! together just before COMMIT: what is committed is also indexed.

use std::collections::BTreeMap;

use model::OpError;
use model::observation::Observation;
use rusqlite::{Connection, params};
use serde_json::Value;
use text::{passages, words};

use crate::tx::{Rx, Tx};
use crate::{observations, record_ids};

pub(crate) const FORGET_FURTHER: &str = "DELETE FROM further_passages WHERE doc = ?1 RETURNING id";
const ADD_FURTHER: &str = "INSERT INTO further_passages (id, doc) VALUES (?1, ?2)";
const ADD: &str = "INSERT INTO passage_fts (rowid, body, parts) VALUES (?1, ?2, ?3)";
const REMOVE: &str = "DELETE FROM passage_fts WHERE rowid = ?1";
const OPTIMIZE: &str = "INSERT INTO passage_fts (passage_fts) VALUES ('optimize')";
const REMOVE_ALL: &str = "DELETE FROM further_passages; \
     INSERT INTO passage_fts (passage_fts) VALUES ('delete-all');";
/// Documents that are put anew before their changes are made.
const REBUILD_BATCH: usize = 1_000;

/// A change of the index that waits for the end of its group.
pub(crate) enum Change {
    /// A passage that is not in the index.
    Add {
        passage: i64,
        body: String,
    },
    Remove {
        passage: i64,
    },
    Optimize,
}

/// Makes the document findable by its words, and by no others that it had before.
pub fn put(tx: &Tx<'_>, doc: i64, body: &str) -> Result<(), OpError> {
    remove(tx, doc)?;
    add(tx, doc, body)
}

/// The same for a document that is new.
pub(crate) fn add(tx: &Tx<'_>, doc: i64, body: &str) -> Result<(), OpError> {
    let mut passage = doc;
    for (number, body) in passages::passages(body).into_iter().enumerate() {
        if number > 0 {
            passage = record_ids::next(tx)?;
            tx.sql(|db| db.prepare_cached(ADD_FURTHER)?.execute(params![passage, doc]))?;
        }
        tx.late().index(Change::Add { passage, body: body.to_owned() });
    }
    Ok(())
}

/// Makes the document unfindable. Its words leave the file with [`optimize`].
pub fn remove(tx: &Tx<'_>, doc: i64) -> Result<(), OpError> {
    let further: Vec<i64> = tx.sql(|db| {
        db.prepare_cached(FORGET_FURTHER)?.query_map([doc], |row| row.get(0))?.collect()
    })?;
    for passage in further.into_iter().chain([doc]) {
        tx.late().index(Change::Remove { passage });
    }
    Ok(())
}

/// Rewrites the index without the words of what was removed.
pub fn optimize(tx: &Tx<'_>) -> Result<(), OpError> {
    tx.late().index(Change::Optimize);
    Ok(())
}

/// How many passages there are.
pub fn count(rx: &Rx<'_>) -> Result<u64, OpError> {
    // The table of their lengths has a row for each, and SQLite counts it page by page.
    const COUNT: &str = "SELECT count(*) FROM passage_fts_docsize";
    rx.sql(|db| db.prepare_cached(COUNT)?.query_row([], |row| row.get(0)))
}

/// Puts every document anew: the index of a damaged database is not saved, but the documents are.
pub fn rebuild(tx: &Tx<'_>) -> Result<(), OpError> {
    let ids: Vec<i64> = tx.sql(|db| {
        db.execute_batch(REMOVE_ALL)?;
        db.prepare("SELECT id FROM documents ORDER BY id")?
            .query_map([], |row| row.get(0))?
            .collect()
    })?;
    for batch in ids.chunks(REBUILD_BATCH) {
        for id in batch {
            let Some(record) = observations::one(tx, *id)? else { continue };
            if !record.obs_type.is_mark() {
                let metadata = record.metadata.as_ref().unwrap_or(&Value::Null);
                let path = record.file_path.as_deref();
                put(tx, *id, &Observation::searched(&record.content, path, metadata))?;
            }
        }
        let changes = tx.late().take_indexing();
        tx.sql(|db| apply(db, changes))?;
    }
    Ok(())
}

/// What becomes of a passage in a group.
struct Fate {
    /// Whether it was in the index before.
    known: bool,
    body: Option<String>,
}

/// Makes the changes of a group: the last one to a passage counts. The index is fastest when rows
/// come in ascending order, and slow to find out that a row is new.
pub(crate) fn apply(db: &Connection, changes: Vec<Change>) -> rusqlite::Result<()> {
    let mut fates: BTreeMap<i64, Fate> = BTreeMap::new();
    let mut optimize = false;
    for change in changes {
        let (passage, body) = match change {
            Change::Add { passage, body } => (passage, Some(body)),
            Change::Remove { passage } => (passage, None),
            Change::Optimize => {
                optimize = true;
                continue;
            }
        };
        let known = body.is_none();
        fates.entry(passage).or_insert(Fate { known, body: None }).body = body;
    }
    for (passage, Fate { known, body }) in fates {
        if known {
            db.prepare_cached(REMOVE)?.execute([passage])?;
        }
        if let Some(body) = body {
            let parts = words::hidden_words(&body);
            db.prepare_cached(ADD)?.execute(params![passage, body, parts])?;
        }
    }
    if optimize {
        // What the index leaves behind is to be unreadable too.
        db.pragma_update(None, "secure_delete", true)?;
        db.execute(OPTIMIZE, [])?;
        db.pragma_update(None, "secure_delete", false)?;
    }
    Ok(())
}
