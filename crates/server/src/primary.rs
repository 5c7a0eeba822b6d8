//! A PRIMARY from start to end: how it opens, announces itself and shuts down.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use client::daemon::Discovery;
use contract::End;
use mcp::McpServer;
use model::locations::Locations;
use model::time::rfc3339;
use model::wire::{Build, EnvNames, TakenPort};
use model::{OpError, limits};
use runtime::entry_updates::EntryUpdates;
use runtime::{Host, HostFacts, Runtime, tasks};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::bound_socket::BoundSocket;
use crate::connections::{self, Connections};
use crate::guard::{Auth, Browsers};
use crate::http::{self, Face};
use crate::lock::Lock;
use crate::platform::EndSignals;
use crate::{idle, platform, socket};

/// How the daemon is to run.
#[derive(Clone, Debug)]
pub struct DaemonOptions {
    pub mode: DaemonMode,
    pub host: IpAddr,
    pub port: u16,
    /// Fail if the port is taken, instead of trying the next one.
    pub strict_port: bool,
    pub no_auth: bool,
    pub build: Build,
    /// Additional files that get a copy of the discovery file.
    pub pid_files: Vec<PathBuf>,
}

/// How the daemon was started, which decides how long it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DaemonMode {
    /// Serves its own MCP client on stdin, then its other clients until they leave.
    Stdio,
    /// Runs in the foreground until it is stopped.
    Http,
    /// Runs in the background until it is stopped.
    Daemon,
    /// Runs in the background until it has been idle long enough.
    OnDemand,
}

impl DaemonMode {
    fn word(self) -> &'static str {
        match self {
            DaemonMode::Stdio => "stdio",
            DaemonMode::Http => "http",
            DaemonMode::Daemon | DaemonMode::OnDemand => "daemon",
        }
    }
}

/// Why the daemon ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// A client called `stop`.
    Stopped,
    Signal,
    /// Idle, and it holds no state. State that arrives at the last moment is left to the next PRIMARY.
    Idle,
    /// Idle for so long that the state that it holds is cleared.
    Forgotten,
    /// A newer build takes over.
    Retired,
    /// The lock file is gone, and with it the right to serve.
    LockLost,
}

/// State that the parts of a running PRIMARY share.
pub(crate) struct PrimaryState {
    pub(crate) runtime: Runtime,
    pub(crate) mcp: McpServer,
    pub(crate) connections: Arc<Connections>,
    pub(crate) face: Arc<Face>,
    pub(crate) options: DaemonOptions,
    pub(crate) db: String,
    pub(crate) started_at: i64,
    /// The requested port, if another program uses it.
    pub(crate) taken_port: Option<TakenPort>,
    /// Whether a client asked it to stay until it is stopped.
    pub(crate) stays: AtomicBool,
    /// Whether our own MCP client is still on stdin.
    pub(crate) stdio_open: watch::Sender<bool>,
    end: watch::Sender<Option<EndReason>>,
}

impl PrimaryState {
    /// Asks for the shutdown; the first reason counts.
    pub(crate) fn end(&self, why: EndReason) {
        self.end.send_if_modified(|end| {
            let first = end.is_none();
            if first {
                *end = Some(why);
            }
            first
        });
    }

    /// Whether a user stopped it. Its clients then do not start another by themselves.
    pub(crate) fn was_stopped(&self) -> bool {
        *self.end.borrow() == Some(EndReason::Stopped)
    }

    /// The base URL of the HTTP server.
    pub(crate) fn address(&self) -> String {
        format!("http://{}", SocketAddr::new(self.options.host, self.face.port))
    }

    /// A warning for the user if another program uses the requested port.
    fn taken_note(&self) -> Option<String> {
        self.taken_port.as_ref().map(|taken| taken.note(self.face.port))
    }

    /// The number of clients other than our own on stdin: open connections, and live sessions of agents.
    pub(crate) fn others(&self) -> usize {
        self.connections.open() + self.runtime.live_sessions()
    }
}

impl Host for PrimaryState {
    fn facts(&self) -> HostFacts {
        HostFacts {
            pid: std::process::id(),
            port: self.face.port,
            address: self.address(),
            mode: self.options.mode.word(),
            build: self.options.build.to_string(),
            started_at: self.started_at,
            connections: self.connections.open(),
            notes: self.taken_note().into_iter().collect(),
        }
    }

    fn stop(&self) {
        self.end(EndReason::Stopped);
    }
}

/// A running PRIMARY.
pub struct Primary {
    shared: Arc<PrimaryState>,
    lock: Arc<Lock>,
    stop: watch::Sender<bool>,
    surfaces: Vec<JoinHandle<()>>,
    watcher: JoinHandle<()>,
}

impl Primary {
    /// Opens the socket and the port, and writes the discovery file. The caller holds the lock.
    pub async fn start(
        lock: Lock,
        runtime: Runtime,
        options: DaemonOptions,
    ) -> Result<Primary, OpError> {
        let locations = runtime.locations().clone();
        let token = token(&locations)?;
        let (tcp, taken_port) = bind_port(&options, &locations).await?;
        // The socket is opened last: a client that can connect relies on a daemon that has started.
        let (socket, unix, listeners) = BoundSocket::open(&locations)?;
        let port = tcp.local_addr().map_or(0, |address| address.port());
        let connections = Connections::new(connections::fitting(platform::raise_open_files()));
        let mcp = McpServer::new(runtime.clone());
        let started_at = client::clock::now_ms();
        let address = format!("http://{}", SocketAddr::new(options.host, port));
        let browsers = Browsers::open(&locations, &address, port);
        let face = Arc::new(Face {
            runtime: runtime.clone(),
            mcp: mcp.clone(),
            connections: connections.clone(),
            auth: Auth::new((!options.no_auth).then_some(token), browsers),
            port,
            started_at,
        });
        let shared = Arc::new(PrimaryState {
            db: locations.database.to_string_lossy().into_owned(),
            stays: AtomicBool::new(matches!(options.mode, DaemonMode::Http | DaemonMode::Daemon)),
            stdio_open: watch::Sender::new(options.mode == DaemonMode::Stdio),
            runtime,
            mcp,
            connections,
            face: face.clone(),
            options,
            started_at,
            taken_port,
            end: watch::Sender::new(None),
        });
        shared.runtime.attach_host(shared.clone());
        let stop = watch::Sender::new(false);
        let surfaces = vec![
            tasks::spawn("http", http::serve(tcp, face, stop.subscribe())),
            tasks::spawn(
                "socket",
                socket::serve(unix, listeners, shared.clone(), stop.subscribe()),
            ),
        ];
        let lock = Arc::new(lock);
        let watcher = tasks::spawn("idle", idle::watch(shared.clone(), lock.clone(), socket));
        let primary = Primary { shared, lock, stop, surfaces, watcher };
        primary.announce(&locations)?;
        let checked = primary.shared.runtime.clone();
        tokio::task::spawn_blocking(move || checked.mend());
        let log = primary.shared.runtime.log();
        log.info("daemon", format_args!("pid {} serves port {port}", std::process::id()));
        if let Some(note) = primary.shared.taken_note() {
            log.warn("daemon", format_args!("{note}"));
        }
        Ok(primary)
    }

    /// The base URL of the HTTP server.
    pub fn address(&self) -> String {
        self.shared.address()
    }

    /// A warning for the user if another program uses the requested port.
    pub fn taken_port_note(&self) -> Option<String> {
        self.shared.taken_note()
    }

    /// Answers one line of our own MCP client.
    pub async fn line(&self, line: &[u8], from: mcp::Peer) -> mcp::Answer {
        self.shared.mcp.line(line, from).await
    }

    /// Updates of entries for our own MCP client.
    pub fn entry_updates(&self) -> EntryUpdates {
        self.shared.runtime.entry_updates()
    }

    /// The environment variables that our own MCP client should send.
    pub fn asks_env(&self) -> Arc<EnvNames> {
        self.shared.runtime.asks_env()
    }

    /// Our own MCP client has left.
    pub fn stdin_closed(&self) {
        self.shared.stdio_open.send_replace(false);
    }

    /// Asks for the shutdown because of a signal.
    pub fn signalled(&self) {
        self.shared.end(EndReason::Signal);
    }

    /// Waits for a reason to end. Cancellation-safe: it may be called again.
    pub async fn ended(&self) -> EndReason {
        let mut end = self.shared.end.subscribe();
        match end.wait_for(Option::is_some).await {
            Ok(why) => why.unwrap_or(EndReason::Idle),
            // Unreachable, because the sender lives in `shared`; ending is the safe answer.
            Err(_) => EndReason::Idle,
        }
    }

    /// Runs until there is a reason to end, such as a signal, and then shuts down.
    pub async fn run_to_end(self, signals: &mut EndSignals) {
        let why = loop {
            tokio::select! {
                why = self.ended() => break why,
                () = signals.received() => self.signalled(),
            }
        };
        self.finish(why).await;
    }

    /// Shuts down: drains connections, clears or hands over its state, removes its files, releases the lock.
    pub async fn finish(mut self, why: EndReason) {
        let end = match why {
            EndReason::Stopped | EndReason::Forgotten => End::Clean,
            EndReason::Signal if self.shared.others() == 0 => End::Clean,
            EndReason::Signal | EndReason::Idle | EndReason::Retired | EndReason::LockLost => {
                End::HandOver
            }
        };
        let runtime = self.shared.runtime.clone();
        self.watcher.abort();
        // The watcher may be binding the socket again just now, and would leave its file behind.
        let _ = (&mut self.watcher).await;
        runtime.log().info("daemon", format_args!("ends: {why:?}, {end:?}"));
        if self.lock.is_in_place() {
            self.withdraw(runtime.locations());
        }
        self.stop.send_replace(true);
        self.shared.mcp.stop();
        let drained = async {
            for surface in self.surfaces {
                let _ = surface.await;
            }
        };
        if tokio::time::timeout(limits::DRAIN, drained).await.is_err() {
            runtime.log().warn("daemon", format_args!("some connections did not drain in time"));
        }
        let closing = runtime.clone();
        let closed = tokio::task::spawn_blocking(move || closing.end(end)).await;
        if let Ok(Err(error)) = closed {
            runtime.log().error(
                "daemon",
                format_args!("the end was not recorded: {}", error.code.row().word),
            );
        }
    }

    /// Writes the discovery file and its copies.
    fn announce(&self, locations: &Locations) -> Result<(), OpError> {
        let socket = locations.socket();
        let unusual = !socket.starts_with(&locations.runtime_dir);
        let discovery = Discovery {
            pid: std::process::id(),
            port: self.shared.face.port,
            started: rfc3339(self.shared.started_at),
            build: self.shared.options.build.to_string(),
            socket: unusual.then(|| socket.to_string_lossy().into_owned()),
        };
        let text = serde_json::to_string(&discovery)
            .map_err(|error| OpError::internal(format!("the discovery is not JSON: {error}")))?;
        // Clients that know the runtime directory find the socket without this file, so a failure is only logged.
        for file in std::iter::once(&locations.discovery()).chain(&self.shared.options.pid_files) {
            if let Err(error) = platform::write_private(file, &text) {
                self.shared
                    .runtime
                    .log()
                    .warn("daemon", format_args!("no discovery at {}: {error}", file.display()));
            }
        }
        Ok(())
    }

    /// Removes the files that `start` created; the token and the lock stay.
    fn withdraw(&self, locations: &Locations) {
        let made = [locations.discovery(), locations.socket()];
        for path in made.iter().chain(&self.shared.options.pid_files) {
            let _ = std::fs::remove_file(path);
        }
        if let Some(short) = locations.socket().parent()
            && short != locations.runtime_dir
        {
            let _ = std::fs::remove_dir(short);
        }
    }
}

fn token(locations: &Locations) -> Result<String, OpError> {
    let path = locations.token();
    let token = platform::token(&path).map_err(|error| {
        OpError::unavailable(format!("cannot write {}: {error}", path.display()))
            .hint("Set REKINDLE_HOME to a directory you may write to.")
    })?;
    // The copy is for clients that know only the runtime directory.
    let _ = platform::write_private(&locations.token_copy(), &format!("{token}\n"));
    Ok(token)
}

/// Listens on the requested port, the next free one, or any free one if all usual ports are taken. If it listens on
/// another port than the requested one, it also returns which program uses the requested port, if that is known.
async fn bind_port(
    options: &DaemonOptions,
    locations: &Locations,
) -> Result<(TcpListener, Option<TakenPort>), OpError> {
    let tries = if options.strict_port || options.port == 0 { 1 } else { limits::PORT_TRIES };
    let mut last = None;
    for step in 0..tries {
        let Some(port) = options.port.checked_add(step) else { break };
        match TcpListener::bind(SocketAddr::new(options.host, port)).await {
            Ok(listener) => {
                let taken = (step > 0).then(|| TakenPort {
                    port: options.port,
                    daemon: client::daemon::other_daemon_at(locations, options.port),
                    last: None,
                });
                return Ok((listener, taken));
            }
            Err(error) => last = Some((port, error)),
        }
    }
    // Any program of this machine can take all usual ports, and must not keep the daemon from starting.
    if tries > 1
        && let Ok(listener) = TcpListener::bind(SocketAddr::new(options.host, 0)).await
    {
        let last = last.map(|(port, _)| port);
        let taken = TakenPort { port: options.port, daemon: None, last };
        return Ok((listener, Some(taken)));
    }
    let (port, why) = last.map_or((options.port, String::new()), |(p, e)| (p, e.to_string()));
    let range = if tries == 1 {
        format!("port {port}")
    } else {
        format!("ports {} to {port}", options.port)
    };
    Err(OpError::unavailable(format!("{range} cannot be used: {why}"))
        .hint("Choose another with --port, or set daemon.port."))
}
