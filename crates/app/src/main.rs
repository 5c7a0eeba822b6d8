//! The leaf: looks at the first argument and picks hook or command line; lists the plugins.

mod commands;
mod kit;
mod road;
mod world;

use std::process::ExitCode;

fn main() -> ExitCode {
    // The hook comes first: it is one process per agent event, and must not pay for the rest.
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|arg| arg == "hook")
        && let Some(event) = args.next()
        && let Some(event) = event.to_str().filter(|event| !event.starts_with('-'))
    {
        hook::run(event);
        return ExitCode::SUCCESS;
    }
    ExitCode::from(commands::run(std::env::args_os().collect()))
}
