//! The socket of the daemon, used as the hook uses it, but with times of the caller's choice. (The hook itself stamps its
//! events with the present.)

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::payload::{HookPayload, WeekAgent};
use crate::home::Home;

const REPLY_DEADLINE: Duration = Duration::from_secs(20);
/// On a busy machine an answer may be late. A call with an id that the daemon knows counts once.
const TRIES: usize = 6;

#[allow(clippy::disallowed_methods, reason = "no clock of the product can be reached from here")]
pub(super) fn now_ms() -> Result<u64> {
    Ok(u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?)
}

/// Creates a directory that looks like a repository without a remote, unless it exists. Returns its path.
pub(super) fn repository(folder: &Path) -> Result<String> {
    if !folder.exists() {
        fs::create_dir_all(folder.join(".git"))?;
        fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n")?;
    }
    Ok(folder.to_string_lossy().into_owned())
}

/// The connection of a hook, kept open.
pub(super) struct HookConnection {
    reader: BufReader<UnixStream>,
    database: PathBuf,
    calls: u64,
}

impl HookConnection {
    pub(super) fn open(home: &Home) -> Result<HookConnection> {
        let stream = UnixStream::connect(home.file("run").join("daemon.sock"))
            .context("the daemon has no socket")?;
        stream.set_read_timeout(Some(REPLY_DEADLINE))?;
        let database = home.data().join("rekindle.db");
        Ok(HookConnection { reader: BufReader::new(stream), database, calls: 0 })
    }

    /// Sends an event, again if the daemon answers too late. Returns the hook's answer to the agent, as JSON.
    pub(super) fn send(
        &mut self,
        agent: WeekAgent,
        hooked: &HookPayload,
        at: u64,
    ) -> Result<Value> {
        self.calls += 1;
        let call = json!({
            "jsonrpc": "2.0",
            "id": self.calls,
            "method": "hook",
            "rekindle": { "call": format!("{:032x}", self.calls), "tier": "hook", "db": self.database },
            "params": {
                "event": hooked.event,
                "at": at,
                "agent": agent.name(),
                "payload": hooked.payload,
            },
        });
        let mut reply = Value::Null;
        for _ in 0..TRIES {
            let mut line = String::new();
            writeln!(line, "{call}")?;
            self.reader.get_mut().write_all(line.as_bytes())?;
            line.clear();
            self.reader.read_line(&mut line)?;
            reply = serde_json::from_str(&line).context("the daemon's reply is not JSON")?;
            if reply["error"]["data"]["reason"] != "E_TIMEOUT" {
                break;
            }
        }
        if reply.get("error").is_some() {
            bail!("the daemon refused a {}: {reply}", hooked.event);
        }
        Ok(reply["result"]["answer"].clone())
    }
}
