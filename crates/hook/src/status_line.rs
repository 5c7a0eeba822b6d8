//! The status line of an agent: its JSON from stdin, the declared context of the session from the daemon, one line.
//!
//! It runs after every turn, so it takes the path of the hook, and it never waits longer than an agent's user notices.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use client::connection::Connection;
use client::platform;
use model::json::{self, Json};
use model::limits;
use model::locations::Locations;
use serde::Deserialize;

use crate::SESSION_MEMBERS;

/// The sets that the line shows.
#[derive(Deserialize, Default)]
pub struct ShownSets {
    #[serde(default)]
    pub files: Vec<String>,
    #[serde(default)]
    pub applet: Vec<String>,
}

/// The result of asking the daemon.
pub enum StatusOutcome {
    /// The sets of the session.
    Known(ShownSets),
    /// The agent sent no session, or the daemon knows nothing of it.
    Nothing,
    /// No daemon is running: the store has to be read.
    NoDaemon { session: String, locations: Locations, until: Instant },
}

#[derive(Deserialize)]
struct ContextReply {
    #[serde(default)]
    result: Option<ContextAnswer>,
}

#[derive(Deserialize)]
struct ContextAnswer {
    context: ShownSets,
}

/// Reads the agent's JSON and asks the daemon, within [`limits::STATUS_LINE_DEADLINE`].
pub fn status_line(db: Option<&Path>) -> StatusOutcome {
    let until = Instant::now() + limits::STATUS_LINE_DEADLINE;
    let left = || until.saturating_duration_since(Instant::now());
    let Some(session) = read_stdin(left).ok().and_then(|text| session_of(&text)) else {
        return StatusOutcome::Nothing;
    };
    let locations = platform::locations(db);
    let Ok(connection) = Connection::open_within(&locations, left()) else {
        return StatusOutcome::NoDaemon { session, locations, until };
    };
    ask(connection, &session, &locations, left).map_or(StatusOutcome::Nothing, StatusOutcome::Known)
}

/// Stdin to its end, or as much as arrives in time.
fn read_stdin(left: impl Fn() -> Duration) -> io::Result<Vec<u8>> {
    let (mut text, mut chunk) = (Vec::new(), [0; 8 * 1024]);
    while let Some(bytes) = platform::read_stdin(&mut chunk, left())? {
        text.extend_from_slice(chunk.get(..bytes).unwrap_or_default());
        if bytes == 0 || text.len() > limits::STATUS_LINE_BYTES_MAX {
            break;
        }
    }
    Ok(text)
}

/// The session that the agent's JSON names.
fn session_of(text: &[u8]) -> Option<String> {
    let ids = json::pick_object(text, &SESSION_MEMBERS).ok()?;
    ids.into_iter().flatten().find_map(|id| match id {
        Json::Text(id) if !id.trim().is_empty() => Some(id.into_owned()),
        Json::Number(id) => Some(id.to_string()),
        _ => None,
    })
}

fn ask(
    mut connection: Connection,
    session: &str,
    locations: &Locations,
    left: impl Fn() -> Duration,
) -> io::Result<ShownSets> {
    let quoted = |text: &str| serde_json::to_string(text).map_err(io::Error::from);
    let (call, db) = (client::mint(), quoted(&locations.database.to_string_lossy())?);
    let session = quoted(session)?;
    // Assembled by hand: a tree would cost more than the rest of this process.
    let frame = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"get_relevant_context","rekindle":{{"call":"{call}","tier":"person","db":{db}}},"params":{{"session_id":{session}}}}}"#,
    );
    connection.set_deadline(left().max(Duration::from_millis(1)))?;
    connection.send(format!("{frame}\n").as_bytes())?;
    connection.set_deadline(left().max(Duration::from_millis(1)))?;
    let reply: ContextReply = serde_json::from_slice(&connection.receive()?)?;
    Ok(reply.result.map(|answer| answer.context).unwrap_or_default())
}
