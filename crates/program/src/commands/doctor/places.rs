//! Checks of directories and files: owner, permissions, spooled events, free disk space.

use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use model::hook::HookEvent;
use model::limits;
use model::locations::Locations;
use serde_json::{Value, json};

use super::{check, since};

/// The events in the spool.
pub(super) struct SpooledEvents {
    pub(super) events: usize,
    /// Milliseconds since 1970 of the oldest event.
    oldest: Option<i64>,
    /// The newest events.
    pub(super) heard: Vec<SpooledEvent>,
}

/// Agent and name of a spooled event.
pub(super) struct SpooledEvent {
    pub(super) agent: String,
    pub(super) name: String,
    /// Milliseconds since 1970.
    pub(super) at: i64,
}

/// Reads the spool.
pub(super) fn waiting(locations: &Locations) -> SpooledEvents {
    let files = runtime::spool::own_files(&locations.spools(), locations.uid());
    let read = |path: &PathBuf| {
        let text = regular::read(path, limits::HOOK_BYTES_MAX as u64).ok()?;
        let event: HookEvent = serde_json::from_slice(&text).ok()?;
        Some(SpooledEvent { agent: event.agent, name: event.name, at: event.at })
    };
    SpooledEvents {
        events: files.len(),
        oldest: files.iter().filter_map(|path| modified(path)).min(),
        heard: files.iter().rev().take(limits::SPOOL_HEARD_MAX).filter_map(read).collect(),
    }
}

/// The modification time of a file, in milliseconds since 1970.
pub(super) fn modified(path: &Path) -> Option<i64> {
    std::fs::metadata(path).and_then(|meta| meta.modified()).ok().and_then(millis)
}

pub(super) fn millis(at: SystemTime) -> Option<i64> {
    at.duration_since(UNIX_EPOCH).ok().and_then(|since| i64::try_from(since.as_millis()).ok())
}

/// Converts milliseconds since 1970 to a time.
pub(super) fn time(at: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(at).unwrap_or_default())
}

/// Reports the events in the spool and when they will be ingested.
pub(super) fn spool(
    locations: &Locations,
    before: &SpooledEvents,
    runs: bool,
    checks: &mut [Value],
) -> Option<Value> {
    let oldest =
        before.oldest.map(|at| format!(", the oldest came {}", since(at))).unwrap_or_default();
    let (count, left) = (before.events, waiting(locations).events);
    let told = checks.iter_mut().find(|check| check["name"] == "spool");
    if left == 0 {
        if count > 0
            && let Some(told) = told.filter(|told| told["status"] == "ok")
        {
            let events = text::counted(count, "event");
            told["detail"] = json!(format!("ingested {events} just now{oldest}"));
        }
        return None;
    }
    let hint = if runs {
        "They are ingested as soon as the daemon and the database can be used again."
    } else {
        "They are ingested when the store is next opened to write; `rekindle doctor --fix` does it now."
    };
    let detail = format!("{} not stored yet{oldest}", text::counted(left, "event"));
    let waits = check("spool", "warn", &detail, hint);
    match told {
        Some(told) => *told = waits,
        None => return Some(waits),
    }
    None
}

/// Checks that only the user may write to a directory, or that it can be created.
pub(super) fn directory(name: &str, path: &Path) -> Value {
    let shown = path.display();
    match unfit(path) {
        None if path.exists() => check(name, "ok", &shown.to_string(), ""),
        None => check(name, "ok", &format!("{shown}: not there yet"), ""),
        Some(why) if path.exists() && !path.is_dir() => {
            check(name, "fail", &why, "Move it away; the directory is created when it is needed.")
        }
        Some(why) => check(
            name,
            "fail",
            &why,
            "`rekindle doctor --fix` corrects its mode. If that is not the reason, change its owner (chown), or choose another directory with REKINDLE_RUNTIME_DIR or REKINDLE_HOME.",
        ),
    }
}

/// Why a directory cannot be used or trusted; `None` if it can, or can be created.
fn unfit(path: &Path) -> Option<String> {
    let shown = path.display();
    let refused = client::platform::refuses_files(path);
    let refused = refused.map(|why| format!("cannot write to {shown}: {why}"));
    let Ok(meta) = std::fs::symlink_metadata(path) else { return refused };
    let mode = meta.mode() & 0o7777;
    if !meta.is_dir() {
        return Some(format!("{shown} is not a directory"));
    }
    if meta.uid() != client::platform::uid() {
        return Some(format!("{shown} belongs to another user"));
    }
    let open =
        (mode & 0o022 != 0).then(|| format!("{shown} can be written by others (mode {mode:o})"));
    open.or(refused)
}

/// The directories that other users must not write to.
pub(super) fn directories(locations: &Locations) -> Vec<PathBuf> {
    let [first, second] = locations.spools();
    let log = locations.hook_log().parent().map(Path::to_path_buf);
    let all = [locations.runtime_dir.clone(), locations.data_dir.clone(), first, second];
    all.into_iter().chain(log).filter(|dir| dir.exists()).collect()
}

/// The existing files that must be closed to other users.
pub(super) fn private_files(locations: &Locations) -> Vec<PathBuf> {
    let database = &locations.database;
    let beside = |ending: &str| {
        let mut name = database.clone().into_os_string();
        name.push(ending);
        PathBuf::from(name)
    };
    // Permissions are changed only on a database that we may open.
    let database = match runtime::check_database(locations) {
        Ok(()) => {
            let endings = ["-wal", "-shm", "-paused", ".lock"];
            [database.clone()].into_iter().chain(endings.map(beside)).collect()
        }
        Err(_) => Vec::new(),
    };
    let all = [
        locations.token(),
        locations.token_copy(),
        locations.socket(),
        locations.daemon_log(),
        locations.hook_log(),
        locations.data_dir.join("installed.json"),
    ];
    // A link at its path leads to a file of the user.
    let lock = (!foreign_lock(locations)).then(|| locations.lock());
    let all = database.into_iter().chain(all).chain(lock);
    all.filter(|file| std::fs::symlink_metadata(file).is_ok()).collect()
}

/// A file of ours that the user, its owner, cannot read and write.
pub(super) struct LockedFile {
    pub(super) path: PathBuf,
    mode: u32,
}

impl LockedFile {
    /// Checks the mode bits: for root every file is writable, but agents may run as a normal user.
    fn at(path: PathBuf) -> Option<LockedFile> {
        let meta = std::fs::symlink_metadata(&path).ok()?;
        let mode = meta.mode() & 0o777;
        let is_locked = meta.is_file() && mode & 0o600 != 0o600;
        (is_locked && meta.uid() == client::platform::uid()).then_some(LockedFile { path, mode })
    }

    /// The problem as a sentence for people.
    fn told(&self, database: &Path) -> String {
        let shown = self.path.display();
        let is_sidecar = self.path != database && self.path.parent() == database.parent();
        let name = self.path.to_string_lossy();
        if name.ends_with(".lock") {
            return format!("{shown} cannot be used as a lock (mode {:o})", self.mode);
        }
        if is_sidecar && LockedFile::at(database.to_owned()).is_none() {
            // SQLite created it while the database was read-only.
            return format!("{shown} cannot be written, but the database can");
        }
        format!("{shown} cannot be written (mode {:o})", self.mode)
    }
}

/// The database, its sidecars and the logs, if their mode keeps the user from writing them.
pub(super) fn locked_files(locations: &Locations) -> Vec<LockedFile> {
    let written = |file: &PathBuf| {
        let name = file.to_string_lossy();
        ["-wal", "-shm", ".log", ".lock"].iter().any(|ending| name.ends_with(ending))
            || *file == locations.database
    };
    let files = private_files(locations).into_iter().filter(written);
    files.filter_map(LockedFile::at).collect()
}

/// Marks the check of the database as failed if its mode keeps the user from writing it. The store itself does
/// not notice: it can be read, and root may write it anyway.
pub(super) fn mark_read_only(locations: &Locations, checks: &mut [Value]) {
    let Some(locked) = LockedFile::at(locations.database.clone()) else { return };
    let told = checks.iter_mut().find(|check| check["name"] == "database");
    if let Some(told) = told.filter(|told| told["status"] != "fail") {
        let detail = format!("{}: nothing can be stored", locked.told(&locations.database));
        *told = check("database", "fail", &detail, "`rekindle doctor --fix` makes it writable.");
    }
}

/// Whether there is a directory, a pipe, a link or the like at the path of the daemon's lock.
fn foreign_lock(locations: &Locations) -> bool {
    std::fs::symlink_metadata(locations.lock()).is_ok_and(|meta| !meta.is_file())
}

/// Reports a daemon's lock that is not a file: nothing can be stored then. The lock next to the database is checked
/// with the database.
pub(super) fn lock(locations: &Locations) -> Option<Value> {
    foreign_lock(locations).then(|| {
        let path = locations.lock();
        let kind = std::fs::symlink_metadata(&path).map(|meta| regular::kind(meta.file_type()));
        let kind = kind.unwrap_or("not a file");
        let detail =
            format!("{} is {kind}: no daemon can start, and nothing is stored", path.display());
        check("lock", "fail", &detail, "Move it away; a lock file is created when it is needed.")
    })
}

/// Reports temporary files that an interrupted restore, repair or backup left behind.
pub(super) fn leftovers(locations: &Locations) -> Option<Value> {
    let files = store::leftovers(&locations.database, &locations.backups());
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    (!names.is_empty()).then(|| {
        let detail = format!("a restore, repair or backup was interrupted: {}", names.join(", "));
        let hint = "The next command that opens the database without a daemon, or the next daemon, removes them; `rekindle doctor --fix` does it now.";
        check("leftovers", "warn", &detail, hint)
    })
}

/// Why others may access a file; `None` if they may not.
pub(super) fn open_to_others(file: &Path) -> Option<String> {
    let meta = std::fs::metadata(file).ok()?;
    if meta.uid() != client::platform::uid() {
        return Some(format!("{} belongs to another user", file.display()));
    }
    let mode = meta.mode() & 0o777;
    (mode & 0o077 != 0).then(|| format!("{} is open to others (mode {mode:o})", file.display()))
}

/// The mode of the settings file if everybody may write it. The settings decide where data is stored. Reading them is
/// harmless, and a group that may write them is often the user's own.
pub(super) fn settings_open(locations: &Locations) -> Option<u32> {
    let mode = std::fs::metadata(&locations.config_file).ok()?.mode() & 0o777;
    (mode & 0o002 != 0).then_some(mode)
}

/// Checks that files and directories are closed to others.
pub(super) fn files(locations: &Locations) -> Vec<Value> {
    let known = [&locations.runtime_dir, &locations.data_dir];
    let folders = directories(locations).into_iter().filter(|dir| !known.contains(&dir));
    let folders = folders.filter_map(|dir| unfit(&dir));
    let files = private_files(locations);
    let settings = settings_open(locations).map(|mode| {
        let file = locations.config_file.display();
        format!("{file} can be written by everybody (mode {mode:o})")
    });
    let open: Vec<String> = folders
        .chain(files.iter().filter_map(|file| open_to_others(file)))
        .chain(settings)
        .chain(locked_files(locations).iter().map(|file| file.told(&locations.database)))
        .collect();
    let permissions = if open.is_empty() {
        check(
            "permissions",
            "ok",
            &format!("{}, yours alone", text::counted(files.len(), "file")),
            "",
        )
    } else {
        let hint =
            "`rekindle doctor --fix` corrects the modes of your files; the others need chown.";
        check("permissions", "fail", &open.join("; "), hint)
    };
    let socket = locations.socket();
    let is_socket =
        std::fs::symlink_metadata(&socket).is_ok_and(|meta| meta.file_type().is_socket());
    let socket = is_socket.then(|| check("socket", "ok", &socket.to_string_lossy(), ""));
    [permissions].into_iter().chain(socket).collect()
}

/// Checks the token for HTTP clients.
pub(super) fn token(locations: &Locations, runs: bool) -> Option<Value> {
    // The first daemon creates it.
    if !runs && !locations.token().exists() {
        return None;
    }
    let path = locations.token();
    let shown = path.display();
    let hint =
        "`rekindle stop`, then `rekindle up` creates a new one; update the clients that store it.";
    Some(match regular::read_text(&path, limits::SMALL_FILE_BYTES_MAX) {
        Ok(text) if !text.trim().is_empty() => check("token", "ok", &shown.to_string(), ""),
        Ok(_) => check("token", "fail", &format!("{shown} is empty"), hint),
        Err(error) => check("token", "fail", &format!("cannot read {shown}: {error}"), hint),
    })
}

/// Checks the free disk space.
pub(super) fn disk(data_dir: &Path) -> Option<Value> {
    let free = client::platform::free_bytes(data_dir)?;
    let detail = format!("{} free at {}", text::size(free), data_dir.display());
    let (full, low) = (limits::DISK_FULL_BYTES, limits::DISK_LOW_BYTES);
    let hint = format!(
        "Make room: with less than {} free, events may be lost. `rekindle maintain --sweep` and `rekindle purge` make the database smaller.",
        text::size(full)
    );
    Some(match free {
        free if free < full => check("disk", "fail", &detail, &hint),
        free if free < low => check("disk", "warn", &detail, &hint),
        _ => check("disk", "ok", &detail, ""),
    })
}
