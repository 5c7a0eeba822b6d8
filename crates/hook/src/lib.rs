//! The hot path: an agent's event from stdin to the daemon, or to the spool, within a deadline.
//!
//! It never disturbs the agent: the process always exits with 0 and says nothing unless there is
//! something to say. With a daemon the event goes there as it came; without one it is extracted and
//! redacted here, and only that touches the disk. There is no async runtime, no database and no
//! argument parser here.

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
use model::hook::HookEvent;
use model::json::{self, Json};
use model::limits;
use model::locations::Locations;
use model::time::rfc3339;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use text::secrets::{self, Profile};

use crate::stdin::Received;

const NO_SESSION: &str = "dropped: no session_id";

/// What the agent sends, and what is known beside it.
pub struct Hooked<'a> {
    /// Name of the event as the agent has it.
    pub event: &'a str,
    /// The agent, where the registered command names it.
    pub agent: Option<&'a str>,
    /// The `--db` flag.
    pub db: Option<&'a Path>,
    /// What may wait of an event: the user keeps some things out.
    pub to_spool: fn(&HookEvent, &Locations) -> HookEvent,
}

/// What became of an event.
pub enum Outcome {
    /// There is nothing left to do.
    Done,
    /// It waits in the spool, and no daemon answered: one is to be started. The agent may wait for
    /// an answer that only the store can give.
    Spooled { event: Box<HookEvent>, locations: Locations },
}

/// The members that hold a session's id; the second is another agent's name for it.
const SESSION_MEMBERS: [&str; 2] = ["session_id", "conversation_id"];

/// Whether a member can be a session's id: a text that says something, or a number.
fn is_session(id: &Json<'_>) -> bool {
    match id {
        Json::Text(text) => !text.trim().is_empty(),
        Json::Number(_) => true,
        Json::Null | Json::Bool(_) | Json::List(_) | Json::Object(_) => false,
    }
}

/// The daemon's reply, as far as it matters here.
#[derive(Deserialize)]
struct Reply<'a> {
    #[serde(borrow, default)]
    result: Option<Answer<'a>>,
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow, default)]
    answer: Option<&'a RawValue>,
}

/// A complete event, ready to be sent to the daemon.
struct Readable {
    text: Vec<u8>,
    /// When the time limit of the hook began, if reading the event counts towards it.
    since: Option<Instant>,
}

/// Takes in one event from stdin.
pub fn run(hooked: &Hooked<'_>) -> Outcome {
    let locations = platform::locations(hooked.db);
    match stdin::read(patience(hooked.event)).and_then(|got| readable(got, hooked, &locations)) {
        Ok(event) => take(hooked, &event, locations),
        Err(why) => refuse(&locations, hooked.event, &why),
    }
}

/// Returns the event to send, or the reason to drop it. Of an event that was cut off, the part that arrived is
/// sent, and a line is logged.
fn readable(
    received: Received,
    hooked: &Hooked<'_>,
    locations: &Locations,
) -> Result<Readable, String> {
    let since = received.large_since;
    let text = match received.event {
        Taken::AsSent(text) | Taken::Shortened(text) => text,
        Taken::Cut(text) => {
            log(locations, hooked.event, "broken off: kept the part that had arrived");
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

fn take(hooked: &Hooked<'_>, event: &Readable, locations: Locations) -> Outcome {
    let text = event.text.as_slice();
    let (id, at) = (client::mint(), clock::now_ms());
    let until = event.since.unwrap_or_else(Instant::now) + patience(hooked.event);
    match hand_over(hooked, id, at, text, until, &locations) {
        Handed::Taken(answer) => {
            if let Some(answer) = answer {
                // An agent that closed its end wants no answer.
                let _ = io::stdout().write_all(answer.as_bytes());
            }
            Outcome::Done
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
        // The message of the parser may quote the event; its place does not.
        Err(error) => {
            let (line, column) = (error.line(), error.column());
            Err(format!("dropped: not a JSON object, line {line}, column {column}"))
        }
    }
}

/// Nobody took it: what is worth keeping of it waits in the spool, redacted.
fn leave(
    hooked: &Hooked<'_>,
    id: CallId,
    at: i64,
    text: &[u8],
    locations: Locations,
    why: io::ErrorKind,
) -> Outcome {
    // The text is valid JSON by now, but the parser still refuses one that is nested too deep.
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
        log(&locations, hooked.event, &format!("lost: no daemon ({why}), no spool ({kind})"));
    }
    Outcome::Spooled { event: Box::new(event), locations }
}

fn refuse(locations: &Locations, event: &str, why: &str) -> Outcome {
    log(locations, event, why);
    Outcome::Done
}

/// How the daemon took the event.
enum Handed {
    /// Committed; this is what the agent is to be told.
    Taken(Option<String>),
    /// It is no event at all: keeping it would only repeat the refusal.
    Refused(String),
    /// It has to wait in the spool.
    Nobody(io::ErrorKind),
}

fn hand_over(
    hooked: &Hooked<'_>,
    id: CallId,
    at: i64,
    text: &[u8],
    until: Instant,
    locations: &Locations,
) -> Handed {
    let exchange = || -> io::Result<Vec<u8>> {
        // At the end nothing is left, and no wait at all is an error.
        let left = || until.saturating_duration_since(Instant::now());
        let mut connection = Connection::open_within(locations, left())?;
        connection.set_deadline(left())?;
        connection.send(&frame(hooked, id, at, text, locations)?)?;
        connection.set_deadline(left())?;
        connection.receive()
    };
    let line = match exchange() {
        Ok(line) => line,
        Err(error) => return Handed::Nobody(error.kind()),
    };
    match serde_json::from_slice::<Reply<'_>>(&line) {
        Ok(Reply { result: Some(result) }) => {
            Handed::Taken(result.answer.map(|raw| raw.get().to_owned()))
        }
        _ => refusal(&line).map_or(Handed::Nobody(io::ErrorKind::Other), Handed::Refused),
    }
}

/// How long the daemon is waited for. Where the agent may be told something, the rest of its time is for
/// a look into the store.
fn patience(event: &str) -> Duration {
    match agents::kind(event) {
        Kind::ToolStart | Kind::ToolUse | Kind::ToolFailure => limits::HOOK_TOOL_DEADLINE,
        Kind::Prompt => limits::HOOK_PROMPT_PATIENCE,
        _ => limits::HOOK_PATIENCE,
    }
}

/// What the daemon says is wrong with the event, if that is why it did not take it. It names members
/// and never says what stands in them.
fn refusal(line: &[u8]) -> Option<String> {
    let reply: Value = serde_json::from_slice(line).ok()?;
    let error = reply.get("error")?;
    let invalid = error.get("code")?.as_i64() == Some(model::Code::Invalid.row().rpc);
    invalid.then(|| error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned())
}

/// The call as one line. It is put together by hand because building it as a tree would cost more
/// than everything else the process does.
fn frame(
    hooked: &Hooked<'_>,
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
    head.push_str(r#""payload":"#);
    let mut frame = head.into_bytes();
    // Within JSON a line break only ever stands between members, where a space says the same.
    frame.extend(text.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
    frame.extend_from_slice(b"}}\n");
    Ok(frame)
}

/// Says in the hook's log what is wrong with the line that the agent has for its hook.
pub fn complain(message: &str) {
    // It quotes the line, and whatever stands there.
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
    // An event's name is an argument of ours; still, only what looks like a name is written.
    let event: String = event.chars().filter(char::is_ascii_alphanumeric).take(64).collect();
    let line = format!("{} {event}: {message}\n", rfc3339(clock::now_ms()));
    let grown = if full { 0 } else { bytes } + line.len() as u64;
    if platform::may_write(grown)
        && let Ok(mut file) = regular::open_with(&mut options, &path)
    {
        let _ = file.write_all(line.as_bytes());
    }
}
