//! `rekindle stop`: stops the daemon cleanly and waits until it is gone.

use std::time::{Duration, Instant};

use clap::{ArgMatches, Command};
use client::daemon;
use client::road::SocketRoad;
use model::wire::Hello;
use model::{Code, OpError, Request, limits};
use serde_json::{Value, json};
use server::lock::{self, Lock};

use crate::road;
use crate::world::World;

pub(super) fn command() -> Command {
    Command::new("stop")
        .about("Stop the daemon cleanly")
        .long_about("Stop the daemon cleanly: running requests finish, session hints are cleared.")
}

pub(super) fn run(world: &mut World, _: &[String], _: &ArgMatches) -> u8 {
    world.note_broken_settings();
    match stop(world) {
        Ok(result) => world.out.result(&result, Some(&pretty)),
        Err(error) => world.out.error(&error),
    }
}

pub(super) fn stop(world: &mut World) -> Result<Value, OpError> {
    let Some((road, hello)) = find(world)? else {
        runtime::check_database(&world.locations)?;
        return Ok(json!({ "stopped": false, "running": false }));
    };
    let request = Request {
        call: client::mint(),
        op: "stop".into(),
        params: Value::Null,
        caller: crate::calls::person(),
    };
    // A daemon that exits before it answers has stopped too.
    if let Ok(reply) = road.call(&request, limits::OP_DEADLINE) {
        reply?;
    }
    drop(road);
    let until = Instant::now() + limits::STOP_PATIENCE;
    // The daemon releases its lock last, after its socket.
    loop {
        match Lock::try_take(&world.locations) {
            Ok(Some(_)) => break,
            // The lock cannot be taken, for example because the database was replaced by another file. No process
            // holds the lock in the runtime directory, so the daemon has stopped.
            Err(error) if lock::holder(&world.locations).is_none() => {
                world.out.note(&format!("warning: {}", error.message));
                break;
            }
            Ok(None) | Err(_) => {}
        }
        if let Some((_, other)) = road::connect(world)?
            && other.pid != hello.pid
        {
            break;
        }
        if Instant::now() >= until {
            return Err(OpError::new(
                Code::Timeout,
                format!("the daemon (pid {}) does not stop", hello.pid),
            )
            .hint(format!(
                "`rekindle logs` may say why; if it hangs, `kill -9 {}` ends it.",
                hello.pid
            )));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(json!({ "stopped": true, "running": false, "pid": hello.pid }))
}

/// The running daemon. Waits for a daemon that is just starting, which would else run a moment after "not running".
fn find(world: &mut World) -> Result<Option<(SocketRoad, Hello)>, OpError> {
    let until = Instant::now() + limits::START_PATIENCE;
    loop {
        if let Some(found) = road::reach(world)? {
            return Ok(Some(found));
        }
        // A daemon takes the lock before it opens its socket. A command that works on the store holds it too.
        let holder = lock::holder(&world.locations);
        if holder.is_none() && !daemon::is_starting(&world.locations) {
            return Ok(None);
        }
        if Instant::now() >= until {
            if let Some(holder) = holder {
                let pid = holder.pid.map_or("a process".to_owned(), |pid| format!("pid {pid}"));
                world.out.note(&format!(
                    "note: {pid} has been using the store or starting a daemon for {} s; see `rekindle doctor`",
                    limits::START_PATIENCE.as_secs()
                ));
            }
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn pretty(result: &Value) -> String {
    match result["stopped"].as_bool() {
        Some(true) => format!("stopped (pid {})", result["pid"]),
        _ => "not running".to_owned(),
    }
}
