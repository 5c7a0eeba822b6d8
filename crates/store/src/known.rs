//! The record of database files that this user's rekindle has opened: one small file for each, named
//! after the file's identity and not its path. It decides whether a file without our header is our
//! own database in a damaged state, which is salvaged, or anybody's file, which is left alone.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::files;

/// Longest path that an entry of the record can hold, in bytes.
const PATH_BYTES_MAX: u64 = 4096;

/// The record, in the first of these directories that can be written. Without any directory nothing
/// is recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownFiles {
    dirs: Vec<PathBuf>,
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

    /// Records that the file at this path was opened. A record that cannot be written is only missed
    /// when the header gets damaged, so that is no reason to refuse the database.
    pub(crate) fn add(&self, path: &Path) {
        let _ = self.entries(path).iter().find(|entry| write(entry, path).is_ok());
    }
}

fn write(entry: &Path, path: &Path) -> io::Result<()> {
    let text = path.as_os_str().as_bytes();
    if regular::read(entry, PATH_BYTES_MAX).is_ok_and(|found| found == text) {
        return Ok(());
    }
    files::make_folder(files::folder(entry))?;
    let new = files::Scratch::beside(entry, "new");
    files::create_private(&new.0)?.write_all(text)?;
    fs::rename(&new.0, entry)
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
