//! The leaf: looks at the first argument and picks hook or command line; lists the plugins.

mod commands;
mod kit;
mod road;
mod world;

use std::process::ExitCode;

fn main() -> ExitCode {
    // The hook comes first: it is one process per agent event, and must not pay for the rest.
    let mut args = std::env::args_os().skip(1);
    let is_hook = args.next().is_some_and(|arg| arg == "hook");
    if is_hook
        && let Some(event) = args.next()
        && let Some(event) = event.to_str().filter(|event| !event.starts_with('-'))
    {
        hook::run(event, None);
        return ExitCode::SUCCESS;
    }
    // An agent takes what a hook prints on stdout for an answer, so a hook's mistakes go to stderr.
    let argv = std::env::args_os().filter(|arg| !is_hook || arg != "--json");
    let exit = commands::run(argv.collect());
    // To an agent the code of a wrong usage means that it has to stop what it is doing.
    if is_hook { ExitCode::SUCCESS } else { ExitCode::from(exit) }
}
