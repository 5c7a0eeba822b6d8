//! The hot path: an agent's event from stdin to the daemon, or to the spool, within a deadline.
//!
//! It never disturbs the agent: the process always exits with 0 and prints nothing but an answer. With a daemon, the
//! event is sent as it is; without one, it is extracted and redacted here, and only the result is written to disk.
//! There is no async runtime, no database and no argument parser here.

mod plain_prompt;
mod status_line;
mod stdin;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use agents::{Kind, Taken};
use client::connection::Connection;
use client::{clock, platform, spool};
use model::CallId;
use model::hook::{HookEvent, HookForm};
use model::json::{self, Json};
use model::limits;
use model::locations::Locations;
use model::time::rfc3339;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use text::secrets::{self, Profile};

pub use crate::status_line::{ShownSets, StatusOutcome, status_line};

use crate::stdin::ReceivedEvent;

const NO_SESSION: &str = "dropped: no session_id";

/// The arguments of a hook, and the filter for the spool.
pub struct HookArgs<'a> {
    /// Name of the event in the agent's own terms.
    pub event: &'a str,
    /// The agent, if the registered command names it.
    pub agent: Option<&'a str>,
    /// The `--db` flag.
    pub db: Option<&'a Path>,
    /// The form of the answer.
    pub form: HookForm,
    /// Reduces an event to the part that may be spooled: without the data that the user excludes.
    pub to_spool: fn(&HookEvent, &Locations) -> HookEvent,
}

/// The answer in the form `seed` if no daemon replied; none for events that have no answer.
pub fn degraded(event: &str) -> Option<&'static str> {
    let answered =
        [Kind::SessionStart, Kind::Prompt, Kind::ToolStart, Kind::ToolUse, Kind::ToolFailure];
    let has_answer = answered.contains(&agents::kind(event));
    has_answer.then_some(r#"{"type":"degraded","reason":"server_timeout"}"#)
}

/// The result of handling an event.
pub enum HookOutcome {
    /// Nothing is left to do.
    Done,
    /// The event is in the spool, and no daemon answered: start one. The agent may wait for an answer that only the
    /// store can give.
    Spooled { event: Box<HookEvent>, locations: Locations },
}

/// Members with a session's id; the second is another agent's name for it.
const SESSION_MEMBERS: [&str; 2] = ["session_id", "conversation_id"];

/// Whether a member can be a session's id: a text that is not blank, or a number.
fn is_session(id: &Json<'_>) -> bool {
    match id {
        Json::Text(text) => !text.trim().is_empty(),
        Json::Number(_) => true,
        Json::Null | Json::Bool(_) | Json::List(_) | Json::Object(_) => false,
    }
}

/// The relevant part of the daemon's reply.
#[derive(Deserialize)]
struct DaemonReply<'a> {
    #[serde(borrow, default)]
    result: Option<DaemonAnswer<'a>>,
}

#[derive(Deserialize)]
struct DaemonAnswer<'a> {
    #[serde(borrow, default)]
    answer: Option<&'a RawValue>,
}

/// A complete event, ready to be sent to the daemon.
struct Readable {
    text: Vec<u8>,
    /// When the time limit of the hook began, if reading the event counts towards it.
    since: Option<Instant>,
}

/// Handles one event from stdin.
pub fn run(hooked: &HookArgs<'_>) -> HookOutcome {
    let locations = platform::locations(hooked.db);
    let received = match stdin::read(patience(hooked.event)) {
        Ok(received) => received,
        Err(why) => return refuse(&locations, hooked.event, &why),
    };
    if let Some(prompt) = plain_prompt::of(hooked, &received.event) {
        plain_prompt::answer(hooked, prompt, &locations);
        return HookOutcome::Done;
    }
    match readable(received, hooked, &locations) {
        Ok(event) => take(hooked, &event, locations),
        Err(why) => refuse(&locations, hooked.event, &why),
    }
}

/// Returns the event to send, or the reason to drop it. If an event was cut off, the received part is sent, and a
/// line is logged.
fn readable(
    received: ReceivedEvent,
    hooked: &HookArgs<'_>,
    locations: &Locations,
) -> Result<Readable, String> {
    let since = received.large_since;
    let text = match received.event {
        Taken::AsSent(text) | Taken::Shortened(text) => text,
        Taken::Cut(text) => {
            log(locations, hooked.event, "cut off: using the part that arrived");
            text
        }
        Taken::NoObject => return Err("dropped: not a JSON object".to_owned()),
    };
    let text = match agents::with_valid_encoding(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(repaired) => repaired,
    };
    check(&text)?;
    Ok(Readable { text, since })
}

fn take(hooked: &HookArgs<'_>, event: &Readable, locations: Locations) -> HookOutcome {
    let text = event.text.as_slice();
    let (id, at) = (client::mint(), clock::now_ms());
    let until = event.since.unwrap_or_else(Instant::now) + patience(hooked.event);
    match hand_over(hooked, id, at, text, until, &locations) {
        Handed::Taken(answer) => {
            if let Some(answer) = answer {
                // An agent that closed its end expects no answer.
                let _ = io::stdout().write_all(answer.as_bytes());
            }
            HookOutcome::Done
        }
        Handed::Refused(reason) => refuse(&locations, hooked.event, &format!("dropped: {reason}")),
        Handed::Nobody(why) => leave(hooked, id, at, text, locations, why),
    }
}

/// Whether the text is one JSON object with a session.
fn check(text: &[u8]) -> Result<(), String> {
    // Other members are only checked to be JSON.
    match json::pick_object(text, &SESSION_MEMBERS) {
        Ok(ids) if ids.iter().flatten().any(is_session) => Ok(()),
        Ok(_) => Err(NO_SESSION.to_owned()),
        // The parser's message may quote the event; its position does not.
        Err(error) => {
            let (line, column) = (error.line(), error.column());
            Err(format!("dropped: not a JSON object, line {line}, column {column}"))
        }
    }
}

/// No daemon accepted the event: its redacted data is spooled.
fn leave(
    hooked: &HookArgs<'_>,
    id: CallId,
    at: i64,
    text: &[u8],
    locations: Locations,
    why: io::ErrorKind,
) -> HookOutcome {
    // `check` accepts JSON of any depth, but the parser does not: values that are nested too deeply are left out here.
    let text = agents::shortened(text).unwrap_or_default();
    let payload = serde_json::from_slice(&text).unwrap_or(Json::Null);
    let event = agents::extract(hooked.agent, Some(hooked.event), &payload, id, at)
        .and_then(|event| event.check().map(|()| event));
    let event = match event {
        Ok(event) => event,
        Err(error) => {
            return refuse(&locations, hooked.event, &format!("dropped: {}", error.message));
        }
    };
    if let Err(error) = spool::leave(&locations, &(hooked.to_spool)(&event, &locations)) {
        let kind = error.kind();
        let lost =
            format!("lost: no daemon accepted it ({why}), and it could not be spooled ({kind})");
        log(&locations, hooked.event, &lost);
    }
    HookOutcome::Spooled { event: Box::new(event), locations }
}

fn refuse(locations: &Locations, event: &str, why: &str) -> HookOutcome {
    log(locations, event, why);
    HookOutcome::Done
}

/// The daemon's response to the event.
enum Handed {
    /// Committed; the text is for the agent.
    Taken(Option<String>),
    /// The event is invalid: a retry would be refused again.
    Refused(String),
    /// The event has to be spooled.
    Nobody(io::ErrorKind),
}

fn hand_over(
    hooked: &HookArgs<'_>,
    id: CallId,
    at: i64,
    text: &[u8],
    until: Instant,
    locations: &Locations,
) -> Handed {
    let line = frame(hooked, id, at, text, locations);
    let line = match line.and_then(|frame| exchange(&frame, until, locations)) {
        Ok(line) => line,
        Err(error) => return Handed::Nobody(error.kind()),
    };
    match serde_json::from_slice::<DaemonReply<'_>>(&line) {
        Ok(DaemonReply { result: Some(result) }) => {
            Handed::Taken(result.answer.map(|raw| raw.get().to_owned()))
        }
        _ => refusal(&line).map_or(Handed::Nobody(io::ErrorKind::Other), Handed::Refused),
    }
}

/// Sends a line to the daemon and waits for its reply.
fn exchange(frame: &[u8], until: Instant, locations: &Locations) -> io::Result<Vec<u8>> {
    // The deadline has passed, and a timeout of zero is an error.
    let left = || until.saturating_duration_since(Instant::now());
    let mut connection = Connection::open_within(locations, left())?;
    connection.set_deadline(left())?;
    connection.send(frame)?;
    connection.set_deadline(left())?;
    connection.receive()
}

/// How long to wait for the daemon: around a tool call the whole deadline of the hook. At other events the rest of the
/// deadline is for the spool, and for a read of the store if the agent can get text.
fn patience(event: &str) -> Duration {
    match agents::kind(event) {
        Kind::ToolStart | Kind::ToolUse | Kind::ToolFailure => limits::HOOK_TOOL_DEADLINE,
        Kind::Prompt => limits::HOOK_PROMPT_PATIENCE,
        _ => limits::HOOK_PATIENCE,
    }
}

/// The daemon's reason for refusing the event. It names members but never quotes their values.
fn refusal(line: &[u8]) -> Option<String> {
    let reply: Value = serde_json::from_slice(line).ok()?;
    let error = reply.get("error")?;
    let invalid = error.get("code")?.as_i64() == Some(model::Code::Invalid.row().rpc);
    invalid.then(|| error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned())
}

/// The call as one line. It is assembled by hand, because building it as a tree would cost more than everything else
/// in this process.
fn frame(
    hooked: &HookArgs<'_>,
    id: CallId,
    at: i64,
    text: &[u8],
    locations: &Locations,
) -> io::Result<Vec<u8>> {
    let quoted = |text: &str| serde_json::to_string(text).map_err(io::Error::from);
    let db = quoted(&locations.database.to_string_lossy())?;
    let mut head = String::with_capacity(256);
    let _ = write!(
        head,
        r#"{{"jsonrpc":"2.0","id":1,"method":"hook","rekindle":{{"call":"{id}","tier":"hook","db":{db}}},"params":{{"event":{},"at":{at},"#,
        quoted(hooked.event)?,
    );
    if let Some(agent) = hooked.agent {
        let _ = write!(head, r#""agent":{},"#, quoted(agent)?);
    }
    if hooked.form == HookForm::Seed {
        head.push_str(r#""format":"seed","#);
    }
    head.push_str(r#""payload":"#);
    let mut frame = head.into_bytes();
    // In JSON, a line break is only possible between tokens, where a space is equivalent.
    frame.extend(text.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
    frame.extend_from_slice(b"}}\n");
    Ok(frame)
}

/// Writes to the hook's log what is wrong with the command line of the hook.
pub fn complain(message: &str) {
    // It quotes the line, which may contain anything.
    let message = secrets::redact(message, Profile::Strict).into_inner();
    log(&platform::locations(None), "line", &message);
}

/// Writes one line to the hooks' log, which is truncated when it grows too long.
pub fn log(locations: &Locations, event: &str, message: &str) {
    let path = locations.hook_log();
    if let Some(folder) = path.parent() {
        let _ = platform::data_dir(&locations.data_dir);
        let _ = platform::private_dir(folder);
    }
    let bytes = std::fs::metadata(&path).map_or(0, |meta| meta.len());
    let full = bytes > limits::HOOK_LOG_BYTES_MAX;
    let mut options = OpenOptions::new();
    options.create(true).append(!full).write(true).truncate(full).mode(0o600);
    // The event's name is an argument; still, only characters of a name are written.
    let event: String = event.chars().filter(char::is_ascii_alphanumeric).take(64).collect();
    let line = format!("{} {event}: {message}\n", rfc3339(clock::now_ms()));
    let grown = if full { 0 } else { bytes } + line.len() as u64;
    if platform::may_write(grown)
        && let Ok(mut file) = regular::open_with(&mut options, &path)
    {
        let _ = file.write_all(line.as_bytes());
    }
}
