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
        Some((_, hello)) => {
            let message = format!("the daemon listens at port {}, not {port}", hello.port);
            Err(OpError::unavailable(message).hint("Leave out -p, or name the port it listens at."))
        }
        None if starts && !daemon::autostart_forbidden() => {
            let flags = ["--on-demand".into(), format!("--port={port}").into()];
            daemon::start_and_wait(&world.locations, world.db.as_deref(), &flags)?;
            world.out.note("started the daemon; it leaves by itself when nobody needs it");
            Ok(())
        }
        None => Ok(()),
    }
}
