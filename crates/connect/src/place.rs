//! The paths of an agent's files, computed from the given environment, and checks of the files there.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use agents::wiring::{Place, Wired, Wiring};
use model::{Code, OpError, limits};

/// The scope in which an agent is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectScope {
    /// The user, in all directories.
    User,
    /// Everyone who works in one repository.
    Project,
}

impl ConnectScope {
    pub fn word(self) -> &'static str {
        match self {
            ConnectScope::User => "user",
            ConnectScope::Project => "project",
        }
    }
}

/// The parts of the process environment that decide where files are.
pub struct Around<'a> {
    pub var: &'a dyn Fn(&str) -> Option<OsString>,
    pub home: &'a Path,
    /// The root of the repository, or the working directory.
    pub project: &'a Path,
    pub uid: u32,
}

impl Around<'_> {
    /// A path of an agent; `None` if it has none in this scope.
    pub(crate) fn resolve(&self, place: &Place, scope: ConnectScope) -> Option<PathBuf> {
        if scope == ConnectScope::Project {
            return place.project.map(|path| self.project.join(path));
        }
        let moved = place.var.and_then(|name| (self.var)(name)).filter(|value| !value.is_empty());
        Some(match moved {
            Some(base) => self.home.join(base).join(place.moved),
            None => self.home.join(place.home),
        })
    }

    /// The path of a file with our entries.
    pub(crate) fn file(&self, wired: &Wired, scope: ConnectScope) -> Option<PathBuf> {
        let path = self.resolve(&wired.place, scope)?;
        let other = wired.or_ending.map(|ending| path.with_extension(ending));
        Some(other.filter(|other| fs::symlink_metadata(other).is_ok()).unwrap_or(path))
    }

    /// The path by which the agent was found on this machine: its directory, or one of its programs on the PATH.
    pub fn found(&self, wiring: &Wiring) -> Option<PathBuf> {
        let folder =
            self.resolve(&wiring.folder, ConnectScope::User).filter(|folder| folder.is_dir());
        folder.or_else(|| {
            let path = (self.var)("PATH")?;
            let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
            let programs = wiring.programs.iter();
            let mut all = programs.flat_map(|name| folders.iter().map(move |dir| dir.join(name)));
            all.find(|program| {
                fs::metadata(program).is_ok_and(|meta| meta.is_file() && meta.mode() & 0o111 != 0)
            })
        })
    }
}

/// The file at a path, after following links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UserFile {
    /// The path of the bytes, whether the file exists or not.
    pub(crate) target: PathBuf,
    pub(crate) text: Option<String>,
}

/// Links that are followed before they count as a cycle.
const LINKS_MAX: usize = 40;

/// Reads a user's file before it is edited, and refuses files that must not be changed.
pub(crate) fn read(path: &Path, uid: u32) -> Result<UserFile, OpError> {
    let target = follow(path)?;
    let meta = match fs::metadata(&target) {
        Ok(meta) => meta,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(UserFile { target, text: None });
        }
        Err(error) => return Err(unusable(path, &error)),
    };
    if !meta.is_file() {
        let message =
            format!("{} is not a file but {}", path.display(), regular::kind(meta.file_type()));
        return Err(
            OpError::new(Code::Conflict, message).hint("Move it away, then run the command again.")
        );
    }
    if meta.uid() != uid {
        let message = format!("{} belongs to another user", path.display());
        return Err(OpError::new(Code::Forbidden, message)
            .hint("Make it yours (chown), or run the command as its owner."));
    }
    if meta.mode() & 0o200 == 0 {
        let message = format!("{} is read-only", path.display());
        return Err(OpError::new(Code::Forbidden, message)
            .hint("Allow yourself to write it (chmod u+w), then run the command again."));
    }
    if meta.len() > limits::AGENT_FILE_BYTES_MAX {
        let message = format!(
            "{} has {} bytes; only files of up to {} bytes are edited",
            path.display(),
            meta.len(),
            limits::AGENT_FILE_BYTES_MAX
        );
        return Err(OpError::new(Code::TooLarge, message).hint("Make the file smaller."));
    }
    let bytes = regular::read(&target, limits::AGENT_FILE_BYTES_MAX)
        .map_err(|error| unusable(path, &error))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(UserFile { target, text: Some(text) }),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let read = String::from_utf8_lossy(error.as_bytes().get(..at).unwrap_or_default());
            let (line, column) = position(&read, read.len());
            Err(broken(path, line, column, "is not UTF-8"))
        }
    }
}

const LINK_HINT: &str = "Remove the link, then run the command again; or connect the agent in your own files with \
                         `--scope user`.";

/// Refuses a file of a repository whose path leads out of the repository, or into its `.git`, through a symbolic link. The
/// author of a clone chooses its links, and must not choose which of the user's files are edited.
pub(crate) fn stays_inside(path: &Path, target: &Path, project: &Path) -> Result<(), OpError> {
    let failed = |error: io::Error| unusable(path, &error);
    let root = project.canonicalize().map_err(failed)?;
    // A path that does not exist yet will be created in its nearest existing directory.
    let there = target.ancestors().find(|part| fs::symlink_metadata(part).is_ok());
    let there = there.unwrap_or(target);
    if let Ok(to) = fs::read_link(there)
        && !there.exists()
    {
        let message = format!(
            "{} is not edited: {} is a symbolic link to {}, which does not exist",
            path.display(),
            there.display(),
            to.display()
        );
        return Err(OpError::new(Code::Forbidden, message).hint(LINK_HINT));
    }
    let real = there.canonicalize().map_err(failed)?;
    let inside = real.strip_prefix(&root).is_ok_and(|below| !below.starts_with(".git"));
    if inside {
        return Ok(());
    }
    let message = format!(
        "{} is not edited: a symbolic link leads out of the working tree, to {}",
        path.display(),
        real.display()
    );
    Err(OpError::new(Code::Forbidden, message).hint(LINK_HINT))
}

/// The text of a file that may not be edited but that the agent may still read. Only regular files are opened: a pipe
/// would block for ever.
pub(crate) fn read_unedited(path: &Path) -> Option<String> {
    let mut text = String::new();
    let file = regular::open(path).ok()?;
    file.take(limits::AGENT_FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The part of a path that cannot be read, and why; `None` if the path can be read or does not exist.
pub(crate) fn unreadable_part(path: &Path) -> Option<String> {
    let unseen = |path: &Path| {
        let error = fs::metadata(path).err()?;
        let is_gone = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
        (!is_gone).then_some(error)
    };
    let Some(error) = unseen(path) else {
        let is_file = fs::metadata(path).is_ok_and(|meta| meta.is_file());
        let opened = if is_file { regular::open(path).map(drop) } else { Ok(()) };
        return opened.err().map(|error| format!("{}: {error}", path.display()));
    };
    let seen = path.ancestors().take_while(|place| unseen(place).is_some()).count();
    // Without permission, the fault is in the directory that may not be entered; otherwise in the path itself.
    let at =
        if error.kind() == ErrorKind::PermissionDenied { seen } else { seen.saturating_sub(1) };
    let place = path.ancestors().nth(at).unwrap_or(path);
    Some(format!("{}: {error}", place.display()))
}

/// The path after following all symbolic links, whether a file exists there or not.
pub(crate) fn follow(path: &Path) -> Result<PathBuf, OpError> {
    let mut at = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::read_link(&at) {
            Ok(next) => at = at.parent().unwrap_or(Path::new("/")).join(next),
            Err(_) => return Ok(at),
        }
    }
    let message = format!("{} is a link that leads back to itself", path.display());
    Err(OpError::new(Code::Conflict, message).hint("Remove the link, then run the command again."))
}

/// Line and column of a byte offset, both from 1.
pub(crate) fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before.get(start..).unwrap_or_default().chars().count() + 1)
}

/// The error for a file that cannot be edited.
pub(crate) fn broken(path: &Path, line: usize, column: usize, what: &str) -> OpError {
    let message = format!("{} line {line} column {column}: {what}", path.display());
    OpError::new(Code::Invalid, message)
        .hint("Fix the file, then run the command again; it was not changed.")
        .with("path", path.to_string_lossy())
        .with("line", line)
        .with("column", column)
}

pub(crate) fn unusable(path: &Path, error: &io::Error) -> OpError {
    OpError::unavailable(format!("cannot use {}: {error}", path.display()))
        .hint("Check the permissions of this path, and that the disk is not full.")
}
