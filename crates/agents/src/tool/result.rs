//! The result of a command line, from its exit code and its output together.

use model::observation::ObsType;
use serde_json::{Map, Value};

use super::git::{self, GitReport};
use super::outcome::Outcome;
use super::runs::Run;
use super::verdict::{self, RunReport, Tally, Verdict};
use super::{Draft, begin, cut_off, no_tests, run, runs};
use crate::guard;
use crate::shell::Simple;

/// Adds `metadata.run` to a test run or a build, and marks a line as failed if its output says so.
pub(super) fn settle(draft: &mut Draft, outcome: &mut Outcome<'_>) {
    let mut is_open = outcome.interrupted || outcome.background;
    let is_commit = |command: &Simple| command.is_git("commit");
    let commit = (draft.obs_type == ObsType::GitCommit
        && git::committed(&draft.commands, &outcome.texts) == GitReport::Done)
        .then(|| draft.commands.iter().rposition(is_commit))
        .flatten();
    let mut is_red_behind = false;
    if let Some((place, run)) = runs::of(&draft.commands) {
        if is_left_running(&draft.commands, place) {
            is_open = true;
            draft.metadata.insert("background".into(), true.into());
        }
        let printed = printed_exit(&draft.commands, place, &outcome.texts);
        let report = verdict::read(&draft.commands, place, &run, &outcome.texts);
        let commands = &draft.commands[place..];
        let without_reports =
            || verdict::read_without_reports(&draft.commands, place, &run, &outcome.texts).verdict;
        let read = (report.tally, without_reports);
        if !is_open && cut_off::is_cut_off(commands, outcome, printed, read) {
            (outcome.interrupted, is_open) = (true, true);
        }
        let read = (printed, report);
        let ended = ended(&draft.commands, (place, &run), commit, (outcome, is_open), read);
        let is_red = ended["result"] == Verdict::Failed.word();
        // If the program ran before and after the commit, the failure counts as that of its last run, after the commit.
        let is_again = |command: &Simple| {
            runs::of_command(command).is_some_and(|other| other.program == run.program)
        };
        let last = draft.commands.iter().rposition(is_again);
        is_red_behind = is_red && commit.is_some() && last > commit;
        draft.metadata.insert("run".into(), ended);
        // A pipe hides the exit code of a red run: `pytest | tail -5 && git commit …` goes on and makes the commit.
        outcome.failed |= is_red && (commit.is_none() || is_red_behind);
    } else if outcome.failed && outcome.exit_code == Some(1) && says_no(&draft.commands, outcome) {
        outcome.failed = false;
    } else if !outcome.failed && !is_open && !is_settled(&draft.commands, outcome) {
        outcome.failed = verdict::plain_failed(&draft.commands, &outcome.texts);
    }
    let goes_on = draft.commands.last().is_some_and(|last| !last.is_git("commit"));
    if is_red_behind {
        draft.has_commit = true;
    } else if commit.is_some() && goes_on {
        keep_commit(draft, outcome);
    } else if !outcome.failed && outcome.answered {
        settle_git(draft, outcome, is_open);
    }
    let is_plain = matches!(draft.obs_type, ObsType::Command | ObsType::Github);
    if is_plain && !outcome.failed && !is_open && proves_nothing(draft, outcome) {
        let unknown = || described(Verdict::Unknown, false, Tally::default());
        draft.metadata.entry("run").or_insert_with(unknown);
    }
}

/// The value of `metadata.run` for the run at this place of the line. `commit` is the place of a commit that was made.
fn ended(
    commands: &[Simple],
    (place, run): (usize, &Run<'_>),
    commit: Option<usize>,
    (outcome, is_open): (&Outcome<'_>, bool),
    (printed, report): (Option<i64>, RunReport),
) -> Value {
    let texts = &outcome.texts;
    let own_exit = commands[place].decides || printed.is_some();
    let first = commit.filter(|commit| *commit < place).map_or(0, |commit| commit + 1);
    let result = match () {
        // The run was interrupted or is still running.
        () if is_open => Verdict::Unknown,
        () if begin::never_began(&commands[first..=place], run, outcome, report) => {
            Verdict::Unknown
        }
        () => result(&commands[place..], outcome, printed, report.verdict),
    };
    let ran_none =
        !is_open && no_tests::ran_none(&commands[place], run, result, report.tally, texts);
    let shown = if ran_none { Verdict::Unknown } else { result };
    let mut ended = described(shown, own_exit, report.tally);
    if ran_none {
        ended[model::run::NO_TESTS] = true.into();
    }
    // `make test` does not name the runner, but its output does.
    if let Some(runner) = report.runner.filter(|_| model::run::is_script(run.program)) {
        ended[model::run::RUNNER] = runner.into();
    }
    ended
}

/// Whether the success of a command that is neither failed nor a run is unknown: it printed only a help text, or its exit
/// code is hidden or missing and its output has an error.
fn proves_nothing(draft: &Draft, outcome: &Outcome<'_>) -> bool {
    let has_error = || {
        let texts = outcome.texts.iter().map(|text| guard::looked_at(text));
        texts
            .flat_map(str::lines)
            .any(|line| text::telling::is_telling(&text::without_escapes(line)))
    };
    draft.commands.iter().any(runs::only_talks)
        || !is_settled(&draft.commands, outcome)
            && has_error()
            && !super::is_read_only(&draft.content)
}

/// Keeps a commit that was made, although a later command failed: `git commit … && git push` with a push that was
/// rejected. The error is stored with the commit.
fn keep_commit(draft: &mut Draft, outcome: &mut Outcome<'_>) {
    let pushes = draft.commands.iter().any(|command| command.is_git("push"));
    let push = pushes.then(|| git::pushed(&draft.commands, &outcome.texts));
    if outcome.failed || push == Some(GitReport::Failed) {
        outcome.failed = false;
        draft.add_error(outcome);
    } else if push == Some(GitReport::Done) {
        git::add(ObsType::GitPush, &outcome.texts, &mut draft.metadata);
    }
}

/// Whether the line starts the run in the background and does not wait for its end: a later `cat log` shows a part of
/// its output.
fn is_left_running(commands: &[Simple], run: usize) -> bool {
    let waits = |command: &Simple| command.program == "wait";
    commands[run].background && !commands.iter().skip(run + 1).any(waits)
}

/// Whether exit code 1 is an answer of the command that decides it: nothing was found, or the files differ.
fn says_no(commands: &[Simple], outcome: &Outcome<'_>) -> bool {
    const SEARCHES: [&str; 13] = [
        "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "pgrep", "which", "diff", "cmp",
        "test", "[",
    ];
    // In `cd src && grep x y` the directory may be missing; the shell says so.
    if outcome.texts.iter().any(|text| text.contains("cd: ")) {
        return false;
    }
    let deciding = || commands.iter().filter(|command| command.decides && command.program != "cd");
    let answers = |command: &Simple| {
        let searches = command.is_git("grep") || command.is_git("diff");
        searches || SEARCHES.contains(&command.program.as_str())
    };
    deciding().next().is_some() && deciding().all(answers)
}

/// Whether the exit code proves that every command succeeded.
fn is_settled(commands: &[Simple], outcome: &Outcome<'_>) -> bool {
    outcome.succeeded && commands.iter().all(|command| command.decides)
}

/// The result of the run, which is the first of these commands.
fn result(
    commands: &[Simple],
    outcome: &Outcome<'_>,
    printed: Option<i64>,
    said: Verdict,
) -> Verdict {
    let Some((run, rest)) = commands.split_first() else { return said };
    let own = |is_success: bool| if is_success { Verdict::Passed } else { Verdict::Failed };
    if let Some(code) = printed {
        return own(code == 0);
    }
    if !run.decides || !(outcome.succeeded || outcome.failed) {
        return said;
    }
    // In `cargo test && git push` the push may have failed.
    let others = outcome.failed && rest.iter().any(|command| command.decides);
    match said {
        Verdict::Passed if others => Verdict::Passed,
        _ => own(outcome.succeeded),
    }
}

/// `{"result": "failed", "own_exit": false, "passed": 3, "failed": 1}`.
fn described(result: Verdict, own_exit: bool, tally: Tally) -> Value {
    let mut run = Map::new();
    run.insert("result".into(), result.word().into());
    run.insert("own_exit".into(), own_exit.into());
    let counts = [
        ("passed", tally.passed),
        ("failed", tally.failed),
        ("skipped", tally.skipped),
        ("errors", tally.errors),
    ];
    for (member, count) in counts {
        if let Some(count) = count {
            run.insert(member.into(), count.into());
        }
    }
    Value::Object(run)
}

/// The exit code of a run whose line prints it: `cargo test > log; echo "exit: $?"`.
fn printed_exit(commands: &[Simple], run: usize, texts: &[&str]) -> Option<i64> {
    const LAST: &str = "$?";
    const FIRST_OF_PIPE: &str = "${PIPESTATUS[0]}";
    let mut behind = commands.iter().skip(run + 1).enumerate();
    let (words, mark) = behind.find_map(|(distance, command)| {
        let words = (command.program == "echo").then(|| command.args.join(" "))?;
        let of_pipe = words.contains(FIRST_OF_PIPE).then_some(FIRST_OF_PIPE);
        let of_last = (distance == 0 && words.contains(LAST)).then_some(LAST);
        Some((words, of_pipe.or(of_last)?))
    })?;
    let (before, after) = words.split_once(mark)?;
    let before = before.trim_start_matches("-n ").trim_start_matches("-e ").trim_start();
    let code = |line: &str| {
        let code = line.trim().strip_prefix(before.trim())?.strip_suffix(after.trim())?;
        code.trim().parse::<i64>().ok().filter(|code| (0..256).contains(code))
    };
    texts.iter().rev().find_map(|text| text.lines().rev().find_map(code))
}

/// Turns a commit or push that did not happen into a plain command with an unknown result. A commit or push
/// that was interrupted or continues in the background counts only if git reported it.
fn settle_git(draft: &mut Draft, outcome: &mut Outcome<'_>, is_open: bool) {
    let mut rest = draft.commands.clone();
    // A line that did not push may still have made a commit.
    loop {
        let (word, report) = match draft.obs_type {
            ObsType::GitCommit => ("commit", git::committed(&draft.commands, &outcome.texts)),
            ObsType::GitPush => ("push", git::pushed(&draft.commands, &outcome.texts)),
            _ => return,
        };
        let last = draft.commands.iter().rfind(|command| command.is_git(word));
        let own_exit = last.is_some_and(|command| command.decides);
        let is_unheard = last.is_some_and(|command| git::is_unheard(command, word));
        let is_denied = word == "commit" && git::denied_commit(&draft.commands, &outcome.texts);
        let is_settled = outcome.succeeded && own_exit && !is_open && !is_denied;
        match report {
            GitReport::Done => return,
            // Nothing in the output contradicts the exit code: an error before a quiet commit did not stop it.
            GitReport::Unheard | GitReport::Unclear if is_settled => return,
            GitReport::Failed if is_settled && is_unheard => return,
            GitReport::Unheard if !is_open => return,
            GitReport::Failed => {
                outcome.failed = true;
                return;
            }
            // A reported exit code of 0 and an output without the commit contradict each other.
            GitReport::Refused if !is_open && outcome.exit_code != Some(0) => {
                outcome.failed = true;
                return;
            }
            _ => {
                rest.retain(|command| !command.is_git(word));
                draft.obs_type = run::obs_type(&rest);
                git::forget(&mut draft.metadata);
                // The result is unknown, so that the line does not count as the run that fixed an earlier failure.
                let unknown = || described(Verdict::Unknown, own_exit, Tally::default());
                draft.metadata.entry("run").or_insert_with(unknown);
            }
        }
    }
}
