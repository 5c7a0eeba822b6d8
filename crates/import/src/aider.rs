//! Where aider keeps its history: in the root of a repository or in a working directory. There is no list of these
//! directories, so only known projects are searched.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use model::origin::Origin;
use transcripts::SessionPlace;
use zone::{LocalTime, Zone};

use crate::rows::Environment;

/// The beginning of the first line of a run.
pub(crate) const RUN: &str = "# aider chat started at ";

/// The name of the history, unless the user chose another.
const HISTORY: &str = ".aider.chat.history.md";

/// The histories that may be in these directories. The user may have chosen another file, for one directory or for all.
pub(crate) fn histories(directories: &[PathBuf], var: &Environment<'_>) -> BTreeSet<PathBuf> {
    let moved = var("AIDER_CHAT_HISTORY_FILE").filter(|name| !name.is_empty()).map(PathBuf::from);
    let absolute = moved.iter().filter(|path| path.is_absolute()).cloned();
    let names = || moved.iter().map(PathBuf::as_path).chain([Path::new(HISTORY)]);
    let inside = directories.iter().flat_map(|root| names().map(|name| root.join(name)));
    absolute.chain(inside).collect()
}

/// Whether a file is a history, by its name.
pub(crate) fn is_history(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == HISTORY)
}

/// The directory of a history, and the part of its sessions' ids that differs from file to file.
pub(crate) fn place(path: &Path) -> Option<SessionPlace> {
    let cwd = path.parent()?.to_string_lossy().into_owned();
    let hash = Origin::of(&[&path.to_string_lossy()]).to_string();
    Some(SessionPlace { cwd: Some(cwd), parent: None, session: hash.get(..8).map(str::to_owned) })
}

/// Seconds since 1970 of a local time that was read as if it were UTC.
pub(crate) fn to_utc(local: i64) -> i64 {
    const DAY: i64 = 86_400;
    static ZONE: OnceLock<Zone> = OnceLock::new();
    let time = LocalTime { days: local.div_euclid(DAY), second: local.rem_euclid(DAY) };
    ZONE.get_or_init(Zone::local).seconds(time)
}
