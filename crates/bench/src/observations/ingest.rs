//! Events from several concurrent connections to the daemon of this home, sent without waiting for the previous
//! answer; every answer follows the event's COMMIT.

use std::io::{self, Write as _};
use std::thread;
use std::time::{Duration, Instant};

use client::connection::Connection;
use model::OpError;
use model::locations::Locations;
use serde_json::{Value, json};

use super::corpus::{Happened, MadeCorpus};
use super::make::SEED;
use super::read::lock;

const CONNECTIONS: usize = 8;
/// First session number of each connection, so that no two connections share a session.
const SESSIONS_APART: usize = 1_000_000;
/// A part of the answer to a committed event.
const TAKEN: &[u8] = br#""recorded":true"#;
/// Events that a connection writes at once.
const SENT_AT_ONCE: usize = 32;
const REPLY_DEADLINE: Duration = Duration::from_secs(60);

/// Sends about this many events and returns the events per second.
pub(crate) fn ingest(count: usize) -> Result<Value, OpError> {
    let locations = client::platform::locations(None);
    let batches: Vec<Vec<Vec<u8>>> =
        (0..CONNECTIONS).map(|number| frames(number, count / CONNECTIONS, &locations)).collect();
    let sent: usize = batches.iter().map(Vec::len).sum();
    let bytes: usize = batches.iter().flatten().map(Vec::len).sum();
    let started = Instant::now();
    let threads: Vec<_> = batches
        .into_iter()
        .map(|frames| {
            let locations = locations.clone();
            thread::spawn(move || send_all(&locations, frames))
        })
        .collect();
    for thread in threads {
        let done = thread.join().map_err(|_| OpError::internal("a connection panicked"))?;
        done.map_err(|error| OpError::unavailable(format!("a connection failed: {error}")))?;
    }
    let seconds = started.elapsed().as_secs_f64();
    Ok(json!({
        "events": sent,
        "bytes_per_event": bytes / sent.max(1),
        "per_second": sent as f64 / seconds,
    }))
}

/// Inserts the rows of about this many events through bare SQL, and returns the events per second.
pub(crate) fn insert(count: usize) -> Result<Value, OpError> {
    let locations = client::platform::locations(None);
    let _lock = lock(&locations)?;
    let corpus = MadeCorpus::new(SEED + 1, count, client::clock::now_ms());
    let used = corpus.filter_map(|happened| {
        let event =
            agents::extract(None, None, &(&happened.payload).into(), client::mint(), happened.at);
        Some(event.ok()?.used()?.content.to_string())
    });
    let texts: Vec<String> = used.collect();
    let started = Instant::now();
    let inserted = store::bare::insert(&locations.database, &texts)?;
    let seconds = started.elapsed().as_secs_f64();
    Ok(json!({ "rows": inserted, "per_second": inserted as f64 / seconds }))
}

/// The calls of hooks, in order.
fn frames(connection: usize, count: usize, locations: &Locations) -> Vec<Vec<u8>> {
    let seed = SEED + 1 + u64::try_from(connection).unwrap_or(0);
    let now = client::clock::now_ms();
    let corpus = MadeCorpus::new(seed, count, now).starting_at((connection + 1) * SESSIONS_APART);
    let db = locations.database.to_string_lossy().into_owned();
    let frame = |happened: Happened| {
        let mut frame = json!({
            "jsonrpc": "2.0", "id": 1, "method": "hook",
            "rekindle": { "call": client::mint(), "tier": "hook", "db": db },
            "params": { "payload": happened.payload },
        })
        .to_string()
        .into_bytes();
        frame.push(b'\n');
        frame
    };
    corpus.take(count).map(frame).collect()
}

/// Sends on one thread and reads the answers on this one.
fn send_all(locations: &Locations, frames: Vec<Vec<u8>>) -> io::Result<()> {
    let count = frames.len();
    let (mut writer, mut reader) = Connection::open(locations)?.split()?;
    reader.set_deadline(REPLY_DEADLINE)?;
    let send = move || {
        frames.chunks(SENT_AT_ONCE).try_for_each(|frames| writer.write_all(&frames.concat()))
    };
    let sender = thread::spawn(send);
    for _ in 0..count {
        // Parsing the answers as JSON would cost as much as sending the events.
        let reply = reader.receive()?;
        if !reply.windows(TAKEN.len()).any(|part| part == TAKEN) {
            let reply = String::from_utf8_lossy(&reply);
            return Err(io::Error::other(format!("an event was answered with {reply}")));
        }
    }
    sender.join().map_err(|_| io::Error::other("the sender panicked"))?
}
