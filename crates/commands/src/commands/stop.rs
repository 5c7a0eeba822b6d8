//! `rekindle stop`: end the daemon cleanly and wait until it is gone.

use std::time::{Duration, Instant};

use clap::{ArgMatches, Command};
use model::{Code, OpError, Request, limits};
use serde_json::{Value, json};

use crate::road;
use crate::world::World;

pub(super) fn command() -> Command {
    Command::new("stop").about("End the daemon cleanly").long_about(
        "End the daemon cleanly: what is under way finishes, session hints are cleared.",
    )
}

pub(super) fn run(world: &mut World, _: &[String], _: &ArgMatches) -> u8 {
    world.note_broken_settings();
    match stop(world) {
        Ok(result) => world.out.result(&result, Some(&pretty)),
        Err(error) => world.out.error(&error),
    }
}

pub(super) fn stop(world: &mut World) -> Result<Value, OpError> {
    let Some((road, hello)) = road::reach(world)? else {
        return Ok(json!({ "stopped": false, "running": false }));
    };
    let request = Request {
        call: client::mint(),
        op: "stop".into(),
        params: Value::Null,
        caller: super::person(),
    };
    // A daemon that is gone before it could answer has stopped too.
    if let Ok(reply) = road.call(&request, limits::OP_DEADLINE) {
        reply?;
    }
    drop(road);
    let until = Instant::now() + limits::STOP_PATIENCE;
    // Gone means that it gave up its lock, not only its socket: then nothing of it is left.
    while server::lock::Lock::try_take(&world.locations)?.is_none() {
        if let Some((_, other)) = road::connect(world)?
            && other.pid != hello.pid
        {
            break;
        }
        if Instant::now() >= until {
            return Err(OpError::new(
                Code::Timeout,
                format!("the daemon (pid {}) does not leave", hello.pid),
            )
            .hint("See `rekindle logs`."));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(json!({ "stopped": true, "running": false, "pid": hello.pid }))
}

fn pretty(result: &Value) -> String {
    match result["stopped"].as_bool() {
        Some(true) => format!("stopped (pid {})", result["pid"]),
        _ => "not running".to_owned(),
    }
}
