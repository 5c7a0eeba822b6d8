//! The interface of the runtime to its hosting process, if that is a daemon.

/// Facts about the daemon for `status`.
#[derive(Clone, Debug, Default)]
pub struct HostFacts {
    pub pid: u32,
    pub port: u16,
    /// The base URL of the HTTP server, for example `http://127.0.0.1:8765`.
    pub address: String,
    /// `stdio`, `http` or `daemon`.
    pub mode: &'static str,
    pub build: String,
    pub started_at: i64,
    pub connections: usize,
    /// Notes about the daemon that `status` shows to the user.
    pub notes: Vec<String>,
}

/// The daemon around a runtime. A one-shot command has none.
pub trait Host: Send + Sync {
    fn facts(&self) -> HostFacts;

    /// Asks the daemon to end cleanly; returns at once.
    fn stop(&self);
}
