//! Lines that failed before their run began: the directory is missing, an earlier command failed, or the shell did not find
//! the runner. They prove nothing about the tests.

use super::outcome::Outcome;
use super::runs::{self, Run};
use super::verdict::{RunReport, Verdict};
use crate::shell::Simple;

/// Exit codes of a shell that cannot run a program: no permission, not found.
const NOT_RUN: [i64; 2] = [126, 127];

/// Commands that practically never fail.
const HARMLESS: &[&str] =
    &["export", "set", "unset", "echo", "printf", "true", ":", "sleep", "ulimit", "alias", "date"];

/// Commands that rarely fail, and then print an error that begins with their name.
const NAMED: &[&str] = &["cd", "pushd", "popd", "source", ".", "mkdir", "rm", "cp", "mv", "touch"];

/// Programs that install packages and also run scripts.
const MANAGERS: &[&str] = &["npm", "pnpm", "yarn", "bun"];

/// Whether the line failed before its run, the last of these commands, began: neither the output nor the exit code can
/// be those of the run.
pub(super) fn never_began(
    commands: &[Simple],
    run: &Run<'_>,
    outcome: &Outcome<'_>,
    report: RunReport,
) -> bool {
    let Some((own, before)) = commands.split_last() else { return false };
    if !outcome.failed || !own.decides {
        return false;
    }
    let counts_tests = report.tally.passed.is_some() || report.tally.failed.is_some();
    if !counts_tests && report.verdict == Verdict::Failed && follows_own_lint(before, run) {
        return true;
    }
    if !report.tally.is_empty() {
        return false;
    }
    if outcome.exit_code.is_some_and(|code| NOT_RUN.contains(&code)) {
        return true;
    }
    let mut deciding = before.iter().filter(|command| command.decides);
    match report.verdict {
        Verdict::Unknown => deciding.any(|command| may_have_failed(command, outcome)),
        // `npm ci` reports its failure in the form of `npm test`.
        Verdict::Failed if MANAGERS.contains(&run.program) => {
            deciding.any(|command| command.program == run.program)
                && !lines(outcome).any(|line| names_script(line, run))
        }
        _ => false,
    }
}

/// Whether a linter of the run's own program may fail the line before the run: `cargo clippy -- -D warnings && cargo
/// test`. Both report errors of the compiler.
fn follows_own_lint(before: &[Simple], run: &Run<'_>) -> bool {
    let mut deciding = before.iter().filter(|command| command.decides);
    !run.is_lint()
        && deciding.any(|command| command.program == run.program && runs::is_lint(command))
}

fn lines<'a>(outcome: &'a Outcome<'_>) -> impl Iterator<Item = &'a str> {
    outcome.texts.iter().flat_map(|text| crate::guard::looked_at(text).lines())
}

/// `> shop@1.0.0 test` of npm and pnpm, `$ jest` of yarn and bun.
fn names_script(line: &str, run: &Run<'_>) -> bool {
    line.starts_with("$ ")
        || line.starts_with("> ") && line.split_whitespace().nth(2) == run.subcommand
}

fn may_have_failed(command: &Simple, outcome: &Outcome<'_>) -> bool {
    const MISSING: &[&str] = &["no such file", "not a directory", "not found", "denied", "cannot "];
    let name = command.program.as_str();
    if HARMLESS.contains(&name) {
        return false;
    }
    if !NAMED.contains(&name) {
        return true;
    }
    let file = command.words().next().unwrap_or_default();
    // `bash: line 1: cd: web: No such file or directory`, `(eval):source:1: no such file or directory: .venv/bin/activate`.
    let is_named = |line: &str| {
        let marks = [format!("{name}: "), format!("{name}:1: ")];
        marks.iter().any(|mark| line.contains(mark.as_str()))
            || !file.is_empty() && line.contains(file)
    };
    lines(outcome).any(|line| {
        let lower = line.to_lowercase();
        is_named(line) && MISSING.iter().any(|what| lower.contains(what))
    })
}
