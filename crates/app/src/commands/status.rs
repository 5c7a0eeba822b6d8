//! `rekindle status`: what runs, where, and when the last event came.

use clap::{ArgMatches, Command};
use model::{CallId, OpError, Request};
use serde_json::{Value, json};

use crate::road;
use crate::world::World;

pub(super) fn command() -> Command {
    Command::new("status").about("Say whether the daemon runs, and where")
}

pub(super) fn run(world: &mut World, _: &[String], _: &ArgMatches) -> u8 {
    world.note_broken_settings();
    match status(world) {
        Ok(status) => world.out.result(&status, Some(&pretty)),
        Err(error) => world.out.error(&error),
    }
}

fn status(world: &mut World) -> Result<Value, OpError> {
    let Some((road, hello)) = road::connect(world)? else {
        return Ok(
            json!({ "running": false, "database": world.locations.database.to_string_lossy() }),
        );
    };
    if world.build.is_newer_than(&hello.build) {
        world.out.note(
            "note: the daemon is older than this command; `rekindle stop` lets the next one be new",
        );
    }
    let request = Request {
        call: CallId([0; 16]),
        op: "status".into(),
        params: Value::Null,
        caller: super::person(),
    };
    road.call(&request, model::limits::OP_DEADLINE)
        .unwrap_or_else(|_| Err(OpError::unavailable("the daemon left meanwhile")))
}

fn pretty(status: &Value) -> String {
    if status["running"] != json!(true) {
        return format!(
            "not running\ndatabase: {}",
            status["database"].as_str().unwrap_or_default()
        );
    }
    let text = |name: &str| match &status[name] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let last = match &status["last_event"] {
        Value::Null => "none yet".to_owned(),
        event => format!(
            "{} at {}",
            event["name"].as_str().unwrap_or_default(),
            event["at"].as_str().unwrap_or_default()
        ),
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
        format!("since:      {} ({} s)", text("started"), text("uptime_seconds")),
        format!(
            "clients:    {} connections, {} agent sessions",
            text("connections"),
            text("sessions")
        ),
        format!("store:      {} hook events, {} session hints", text("events"), text("held")),
        format!("last event: {last}"),
    ];
    if status["spooled"] != json!(0) {
        lines.push(format!("spool:      {} events wait", text("spooled")));
    }
    let notices = status["notices"].as_array().into_iter().flatten();
    lines.extend(notices.filter_map(Value::as_str).map(|notice| format!("repaired:   {notice}")));
    let notes = status["notes"].as_array().into_iter().flatten();
    lines.extend(notes.filter_map(Value::as_str).map(|note| format!("note:       {note}")));
    lines.join("\n")
}
