//! `rekindle hook`: what is left to do in this process when no daemon took the event, and the command
//! for lines that `main` does not recognise as a plain event.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc::sync_channel;
use std::time::Instant;

use clap::{Arg, ArgMatches, Command};
use cli::Output;
use client::daemon;
use hook::{Hooked, Outcome};
use model::hook::{Happening, HookEvent};
use model::limits;
use model::locations::{Locations, paused_beside};
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

/// What is said on stderr, kept instead: an agent may show its user what a hook says there.
#[derive(Clone, Default)]
struct Said(Rc<RefCell<Vec<u8>>>);

impl Write for Said {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a line of a hook that is not a plain event. What is wrong with it goes to the hook's log.
pub fn run_line(argv: Vec<OsString>) {
    let said = Said::default();
    let name = crate::names::started_by(argv.first().map(AsRef::as_ref));
    let out = Output::new(name, Box::new(io::stdout()), Box::new(said.clone()), false);
    super::run_on(argv, out);
    let said = said.0.borrow();
    if let Some(line) = String::from_utf8_lossy(&said).lines().find(|line| !line.is_empty()) {
        hook::complain(line);
    }
}

/// Only reached for lines that `main` did not recognise as a plain event.
pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    let word = |id: &str| matches.get_one::<String>(id).map(String::as_str);
    take(word("event").unwrap_or_default(), word("agent"), world.db.as_deref());
    0
}

/// Takes in one event. If no daemon took it, a session that starts is answered from the store, and so is
/// a prompt if that is wanted; and a daemon is started for the events to come.
pub fn take(event: &str, agent: Option<&str>, db: Option<&Path>) {
    let started = Instant::now();
    let hooked = Hooked { event, agent, db, to_spool };
    let name = event;
    let Outcome::Spooled { event, locations } = hook::run(&hooked) else { return };
    if let Err(error) = runtime::check_database(&locations) {
        // The event stays in the spool until there is a database or one can be created.
        return hook::log(&locations, name, &format!("not recorded: {}", error.message));
    }
    if matches!(event.what, Happening::SessionStarted(_) | Happening::Prompted(_)) {
        // Whatever goes wrong here, the event is safe and the agent is not to be disturbed.
        if let Some((answer, receipt)) = answer_in_time(*event, locations.clone(), started) {
            if let Some(receipt) = receipt {
                // A lost receipt must not keep the answer from the agent.
                let _ = client::spool::leave(&locations, &receipt);
            }
            let _ = io::stdout().write_all(answer.as_bytes());
        }
    }
    daemon::start_now_and_then(&locations, db);
}

/// The event as it may wait in the spool. If the settings cannot be read, nobody takes it in until they
/// can be: then it is decided which projects are excluded. The same goes for pauses that could not be noted.
pub(super) fn to_spool(event: &HookEvent, locations: &Locations) -> HookEvent {
    let key = &contract::EXCLUDED_PROJECTS;
    let excluded =
        runtime::config::one(key, &locations.config_file, &world::var).unwrap_or_default();
    let noted = regular::read(&paused_beside(&locations.database), limits::SMALL_FILE_BYTES_MAX);
    let noted = noted.unwrap_or_default();
    let pauses = serde_json::from_slice(&noted).unwrap_or_default();
    place::to_spool(event, client::platform::home(), &excluded, &pauses)
}

/// An answer in the agent's own form, and its receipt if the store did not take it.
type Given = (String, Option<Box<HookEvent>>);

/// What the store has to say to this event, if it says so before the agent has waited long enough. Whoever
/// works on it then is cut off by the end of the process, which harms nothing.
fn answer_in_time(event: HookEvent, locations: Locations, started: Instant) -> Option<Given> {
    let left = (started + runtime::deadline(&event)).saturating_duration_since(Instant::now());
    let (sender, answered) = sync_channel(1);
    let work = move || {
        // Nobody waits any more once the time is over.
        let _ = sender.send(answer(&event, &locations, started));
    };
    std::thread::Builder::new().spawn(work).ok()?;
    answered.recv_timeout(left).ok()?
}

/// What the store has to say to this event. Of what waits in the spool it takes in as much as the agent
/// has patience for, and the event itself in any case. Where somebody else works on the store, as a daemon
/// that hangs, it is only read.
fn answer(event: &HookEvent, locations: &Locations, started: Instant) -> Option<Given> {
    let config = world::config(&crate::kit::kit().table, locations).ok()?;
    if matches!(event.what, Happening::Prompted(_)) && !config.boolean("briefing.at_prompts") {
        return None;
    }
    // It is held until the answer is there.
    let lock = Lock::try_take(locations).ok().flatten();
    let until = started + limits::HOOK_SPOOL_PATIENCE;
    let runtime = match &lock {
        Some(_) => world::open_within(locations, config, true, Some(until)),
        None => world::look(locations, config),
    }
    .ok()?;
    let told = runtime.tell(event, started);
    runtime.close();
    let reply = told?;
    Some((agents::answer(event, &reply.text)?.to_string(), reply.receipt))
}
