//! The program: dispatches to the hook or to the command line by the first argument.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    // The hook is checked first: it runs once per agent event, so it must not load the rest.
    let mut args = std::env::args_os().skip(1);
    let first = args.next();
    let is_first = |name: &str| first.as_ref().is_some_and(|first| first == name);
    if is_first("hook")
        && let Some((event, agent)) = plain_event(args)
    {
        program::hook::take(&event, agent.as_deref(), None, Default::default());
        return ExitCode::SUCCESS;
    }
    if is_first("statusline") && is_plain_status_line(std::env::args_os().skip(2)) {
        program::statusline::print(None);
        return ExitCode::SUCCESS;
    }
    let word = command_word(std::env::args_os().skip(1));
    let is_word = |name: &str| word.as_ref().is_some_and(|word| word == name);
    let is_record = is_word("record");
    if is_word("hook") || is_word("statusline") {
        // An agent reads a hook's stdout as its answer, so errors are not printed there.
        program::hook::run_line(std::env::args_os().filter(|arg| arg != "--json").collect());
        return ExitCode::SUCCESS;
    }
    // An agent would treat the exit code of a usage error as a reason to stop its work.
    match program::run(std::env::args_os().collect()) {
        cli::EXIT_USAGE if is_record => ExitCode::FAILURE,
        exit => ExitCode::from(exit),
    }
}

/// The command, which may follow global options.
fn command_word(mut args: impl Iterator<Item = OsString>) -> Option<OsString> {
    loop {
        let arg = args.next()?;
        if ["--db", "--port", "-p"].iter().any(|option| arg == *option) {
            args.next()?;
        } else if !arg.as_encoded_bytes().starts_with(b"-") {
            return Some(arg);
        }
    }
}

/// Whether a command line is just `[--agent AGENT]`.
fn is_plain_status_line(args: impl Iterator<Item = OsString>) -> bool {
    let args: Vec<OsString> = args.collect();
    match args.as_slice() {
        [] => true,
        [flag, _] => flag == "--agent",
        _ => false,
    }
}

/// The event and the agent of a command line that is just `EVENT [--agent AGENT]`.
fn plain_event(mut args: impl Iterator<Item = OsString>) -> Option<(String, Option<String>)> {
    let event = args.next()?.into_string().ok().filter(|event| !event.starts_with('-'))?;
    let agent = match args.next() {
        None => return Some((event, None)),
        Some(flag) if flag == "--agent" => args.next()?.into_string().ok()?,
        Some(_) => return None,
    };
    args.next().is_none().then_some((event, Some(agent)))
}
