//! Copies of the whole database: the online backup, and the check of a file that is to be restored.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use model::{Code, OpError};
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use crate::connection::{self, Setup};
use crate::error::StoreError;
use crate::files::{self, FileId, Scratch};
use crate::health;
use crate::known::KnownFiles;
use crate::leftovers;

/// Called with the number of remaining pages and of all pages. An error aborts the copy and deletes the incomplete
/// file.
pub(crate) type CopyProgress<'p> = dyn Fn(u32, u32) -> Result<(), OpError> + 'p;

/// Pages copied between two reports of progress.
const PAGES_PER_STEP: i32 = 256;

/// Copies `source` to a new file. The copy is a single file without a WAL.
pub(crate) fn copy(
    source: &Connection,
    file: &Path,
    busy: Duration,
    progress: &CopyProgress<'_>,
) -> Result<(), OpError> {
    refuse_existing(file)?;
    leftovers::sweep_partial(file);
    let partial = Scratch::beside(file, leftovers::PARTIAL);
    drop(files::create_private(&partial.0).map_err(|error| unwritable(file, &error))?);
    copy_pages(source, &partial.0, busy, progress)?;
    // Another process may have created the file since the first check.
    refuse_existing(file)?;
    fs::rename(&partial.0, file)
        .and_then(|()| files::sync_folder(file))
        .map_err(|error| unwritable(file, &error))
}

fn copy_pages(
    source: &Connection,
    to: &Path,
    busy: Duration,
    progress: &CopyProgress<'_>,
) -> Result<(), OpError> {
    let mut target = connection::connect(to, busy)?;
    let failed = |error: rusqlite::Error| OpError::from(StoreError::of_any(&error));
    // An open snapshot keeps later commits out: the copy never has to start again.
    let snapshot = source.is_autocommit();
    if snapshot {
        source.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema;").map_err(failed)?;
    }
    let copied = step_through(source, &mut target, progress);
    if snapshot {
        source.execute_batch("ROLLBACK").map_err(failed)?;
    }
    copied?;
    target.pragma_update(None, "journal_mode", "DELETE").map_err(failed)?;
    drop(target);
    fs::File::open(to)
        .and_then(|file| file.sync_all())
        .map_err(|error| OpError::from(StoreError::from(error)))
}

fn step_through(
    source: &Connection,
    target: &mut Connection,
    progress: &CopyProgress<'_>,
) -> Result<(), OpError> {
    let failed = |error: rusqlite::Error| OpError::from(StoreError::of_any(&error));
    let backup = Backup::new(source, target).map_err(failed)?;
    loop {
        let step = backup.step(PAGES_PER_STEP).map_err(failed)?;
        let pages = backup.progress();
        let number = |n: i32| u32::try_from(n).unwrap_or(0);
        progress(number(pages.remaining), number(pages.pagecount))?;
        match step {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            // Busy or locked. This is unexpected: only we use the target, and the source is a snapshot.
            _ => {
                let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
                return Err(failed(rusqlite::Error::SqliteFailure(busy, None)));
            }
        }
    }
}

fn refuse_existing(file: &Path) -> Result<(), OpError> {
    if file.symlink_metadata().is_ok() {
        return Err(OpError::new(Code::Conflict, format!("{} exists already", file.display()))
            .with("param", "file")
            .hint("Name a file that does not exist yet."));
    }
    Ok(())
}

fn unwritable(file: &Path, error: &io::Error) -> OpError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => OpError::invalid(
            "file",
            format!("the folder {} does not exist", files::folder(file).display()),
        )
        .hint("Make the folder first, or name a file in another one."),
        io::ErrorKind::PermissionDenied => {
            OpError::invalid("file", format!("{} cannot be written", file.display()))
                .hint("Name a file in a folder that you may write to.")
        }
        _ => StoreError::from(io::Error::from(error.kind())).into(),
    }
}

/// Copies `file` beside the database and checks the copy: it is ours, not newer than this build,
/// and sound. Neither `file` nor the database is touched.
pub(crate) fn prepare_restore(
    file: &Path,
    database: &Path,
    current: Option<FileId>,
    setup: &Setup,
) -> Result<Scratch, OpError> {
    let refuse = |what: &str| {
        OpError::invalid("file", format!("{} {what}", file.display()))
            .hint("Name a file that `rekindle backup` wrote.")
    };
    let unreadable = |error: io::Error| refuse(&format!("cannot be read: {error}"));
    match files::id(file).map_err(unreadable)? {
        None => {
            return Err(OpError::not_found(format!("there is no file {}", file.display()))
                .with("param", "file")
                .hint("Name a file that `rekindle backup` wrote."));
        }
        found if found == current => return Err(refuse("is the database that is in use")),
        Some(_) => {}
    }
    judged(connection::refuse_foreign(file, &KnownFiles::default()), &refuse)?;
    let copy = Scratch::beside(database, "restore");
    for suffix in ["", "-wal"] {
        let from = files::beside(file, suffix);
        if suffix.is_empty() || files::bytes(&from) > 0 {
            let mut from = regular::open(&from).map_err(unreadable)?;
            files::create_private(&files::beside(&copy.0, suffix))
                .and_then(|mut to| io::copy(&mut from, &mut to))
                .map_err(|error| OpError::from(StoreError::from(error)))?;
        }
    }
    judged(check(&copy.0, setup), &refuse)?;
    Ok(copy)
}

/// Turns the failure of a check into an error about the file that the user named.
fn judged(
    checked: Result<(), StoreError>,
    refuse: &dyn Fn(&str) -> OpError,
) -> Result<(), OpError> {
    match checked {
        Ok(()) => Ok(()),
        Err(StoreError::NewerSchema { found, ours }) => {
            Err(refuse(&format!("has schema version {found}, this build knows {ours}"))
                .hint("Use the newer rekindle that wrote it."))
        }
        Err(StoreError::Refused { why, .. }) => Err(refuse(&why)),
        Err(StoreError::Corrupt(what)) => Err(refuse(&format!("is not a sound database: {what}"))),
        Err(other) => Err(other.into()),
    }
}

/// Checks the copy made for a restore, and moves its WAL into the file.
fn check(copy: &Path, setup: &Setup) -> Result<(), StoreError> {
    connection::refuse_foreign(copy, &KnownFiles::default())?;
    let db = connection::connect(copy, setup.busy)?;
    let failed = |error: rusqlite::Error| StoreError::of_any(&error);
    let pages: i64 = db.pragma_query_value(None, "page_count", |row| row.get(0)).map_err(failed)?;
    if pages == 0 {
        return Err(StoreError::Corrupt("it is empty".into()));
    }
    connection::refuse_foreign_content(&db, copy)?;
    // A damaged full-text index is rebuilt after the restore.
    let (findings, _) = health::findings(&db, &setup.registry).map_err(failed)?;
    if let Some(found) = findings.into_iter().next() {
        return Err(StoreError::Corrupt(found));
    }
    connection::checkpoint(&db)?;
    db.pragma_update(None, "journal_mode", "DELETE").map_err(failed)?;
    drop(db);
    fs::File::open(copy)?.sync_all()?;
    Ok(())
}
