//! `-p PORT` of commands other than `serve`: the daemon they speak to is the one at that port.

use cli::Picked;
use client::daemon;
use model::OpError;

use crate::road;
use crate::world::World;

/// Refuses a daemon at another port; where the command starts one, it is started at this port.
pub(super) fn hold_to(world: &mut World, port: u16, picked: &Picked) -> Result<(), OpError> {
    let starts = match picked {
        Picked::Done(_) => return Ok(()),
        Picked::Op(call) => call.op.cli.starts_daemon,
        Picked::Own(own) => match own.path.first().map(String::as_str) {
            // A hook is never refused, and `serve` itself becomes what listens there.
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
                // Another command was faster, and may have started a daemon at another port.
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
