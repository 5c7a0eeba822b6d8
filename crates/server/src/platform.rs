//! Unix-only parts of the daemon: signals, sessions, private files.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use model::limits;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::guard;

/// Leaves the terminal's session, so that closing the terminal does not end the daemon.
pub fn detach() {
    // Fails if the process leads a process group, as one that `client` started does. A terminal
    // that closes does not signal such a background group.
    let _ = rustix::process::setsid();
}

/// Lets other threads and processes run before this thread, and before those that it starts from now on.
pub fn work_in_background() {
    // Only Linux has a niceness for each thread. Elsewhere the whole process, which may be the daemon, would get it.
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpriority_process, setpriority_process};
        if getpriority_process(None).is_ok_and(|nice| nice < limits::BACKGROUND_NICE) {
            let _ = setpriority_process(None, limits::BACKGROUND_NICE);
        }
    }
}

/// Raises the soft limit on open files as far as the hard one allows, up to what the daemon can use. Returns the
/// resulting limit. The default is often 256 or 1,024, which idle connections alone could use up.
pub fn raise_open_files() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.unwrap_or(u64::MAX).min(limits::OPEN_FILES_WANTED);
    let raised = Rlimit { current: Some(wanted), maximum };
    let limit = match current {
        Some(soft) if soft < wanted && setrlimit(Resource::Nofile, raised).is_ok() => wanted,
        Some(soft) => soft,
        None => limits::OPEN_FILES_WANTED,
    };
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// Whether an error means that this process or the system has too many open files.
pub(crate) fn is_out_of_files(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = error.raw_os_error();
    [Errno::MFILE, Errno::NFILE].iter().any(|out| errno == Some(out.raw_os_error()))
}

/// Makes a write beyond the file size limit (`RLIMIT_FSIZE`) fail like one to a full disk. By default a signal would
/// end the process.
pub fn survive_file_limits() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let handled = {
        let _inside = runtime.enter();
        signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).map(drop)
    };
    // The handler stays for the rest of the process. The small runtime shuts down without waiting, because waiting is
    // not allowed inside the daemon's own runtime.
    runtime.shutdown_background();
    handled
}

/// The signals that end a process in an orderly way.
pub struct EndSignals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl EndSignals {
    /// Starts to catch the signals. Must be called inside a tokio runtime.
    pub fn listen() -> io::Result<EndSignals> {
        Ok(EndSignals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    pub async fn received(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}

/// Writes a file of mode 0600 atomically: readers see the old content or the new.
pub fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&temporary)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// Reads the token, or creates it: 256 random bits in hex. It survives a reboot.
pub fn token(path: &Path) -> io::Result<String> {
    if let Ok(text) = regular::read_text(path, limits::SMALL_FILE_BYTES_MAX) {
        let text = text.trim();
        if text.len() >= 32 {
            return Ok(text.to_owned());
        }
    }
    let token = guard::secret()
        .ok_or_else(|| io::Error::other("the system has no random numbers for a token"))?;
    write_private(path, &format!("{token}\n"))?;
    Ok(token)
}
