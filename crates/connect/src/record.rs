//! What was installed: the bytes before and a digest of the bytes after, written before the first change.
//!
//! Whoever finds it can tell of every file whether it was changed, is as it was, or was touched by somebody else, so
//! that an installation that was cut off anywhere can be continued or undone.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::{OpError, limits};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::apply;
use crate::place::{Scope, unusable};
use crate::plan::SHELL;

/// The name of the record in the data directory.
const NAME: &str = "installed.json";
const FORMAT: u32 = 1;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) format: u32,
    /// The copy of our program, if we made it.
    pub(crate) binary: Option<PathBuf>,
    /// Copies that were made before it elsewhere and that an agent may still start.
    #[serde(default)]
    pub(crate) older: Vec<PathBuf>,
    /// Folders of plugins that may start a copy.
    #[serde(default)]
    pub(crate) plugins: Vec<PathBuf>,
    /// Folders that were made for the copy and for this record.
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) files: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) path: PathBuf,
    /// Where the bytes are when `path` is a link.
    pub(crate) target: PathBuf,
    pub(crate) agent: String,
    pub(crate) scope: String,
    /// What was there; none if there was no file.
    pub(crate) before: Option<String>,
    /// The digest of what we left there; none if somebody else had a hand in it, so that there is nothing to
    /// go back to.
    pub(crate) after: Option<String>,
    /// Folders that were made for it, the outermost first.
    pub(crate) folders: Vec<PathBuf>,
}

impl Default for Record {
    fn default() -> Record {
        Record {
            format: FORMAT,
            binary: None,
            older: Vec::new(),
            plugins: Vec::new(),
            folders: Vec::new(),
            files: Vec::new(),
        }
    }
}

impl Record {
    pub(crate) fn is_empty(&self) -> bool {
        self.binary.is_none() && self.older.is_empty() && self.files.is_empty()
    }

    /// All copies of our program that we made.
    pub(crate) fn copies(&self) -> impl Iterator<Item = &PathBuf> {
        self.binary.iter().chain(&self.older)
    }

    pub(crate) fn of(&self, path: &Path) -> Option<&Entry> {
        self.files.iter().find(|entry| entry.path == path)
    }

    pub(crate) fn put(&mut self, entry: Entry) {
        match self.files.iter_mut().find(|there| there.path == entry.path) {
            Some(there) => *there = entry,
            None => self.files.push(entry),
        }
    }
}

/// The digest by which a text is recognised.
pub(crate) fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What was installed and not undone since.
#[derive(Debug, Default)]
pub struct Recorded {
    /// The agents that were connected for their user.
    pub agents: Vec<String>,
    /// Completions and the man page.
    pub shell: Vec<PathBuf>,
    /// The copies of our program.
    pub copies: Vec<PathBuf>,
}

/// Reads the record of what was installed.
pub fn recorded(data_dir: &Path) -> Result<Recorded, OpError> {
    let record = load(data_dir)?;
    let copies = record.copies().cloned().collect();
    let (shell, agents): (Vec<_>, Vec<_>) =
        record.files.into_iter().partition(|entry| entry.agent == SHELL);
    let of_user = agents.into_iter().filter(|entry| entry.scope == Scope::User.word());
    Ok(Recorded {
        agents: of_user.map(|entry| entry.agent).collect(),
        shell: shell.into_iter().map(|entry| entry.path).collect(),
        copies,
    })
}

/// The data directory, held by one installation at a time.
pub(crate) struct Desk {
    dir: PathBuf,
    /// What had to be made for it.
    pub(crate) made: Vec<PathBuf>,
    _lock: File,
}

impl Desk {
    pub(crate) fn open(dir: &Path) -> Result<Desk, OpError> {
        let failed = |error| unusable(dir, &error);
        let until = Instant::now() + limits::INSTALL_PATIENCE;
        loop {
            let made = apply::missing_folders(&dir.join(NAME));
            let made_all = DirBuilder::new().recursive(true).mode(0o700).create(dir);
            made_all.inspect_err(|_| apply::remove_folders(&made)).map_err(failed)?;
            let lock = match File::open(dir) {
                // Somebody who disconnected the last agent took it away just now.
                Err(error) if error.kind() == ErrorKind::NotFound && Instant::now() < until => {
                    continue;
                }
                opened => opened.map_err(failed)?,
            };
            let held = match lock.try_lock() {
                Ok(()) => true,
                Err(TryLockError::WouldBlock) => false,
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            };
            // Whoever had it before may have taken the folder away with the last agent.
            let identity = |meta: fs::Metadata| (meta.dev(), meta.ino());
            let there = fs::metadata(dir).map(identity).ok();
            if held && there.is_some() && lock.metadata().map(identity).ok() == there {
                apply::tidy(&dir.join(NAME));
                return Ok(Desk { dir: dir.to_owned(), made, _lock: lock });
            }
            if Instant::now() >= until {
                return Err(OpError::unavailable(format!(
                    "another installation was under way for {} s",
                    limits::INSTALL_PATIENCE.as_secs()
                ))
                .hint("Wait for it to end, then run the command again."));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn load(&self) -> Result<Record, OpError> {
        load(&self.dir)
    }

    /// Writes the record, or takes it away if there is nothing left to tell.
    pub(crate) fn save(&self, record: &Record) -> Result<(), OpError> {
        let path = self.dir.join(NAME);
        let saved = match record.is_empty() {
            true => apply::remove(&path),
            false => serde_json::to_vec(record)
                .map_err(std::io::Error::from)
                .and_then(|bytes| apply::replace(&path, &bytes, 0o600)),
        };
        saved.map_err(|error| unusable(&path, &error))
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // A refused installation leaves no empty folders behind.
        if !self.dir.join(NAME).exists() {
            apply::remove_folders(&self.made);
        }
    }
}

/// The record of a data directory; an empty one if there is none.
pub(crate) fn load(dir: &Path) -> Result<Record, OpError> {
    let path = dir.join(NAME);
    let bytes = match regular::read(&path, limits::AGENT_FILE_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Record::default()),
        Err(error) => return Err(unusable(&path, &error)),
    };
    let record: Result<Record, _> = serde_json::from_slice(&bytes);
    match record {
        Ok(record) if record.format == FORMAT => Ok(record),
        Ok(record) => Err(OpError::unavailable(format!(
            "{} was written by another version (format {})",
            path.display(),
            record.format
        ))
        .hint("Use the version of rekindle that installed it.")),
        Err(error) => Err(OpError::unavailable(format!("{}: {error}", path.display())).hint(
            "Move the file away; `rekindle uninstall` then removes what is ours without it.",
        )),
    }
}
