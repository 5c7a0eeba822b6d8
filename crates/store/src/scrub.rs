//! Going over what is kept, so that it can be redacted again when the rules have learned.
//!
//! Summaries are not gone over: they are drawn anew from what they stand for. What a text said before
//! leaves the file with [`crate::passages::optimize`] and [`crate::Store::compact`].

use model::OpError;
use rusqlite::{OptionalExtension, Row, params};
use serde_json::Value;
use text::secrets::Redacted;

use crate::tx::{Rx, Tx};
use crate::{passages, paths};

/// The texts of one record as they are kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Texts {
    pub id: i64,
    /// The session in the store, whose summary may repeat what is said here.
    pub session: i64,
    pub content: String,
    pub file_path: Option<String>,
    pub metadata: Option<Value>,
}

/// The texts that take their place.
#[derive(Clone, Debug)]
pub struct Replacement {
    pub content: Redacted<String>,
    pub file_path: Option<Redacted<String>>,
    pub metadata: Option<Redacted<Value>>,
}

const AFTER: &str = "SELECT o.id, o.session, o.content, f.path, o.metadata FROM observations o \
       LEFT JOIN paths f ON f.id = o.file WHERE o.id > ?1 \
     UNION ALL SELECT id, session, content, NULL, NULL FROM prompts WHERE id > ?1 \
     ORDER BY 1 LIMIT ?2";

/// The texts of the next records behind this id, prompts among them, in order of their ids.
pub fn after(rx: &Rx<'_>, id: i64, limit: usize) -> Result<Vec<Texts>, OpError> {
    let read = |row: &Row<'_>| {
        let metadata: Option<String> = row.get(4)?;
        Ok(Texts {
            id: row.get(0)?,
            session: row.get(1)?,
            content: row.get(2)?,
            file_path: row.get(3)?,
            metadata: metadata.and_then(|text| serde_json::from_str(&text).ok()),
        })
    };
    rx.sql(|db| db.prepare_cached(AFTER)?.query_map(params![id, limit], read)?.collect())
}

/// Puts other texts in the place of those of a record; says whether there is one.
pub fn replace(tx: &Tx<'_>, id: i64, new: &Replacement) -> Result<bool, OpError> {
    let searched = |file_path: Option<&str>| {
        let metadata = new.metadata.as_ref().map_or(&Value::Null, |metadata| &**metadata);
        model::observation::Observation::searched(&new.content, file_path, metadata)
    };
    let old: Option<Option<i64>> = tx.sql(|db| {
        let mut select = db.prepare_cached("SELECT file FROM observations WHERE id = ?1")?;
        select.query_row([id], |row| row.get(0)).optional()
    })?;
    let Some(old) = old else {
        let update = "UPDATE prompts SET content = ?2 WHERE id = ?1";
        let given = params![id, new.content.as_str()];
        let found = tx.sql(|db| db.prepare_cached(update)?.execute(given))? == 1;
        if found {
            passages::put(tx, id, &new.content)?;
        }
        return Ok(found);
    };
    let file = new.file_path.as_ref().map(|path| paths::intern(tx, path)).transpose()?;
    let metadata = new.metadata.as_ref().map(|metadata| metadata.to_string());
    tx.sql(|db| {
        let update = "UPDATE observations SET content = ?2, file = ?3, metadata = ?4 WHERE id = ?1";
        let given = params![id, new.content.as_str(), file, metadata];
        db.prepare_cached(update)?.execute(given)
    })?;
    if let Some(old) = old.filter(|old| Some(*old) != file) {
        paths::forget_unused(tx, old)?;
    }
    passages::put(tx, id, &searched(new.file_path.as_ref().map(|path| path.as_str())))?;
    Ok(true)
}
