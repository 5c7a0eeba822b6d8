//! Changes files, all of them or none: each is replaced atomically, and restored if a later one fails.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use model::{Code, OpError};

use crate::place::unusable;
use crate::plan::FileChange;

/// The mode of a file that we create, before the user's umask.
const MODE: u32 = 0o644;

/// Applies the changes in order. If one fails, those before it are rolled back.
pub(crate) fn apply(changes: &[FileChange]) -> Result<(), OpError> {
    let mut done: Vec<&FileChange> = Vec::new();
    for change in changes.iter().filter(|change| change.is_change()) {
        done.push(change);
        if let Err(error) = make(change) {
            roll_back(&done);
            return Err(error);
        }
    }
    for change in done {
        // The old bytes are in the record; the next run removes a leftover file.
        let _ = fs::remove_file(old(&change.target));
        if change.after.is_none() {
            remove_folders(&change.folders);
        }
    }
    Ok(())
}

fn make(change: &FileChange) -> Result<(), OpError> {
    let target = &change.target;
    let failed = |error: io::Error| unusable(&change.path, &error);
    let there = match regular::read(target, u64::MAX) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    if there.as_deref() != change.before.as_deref().map(str::as_bytes) {
        let message = format!("{} was just changed by another program", change.path.display());
        return Err(OpError::new(Code::Conflict, message).hint("Run the command again."));
    }
    if there.is_some() {
        let _ = fs::remove_file(old(target));
        // On file systems without hard links, a rollback writes the old bytes again.
        let _ = fs::hard_link(target, old(target));
    }
    match &change.after {
        Some(text) => {
            let folder = target.parent().unwrap_or(Path::new("/"));
            make_folders(folder).map_err(failed)?;
            replace(target, text.as_bytes(), MODE).map_err(failed)
        }
        None => remove(target).map_err(failed),
    }
}

/// Rolls back changes of this run. If that fails, the record still has the old bytes.
fn roll_back(done: &[&FileChange]) {
    for change in done.iter().rev() {
        let target = &change.target;
        let _ = fs::remove_file(scratch(target));
        let _ = match &change.before {
            Some(_) if old(target).exists() => fs::rename(old(target), target),
            Some(text)
                if regular::read(target, u64::MAX).ok().as_deref() != Some(text.as_bytes()) =>
            {
                write(target, text.as_bytes(), MODE)
            }
            Some(_) => Ok(()),
            None => fs::remove_file(target),
        };
        // Renaming a file onto a hard link of itself keeps both names.
        let _ = fs::remove_file(old(target));
        if change.before.is_none() {
            remove_folders(&change.folders);
        }
    }
}

/// Replaces a file atomically and keeps its mode; a new file gets `mode`.
pub(crate) fn replace(target: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    fault::point()?;
    write(target, bytes, mode)
}

fn write(target: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let temporary = scratch(target);
    let written = write_beside(target, &temporary, bytes, mode);
    if written.is_err() {
        // The error is reported, so the incomplete file is removed.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write_beside(target: &Path, temporary: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    match fs::remove_file(temporary) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(temporary)?;
    if let Ok(meta) = fs::metadata(target) {
        let mode = meta.permissions().mode() & 0o7777;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
    }
    file.write_all(bytes)?;
    file.sync_all()?;
    fault::point()?;
    fs::rename(temporary, target)?;
    if let Some(folder) = target.parent() {
        // Not every file system can sync a directory.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    fault::point()
}

/// Removes a file. A missing file is not an error.
pub(crate) fn remove(target: &Path) -> io::Result<()> {
    fault::point()?;
    match fs::remove_file(target) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => fault::point(),
    }
}

/// Removes scratch files that an interrupted run left beside a file.
pub(crate) fn remove_scratch_files(target: &Path) {
    // Usually there are none.
    let _ = fs::remove_file(scratch(target));
    let _ = fs::remove_file(old(target));
}

fn beside(target: &Path, ending: &str) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.rekindle-{ending}"))
}

/// The path where a new version is written before it replaces the file.
fn scratch(target: &Path) -> PathBuf {
    beside(target, "new")
}

/// The path of the replaced version until the run is complete.
pub(crate) fn old(target: &Path) -> PathBuf {
    beside(target, "old")
}

/// The directories that have to be created for a file, the outermost first.
pub(crate) fn missing_folders(target: &Path) -> Vec<PathBuf> {
    let parents = target.ancestors().skip(1);
    let mut missing: Vec<PathBuf> =
        parents.take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Creates this directory and its missing parents.
pub(crate) fn make_folders(folder: &Path) -> io::Result<()> {
    for folder in missing_folders(&folder.join("file")) {
        fault::point()?;
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Removes directories that we created, if they are empty; some may not have been created yet.
pub(crate) fn remove_folders(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        // If a directory is not empty, its parents are not either.
        let _ = fs::remove_dir(folder);
    }
}

/// Lets tests interrupt an installation, or make it fail, at any of its writes.
mod fault {
    use std::io;

    /// A point at which the disk may be full or the process may be killed.
    #[cfg(debug_assertions)]
    pub(super) fn point() -> io::Result<()> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static PASSED: AtomicU32 = AtomicU32::new(0);
        let passed = PASSED.fetch_add(1, Ordering::Relaxed) + 1;
        let Ok(asked) = std::env::var("REKINDLE_INSTALL_FAULT") else { return Ok(()) };
        match asked.split_once(':') {
            Some(("stop", at)) if at == passed.to_string() => std::process::abort(),
            Some(("fail", at)) if at == passed.to_string() => {
                Err(io::ErrorKind::StorageFull.into())
            }
            _ => Ok(()),
        }
    }

    #[cfg(not(debug_assertions))]
    pub(super) fn point() -> io::Result<()> {
        Ok(())
    }
}
