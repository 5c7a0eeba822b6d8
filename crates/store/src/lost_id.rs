//! A database that lost nothing but its application id: recognised by its tables, and repaired on request.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use model::database::{APPLICATION_ID, APPLICATION_ID_AT};

use crate::cells::Cells as _;
use crate::error::StoreError;
use crate::known::KnownFiles;
use crate::{connection, files, recover};

/// Counts the tables in a file that every database of ours has.
const OUR_TABLES: &str = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN \
     ('hooks_seen', 'observations', 'prompts', 'receipts', 'record_ids', 'sessions')";
const OUR_TABLES_COUNT: i64 = 6;

/// Whether a database without our application id is ours all the same: this user opened it before, and it has our
/// tables. That it was opened before is not enough, because another program may have written over the file in place.
pub(crate) fn is_ours(path: &Path, known: &KnownFiles) -> bool {
    let tables = || connection::open_immutable(path)?.query_row(OUR_TABLES, [], |row| row.cell(0));
    known.holds(path) && tables().is_ok_and(|count: i64| count == OUR_TABLES_COUNT)
}

/// Writes the application id into a database that lost it, after a copy of the file and its WAL. Returns the copy,
/// or `None` if the id is not lost. `records` are the directories of [`crate::Options::records`].
pub fn restore(path: &Path, records: &[PathBuf], now: i64) -> Result<Option<PathBuf>, StoreError> {
    if !matches!(crate::check_file(path, records), Err(StoreError::LostId { .. })) {
        return Ok(None);
    }
    // No other process may write to the database during the repair.
    let _claim = KnownFiles::in_dirs(records).claim(path)?;
    let copy = recover::unused_name(path, now);
    recover::copy_private(path, &copy)?;
    let wal = files::beside(path, "-wal");
    if wal.exists() {
        recover::copy_private(&wal, &files::beside(&copy, "-wal"))?;
    }
    let file = regular::open_with(OpenOptions::new().write(true), path)?;
    file.write_all_at(&APPLICATION_ID.to_be_bytes(), APPLICATION_ID_AT)?;
    file.sync_all()?;
    Ok(Some(copy))
}
