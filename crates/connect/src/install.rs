//! Connects agents and undoes it: plans everything, records the previous content, then changes the files.

use std::path::{Path, PathBuf};

use agents::wiring::{WIRINGS, Wiring};
use model::OpError;

use crate::apply;
use crate::binary::{self, Copy};
use crate::ours::plugin_programs;
use crate::place::{Around, ConnectScope, unreadable_part, unusable};
use crate::plan::{self, FileAction, FileChange, SHELL, ShellFile};
use crate::record::{InstallRecord, LockedRecord, RecordEntry, load};

/// The parameters of an installation.
pub struct InstallRequest<'a> {
    pub agents: &'a [&'static Wiring],
    pub scope: ConnectScope,
    /// The program that agents will start.
    pub binary: &'a Path,
    /// Whether agents without a status line get ours.
    pub status_line: bool,
    /// The copy that has to be made first, if one is needed.
    pub copy: Option<Copy>,
    /// Completions and the man page.
    pub shell: &'a [ShellFile],
    pub data_dir: &'a Path,
}

/// The changes of an installation, made or planned.
pub struct InstallOutcome {
    pub files: Vec<FileChange>,
    pub copy: Option<FileAction>,
    /// Older copies that no agent starts any more, and that were removed.
    pub removed: Vec<PathBuf>,
}

impl InstallOutcome {
    pub fn changes_nothing(&self) -> bool {
        !self.files.iter().any(FileChange::is_change)
            && self.copy.is_none_or(|doing| doing == FileAction::Kept)
    }
}

/// The result of an uninstallation.
#[derive(Default)]
pub struct Undone {
    pub files: Vec<FileChange>,
    /// Copies of the program that were removed.
    pub removed: Vec<PathBuf>,
    /// Copies that are kept, each with the directory of the plugin that starts it.
    pub kept: Vec<(PathBuf, PathBuf)>,
    /// Files of the user at the path of a copy; they are kept.
    pub replaced: Vec<PathBuf>,
    /// Directories that were created for the record, the outermost first. The memory's data may still be in them.
    pub folders: Vec<PathBuf>,
    /// Files that could not be read, and why: they may contain our entries.
    pub unseen: Vec<String>,
    /// Errors for files that still contain our entries because the change could not be undone. They stay in
    /// the record.
    pub failed: Vec<OpError>,
}

/// The changes that an installation would make.
pub fn preview(asked: &InstallRequest<'_>, around: &Around<'_>) -> Result<InstallOutcome, OpError> {
    // A record that cannot be read also prevents an installation.
    load(asked.data_dir)?;
    plan_all(asked, around)
}

fn plan_all(asked: &InstallRequest<'_>, around: &Around<'_>) -> Result<InstallOutcome, OpError> {
    let Some(path) = asked.binary.to_str() else {
        return Err(OpError::invalid("bin", "the path of the program is not UTF-8")
            .hint("Choose another path with --bin PATH."));
    };
    let mut files = Vec::new();
    for wiring in asked.agents {
        files.extend(plan::wire(wiring, asked.scope, (path, asked.status_line), around)?);
    }
    for whole in asked.shell {
        files.push(plan::put(whole, around)?);
    }
    let copy = asked.copy.as_ref().map(binary::plan).transpose()?;
    Ok(InstallOutcome { files, copy, removed: Vec::new() })
}

/// Connects the agents. Everything is planned and checked before the first file changes.
pub fn install(asked: &InstallRequest<'_>, around: &Around<'_>) -> Result<InstallOutcome, OpError> {
    let locked = LockedRecord::open(asked.data_dir)?;
    let record = locked.load()?;
    remove_scratch_files(&record);
    let mut outcome = plan_all(asked, around)?;
    if outcome.changes_nothing() {
        return Ok(outcome);
    }
    let mut next = record.clone();
    if record.is_empty() {
        next.folders.clone_from(&locked.made);
    }
    for change in outcome.files.iter().filter(|change| change.is_change()) {
        next.put(plan::entry(change, &record));
    }
    let copied = asked.copy.as_ref().zip(outcome.copy.filter(|doing| *doing != FileAction::Kept));
    let folders = copied.map(|(copy, _)| apply::missing_folders(&copy.to)).unwrap_or_default();
    if let Some((copy, _)) = copied {
        let before = next.binary.replace(copy.to.clone());
        next.older.extend(before);
        next.older.retain(|older| *older != copy.to);
        next.folders
            .extend(folders.iter().filter(|folder| !record.folders.contains(folder)).cloned());
    }
    let changed = locked.save(&next).and_then(|()| {
        copied.map_or(Ok(()), |(copy, _)| binary::place(copy))?;
        apply::apply(&outcome.files)
    });
    if let Err(error) = changed {
        if let Some((copy, doing)) = copied {
            binary::take_back(copy, doing, &folders);
        }
        // The first error is the one that the user needs.
        let _ = locked.save(&record);
        return Err(error);
    }
    next.copies().for_each(|copy| apply::remove_scratch_files(copy));
    if !next.older.is_empty() {
        outcome.removed = remove_unused(&mut next);
        // A record that still names a removed copy does no harm.
        let _ = locked.save(&next);
    }
    Ok(outcome)
}

/// Removes scratch files of an interrupted run.
fn remove_scratch_files(record: &InstallRecord) {
    let entries = record.files.iter().filter(|entry| plan::confined(entry).is_ok());
    entries.for_each(|entry| apply::remove_scratch_files(&entry.target));
    record.copies().for_each(|copy| apply::remove_scratch_files(copy));
}

/// Removes older copies that no connected file starts any more, with the directories that were created for them.
fn remove_unused(record: &mut InstallRecord) -> Vec<PathBuf> {
    let started = plan::programs(record);
    let is_started = |copy: &PathBuf| started.iter().any(|program| Path::new(program) == copy);
    let (kept, unused): (Vec<_>, Vec<_>) = record.older.drain(..).partition(is_started);
    record.older = kept;
    let mut removed = Vec::new();
    // A file of the user at the path of a copy is not removed.
    for copy in unused.into_iter().filter(|copy| binary::is_ours(copy) || !copy.exists()) {
        match apply::remove(&copy) {
            Ok(()) => removed.push(copy),
            // The next run tries again.
            Err(_) => record.older.push(copy),
        }
    }
    // Directories that are not empty stay, and stay in the record.
    let folders = std::mem::take(&mut record.folders);
    let gone = |folder: &&PathBuf| {
        removed.iter().any(|copy| copy.starts_with(folder)) && std::fs::remove_dir(folder).is_ok()
    };
    let gone: Vec<PathBuf> = folders.iter().rev().filter(gone).cloned().collect();
    record.folders = folders.into_iter().filter(|folder| !gone.contains(folder)).collect();
    removed
}

/// The files of these agents that cannot be read, and why.
fn unseen(asked: &dyn Fn(&str) -> bool, around: &Around<'_>) -> Vec<String> {
    let wirings = WIRINGS.iter().filter(|wiring| asked(wiring.agent));
    let mut all = Vec::new();
    for file in wirings.flat_map(|wiring| wiring.files) {
        let place = around.file(file, ConnectScope::User).and_then(|path| unreadable_part(&path));
        all.extend(place.filter(|place| !all.contains(place)));
    }
    all
}

/// The changes that remove our entries from files of these agents that are not in the record, and the errors
/// for files where that is not possible.
fn unrecorded(
    record: &InstallRecord,
    asked: &dyn Fn(&str) -> bool,
    around: &Around<'_>,
) -> (Vec<FileChange>, Vec<OpError>) {
    let mut files: Vec<FileChange> = Vec::new();
    let mut failed: Vec<OpError> = Vec::new();
    for wiring in WIRINGS.iter().filter(|wiring| asked(wiring.agent)) {
        for scope in [ConnectScope::User, ConnectScope::Project] {
            for file in wiring.files {
                let Some(path) = around.file(file, scope) else { continue };
                // In the home directory both scopes have the same path.
                let is_known = files.iter().any(|change| change.path == path);
                if is_known || record.of(&path).is_some() {
                    continue;
                }
                match plan::clear(wiring, file, scope, around) {
                    Ok(change) => files.extend(change),
                    Err(error) if failed.iter().any(|known| known.message == error.message) => {}
                    Err(error) => failed.push(error),
                }
            }
        }
    }
    (files, failed)
}

/// Records that a plugin in this directory starts the program at this path, if that is a copy of ours.
pub fn remember_plugin(folder: &Path, binary: &Path, data_dir: &Path) -> Result<(), OpError> {
    if !load(data_dir)?.copies().any(|copy| copy == binary) {
        return Ok(());
    }
    let locked = LockedRecord::open(data_dir)?;
    let mut record = locked.load()?;
    if record.plugins.iter().any(|known| known == folder) {
        return Ok(());
    }
    record.plugins.push(folder.to_owned());
    locked.save(&record)
}

/// Removes copies from a record unless a plugin starts them. Returns the removed ones, and the others with the
/// plugin's directory.
fn take_unused_copies(record: &mut InstallRecord) -> (Vec<PathBuf>, Vec<(PathBuf, PathBuf)>) {
    let starts = |copy: &PathBuf, folder: &&PathBuf| {
        plugin_programs(folder).iter().any(|program| Path::new(program) == copy)
    };
    let (mut gone, mut kept) = (Vec::new(), Vec::new());
    for copy in record.copies().filter(|copy| copy.exists()) {
        match record.plugins.iter().find(|folder| starts(copy, folder)) {
            Some(folder) => kept.push((copy.clone(), folder.clone())),
            None => gone.push(copy.clone()),
        }
    }
    let is_kept = |copy: &PathBuf| kept.iter().any(|(kept, _)| kept == copy);
    record.binary = record.binary.take().filter(is_kept);
    record.older.retain(is_kept);
    (gone, kept)
}

/// Undoes these entries and returns the changes. An entry that cannot be undone is put into `left`; the others are
/// still undone.
fn undo_all(
    entries: Vec<RecordEntry>,
    around: &Around<'_>,
    left: &mut Vec<RecordEntry>,
    failed: &mut Vec<OpError>,
) -> Vec<FileChange> {
    let mut files = Vec::new();
    for entry in &entries {
        match plan::undo(entry, around) {
            Ok(change) => files.push(change),
            Err(error) => {
                failed.push(error.with("agent", entry.agent.as_str()));
                left.push(entry.clone());
            }
        }
    }
    apply_each(files, &entries, left, failed)
}

/// Applies each change by itself, so that a file that cannot be written blocks no other. The entry of such a file is
/// put into `left`. Returns the changes that were made.
fn apply_each(
    changes: Vec<FileChange>,
    entries: &[RecordEntry],
    left: &mut Vec<RecordEntry>,
    failed: &mut Vec<OpError>,
) -> Vec<FileChange> {
    let mut made = Vec::new();
    for change in changes {
        match apply::apply(std::slice::from_ref(&change)) {
            Ok(()) => made.push(change),
            Err(error) => {
                failed.push(error.with("agent", change.agent.as_str()));
                left.extend(entries.iter().find(|entry| entry.path == change.path).cloned());
            }
        }
    }
    made
}

/// Undoes the installation of these agents; without `agents` of all, including completions and the man page.
pub fn uninstall(
    agents: Option<&[&'static Wiring]>,
    data_dir: &Path,
    around: &Around<'_>,
) -> Result<Undone, OpError> {
    let asked = |name: &str| match agents {
        Some(agents) => agents.iter().any(|wiring| wiring.agent == name),
        None => true,
    };
    let locked = match LockedRecord::open(data_dir) {
        Ok(locked) => locked,
        // Without a data directory and without entries of ours there is nothing to undo.
        Err(error) => {
            let (files, failed) = unrecorded(&InstallRecord::default(), &asked, around);
            if data_dir.exists() || !files.is_empty() {
                return Err(error);
            }
            return Ok(Undone { unseen: unseen(&asked, around), failed, ..Undone::default() });
        }
    };
    let record = locked.load_usable()?;
    remove_scratch_files(&record);
    let (gone, mut left): (Vec<_>, Vec<_>) =
        record.files.iter().cloned().partition(|entry| asked(&entry.agent));
    let mut failed: Vec<OpError> = record.bad.iter().map(|bad| bad.error(data_dir)).collect();
    let mut files = undo_all(gone.clone(), around, &mut left, &mut failed);
    let (others, unclear) = unrecorded(&record, &asked, around);
    failed.extend(unclear);
    files.extend(apply_each(others, &[], &mut left, &mut failed));
    // Completions are of no use after the program is removed.
    let last = failed.is_empty() && left.iter().all(|entry| entry.agent == SHELL);
    if last {
        let shell = std::mem::take(&mut left);
        files.extend(undo_all(shell, around, &mut left, &mut failed));
    }
    // An interrupted run may have left these directories.
    let made = gone.iter().filter(|entry| {
        entry.before.is_none() && !entry.target.exists() && plan::confined(entry).is_ok()
    });
    made.for_each(|entry| apply::remove_folders(&entry.folders));
    let mut next = InstallRecord { files: left, ..record.clone() };
    let (mut removed, mut kept, mut replaced) = (Vec::new(), Vec::new(), Vec::new());
    if last {
        (removed, kept) = take_unused_copies(&mut next);
        (removed, replaced) = removed.into_iter().partition(|copy| binary::is_ours(copy));
        removed.retain(|copy| match apply::remove(copy) {
            Ok(()) => true,
            Err(error) => {
                failed.push(unusable(copy, &error));
                next.older.push(copy.clone());
                false
            }
        });
    } else if !next.older.is_empty() {
        removed = remove_unused(&mut next);
    }
    locked.save(&next)?;
    let ended = next.is_empty();
    if ended {
        // The lock is still held: a process that waits for it notices that the directory is gone, and creates it
        // again.
        let folders = record.folders.iter().rev().map(PathBuf::as_path);
        for folder in folders.chain([data_dir]) {
            // `remove_dir` fails if the directory has other files, which stay.
            let _ = std::fs::remove_dir(folder);
        }
    }
    drop(locked);
    let folders = if ended { record.folders } else { Vec::new() };
    Ok(Undone { files, removed, kept, replaced, folders, unseen: unseen(&asked, around), failed })
}
