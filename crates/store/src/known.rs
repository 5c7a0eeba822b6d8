//! The record of database files that this user's rekindle has opened: one small file for each, named
//! after the file's identity and not its path, with the path as its content.
//!
//! It decides whether a file without our header is our own database in a damaged state, which is
//! salvaged, or anybody's file, which is left alone. And it is locked while the file is in use for
//! writing, so that a database has one writer whichever of its names leads to it.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use model::limits;

use crate::error::StoreError;
use crate::files;

/// Longest path that an entry of the record can hold, in bytes.
const PATH_BYTES_MAX: u64 = 4096;
/// Entries that are looked at for files that are gone, each time a file is new.
const SWEPT_MAX: usize = 64;

/// The record, in the first of these directories that can be written. Without any directory nothing
/// is recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownFiles {
    dirs: Vec<PathBuf>,
}

/// The right to write to one database file; dropping it gives it up.
pub(crate) struct FileClaim {
    _entry: Option<File>,
}

impl KnownFiles {
    pub(crate) fn in_dirs(dirs: &[PathBuf]) -> KnownFiles {
        KnownFiles { dirs: dirs.to_vec() }
    }

    /// Whether the file at this path was opened before, under whatever name.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        self.entries(path).iter().any(|entry| entry.is_file())
    }

    /// The entries that the file at this path has, or would have.
    pub(crate) fn entries(&self, path: &Path) -> Vec<PathBuf> {
        let Ok(name) = entry_name(path) else { return Vec::new() };
        self.dirs.iter().map(|dir| dir.join(&name)).collect()
    }

    /// Records that the file at this path is opened, and keeps other processes from writing to it
    /// under any name. Where no record can be written there is none: the lock beside the database
    /// still holds, and only a second name of the file goes unnoticed.
    pub(crate) fn claim(&self, path: &Path) -> Result<FileClaim, StoreError> {
        for entry in self.entries(path) {
            match claim(&entry, path) {
                Ok(entry) => return Ok(FileClaim { _entry: Some(entry) }),
                Err(Unclaimed::Refused(error)) => return Err(error),
                Err(Unclaimed::NoRecord) => {}
            }
        }
        Ok(FileClaim { _entry: None })
    }
}

/// Why an entry was not locked.
enum Unclaimed {
    /// The file has another name that is to be used, or another process writes to it.
    Refused(StoreError),
    /// The entry cannot be written.
    NoRecord,
}

impl From<io::Error> for Unclaimed {
    fn from(_: io::Error) -> Unclaimed {
        Unclaimed::NoRecord
    }
}

fn claim(entry: &Path, path: &Path) -> Result<File, Unclaimed> {
    files::make_folder(files::folder(entry))?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let mut file = regular::open_with(&mut options, entry)?;
    let mut known = Vec::new();
    (&file).take(PATH_BYTES_MAX).read_to_end(&mut known)?;
    let known = Path::new(OsStr::from_bytes(&known));
    if is_another_name(known, path) {
        let (path, known) = (path.display().to_string(), known.display().to_string());
        return Err(Unclaimed::Refused(StoreError::OtherName { path, known }));
    }
    // A process that was killed gives up its locks one after the other: this one may be the last.
    let until = Instant::now() + limits::DATABASE_LOCK_PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(_)) => return Err(Unclaimed::NoRecord),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => {
                return Err(Unclaimed::Refused(StoreError::Busy));
            }
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(5)),
        }
    }
    if known != path {
        let is_new = known.as_os_str().is_empty();
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(path.as_os_str().as_bytes())?;
        if is_new {
            forget_missing(files::folder(entry));
        }
    }
    Ok(file)
}

/// Whether the file at `path` also is at `known`, in another directory or under another name there: a
/// hard link or a mounted file. The directory itself may have several names.
fn is_another_name(known: &Path, path: &Path) -> bool {
    let id = |path: &Path| files::id(path).ok().flatten();
    let place = |path: &Path| (id(files::folder(path)), path.file_name().map(OsStr::to_owned));
    known != path && id(known).is_some() && id(known) == id(path) && place(known) != place(path)
}

/// Removes entries of files that are not at their path any more.
fn forget_missing(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten().take(SWEPT_MAX) {
        let (name, entry) = (entry.file_name(), entry.path());
        let Ok(path) = regular::read(&entry, PATH_BYTES_MAX) else { continue };
        let path = Path::new(OsStr::from_bytes(&path));
        if entry_name(path).is_ok_and(|known| *known == *name) || path.as_os_str().is_empty() {
            continue;
        }
        // A database that was deleted while it is in use may come back.
        if regular::open(&entry).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(entry);
        }
    }
}

/// The name for a file's entry: its inode and the time of its creation, which outlast a restart of the
/// machine. Device numbers do not on every file system; they serve where there is no such time.
fn entry_name(path: &Path) -> io::Result<String> {
    let meta = fs::metadata(path)?;
    let born = meta.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    Ok(match born {
        Some(born) => format!("{:x}-{:x}", meta.ino(), born.as_nanos()),
        None => format!("{:x}-device-{:x}", meta.ino(), meta.dev()),
    })
}
