//! The result of a test run or a build, read from its output: a pipe hides the exit code, and some agents do
//! not report it.
//!
//! Every line is read once. A summary (`test result: FAILED`, `2 failed, 1 passed in 0.1s`) decides; a
//! single finding (`error[E0308]: …`, `FAILED tests/a.py::b`) counts only if no summary
//! contradicts it, because a passing run may print such a line. A wrong failure is worse than a missed
//! one, so lines must have the exact form of a known program, and only programs count that the line runs: a test
//! of pytest may print a summary of jest.

mod builds;
mod forms;
mod lines;
mod plain;
mod python;
mod runners;
mod scripts;
mod suites;

pub(super) use lines::Tally;
pub(super) use plain::failed as plain_failed;

use super::runs::{self, Run, RunKind};
use crate::shell::Simple;
use runners::Runners;

/// Whether a run passed, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    Failed,
    #[default]
    Unknown,
}

impl Verdict {
    pub(super) fn word(self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::Unknown => "unknown",
        }
    }
}

/// The result of a run according to its output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RunReport {
    pub(super) verdict: Verdict,
    pub(super) tally: Tally,
    /// The one test runner that printed a summary.
    pub(super) runner: Option<&'static str>,
}

/// Programs with similar verdicts share a family. Each family has one tally; a run reports that of one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Pytest,
    Unittest,
    /// A traceback of the interpreter.
    Python,
    Libtest,
    Nextest,
    /// cargo and rustc.
    Cargo,
    Jest,
    Vitest,
    Mocha,
    Ava,
    Tap,
    Playwright,
    /// An exception that node did not catch.
    Node,
    /// Package managers of JavaScript, tox and nox.
    Manager,
    /// eslint, tsc, mypy, ruff and other linters.
    Lint,
    Go,
    Examples,
    Maven,
    Gradle,
    Ctest,
    /// PHPUnit and Pest.
    Php,
    Dotnet,
    Docker,
    /// `swift test`, xcodebuild and xcbeautify.
    Swift,
    Zig,
    Bun,
    Deno,
    Bazel,
    /// sbt and ScalaTest.
    Sbt,
    /// Dart and Flutter.
    Dart,
    /// Elixir: ExUnit prints a summary for each app of an umbrella.
    Mix,
    Dbt,
    /// rebar3.
    Erlang,
    /// pre-commit.
    Hooks,
    /// make and other programs that run targets.
    Make,
    /// Vite, Next and Cypress.
    Scripts,
    Other,
    Compiler,
}

impl Family {
    /// The program whose summary this is, if runs of it are compared.
    fn runner(self) -> Option<&'static str> {
        use Family as F;
        Some(match self {
            F::Pytest => "pytest",
            F::Unittest => "unittest",
            F::Libtest | F::Nextest => "cargo",
            F::Jest => "jest",
            F::Vitest => "vitest",
            F::Mocha => "mocha",
            F::Go => "go",
            F::Maven => "mvn",
            F::Ctest => "ctest",
            F::Dotnet => "dotnet",
            F::Mix => "mix",
            _ => return None,
        })
    }

    /// Whether one run prints one summary. The others print one per module or project.
    fn has_one_summary(self) -> bool {
        use Family as F;
        matches!(
            self,
            F::Pytest
                | F::Unittest
                | F::Jest
                | F::Vitest
                | F::Mocha
                | F::Lint
                | F::Examples
                | F::Ctest
                | F::Php
        )
    }
}

/// The part of a verdict that holds the numbers.
const SUMMARY: &str = "summary";

/// The result that the output lines of one family report.
struct FamilyReport {
    family: Family,
    tally: Tally,
    /// Whether a line reported a failure that no later line takes back.
    is_red: bool,
    /// The parts of the verdict (`Tests:`, `BUILD`), and whether each reports a failure.
    parts: Vec<(&'static str, bool)>,
    is_green: bool,
    /// Whether there was a finding that, as a rule, only a failed run prints.
    finding: bool,
    /// The numbers of the last lines that reported a failure and a success.
    red_at: usize,
    green_at: usize,
}

impl FamilyReport {
    fn failed(&self) -> bool {
        self.is_red || self.parts.iter().any(|(_, red)| *red)
    }

    fn passed(&self) -> bool {
        self.is_green && !self.failed()
    }
}

/// The state of reading the output of a run.
struct Reading<'a> {
    kind: RunKind,
    program: &'a str,
    /// Whether the run is cmake that writes build files.
    is_configuring: bool,
    runners: Runners,
    reports: Vec<FamilyReport>,
    python: python::Unittest,
    tap: scripts::Tap,
    block: scripts::Block,
    bun: Tally,
    go: suites::GoLines,
    libtest: suites::Libtest,
    last: String,
    /// The number of the line that is read.
    at: usize,
}

/// Reads the output of a line with a run, which is the command at `place`. The output may be in several pieces.
pub(super) fn read(commands: &[Simple], place: usize, run: &Run<'_>, texts: &[&str]) -> RunReport {
    read_lines(commands, (place, run), texts, |_| true)
}

/// Reads the output as [`read`] does, but skips lines in which a program reports that its child process failed. If the
/// child was killed, such a line does not mean that a test failed.
pub(super) fn read_without_reports(
    commands: &[Simple],
    place: usize,
    run: &Run<'_>,
    texts: &[&str],
) -> RunReport {
    read_lines(commands, (place, run), texts, |line| !builds::reports_child(line))
}

fn read_lines(
    commands: &[Simple],
    (place, run): (usize, &Run<'_>),
    texts: &[&str],
    counts: impl Fn(&str) -> bool,
) -> RunReport {
    let mut reading = Reading {
        kind: run.kind,
        program: run.program,
        is_configuring: run.subcommand == Some(runs::CONFIGURE),
        runners: Runners::of(commands, place),
        reports: Vec::new(),
        python: python::Unittest::default(),
        tap: scripts::Tap::default(),
        block: scripts::Block::default(),
        bun: Tally::default(),
        go: suites::GoLines::default(),
        libtest: suites::Libtest::default(),
        last: String::new(),
        at: 0,
    };
    for text in texts {
        for line in lines::looked_at(text).into_iter().flat_map(lines::of) {
            let line = text::without_escapes(line);
            if counts(&line) {
                reading.line(&line);
            }
        }
    }
    reading.report()
}

impl Reading<'_> {
    fn line(&mut self, line: &str) {
        self.at += 1;
        let line = line.trim_end();
        if line.is_empty() {
            self.block.gap();
            return;
        }
        python::line(self, line);
        scripts::line(self, line);
        suites::line(self, line);
        builds::line(self, line);
        forms::line(self, line);
        self.last.clear();
        self.last.push_str(line);
    }

    fn said(&mut self, family: Family) -> &mut FamilyReport {
        let place = self.reports.iter().position(|report| report.family == family);
        let place = place.unwrap_or_else(|| {
            self.reports.push(FamilyReport {
                family,
                tally: Tally::default(),
                is_red: false,
                parts: Vec::new(),
                is_green: false,
                finding: false,
                red_at: 0,
                green_at: 0,
            });
            self.reports.len() - 1
        });
        &mut self.reports[place]
    }

    /// Notes a line that reports a failure.
    fn red(&mut self, family: Family, is_it: bool) {
        if is_it {
            let at = self.at;
            let said = self.said(family);
            (said.is_red, said.red_at) = (true, at);
        }
    }

    /// Notes a line that reports a success.
    fn green(&mut self, family: Family, is_it: bool) {
        if is_it {
            let at = self.at;
            let said = self.said(family);
            (said.is_green, said.green_at) = (true, at);
        }
    }

    /// Notes a finding.
    fn finding(&mut self, family: Family, is_it: bool) {
        if is_it {
            self.said(family).finding = true;
        }
    }

    /// Notes a part of a verdict that reports a failure or a success.
    fn part(&mut self, family: Family, part: &'static str, red: bool) {
        self.part_if_red(family, part, red);
        self.green(family, !red);
    }

    /// Notes a part of a verdict whose success proves nothing. In the output of a single run it replaces the part
    /// before, which a test has printed.
    fn part_if_red(&mut self, family: Family, part: &'static str, red: bool) {
        let (at, replaces) = (self.at, self.runners.is_single);
        let said = self.said(family);
        if red {
            said.red_at = at;
        }
        match said.parts.iter_mut().find(|(known, _)| *known == part) {
            Some((_, known)) => *known = red || *known && !replaces,
            None => said.parts.push((part, red)),
        }
    }

    /// Drops the numbers of an earlier summary if a run has only one summary, or if they are of an earlier attempt.
    fn restart(&mut self, family: Family) {
        let is_only = self.runners.is_single && family.has_one_summary();
        let repeats = self.runners.repeats;
        let said = self.said(family);
        if is_only {
            said.parts.retain(|(part, _)| *part != SUMMARY);
        }
        if is_only || repeats && (family.has_one_summary() || said.tally.is_red()) {
            said.tally = Tally::default();
        }
    }

    /// Adds a summary with these numbers.
    fn summary(&mut self, family: Family, tally: Tally) {
        self.restart(family);
        self.add(family, tally);
        match tally.is_red() {
            true if family.has_one_summary() => self.part_if_red(family, SUMMARY, true),
            true => self.red(family, true),
            false => {
                let counted = [tally.passed, tally.skipped];
                let any = counted.into_iter().flatten().any(|count| count > 0);
                self.green(family, any);
            }
        }
    }

    fn add(&mut self, family: Family, tally: Tally) {
        self.said(family).tally.add(tally);
    }

    fn report(mut self) -> RunReport {
        python::end(&mut self);
        scripts::end(&mut self);
        suites::end(&mut self);
        let Reading { mut reports, runners, .. } = self;
        reports.retain(|report| runners.counts(report.family));
        let verdict = verdict(&reports, &runners);
        // If one runner runs another (`make test` runs pytest), the first summary is that of the inner one.
        // Compiler errors count only if no tests were counted.
        let contradicts = |tally: Tally| verdict == Verdict::Passed && tally.is_red();
        let mut tallies =
            reports.iter().filter(|report| !report.tally.is_empty() && !contradicts(report.tally));
        let tests = tallies.clone().find(|report| report.family != Family::Compiler);
        let tally = tests.or_else(|| tallies.next()).map(|report| report.tally);
        let mut runners: Vec<&str> = (reports.iter())
            .filter(|report| !report.tally.is_empty() || report.is_green)
            .filter_map(|report| report.family.runner())
            .collect();
        runners.dedup();
        let runner = match *runners.as_slice() {
            [runner] => Some(runner),
            _ => None,
        };
        RunReport { verdict, tally: tally.unwrap_or_default(), runner }
    }
}

/// The verdict of the families that count.
fn verdict(reports: &[FamilyReport], runners: &Runners) -> Verdict {
    let red = reports.iter().filter(|said| said.failed()).map(|said| said.red_at).max();
    let green = reports.iter().filter(|said| said.passed()).map(|said| said.green_at).max();
    // `cargo test; git stash pop; cargo test`, `until npm test; do …`: the last of equal runs says how things are now.
    let last_green = reports.iter().filter(|said| said.is_green).map(|said| said.green_at).max();
    if runners.repeats && red.is_some() && last_green > red {
        return Verdict::Passed;
    }
    match (red, green) {
        (None, None) if reports.iter().any(|said| said.finding) => Verdict::Failed,
        (None, None) => Verdict::Unknown,
        (Some(_), None) => Verdict::Failed,
        (None, Some(_)) => Verdict::Passed,
        (Some(red), Some(green)) => {
            let announced = |said: &FamilyReport| said.failed() && runners.announces(said.family);
            match () {
                () if !runners.runs_others || reports.iter().any(announced) => Verdict::Failed,
                // The runners inside disagree: a test of one has printed the verdict of another, or one of several
                // runs failed. A failure ends the script, and make reports it.
                () if red > green && !runners.reports_failures => Verdict::Failed,
                () if red < green && runners.reports_failures => Verdict::Passed,
                () => Verdict::Unknown,
            }
        }
    }
}

#[cfg(test)]
mod corpus;
