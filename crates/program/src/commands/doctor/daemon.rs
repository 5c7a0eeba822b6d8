//! Checks of the daemon: whether one runs, and whether it answers.

use std::time::{Duration, Instant};

use client::daemon;
use client::road::SocketRoad;
use model::wire::Hello;
use model::{Code, OpError, limits};
use serde_json::Value;
use server::lock::{self, Holder};

use super::check;
use crate::road;
use crate::world::World;

/// The state of the daemon.
pub(super) struct DaemonState {
    pub(super) check: Value,
    /// The connection to it, if it answers.
    pub(super) road: Option<SocketRoad>,
    /// Whether a process holds the store, answering or not.
    pub(super) runs: bool,
}

/// Finds the daemon and changes nothing.
pub(super) fn look(world: &World) -> DaemonState {
    let until = Instant::now() + limits::DOCTOR_PATIENCE;
    loop {
        let (found, holder) = (road::connect(world), lock::holder(&world.locations));
        match (found, holder) {
            (Ok(Some((road, hello))), _) => {
                return DaemonState { check: answers(world, &hello), road: Some(road), runs: true };
            }
            (Err(error), _) => {
                return DaemonState { check: refuses(world, error), road: None, runs: true };
            }
            (Ok(None), None) => return DaemonState { check: none(world), road: None, runs: false },
            (Ok(None), Some(holder)) => {
                // A daemon that starts or stops, and a command that works on the store, needs a moment.
                if Instant::now() >= until || others_may_write(world) {
                    return DaemonState { check: silent(world, holder), road: None, runs: true };
                }
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn others_may_write(world: &World) -> bool {
    !client::platform::is_private(&world.locations.runtime_dir)
}

fn answers(world: &World, hello: &Hello) -> Value {
    if world.build.is_newer_than(&hello.build) {
        let detail = format!("pid {} is of an older build ({})", hello.pid, hello.build);
        return check(
            "daemon",
            "warn",
            &detail,
            "Run `rekindle stop`; the next daemon is of the new build.",
        );
    }
    let detail = format!("pid {} at {}, build {}", hello.pid, hello.address, hello.build);
    if let Some(taken) = &hello.taken_port {
        let detail = format!("{detail}; {}", taken.note(hello.port));
        let hint = "Use the links that `rekindle up` prints. For another port run `rekindle config set daemon.port PORT`, then `rekindle stop`.";
        return check("daemon", "warn", &detail, hint);
    }
    check("daemon", "ok", &detail, "")
}

/// The check for a daemon that hangs, or that answers that it serves another database.
fn refuses(world: &World, error: OpError) -> Value {
    match daemon::discovery(&world.locations) {
        Some(found) if error.code == Code::Timeout => check(
            "daemon",
            "fail",
            &format!("{} (pid {})", error.message, found.pid),
            &format!(
                "If it is suspended, resume it with `kill -CONT {pid}`; otherwise run `kill -9 {pid}`, then `rekindle up`.",
                pid = found.pid
            ),
        ),
        _ => check("daemon", "fail", &error.message, error.hint.as_deref().unwrap_or_default()),
    }
}

/// The check for a process that holds the lock and does not answer.
fn silent(world: &World, holder: Holder) -> Value {
    let pid = road::out_of_reach(&world.locations);
    if others_may_write(world) {
        let pid = pid.or(holder.pid).map(|pid| format!(" (pid {pid})")).unwrap_or_default();
        let dir = world.locations.runtime_dir.display();
        let detail = format!("runs{pid}; not contacted, because other users can write to {dir}");
        return check(
            "daemon",
            "warn",
            &detail,
            "`rekindle doctor --fix` makes the directory private.",
        );
    }
    if let Some(pid) = pid {
        let error = road::cannot_be_reached(&world.locations, pid);
        return check("daemon", "fail", &error.message, error.hint.as_deref().unwrap_or_default());
    }
    let who = holder.pid.map_or("a process".to_owned(), |pid| format!("pid {pid}"));
    check(
        "daemon",
        "warn",
        &format!("{who} holds its lock and does not answer yet"),
        "A daemon may be starting, or a command works on the store: look again in a moment.",
    )
}

fn none(world: &World) -> Value {
    match daemon::discovery(&world.locations) {
        Some(_) => check(
            "daemon",
            "ok",
            "not running; it did not shut down cleanly",
            "Nothing to do: the next daemon takes over its hints. `rekindle doctor --fix` deletes the files that it left.",
        ),
        None => check(
            "daemon",
            "ok",
            "not running",
            "`rekindle up` starts it; hooks and hint commands start it by themselves.",
        ),
    }
}
