//! The baseline that plain SQLite FTS5 gives: any of the words, whole texts, stems and BM25. `eval`
//! measures search against it.

use std::path::Path;

use model::{OpError, limits};
use rusqlite::{Connection, params};
use text::{query, words};

use crate::cells::Cells as _;
use crate::error::StoreError;
use crate::{connection, files};

const CREATE: &str = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; \
     CREATE VIRTUAL TABLE texts USING fts5(text, content = '', tokenize = 'porter unicode61')";
const ADD: &str = "INSERT INTO texts (rowid, text) VALUES (?1, ?2)";
const FIND: &str = "SELECT rowid FROM texts WHERE texts MATCH ?1 ORDER BY rank, rowid LIMIT ?2";
const BYTES: &str = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";

/// A full-text index alone, in a file of its own.
pub struct Plain {
    db: Connection,
}

impl Plain {
    /// Creates an empty index in a new file.
    pub fn make(path: &Path) -> Result<Plain, OpError> {
        files::create_private(path).map_err(StoreError::from)?;
        let db = connection::connect(path, limits::STORE_BUSY)?;
        db.execute_batch(CREATE).map_err(failed)?;
        Ok(Plain { db })
    }

    /// Adds texts under their numbers.
    pub fn add<'t>(&self, texts: impl Iterator<Item = (i64, &'t str)>) -> Result<(), OpError> {
        let added = || -> rusqlite::Result<()> {
            let all = self.db.unchecked_transaction()?;
            let mut add = all.prepare_cached(ADD)?;
            for (number, text) in texts {
                add.execute(params![number, text])?;
            }
            drop(add);
            all.commit()
        };
        added().map_err(failed)
    }

    /// The numbers of the texts that have any of the words, stop words left out, best first.
    pub fn find(&self, typed: &str, limit: usize) -> Result<Vec<i64>, OpError> {
        let said = words::words(typed).map(|(_, word)| word.to_lowercase());
        let mut asked: Vec<String> =
            said.filter(|word| !words::is_stop(word)).map(|word| query::term(&word)).collect();
        asked.sort_unstable();
        asked.dedup();
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let found = || -> rusqlite::Result<Vec<i64>> {
            let mut find = self.db.prepare_cached(FIND)?;
            find.query_map(params![asked.join(" OR "), limit], |row| row.cell(0))?.collect()
        };
        found().map_err(failed)
    }

    pub fn bytes(&self) -> Result<u64, OpError> {
        self.db.query_row(BYTES, [], |row| row.cell(0)).map_err(failed)
    }
}

fn failed(error: rusqlite::Error) -> OpError {
    StoreError::of_any(&error).into()
}
