//! The unix-only parts of the client: user, private directories, the environment of the process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use model::database::{COMPANION_HEAD_BYTES, Companion, FileHead, HEADER_BYTES};
use model::limits;
use model::locations::{Locations, Surroundings};
use model::situation::Situation;
use model::wire::EnvNames;

/// The effective user id of this process.
pub fn uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The size of the terminal at stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    pub columns: usize,
    pub lines: usize,
}

/// The size of the terminal at stdout: `COLUMNS` and `LINES` if they are set, else as the terminal reports it, else
/// that of a classic terminal.
pub fn screen() -> Screen {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    let var = |name: &str| std::env::var(name).ok()?.trim().parse::<usize>().ok();
    let known = |name: &str, reported: Option<u16>, classic: usize| {
        let reported = || reported.map(usize::from).filter(|size| *size > 0);
        var(name).filter(|size| *size > 0).or_else(reported).unwrap_or(classic)
    };
    Screen {
        columns: known("COLUMNS", size.map(|size| size.ws_col), 80),
        lines: known("LINES", size.map(|size| size.ws_row), 24),
    }
}

/// Whether there is a process of this user with this pid.
pub fn is_process(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

/// The locations of this process, from its own environment; `db` is the `--db` flag.
pub fn locations(db: Option<&Path>) -> Locations {
    locations_without(db, None)
}

/// The locations of this process without an environment variable.
pub fn locations_without(db: Option<&Path>, unset: Option<&str>) -> Locations {
    let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let around = Surroundings {
        var: &|name| match name {
            name if Some(name) == unset => None,
            "HOME" => home().map(PathBuf::into_os_string),
            "XDG_RUNTIME_DIR" => std::env::var_os(name).or_else(user_runtime_dir),
            _ => std::env::var_os(name),
        },
        uid: uid(),
        cwd: &cwd,
        mac: cfg!(target_os = "macos"),
        canonical: &canonical,
    };
    let mut locations = Locations::resolve(&around, db);
    if locations.is_beside_database()
        && !locations.data_dir.exists()
        && !may_become_ours(&locations.database)
    {
        // This database will be refused, so nothing is written beside it. Until then hooks spool their
        // events in the runtime directory.
        locations.data_dir.clone_from(&locations.runtime_dir);
    }
    locations
}

/// Whether the file at this path is a database of ours, or one can be created there.
fn may_become_ours(database: &Path) -> bool {
    let is_new = std::fs::metadata(database).map_or(true, |meta| meta.len() == 0);
    let fits = |companion: &Companion| {
        let head = regular::read_unlinked(&companion.beside(database), COMPANION_HEAD_BYTES as u64);
        match head {
            Ok(head) => companion.check(&head, is_new).is_ok(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    };
    if !Companion::ALL.iter().all(fits) {
        return false;
    }
    match regular::read(database, HEADER_BYTES as u64) {
        Ok(head) => FileHead::of(&head).is_ours_or_empty(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A dangling symbolic link is refused, too.
            std::fs::symlink_metadata(database).is_err()
        }
        Err(_) => false,
    }
}

/// The system's runtime directory of this user, for processes without the variable: some agents start their servers
/// without it, and these would not find the daemon of other processes.
fn user_runtime_dir() -> Option<OsString> {
    let path = PathBuf::from(format!("/run/user/{}", uid()));
    is_private(&path).then(|| path.into_os_string())
}

/// The user's home directory. An empty variable counts as unset.
pub fn home() -> Option<PathBuf> {
    let told = std::env::var_os("HOME").filter(|home| !home.is_empty());
    told.or_else(|| home_of(uid())).map(PathBuf::from)
}

/// The home directory in the system's user database, for processes without `HOME`.
fn home_of(uid: u32) -> Option<OsString> {
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let ours = fields.into_iter().find(|user| user.get(2) == Some(&uid.to_string().as_str()))?;
    ours.get(5).filter(|home| home.starts_with('/')).map(OsString::from)
}

/// Resolves symbolic links of the part of the path that exists.
fn canonical(path: &Path) -> PathBuf {
    if let Ok(whole) = path.canonicalize() {
        return whole;
    }
    let mut parts = path.components();
    match parts.next_back() {
        Some(Component::Normal(name)) => canonical(parts.as_path()).join(name),
        Some(Component::CurDir) => canonical(parts.as_path()),
        Some(Component::ParentDir) => {
            let mut above = canonical(parts.as_path());
            above.pop();
            above
        }
        _ => path.to_path_buf(),
    }
}

/// The situation of this process, without environment variables: see [`environment`].
pub fn situation() -> Situation {
    let cwd = working_dir();
    let facts = cwd.as_deref().and_then(git::Facts::at);
    Situation {
        cwd: cwd.map(|cwd| cwd.to_string_lossy().into_owned()),
        os: Some(if cfg!(target_os = "macos") { "darwin" } else { "linux" }.to_owned()),
        repo: facts.as_ref().map(git::Facts::repo),
        // With a detached head, the branch is unknown.
        branch: facts.and_then(|facts| facts.branch.branch().map(str::to_owned)),
        ..Situation::default()
    }
}

/// The working directory as the shell shows it (`PWD`, which may contain links) if that is still the current one, else its
/// real path.
fn working_dir() -> Option<PathBuf> {
    let place = |path: &Path| path.metadata().ok().map(|meta| (meta.dev(), meta.ino()));
    let is_plain = |path: &PathBuf| {
        let mut steps = path.components();
        steps.next() == Some(Component::RootDir)
            && steps.all(|step| matches!(step, Component::Normal(_)))
    };
    let shown = std::env::var_os("PWD").map(PathBuf::from).filter(is_plain);
    let here = place(Path::new("."));
    match shown.filter(|shown| here.is_some() && place(shown) == here) {
        Some(shown) => Some(shown),
        None => std::env::current_dir().ok(),
    }
}

/// The requested variables of this process. Variables that are unset, not UTF-8 or longer than
/// [`limits::ENV_VALUE_BYTES_MAX`] are omitted.
pub fn environment(asked: &EnvNames) -> BTreeMap<String, String> {
    let value = |name: &String| {
        let value = std::env::var(name).ok()?;
        (value.len() <= limits::ENV_VALUE_BYTES_MAX).then(|| (name.clone(), value))
    };
    asked.names.iter().filter_map(value).collect()
}

/// Connects to a socket, and waits this long for a listener whose queue is full.
#[cfg(target_os = "linux")]
pub fn connect(socket: &Path, patience: Duration) -> io::Result<UnixStream> {
    use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
    let flags = SocketFlags::CLOEXEC;
    let stream = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_timeout(&stream, sockopt::Timeout::Send, Some(patience))?;
    net::connect(&stream, &SocketAddrUnix::new(socket)?)?;
    Ok(UnixStream::from(stream))
}

/// Connects to a socket. Unlike on Linux, a full queue refuses the connection at once.
#[cfg(not(target_os = "linux"))]
pub fn connect(socket: &Path, _: Duration) -> io::Result<UnixStream> {
    UnixStream::connect(socket)
}

/// Reads from stdin: the number of bytes, 0 at its end, or `None` on a timeout.
pub fn read_stdin(into: &mut [u8], within: Duration) -> io::Result<Option<usize>> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;
    let stdin = io::stdin();
    let until = Instant::now() + within;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&left)) {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        match rustix::io::read(&stdin, &mut *into) {
            Ok(bytes) => return Ok(Some(bytes)),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether the system lets this process write a file of this size. Exceeding the limit would kill the process by a
/// signal, which for a hook would be worse than losing the event.
pub fn may_write(bytes: u64) -> bool {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize);
    limit.current.is_none_or(|current| bytes <= current)
}

/// Bytes that this user may still write on the disk of a path, if known.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let there = path.ancestors().find(|part| part.exists())?;
    let disk = rustix::fs::statvfs(there).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Why files cannot be created in a directory, or the directory cannot be created; `None` if they can.
pub fn refuses_files(dir: &Path) -> Option<io::Error> {
    use rustix::fs::{Access, access};
    let there = dir.ancestors().find(|part| part.exists())?;
    if !there.is_dir() {
        return Some(io::ErrorKind::NotADirectory.into());
    }
    access(there, Access::WRITE_OK | Access::EXEC_OK).err().map(io::Error::from)
}

/// Why a directory cannot be used.
#[derive(Debug)]
pub enum Unusable {
    /// It belongs to another user, who may be waiting for our connection there.
    Foreign(PathBuf),
    /// It is meant for all users, like `/tmp`: closing it would lock them out.
    Shared(PathBuf),
    NotADirectory(PathBuf),
    Io(PathBuf, io::Error),
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unusable::Foreign(path) => write!(f, "{} belongs to another user", path.display()),
            Unusable::Shared(path) => write!(f, "{} is shared by all users", path.display()),
            Unusable::NotADirectory(path) => write!(f, "{} is not a directory", path.display()),
            Unusable::Io(path, error) => write!(f, "cannot use {}: {error}", path.display()),
        }
    }
}

impl From<Unusable> for model::OpError {
    fn from(unusable: Unusable) -> Self {
        model::OpError::unavailable(unusable.to_string())
            .hint("Set REKINDLE_RUNTIME_DIR or REKINDLE_HOME to a directory of your own.")
    }
}

/// Checks that a directory exists, is ours and cannot be written by others; changes nothing.
pub fn is_private(dir: &Path) -> bool {
    std::fs::symlink_metadata(dir)
        .is_ok_and(|meta| meta.is_dir() && meta.uid() == uid() && meta.mode() & 0o022 == 0)
}

/// Makes sure that a directory exists: created with 0700, unchanged if it exists.
pub fn data_dir(dir: &Path) -> Result<(), Unusable> {
    existing_dir(dir).map(drop)
}

/// Makes sure that a directory exists and that only we may write to it: created with 0700, closed if others could
/// write to it.
pub fn private_dir(dir: &Path) -> Result<(), Unusable> {
    let meta = existing_dir(dir)?;
    if meta.uid() != uid() {
        return Err(Unusable::Foreign(dir.to_owned()));
    }
    if meta.mode() & 0o1000 != 0 {
        return Err(Unusable::Shared(dir.to_owned()));
    }
    if meta.mode() & 0o022 != 0 {
        let closed = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(dir, closed)
            .map_err(|error| Unusable::Io(dir.to_owned(), error))?;
    }
    Ok(())
}

fn existing_dir(dir: &Path) -> Result<std::fs::Metadata, Unusable> {
    let failed = |error| Unusable::Io(dir.to_owned(), error);
    let meta = match std::fs::symlink_metadata(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed)?;
            std::fs::symlink_metadata(dir).map_err(failed)?
        }
        other => other.map_err(failed)?,
    };
    if meta.is_dir() { Ok(meta) } else { Err(Unusable::NotADirectory(dir.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir(name: &str, mode: u32) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("rekindle-dir-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(mode)).unwrap();
        dir
    }

    fn mode(dir: &Path) -> u32 {
        std::fs::metadata(dir).unwrap().mode() & 0o7777
    }

    #[test]
    fn a_directory_of_ours_that_others_may_write_is_closed() {
        let open = dir("open", 0o775);
        assert!(!is_private(&open));
        private_dir(&open).unwrap();
        assert!(is_private(&open));
        assert_eq!(mode(&open), 0o700);
        let missing = open.join("a/b");
        private_dir(&missing).unwrap();
        assert_eq!(mode(&missing), 0o700);
        std::fs::remove_dir_all(&open).unwrap();
    }

    #[test]
    fn a_directory_that_is_meant_for_everybody_is_refused_and_left_as_it_is() {
        let shared = dir("shared", 0o1777);
        assert!(matches!(private_dir(&shared), Err(Unusable::Shared(_))));
        data_dir(&shared).unwrap();
        assert_eq!(mode(&shared), 0o1777);
        std::fs::remove_dir_all(&shared).unwrap();
    }
}
