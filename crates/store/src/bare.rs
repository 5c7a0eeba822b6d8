//! The SQL statements of the store's reads, run without the store, as the baseline of `cargo xtask
//! bench`. Rows are read and discarded.

use std::path::Path;
use std::sync::Arc;

use meaning::{DIMENSIONS, Vector};
use model::{OpError, limits};
use rusqlite::{Connection, Params, Row, params};

use crate::connection::{self, Setup};
use crate::error::StoreError;
use crate::observations::ADD;
use crate::observations::read::{AFTER, BEFORE, COLUMNS};
use crate::{history, paths, recent, registry, sessions};

const SEARCH: &str = "SELECT rowid, bm25(passage_fts, 1.0, 0.5) FROM passage_fts \
     WHERE passage_fts MATCH ?1 ORDER BY rank LIMIT ?2";
const PROMPTS: &str = "SELECT id, at, content FROM prompts WHERE session = ?1 ORDER BY at, id";
const OF_FILE: &str = "WHERE o.file = ?1 ORDER BY o.at DESC, o.id DESC LIMIT ?2";
/// Counts the records of each day by all properties that `activity_stats` counts by.
const GROUPED: &str = "SELECT o.at / 86400000, o.project, s.agent, o.kind, o.tool, count(*), sum(o.failed) \
     FROM observations o LEFT JOIN sessions s ON s.id = o.session WHERE o.at >= ?1 GROUP BY 1, 2, 3, 4, 5";
const KINDS: &str = "SELECT DISTINCT project, kind FROM observations";

/// A separate read connection to a database that is in use. Each read returns the number of rows it saw.
pub struct Bare {
    db: Connection,
    /// Every project with every kind it has.
    kinds: Vec<(i64, String)>,
}

impl Bare {
    pub fn open(path: &Path) -> Result<Bare, OpError> {
        let db = connection::open_reader(path, limits::STORE_BUSY)?;
        let kinds = run(&db, |db| {
            let mut select = db.prepare(KINDS)?;
            select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })?;
        Ok(Bare { db, kinds })
    }

    pub fn records(&self, ids: &[i64]) -> Result<usize, OpError> {
        run(&self.db, |db| {
            ids.iter().map(|id| records(db, "WHERE o.id = ?1", [id])).sum::<rusqlite::Result<_>>()
        })
    }

    /// The neighbours of an observation in its session.
    pub fn around(&self, id: i64, side: usize) -> Result<usize, OpError> {
        run(&self.db, |db| {
            let mut anchor =
                db.prepare_cached("SELECT session, at FROM observations WHERE id = ?1")?;
            let place: (i64, i64) = anchor.query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let given = params![place.0, place.1, id, side];
            Ok(records(db, BEFORE, given)? + records(db, AFTER, given)?)
        })
    }

    pub fn session(&self, name: &str) -> Result<usize, OpError> {
        run(&self.db, |db| {
            let mut known = db.prepare_cached(sessions::BY_NAME)?;
            let id: i64 = known.query_row([name], |row| row.get(0))?;
            let given = params![id, i64::MAX, i64::MIN, limits::TRACE_ROWS_MAX];
            Ok(rows(db, PROMPTS, [id])? + rows(db, history::STEPS, given)?)
        })
    }

    pub fn file(&self, path: &str, limit: usize) -> Result<usize, OpError> {
        run(&self.db, |db| {
            let mut known = db.prepare_cached(paths::BY_PATH)?;
            let id: i64 = known.query_row([paths::last_part(path), path], |row| row.get(0))?;
            records(db, OF_FILE, params![id, limit])
        })
    }

    /// Reads the newest record of each project and kind, as `recent_context` begins, and then the records `ids`.
    pub fn recent(&self, ids: &[i64]) -> Result<usize, OpError> {
        run(&self.db, |db| {
            for (project, kind) in &self.kinds {
                rows(db, recent::NEXT, params![project, kind, i64::MAX, i64::MIN])?;
            }
            Ok(())
        })?;
        self.records(ids)
    }

    /// The number of records since a time by day, project, agent, type and tool.
    pub fn grouped(&self, from: i64) -> Result<usize, OpError> {
        run(&self.db, |db| rows(db, GROUPED, [from]))
    }

    /// The best passages with any of the words.
    pub fn search(&self, words: &[String], limit: usize) -> Result<usize, OpError> {
        let words: Vec<String> = words.iter().map(|word| text::query::term(word)).collect();
        run(&self.db, |db| rows(db, SEARCH, params![words.join(" OR "), limit]))
    }
}

/// Every vector of a database, one after the other.
pub struct Vectors {
    cells: Vec<[i8; DIMENSIONS]>,
    reciprocals: Vec<f32>,
}

impl Bare {
    pub fn vectors(&self) -> Result<Vectors, OpError> {
        const ALL: &str = "SELECT vector FROM passages WHERE length(vector) > 0 ORDER BY id";
        let mut vectors = Vectors { cells: Vec::new(), reciprocals: Vec::new() };
        run(&self.db, |db| {
            let mut select = db.prepare(ALL)?;
            let mut rows = select.query([])?;
            while let Some(row) = rows.next()? {
                if let Some(vector) = Vector::from_bytes(row.get_ref(0)?.as_blob()?) {
                    vectors.cells.push(*vector.cells());
                    vectors.reciprocals.push(vector.reciprocal());
                }
            }
            Ok(())
        })?;
        Ok(vectors)
    }
}

impl Vectors {
    /// The highest cosine similarity between a text and any of the vectors.
    pub fn nearest(&self, text: &str) -> f32 {
        let Some(vector) = Vector::of(text) else { return 0.0 };
        let mut cosines = vec![0.0; self.cells.len()];
        meaning::scan(&vector, &self.cells, &self.reciprocals, &mut cosines);
        cosines.into_iter().fold(0.0, f32::max)
    }
}

/// Inserts an observation with its passage for each text, in transactions of the writer's largest group
/// size.
pub fn insert(path: &Path, texts: &[String]) -> Result<usize, OpError> {
    const NEWEST: &str = "SELECT (SELECT last FROM record_ids), session, project, at \
         FROM observations ORDER BY id DESC LIMIT 1";
    const PASSAGE: &str = "INSERT INTO passage_fts (rowid, body, parts) VALUES (?1, ?2, '')";
    let setup = Setup {
        registry: Arc::new(registry::with(&[])),
        one_shot: false,
        to_read: false,
        page_count_max: None,
        busy: limits::STORE_BUSY,
    };
    let (db, _) = connection::open_writer(path, &setup)?;
    run(&db, |db| {
        let newest = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
        let (mut id, session, project, mut at): (i64, i64, i64, i64) =
            db.query_row(NEWEST, [], newest)?;
        for group in texts.chunks(limits::WRITE_GROUP_MAX) {
            db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
            for text in group {
                (id, at) = (id + 1, at + 1);
                let none = None::<i64>;
                let row = params![
                    id,
                    session,
                    project,
                    none,
                    at,
                    "command",
                    "PostToolUse",
                    "Bash",
                    none,
                    text,
                    none,
                    false,
                    none
                ];
                db.prepare_cached(ADD)?.execute(row)?;
                db.prepare_cached(PASSAGE)?.execute(params![id, text])?;
            }
            db.prepare_cached("COMMIT")?.execute([])?;
        }
        Ok(texts.len())
    })
}

fn run<T>(
    db: &Connection,
    f: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> Result<T, OpError> {
    f(db).map_err(|error| StoreError::of_any(&error).into())
}

fn records(db: &Connection, condition: &str, given: impl Params) -> rusqlite::Result<usize> {
    rows(db, &format!("{COLUMNS} {condition}"), given)
}

/// Reads all rows of a statement with all their columns. Returns their number.
fn rows(db: &Connection, sql: &str, given: impl Params) -> rusqlite::Result<usize> {
    let mut select = db.prepare_cached(sql)?;
    let columns = select.column_count();
    let mut rows = select.query(given)?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        (0..columns).try_for_each(|column| row.get_ref(column).map(drop))?;
        count += 1;
    }
    Ok(count)
}
