//! The record of the database files that this user has opened: one small file for each, named after the
//! file's identity and not its path, with the path as its content.
//!
//! It decides whether a file without our header is our own damaged database, which is salvaged, or an
//! unrelated file, which is not touched. The entry is locked while the database is open for writing, so that a
//! database has one writer even if it has several names. The record is in the user's home directory; a second
//! entry, in a directory that does not depend on the environment, is locked for processes with another home.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use model::limits;

use crate::error::StoreError;
use crate::files;

/// Longest path in an entry of the record, in bytes.
const PATH_BYTES_MAX: u64 = 4096;
/// How many entries are checked for deleted databases each time an entry is added.
const SWEPT_MAX: usize = 64;
/// How many times a shared lock is tried while other processes remove its file at the same time.
const CLAIM_TRIES_MAX: usize = 16;

/// The record, in the first of these directories that is writable. Without a directory nothing is recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownFiles {
    dirs: Vec<PathBuf>,
    /// The directory of the locks that processes with other homes use too.
    shared_locks: Option<PathBuf>,
}

/// The lock that allows writing to one database file; released when dropped.
pub(crate) struct FileClaim {
    _entry: Option<File>,
    _shared: Option<SharedClaim>,
}

/// A locked entry in the directory of shared locks.
struct SharedClaim {
    path: PathBuf,
    database: PathBuf,
    _file: File,
}

impl Drop for SharedClaim {
    /// Removes the entry, unless the WAL still has writes. A process that opened the database under
    /// another name (a hard link) would not see this WAL; the remaining entry makes it refuse that name.
    fn drop(&mut self) {
        if files::bytes(&files::beside(&self.database, "-wal")) == 0 {
            // The lock is still held, and a process that waits for it notices the removal.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl KnownFiles {
    pub(crate) fn in_dirs(dirs: &[PathBuf]) -> KnownFiles {
        KnownFiles::new(dirs, None)
    }

    pub(crate) fn new(dirs: &[PathBuf], shared_locks: Option<PathBuf>) -> KnownFiles {
        KnownFiles { dirs: dirs.to_vec(), shared_locks }
    }

    /// Whether the file at this path was opened before, under any name.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        self.entries(path).iter().any(|entry| entry.is_file())
    }

    /// The entries that the file at this path has, or would have.
    pub(crate) fn entries(&self, path: &Path) -> Vec<PathBuf> {
        let Ok(name) = entry_name(path) else { return Vec::new() };
        self.dirs.iter().map(|dir| dir.join(&name)).collect()
    }

    /// Records that the file at this path is open, and keeps other processes from writing to it under any
    /// name. If no record can be written, the lock beside the database still works; only a hard link to the
    /// file goes unnoticed.
    pub(crate) fn claim(&self, path: &Path) -> Result<FileClaim, StoreError> {
        let shared = self.claim_shared(path)?;
        for entry in self.entries(path) {
            match claim(&entry, path) {
                Ok(entry) => return Ok(FileClaim { _entry: Some(entry), _shared: shared }),
                Err(Unclaimed::Refused(error)) => return Err(error),
                Err(Unclaimed::NoRecord) => {}
            }
        }
        Ok(FileClaim { _entry: None, _shared: shared })
    }

    fn claim_shared(&self, path: &Path) -> Result<Option<SharedClaim>, StoreError> {
        let Some(dir) = &self.shared_locks else { return Ok(None) };
        let Ok(name) = entry_name(path) else { return Ok(None) };
        // If this fails, the directory exists or cannot be used. Another user may have created the directory, or a link
        // in its place.
        let _ = DirBuilder::new().mode(0o700).create(dir);
        if !regular::is_private_dir(dir) {
            return Ok(None);
        }
        let entry = dir.join(name);
        for _ in 0..CLAIM_TRIES_MAX {
            match claim(&entry, path) {
                // A process that ended in between has removed the file that is locked now.
                Ok(file) if !is_at(&file, &entry) => {}
                Ok(file) => {
                    let (path, database) = (entry, path.to_owned());
                    return Ok(Some(SharedClaim { path, database, _file: file }));
                }
                Err(Unclaimed::Refused(error)) => return Err(error),
                Err(Unclaimed::NoRecord) => return Ok(None),
            }
        }
        Err(StoreError::Busy)
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let identity = |meta: fs::Metadata| (meta.dev(), meta.ino());
    file.metadata().map(identity).ok() == fs::symlink_metadata(path).map(identity).ok()
}

/// Why an entry was not locked.
enum Unclaimed {
    /// The file was opened under another name, or another process writes to it.
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
    let mut file = regular::open_unlinked(&mut options, entry)?;
    let mut known = Vec::new();
    (&file).take(PATH_BYTES_MAX).read_to_end(&mut known)?;
    let known = Path::new(OsStr::from_bytes(&known));
    if is_another_name(known, path) {
        let (path, known) = (path.display().to_string(), known.display().to_string());
        return Err(Unclaimed::Refused(StoreError::OtherName { path, known }));
    }
    // The locks of a killed process are released one after the other: this one may be the last.
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

/// Whether the file at `path` is also at `known`, a different path: a hard link or a mounted file. Two names
/// of the same directory do not count.
fn is_another_name(known: &Path, path: &Path) -> bool {
    let id = |path: &Path| files::id(path).ok().flatten();
    let place = |path: &Path| (id(files::folder(path)), path.file_name().map(OsStr::to_owned));
    known != path && id(known).is_some() && id(known) == id(path) && place(known) != place(path)
}

/// Removes the entries of files that no longer exist at their path.
fn forget_missing(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten().take(SWEPT_MAX) {
        let (name, entry) = (entry.file_name(), entry.path());
        let Ok(path) = regular::read(&entry, PATH_BYTES_MAX) else { continue };
        let path = Path::new(OsStr::from_bytes(&path));
        if entry_name(path).is_ok_and(|known| *known == *name) || path.as_os_str().is_empty() {
            continue;
        }
        // The entry of a database that was deleted while in use is locked, and is kept: the file
        // may be created again.
        if regular::open(&entry).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(entry);
        }
    }
}

/// The name of a file's entry: its inode and creation time, which survive a reboot. Device numbers may change with a
/// reboot; they are used only if there is no creation time.
fn entry_name(path: &Path) -> io::Result<String> {
    let meta = fs::metadata(path)?;
    let born = meta.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    Ok(match born {
        Some(born) => format!("{:x}-{:x}", meta.ino(), born.as_nanos()),
        None => format!("{:x}-device-{:x}", meta.ino(), meta.dev()),
    })
}
