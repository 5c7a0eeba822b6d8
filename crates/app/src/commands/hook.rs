//! `rekindle hook`: what is left to do in this process when no daemon took the event, and the command
//! for lines that `main` does not recognise as a plain event.

use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use clap::{Arg, ArgMatches, Command};
use client::daemon;
use hook::{Hooked, Outcome};
use model::hook::{Happening, HookEvent};
use model::locations::Locations;
use server::lock::Lock;

use crate::world::{self, World};

pub(super) fn command() -> Command {
    Command::new("hook")
        .about("Record one event of an agent's hook: its JSON on stdin")
        .long_about(
            "Record one event of an agent's hook: its JSON on stdin.\n\n\
             It never disturbs the agent: the exit code is always 0, and nothing is printed unless \
             there is something to tell. Without a daemon the event waits in the spool.",
        )
        .arg(
            Arg::new("event")
                .value_name("EVENT")
                .required(true)
                .help("Name of the event as the agent has it, for example PostToolUse"),
        )
        .arg(
            Arg::new("agent")
                .long("agent")
                .value_name("AGENT")
                .help("Which agent it is; by default it is recognised"),
        )
}

/// Only reached for lines that `main` did not recognise as a plain event.
pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    let word = |id: &str| matches.get_one::<String>(id).map(String::as_str);
    take(&Hooked {
        event: word("event").unwrap_or_default(),
        agent: word("agent"),
        db: world.db.as_deref(),
    });
    0
}

/// Takes in one event. Without a daemon, a session that starts is answered from the store, and a daemon
/// is started for the events to come.
pub(crate) fn take(hooked: &Hooked<'_>) {
    let started = Instant::now();
    let Outcome::Spooled { event, locations } = hook::run(hooked) else { return };
    if matches!(event.what, Happening::SessionStarted(_)) {
        // Whatever goes wrong here, the event is safe and the agent is not to be disturbed.
        if let Some(answer) = answer(&event, &locations, started) {
            let _ = std::io::stdout().write_all(answer.as_bytes());
        }
    }
    daemon::start_now_and_then(&locations, hooked.db.map(Path::new));
}

/// What the store has to say to this event. Opening it takes the event in from the spool.
fn answer(event: &HookEvent, locations: &Locations, started: Instant) -> Option<String> {
    let _lock = Lock::try_take(locations).ok()??;
    let config = world::config(&crate::kit::kit().table, locations).ok()?;
    let runtime = world::open(locations, config, true).ok()?;
    let told = runtime.tell(event, started);
    runtime.close();
    Some(agents::answer(event, &told?)?.to_string())
}
