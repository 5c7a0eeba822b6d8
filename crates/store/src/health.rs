//! The health of the database, for `doctor`: a bounded integrity check, sizes, and the files that were set aside.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use model::limits;
use rusqlite::{Connection, ErrorCode};
use serde::Serialize;

use crate::aggregate::Registry;
use crate::connection::{self, Setup};
use crate::damaged::{self, DamagedRows};
use crate::files;
use crate::foreign;
use crate::index_health;

/// Virtual-machine steps between two looks at the clock.
const STEPS_PER_LOOK: i32 = 10_000;

/// The result of an integrity check of the whole database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Integrity {
    Sound,
    /// The check did not end within its time, and had found no damaged page until then.
    Unfinished,
    /// The lines that SQLite's check reports.
    Damaged(Vec<String>),
    /// The database could not be read for the check.
    Unreadable(String),
}

/// A damaged database that was set aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SetAside {
    pub path: PathBuf,
    pub bytes: u64,
}

/// How the database is doing.
#[derive(Clone, Debug, Serialize)]
pub struct Health {
    pub path: PathBuf,
    pub integrity: Integrity,
    /// Rows that violate the schema.
    pub damaged: DamagedRows,
    /// Damage to the full-text index, which can be rebuilt from the records.
    pub index_damage: Option<String>,
    /// Tables, views and triggers that another program added, as `table NAME`.
    pub foreign_objects: Vec<String>,
    pub schema_version: Option<i32>,
    pub db_bytes: u64,
    pub wal_bytes: u64,
    pub pages: u64,
    pub free_pages: u64,
    pub set_aside: Vec<SetAside>,
    /// Recovery notices as text.
    pub notes: Vec<String>,
}

/// Looks at the database at `path` with a connection of its own.
pub(crate) fn examine(path: &Path, setup: &Setup, notes: Vec<String>) -> Health {
    let Setup { registry, busy, .. } = setup;
    let mut health = Health {
        path: path.to_owned(),
        integrity: Integrity::Unreadable(String::new()),
        damaged: DamagedRows::default(),
        index_damage: None,
        foreign_objects: Vec::new(),
        schema_version: None,
        db_bytes: files::bytes(path),
        wal_bytes: files::bytes(&files::beside(path, "-wal")),
        pages: 0,
        free_pages: 0,
        set_aside: set_aside(path),
        notes,
    };
    let mut db = match connection::open_reader(path, *busy) {
        Ok(db) => db,
        Err(error) => {
            health.integrity = Integrity::Unreadable(error.to_string());
            return health;
        }
    };
    let number = |pragma: &str| db.pragma_query_value(None, pragma, |row| row.get::<_, u64>(0));
    health.pages = number("page_count").unwrap_or(0);
    health.free_pages = number("freelist_count").unwrap_or(0);
    health.schema_version = db.pragma_query_value(None, "user_version", |row| row.get(0)).ok();
    health.foreign_objects = foreign::foreign_objects(&db, registry).unwrap_or_default();
    let deadline = Instant::now() + limits::STORE_BUSY;
    let watched = db.progress_handler(STEPS_PER_LOOK, Some(move || Instant::now() >= deadline));
    let found = watched.and_then(|()| findings(&db, registry));
    (health.integrity, health.damaged) = match found {
        Ok((found, index)) => {
            health.index_damage = index;
            check(&db, registry, Ok(found))
        }
        Err(error) => check(&db, registry, Err(error)),
    };
    health
}

/// Checks the rows if nothing is wrong with the pages.
fn check(
    db: &Connection,
    registry: &Registry,
    found: rusqlite::Result<Vec<String>>,
) -> (Integrity, DamagedRows) {
    match found {
        Ok(found) if found.is_empty() => match damaged::look(db, registry) {
            Ok((rows, true)) => (Integrity::Sound, rows),
            Ok((rows, false)) => (Integrity::Unfinished, rows),
            Err(error) => (Integrity::Unreadable(error.to_string()), DamagedRows::default()),
        },
        Ok(found) => (Integrity::Damaged(found), DamagedRows::default()),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
            (Integrity::Unfinished, DamagedRows::default())
        }
        Err(error) => (Integrity::Unreadable(error.to_string()), DamagedRows::default()),
    }
}

/// The lines of SQLite's check that report damaged pages, and the damage to the full-text index. Lines about a cell of
/// the wrong type or a violated constraint are left out: they affect a single row.
pub(crate) fn findings(
    db: &Connection,
    registry: &Registry,
) -> rusqlite::Result<(Vec<String>, Option<String>)> {
    // One snapshot for all of it: passages and postings are only consistent within one, and FTS5 reports segments as
    // damaged that were merged since the lookups.
    let _snapshot = db.unchecked_transaction()?;
    if let Some(damage) = index_health::damage_besides_segments(db, registry)? {
        return Ok((findings_by_table(db)?, Some(damage)));
    }
    let found = findings_of(db, "PRAGMA quick_check(1000000)");
    let of_index = match &found {
        Ok(lines) => lines.iter().find(|line| index_health::is_about_index(line)).cloned(),
        Err(error) => index_health::is_index_fault(error).then(|| error.to_string()),
    };
    match of_index {
        Some(damage) => Ok((findings_by_table(db)?, Some(damage))),
        None => Ok((found?, None)),
    }
}

/// The findings table by table: a check of the whole database would fail on a damaged full-text index.
fn findings_by_table(db: &Connection) -> rusqlite::Result<Vec<String>> {
    const TABLES: &str = "SELECT name FROM pragma_table_list WHERE schema = 'main' \
         AND type IN ('table', 'shadow')";
    let names: Vec<String> =
        db.prepare(TABLES)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut found = Vec::new();
    for name in names {
        found.extend(findings_of(db, &format!("PRAGMA quick_check(\"{name}\")"))?);
    }
    Ok(found)
}

fn findings_of(db: &Connection, check: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = db.prepare(check)?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    loop {
        let line: String = match rows.next() {
            Ok(Some(row)) => row.get(0)?,
            Ok(None) => return Ok(found),
            // The findings so far are enough to report damage.
            Err(_) if !found.is_empty() => return Ok(found),
            Err(error) => return Err(error),
        };
        if line != "ok" && !is_of_a_row(&line) {
            found.push(line);
        }
        if found.len() >= limits::CHECK_FINDINGS_MAX {
            return Ok(found);
        }
    }
}

/// Whether a line of the check is about one row alone.
fn is_of_a_row(line: &str) -> bool {
    line.starts_with("CHECK constraint failed in ")
        || line.split_once(" value in ").is_some_and(|(what, _)| !what.contains(' '))
}

/// Damaged databases beside this one, and logs of databases that were moved away, in order of their names.
pub(crate) fn set_aside(path: &Path) -> Vec<SetAside> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let prefixes = [format!("{name}.corrupt-"), format!("{name}{}", files::KEPT_LOG)];
    let Ok(entries) = fs::read_dir(files::folder(path)) else { return Vec::new() };
    let mut found: Vec<SetAside> = entries
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            prefixes.iter().any(|prefix| name.starts_with(prefix))
                && !files::SIDECARS.iter().any(|end| name.ends_with(end))
        })
        .map(|entry| SetAside { bytes: files::bytes(&entry.path()), path: entry.path() })
        .collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}
