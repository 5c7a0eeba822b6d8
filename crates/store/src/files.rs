//! The files of a database on disk: which they are, their modes, and their removal.
//!
//! Nothing here opens a file that SQLite has open: POSIX locks belong to the process, so closing a
//! second handle would silently drop SQLite's locks. Looking is done by `stat` alone.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use model::time;

/// Files that SQLite keeps beside a database.
pub(crate) const SIDECARS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Part of the name of a WAL that could not be checkpointed and was kept: it follows the name of
/// the database.
pub(crate) const KEPT_LOG: &str = ".log-";

/// The identity of a file, independent of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

/// The identity of the file at this path, if there is one.
pub(crate) fn id(path: &Path) -> io::Result<Option<FileId>> {
    match fs::metadata(path) {
        Ok(data) => Ok(Some(FileId { device: data.dev(), inode: data.ino() })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Bytes of the file; a missing one has none.
pub(crate) fn bytes(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |data| data.len())
}

/// `path` with `suffix` behind its name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// The folder a file is in.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The identities of the files of an open database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) database: FileId,
    wal: Option<FileId>,
    shm: Option<FileId>,
}

/// How the files at the path compare with those of the open database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Same,
    /// The database is there, but its `-wal` or `-shm` file is not the one in use.
    SidecarLost,
    Gone,
    Other,
}

impl Standing {
    /// Identifies the files at this path, while the database is open and has its WAL.
    pub(crate) fn of(path: &Path) -> io::Result<Standing> {
        let database = id(path)?.ok_or(io::ErrorKind::NotFound)?;
        Ok(Standing { database, wal: id(&beside(path, "-wal"))?, shm: id(&beside(path, "-shm"))? })
    }

    /// Compares with the files at the path now. If `stat` fails, the file counts as unchanged.
    pub(crate) fn look(&self, path: &Path) -> Look {
        match id(path) {
            Ok(None) => return Look::Gone,
            Ok(Some(now)) if now != self.database => return Look::Other,
            Ok(Some(_)) | Err(_) => {}
        }
        let lost = |kept: Option<FileId>, suffix: &str| {
            kept.is_some() && id(&beside(path, suffix)).is_ok_and(|now| now != kept)
        };
        if lost(self.wal, "-wal") || lost(self.shm, "-shm") {
            Look::SidecarLost
        } else {
            Look::Same
        }
    }

    /// Renames the WAL that was in use, so that it is neither lost nor replayed onto another database. Returns its new
    /// name, or none if the WAL is empty or missing.
    pub(crate) fn keep_own_log(&self, path: &Path, now: i64) -> Option<PathBuf> {
        let log = beside(path, "-wal");
        if self.wal.is_none() || id(&log).ok()? != self.wal || bytes(&log) == 0 {
            return None;
        }
        let stamp = time::file_stamp(now);
        let names =
            (0..u32::MAX).map(|number| beside(path, &format!("{KEPT_LOG}{stamp}-{number}")));
        let kept = names.into_iter().find(|name| !name.exists())?;
        fs::rename(&log, &kept).ok()?;
        Some(kept)
    }

    /// Removes the `-wal` and `-shm` files if they are the ones that were in use: left beside another
    /// database, they would be replayed onto it. Files of other programs stay.
    pub(crate) fn remove_own_sidecars(&self, path: &Path) {
        for (kept, suffix) in [(self.wal, "-wal"), (self.shm, "-shm")] {
            let file = beside(path, suffix);
            if kept.is_some() && id(&file).is_ok_and(|now| now == kept) {
                // A file that cannot be removed shows as an error of the opening that follows.
                let _ = fs::remove_file(&file);
            }
        }
    }
}

/// Makes the folder and those above it, for the user alone.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates an empty file that only the user can access; fails if the path exists.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Removes the group's and others' permissions on the database and its sidecars; the owner's stay.
pub(crate) fn make_private(path: &Path) {
    let sidecars = SIDECARS.map(|suffix| beside(path, suffix));
    for file in std::iter::once(path).chain(sidecars.iter().map(PathBuf::as_path)) {
        let mode = own_mode(file).unwrap_or(0);
        if mode & 0o077 != 0 {
            // This fails for another user's file; whether we can use that file shows when it is opened.
            let _ = fs::set_permissions(file, Permissions::from_mode(mode & 0o700));
        }
    }
}

/// Makes the sidecars writable if they are read-only and the database is not. SQLite creates them with the mode of the
/// database, and they keep that mode when the database becomes writable again.
pub(crate) fn unlock_sidecars(path: &Path) {
    if own_mode(path).is_none_or(|mode| mode & 0o200 == 0) {
        return;
    }
    for file in SIDECARS.map(|suffix| beside(path, suffix)) {
        if own_mode(&file).is_some_and(|mode| mode & 0o600 != 0o600) {
            // If this fails, opening the database reports that it is read-only.
            let _ = fs::set_permissions(&file, Permissions::from_mode(0o600));
        }
    }
}

/// The mode of a regular file at the path itself. `None` for a symbolic link: a change of its mode would change the
/// mode of its target.
fn own_mode(path: &Path) -> Option<u32> {
    let meta = fs::symlink_metadata(path).ok()?;
    meta.is_file().then(|| meta.mode() & 0o777)
}

/// Makes a renaming in this file's folder durable.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder(path))?.sync_all()
}

/// A database under a temporary name; the file and its sidecars are deleted when this is dropped.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    /// A name beside `path` that is unique in this process. Files that an earlier process with the
    /// same process id left under this name are removed.
    pub(crate) fn beside(path: &Path, what: &str) -> Scratch {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let scratch = Scratch(beside(path, &format!(".{what}-{}-{number}", std::process::id())));
        scratch.remove();
        scratch
    }

    fn remove(&self) {
        let _ = fs::remove_file(&self.0);
        for suffix in SIDECARS {
            let _ = fs::remove_file(beside(&self.0, suffix));
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.remove();
    }
}
