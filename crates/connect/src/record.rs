//! The record of an installation: the previous bytes and a digest of the new ones, written before the first change.
//!
//! It shows whether each file is unchanged, changed by us, or edited since. So an installation that was
//! interrupted at any point can be continued or undone.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::{OpError, limits};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::apply;
use crate::place::{ConnectScope, unusable};
use crate::plan::SHELL;

/// The file name of the record in the data directory.
const NAME: &str = "installed.json";
const FORMAT: u32 = 1;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct InstallRecord {
    pub(crate) format: u32,
    /// The copy of our program, if we made it.
    pub(crate) binary: Option<PathBuf>,
    /// Earlier copies at other paths that an agent may still start.
    pub(crate) older: Vec<PathBuf>,
    /// Directories of plugins that may start a copy.
    pub(crate) plugins: Vec<PathBuf>,
    /// Directories that were created for the copy and for this record.
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) files: Vec<RecordEntry>,
    /// Values with a wrong type or an unusable path. They stay in the file as they are.
    #[serde(skip)]
    pub(crate) bad: Vec<BadValue>,
}

/// A value of the record that cannot be used.
#[derive(Clone, Debug)]
pub(crate) struct BadValue {
    member: &'static str,
    /// The index, if the member is a list.
    at: Option<usize>,
    value: Value,
    why: String,
}

impl BadValue {
    pub(crate) fn error(&self, dir: &Path) -> OpError {
        let at = self.at.map(|at| format!("[{at}]")).unwrap_or_default();
        let path = dir.join(NAME);
        let about = self.value["path"].as_str().map(|path| format!(" (about {path})"));
        let message = format!(
            "{}: {}{at}{} cannot be used: {}",
            path.display(),
            self.member,
            about.unwrap_or_default(),
            self.why
        );
        OpError::unavailable(message).hint(
            "Correct this value, or delete it and remove our entries by hand from the file that it names.",
        )
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordEntry {
    pub(crate) path: PathBuf,
    /// The file behind `path` if that is a link.
    pub(crate) target: PathBuf,
    pub(crate) agent: String,
    pub(crate) scope: String,
    /// The previous content; `None` if there was no file.
    pub(crate) before: Option<String>,
    /// The digest of the content that we wrote; `None` if another program edited the file, so the original bytes
    /// cannot be restored.
    pub(crate) after: Option<String>,
    /// Directories that were created for it, the outermost first.
    pub(crate) folders: Vec<PathBuf>,
}

impl Default for InstallRecord {
    fn default() -> InstallRecord {
        InstallRecord {
            format: FORMAT,
            binary: None,
            older: Vec::new(),
            plugins: Vec::new(),
            folders: Vec::new(),
            files: Vec::new(),
            bad: Vec::new(),
        }
    }
}

impl InstallRecord {
    pub(crate) fn is_empty(&self) -> bool {
        self.binary.is_none()
            && self.older.is_empty()
            && self.files.is_empty()
            && self.bad.is_empty()
    }

    /// The members of a parsed record. A bad value is left out; the rest is used.
    fn from_members(mut members: Map<String, Value>) -> InstallRecord {
        let mut bad = Vec::new();
        let binary = match members.remove("binary").unwrap_or_default() {
            Value::Null => None,
            value => kept(value, "binary", None, &mut bad),
        };
        InstallRecord {
            format: FORMAT,
            binary,
            older: list(&mut members, "older", &mut bad),
            plugins: list(&mut members, "plugins", &mut bad),
            folders: list(&mut members, "folders", &mut bad),
            files: list(&mut members, "files", &mut bad),
            bad,
        }
    }

    /// The record as it is written, including its bad values.
    fn to_json(&self) -> serde_json::Result<Value> {
        let mut written = serde_json::to_value(self)?;
        for bad in &self.bad {
            match (bad.at, written[bad.member].as_array_mut()) {
                (Some(_), Some(list)) => list.push(bad.value.clone()),
                _ => written[bad.member] = bad.value.clone(),
            }
        }
        Ok(written)
    }

    /// All copies of our program that we made.
    pub(crate) fn copies(&self) -> impl Iterator<Item = &PathBuf> {
        self.binary.iter().chain(&self.older)
    }

    pub(crate) fn of(&self, path: &Path) -> Option<&RecordEntry> {
        self.files.iter().find(|entry| entry.path == path)
    }

    pub(crate) fn put(&mut self, entry: RecordEntry) {
        match self.files.iter_mut().find(|there| there.path == entry.path) {
            Some(there) => *there = entry,
            None => self.files.push(entry),
        }
    }
}

/// A value of the record that may be unusable even if its type is right.
trait Usable: DeserializeOwned {
    fn refused(&self) -> Option<&'static str>;
}

impl Usable for PathBuf {
    fn refused(&self) -> Option<&'static str> {
        (!self.is_absolute()).then_some("the path is not absolute")
    }
}

impl Usable for RecordEntry {
    fn refused(&self) -> Option<&'static str> {
        let mut paths = [&self.path, &self.target].into_iter().chain(&self.folders);
        let is_known = [ConnectScope::User, ConnectScope::Project]
            .iter()
            .any(|scope| scope.word() == self.scope);
        paths.find_map(Usable::refused).or((!is_known).then_some("the scope is unknown"))
    }
}

/// A value of this type; `None` if it is bad, and then it is added to `bad`.
fn kept<T: Usable>(
    value: Value,
    member: &'static str,
    at: Option<usize>,
    bad: &mut Vec<BadValue>,
) -> Option<T> {
    let why = match T::deserialize(&value) {
        Ok(found) => match found.refused() {
            None => return Some(found),
            Some(why) => why.to_owned(),
        },
        Err(error) => error.to_string(),
    };
    bad.push(BadValue { member, at, value, why });
    None
}

/// The values of a list without the bad ones, which are added to `bad`.
fn list<T: Usable>(
    members: &mut Map<String, Value>,
    member: &'static str,
    bad: &mut Vec<BadValue>,
) -> Vec<T> {
    match members.remove(member).unwrap_or_default() {
        Value::Null => Vec::new(),
        Value::Array(values) => {
            let values = values.into_iter().enumerate();
            values.filter_map(|(at, value)| kept(value, member, Some(at), bad)).collect()
        }
        value => {
            bad.push(BadValue { member, at: None, value, why: "it is not a list".to_owned() });
            Vec::new()
        }
    }
}

/// The digest that identifies a text.
pub(crate) fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The parts of an installation that were not undone.
#[derive(Debug, Default)]
pub struct Recorded {
    /// The agents that are connected in user scope.
    pub agents: Vec<String>,
    /// Completions and the man page.
    pub shell: Vec<PathBuf>,
    /// The copies of our program.
    pub copies: Vec<PathBuf>,
    /// Values of the record that cannot be used.
    pub bad: Vec<OpError>,
}

/// Reads the record of the installation.
pub fn recorded(data_dir: &Path) -> Result<Recorded, OpError> {
    let record = load_usable(data_dir)?;
    let bad = record.bad.iter().map(|bad| bad.error(data_dir)).collect();
    let copies = record.copies().cloned().collect();
    let (shell, agents): (Vec<_>, Vec<_>) =
        record.files.into_iter().partition(|entry| entry.agent == SHELL);
    let of_user = agents.into_iter().filter(|entry| entry.scope == ConnectScope::User.word());
    Ok(Recorded {
        agents: of_user.map(|entry| entry.agent).collect(),
        shell: shell.into_iter().map(|entry| entry.path).collect(),
        copies,
        bad,
    })
}

/// The lock on the data directory: one installation runs at a time.
pub(crate) struct LockedRecord {
    dir: PathBuf,
    /// The directories that had to be created.
    pub(crate) made: Vec<PathBuf>,
    _lock: File,
}

impl LockedRecord {
    pub(crate) fn open(dir: &Path) -> Result<LockedRecord, OpError> {
        let failed = |error| unusable(dir, &error);
        let until = Instant::now() + limits::INSTALL_PATIENCE;
        loop {
            let made = apply::missing_folders(&dir.join(NAME));
            let made_all = DirBuilder::new().recursive(true).mode(0o700).create(dir);
            made_all.inspect_err(|_| apply::remove_folders(&made)).map_err(failed)?;
            let lock = match File::open(dir) {
                // Another process has just removed the directory together with the last agent.
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
            // The previous holder may have removed the directory together with the last agent.
            let identity = |meta: fs::Metadata| (meta.dev(), meta.ino());
            let there = fs::metadata(dir).map(identity).ok();
            if held && there.is_some() && lock.metadata().map(identity).ok() == there {
                apply::remove_scratch_files(&dir.join(NAME));
                return Ok(LockedRecord { dir: dir.to_owned(), made, _lock: lock });
            }
            if Instant::now() >= until {
                return Err(OpError::unavailable(format!(
                    "another `install` or `uninstall` is still running after {} s",
                    limits::INSTALL_PATIENCE.as_secs()
                ))
                .hint("Wait for it to end, then run the command again."));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn load(&self) -> Result<InstallRecord, OpError> {
        load(&self.dir)
    }

    pub(crate) fn load_usable(&self) -> Result<InstallRecord, OpError> {
        load_usable(&self.dir)
    }

    /// Writes the record, or removes it if it is empty.
    pub(crate) fn save(&self, record: &InstallRecord) -> Result<(), OpError> {
        let path = self.dir.join(NAME);
        let saved = match record.is_empty() {
            true => apply::remove(&path),
            false => record
                .to_json()
                .and_then(|written| serde_json::to_vec(&written))
                .map_err(std::io::Error::from)
                .and_then(|bytes| apply::replace(&path, &bytes, 0o600)),
        };
        saved.map_err(|error| unusable(&path, &error))
    }
}

impl Drop for LockedRecord {
    fn drop(&mut self) {
        // A refused installation leaves no empty directories.
        if !self.dir.join(NAME).exists() {
            apply::remove_folders(&self.made);
        }
    }
}

/// The record of a data directory; an empty one if there is none. A bad value is an error: an installation could not
/// tell our entries from the user's.
pub(crate) fn load(dir: &Path) -> Result<InstallRecord, OpError> {
    let record = load_usable(dir)?;
    match record.bad.first() {
        Some(bad) => Err(bad.error(dir)),
        None => Ok(record),
    }
}

/// The record of a data directory with its bad values set apart; an empty one if there is none.
pub(crate) fn load_usable(dir: &Path) -> Result<InstallRecord, OpError> {
    let path = dir.join(NAME);
    let bytes = match regular::read(&path, limits::AGENT_FILE_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(InstallRecord::default()),
        Err(error) => return Err(unusable(&path, &error)),
    };
    let unreadable = |what: String| {
        OpError::unavailable(format!("{}: {what}", path.display()))
            .hint("Move the file away; `rekindle uninstall` then removes our entries without it.")
    };
    let members: Map<String, Value> =
        serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))?;
    match members.get("format") {
        Some(format) if *format == FORMAT => Ok(InstallRecord::from_members(members)),
        Some(Value::Number(format)) => Err(OpError::unavailable(format!(
            "{} was written by another version (format {format})",
            path.display(),
        ))
        .hint("Use the version of rekindle that installed it.")),
        _ => Err(unreadable("it has no format number".to_owned())),
    }
}
