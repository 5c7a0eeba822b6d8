//! How the database is doing, for `doctor`: a bounded check, sizes, and what was set aside.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::limits;
use rusqlite::{Connection, ErrorCode};
use serde::Serialize;

use crate::connection;
use crate::files;

/// Virtual-machine steps between two looks at the clock.
const STEPS_PER_LOOK: i32 = 10_000;

/// What a check of the whole database found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Integrity {
    Sound,
    /// The check did not end within its time, and had found nothing until then.
    Unfinished,
    /// What SQLite's check says, line by line.
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
    pub schema_version: Option<i32>,
    pub db_bytes: u64,
    pub wal_bytes: u64,
    pub pages: u64,
    pub free_pages: u64,
    pub set_aside: Vec<SetAside>,
    /// What recovery did, in words.
    pub notes: Vec<String>,
}

/// Looks at the database at `path` with a connection of its own.
pub(crate) fn examine(path: &Path, busy: Duration, notes: Vec<String>) -> Health {
    let mut health = Health {
        path: path.to_owned(),
        integrity: Integrity::Unreadable(String::new()),
        schema_version: None,
        db_bytes: files::bytes(path),
        wal_bytes: files::bytes(&files::beside(path, "-wal")),
        pages: 0,
        free_pages: 0,
        set_aside: set_aside(path),
        notes,
    };
    let db = match connection::open_reader(path, busy) {
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
    health.integrity = check(db);
    health
}

fn check(mut db: Connection) -> Integrity {
    let deadline = Instant::now() + limits::STORE_BUSY;
    let watched = db.progress_handler(STEPS_PER_LOOK, Some(move || Instant::now() >= deadline));
    let mut findings = Vec::new();
    let ended = watched.and_then(|()| {
        let mut statement =
            db.prepare(&format!("PRAGMA quick_check({})", limits::CHECK_FINDINGS_MAX))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            findings.push(row.get::<_, String>(0)?);
        }
        Ok(())
    });
    findings.retain(|line| line != "ok");
    match ended {
        _ if !findings.is_empty() => Integrity::Damaged(findings),
        Ok(()) => Integrity::Sound,
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
            Integrity::Unfinished
        }
        Err(error) => Integrity::Unreadable(error.to_string()),
    }
}

/// Damaged databases beside this one, in order of their names, which is that of their times.
fn set_aside(path: &Path) -> Vec<SetAside> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let prefix = format!("{name}.corrupt-");
    let Ok(entries) = fs::read_dir(files::folder(path)) else { return Vec::new() };
    let mut found: Vec<SetAside> = entries
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with(&prefix) && !files::SIDECARS.iter().any(|end| name.ends_with(end))
        })
        .map(|entry| SetAside { bytes: files::bytes(&entry.path()), path: entry.path() })
        .collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}
