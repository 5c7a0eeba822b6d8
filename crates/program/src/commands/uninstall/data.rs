//! `uninstall --data`: finds our files on disk, checks that they can be deleted, and deletes them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::locations::Locations;
use model::{OpError, limits};
use serde_json::{Value, json};
use server::lock::{self, Lock};

use crate::commands::import::OFFERED;
use crate::commands::stop;
use crate::road;
use crate::world::World;

/// Records, and all other files of the program.
pub(super) struct Data {
    places: Vec<DataPlace>,
    /// The locks and the record of the database, which are deleted last: the data stays locked while the rest is
    /// deleted.
    locks: Vec<PathBuf>,
    kept: Vec<(PathBuf, &'static str)>,
}

/// A directory of ours, or a database in a directory of the user.
struct DataPlace {
    path: PathBuf,
    is_dir: bool,
    things: Vec<PathBuf>,
}

impl DataPlace {
    fn extent(&self) -> (u64, u64) {
        self.things.iter().map(|thing| extent(thing)).fold((0, 0), add)
    }
}

fn add(a: (u64, u64), b: (u64, u64)) -> (u64, u64) {
    (a.0 + b.0, a.1 + b.1)
}

/// The number of files at a path, and their bytes.
fn extent(path: &Path) -> (u64, u64) {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => {
            let inside = fs::read_dir(path).into_iter().flatten().flatten();
            inside.map(|entry| extent(&entry.path())).fold((0, 0), add)
        }
        Ok(meta) => (1, meta.len()),
        Err(_) => (0, 0),
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(ending);
    name.into()
}

/// Damaged databases, and WALs of moved ones, that were set aside next to this one: they contain records too.
pub(in crate::commands) fn set_aside(database: &Path) -> Vec<PathBuf> {
    let name = database.file_name().unwrap_or_default().to_string_lossy();
    let folder = database.parent().unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let prefixes = [format!("{name}.corrupt-"), format!("{name}.log-")];
    let is_one = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        prefixes.iter().any(|prefix| name.to_string_lossy().starts_with(prefix))
    };
    entries.filter(is_one).map(|entry| entry.path()).collect()
}

impl Data {
    /// Finds the data.
    pub(super) fn find(locations: &Locations) -> Data {
        let Locations { data_dir, database, runtime_dir, .. } = locations;
        let [spool, other_spool] = locations.spools();
        let files =
            ["", "-wal", "-shm", "-journal", "-paused"].map(|ending| beside(database, ending));
        let database_files: Vec<PathBuf> = files.into_iter().chain(set_aside(database)).collect();
        let mut in_data = vec![spool, locations.browsers()];
        let mut places = Vec::new();
        let place =
            |path: &Path, is_dir, things| DataPlace { path: path.to_owned(), is_dir, things };
        if database.starts_with(data_dir) {
            in_data.extend(database_files);
        } else {
            places.push(place(database, false, database_files));
        }
        if let Some(link) = locations.usual_name().filter(|name| name != database) {
            in_data.push(link);
        }
        if locations.owns_data_dir() {
            in_data.extend(["token", "backups", "log", OFFERED].map(|name| data_dir.join(name)));
        }
        let in_runtime = vec![
            locations.discovery(),
            locations.socket(),
            locations.token_copy(),
            runtime_dir.join("start.stamp"),
            other_spool,
        ];
        places.push(place(data_dir, true, in_data));
        places.push(place(runtime_dir, true, in_runtime));
        for place in &mut places {
            place.things.retain(|thing| fs::symlink_metadata(thing).is_ok());
        }
        let settings = Some((locations.config_file.clone(), "your settings"));
        let mut locks = vec![beside(database, ".lock"), locations.lock()];
        let mut entries = locations.records();
        entries.push(locations.identity_locks());
        locks.extend(store::record_entries(database, &entries));
        Data {
            places,
            locks,
            kept: settings.into_iter().filter(|(file, _)| file.exists()).collect(),
        }
    }

    fn is_empty(&self) -> bool {
        let locks = self.locks.iter().filter(|lock| fs::symlink_metadata(lock).is_ok());
        self.places.iter().flat_map(|place| &place.things).chain(locks).next().is_none()
    }

    /// Whether there are files other than locks.
    pub(super) fn has_records(&self) -> bool {
        self.places.iter().any(|place| place.extent().0 > 0)
    }

    /// Its size and location, for people.
    pub(super) fn summary(&self) -> String {
        let (files, bytes) = self.places.iter().map(DataPlace::extent).fold((0, 0), add);
        let there = self.places.iter().filter(|place| place.extent().0 > 0);
        let mut there: Vec<String> = there.map(|place| place.path.display().to_string()).collect();
        if there.is_empty() {
            there.extend(
                self.places
                    .iter()
                    .find(|place| place.is_dir)
                    .map(|place| place.path.display().to_string()),
            );
        }
        format!("{}, {} in {}", text::counted(files, "file"), text::size(bytes), there.join(", "))
    }

    /// The files that would be deleted, and those that would be kept.
    pub(super) fn preview(&self, locations: &Locations) -> Value {
        let places: Vec<Value> =
            self.places.iter().filter_map(|place| told(place, place.extent())).collect();
        let daemon =
            lock::holder(locations).and_then(|holder| road::out_of_reach(locations).or(holder.pid));
        let mut kept = self.kept(locations);
        kept.retain(|(path, _)| !path.ends_with(RECORD));
        Data::result(&kept, places, Vec::new(), daemon)
    }

    /// Prepares the deletion: stops the daemon and takes its lock, so that no process writes during it. If the daemon
    /// does not stop, nothing is changed.
    pub(super) fn make_way(&self, world: &mut World) -> Result<Option<Lock>, OpError> {
        if self.is_empty() && lock::holder(&world.locations).is_none() {
            return Ok(None);
        }
        let until = Instant::now() + limits::STOP_PATIENCE;
        let stopped = stop::stop(world);
        let pid = road::out_of_reach(&world.locations);
        let refused = |error: OpError| {
            let message =
                format!("nothing was changed, because the data is in use: {}", error.message);
            let hint = match pid {
                Some(pid) => format!(
                    "Continue it (`kill -CONT {pid}`) or end it (`kill -9 {pid}`), then try again."
                ),
                None => error.hint.unwrap_or_else(|| {
                    "Try again; `rekindle status` shows the process.".to_owned()
                }),
            };
            OpError::new(error.code, message).hint(hint)
        };
        stopped.map_err(refused)?;
        loop {
            if let Some(lock) = Lock::try_take(&world.locations).map_err(refused)? {
                return Ok(Some(lock));
            }
            if Instant::now() >= until {
                let who = lock::holder(&world.locations).and_then(|holder| holder.pid);
                let who = who.map_or("a process".to_owned(), |pid| format!("pid {pid}"));
                let error = OpError::unavailable(format!("{who} works on the store"));
                return Err(refused(error.hint("Wait until it has finished, then try again.")));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Deletes our files. The caller holds the lock. Files that cannot be deleted are reported, and the rest is
    /// deleted.
    pub(super) fn remove(&self, locations: &Locations) -> Value {
        let (mut failed, mut places) = (Vec::new(), Vec::new());
        let mut remove = |path: &Path| {
            let is_dir = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
            let removed = if is_dir { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            match removed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    failed
                        .push(json!({ "path": path.to_string_lossy(), "why": error.to_string() }));
                    false
                }
                _ => true,
            }
        };
        for place in &self.places {
            let mut gone = (0, 0);
            for thing in &place.things {
                let size = extent(thing);
                if remove(thing) {
                    gone = add(gone, size);
                }
            }
            places.push((place, gone));
        }
        for lock in &self.locks {
            remove(lock);
        }
        // If the usual path of the socket is too long, the socket has a directory of its own.
        let short = locations.socket().parent().map(Path::to_owned);
        let dirs = self.places.iter().filter(|place| place.is_dir).map(|place| place.path.clone());
        // The directory of database identities is in the user's data directory, which may differ from this database's.
        let records = locations.records();
        let records = records.iter().flat_map(|dir| dir.ancestors().take(2)).map(Path::to_owned);
        let shared = Some(locations.identity_locks());
        for dir in records.chain(dirs).chain(short).chain(shared) {
            // Fails if the directory has other files, which are not ours.
            let _ = fs::remove_dir(dir);
        }
        let places = places.into_iter().filter_map(|(place, gone)| told(place, gone)).collect();
        Data::result(&self.kept(locations), places, failed, None)
    }

    /// The files that are kept, and why.
    fn kept(&self, locations: &Locations) -> Vec<(PathBuf, &'static str)> {
        let mut kept = self.kept.clone();
        for place in self.places.iter().filter(|place| place.is_dir) {
            let left = fs::read_dir(&place.path).into_iter().flatten().flatten();
            let mut left: Vec<_> = left.map(|entry| entry.path()).collect();
            left.sort();
            // Files that could not be deleted are reported elsewhere, and the settings may be in this directory too.
            left.retain(|path| {
                !place.things.contains(path)
                    && !self.locks.iter().any(|lock| lock.starts_with(path))
                    && !self.kept.iter().any(|(kept, _)| kept == path)
            });
            kept.extend(left.into_iter().map(|path| match path.ends_with(RECORD) {
                true => (path, "the record of what is installed"),
                false if locations.owns_data_dir() => (path, "not ours"),
                false => (path, "of another database"),
            }));
        }
        kept
    }

    fn result(
        kept: &[(PathBuf, &str)],
        places: Vec<Value>,
        failed: Vec<Value>,
        daemon: Option<u32>,
    ) -> Value {
        let sum = |name: &str| places.iter().filter_map(|place| place[name].as_u64()).sum::<u64>();
        let kept: Vec<Value> = kept
            .iter()
            .map(|(path, why)| json!({ "path": path.to_string_lossy(), "why": why }))
            .collect();
        json!({
            "files": sum("files"),
            "bytes": sum("bytes"),
            "removed": places,
            "failed": failed,
            "kept": kept,
            "daemon": daemon,
        })
    }
}

/// The record that `install` writes; it is deleted with the last agent.
const RECORD: &str = "installed.json";

/// Describes a directory from which this many files and bytes are deleted; `None` if it is none.
fn told(place: &DataPlace, (files, bytes): (u64, u64)) -> Option<Value> {
    (files > 0).then(|| {
        let path = place.path.to_string_lossy();
        json!({ "path": path, "files": files, "bytes": bytes, "left": place.is_dir && place.path.exists() })
    })
}

/// The lines for people.
pub(super) fn pretty(data: &Value, is_preview: bool) -> Vec<String> {
    let all = |name: &str| data[name].as_array().cloned().unwrap_or_default();
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let mut lines = Vec::new();
    if let Some(pid) = data["daemon"].as_u64() {
        lines.push(format!("would end    the daemon (pid {pid})"));
    }
    for place in all("removed") {
        let bytes = place["bytes"].as_u64().unwrap_or_default();
        let size = format!("({}, {})", text::counted(&place["files"], "file"), text::size(bytes));
        let path = text(&place, "path");
        lines.push(match (is_preview, place["left"] == true) {
            (true, _) => format!("would remove {path} {size}"),
            (false, true) => format!("removed   from {path} {size}"),
            (false, false) => format!("removed   {path} {size}"),
        });
    }
    for failed in all("failed") {
        let (path, why) = (text(&failed, "path"), text(&failed, "why"));
        lines.push(format!("NOT removed {path}: {why}; remove it by hand"));
    }
    let kept = if is_preview { "would keep  " } else { "kept     " };
    for stayed in all("kept") {
        lines.push(format!("{kept} {} ({})", text(&stayed, "path"), text(&stayed, "why")));
    }
    lines
}
