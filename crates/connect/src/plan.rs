//! What an installation or its undoing changes, before anything does.

use std::path::{Path, PathBuf};

use agents::wiring::{Wired, Wiring};
use model::{Code, OpError};

use crate::apply::missing_folders;
use crate::edit;
use crate::merge;
use crate::ours::{Ours, plugin_programs, program};
use crate::place::{Around, Scope, Standing, follow, glimpse, read, stays_inside};
use crate::record::{Entry, Record, digest};

/// What becomes of one file.
#[derive(Clone, Debug)]
pub struct Change {
    /// The agent it belongs to, or [`SHELL`].
    pub agent: String,
    pub scope: Scope,
    pub path: PathBuf,
    /// Where the bytes are when `path` is a link.
    pub(crate) target: PathBuf,
    pub before: Option<String>,
    pub after: Option<String>,
    /// Folders that are made for it, or that go with it.
    pub(crate) folders: Vec<PathBuf>,
    /// Whether `after` is what stood there before we came.
    pub(crate) restores: bool,
}

/// The name under which completions and the man page are recorded.
pub(crate) const SHELL: &str = "shell";

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    Kept,
    Made,
    Changed,
    Restored,
    Removed,
}

impl Doing {
    pub fn word(self) -> &'static str {
        match self {
            Doing::Kept => "unchanged",
            Doing::Made => "created",
            Doing::Changed => "changed",
            Doing::Restored => "restored",
            Doing::Removed => "removed",
        }
    }
}

/// A whole file of ours that belongs to no agent.
#[derive(Clone, Debug)]
pub struct Whole {
    pub path: PathBuf,
    pub text: String,
}

impl Change {
    pub(crate) fn is_change(&self) -> bool {
        self.before != self.after
    }

    pub fn doing(&self) -> Doing {
        match (&self.before, &self.after) {
            _ if !self.is_change() => Doing::Kept,
            (None, _) => Doing::Made,
            (Some(_), None) => Doing::Removed,
            _ if self.restores => Doing::Restored,
            _ => Doing::Changed,
        }
    }
}

/// The changes that connect an agent.
pub(crate) fn wire(
    wiring: &Wiring,
    scope: Scope,
    binary: &str,
    around: &Around<'_>,
) -> Result<Vec<Change>, OpError> {
    let ours = Ours { agent: wiring.agent, binary };
    let mut changes = Vec::new();
    for file in wiring.files {
        let Some(path) = around.file(file, scope) else {
            let message = format!("{} cannot be connected for a project", wiring.title);
            return Err(OpError::new(Code::Invalid, message)
                .hint(format!("Use `rekindle install {} --scope user`.", wiring.agent)));
        };
        let standing = located(&path, scope, around)?;
        let after = edit::wire(&path, standing.text.as_deref(), file, &ours)?;
        changes.push(Change {
            agent: wiring.agent.to_owned(),
            scope,
            folders: missing_folders(&standing.target),
            path,
            target: standing.target,
            before: standing.text,
            after: Some(after),
            restores: false,
        });
    }
    Ok(changes)
}

/// Reads a file of an agent. In project scope it has to be inside the repository.
fn located(path: &Path, scope: Scope, around: &Around<'_>) -> Result<Standing, OpError> {
    if scope == Scope::Project {
        // Checked before the file is read, so that no text of an outside file appears in an error or a diff.
        stays_inside(path, &follow(path)?, around.project)?;
    }
    read(path, around.uid)
}

/// The change that puts a whole file of ours in place.
pub(crate) fn put(whole: &Whole, around: &Around<'_>) -> Result<Change, OpError> {
    let standing = read(&whole.path, around.uid)?;
    edit::refuse_foreign(&whole.path, standing.text.as_deref().unwrap_or_default())?;
    Ok(Change {
        agent: SHELL.to_owned(),
        scope: Scope::User,
        folders: missing_folders(&standing.target),
        path: whole.path.clone(),
        target: standing.target,
        before: standing.text,
        after: Some(whole.text.clone()),
        restores: false,
    })
}

/// What is written down about a change before it is made.
pub(crate) fn entry(change: &Change, record: &Record) -> Entry {
    let after = change.after.as_deref().map(digest);
    let mut entry = Entry {
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
        // It was cut off before this file was changed, or was undone by hand.
        entry.folders.clone_from(&known.folders);
    } else if change.before.as_deref().map(digest) == known.after {
        entry.before.clone_from(&known.before);
        entry.folders.clone_from(&known.folders);
    } else {
        // Somebody else had a hand in it; what was there first still tells which members are theirs.
        entry.before.clone_from(&known.before);
        entry.folders.clone_from(&known.folders);
        entry.after = None;
    }
    entry
}

/// The file of the table that an entry of the record is about.
pub(crate) fn wired(entry: &Entry) -> Option<&'static Wired> {
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

/// The programs that the files of a record, and the plugins that it knows, start.
pub(crate) fn programs(record: &Record) -> Vec<String> {
    let mut all: Vec<String> = record.plugins.iter().flat_map(|dir| plugin_programs(dir)).collect();
    for entry in &record.files {
        let Some(file) = wired(entry) else { continue };
        let text = glimpse(&entry.target).unwrap_or_default();
        all.extend(
            edit::wired(&text, file, &entry.agent).iter().filter_map(|piece| program(&piece.entry)),
        );
    }
    all
}

/// Refuses an entry of a repository that a symbolic link leads elsewhere by now: that of the file, or that of a
/// directory in its path. A later commit may have made the link, and the file behind it is not the one we changed.
pub(crate) fn confined(entry: &Entry) -> Result<(), OpError> {
    const HINT: &str = "Remove the link, then run the command again.";
    if entry.scope == Scope::User.word() {
        return Ok(());
    }
    let target = follow(&entry.path)?;
    if target != entry.target {
        let message = format!(
            "{} is a symbolic link to another file than when it was connected, {}",
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
    // Nothing is left to undo in a repository that is gone.
    if std::fs::symlink_metadata(root).is_err() {
        return Ok(());
    }
    stays_inside(&entry.path, &target, root).map_err(|error| error.hint(HINT))
}

/// The root of the repository of an entry: its path without the place of the file in a repository.
fn root(entry: &Entry) -> Option<&Path> {
    let place = wired(entry)?.place.project?;
    let depth = Path::new(place).components().count();
    entry.path.ancestors().nth(depth)
}

/// The change that undoes an installation in a file. It restores the exact bytes if the file was not edited
/// since.
pub(crate) fn undo(entry: &Entry, around: &Around<'_>) -> Result<Change, OpError> {
    confined(entry)?;
    let standing = read(&entry.path, around.uid)?;
    let mut change = Change {
        agent: entry.agent.clone(),
        scope: if entry.scope == Scope::User.word() { Scope::User } else { Scope::Project },
        path: entry.path.clone(),
        target: standing.target,
        before: standing.text.clone(),
        after: standing.text.clone(),
        folders: entry.folders.clone(),
        restores: false,
    };
    let Some(text) = standing.text else { return Ok(change) };
    if entry.before.as_deref() == Some(&text) {
        return Ok(change);
    }
    if entry.after.as_deref() == Some(&digest(&text)) {
        change.after.clone_from(&entry.before);
        change.restores = true;
        return Ok(change);
    }
    let Some(file) = wired(entry) else {
        // A whole file of ours in which somebody wrote is theirs now.
        return Ok(change);
    };
    let after = edit::unwire(&entry.path, &text, file, entry.before.as_deref())?;
    let after = after.map(|after| as_it_was(entry, file, &text, &after).unwrap_or(after));
    let nothing = |text: &String| matches!(text.trim().trim_start_matches('\u{feff}'), "" | "{}");
    change.after = match entry.before {
        // What we made and nobody else filled goes again; what stood behind ours does not begin with an empty line.
        None => after.filter(|after| !nothing(after)).map(|after| unheaded(&after)),
        Some(_) => after,
    };
    Ok(change)
}

fn unheaded(text: &str) -> String {
    text.trim_start_matches(['\r', '\n']).to_owned()
}

/// The text of a touched file without what is ours, written as it was before we came: what we put there is taken back in it.
/// None if somebody changed the same place, or if that would mean anything else.
fn as_it_was(entry: &Entry, file: &Wired, text: &str, without: &str) -> Option<String> {
    let before = entry.before.as_deref()?;
    let pieces = edit::wired(text, file, &entry.agent);
    let binary = pieces.iter().find_map(|piece| program(&piece.entry))?;
    let ours = Ours { agent: &entry.agent, binary: &binary };
    let left = edit::wire(&entry.path, Some(before), file, &ours).ok()?;
    let meaning = |text: &str| edit::value(text, file.format);
    let wanted = meaning(without)?;
    merge::merged(&left, text, before).find(|merged| meaning(merged).as_ref() == Some(&wanted))
}

/// The error for a file that contains our entries and must not be written.
fn stuck(wiring: &Wiring, error: OpError) -> OpError {
    let message = format!("{}, and what is ours stands in it", error.message);
    let error = OpError { message, ..error };
    error.with("agent", wiring.agent)
}

/// The change that takes what is ours out of a file that no record knows; none if nothing is.
pub(crate) fn clear(
    wiring: &Wiring,
    file: &Wired,
    scope: Scope,
    around: &Around<'_>,
) -> Result<Option<Change>, OpError> {
    let Some(path) = around.file(file, scope) else { return Ok(None) };
    // A link that leads out of the repository points at a file that is not part of it.
    if scope == Scope::Project
        && follow(&path).and_then(|to| stays_inside(&path, &to, around.project)).is_err()
    {
        return Ok(None);
    }
    let standing = match read(&path, around.uid) {
        Ok(standing) => standing,
        // What is none of ours is none of our business.
        Err(error) => {
            let is_ours = |text: String| !edit::wired(&text, file, wiring.agent).is_empty();
            return match glimpse(&path).is_some_and(is_ours) {
                true => Err(stuck(wiring, error)),
                false => Ok(None),
            };
        }
    };
    let Some(text) = standing.text else { return Ok(None) };
    if edit::wired(&text, file, wiring.agent).is_empty() {
        return Ok(None);
    }
    let after = edit::unwire(&path, &text, file, None)?;
    Ok(Some(Change {
        agent: wiring.agent.to_owned(),
        scope,
        path,
        target: standing.target,
        before: Some(text),
        after,
        folders: Vec::new(),
        restores: false,
    }))
}
