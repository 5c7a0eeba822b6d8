//! `rekindle statusline`: the declared context of an agent's session in one line, for the agent's status line.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::time::Instant;

use clap::{Arg, ArgMatches, Command};
use hook::{ShownSets, StatusOutcome};
use model::context;
use model::locations::Locations;

use crate::world::{self, World};

pub(super) fn command() -> Command {
    Command::new("statusline")
        .about("Print the context of a session for an agent's status line: its JSON on stdin")
        .long_about(
            "Print the context of a session for an agent's status line: its JSON on stdin.\n\n\
             The line has up to five files, the number of further ones and the open view; it is empty if the session \
             declared nothing. The exit code is always 0.",
        )
        .arg(
            Arg::new("agent")
                .long("agent")
                .value_name("AGENT")
                .help("The agent whose status line it is; every agent gets the same line"),
        )
        .after_help(
            "Example, in ~/.claude/settings.json:\n  \
             \"statusLine\": { \"type\": \"command\", \"command\": \"rekindle statusline\" }",
        )
}

/// Only reached for lines with further arguments.
pub(super) fn run(world: &mut World, _: &[String], _: &ArgMatches) -> u8 {
    print(world.db.as_deref());
    0
}

/// Prints the line for the session on stdin, or nothing.
pub fn print(db: Option<&Path>) {
    let sets = match hook::status_line(db) {
        StatusOutcome::Known(sets) => sets,
        StatusOutcome::Nothing => return,
        StatusOutcome::NoDaemon { session, locations, until } => {
            match stored_in_time(session, locations, until) {
                Some(sets) => sets,
                None => return,
            }
        }
    };
    let line = context::footer(&sets.files, &sets.applet);
    if !line.is_empty() {
        // An agent that closed its end shows nothing.
        let _ = writeln!(io::stdout(), "{line}");
    }
}

/// The sets in the store, unless reading them takes too long. The thread then ends with the process.
fn stored_in_time(session: String, locations: Locations, until: Instant) -> Option<ShownSets> {
    let (sender, answered) = sync_channel(1);
    let work = move || {
        // The receiver is gone after the timeout.
        let _ = sender.send(stored(&session, &locations));
    };
    std::thread::Builder::new().spawn(work).ok()?;
    answered.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?
}

fn stored(session: &str, locations: &Locations) -> Option<ShownSets> {
    if !locations.database.exists() {
        return None;
    }
    let config = world::config(&crate::kit::kit().table, locations).ok()?;
    let runtime = world::look(locations, config).ok()?;
    let params = serde_json::json!({ "session_id": session });
    let reply = model::Road::call(&runtime, crate::calls::request("get_relevant_context", params));
    runtime.close();
    serde_json::from_value(reply.ok()?["context"].take()).ok()
}
