//! The weeks as they are lived through: every event goes to a running daemon, in the frame and over the socket of the
//! hook, with the time at which it happened. (The hook itself stamps its events with the present.)

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::payload::{Frame, Hooked};
use super::plan::{PlannedSession, Weeks};
use super::random::Random;
use crate::home::Home;

const REPLY_DEADLINE: Duration = Duration::from_secs(10);
/// Between two events of a session lie at most this many milliseconds.
const PAUSE_MAX_MS: u64 = 90_000;

/// A session and the briefing that it began with.
pub(super) struct Briefed<'a> {
    pub(super) session: &'a PlannedSession,
    pub(super) briefing: String,
}

/// Sends all events. Returns each session with its briefing, in the order in which they began.
#[allow(clippy::disallowed_methods, reason = "no clock of the product can be reached from here")]
pub(super) fn live<'a>(home: &Home, weeks: &'a Weeks) -> Result<Vec<Briefed<'a>>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    let begin = u64::try_from(now)?.saturating_sub(Weeks::length_ms());
    let mut wire = Wire::open(home)?;
    let mut random = Random::new(begin);
    let mut briefed = Vec::new();
    for session in &weeks.sessions {
        let folder = folder(home, &session.project);
        if !folder.exists() {
            fs::create_dir_all(folder.join(".git"))?;
            fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n")?;
        }
        let folder = folder.to_string_lossy().into_owned();
        let frame = Frame { agent: session.agent, session: &session.id, folder: &folder };
        let mut at = begin + session.start;
        let answer = wire.send(&frame, &frame.start(), at)?;
        let briefing = answer.pointer("/hookSpecificOutput/additionalContext");
        let briefing = briefing.and_then(Value::as_str).unwrap_or_default().to_owned();
        briefed.push(Briefed { session, briefing });
        for step in &session.steps {
            at += 1_000 + random.below(PAUSE_MAX_MS);
            wire.send(&frame, &frame.step(step, at), at)?;
        }
        if let Some(end) = frame.end() {
            wire.send(&frame, &end, at + 1_000)?;
        }
    }
    Ok(briefed)
}

pub(super) fn folder(home: &Home, project: &str) -> PathBuf {
    home.file("home").join(project)
}

/// The connection of a hook, kept open.
struct Wire {
    reader: BufReader<UnixStream>,
    database: PathBuf,
    calls: u64,
}

impl Wire {
    fn open(home: &Home) -> Result<Wire> {
        let stream = UnixStream::connect(home.file("run").join("daemon.sock"))
            .context("the daemon has no socket")?;
        stream.set_read_timeout(Some(REPLY_DEADLINE))?;
        let database = home.data().join("rekindle.db");
        Ok(Wire { reader: BufReader::new(stream), database, calls: 0 })
    }

    /// Returns what the agent is to be told.
    fn send(&mut self, frame: &Frame<'_>, hooked: &Hooked, at: u64) -> Result<Value> {
        self.calls += 1;
        let call = json!({
            "jsonrpc": "2.0",
            "id": self.calls,
            "method": "hook",
            "rekindle": { "call": format!("{:032x}", self.calls), "tier": "hook", "db": self.database },
            "params": {
                "event": hooked.event,
                "at": at,
                "agent": frame.agent.name(),
                "payload": hooked.payload,
            },
        });
        let mut line = String::new();
        writeln!(line, "{call}")?;
        self.reader.get_mut().write_all(line.as_bytes())?;
        line.clear();
        self.reader.read_line(&mut line)?;
        let reply: Value = serde_json::from_str(&line).context("the daemon's reply is not JSON")?;
        if reply.get("error").is_some() {
            bail!("the daemon refused a {}: {reply}", hooked.event);
        }
        Ok(reply["result"]["answer"].clone())
    }
}
