//! Runs that did not end by themselves: a signal killed them, their time was up, or the runner says that it was interrupted.
//! They prove nothing about the tests that did not run, unless a failure was seen before.

use super::outcome::Outcome;
use super::verdict::{Tally, Verdict};
use crate::shell::Simple;

/// Exit codes of a command that SIGINT, SIGKILL, SIGPIPE or SIGTERM ended, as shells and as other programs report them, and
/// of a command that `timeout` or Codex stopped.
const KILLED: [i64; 8] = [124, 130, 137, 141, 143, -2, -9, -15];

/// Beginnings of the line, in lower case, with which a host says that it stopped the command.
const STOPPED_BY_HOST: &[&str] = &[
    "command timed out after ",
    "(command timed out after ",
    "bash tool terminated command after exceeding timeout",
    "user aborted the command",
    "[request interrupted by user",
];
/// How many lines at the beginning and at the end of an output may be the host's own.
const HOST_LINES: usize = 4;

/// Beginnings of the line with which a runner says that it was interrupted.
const INTERRUPTED: &[&str] = &[
    "Cancelling test run. Press CTRL+c again to exit forcefully",
    "RSpec is shutting down and will print the summary report",
    "Bazel caught interrupt signal",
    "ERROR: build interrupted",
    "ERROR: got KeyboardInterrupt signal",
    // Another program killed the processes that make waits for.
    "make: *** wait: No child processes",
    "Gradle build daemon disappeared unexpectedly",
    "Build cancelled while executing task ",
];
/// Lines with which go reports that a signal ended a test binary.
const GO_SIGNALS: [&str; 3] = ["signal: interrupt", "signal: killed", "signal: terminated"];
/// Beginnings of lines with which a program reports how a script or a target ended.
const REPORTING: &[&str] = &[
    "npm error ",
    "npm ERR! ",
    "error Command failed",
    "ELIFECYCLE",
    "error: script ",
    "make",
    "gmake",
    // Gradle: `> Process 'Gradle Test Executor 1' finished with non-zero exit value 143`.
    "> Process '",
];
/// How a line of [`REPORTING`] ends if a signal killed the script or target.
const ENDED_BY_SIGNAL: &[&str] = &[
    "signal SIGINT",
    "signal SIGTERM",
    "signal SIGKILL",
    "signal \"SIGINT\"",
    "signal \"SIGTERM\"",
    "signal \"SIGKILL\"",
    "code 130",
    "code 137",
    "code 143",
    "Error 130",
    "Error 137",
    "Error 143",
    "value 130",
    "value 137",
    "value 143",
    "] Interrupt",
    "] Killed",
    "] Terminated",
];
/// Lines at the end of an output that are searched for the interruption. Only the numbers so far follow it.
const LAST_LINES: usize = 200;

/// Whether the run, the first of these commands, was cut off. `printed` is the run's exit code, if the line prints it.
/// `read` has its numbers, and its verdict without the lines in which other programs only report that it failed.
pub(super) fn is_cut_off(
    commands: &[Simple],
    outcome: &Outcome<'_>,
    printed: Option<i64>,
    (tally, without_reports): (Tally, impl FnOnce() -> Verdict),
) -> bool {
    let Some((run, rest)) = commands.split_first() else { return false };
    let code = printed.or(outcome.exit_code);
    let is_success = code == Some(0) || outcome.succeeded;
    if is_success && (run.decides || printed.is_some()) {
        return false;
    }
    let is_killed = code.is_some_and(|code| KILLED.contains(&code));
    let is_stopped = || code.is_none() && !is_success && is_stopped_by_host(outcome);
    let killed_files = killed_files(outcome);
    let is_told = killed_files > 0 || says_interrupted(outcome);
    let is_torn = || run.decides && is_torn(run, outcome);
    if !(is_told || is_killed || is_stopped() || is_torn()) {
        return false;
    }
    let failures: u64 = [tally.failed, tally.errors].into_iter().flatten().sum();
    if failures > 0 {
        return failures == killed_files;
    }
    match without_reports() {
        Verdict::Failed => false,
        Verdict::Unknown => true,
        // In `cargo test && sleep 600` the run had passed.
        Verdict::Passed => is_told || run.decides && !rest.iter().any(|command| command.decides),
    }
}

/// The number of test files that `node --test` counts as failed because their process was killed.
fn killed_files(outcome: &Outcome<'_>) -> u64 {
    let of = |text: &&str| {
        let lines = || text.lines().map(str::trim);
        lines().zip(lines().skip(1)).filter(|(line, next)| is_killed_file(line, next)).count()
    };
    outcome.texts.iter().map(|text| of(text) as u64).sum()
}

/// `exitCode: ~` and `signal: 'SIGTERM'`, behind the name of the file.
fn is_killed_file(line: &str, next: &str) -> bool {
    const SIGNALS: [&str; 3] = ["signal: 'SIGINT'", "signal: 'SIGKILL'", "signal: 'SIGTERM'"];
    line == "exitCode: ~" && SIGNALS.contains(&next)
}

/// Whether the output is the beginning of a report by `node --test`: without the plan, which is its last line but for totals.
/// A signal ends `node --test` with exit code 1.
fn is_torn(run: &Simple, outcome: &Outcome<'_>) -> bool {
    let is_node = |text: &&str| text.lines().any(|line| line == "TAP version 13");
    let is_plan = |line: &str| line.starts_with("1..");
    !run.hidden
        && outcome.texts.iter().any(is_node)
        && !outcome.texts.iter().any(|text| text.lines().any(is_plan))
}

fn is_stopped_by_host(outcome: &Outcome<'_>) -> bool {
    let begins = |line: &str| {
        let line = line.trim_start().to_ascii_lowercase();
        STOPPED_BY_HOST.iter().any(|start| line.starts_with(start))
    };
    outcome.texts.iter().any(|text| {
        let lines = || text.lines().filter(|line| !line.trim().is_empty());
        lines().take(HOST_LINES).any(begins) || lines().rev().take(HOST_LINES).any(begins)
    })
}

fn says_interrupted(outcome: &Outcome<'_>) -> bool {
    outcome.texts.iter().any(|text| {
        let mut lines = text.lines().rev().filter(|line| !line.trim().is_empty());
        // A traceback of an interpreter that nothing caught.
        let is_end = |line: &str| text::without_escapes(line).trim() == "KeyboardInterrupt";
        lines.clone().next().is_some_and(is_end)
            || lines
                .by_ref()
                .take(LAST_LINES)
                .any(|line| is_interruption(&text::without_escapes(line)))
    })
}

fn is_interruption(line: &str) -> bool {
    let line = line.trim();
    // `!!!!!!!!!! KeyboardInterrupt !!!!!!!!!!` of pytest.
    if line.starts_with('!') && line.trim_matches('!').trim() == "KeyboardInterrupt" {
        return true;
    }
    // `Canceling due to interrupt: 2 tests still running` of nextest.
    let cancelled = ["Canceling due to ", "Cancelling due to "];
    if cancelled.iter().find_map(|start| line.strip_prefix(start)).is_some_and(|why| {
        ["interrupt", "signal", "termination signal"].iter().any(|signal| why.starts_with(signal))
    }) {
        return true;
    }
    if GO_SIGNALS.contains(&line) {
        return true;
    }
    // `process didn't exit successfully: `…` (signal: 15, SIGTERM: termination signal)` of cargo.
    let signals = ["(signal: 2, SIGINT", "(signal: 15, SIGTERM", "(signal: 9, SIGKILL"];
    if line.contains("process didn't exit successfully: ")
        && signals.iter().any(|signal| line.contains(signal))
    {
        return true;
    }
    let bare = line.trim_end_matches('.');
    INTERRUPTED.iter().any(|start| line.starts_with(start))
        || REPORTING.iter().any(|start| line.starts_with(start))
            && ENDED_BY_SIGNAL.iter().any(|end| bare.ends_with(end))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{containers, outcome, runs, verdict};
    use super::*;
    use crate::json::Json;

    fn is_cut(line: &str, code: Option<i64>, output: &str) -> bool {
        let commands = containers::commands(line);
        let (place, run) = runs::of(&commands).unwrap();
        let response = json!({ "exit_code": code, "stdout": output });
        let json = Json::from(&response);
        let outcome = outcome::of_failure(None, Some(&json), false);
        let tally = verdict::read(&commands, place, &run, &outcome.texts).tally;
        let without_reports =
            || verdict::read_without_reports(&commands, place, &run, &outcome.texts).verdict;
        is_cut_off(&commands[place..], &outcome, None, (tally, without_reports))
    }

    /// @capture_run
    #[test]
    fn a_run_that_was_killed_or_interrupted_is_cut_off() {
        let pytest = "collected 9 items\n\ntests/a.py ...\n\n!!!!!!!! KeyboardInterrupt !!!!!!!!\n/usr/lib/python3/time.py:1: KeyboardInterrupt\n(to show a full traceback on KeyboardInterrupt use --full-trace)\n======== 3 passed in 0.50s ========";
        for (line, code, output) in [
            ("pytest", Some(143), "Command timed out after 2m 0.0s\ntests/a.py .."),
            ("pytest", None, "Command timed out after 2m 0.0s"),
            (
                "cargo test",
                Some(124),
                "command timed out after 10000 milliseconds\nrunning 3 tests",
            ),
            ("timeout 60 pytest -q", Some(124), "...."),
            ("pytest", Some(130), "tests/a.py .."),
            ("pytest", Some(137), "tests/a.py .."),
            ("cargo build", Some(143), "   Compiling shop v0.1.0"),
            ("pytest", Some(143), "==== 3 passed in 0.50s ===="),
            ("pytest", Some(2), pytest),
            ("pytest | tail -4", None, pytest),
            (
                "python -m unittest",
                Some(1),
                "..Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nKeyboardInterrupt\n",
            ),
            (
                "cargo nextest run",
                Some(100),
                "        PASS [ 0.1s] shop a\n  Canceling due to interrupt: 1 test still running\n     Summary [ 0.5s] 1/3 tests run: 1 passed, 0 skipped",
            ),
            (
                "cargo test",
                Some(101),
                "error: test failed, to rerun pass `--lib`\n\nCaused by:\n  process didn't exit successfully: `/t/shop-1` (signal: 15, SIGTERM: termination signal)",
            ),
            (
                "npm test",
                Some(1),
                "> shop@1.0.0 test\n> jest\n\nnpm error path /srv/shop\nnpm error command failed\nnpm error signal SIGTERM\n",
            ),
            ("yarn test", Some(1), "$ jest\nerror Command failed with signal \"SIGTERM\"."),
            ("make test", Some(2), "pytest\nmake: *** [Makefile:2: test] Terminated"),
            ("make test", Some(2), "pytest\nmake: *** [Makefile:2: test] Error 130"),
        ] {
            assert!(is_cut(line, code, output), "{line}: {code:?} {output}");
        }
        for (line, code, output) in [
            ("pytest", Some(1), "tests/a.py .F [100%]"),
            ("pytest", Some(143), "tests/a.py .F [100%]\n==== 1 failed, 1 passed in 9s ===="),
            ("pytest", Some(1), "E   TimeoutError: Command timed out after 2m\n1 failed in 3s"),
            (
                "pytest",
                Some(2),
                "!!!! Interrupted: 1 error during collection !!!!\n1 error in 0.1s",
            ),
            ("pytest -x", Some(1), "!!!! stopping after 1 failures !!!!\n1 failed in 0.1s"),
            (
                "cargo test && sleep 600",
                Some(143),
                "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
            ),
            (
                "cargo test",
                Some(101),
                "process didn't exit successfully: `/t/shop-1` (signal: 11, SIGSEGV: invalid memory reference)",
            ),
            ("make test", Some(2), "make: *** [Makefile:2: test] Error 1"),
            ("npm test", Some(1), "npm error code 1"),
        ] {
            assert!(!is_cut(line, code, output), "{line}: {code:?} {output}");
        }
    }
}
