//! `rekindle hook`: the work of this process if no daemon accepted the event, and the command for lines that `main`
//! does not recognise as a plain event.

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
use hook::{HookArgs, HookOutcome};
use model::hook::{Happening, HookEvent, HookForm};
use model::limits;
use model::locations::{Locations, paused_beside};
use server::lock::Lock;

use crate::world::{self, World};

pub(super) fn command() -> Command {
    Command::new("hook")
        .about("Record one event of an agent's hook: its JSON on stdin")
        .long_about(
            "Record one event of an agent's hook: its JSON on stdin.\n\n\
             It never disturbs the agent: the exit code is always 0, and only an answer \
             for the agent is printed. Without a daemon the event waits in the spool.",
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
                .help("Name of the agent; detected by default"),
        )
        .arg(
            Arg::new("format")
                .long("format")
                .value_name("FORMAT")
                .value_parser(["host", "seed"])
                .default_value("host")
                .help("Format of the answer: the agent's own, or an object with a `type`"),
        )
}

/// Captures stderr: an agent may show it to its user.
#[derive(Clone, Default)]
struct CapturedStderr(Rc<RefCell<Vec<u8>>>);

impl Write for CapturedStderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a hook line that is not a plain event. Errors go to the hook's log.
pub fn run_line(argv: Vec<OsString>) {
    let said = CapturedStderr::default();
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
    let form = match word("format") {
        Some("seed") => HookForm::Seed,
        _ => HookForm::Host,
    };
    take(word("event").unwrap_or_default(), word("agent"), world.db.as_deref(), form);
    0
}

/// Records one event. If no daemon accepted it, a starting session is answered from the store, and so is a prompt if
/// a setting asks for it; and a daemon is started for later events.
pub fn take(event: &str, agent: Option<&str>, db: Option<&Path>, form: HookForm) {
    let started = Instant::now();
    let hooked = HookArgs { event, agent, db, form, to_spool };
    let name = event;
    let HookOutcome::Spooled { event, locations } = hook::run(&hooked) else { return };
    if let Err(error) = runtime::check_database(&locations) {
        // The event stays in the spool until there is a database or one can be created.
        return hook::log(&locations, name, &format!("not recorded: {}", error.message));
    }
    if form == HookForm::Seed {
        let degraded = hook::degraded(name).unwrap_or_default();
        let _ = io::stdout().write_all(degraded.as_bytes());
    } else if matches!(event.what, Happening::SessionStarted(_) | Happening::Prompted(_)) {
        // On any failure here the event is safe in the spool, and the agent must not be disturbed.
        if let Some((answer, receipt)) = answer_in_time(*event, locations.clone(), started) {
            if let Some(receipt) = receipt {
                // A lost receipt must not keep the answer from the agent.
                let _ = client::spool::leave(&locations, &receipt);
            }
            let _ = io::stdout().write_all(answer.as_bytes());
        }
    }
    daemon::start_rate_limited(&locations, db);
}

/// The event as it may be spooled. If the settings cannot be read, the event is not ingested until they can be,
/// because they say which projects are excluded. Pauses that could not be read are treated alike.
pub(super) fn to_spool(event: &HookEvent, locations: &Locations) -> HookEvent {
    let key = &contract::EXCLUDED_PROJECTS;
    let excluded =
        runtime::config::one(key, &locations.config_file, &world::var).unwrap_or_default();
    let noted = regular::read(&paused_beside(&locations.database), limits::SMALL_FILE_BYTES_MAX);
    let noted = noted.unwrap_or_default();
    let pauses = serde_json::from_slice(&noted).unwrap_or_default();
    place::to_spool(event, client::platform::home(), &excluded, &pauses)
}

/// An answer in the agent's own format, and its receipt if that still has to be spooled.
type HookAnswer = (String, Option<Box<HookEvent>>);

/// The answer from the store, unless it takes longer than the agent waits. The thread then ends with the process,
/// which is harmless.
fn answer_in_time(event: HookEvent, locations: Locations, started: Instant) -> Option<HookAnswer> {
    let left = (started + runtime::deadline(&event)).saturating_duration_since(Instant::now());
    let (sender, answered) = sync_channel(1);
    let work = move || {
        // The receiver is gone after the timeout.
        let _ = sender.send(answer(&event, &locations, started));
    };
    std::thread::Builder::new().spawn(work).ok()?;
    answered.recv_timeout(left).ok()?
}

/// The answer from the store. The spool is drained for a limited time, and the event itself is ingested ahead of the
/// rest. If another process holds the store, such as a hanging daemon, the store is only read: the event stays spooled.
fn answer(event: &HookEvent, locations: &Locations, started: Instant) -> Option<HookAnswer> {
    let config = world::config(&crate::kit::kit().table, locations).ok()?;
    let answers_prompts =
        ["briefing.at_prompts", "learning.hooks"].iter().any(|key| config.boolean(key));
    if matches!(event.what, Happening::Prompted(_)) && !answers_prompts {
        return None;
    }
    // Held until the answer is ready.
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
