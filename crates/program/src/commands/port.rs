//! `-p PORT` of commands other than `serve`: they only use a daemon at that port.

use cli::Selection;
use client::daemon;
use model::OpError;

use crate::road;
use crate::world::World;

/// Refuses a daemon at another port. A command that starts a daemon starts it at this port.
pub(super) fn hold_to(world: &mut World, port: u16, picked: &Selection) -> Result<(), OpError> {
    let starts = match picked {
        Selection::Done(_) => return Ok(()),
        Selection::Op(call) => call.op.cli.starts_daemon,
        Selection::Own(own) => match own.path.first().map(String::as_str) {
            // A hook is never refused, and `serve` itself will listen there.
            Some("hook" | "serve") => return Ok(()),
            _ => false,
        },
    };
    match road::reach(world)? {
        Some((_, hello)) if hello.port == port => Ok(()),
        Some((_, hello)) => Err(elsewhere(hello.port, port)),
        None if starts && !daemon::autostart_forbidden() => {
            let flags = ["--on-demand".into(), format!("--port={port}").into()];
            let child = daemon::start_and_wait(&world.locations, world.db.as_deref(), &flags)?;
            match road::connect(world)? {
                Some((_, hello)) if hello.pid == child => world.out.note(road::STARTED),
                // A concurrent command may have started a daemon at another port.
                Some((_, hello)) if hello.port != port => return Err(elsewhere(hello.port, port)),
                _ => {}
            }
            Ok(())
        }
        None => Ok(()),
    }
}

fn elsewhere(used: u16, wanted: u16) -> OpError {
    OpError::unavailable(format!("the daemon listens at port {used}, not {wanted}"))
        .hint("Leave out -p, or name the port it listens at.")
}
