//! Copies of the database: those saved by a restore, damaged databases that were set aside, and backups in the
//! directory of the database. A purge does not change them, so it names those that still contain the text.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use model::database::{APPLICATION_ID, FileHead, HEADER_BYTES};

use crate::cells::Cells as _;
use crate::literal::Needle;
use crate::{connection, files, health};

/// Bytes of a file that are searched at a time.
const CHUNK_BYTES: usize = 1024 * 1024;

/// The copies of the database at `path`, in order of their names. With a text only those that contain it, or that
/// cannot be read.
pub(crate) fn find(path: &Path, backups: &Path, text: Option<&str>) -> Vec<PathBuf> {
    let saved = fs::read_dir(backups).into_iter().flatten().flatten();
    let saved = saved.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let mut found: Vec<PathBuf> = saved.map(|entry| entry.path()).collect();
    found.extend(health::set_aside(path).into_iter().map(|aside| aside.path));
    found.extend(beside(path));
    found.sort_unstable();
    found.dedup();
    if let Some(text) = text {
        let needle = Needle::of(text);
        found.retain(|copy| contains(copy, &needle));
    }
    found
}

/// Our databases in the directory of the database besides itself, such as a copy that `backup` made there.
fn beside(path: &Path) -> Vec<PathBuf> {
    let own = fs::canonicalize(path).ok();
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok());
    let files = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let is_copy = |file: &PathBuf| {
        let mut head = Vec::new();
        let limit = u64::try_from(HEADER_BYTES).unwrap_or(u64::MAX);
        let read = regular::open(file).and_then(|open| open.take(limit).read_to_end(&mut head));
        let is_ours = matches!(
            FileHead::of(&head),
            FileHead::Database { application_id: APPLICATION_ID, .. }
        );
        read.is_ok() && is_ours && fs::canonicalize(file).ok() != own
    };
    files.filter(is_copy).collect()
}

/// Whether a copy contains the text, in its rows or in pages that are not in use.
fn contains(copy: &Path, needle: &Needle) -> bool {
    let log = files::beside(copy, "-wal");
    has_bytes(copy, needle).unwrap_or(true)
        || (log.exists() && has_bytes(&log, needle).unwrap_or(true))
        // A long text is split over pages, so that only SQLite sees it whole.
        || has_cell(copy, needle).unwrap_or(true)
}

fn has_bytes(file: &Path, needle: &Needle) -> std::io::Result<bool> {
    let mut file = regular::open(file)?;
    let overlap = needle.raw.len().max(needle.json.len()).saturating_sub(1);
    let mut window: Vec<u8> = Vec::new();
    loop {
        let kept = window.len().saturating_sub(overlap);
        window.drain(..kept);
        let limit = u64::try_from(CHUNK_BYTES).unwrap_or(u64::MAX);
        let read = file.by_ref().take(limit).read_to_end(&mut window)?;
        let has = |part: &[u8]| window.windows(part.len()).any(|window| window == part);
        if has(&needle.raw) || has(&needle.json) {
            return Ok(true);
        }
        if read == 0 {
            return Ok(false);
        }
    }
}

/// Whether a column of any table contains the text. The copy may have the schema of another version.
fn has_cell(copy: &Path, needle: &Needle) -> rusqlite::Result<bool> {
    const COLUMNS: &str = "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c \
         WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%'";
    let db = connection::open_immutable(copy)?;
    let columns: Vec<(String, String)> = db
        .prepare(COLUMNS)?
        .query_map([], |row| Ok((row.cell(0)?, row.cell(1)?)))?
        .collect::<Result<_, _>>()?;
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    for (table, column) in &columns {
        let (table, column) = (quoted(table), quoted(column));
        let select = format!(
            "SELECT EXISTS (SELECT 1 FROM {table} WHERE instr(CAST({column} AS BLOB), ?1) > 0 \
               OR instr(CAST({column} AS BLOB), ?2) > 0)"
        );
        if db.query_row(&select, [&needle.raw, &needle.json], |row| row.cell(0))? {
            return Ok(true);
        }
    }
    Ok(false)
}
