//! The transport of a command: the daemon's socket, a runtime in this process, or a read-only view of the store
//! beside a daemon that cannot be reached.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use client::connection::Connection;
use client::daemon;
use client::road::{Lost, SocketRoad};
use contract::OpInfo;
use model::locations::Locations;
use model::wire::Hello;
use model::{Caller, Code, OpError, Reply, Request, Road, Tier, limits};
use runtime::Runtime;
use serde_json::Value;
use server::lock::{self, Lock};

use crate::progress;
use crate::world::{self, World};

/// Printed by a command that started the daemon.
pub(crate) const STARTED: &str = "started the daemon; it stops by itself when it is not needed";

/// The transport of one command. It is chosen at the first call, and again if the connection is lost.
pub(crate) struct CommandRoad<'w> {
    world: RefCell<&'w mut World>,
    /// Whether a daemon is started if none runs.
    starts_daemon: bool,
    way: RefCell<Option<Transport>>,
}

enum Transport {
    Socket(SocketRoad),
    Here {
        runtime: Runtime,
        _lock: Lock,
    },
    /// A read-only view of the store, beside a daemon that cannot be reached.
    Beside(Runtime),
}

/// Refuses to read a database that `--db` names and that does not exist: to create it would hide a typing error. If
/// events are spooled for it, the database is about to be created; if other files are beside its path, it was moved
/// away.
fn check_database_exists(world: &World) -> Result<(), OpError> {
    let Some(named) = world.db.as_deref().filter(|_| world.out.name().is_full()) else {
        return Ok(());
    };
    let database = &world.locations.database;
    let name = database.file_name().unwrap_or_default().as_encoded_bytes();
    let entries = database.parent().map(std::fs::read_dir);
    let mut entries = entries.into_iter().flatten().flatten().flatten();
    // Such an entry may be the log of the database, or a file of the user that has to be reported.
    let is_missing = !entries.any(|one| one.file_name().as_encoded_bytes().starts_with(name));
    let spooled = || runtime::spool::own_files(&world.locations.spools(), world.locations.uid());
    if !is_missing || lock::holder(&world.locations).is_some() || !spooled().is_empty() {
        return Ok(());
    }
    Err(OpError::not_found(format!("there is no database at {}", named.display()))
        .hint("Check the path of --db. The first command that records something there creates the database."))
}

impl<'w> CommandRoad<'w> {
    pub(crate) fn new(world: &'w mut World, starts_daemon: bool) -> CommandRoad<'w> {
        CommandRoad { world: RefCell::new(world), starts_daemon, way: RefCell::new(None) }
    }

    /// Chooses the transport for a call that only reads, or for any. A command that needs a live daemon does not fall
    /// back to a read-only view.
    fn find_for(&self, reads: bool) -> Result<Transport, OpError> {
        let may_look = reads && !self.starts_daemon;
        if reads {
            check_database_exists(&self.world.borrow())?;
        }
        let patience = if may_look { limits::BESIDE_PATIENCE } else { limits::FIND_PRIMARY };
        let lost = match self.find(patience) {
            Err(error) if matches!(error.code, Code::Timeout | Code::Unavailable) => error,
            found => return found,
        };
        let mut world = self.world.borrow_mut();
        // If no daemon holds the lock, the store itself is the problem.
        if !may_look || (lost.code == Code::Unavailable && lock::holder(&world.locations).is_none())
        {
            return Err(lost);
        }
        let Ok(looked) = world.config().and_then(|config| world::look(&world.locations, config))
        else {
            return Err(lost);
        };
        let wait = match runtime::spool::own_files(&world.locations.spools(), world.locations.uid())
            .len()
        {
            0 => String::new(),
            1 => ", and 1 event waits in the spool".to_owned(),
            count => format!(", and {count} events wait in the spool"),
        };
        let note = format!(
            "note: {}; the result was read from the database without the daemon{wait}",
            lost.message
        );
        world.out.note(&note);
        Ok(Transport::Beside(looked))
    }

    fn find(&self, patience: Duration) -> Result<Transport, OpError> {
        let mut world = self.world.borrow_mut();
        let since = Instant::now();
        let mut tried = false;
        let mut child = None;
        let mut asked_to_leave = false;
        loop {
            if let Some((road, hello)) = connect(&world)? {
                if child.take() == Some(hello.pid) {
                    world.out.note(STARTED);
                }
                if !world.build.is_newer_than(&hello.build) || asked_to_leave {
                    world.note_broken_settings();
                    return Ok(Transport::Socket(road));
                }
                // Asked only once: two builds on one machine must not replace each other in turn.
                asked_to_leave = true;
                if !road.ask_to_leave().unwrap_or(true) {
                    let note = format!(
                        "note: the daemon ({}) is older than this command ({}) and in use; run `rekindle stop`; the next daemon is of the new build",
                        hello.build, world.build
                    );
                    world.out.note(&note);
                    world.note_broken_settings();
                    return Ok(Transport::Socket(road));
                }
            } else if self.starts_daemon
                && !tried
                && !daemon::autostart_forbidden()
                && lock::holder(&world.locations).is_none()
            {
                tried = true;
                let flags = ["--on-demand".into()];
                child =
                    Some(daemon::start_and_wait(&world.locations, world.db.as_deref(), &flags)?);
                continue;
            } else if let Some(lock) = Lock::try_take(&world.locations)? {
                if self.starts_daemon {
                    world.out.note("no daemon runs and REKINDLE_NO_AUTOSTART is set: working on the store directly");
                }
                return Ok(Transport::Here { runtime: world.open(true)?, _lock: lock });
            }
            let waited = since.elapsed();
            if waited >= patience.min(limits::SOCKET_AGAIN)
                && let Some(pid) = out_of_reach(&world.locations)
            {
                return Err(cannot_be_reached(&world.locations, pid));
            }
            if waited >= patience {
                return Err(OpError::unavailable("another process holds the daemon's lock and does not answer")
                    .hint("A daemon may be starting, or a command works on the store: try again, or see `rekindle doctor`."));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Road for CommandRoad<'_> {
    fn call(&self, mut request: Request) -> Reply {
        let info = self.world.borrow().table.get(&request.op)?.info;
        let reads = info.access.is_read();
        let until = Instant::now() + limits::FIND_PRIMARY;
        loop {
            // A view of the store is for reads; a write needs the daemon, or its lock. The view is closed first: when
            // the other process closes the store while this one has it open, SQLite may shorten a mapped file.
            let kept = self.way.take().filter(|way| reads || !matches!(way, Transport::Beside(_)));
            let way = match kept {
                Some(way) => way,
                None => self.find_for(reads)?,
            };
            match &way {
                Transport::Here { runtime, .. } | Transport::Beside(runtime) => {
                    let asked = runtime.asks_env();
                    request.caller.situation.env = client::platform::environment(&asked);
                    let work = || runtime.call(request);
                    let reply = match info.job {
                        true => progress::shown(|| runtime.call(list_jobs()).ok(), work),
                        false => work(),
                    };
                    self.way.replace(Some(way));
                    return reply;
                }
                Transport::Socket(road) => match self.call_daemon(road, &request, info) {
                    Ok(reply) => {
                        self.way.replace(Some(way));
                        return reply;
                    }
                    // The call is sent to the next daemon with the same call id; if the lost daemon had committed
                    // it, the stored answer is returned.
                    Err(Lost(_)) if Instant::now() < until => {}
                    Err(Lost(error)) => {
                        return Err(connection_lost(&error, reads));
                    }
                },
            }
        }
    }
}

impl CommandRoad<'_> {
    /// Sends a call over the socket, and reads a job's progress over a second connection meanwhile.
    fn call_daemon(
        &self,
        road: &SocketRoad,
        request: &Request,
        info: &OpInfo,
    ) -> Result<Reply, Lost> {
        let work = || road.call(request, info.patience());
        if !info.job {
            return work();
        }
        let (locations, build) = {
            let world = self.world.borrow();
            (world.locations.clone(), world.build.clone())
        };
        let jobs = move || {
            let connection = Connection::open(&locations).ok()?;
            let (road, hello) = SocketRoad::hello(connection, &locations, &build).ok()?;
            hello.ok()?;
            road.call(&list_jobs(), limits::OP_DEADLINE).ok()?.ok()
        };
        progress::shown(jobs, work)
    }
}

/// The error for a call whose connection was lost until there was no time for another attempt.
fn connection_lost(error: &std::io::Error, reads: bool) -> OpError {
    let hint = match reads {
        true => "Run the command again; `rekindle doctor` names the cause if it fails too.",
        false => "The change may have been stored: look before you repeat the command.",
    };
    OpError::unavailable(format!("the connection to the daemon was lost: {}", error.kind()))
        .hint(hint)
}

/// The call that reads the progress of jobs.
fn list_jobs() -> Request {
    Request {
        call: client::mint(),
        op: "list_jobs".to_owned(),
        params: Value::Null,
        caller: Caller { tier: Tier::Person, ..Caller::default() },
    }
}

impl Drop for CommandRoad<'_> {
    fn drop(&mut self) {
        if let Some(Transport::Here { runtime, .. } | Transport::Beside(runtime)) =
            self.way.get_mut()
        {
            runtime.close();
        }
    }
}

/// The running daemon, if there is one that answers for our database.
pub(crate) fn connect(world: &World) -> Result<Option<(SocketRoad, Hello)>, OpError> {
    let Ok(connection) = Connection::open(&world.locations) else { return Ok(None) };
    match SocketRoad::hello(connection, &world.locations, &world.build) {
        Ok((road, hello)) => Ok(Some((road, hello?))),
        Err(Lost(_)) => Ok(None),
    }
}

/// The running daemon, or `None`. Waits for a live daemon that cannot be reached to recreate its socket; if it does
/// not, that is the error.
pub(crate) fn reach(world: &World) -> Result<Option<(SocketRoad, Hello)>, OpError> {
    let until = Instant::now() + limits::SOCKET_AGAIN;
    loop {
        if let Some(found) = connect(world)? {
            return Ok(Some(found));
        }
        let Some(pid) = out_of_reach(&world.locations) else { return Ok(None) };
        // No daemon is trusted in a directory that others may write to. If we cannot change its mode, that is the
        // error.
        client::platform::private_dir(&world.locations.runtime_dir)?;
        if Instant::now() >= until {
            return Err(cannot_be_reached(&world.locations, pid));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The pid of a live daemon that cannot be reached: it holds the lock, and had published its address. A daemon that
/// is still starting has not published one, and neither has a command that works on the store.
pub(crate) fn out_of_reach(locations: &Locations) -> Option<u32> {
    let (holder, said) = (lock::holder(locations)?, daemon::discovery(locations)?);
    holder.pid.is_none_or(|pid| pid == said.pid).then_some(said.pid)
}

/// The error for a live daemon that cannot be reached.
pub(crate) fn cannot_be_reached(locations: &Locations, pid: u32) -> OpError {
    let socket = locations.socket();
    let why = match std::fs::symlink_metadata(&socket) {
        Ok(_) => format!("it does not accept connections at {}", socket.display()),
        Err(_) => format!("its socket {} is gone", socket.display()),
    };
    OpError::unavailable(format!("the daemon runs (pid {pid}) and cannot be reached: {why}")).hint(format!(
        "It recreates its socket within {} s: try again. If it does not, run `kill {pid}`, then `rekindle up`.",
        limits::SOCKET_AGAIN.as_secs()
    ))
}
