//! Election of the PRIMARY: an OS file lock decides, never a pid.
//!
//! Two locks are taken. The one in the runtime directory decides which process serves its clients. The one beside
//! the database keeps two runtime directories from serving the same file; its path has all links resolved. A third
//! one, by the file's identity, belongs to the store: it covers hard links.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use client::platform;
use model::database::{COMPANION_HEAD_BYTES, Companion, lock_text};
use model::locations::Locations;
use model::{OpError, limits};

/// The right to write to one database; dropping it releases the locks.
pub struct Lock {
    runtime: File,
    path: PathBuf,
    _database: File,
}

impl Lock {
    /// Takes the lock if it is free. A database file that is not ours is refused first, and no lock or directory
    /// is created beside it.
    pub fn try_take(locations: &Locations) -> Result<Option<Lock>, OpError> {
        runtime::check_database(locations)?;
        platform::private_dir(&locations.runtime_dir)?;
        let path = locations.lock();
        let runtime = open(&path)?;
        if !try_lock(&runtime, &path)? || !is_at(&runtime, &path) {
            return Ok(None);
        }
        sign(&runtime, &format!("{}\n", std::process::id()));
        platform::data_dir(&locations.data_dir)?;
        if let Some(folder) = locations.database.parent() {
            // A database named by the user may be in a directory that others use too; only our own directory gets
            // private permissions.
            std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
        }
        let database = take_database(locations)?;
        Ok(Some(Lock { runtime, path, _database: database }))
    }

    /// Whether the lock file is still the one we hold. If not, we are no longer PRIMARY.
    pub fn is_in_place(&self) -> bool {
        is_at(&self.runtime, &self.path)
    }
}

/// The process that holds the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// As the holder wrote it into the file; older builds write nothing.
    pub pid: Option<u32>,
}

/// The holder of the lock in the runtime directory, if there is one. Creates and changes nothing.
pub fn holder(locations: &Locations) -> Option<Holder> {
    let path = locations.lock();
    let meta = std::fs::symlink_metadata(&path).ok()?;
    // A file of another user says nothing about our daemon.
    if !meta.is_file() || meta.uid() != platform::uid() {
        return None;
    }
    let file = regular::open(&path).ok()?;
    if !matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
        return None;
    }
    let mut text = String::new();
    let read = (&file).take(PID_BYTES_MAX).read_to_string(&mut text);
    Some(Holder { pid: read.ok().and_then(|_| text.trim().parse().ok()) })
}

/// Bytes of the longest pid and its newline.
const PID_BYTES_MAX: u64 = 11;

/// Writes a line about the holder into the lock file, for the user. The text is valid only while the lock is held.
fn sign(file: &File, line: &str) {
    if platform::may_write(line.len() as u64) {
        // On a full or read-only disk the holder is not recorded.
        let _ = file.set_len(0).and_then(|()| (&*file).write_all(line.as_bytes()));
    }
}

fn take_database(locations: &Locations) -> Result<File, OpError> {
    let path = Companion::Lock.beside(&locations.database);
    let file = open(&path)?;
    let until = Instant::now() + limits::DATABASE_LOCK_PATIENCE;
    while !try_lock(&file, &path)? {
        if Instant::now() >= until {
            let mut holder = String::new();
            let _ = (&file).take(COMPANION_HEAD_BYTES as u64).read_to_string(&mut holder);
            let at = if holder.is_empty() { String::new() } else { format!(": {}", holder.trim()) };
            return Err(OpError::unavailable(format!(
                "another daemon serves {} from another runtime directory{at}",
                locations.database.display()
            ))
            .hint("Use the same REKINDLE_HOME and REKINDLE_RUNTIME_DIR everywhere, or stop that daemon."));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    sign(&file, &lock_text(&locations.runtime_dir, std::process::id()));
    Ok(file)
}

fn open(path: &Path) -> Result<File, OpError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    // A lock needs no write access: on a read-only disk the file may exist already.
    regular::open_unlinked(&mut options, path).or_else(|error| {
        let to_read = regular::open_unlinked(OpenOptions::new().read(true), path);
        to_read.map_err(|_| failed(path, &error))
    })
}

fn try_lock(file: &File, path: &Path) -> Result<bool, OpError> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(failed(path, &error)),
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let identity = |meta: std::fs::Metadata| (meta.dev(), meta.ino());
    file.metadata().map(identity).ok() == std::fs::metadata(path).map(identity).ok()
}

fn failed(path: &Path, error: &std::io::Error) -> OpError {
    OpError::unavailable(format!("cannot use {}: {error}", path.display()))
        .hint("`rekindle doctor` says what is wrong with it; or set REKINDLE_HOME and REKINDLE_RUNTIME_DIR to directories you may write to.")
}
