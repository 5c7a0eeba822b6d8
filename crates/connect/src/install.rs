//! Connecting agents and undoing it: plan all, write down what was there, then change.

use std::path::{Path, PathBuf};

use agents::wiring::{WIRINGS, Wiring};
use model::OpError;

use crate::apply;
use crate::binary::{self, Copy};
use crate::ours::plugin_programs;
use crate::place::{Around, Scope, hidden, unusable};
use crate::plan::{self, Change, Doing, SHELL, Whole};
use crate::record::{Desk, Entry, Record, load};

/// What is to be installed.
pub struct Asked<'a> {
    pub agents: &'a [&'static Wiring],
    pub scope: Scope,
    /// The program that agents are told to start.
    pub binary: &'a Path,
    /// The copy that has to be made first, if any.
    pub copy: Option<Copy>,
    /// Completions and the man page.
    pub shell: &'a [Whole],
    pub data_dir: &'a Path,
}

/// What an installation did, or would do.
pub struct Outcome {
    pub files: Vec<Change>,
    pub copy: Option<Doing>,
    /// Copies elsewhere that nobody starts any more, and that went.
    pub removed: Vec<PathBuf>,
}

impl Outcome {
    pub fn changes_nothing(&self) -> bool {
        !self.files.iter().any(Change::is_change)
            && self.copy.is_none_or(|doing| doing == Doing::Kept)
    }
}

/// What an undoing did.
#[derive(Default)]
pub struct Undone {
    pub files: Vec<Change>,
    /// Copies of the program that were removed.
    pub removed: Vec<PathBuf>,
    /// Copies that stay, and the folder of the plugin that starts each.
    pub kept: Vec<(PathBuf, PathBuf)>,
    /// What somebody put in the place of a copy, and stays.
    pub replaced: Vec<PathBuf>,
    /// Folders that were made for the record, the outermost first; what was remembered may still be in them.
    pub folders: Vec<PathBuf>,
    /// Files that could not be looked at, and why: something of ours may stand in them.
    pub unseen: Vec<String>,
    /// Errors for files that still contain our entries because the change could not be undone. They stay in
    /// the record.
    pub failed: Vec<OpError>,
}

/// What an installation would do.
pub fn preview(asked: &Asked<'_>, around: &Around<'_>) -> Result<Outcome, OpError> {
    // One that cannot be read stops an installation, too.
    load(asked.data_dir)?;
    plan_all(asked, around)
}

fn plan_all(asked: &Asked<'_>, around: &Around<'_>) -> Result<Outcome, OpError> {
    let Some(path) = asked.binary.to_str() else {
        return Err(OpError::invalid("bin", "the path of the program is not UTF-8")
            .hint("Say with --bin PATH where the program is to be."));
    };
    let mut files = Vec::new();
    for wiring in asked.agents {
        files.extend(plan::wire(wiring, asked.scope, path, around)?);
    }
    for whole in asked.shell {
        files.push(plan::put(whole, around)?);
    }
    let copy = asked.copy.as_ref().map(binary::plan).transpose()?;
    Ok(Outcome { files, copy, removed: Vec::new() })
}

/// Connects the agents: everything is planned and checked before the first file changes.
pub fn install(asked: &Asked<'_>, around: &Around<'_>) -> Result<Outcome, OpError> {
    let desk = Desk::open(asked.data_dir)?;
    let record = desk.load()?;
    tidy(&record);
    let mut outcome = plan_all(asked, around)?;
    if outcome.changes_nothing() {
        return Ok(outcome);
    }
    let mut next = record.clone();
    if record.is_empty() {
        next.folders.clone_from(&desk.made);
    }
    for change in outcome.files.iter().filter(|change| change.is_change()) {
        next.put(plan::entry(change, &record));
    }
    let copied = asked.copy.as_ref().zip(outcome.copy.filter(|doing| *doing != Doing::Kept));
    let folders = copied.map(|(copy, _)| apply::missing_folders(&copy.to)).unwrap_or_default();
    if let Some((copy, _)) = copied {
        let before = next.binary.replace(copy.to.clone());
        next.older.extend(before);
        next.older.retain(|older| *older != copy.to);
        next.folders
            .extend(folders.iter().filter(|folder| !record.folders.contains(folder)).cloned());
    }
    let changed = desk.save(&next).and_then(|()| {
        copied.map_or(Ok(()), |(copy, _)| binary::place(copy))?;
        apply::apply(&outcome.files)
    });
    if let Err(error) = changed {
        if let Some((copy, doing)) = copied {
            binary::take_back(copy, doing, &folders);
        }
        // The reason of the failure is what the user has to know.
        let _ = desk.save(&record);
        return Err(error);
    }
    next.copies().for_each(|copy| apply::tidy(copy));
    if !next.older.is_empty() {
        outcome.removed = remove_unused(&mut next);
        // A record that still names a copy that is gone does no harm.
        let _ = desk.save(&next);
    }
    Ok(outcome)
}

/// Removes scratch files of an interrupted run.
fn tidy(record: &Record) {
    let entries = record.files.iter().filter(|entry| plan::confined(entry).is_ok());
    entries.for_each(|entry| apply::tidy(&entry.target));
    record.copies().for_each(|copy| apply::tidy(copy));
}

/// Removes the older copies that no connected file names any more, with the folders that were made for them.
fn remove_unused(record: &mut Record) -> Vec<PathBuf> {
    let started = plan::programs(record);
    let is_started = |copy: &PathBuf| started.iter().any(|program| Path::new(program) == copy);
    let (kept, unused): (Vec<_>, Vec<_>) = record.older.drain(..).partition(is_started);
    record.older = kept;
    let mut removed = Vec::new();
    // What somebody put in its place is not ours to remove.
    for copy in unused.into_iter().filter(|copy| binary::is_ours(copy) || !copy.exists()) {
        match apply::remove(&copy) {
            Ok(()) => removed.push(copy),
            // The next one tries again.
            Err(_) => record.older.push(copy),
        }
    }
    // Those that still hold something stay, and are told of in the record.
    let folders = std::mem::take(&mut record.folders);
    let gone = |folder: &&PathBuf| {
        removed.iter().any(|copy| copy.starts_with(folder)) && std::fs::remove_dir(folder).is_ok()
    };
    let gone: Vec<PathBuf> = folders.iter().rev().filter(gone).cloned().collect();
    record.folders = folders.into_iter().filter(|folder| !gone.contains(folder)).collect();
    removed
}

/// The files of these agents that cannot be looked at, and why.
fn unseen(asked: &dyn Fn(&str) -> bool, around: &Around<'_>) -> Vec<String> {
    let wirings = WIRINGS.iter().filter(|wiring| asked(wiring.agent));
    let mut all = Vec::new();
    for file in wirings.flat_map(|wiring| wiring.files) {
        let place = around.file(file, Scope::User).and_then(|path| hidden(&path));
        all.extend(place.filter(|place| !all.contains(place)));
    }
    all
}

/// The changes that remove our entries from files of these agents that are not in the record, and the errors
/// for files where that is not possible.
fn unrecorded(
    record: &Record,
    asked: &dyn Fn(&str) -> bool,
    around: &Around<'_>,
) -> (Vec<Change>, Vec<OpError>) {
    let mut files: Vec<Change> = Vec::new();
    let mut failed: Vec<OpError> = Vec::new();
    for wiring in WIRINGS.iter().filter(|wiring| asked(wiring.agent)) {
        for scope in [Scope::User, Scope::Project] {
            for file in wiring.files {
                let Some(path) = around.file(file, scope) else { continue };
                // In the home directory both scopes are one.
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

/// Remembers that a plugin in this folder starts the program at this path, if that is a copy of ours.
pub fn remember_plugin(folder: &Path, binary: &Path, data_dir: &Path) -> Result<(), OpError> {
    if !load(data_dir)?.copies().any(|copy| copy == binary) {
        return Ok(());
    }
    let desk = Desk::open(data_dir)?;
    let mut record = desk.load()?;
    if record.plugins.iter().any(|known| known == folder) {
        return Ok(());
    }
    record.plugins.push(folder.to_owned());
    desk.save(&record)
}

/// Takes the copies out of a record that no plugin starts; those that one does stay, with its folder.
fn let_go(record: &mut Record) -> (Vec<PathBuf>, Vec<(PathBuf, PathBuf)>) {
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
    entries: Vec<Entry>,
    around: &Around<'_>,
    left: &mut Vec<Entry>,
    failed: &mut Vec<OpError>,
) -> Vec<Change> {
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

/// Makes each change by itself, so that a file that cannot be written blocks no other. The entry of such a file is
/// put into `left`. Returns the changes that were made.
fn apply_each(
    changes: Vec<Change>,
    entries: &[Entry],
    left: &mut Vec<Entry>,
    failed: &mut Vec<OpError>,
) -> Vec<Change> {
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

/// Undoes the installation of these agents, or of all and of what the shell got.
pub fn uninstall(
    agents: Option<&[&'static Wiring]>,
    data_dir: &Path,
    around: &Around<'_>,
) -> Result<Undone, OpError> {
    let asked = |name: &str| match agents {
        Some(agents) => agents.iter().any(|wiring| wiring.agent == name),
        None => true,
    };
    let desk = match Desk::open(data_dir) {
        Ok(desk) => desk,
        // Where nothing was ever written and nothing can be, there may be nothing to undo either.
        Err(error) => {
            let (files, failed) = unrecorded(&Record::default(), &asked, around);
            if data_dir.exists() || !files.is_empty() {
                return Err(error);
            }
            return Ok(Undone { unseen: unseen(&asked, around), failed, ..Undone::default() });
        }
    };
    let record = desk.load_usable()?;
    tidy(&record);
    let (gone, mut left): (Vec<_>, Vec<_>) =
        record.files.iter().cloned().partition(|entry| asked(&entry.agent));
    let mut failed: Vec<OpError> = record.bad.iter().map(|bad| bad.error(data_dir)).collect();
    let mut files = undo_all(gone.clone(), around, &mut left, &mut failed);
    let (others, unclear) = unrecorded(&record, &asked, around);
    failed.extend(unclear);
    files.extend(apply_each(others, &[], &mut left, &mut failed));
    // Completions of a program that is gone are of no use.
    let last = failed.is_empty() && left.iter().all(|entry| entry.agent == SHELL);
    if last {
        let shell = std::mem::take(&mut left);
        files.extend(undo_all(shell, around, &mut left, &mut failed));
    }
    // One that was cut off may have left them.
    let made = gone.iter().filter(|entry| {
        entry.before.is_none() && !entry.target.exists() && plan::confined(entry).is_ok()
    });
    made.for_each(|entry| apply::remove_folders(&entry.folders));
    let mut next = Record { files: left, ..record.clone() };
    let (mut removed, mut kept, mut replaced) = (Vec::new(), Vec::new(), Vec::new());
    if last {
        (removed, kept) = let_go(&mut next);
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
    desk.save(&next)?;
    let ended = next.is_empty();
    if ended {
        // Still held: whoever waits for it notices that it is gone, and makes it anew.
        let folders = record.folders.iter().rev().map(PathBuf::as_path);
        for folder in folders.chain([data_dir]) {
            // Whatever else is in it now is not ours to remove.
            let _ = std::fs::remove_dir(folder);
        }
    }
    drop(desk);
    let folders = if ended { record.folders } else { Vec::new() };
    Ok(Undone { files, removed, kept, replaced, folders, unseen: unseen(&asked, around), failed })
}
