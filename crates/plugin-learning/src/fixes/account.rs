//! The account of a failure: its error, the run that fixed it, and the work in between, read from the records.

use agents::{is_read_only, shell};
use contract::OpError;
use model::observation::{ObsType, Observation};
use model::{limits, run, time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::failures::{self, Failure};
use store::{Rx, observations};

/// A failure with its fix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct KnownFailure {
    /// `fix://ID`.
    pub(crate) path: String,
    /// The command that failed last.
    pub(crate) command: String,
    /// The most informative line of its output.
    pub(crate) error: String,
    /// How many times it was seen.
    pub(crate) seen: u64,
    /// RFC 3339, UTC.
    pub(crate) first_at: String,
    pub(crate) last_at: String,
    /// The newest run of the same kind that passed after it with another command or after some work, else the newest that
    /// passed; none if no run did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fix: Option<FailureFix>,
}

/// The run that passed after a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FailureFix {
    /// The command that passed.
    pub(crate) command: String,
    /// Its record.
    pub(crate) id: i64,
    /// RFC 3339, UTC.
    pub(crate) at: String,
    /// Whether the command that passed is the one that failed: then the fix is the work in between.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) same_command: bool,
    /// Whether the command that passed only lacks options of the one that failed.
    #[serde(skip)]
    lacks_options: bool,
    /// Files that were changed between the failure and the fix, the last ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) files: Vec<String>,
    /// Commands that ran between them, the last ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) commands: Vec<String>,
    /// Further files and commands.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) more: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl KnownFailure {
    /// Reads the records of a failure; none if they are gone. Paths below `root` are shown relative to it. `line` is the
    /// command that failed now, if one did.
    pub(crate) fn read(
        rx: &Rx<'_>,
        failure: &Failure,
        root: Option<&str>,
        line: Option<&str>,
    ) -> Result<Option<KnownFailure>, OpError> {
        let Some(last) = observations::one(rx, failure.last)? else { return Ok(None) };
        let mut fix: Option<FailureFix> = None;
        // A run that passed although nothing was done must not hide the work that helped before.
        for (failed, passed) in &failure.fixes {
            let Some(found) = FailureFix::read(rx, *failed, *passed, root)? else { continue };
            if found.says_something(line) {
                fix = Some(found);
                break;
            }
            fix = fix.or(Some(found));
        }
        let error = last.error().map(text::telling::finding).unwrap_or_default();
        Ok(Some(KnownFailure {
            path: path(failure.id),
            command: one_line(&last.content),
            error: text::line_of_words(error, limits::RED_FINDING_CHARS),
            seen: failure.seen,
            first_at: time::rfc3339(failure.first_at),
            last_at: time::rfc3339(failure.last_at),
            fix,
        }))
    }
}

impl KnownFailure {
    /// Whether the most informative line of the output has these words.
    pub(crate) fn has(&self, part: &str) -> bool {
        self.error.to_lowercase().contains(part)
    }
}

impl FailureFix {
    fn read(
        rx: &Rx<'_>,
        failed: i64,
        passed: i64,
        root: Option<&str>,
    ) -> Result<Option<FailureFix>, OpError> {
        let (Some(before), Some(fix)) =
            (observations::one(rx, failed)?, observations::one(rx, passed)?)
        else {
            return Ok(None);
        };
        let work = failures::between(rx, failed, passed)?;
        let (files, files_more) = changed_files(&work, root);
        let (commands, commands_more) = commands(&work);
        Ok(Some(FailureFix {
            command: one_line(&fix.content),
            id: fix.id,
            at: time::rfc3339(fix.at_ms),
            same_command: normal(&before.content) == normal(&fix.content),
            lacks_options: lacks_options(&fix.content, &before.content),
            files,
            commands,
            more: files_more + commands_more,
        }))
    }

    /// Whether the fix names a step: work in between, or a command other than the one that failed then and the one that
    /// failed now. A run that passes without `-x` is hardly another command.
    fn says_something(&self, line: Option<&str>) -> bool {
        let is_same =
            self.lacks_options || line.is_some_and(|line| lacks_options(&self.command, line));
        !is_same || !self.in_between().is_empty()
    }

    /// Whether the command that passed is this line.
    pub(crate) fn is_of_line(&self, line: &str) -> bool {
        normal(line) == normal(&self.command)
    }

    /// The files and commands between failure and fix as a phrase: ``changed src/a.rs; ran `npm ci` ``. Empty if there
    /// are none.
    pub(crate) fn in_between(&self) -> String {
        let mut parts = Vec::new();
        if !self.files.is_empty() {
            parts.push(format!("changed {}", self.files.join(", ")));
        }
        if !self.commands.is_empty() {
            let commands: Vec<String> =
                self.commands.iter().map(|line| format!("`{line}`")).collect();
            parts.push(format!("ran {}", commands.join(", ")));
        }
        if self.more > 0 {
            parts.push(format!("{} more", self.more));
        }
        parts.join("; ")
    }
}

/// The entry of a failure.
pub(crate) fn path(id: i64) -> String {
    format!("{}://{id}", failures::SCHEME)
}

fn one_line(command: &str) -> String {
    text::line_of_words(command, limits::FIX_COMMAND_CHARS)
}

/// A command line with single spaces.
fn normal(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of a command line that decide what it does: without `cd`, redirections, programs that only show its output,
/// and options that only change what is printed.
fn deciding_words(line: &str) -> Vec<String> {
    const SHOWING: &[&str] =
        &["cd", "tail", "head", "tee", "cat", "less", "grep", "rg", "echo", "set"];
    const PRINTING: &[&str] = &[
        "-v",
        "-vv",
        "-vvv",
        "-q",
        "-qq",
        "-s",
        "--verbose",
        "--quiet",
        "--nocapture",
        "--no-capture",
        "--no-fail-fast",
        "--no-header",
        "--no-summary",
        "--bail",
        "-x",
        "--",
        "-i",
        "--runInBand",
    ];
    let is_printing = |word: &&String| {
        let shows = ["--tb=", "--color", "--reporter", "--durations", "--maxfail="];
        PRINTING.contains(&word.as_str()) || shows.iter().any(|option| word.starts_with(option))
    };
    let of_command = |command: shell::Simple| {
        let args: Vec<String> =
            command.args.iter().filter(|word| !is_printing(word)).cloned().collect();
        std::iter::once(command.program).chain(args)
    };
    let commands = shell::commands(line).into_iter();
    let deciding = commands.filter(|command| !SHOWING.contains(&command.program.as_str()));
    deciding.flat_map(of_command).collect()
}

/// Whether a command line is another one without some of its options and their values, or has the same effect.
fn lacks_options(line: &str, other: &str) -> bool {
    let (line, other) = (deciding_words(line), deciding_words(other));
    let mut left = line.iter().peekable();
    let mut is_dropped = false;
    for word in &other {
        if left.next_if_eq(&word).is_some() {
            is_dropped = false;
            continue;
        }
        // The word behind an option may be its value.
        let is_option = word.starts_with('-');
        if !is_option && !is_dropped {
            return false;
        }
        is_dropped = is_option;
    }
    left.next().is_none()
}

/// The files that these records changed, each once, the last ones; and the number of others.
fn changed_files(work: &[Observation], root: Option<&str>) -> (Vec<String>, usize) {
    let is_change = |seen: &&Observation| {
        matches!(seen.obs_type.kind(), ObsType::FileEdit | ObsType::FileWrite) && !seen.failed()
    };
    let shown = |path: &str| {
        let inside = root.and_then(|root| path.strip_prefix(root)?.strip_prefix('/'));
        text::one_line(inside.unwrap_or(path), limits::FIX_COMMAND_CHARS)
    };
    let paths = work.iter().filter(is_change).filter_map(|seen| seen.file_path.as_deref());
    last_ones(paths.map(shown))
}

/// The commands of these records that may have changed something and worked, each once, the last ones; and the number
/// of others. Runs of tests and builds are none of them.
fn commands(work: &[Observation]) -> (Vec<String>, usize) {
    let acts = |seen: &&Observation| {
        seen.obs_type.kind() == ObsType::Command
            && !seen.failed()
            && run::result(seen).is_none()
            && !is_read_only(&seen.content)
    };
    last_ones(work.iter().filter(acts).map(|seen| one_line(&seen.content)))
}

fn last_ones(all: impl DoubleEndedIterator<Item = String>) -> (Vec<String>, usize) {
    let mut last: Vec<String> = Vec::new();
    let mut others: Vec<String> = Vec::new();
    for one in all.rev() {
        if last.contains(&one) || others.contains(&one) {
            continue;
        }
        match last.len() < limits::BETWEEN_SHOWN {
            true => last.push(one),
            false => others.push(one),
        }
    }
    last.reverse();
    (last, others.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_without_an_option_of_another_is_hardly_another_one() {
        for (line, other, lacks) in [
            ("pytest a.py", "pytest a.py", true),
            ("pytest a.py", "pytest  a.py -x", true),
            ("pytest a.py", "pytest -x --maxfail 1 a.py", true),
            ("cargo test cart", "cargo test cart -- --nocapture", true),
            ("pytest a.py -x", "pytest a.py", true),
            ("pytest a.py", "pytest b.py -x", false),
            ("pytest", "pytest a.py", false),
            ("npm ci", "npm test", false),
            // The output is shown in another way.
            ("cargo test 2>&1 | tail -20", "cargo test", true),
            ("cd api && cargo test > log.txt", "cargo test", true),
            ("cargo test -- --nocapture", "cargo test", true),
            ("cargo test --all-features", "cargo test", false),
            ("pytest tests/a.py -v --tb=short", "pytest tests/a.py", true),
            ("pytest tests/b.py", "pytest tests/a.py | tail", false),
        ] {
            assert_eq!(lacks_options(line, other), lacks, "{line} / {other}");
        }
    }
}
