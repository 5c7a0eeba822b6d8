//! Finds and starts the daemon: its discovery file, and the start of its process.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use model::locations::Locations;
use model::{OpError, limits};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::connection::Connection;
use crate::platform;

/// A file in the runtime directory. Its time is that of the last start of a daemon by a hook, and its text is the pid
/// of that daemon.
const START_STAMP: &str = "start.stamp";
/// How long after its creation a stamp may be without a pid: the hook writes it as soon as the process exists.
const STAMP_WITHOUT_PID: Duration = Duration::from_secs(1);

/// The discovery file. It only tells where to connect; the lock decides which process is PRIMARY.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Discovery {
    pub pid: u32,
    pub port: u16,
    pub started: String,
    pub build: String,
    /// The unix socket, if its usual path is too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<String>,
}

/// Reads the discovery file; `None` if it is missing or unreadable.
pub fn discovery(locations: &Locations) -> Option<Discovery> {
    let text = regular::read(&locations.discovery(), limits::SMALL_FILE_BYTES_MAX).ok()?;
    serde_json::from_slice(&text).ok()
}

/// The pid of another daemon of this user that listens on this port, read from the discovery files in the
/// runtime directories beside ours. We send nothing to the port itself: it may belong to an unrelated program.
pub fn other_daemon_at(locations: &Locations, port: u16) -> Option<u32> {
    let beside = std::fs::read_dir(locations.runtime_dir.parent()?).ok()?;
    let is_ours = |dir: &Path| dir != locations.runtime_dir && platform::is_private(dir);
    let found = beside
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("rekindle"))
        .map(|entry| entry.path())
        .filter(|dir| is_ours(dir))
        .filter_map(|dir| {
            regular::read(&dir.join("daemon.json"), limits::SMALL_FILE_BYTES_MAX).ok()
        })
        .filter_map(|bytes| serde_json::from_slice::<Discovery>(&bytes).ok());
    found.filter(|found| found.port == port).map(|found| found.pid).next()
}

/// Whether the user disabled starting daemons.
pub fn autostart_forbidden() -> bool {
    std::env::var_os("REKINDLE_NO_AUTOSTART").is_some_and(|value| !value.is_empty() && value != "0")
}

/// The suffix that the system appends to the path of a running program that was deleted or replaced.
const REMOVED: &str = " (deleted)";

/// The path of our program on disk: it may have been replaced since this process started.
fn program() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    let replaced = path.to_str().and_then(|path| path.strip_suffix(REMOVED));
    Ok(replaced.filter(|_| !path.exists()).map(PathBuf::from).unwrap_or(path))
}

fn command(db: Option<&Path>, flags: &[OsString]) -> io::Result<Command> {
    let mut command = Command::new(program()?);
    command.args(["serve", "--daemon", "--child"]).args(flags);
    if let Some(db) = db {
        command.arg("--db").arg(db);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.process_group(0);
    Ok(command)
}

/// Starts a daemon in the background and waits until one accepts connections. If it cannot start, its own message is
/// the error. Returns the pid of the started process, which is not the daemon's if another process started one at the
/// same time.
pub fn start_and_wait(
    locations: &Locations,
    db: Option<&Path>,
    flags: &[OsString],
) -> Result<u32, OpError> {
    let mut child = command(db, flags)
        .and_then(|mut command| command.arg("--json").stdout(Stdio::piped()).spawn())
        .map_err(|error| OpError::unavailable(format!("cannot start a daemon: {error}")))?;
    let until = Instant::now() + limits::START_PATIENCE;
    loop {
        if Connection::open(locations).is_ok() {
            return Ok(child.id());
        }
        if Instant::now() >= until {
            return Err(OpError::unavailable("the daemon did not start in time")
                .hint("See `rekindle logs` and `rekindle doctor`."));
        }
        // A process that exited successfully found a concurrently started daemon, which accepts connections in a
        // moment.
        if let Ok(Some(status)) = child.try_wait()
            && !status.success()
        {
            return Err(said(&mut child));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The error that a daemon printed before it exited.
fn said(child: &mut Child) -> OpError {
    let mut text = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        let _ = stdout.read_to_string(&mut text);
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(printed) if printed["error"].is_object() => OpError::from_wire(&printed["error"]),
        _ => OpError::unavailable("the daemon exited without an error message")
            .hint("See `rekindle logs` and `rekindle doctor`."),
    }
}

/// Starts a daemon unless one was started within the last half minute, for hooks.
pub fn start_rate_limited(locations: &Locations, db: Option<&Path>) {
    if autostart_forbidden() || platform::private_dir(&locations.runtime_dir).is_err() {
        return;
    }
    let stamp = locations.runtime_dir.join(START_STAMP);
    let fresh = age(&stamp).is_some_and(|age| age < limits::HOOK_START_PAUSE);
    if !fresh && write_stamp(&stamp, "").is_ok() {
        // `doctor` reports a daemon that cannot be started; the event is safe in the spool.
        let started = command(db, &["--on-demand".into()]).and_then(|mut command| command.spawn());
        if let Ok(child) = started {
            let _ = write_stamp(&stamp, &child.id().to_string());
        }
    }
}

/// Replaces the text of the stamp, which only this user may read.
fn write_stamp(stamp: &Path, text: &str) -> io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(stamp)?.write_all(text.as_bytes())
}

/// Whether a hook has started a daemon that may not accept connections yet.
pub fn is_starting(locations: &Locations) -> bool {
    let stamp = locations.runtime_dir.join(START_STAMP);
    let Some(age) = age(&stamp).filter(|age| *age < limits::START_PATIENCE) else { return false };
    let Ok(text) = regular::read_text(&stamp, limits::SMALL_FILE_BYTES_MAX) else { return false };
    match text.parse() {
        Ok(pid) => platform::is_process(pid),
        Err(_) => age < STAMP_WITHOUT_PID,
    }
}

/// The time since a file was written.
fn age(file: &Path) -> Option<Duration> {
    std::fs::metadata(file).and_then(|meta| meta.modified()).ok()?.elapsed().ok()
}
