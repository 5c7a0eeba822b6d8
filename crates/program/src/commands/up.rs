//! `rekindle up`: starts the daemon in the background and prints the next steps.

use std::ffi::OsString;
use std::time::Instant;

use clap::{Arg, ArgMatches, Command, value_parser};
use model::{OpError, limits};
use serde_json::{Value, json};

use crate::road;
use crate::world::World;

pub(super) fn command() -> Command {
    Command::new("up")
        .about("Start the daemon and show how to connect to it")
        .long_about(
            "Start the daemon in the background, if it does not run yet, and show its address, a link \
             that opens the web page once, how to connect an agent, and what to try next.",
        )
        .arg(
            Arg::new(cli::PORT)
                .short('p')
                .long("port")
                .value_name("PORT")
                .value_parser(value_parser!(u16))
                .help("First port to try if the daemon does not run; another one is used if it is taken"),
        )
}

pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    match up(world, matches.get_one::<u16>(cli::PORT).copied()) {
        Ok(result) => {
            let exit = world.out.result(&result, Some(&pretty));
            note_unwired(world);
            super::import::offer(world);
            exit
        }
        Err(error) => world.out.error(&error),
    }
}

/// Notes the agents on this machine that are not connected.
fn note_unwired(world: &mut World) {
    let unwired = super::agents::unwired();
    if !unwired.is_empty() && !world.out.json {
        let names = super::connecting::listed(&unwired);
        world
            .out
            .note(&format!("note: not connected: {names}; `rekindle install` connects agents"));
    }
}

fn up(world: &mut World, port: Option<u16>) -> Result<Value, OpError> {
    let until = Instant::now() + limits::FIND_PRIMARY;
    loop {
        match start(world, port)? {
            Some(result) => return Ok(result),
            // The daemon was stopped at the same time: start the next one.
            None if Instant::now() < until => {}
            None => {
                return Err(OpError::unavailable("the daemon stopped before it answered")
                    .hint("See `rekindle logs`."));
            }
        }
    }
}

/// Starts a daemon unless one runs, and describes it. `None` if the daemon stopped before it could be asked.
fn start(world: &mut World, port: Option<u16>) -> Result<Option<Value>, OpError> {
    let child = if road::reach(world)?.is_some() {
        None
    } else {
        let flags: Vec<OsString> =
            port.map(|port| format!("--port={port}").into()).into_iter().collect();
        Some(client::daemon::start_and_wait(&world.locations, world.db.as_deref(), &flags)?)
    };
    let Some((road, hello)) = road::connect(world)? else { return Ok(None) };
    let Ok(stays) = road.ask_to_stay() else { return Ok(None) };
    stays?;
    let Ok(link) = road.link() else { return Ok(None) };
    let link = link?;
    // Two concurrent commands both start a process, and one of these becomes the daemon.
    let started = child == Some(hello.pid);
    if !started {
        world.note_broken_settings();
    }
    if let Some(taken) = &hello.taken_port {
        world.out.note(&format!("note: {}", taken.note(hello.port)));
    }
    let address = hello.address;
    let exe = std::env::current_exe().unwrap_or_else(|_| "rekindle".into());
    Ok(Some(json!({
        "started": started,
        "pid": hello.pid,
        "port": hello.port,
        "address": address,
        "page": super::web::page(&address, &link),
        "mcp": format!("{address}/mcp"),
        "database": hello.db,
        "token_file": world.locations.token().to_string_lossy(),
        "command": exe.to_string_lossy(),
    })))
}

fn pretty(result: &Value) -> String {
    let text = |name: &str| result[name].as_str().unwrap_or_default().to_owned();
    let state = if result["started"] == json!(true) { "started" } else { "runs already" };
    let command = text("command");
    format!(
        "rekindle {state} (pid {pid})

  address   {address}
  page      {page}
            (opens once, within ten minutes; run `rekindle up` for another)
  database  {database}

Connect an agent
  in one step   {command} install
  any other     MCP over stdio: command \"{command}\", argument \"serve\"
  over HTTP     {mcp} with the header \"Authorization: Bearer TOKEN\"
                (the token is in {token})
  hooks         \"{command} hook EVENT\" with the event's JSON on stdin

Try next
  {command} hint set http-proxy build \"docker compose build router\"
  {command} hint get http-proxy build
  {command} get hint://http-proxy/build
  {command} status",
        pid = result["pid"],
        address = text("address"),
        page = text("page"),
        database = text("database"),
        mcp = text("mcp"),
        token = text("token_file"),
    )
}
