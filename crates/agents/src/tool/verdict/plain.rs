//! Failures of commands that are neither tests nor builds, for lines whose exit code is hidden or not reported.
//! Only a few messages count: those that only a failing program prints, and only if that program was run.

use super::lines;
use super::python::names_exception;
use crate::shell::Simple;

/// Prefixes of the messages with which a shell reports that it cannot run a command.
const SHELLS: &[&str] = &["bash: ", "sh: ", "zsh: ", "/bin/sh: ", "/bin/bash: ", "/usr/bin/bash: "];

/// Git commands that print file contents or messages.
const GIT_SHOWS: &[&str] = &["show", "log", "diff", "grep", "blame", "cat-file", "archive"];

/// Whether these commands failed according to their output.
pub(crate) fn failed(commands: &[Simple], texts: &[&str]) -> bool {
    let shown: Vec<_> = texts.iter().flat_map(|text| lines::looked_at(text)).collect();
    let all = || {
        let lines = shown.iter().flat_map(|text| lines::of(text)).map(text::without_escapes);
        lines.filter(|line| !line.trim().is_empty())
    };
    let last = all().last();
    let last = last.as_deref().unwrap_or_default().trim_end();
    let Some(only) = only_program(commands) else { return not_found(commands, last) };
    match only.program.as_str() {
        "python" | "python3" | "py" => ends_with_traceback(all()),
        "cargo" if only.args.first().is_some_and(|arg| arg == "run" || arg == "r") => {
            let main =
                |line: &str| line.starts_with("thread 'main' ") && line.contains(" panicked at ");
            all().any(|line| main(&line))
        }
        "node" => last.starts_with("Node.js v") && !last.contains(' '),
        "go" if only.args.first().is_some_and(|arg| arg == "run") => {
            last.starts_with("exit status ")
        }
        // The contents that some git commands print may begin with `fatal: ` too.
        "git" if !only.git_command().is_some_and(|command| GIT_SHOWS.contains(&command)) => {
            let first = all().next();
            let ends = [first.as_deref().unwrap_or_default(), last];
            ends.iter().any(|line| line.starts_with("fatal: "))
        }
        _ => not_found(commands, last),
    }
}

/// The only command of a line that prints something itself: the others are set-up (`cd`) or filters (`tail`).
fn only_program(commands: &[Simple]) -> Option<&Simple> {
    const SILENT: &[&str] = &["cd", "pushd", "export", "set", "source", ".", "mkdir", "sleep"];
    const FILTERS: &[&str] = &["tail", "head", "tee", "cat"];
    let mut only = None;
    let mut is_piped = false;
    for command in commands {
        let name = command.program.as_str();
        let filters = is_piped && FILTERS.contains(&name);
        if !filters && !SILENT.contains(&name) && only.replace(command).is_some() {
            return None;
        }
        is_piped = command.hidden;
    }
    only
}

/// `bash: line 1: nosuch: command not found`, for one of the programs in the line.
fn not_found(commands: &[Simple], last: &str) -> bool {
    let by_shell = SHELLS.iter().any(|shell| last.starts_with(shell));
    let missing =
        last.strip_suffix(": command not found").or_else(|| last.strip_suffix(": not found"));
    let program = missing.and_then(|rest| rest.rsplit(": ").next());
    by_shell
        && program.is_some_and(|name| {
            commands.iter().any(|command| name.rsplit('/').next() == Some(&command.program))
        })
}

/// Whether the output ends with a Python traceback.
fn ends_with_traceback<'a>(lines: impl Iterator<Item = std::borrow::Cow<'a, str>>) -> bool {
    let (mut open, mut ended) = (false, false);
    for line in lines {
        let line = line.trim_end();
        match () {
            () if line == "Traceback (most recent call last):" => (open, ended) = (true, false),
            () if open && line.starts_with(' ') => {}
            () if open => (open, ended) = (false, names_exception(line)),
            () => ended = false,
        }
    }
    ended
}
