//! `rekindle status`: the running daemon, its address, and the time of the last event.

use std::collections::BTreeMap;

use clap::{ArgMatches, Command};
use model::{CallId, OpError, Request, Road as _};
use serde::Deserialize;
use serde_json::{Value, json};
use server::lock::Lock;

use crate::road;
use crate::world::World;

pub(super) fn command() -> Command {
    Command::new("status").about("Show whether the daemon runs, and where")
}

pub(super) fn run(world: &mut World, _: &[String], _: &ArgMatches) -> u8 {
    world.note_broken_settings();
    match status(world) {
        Ok(status) => world.out.result(&status, Some(&pretty)),
        Err(error) => world.out.error(&error),
    }
}

fn status(world: &mut World) -> Result<Value, OpError> {
    let Some((road, hello)) = road::reach(world)? else {
        runtime::check_database(&world.locations)?;
        let database = world.locations.database.to_string_lossy();
        return Ok(of_the_store(world)
            .unwrap_or_else(|| json!({ "running": false, "database": database })));
    };
    if world.build.is_newer_than(&hello.build) {
        world.out.note(
            "note: the daemon is older than this command; run `rekindle stop`; the next daemon is of the new build",
        );
    }
    road.call(&request(), model::limits::OP_DEADLINE)
        .unwrap_or_else(|_| Err(OpError::unavailable("the daemon stopped meanwhile")))
}

fn request() -> Request {
    Request {
        call: CallId([0; 16]),
        op: "status".into(),
        params: Value::Null,
        caller: crate::calls::person(),
    }
}

/// The status from the store itself if no daemon runs. `None` if the store is missing or cannot be opened, which
/// `doctor` explains.
fn of_the_store(world: &World) -> Option<Value> {
    if !world.locations.database.exists() {
        return None;
    }
    let _lock = Lock::try_take(&world.locations).ok()??;
    let runtime = world.open(true).ok()?;
    let reply = runtime.call(request());
    runtime.close();
    reply.ok()
}

/// The members of a status that people see. A daemon of another version may lack some.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ShownStatus {
    running: bool,
    database: String,
    pid: u32,
    mode: String,
    version: String,
    address: String,
    port: u16,
    /// RFC 3339, UTC.
    started: String,
    uptime_seconds: u64,
    connections: u64,
    sessions: u64,
    events: u64,
    held: u64,
    last_event: Option<ShownEvent>,
    spooled: u64,
    plugins: BTreeMap<String, String>,
    notices: Vec<String>,
    notes: Vec<String>,
}

#[derive(Deserialize)]
struct ShownEvent {
    name: String,
    /// RFC 3339, UTC.
    at: String,
}

impl ShownStatus {
    /// Further notes, with or without a daemon.
    fn remarks(&self) -> Vec<String> {
        let line = |title: &str, text: &String| format!("{title:<12}{text}");
        let plugins = self.plugins.iter().map(|(title, text)| line(&format!("{title}:"), text));
        let notices = self.notices.iter().map(|text| line("repaired:", text));
        let notes = self.notes.iter().map(|text| line("note:", text));
        plugins.chain(notices).chain(notes).collect()
    }

    fn text(&self) -> String {
        if !self.running {
            let mut lines = vec!["not running".to_owned(), format!("database: {}", self.database)];
            lines.extend(self.remarks());
            return lines.join("\n");
        }
        let last = match &self.last_event {
            None => "none yet".to_owned(),
            Some(ShownEvent { name, at }) => {
                let now = client::clock::now_ms();
                format!("{name}, {}", local(at, |at| zone::shown_with_age(at, now)))
            }
        };
        let ShownStatus { pid, mode, version, address, port, database, .. } = self;
        let mut lines = vec![
            format!("running:    pid {pid}, {mode} mode, version {version}"),
            format!("address:    {address} (port {port})"),
            format!("database:   {database}"),
            format!(
                "since:      {} ({})",
                local(&self.started, |at| zone::shown(at.div_euclid(1000))),
                lasting(self.uptime_seconds)
            ),
            format!(
                "clients:    {}, {}",
                text::counted(self.connections, "connection"),
                text::counted(self.sessions, "agent session")
            ),
            format!(
                "store:      {}, {}",
                text::counted(self.events, "hook event"),
                text::counted(self.held, "session hint")
            ),
            format!("last event: {last}"),
        ];
        if self.spooled > 0 {
            lines.push(format!(
                "spool:      {} not stored yet",
                text::counted(self.spooled, "event")
            ));
        }
        lines.extend(self.remarks());
        lines.join("\n")
    }
}

fn pretty(status: &Value) -> String {
    // A result that cannot be read is shown as it is.
    ShownStatus::deserialize(status).map_or_else(|_| status.to_string(), |shown| shown.text())
}

/// An RFC 3339 time as people read it.
fn local(at: &str, shown: impl Fn(i64) -> String) -> String {
    model::time::parse_rfc3339(at).map_or_else(|| at.to_owned(), shown)
}

/// A number of seconds in the two largest units: `45 s`, `3 min 20 s`, `2 h 5 min`, `4 d 7 h`.
fn lasting(seconds: u64) -> String {
    let (whole, unit, rest, smaller) = match seconds {
        0..60 => return format!("{seconds} s"),
        60..3_600 => (seconds / 60, "min", seconds % 60, "s"),
        3_600..86_400 => (seconds / 3_600, "h", seconds % 3_600 / 60, "min"),
        _ => (seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    };
    if rest == 0 { format!("{whole} {unit}") } else { format!("{whole} {unit} {rest} {smaller}") }
}
