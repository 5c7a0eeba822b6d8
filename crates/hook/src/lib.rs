//! The hot path: an agent's event from stdin to the daemon, or to the spool, within a deadline.
//!
//! It never disturbs the agent: the process always exits with 0 and says nothing unless there is
//! something to say. There is no async runtime, no database and no argument parser here.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use client::connection::Connection;
use client::{clock, daemon, platform, spool};
use model::event::HookRecord;
use model::limits;
use model::locations::Locations;
use model::time::rfc3339;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The members of an event that are kept today; all others are skipped without being read.
#[derive(Default, Deserialize)]
struct Payload<'a> {
    #[serde(borrow, default)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_use_id: Option<Cow<'a, str>>,
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

/// Takes in one event of this name from stdin; `db` is the `--db` flag.
pub fn run(event: &str, db: Option<&Path>) {
    let locations = platform::locations(db);
    match read_stdin() {
        Ok(text) => take(event, &text, &locations, db),
        Err(why) => log(&locations, event, &why),
    }
}

fn read_stdin() -> Result<Vec<u8>, String> {
    let mut text = Vec::with_capacity(4096);
    let max = limits::HOOK_BYTES_MAX;
    let read = io::stdin().lock().take(max as u64 + 1).read_to_end(&mut text);
    match read {
        Err(error) => Err(format!("stdin cannot be read: {}", error.kind())),
        Ok(bytes) if bytes > max => Err(format!("dropped: over {max} bytes")),
        Ok(_) => Ok(text),
    }
}

fn take(event: &str, text: &[u8], locations: &Locations, db: Option<&Path>) {
    // A list would do for the parser: its members would be taken for ours in order.
    let object = text.trim_ascii_start().starts_with(b"{");
    let payload: Payload<'_> = match serde_json::from_slice(text) {
        Ok(payload) if object => payload,
        Ok(_) => return log(locations, event, "dropped: not a JSON object"),
        // The message of the parser may quote the event; its place does not.
        Err(error) => {
            let (line, column) = (error.line(), error.column());
            let what = if error.is_data() && object {
                "a member is not of its type"
            } else {
                "not a JSON object"
            };
            let message = format!("dropped: {what}, line {line}, column {column}");
            return log(locations, event, &message);
        }
    };
    let record = HookRecord {
        id: client::mint(),
        name: event.to_owned(),
        session: payload.session_id.map(Cow::into_owned),
        tool_use_id: payload.tool_use_id.map(Cow::into_owned),
        at: clock::now_ms(),
    };
    if let Err(error) = record.check() {
        return log(locations, event, &format!("dropped: {}", error.message));
    }
    match hand_over(&record, locations) {
        Handed::Taken(None) => {}
        Handed::Taken(Some(answer)) => {
            // An agent that closed its end wants no answer.
            let _ = io::stdout().write_all(answer.as_bytes());
        }
        Handed::Refused(reason) => log(locations, event, &format!("refused: {reason}")),
        Handed::Nobody(why) => {
            if let Err(error) = spool::leave(locations, &record) {
                log(
                    locations,
                    event,
                    &format!("lost: no daemon ({why}), no spool ({})", error.kind()),
                );
            }
            daemon::start_now_and_then(locations, db);
        }
    }
}

/// What became of the event.
enum Handed {
    /// Committed; this is what the agent is to be told.
    Taken(Option<String>),
    /// It is no event at all: keeping it would only repeat the refusal.
    Refused(String),
    /// It has to wait in the spool.
    Nobody(io::ErrorKind),
}

fn hand_over(record: &HookRecord, locations: &Locations) -> Handed {
    let exchange = || -> io::Result<Vec<u8>> {
        let mut connection = Connection::open(locations)?;
        connection.set_deadline(limits::HOOK_DEADLINE)?;
        connection.send(frame(record, locations)?.as_bytes())?;
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
        _ => match error_number(&line) {
            Some(number) if number == model::Code::Invalid.row().rpc => {
                Handed::Refused(model::Code::Invalid.row().word.to_owned())
            }
            _ => Handed::Nobody(io::ErrorKind::Other),
        },
    }
}

fn error_number(line: &[u8]) -> Option<i64> {
    let reply: serde_json::Value = serde_json::from_slice(line).ok()?;
    reply.get("error")?.get("code")?.as_i64()
}

/// The call as one line. It is put together by hand because building it as a tree would cost more
/// than everything else the process does.
fn frame(record: &HookRecord, locations: &Locations) -> io::Result<String> {
    let quoted = |text: &str| serde_json::to_string(text).map_err(io::Error::from);
    let db = quoted(&locations.database.to_string_lossy())?;
    let mut frame = String::with_capacity(512);
    let id = record.id;
    let _ = write!(
        frame,
        r#"{{"jsonrpc":"2.0","id":1,"method":"hook","rekindle":{{"call":"{id}","tier":"hook","db":{db}}},"params":{{"event":{},"at":{},"payload":{{"#,
        quoted(&record.name)?,
        record.at,
    );
    let mut comma = "";
    for (name, value) in [("session_id", &record.session), ("tool_use_id", &record.tool_use_id)] {
        if let Some(value) = value {
            let _ = write!(frame, r#"{comma}"{name}":{}"#, quoted(value)?);
            comma = ",";
        }
    }
    frame.push_str("}}}\n");
    Ok(frame)
}

/// One line in the hook's log; it starts anew when it has grown too long.
fn log(locations: &Locations, event: &str, message: &str) {
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
        && let Ok(mut file) = options.open(&path)
    {
        let _ = file.write_all(line.as_bytes());
    }
}
