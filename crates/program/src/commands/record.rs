//! `rekindle record`: records one event from stdin at once, and reports errors.

use std::io::Read as _;
use std::sync::mpsc::sync_channel;

use agents::Taken;
use clap::{Arg, ArgMatches, Command};
use cli::Output;
use model::{Code, OpError, Reply, limits};
use serde_json::{Value, json};

use super::hook;
use crate::names;
use crate::world::World;

/// Bytes to read from stdin at a time.
const CHUNK: usize = 64 * 1024;

pub(super) fn command() -> Command {
    Command::new("record")
        .about("Record one event of an agent: its JSON on stdin")
        .long_about(
            "Record one event of an agent: its JSON on stdin.\n\n\
             For scripts and harnesses of any kind. The event's name is in hook_event_name. Invalid input is \
             an error (exit code 1, one line on stderr). If the store is not available, the event waits \
             in the spool. At the start of a session, the text for the agent is printed.",
        )
        .arg(
            Arg::new("agent")
                .long("agent")
                .value_name("AGENT")
                .help("Name of the agent; detected by default"),
        )
        .after_help(
            "Example:\n  echo '{\"session_id\":\"s-1\",\"cwd\":\"/srv/app\",\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"hello\"}' | rekindle record",
        )
}

pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    let agent = matches.get_one::<String>("agent").cloned();
    match record(world, agent.as_deref()) {
        Ok(Some(context)) if world.out.json => {
            world.out.result(&json!({ "context": context }), None)
        }
        Ok(Some(context)) => world.out.text(&names::titled(&context, world.out.name())),
        Ok(None) => 0,
        // A harness shows one line to its user, who cannot fix the event.
        Err(error) => world.out.error(&OpError { hint: None, ..error }),
    }
}

/// Records the event from stdin and returns the text for the agent.
fn record(world: &mut World, agent: Option<&str>) -> Result<Option<String>, OpError> {
    let payload = read()?;
    agents::strict(agent, &(&payload).into())?;
    let (id, at) = (client::mint(), client::clock::now_ms());
    let mut params = json!({ "payload": payload, "id": id, "at": at });
    if let Some(agent) = agent {
        params["agent"] = json!(agent);
    }
    if world.out.name().word == names::NMEM.word {
        params["form"] = json!("nmem");
    }
    match hand_over(world, params) {
        Ok(output) => Ok(output["context"].as_str().map(str::to_owned)),
        Err(error) if is_retryable(&error, world) => {
            let event = agents::extract(agent, None, &(&payload).into(), id, at)?;
            event.check()?;
            let event = hook::to_spool(&event, &world.locations);
            client::spool::leave(&world.locations, &event).map_err(|_| error)?;
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Records the event, and gives up when a harness has waited long enough. The thread may still finish its work: an
/// event id is recorded only once.
fn hand_over(world: &World, params: Value) -> Reply {
    let (name, db, build) = (world.out.name(), world.db.clone(), world.build.clone());
    let (table, locations, settings) =
        (world.table.clone(), world.locations.clone(), world.settings.clone());
    let (sender, receiver) = sync_channel(1);
    let ask = move || {
        let out = Output::standard(name);
        let mut world = World { out, table, locations, db, settings, build };
        // The receiver is gone after the timeout.
        let _ = sender.send(crate::calls::call(&mut world, "hook", params));
    };
    std::thread::Builder::new()
        .spawn(ask)
        .map_err(|error| OpError::unavailable(format!("no thread can be started: {error}")))?;
    let late = |_| Err(OpError::new(Code::Timeout, "the store did not accept the event in time"));
    receiver.recv_timeout(limits::STORE_BUSY).unwrap_or_else(late)
}

/// Whether recording the event may succeed later.
fn is_retryable(error: &OpError, world: &World) -> bool {
    matches!(error.code, Code::Unavailable | Code::Timeout | Code::Internal)
        || world.config().is_err()
}

/// Reads the event from stdin. A large one is shortened while it is read.
fn read() -> Result<Value, OpError> {
    let max = limits::HOOK_BYTES_MAX;
    let mut intake = agents::Intake::with_capacity(CHUNK);
    let mut chunk = vec![0; CHUNK];
    let mut stdin = std::io::stdin().lock();
    loop {
        match stdin.read(&mut chunk) {
            Ok(0) => break,
            Ok(bytes) => intake.push(chunk.get(..bytes).unwrap_or_default()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                let message = format!("stdin cannot be read: {error}");
                return Err(OpError::invalid("stdin", message));
            }
        }
        if intake.bytes() > max {
            return Err(OpError::over_size("the event", max));
        }
    }
    let no_object = || OpError::invalid("stdin", "stdin is not one JSON object");
    let text = match intake.finish() {
        Taken::AsSent(text) | Taken::Shortened(text) => text,
        Taken::Cut(_) | Taken::NoObject => return Err(no_object()),
    };
    let payload = serde_json::from_slice::<Value>(&text);
    let payload = payload.or_else(|_| serde_json::from_slice(&agents::with_valid_encoding(&text)));
    let payload = payload.map_err(|error| {
        // The parser's message may quote the event; its position does not.
        let (line, column) = (error.line(), error.column());
        OpError::invalid(
            "stdin",
            format!("stdin is not one JSON object: line {line}, column {column}"),
        )
    })?;
    if !payload.is_object() {
        return Err(no_object());
    }
    Ok(payload)
}
