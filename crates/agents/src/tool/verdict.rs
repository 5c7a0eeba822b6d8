//! The result of a test run or a build, read from its output: a pipe hides the exit code, and some agents do
//! not report it.
//!
//! Every line is read once. A summary (`test result: FAILED`, `2 failed, 1 passed in 0.1s`) decides; a
//! single finding (`error[E0308]: …`, `FAILED tests/a.py::b`) counts only if no summary
//! contradicts it, because a passing run may print such a line. A wrong failure is worse than a missed
//! one, so lines must have the exact form of a known program.

mod builds;
mod lines;
mod plain;
mod python;
mod scripts;
mod suites;

pub(super) use plain::failed as plain_failed;

use super::runs::Kind;

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

/// The numbers that a run printed; those that it did not print are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) passed: Option<u64>,
    pub(super) failed: Option<u64>,
    pub(super) skipped: Option<u64>,
    pub(super) errors: Option<u64>,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        let pairs = [
            (&mut self.passed, other.passed),
            (&mut self.failed, other.failed),
            (&mut self.skipped, other.skipped),
            (&mut self.errors, other.errors),
        ];
        for (sum, more) in pairs {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or_default().saturating_add(more));
            }
        }
    }

    fn is_empty(self) -> bool {
        self == Tally::default()
    }

    /// Whether it counts a failure or an error.
    fn is_red(self) -> bool {
        self.failed.unwrap_or_default() > 0 || self.errors.unwrap_or_default() > 0
    }
}

/// The result of a run according to its output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RunReport {
    pub(super) verdict: Verdict,
    pub(super) tally: Tally,
}

/// Programs with similar summaries share a family, so that their numbers are added up only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Pytest,
    Unittest,
    Libtest,
    Nextest,
    Jest,
    Vitest,
    Mocha,
    Ava,
    Tap,
    Playwright,
    Lint,
    Go,
    Examples,
    Maven,
    Gradle,
    Ctest,
    Dotnet,
    Other,
    Compiler,
}

/// The state of reading the output of a run.
struct Reading<'a> {
    kind: Kind,
    program: &'a str,
    /// Whether a summary reported a failure (`red`) or a success (`green`).
    red: bool,
    green: bool,
    /// Whether there was a finding that, as a rule, only a failed run prints.
    finding: bool,
    tallies: Vec<(Family, Tally)>,
    python: python::Unittest,
    tap: scripts::Tap,
    block: scripts::Block,
    go: suites::GoLines,
    libtest: suites::Libtest,
    last: String,
}

/// Reads the output of a run of this kind and program, given in one or more pieces.
pub(super) fn read(kind: Kind, program: &str, texts: &[&str]) -> RunReport {
    let mut reading = Reading {
        kind,
        program,
        red: false,
        green: false,
        finding: false,
        tallies: Vec::new(),
        python: python::Unittest::default(),
        tap: scripts::Tap::default(),
        block: scripts::Block::default(),
        go: suites::GoLines::default(),
        libtest: suites::Libtest::default(),
        last: String::new(),
    };
    for text in texts {
        for line in lines::looked_at(text).into_iter().flat_map(lines::of) {
            reading.line(&text::without_escapes(line));
        }
    }
    reading.report()
}

impl Reading<'_> {
    fn line(&mut self, line: &str) {
        let line = line.trim_end();
        if line.is_empty() {
            self.block.gap();
            return;
        }
        python::line(self, line);
        scripts::line(self, line);
        suites::line(self, line);
        builds::line(self, line);
        self.last.clear();
        self.last.push_str(line);
    }

    /// Adds a summary with these numbers.
    fn summary(&mut self, family: Family, tally: Tally) {
        self.add(family, tally);
        match tally.is_red() {
            true => self.red = true,
            false => {
                let counted = [tally.passed, tally.skipped];
                self.green |= counted.into_iter().flatten().any(|count| count > 0);
            }
        }
    }

    fn add(&mut self, family: Family, tally: Tally) {
        match self.tallies.iter_mut().find(|(known, _)| *known == family) {
            Some((_, sum)) => sum.add(tally),
            None => self.tallies.push((family, tally)),
        }
    }

    fn report(mut self) -> RunReport {
        python::end(&mut self);
        scripts::end(&mut self);
        suites::end(&mut self);
        let verdict = match () {
            () if self.red => Verdict::Failed,
            () if self.green => Verdict::Passed,
            () if self.finding => Verdict::Failed,
            () => Verdict::Unknown,
        };
        // If one runner runs another (`make test` runs pytest), the first summary is that of the inner one.
        // Compiler errors count only if no tests were counted.
        let mut tallies = self.tallies.iter().filter(|(_, tally)| !tally.is_empty());
        let tests = tallies.clone().find(|(family, _)| *family != Family::Compiler);
        let tally = tests.or_else(|| tallies.next()).map(|(_, tally)| *tally);
        RunReport { verdict, tally: tally.unwrap_or_default() }
    }
}

#[cfg(test)]
mod corpus;
