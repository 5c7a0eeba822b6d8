//! Scratch files of a killed process. The next process that may write removes and reports those of a restore, a
//! repair or the pause file. Those of a backup are removed by the next backup to the same file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::files;

/// The kinds of scratch files beside the database; see [`files::Scratch`].
const SCRATCH: [&str; 4] = ["restore", FRESH, "header", "patched"];
/// The new database that a repair fills before it moves the damaged one aside.
const FRESH: &str = "fresh";
/// Scratch files beside a copy that is being written.
pub(crate) const PARTIAL: &str = "partial";

/// The leftovers beside the database at `path` and among its backups.
pub(crate) fn find(path: &Path, backups: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Some(database) = path.file_name().and_then(|name| name.to_str()) {
        let paused = format!("{database}-paused");
        found.extend(entries(files::folder(path)).filter(|(name, _)| {
            SCRATCH.iter().any(|what| scratch_pid(name, database, what).is_some())
                || scratch_pid(name, &paused, "new").is_some()
        }));
    }
    found.extend(entries(backups).filter(|(name, _)| {
        let copy = name.split_once(&format!(".{PARTIAL}-")).map(|(copy, _)| copy);
        copy.is_some_and(|copy| {
            copy.starts_with("before-restore-") && scratch_pid(name, copy, PARTIAL).is_some()
        })
    }));
    let mut found: Vec<PathBuf> = found.into_iter().map(|(_, path)| path).collect();
    found.sort();
    found
}

/// Removes the leftovers and returns the removed files. The caller holds the write lock and has not created
/// scratch files yet.
pub(crate) fn sweep(path: &Path, backups: &Path) -> Vec<PathBuf> {
    let mut found = find(path, backups);
    found.retain(|file| fs::remove_file(file).is_ok());
    found
}

/// Removes partial copies to `file` that other processes left. They are not in use: only the process with the
/// lock makes copies, and that is this one.
pub(crate) fn sweep_partial(file: &Path) {
    let Some(copy) = file.file_name().and_then(|name| name.to_str()) else { return };
    for (name, path) in entries(files::folder(file)) {
        if scratch_pid(&name, copy, PARTIAL).is_some_and(|pid| pid != std::process::id()) {
            // A file that cannot be removed does no harm.
            let _ = fs::remove_file(path);
        }
    }
}

/// Finishes a repair that was killed after the damaged database had been moved aside and before the new one
/// was renamed into place. The new one was complete by then.
pub(crate) fn finish_repair(path: &Path) -> io::Result<bool> {
    let Some((fresh, aside)) = unfinished_repair(path) else { return Ok(false) };
    // The WAL of the damaged database must not be replayed onto the new one.
    for suffix in files::SIDECARS {
        match fs::rename(files::beside(path, suffix), files::beside(&aside, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::rename(fresh, path)?;
    files::sync_folder(path)?;
    Ok(true)
}

/// Whether [`finish_repair`] has something to do.
pub(crate) fn is_repair_unfinished(path: &Path) -> bool {
    unfinished_repair(path).is_some()
}

/// The new database and the damaged one of a repair that was killed between its two renames.
fn unfinished_repair(path: &Path) -> Option<(PathBuf, PathBuf)> {
    if fs::symlink_metadata(path).is_ok() {
        return None;
    }
    let database = path.file_name()?.to_str()?;
    let newest = |all: Vec<PathBuf>| {
        all.into_iter().max_by_key(|file| fs::metadata(file).and_then(|meta| meta.modified()).ok())
    };
    let is_whole = |name: &str| !files::SIDECARS.iter().any(|suffix| name.ends_with(suffix));
    let here = || entries(files::folder(path)).filter(|(name, _)| is_whole(name));
    // An incomplete database still has its journal.
    let is_complete =
        |file: &Path| files::SIDECARS.iter().all(|suffix| !files::beside(file, suffix).exists());
    let fresh = here()
        .filter(|(name, file)| scratch_pid(name, database, FRESH).is_some() && is_complete(file));
    let prefix = format!("{database}.corrupt-");
    let aside = here().filter(|(name, _)| name.starts_with(&prefix));
    let fresh = newest(fresh.map(|(_, file)| file).collect());
    let aside = newest(aside.map(|(_, file)| file).collect());
    Some((fresh?, aside?))
}

/// The files of a directory whose names are UTF-8.
fn entries(dir: &Path) -> impl Iterator<Item = (String, PathBuf)> + use<> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
}

/// The process that created this scratch file or its sidecar: `NAME.WHAT-PID-NUMBER`. `None` for any other
/// name, because a user may have chosen it.
fn scratch_pid(file: &str, name: &str, what: &str) -> Option<u32> {
    let rest = file.strip_prefix(name)?.strip_prefix('.')?.strip_prefix(what)?.strip_prefix('-')?;
    let rest = files::SIDECARS.iter().find_map(|end| rest.strip_suffix(end)).unwrap_or(rest);
    let (pid, number) = rest.split_once('-')?;
    number.parse::<u64>().ok()?;
    pid.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_scratch_names_are_leftovers() {
        let of = |file: &str| scratch_pid(file, "a.db", "restore");
        assert_eq!(of("a.db.restore-17-0"), Some(17));
        assert_eq!(of("a.db.restore-17-3-wal"), Some(17));
        for other in
            ["a.db.restore-old", "a.db.restore-1-2.txt", "a.db.restore", "b.db.restore-1-2"]
        {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
