//! Which road a command takes: the daemon's socket, or the same runtime in this process.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use client::connection::Connection;
use client::daemon;
use client::road::{Lost, SocketRoad};
use model::wire::Hello;
use model::{OpError, Reply, Request, Road, limits};
use runtime::Runtime;
use server::lock::Lock;

use crate::world::World;

/// The road of one command. It is found with the first call and found again if it gets lost.
pub(crate) struct CommandRoad<'w> {
    world: RefCell<&'w mut World>,
    /// Whether a daemon is started when there is none.
    starts_daemon: bool,
    way: RefCell<Option<Way>>,
}

enum Way {
    Socket(SocketRoad),
    Here { runtime: Runtime, _lock: Lock },
}

impl<'w> CommandRoad<'w> {
    pub(crate) fn new(world: &'w mut World, starts_daemon: bool) -> CommandRoad<'w> {
        CommandRoad { world: RefCell::new(world), starts_daemon, way: RefCell::new(None) }
    }

    fn find(&self) -> Result<Way, OpError> {
        let mut world = self.world.borrow_mut();
        let until = Instant::now() + limits::FIND_PRIMARY;
        let mut started = false;
        let mut asked_to_leave = false;
        loop {
            if let Some((road, hello)) = connect(&world)? {
                if !world.build.is_newer_than(&hello.build) || asked_to_leave {
                    world.note_broken_settings();
                    return Ok(Way::Socket(road));
                }
                // Asked once only: two builds on one machine must not chase each other.
                asked_to_leave = true;
                if !road.ask_to_leave().unwrap_or(true) {
                    let note = format!(
                        "note: the daemon ({}) is older than this command ({}) and in use; `rekindle stop` lets the next one be new",
                        hello.build, world.build
                    );
                    world.out.note(&note);
                    world.note_broken_settings();
                    return Ok(Way::Socket(road));
                }
            } else if self.starts_daemon && !started && !daemon::autostart_forbidden() {
                started = true;
                let flags = ["--on-demand".into()];
                daemon::start_and_wait(&world.locations, world.db.as_deref(), &flags)?;
                world.out.note("started the daemon; it leaves by itself when nobody needs it");
                continue;
            } else if let Some(lock) = Lock::try_take(&world.locations)? {
                if self.starts_daemon {
                    world.out.note("no daemon runs and REKINDLE_NO_AUTOSTART is set: working on the store directly");
                }
                return Ok(Way::Here { runtime: world.open(true)?, _lock: lock });
            }
            if Instant::now() >= until {
                return Err(OpError::unavailable("a daemon holds its lock but does not answer")
                    .hint("It may be suspended: see `rekindle doctor`."));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Road for CommandRoad<'_> {
    fn call(&self, mut request: Request) -> Reply {
        let deadline = self.world.borrow().table.get(&request.op)?.info.deadline;
        let until = Instant::now() + limits::FIND_PRIMARY;
        loop {
            let way = match self.way.take() {
                Some(way) => way,
                None => self.find()?,
            };
            match &way {
                Way::Here { runtime, .. } => {
                    let asked = runtime.asks_env();
                    request.caller.situation.env = client::platform::environment(&asked);
                    let reply = runtime.call(request);
                    self.way.replace(Some(way));
                    return reply;
                }
                Way::Socket(road) => match road.call(&request, deadline) {
                    Ok(reply) => {
                        self.way.replace(Some(way));
                        return reply;
                    }
                    // The same call goes to the next daemon; if this one had done it, that is known.
                    Err(Lost(_)) if Instant::now() < until => {}
                    Err(Lost(error)) => {
                        return Err(OpError::unavailable(format!(
                            "the daemon is lost: {}",
                            error.kind()
                        )));
                    }
                },
            }
        }
    }
}

impl Drop for CommandRoad<'_> {
    fn drop(&mut self) {
        if let Some(Way::Here { runtime, .. }) = self.way.get_mut() {
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
