//! Calls of operations for the person at the command line.

use model::{Caller, Reply, Request, Road as _, Tier};
use serde_json::Value;

use crate::road::CommandRoad;
use crate::world::World;

/// Calls an operation for a command that prints the result itself.
pub(crate) fn call(world: &mut World, op: &str, params: Value) -> Reply {
    CommandRoad::new(world, false).call(request(op, params))
}

/// A request of our own.
pub(crate) fn request(op: &str, params: Value) -> Request {
    Request { call: client::mint(), op: op.to_owned(), params, caller: person() }
}

/// The caller of every command.
pub(crate) fn person() -> Caller {
    Caller {
        tier: Tier::Person,
        client: None,
        session: std::env::var("CLAUDE_CODE_SESSION_ID").ok().filter(|id| !id.is_empty()),
        situation: client::platform::situation(),
    }
}
