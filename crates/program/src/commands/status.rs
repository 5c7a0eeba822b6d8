//! `rekindle status`: the running daemon, its address, and the time of the last event.

use clap::{ArgMatches, Command};
use model::{CallId, OpError, Request, Road as _};
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

/// Further notes for people, with or without a daemon.
fn remarks(status: &Value) -> Vec<String> {
    let each = |name: &str, title: &str| -> Vec<String> {
        let texts = status[name].as_array().into_iter().flatten().filter_map(Value::as_str);
        texts.map(|text| format!("{title:<12}{text}")).collect()
    };
    let plugins = status["plugins"].as_object().into_iter().flatten();
    let plugins = plugins.filter_map(|(title, text)| {
        let title = format!("{title}:");
        text.as_str().map(|text| format!("{title:<12}{text}"))
    });
    [plugins.collect(), each("notices", "repaired:"), each("notes", "note:")].concat()
}

fn pretty(status: &Value) -> String {
    if status["running"] != json!(true) {
        let database = status["database"].as_str().unwrap_or_default();
        let mut lines = vec!["not running".to_owned(), format!("database: {database}")];
        lines.extend(remarks(status));
        return lines.join("\n");
    }
    let text = |name: &str| match &status[name] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let counted = |name: &str, noun: &str| text::counted(&status[name], noun);
    let last = match &status["last_event"] {
        Value::Null => "none yet".to_owned(),
        event => {
            let now = client::clock::now_ms();
            let at = local(&event["at"], |at| zone::shown_with_age(at, now));
            format!("{}, {at}", event["name"].as_str().unwrap_or_default())
        }
    };
    let mut lines = vec![
        format!(
            "running:    pid {}, {} mode, version {}",
            text("pid"),
            text("mode"),
            text("version")
        ),
        format!("address:    {} (port {})", text("address"), text("port")),
        format!("database:   {}", text("database")),
        format!(
            "since:      {} ({})",
            local(&status["started"], |at| zone::shown(at.div_euclid(1000))),
            lasting(&status["uptime_seconds"])
        ),
        format!(
            "clients:    {}, {}",
            counted("connections", "connection"),
            counted("sessions", "agent session")
        ),
        format!(
            "store:      {}, {}",
            counted("events", "hook event"),
            counted("held", "session hint")
        ),
        format!("last event: {last}"),
    ];
    if status["spooled"] != json!(0) {
        lines.push(format!("spool:      {} not stored yet", counted("spooled", "event")));
    }
    lines.extend(remarks(status));
    lines.join("\n")
}

/// An RFC 3339 time as people read it.
fn local(at: &Value, shown: impl Fn(i64) -> String) -> String {
    let text = at.as_str().unwrap_or_default();
    model::time::parse_rfc3339(text).map_or_else(|| text.to_owned(), shown)
}

/// A number of seconds in the two largest units: `45 s`, `3 min 20 s`, `2 h 5 min`, `4 d 7 h`.
fn lasting(seconds: &Value) -> String {
    let seconds = seconds.as_u64().unwrap_or_default();
    let (whole, unit, rest, smaller) = match seconds {
        0..60 => return format!("{seconds} s"),
        60..3_600 => (seconds / 60, "min", seconds % 60, "s"),
        3_600..86_400 => (seconds / 3_600, "h", seconds % 3_600 / 60, "min"),
        _ => (seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    };
    if rest == 0 { format!("{whole} {unit}") } else { format!("{whole} {unit} {rest} {smaller}") }
}
