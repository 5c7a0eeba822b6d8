//! `rekindle serve`: the daemon, for one MCP client on stdio, in the foreground or in the background.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use contract::{Config, ConfigKey, ConfigKind};
use model::{Code, OpError};
use serde_json::json;
use server::lock::Lock;
use server::platform::{self, EndSignals};
use server::primary::{DaemonMode, DaemonOptions, Primary};
use server::stdio::{Beside, Stdio};

use crate::road;
use crate::world::{self, World};

pub(super) fn command() -> Command {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    Command::new("serve")
        .about("Serve an MCP client on stdio, or run the daemon")
        .long_about(
            "Serve one MCP client on stdin and stdout.\n\n\
             The first `serve` becomes PRIMARY and also answers HTTP and the socket; the others \
             forward to it, and one of them takes over when it exits. With --http or --daemon there \
             is no client on stdio, and the daemon runs until it is stopped.",
        )
        .arg(flag("http", "Run in the foreground without a client on stdio").conflicts_with("daemon"))
        .arg(flag("daemon", "Run in the background until stopped"))
        .arg(Arg::new("host").long("host").value_name("ADDRESS").value_parser(loopback).help("Loopback address to listen at [default: 127.0.0.1]"))
        .arg(
            Arg::new(cli::PORT)
                .short('p')
                .long("port")
                .value_name("PORT")
                .value_parser(value_parser!(u16))
                .help("First port to try; if it is taken, the next free one is used [default: 8765]"),
        )
        .arg(flag("strict-port", "Fail when the port is taken instead of trying the next"))
        .arg(flag("no-auth", "Answer HTTP requests without a token; Host and Origin are still checked"))
        .arg(Arg::new("tools").long("tools").value_name("LIST").help("Toolsets the agent sees: core, all, or groups separated by commas"))
        .arg(flag("child", "The background process itself").hide(true))
        .arg(flag("on-demand", "Stop when it is not needed").hide(true))
        .after_help("Examples:\n  rekindle serve                 for an agent's MCP configuration\n  rekindle serve --daemon\n  rekindle serve --http --port 9000")
}

/// Adds a flag to `serve` for each setting that has an environment variable; it applies to the daemon that the
/// process becomes. Other commands are not changed.
pub(super) fn with_settings(mut command: Command, keys: &[ConfigKey]) -> Command {
    if command.get_name() != "serve" {
        return command;
    }
    for key in keys {
        let Some(flag) = flag_of(key) else { continue };
        // Port and tools have their own flags with more options.
        if command.get_arguments().any(|arg| arg.get_long() == Some(flag.as_str())) {
            continue;
        }
        let arg = Arg::new(key.key).long(flag).help_heading("Settings of this server");
        let checked = *key;
        command = command.arg(match key.kind {
            ConfigKind::Boolean if is_on(key) => {
                arg.action(ArgAction::SetTrue).help(format!("Turn {} off. {}", key.key, key.doc))
            }
            ConfigKind::Boolean => arg.action(ArgAction::SetTrue).help(key.doc),
            kind => arg.value_name(kind.word().to_uppercase()).help(key.doc).value_parser(
                move |text: &str| Config::default().set(&checked, text).map(|()| text.to_owned()),
            ),
        });
    }
    command
}

/// The flag of a setting's variable: `REKINDLE_MAX_HINTS` is `--max-hints`, and a setting that is on by default is
/// `--no-…`.
fn flag_of(key: &ConfigKey) -> Option<String> {
    let name = key.env.iter().find_map(|name| name.strip_prefix("REKINDLE_"))?;
    let no = if is_on(key) { "no-" } else { "" };
    Some(format!("{no}{}", name.to_lowercase().replace('_', "-")))
}

fn is_on(key: &ConfigKey) -> bool {
    key.kind == ConfigKind::Boolean && key.default == "true"
}

/// The settings given on the line.
fn settings(keys: &[ConfigKey], matches: &ArgMatches) -> Vec<(ConfigKey, String)> {
    let given = keys.iter().filter_map(|key| {
        let value = match key.kind {
            ConfigKind::Boolean => {
                let flag = matches.try_get_one::<bool>(key.key).ok().flatten();
                flag.filter(|given| **given).map(|_| (!is_on(key)).to_string())
            }
            _ => matches.try_get_one::<String>(key.key).ok().flatten().cloned(),
        };
        Some((*key, value?))
    });
    given.collect()
}

fn loopback(text: &str) -> Result<IpAddr, String> {
    let address =
        if text == "localhost" { Ok(IpAddr::V4(Ipv4Addr::LOCALHOST)) } else { text.parse() };
    match address {
        Ok(address) if address.is_loopback() => Ok(address),
        _ => Err("only loopback addresses are served, such as 127.0.0.1 or ::1".to_owned()),
    }
}

pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    world.settings = settings(world.table.config_keys(), matches);
    let done = if matches.get_flag("child") || matches.get_flag("http") {
        foreground(world, matches)
    } else if matches.get_flag("daemon") {
        background(world, matches)
    } else {
        stdio(world, matches)
    };
    match done {
        Ok(()) => 0,
        // An unknown toolset is a usage error, on the line and in the environment.
        Err(error)
            if error
                .details
                .get("param")
                .is_some_and(|param| param == "tools" || param == "REKINDLE_TOOLS") =>
        {
            world.out.usage(&error)
        }
        Err(error) => world.out.error(&error),
    }
}

fn options(
    world: &World,
    matches: &ArgMatches,
    mode: DaemonMode,
) -> Result<DaemonOptions, OpError> {
    let config = world.config()?;
    let flag = matches.get_one::<u16>(cli::PORT).copied();
    let configured = u16::try_from(config.integer("daemon.port"));
    Ok(DaemonOptions {
        mode,
        host: matches.get_one::<IpAddr>("host").copied().unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        port: flag.unwrap_or(configured.unwrap_or(model::limits::PORT_DEFAULT)),
        strict_port: matches.get_flag("strict-port"),
        no_auth: matches.get_flag("no-auth"),
        build: world.build.clone(),
        pid_files: ["REKINDLE_PID_FILE", "CLAMS_PID_FILE"]
            .iter()
            .find_map(std::env::var_os)
            .map(PathBuf::from)
            .into_iter()
            .collect(),
    })
}

pub(super) fn tokio_runtime() -> Result<tokio::runtime::Runtime, OpError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| OpError::unavailable(format!("no threads for the daemon: {error}")))
}

fn tools(world: &World, matches: &ArgMatches) -> Result<String, OpError> {
    let configured = world.config()?.text("mcp.tools").to_owned();
    let tools = matches.get_one::<String>("tools").cloned().unwrap_or(configured);
    world.table.toolset(&tools)?;
    Ok(tools)
}

fn stdio(world: &mut World, matches: &ArgMatches) -> Result<(), OpError> {
    let locations = world.locations.clone();
    let config = world.config()?;
    let (beside, settings) = (locations.clone(), config.clone());
    let stdio = Stdio {
        locations: locations.clone(),
        options: options(world, matches, DaemonMode::Stdio)?,
        tools: tools(world, matches)?,
        session: std::env::var("CLAUDE_CODE_SESSION_ID").ok().filter(|id| !id.is_empty()),
        asked_to_leave: false,
        open: move || {
            let runtime = world::open(&locations, config.clone(), false)?;
            log_panics(&runtime);
            super::import::start_following(&runtime);
            Ok(runtime)
        },
        open_read_only: move || world::look(&beside, settings.clone()),
        beside: Beside::default(),
    };
    let tokio = tokio_runtime()?;
    let done = tokio.block_on(stdio.run());
    // A thread may still block on stdin, which is never closed.
    tokio.shutdown_background();
    done
}

fn foreground(world: &mut World, matches: &ArgMatches) -> Result<(), OpError> {
    let child = matches.get_flag("child");
    let mode = match (child, matches.get_flag("on-demand")) {
        (false, _) => DaemonMode::Http,
        (true, false) => DaemonMode::Daemon,
        (true, true) => DaemonMode::OnDemand,
    };
    if child {
        platform::detach();
        // The daemon's working directory must not keep a directory from being deleted.
        let _ = std::env::set_current_dir("/");
    }
    tools(world, matches)?;
    let options = options(world, matches, mode)?;
    let Some(lock) = wait_for_lock(world)? else {
        return if child { Ok(()) } else { say_where(world) };
    };
    let tokio = tokio_runtime()?;
    let done = tokio.block_on(async {
        let mut signals = EndSignals::listen()
            .map_err(|error| OpError::internal(format!("no signal handlers: {error}")))?;
        let runtime = world.open(false)?;
        log_panics(&runtime);
        super::import::start_following(&runtime);
        let primary = Primary::start(lock, runtime, options).await?;
        if !child {
            let serving = json!({ "address": primary.address(), "pid": std::process::id() });
            world.out.result(&serving, Some(&|_| format!("serving at {}", primary.address())));
            if let Some(note) = primary.taken_port_note() {
                world.out.note(&format!("note: {note}"));
            }
        }
        primary.run_to_end(&mut signals).await;
        Ok(())
    });
    tokio.shutdown_background();
    done
}

/// The lock, or `None` if a daemon holds it. Waits for a one-shot command, which holds it only
/// briefly.
fn wait_for_lock(world: &World) -> Result<Option<Lock>, OpError> {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
    loop {
        if let Some(lock) = Lock::try_take(&world.locations)? {
            return Ok(Some(lock));
        }
        if road::connect(world)?.is_some() {
            return Ok(None);
        }
        if std::time::Instant::now() >= until {
            return Err(OpError::new(
                Code::Unavailable,
                "another process holds the daemon's lock but does not answer",
            )
            .hint("See `rekindle doctor`."));
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

fn background(world: &mut World, matches: &ArgMatches) -> Result<(), OpError> {
    tools(world, matches)?;
    if road::reach(world)?.is_none() {
        let flags = flags(world, matches);
        client::daemon::start_and_wait(&world.locations, world.db.as_deref(), &flags)?;
    }
    say_where(world)
}

/// The flags to pass to the background process.
fn flags(world: &World, matches: &ArgMatches) -> Vec<OsString> {
    let mut flags: Vec<OsString> = Vec::new();
    for (key, value) in &world.settings {
        let Some(flag) = flag_of(key) else { continue };
        flags.push(match key.kind {
            ConfigKind::Boolean => format!("--{flag}").into(),
            _ => format!("--{flag}={value}").into(),
        });
    }
    for name in ["strict-port", "no-auth"] {
        if matches.get_flag(name) {
            flags.push(format!("--{name}").into());
        }
    }
    if let Some(port) = matches.get_one::<u16>(cli::PORT) {
        flags.push(format!("--port={port}").into());
    }
    if let Some(host) = matches.get_one::<IpAddr>("host") {
        flags.push(format!("--host={host}").into());
    }
    flags
}

fn say_where(world: &mut World) -> Result<(), OpError> {
    let gone = || {
        OpError::unavailable("the daemon stopped before it answered").hint("See `rekindle logs`.")
    };
    let (road, hello) = road::connect(world)?.ok_or_else(gone)?;
    // A daemon that a hook had started would stop when idle; `serve --daemon` makes it stay.
    road.ask_to_stay().map_err(|_| gone())??;
    let serving = json!({ "address": hello.address, "pid": hello.pid });
    let line = format!("serving at {} (pid {})", hello.address, hello.pid);
    world.out.result(&serving, Some(&|_| line.clone()));
    if let Some(taken) = &hello.taken_port {
        world.out.note(&format!("note: {}", taken.note(hello.port)));
    }
    Ok(())
}

/// Logs the location of a panic but not its message, which may contain a user's text.
fn log_panics(runtime: &runtime::Runtime) {
    let runtime = runtime.clone();
    std::panic::set_hook(Box::new(move |info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        runtime.log().error("panic", format_args!("at {place}"));
    }));
}
