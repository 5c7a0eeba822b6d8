//! Salvage: a damaged database is moved aside, and its readable rows are copied into a new one: first table by
//! table as SQLite reads them, then from leaf pages that no interior page references (`orphans`, with `image`
//! and `page`).
//!
//! The caller has closed all its handles and is the only process that writes.

mod image;
mod orphans;
mod page;

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use model::database::HEADER_BYTES;
use model::time;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, ErrorCode, Row, Statement, params_from_iter};

use crate::activity_counts;
use crate::connection::{self, Setup};
use crate::error::StoreError;
use crate::files::{self, Scratch};
use crate::notices;
use crate::references;

/// A range of ids between two unreadable rows is not searched further if it is this small.
const GAP_MIN: i64 = 4;
/// Ranges that are read at most; after that, none is split any more.
const TRIES_MAX: u32 = 20_000;

/// The page size of our databases, which is SQLite's default.
const PAGE_BYTES: usize = 4096;

/// How many pages are examined to recognise a database without a header. Damage that leaves none of the first
/// 64 MiB intact leaves little to salvage.
const PAGES_EXAMINED_MAX: usize = 16_384;

/// Whether a file without a sound header still has pages of a database. If not, another program wrote the
/// file, and salvage would move a file of the user away.
pub(crate) fn has_pages(path: &Path) -> bool {
    let Ok(mut file) = regular::open(path) else { return false };
    let mut page = vec![0; PAGE_BYTES];
    (0..PAGES_EXAMINED_MAX)
        .map_while(|index| {
            file.read_exact(&mut page).ok()?;
            Some(page::is_btree(&page, if index == 0 { HEADER_BYTES } else { 0 }))
        })
        .any(|is_page| is_page)
}

/// Which end of a table is read first.
#[derive(Clone, Copy)]
enum End {
    Low,
    High,
}

/// Replaces the damaged database at `path` by a new one with its readable rows. The old files stay beside
/// it under a name with the time. The new database is finished before the old one is moved, so that a
/// crash in between loses nothing.
pub(crate) fn set_aside(path: &Path, setup: &Setup, why: &str, now: i64) -> Result<(), StoreError> {
    let busy = setup.busy;
    let fresh = Scratch::beside(path, "fresh");
    drop(files::create_private(&fresh.0)?);
    let new = connection::connect(&fresh.0, busy)?;
    connection::create(&new, &setup.registry).map_err(|e| StoreError::of_any(&e))?;
    let sound_header = Scratch::beside(path, "header");
    copy_private(&fresh.0, &sound_header.0)?;
    let salvaged = salvage(path, &sound_header.0, &new, setup)?;
    let aside = unused_name(path, now);
    let rows = salvaged.iter().map(|(_, rows)| rows).sum::<u64>();
    let tables: Vec<String> = salvaged
        .iter()
        .filter(|(_, rows)| *rows > 0)
        .map(|(t, rows)| format!("{t} {rows}"))
        .collect();
    let what = if tables.is_empty() { String::new() } else { format!(" ({})", tables.join(", ")) };
    let text = format!(
        "the database was damaged ({why}); set aside at {}, salvaged {}{what} into a new one; if something is missing, `rekindle restore FILE` brings back a backup",
        aside.display(),
        text::counted(rows, "row")
    );
    notices::add(&new, now, &text).map_err(|e| StoreError::of_any(&e))?;
    drop(new);
    fs::File::open(&fresh.0)?.sync_all()?;
    fs::rename(path, &aside)?;
    for suffix in files::SIDECARS {
        match fs::rename(files::beside(path, suffix), files::beside(&aside, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    fs::rename(&fresh.0, path)?;
    files::sync_folder(path)?;
    Ok(())
}

/// An unused name beside a damaged database, with the time, for the database or a copy of it.
pub(crate) fn unused_name(path: &Path, now: i64) -> PathBuf {
    let first = files::beside(path, &format!(".corrupt-{}", time::file_stamp(now)));
    let mut name = first.clone();
    let mut number = 2_u32;
    while name.exists() {
        name = files::beside(&first, &format!("-{number}"));
        number += 1;
    }
    name
}

/// Copies a file to a new one that only the user may read.
pub(crate) fn copy_private(from: &Path, to: &Path) -> io::Result<()> {
    io::copy(&mut fs::File::open(from)?, &mut files::create_private(to)?)?;
    Ok(())
}

/// Copies the readable rows table by table. Returns the number of rows of each.
fn salvage(
    path: &Path,
    sound: &Path,
    new: &Connection,
    setup: &Setup,
) -> Result<Vec<(String, u64)>, StoreError> {
    let Setup { registry, busy, .. } = setup;
    let failed = |error: rusqlite::Error| StoreError::of_any(&error);
    new.execute_batch("PRAGMA foreign_keys = OFF; BEGIN").map_err(failed)?;
    let mut salvaged = copy_tables(&connection::connect(path, *busy)?, new)?;
    if salvaged.is_empty() {
        // Not even the list of tables is readable: perhaps only the header is damaged. A copy is patched; the old file
        // is not changed.
        let patched = Scratch::beside(path, "patched");
        copy_private(path, &patched.0)?;
        if files::bytes(&files::beside(path, "-wal")) > 0 {
            copy_private(&files::beside(path, "-wal"), &files::beside(&patched.0, "-wal"))?;
        }
        connection::replace_header(&patched.0, sound)?;
        salvaged = copy_tables(&connection::connect(&patched.0, *busy)?, new)?;
    }
    for (table, rows) in orphans::adopt(path, new, registry).map_err(failed)? {
        match salvaged.iter_mut().find(|(known, _)| *known == table) {
            Some((_, sum)) => *sum += rows,
            None => salvaged.push((table, rows)),
        }
    }
    references::repair(new, registry).map_err(failed)?;
    activity_counts::discard_in(new).map_err(failed)?;
    new.execute_batch("COMMIT").map_err(failed)?;
    Ok(salvaged)
}

/// Tables in the order of a key that are rebuilt from others.
const REBUILT: [&str; 3] = ["activity_counts", "failure_lines", "postings"];

/// Copies the tables that both databases have. Errors of the old database only shorten the result; an error of
/// the new one is returned.
fn copy_tables(old: &Connection, new: &Connection) -> Result<Vec<(String, u64)>, StoreError> {
    let ours = tables(new).map_err(|e| StoreError::of_any(&e))?;
    let Ok(theirs) = tables(old) else { return Ok(Vec::new()) };
    let mut salvaged = Vec::new();
    for (table, columns) in ours {
        let Some((_, old_columns)) = theirs.iter().find(|(name, _)| *name == table) else {
            continue;
        };
        let columns: Vec<&str> = columns
            .iter()
            .filter(|column| old_columns.contains(column))
            .map(String::as_str)
            .collect();
        let rows = copy_table(old, new, &table, &columns).map_err(|e| StoreError::of_any(&e))?;
        salvaged.push((table, rows));
    }
    Ok(salvaged)
}

/// Ordinary tables with their columns; virtual tables and their shadows are rebuilt by their
/// owners.
fn tables(db: &Connection) -> rusqlite::Result<Vec<(String, Vec<String>)>> {
    let names: Vec<String> = db
        .prepare(
            "SELECT name FROM pragma_table_list \
             WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
             ORDER BY name",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut columns = db.prepare("SELECT name FROM pragma_table_info(?1)")?;
    names
        .into_iter()
        .map(|name| {
            let columns =
                columns.query_map([&name], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            Ok((name, columns))
        })
        .collect()
}

/// Copies the readable rows of a table. At an unreadable row, the range is read from its other end. The rest, between
/// two unreadable rows, is split in halves until a half is too small, because several pages may be damaged.
fn copy_table(
    old: &Connection,
    new: &Connection,
    table: &str,
    columns: &[&str],
) -> rusqlite::Result<u64> {
    let list = columns.iter().map(|c| format!("\"{c}\"")).collect::<Vec<_>>().join(", ");
    let marks = vec!["?"; columns.len()].join(", ");
    let insert_row =
        new.prepare(&format!("INSERT OR IGNORE INTO \"{table}\" ({list}) VALUES ({marks})"))?;
    // NOT INDEXED: rows are read in rowid order from the table itself, so a damaged index does not matter.
    let select = |order: &str| {
        let rows = format!("SELECT rowid, {list} FROM \"{table}\" NOT INDEXED");
        old.prepare(&format!("{rows} WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid{order}"))
    };
    let (Ok(up), Ok(down)) = (select(""), select(" DESC")) else {
        return copy_in_key_order(old, (table, &list), insert_row);
    };
    let mut rescue = Rescue { up, down, insert: insert_row, columns: columns.len(), copied: 0 };
    let mut left = vec![(i64::MIN, i64::MAX)];
    let mut tried = 0;
    while let Some((low, high)) = left.pop() {
        tried += 1;
        let Some(low) = rescue.read(End::Low, low, high)? else { continue };
        let Some(high) = rescue.read(End::High, low, high)? else { continue };
        // Both ends are damaged; sound rows may be between them.
        if high.saturating_sub(low) > GAP_MIN && tried < TRIES_MAX {
            let middle = low.midpoint(high);
            left.extend([(low, middle), (middle + 1, high)]);
        }
    }
    Ok(rescue.copied)
}

/// Copies the readable rows of a table without row ids, or none if it has row ids. It is read from both ends, up to the
/// first unreadable row.
fn copy_in_key_order(
    old: &Connection,
    (table, list): (&str, &str),
    mut insert_row: Statement<'_>,
) -> rusqlite::Result<u64> {
    const KEY: &str = "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk";
    if REBUILT.contains(&table) {
        return Ok(0);
    }
    let key = |db: &Connection| -> rusqlite::Result<Vec<String>> {
        db.prepare(KEY)?.query_map([table], |row| row.get(0))?.collect()
    };
    let Ok(key) = key(old) else { return Ok(0) };
    let mut copied = 0;
    for direction in ["", " DESC"] {
        let order: Vec<String> = key.iter().map(|one| format!("\"{one}\"{direction}")).collect();
        let select = format!("SELECT {list} FROM \"{table}\" ORDER BY {}", order.join(", "));
        let Ok(mut select) = old.prepare(&select) else { return Ok(copied) };
        let columns = select.column_count();
        let Ok(mut rows) = select.query([]) else { return Ok(copied) };
        loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => return Ok(copied),
                Err(_) => break,
            };
            let values = (0..columns).map(|i| value(row, i)).collect::<Result<Vec<_>, _>>();
            if let Ok(values) = values {
                copied += insert(&mut insert_row, values)?;
            }
        }
    }
    Ok(copied)
}

/// A cell for the copy: a damaged text is decoded lossily.
fn value(row: &Row<'_>, column: usize) -> rusqlite::Result<Value> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(bytes) => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    })
}

/// Inserts a row and returns 1, or 0 if the schema rejects it, because that is damage too.
fn insert(into: &mut Statement<'_>, values: Vec<Value>) -> rusqlite::Result<u64> {
    match into.execute(params_from_iter(values)) {
        Ok(done) => Ok(u64::try_from(done).unwrap_or(0)),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => Ok(0),
        Err(error) => Err(error),
    }
}

/// A table that is being copied.
struct Rescue<'c> {
    up: Statement<'c>,
    down: Statement<'c>,
    insert: Statement<'c>,
    columns: usize,
    copied: u64,
}

impl Rescue<'_> {
    /// Copies the rows with ids in this range, starting at one end. None if it reached the other end; else the
    /// id at which it stopped.
    fn read(&mut self, end: End, low: i64, high: i64) -> rusqlite::Result<Option<i64>> {
        let (select, mut next) = match end {
            End::Low => (&mut self.up, low),
            End::High => (&mut self.down, high),
        };
        let Ok(mut rows) = select.query([low, high]) else { return Ok(Some(next)) };
        loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => return Ok(None),
                Err(_) => return Ok(Some(next)),
            };
            let Ok(id) = row.get::<_, i64>(0) else { continue };
            let past = match end {
                End::Low => id.checked_add(1),
                End::High => id.checked_sub(1),
            };
            let values = (1..=self.columns).map(|i| value(row, i)).collect::<Result<Vec<_>, _>>();
            if let Ok(values) = values {
                self.copied += insert(&mut self.insert, values)?;
            }
            match past.filter(|past| (low..=high).contains(past)) {
                Some(past) => next = past,
                None => return Ok(None),
            }
        }
    }
}
