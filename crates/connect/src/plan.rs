//! The changes that an installation or its undoing makes, before any is made.

use std::path::{Path, PathBuf};

use agents::wiring::{Wired, Wiring};
use model::{Code, OpError};

use crate::apply::missing_folders;
use crate::edit;
use crate::merge;
use crate::ours::{Ours, STATUS_LINE, plugin_programs, program};
use crate::place::{Around, ConnectScope, UserFile, follow, read, read_unedited, stays_inside};
use crate::record::{InstallRecord, RecordEntry, digest};

/// The change of one file.
#[derive(Clone, Debug)]
pub struct FileChange {
    /// The agent it belongs to, or [`SHELL`].
    pub agent: String,
    pub scope: ConnectScope,
    pub path: PathBuf,
    /// The file behind `path` if that is a link.
    pub(crate) target: PathBuf,
    pub before: Option<String>,
    pub after: Option<String>,
    /// Directories that are created for it, or removed with it.
    pub(crate) folders: Vec<PathBuf>,
    /// Whether `after` is the original content.
    pub(crate) restores: bool,
}

/// The name for completions and the man page in the record.
pub(crate) const SHELL: &str = "shell";

/// How a file changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAction {
    Kept,
    Made,
    Changed,
    Restored,
    Removed,
}

impl FileAction {
    pub fn word(self) -> &'static str {
        match self {
            FileAction::Kept => "unchanged",
            FileAction::Made => "created",
            FileAction::Changed => "changed",
            FileAction::Restored => "restored",
            FileAction::Removed => "removed",
        }
    }
}

/// A whole file of ours that belongs to no agent.
#[derive(Clone, Debug)]
pub struct ShellFile {
    pub path: PathBuf,
    pub text: String,
}

impl FileChange {
    pub(crate) fn is_change(&self) -> bool {
        self.before != self.after
    }

    pub fn doing(&self) -> FileAction {
        match (&self.before, &self.after) {
            _ if !self.is_change() => FileAction::Kept,
            (None, _) => FileAction::Made,
            (Some(_), None) => FileAction::Removed,
            _ if self.restores => FileAction::Restored,
            _ => FileAction::Changed,
        }
    }
}

/// The changes that connect an agent.
pub(crate) fn wire(
    wiring: &Wiring,
    scope: ConnectScope,
    (binary, status_line): (&str, bool),
    around: &Around<'_>,
) -> Result<Vec<FileChange>, OpError> {
    // In the files of a repository it would also be the status line of other users.
    let status_line = status_line && scope == ConnectScope::User;
    let ours = Ours { agent: wiring.agent, binary, status_line };
    let mut changes = Vec::new();
    for file in wiring.files {
        let Some(path) = around.file(file, scope) else {
            let message = format!("{} cannot be connected for a project", wiring.title);
            return Err(OpError::new(Code::Invalid, message)
                .hint(format!("Use `rekindle install {} --scope user`.", wiring.agent)));
        };
        let user_file = located(&path, scope, around)?;
        let after = edit::wire(&path, user_file.text.as_deref(), file, &ours)?;
        changes.push(FileChange {
            agent: wiring.agent.to_owned(),
            scope,
            folders: missing_folders(&user_file.target),
            path,
            target: user_file.target,
            before: user_file.text,
            after: Some(after),
            restores: false,
        });
    }
    Ok(changes)
}

/// Reads a file of an agent. In project scope it has to be inside the repository.
fn located(path: &Path, scope: ConnectScope, around: &Around<'_>) -> Result<UserFile, OpError> {
    if scope == ConnectScope::Project {
        // Checked before the file is read, so that no text of an outside file appears in an error or a diff.
        stays_inside(path, &follow(path)?, around.project)?;
    }
    read(path, around.uid)
}

/// The change that puts a whole file of ours in place.
pub(crate) fn put(whole: &ShellFile, around: &Around<'_>) -> Result<FileChange, OpError> {
    let user_file = read(&whole.path, around.uid)?;
    edit::refuse_foreign(&whole.path, user_file.text.as_deref().unwrap_or_default())?;
    Ok(FileChange {
        agent: SHELL.to_owned(),
        scope: ConnectScope::User,
        folders: missing_folders(&user_file.target),
        path: whole.path.clone(),
        target: user_file.target,
        before: user_file.text,
        after: Some(whole.text.clone()),
        restores: false,
    })
}

/// The entry of a change in the record, written before the change is made.
pub(crate) fn entry(change: &FileChange, record: &InstallRecord) -> RecordEntry {
    let after = change.after.as_deref().map(digest);
    let mut entry = RecordEntry {
        path: change.path.clone(),
        target: change.target.clone(),
        agent: change.agent.clone(),
        scope: change.scope.word().to_owned(),
        before: change.before.clone(),
        after,
        folders: change.folders.clone(),
    };
    let Some(known) = record.of(&change.path) else { return entry };
    if known.before == change.before {
        // An earlier run was interrupted before it changed this file, or the user undid it by hand.
        entry.folders.clone_from(&known.folders);
    } else if change.before.as_deref().map(digest) == known.after {
        entry.before.clone_from(&known.before);
        entry.folders.clone_from(&known.folders);
    } else {
        // Another program changed the file. The original content still shows which members are not ours.
        entry.before.clone_from(&known.before);
        entry.folders.clone_from(&known.folders);
        entry.after = None;
    }
    entry
}

/// The file in the table of agents that an entry of the record is about.
pub(crate) fn wired(entry: &RecordEntry) -> Option<&'static Wired> {
    let wiring = agents::wiring::wiring(&entry.agent)?;
    let name = entry.path.file_name()?.to_str()?;
    wiring.files.iter().find(|file| {
        let place = &file.place;
        let paths = [Some(place.moved), Some(place.home), place.project];
        paths.into_iter().flatten().any(|path| {
            let own = path.rsplit('/').next().unwrap_or(path);
            let stem = own.rsplit_once('.').map_or(own, |(stem, _)| stem);
            own == name || file.or_ending.is_some_and(|ending| format!("{stem}.{ending}") == name)
        })
    })
}

/// The programs that the files and plugins of a record start.
pub(crate) fn programs(record: &InstallRecord) -> Vec<String> {
    let mut all: Vec<String> = record.plugins.iter().flat_map(|dir| plugin_programs(dir)).collect();
    for entry in &record.files {
        let Some(file) = wired(entry) else { continue };
        let text = read_unedited(&entry.target).unwrap_or_default();
        all.extend(
            edit::wired(&text, file, &entry.agent).iter().filter_map(|piece| program(&piece.entry)),
        );
    }
    all
}

/// Refuses an entry of a repository whose path now leads elsewhere through a symbolic link: the file, or a directory in
/// its path, is a link. A later commit may have made the link, and the file behind it is not the one we changed.
pub(crate) fn confined(entry: &RecordEntry) -> Result<(), OpError> {
    const HINT: &str = "Remove the link, then run the command again.";
    if entry.scope == ConnectScope::User.word() {
        return Ok(());
    }
    let target = follow(&entry.path)?;
    if target != entry.target {
        let message = format!(
            "{} now leads to {}, another file than when it was connected",
            entry.path.display(),
            target.display()
        );
        return Err(OpError::new(Code::Conflict, message).hint(HINT));
    }
    let Some(root) = root(entry) else {
        let message = format!("{} is not a file that we connect", entry.path.display());
        return Err(OpError::new(Code::Conflict, message)
            .hint("Use the version of rekindle that connected it."));
    };
    // If the repository was deleted, there is nothing to undo.
    if std::fs::symlink_metadata(root).is_err() {
        return Ok(());
    }
    stays_inside(&entry.path, &target, root).map_err(|error| error.hint(HINT))
}

/// The root of the repository of an entry: its path without the place of the file in a repository.
fn root(entry: &RecordEntry) -> Option<&Path> {
    let place = wired(entry)?.place.project?;
    let depth = Path::new(place).components().count();
    entry.path.ancestors().nth(depth)
}

/// The change that undoes an installation in a file. It restores the original bytes if the file was not edited since.
pub(crate) fn undo(entry: &RecordEntry, around: &Around<'_>) -> Result<FileChange, OpError> {
    confined(entry)?;
    let user_file = read(&entry.path, around.uid)?;
    let mut change = FileChange {
        agent: entry.agent.clone(),
        scope: if entry.scope == ConnectScope::User.word() {
            ConnectScope::User
        } else {
            ConnectScope::Project
        },
        path: entry.path.clone(),
        target: user_file.target,
        before: user_file.text.clone(),
        after: user_file.text.clone(),
        folders: entry.folders.clone(),
        restores: false,
    };
    let Some(text) = user_file.text else { return Ok(change) };
    if entry.before.as_deref() == Some(&text) {
        return Ok(change);
    }
    if entry.after.as_deref() == Some(&digest(&text)) {
        change.after.clone_from(&entry.before);
        change.restores = true;
        return Ok(change);
    }
    let Some(file) = wired(entry) else {
        // A whole file of ours that was edited belongs to the user now.
        return Ok(change);
    };
    let after = edit::unwire(&entry.path, &text, file, entry.before.as_deref())?;
    let after = after.map(|after| merged_undo(entry, file, &text, &after).unwrap_or(after));
    let nothing = |text: &String| matches!(text.trim().trim_start_matches('\u{feff}'), "" | "{}");
    change.after = match entry.before {
        // A file that we created and that is empty now is removed. Otherwise its leading empty lines, which separated
        // our entries, are removed.
        None => after.filter(|after| !nothing(after)).map(|after| without_leading_newlines(&after)),
        Some(_) => after,
    };
    Ok(change)
}

fn without_leading_newlines(text: &str) -> String {
    text.trim_start_matches(['\r', '\n']).to_owned()
}

/// The text of an edited file without our entries, in its original formatting: our change is reverted by a three-way
/// merge. `None` if the user edited the same place, or if the parsed result differs from `without`.
fn merged_undo(entry: &RecordEntry, file: &Wired, text: &str, without: &str) -> Option<String> {
    let before = entry.before.as_deref()?;
    let pieces = edit::wired(text, file, &entry.agent);
    let binary = pieces.iter().find_map(|piece| program(&piece.entry))?;
    let status_line = pieces.iter().any(|piece| piece.name == STATUS_LINE);
    let ours = Ours { agent: &entry.agent, binary: &binary, status_line };
    let left = edit::wire(&entry.path, Some(before), file, &ours).ok()?;
    let meaning = |text: &str| edit::value(text, file.format);
    let wanted = meaning(without)?;
    merge::merged(&left, text, before).find(|merged| meaning(merged).as_ref() == Some(&wanted))
}

/// The error for a file that contains our entries and must not be written.
fn cannot_remove_ours(wiring: &Wiring, error: OpError) -> OpError {
    let message = format!("{}, and it contains our entries", error.message);
    let error = OpError { message, ..error };
    error.with("agent", wiring.agent)
}

/// The change that removes our entries from a file that is not in the record; `None` if there are none.
pub(crate) fn clear(
    wiring: &Wiring,
    file: &Wired,
    scope: ConnectScope,
    around: &Around<'_>,
) -> Result<Option<FileChange>, OpError> {
    let Some(path) = around.file(file, scope) else { return Ok(None) };
    // A link that leads out of the repository points to a file that is not part of it.
    if scope == ConnectScope::Project
        && follow(&path).and_then(|to| stays_inside(&path, &to, around.project)).is_err()
    {
        return Ok(None);
    }
    let user_file = match read(&path, around.uid) {
        Ok(user_file) => user_file,
        // A file without our entries is not reported.
        Err(error) => {
            let is_ours = |text: String| !edit::wired(&text, file, wiring.agent).is_empty();
            return match read_unedited(&path).is_some_and(is_ours) {
                true => Err(cannot_remove_ours(wiring, error)),
                false => Ok(None),
            };
        }
    };
    let Some(text) = user_file.text else { return Ok(None) };
    if edit::wired(&text, file, wiring.agent).is_empty() {
        return Ok(None);
    }
    let after = edit::unwire(&path, &text, file, None)?;
    Ok(Some(FileChange {
        agent: wiring.agent.to_owned(),
        scope,
        path,
        target: user_file.target,
        before: Some(text),
        after,
        folders: Vec::new(),
        restores: false,
    }))
}
