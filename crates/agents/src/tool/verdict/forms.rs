//! Lines with a fixed form, as a table: the verdicts of runners that need no parser of their own.

use super::lines::{TallySlot, number};
use super::{Family, Reading, Tally};
use crate::tool::runs::RunKind;

/// The meaning of a line for the run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    /// The counts of one of several suites.
    Counts,
    /// The counts so far, which include those before.
    Total,
    /// The number of errors: zero is a success.
    Errors,
    Passed,
    /// It passed, if it is a build and not a part of another run.
    Built,
    /// It passed, if nothing of the output is cut off: the line is printed after failures too.
    PassedIfWhole,
    Failed,
    Finding,
}

use Family as F;
use Says::{Built, Counts, Errors, Failed, Finding, Passed, PassedIfWhole, Total};

/// In a form `…` is any text and `{p}`, `{f}`, `{s}`, `{e}`, `{t}`, `{n}` are numbers: of tests that passed, failed or were
/// skipped, of errors, of all tests, and any other. Lines are compared without their indentation.
const FORMS: &[(Family, Says, &str)] = &[
    (F::Swift, Counts, "…Test run with {t} test… passed after …"),
    (F::Swift, Failed, "…Test run with {n} test… failed after … with {n} issue…"),
    (F::Swift, Total, "Executed {t} test…, with {f} failure… ({n} unexpected)…"),
    (
        F::Swift,
        Total,
        "Executed {t} test…, with {s} test… skipped and {f} failure… ({n} unexpected)…",
    ),
    // xcbeautify.
    (F::Swift, Total, "Tests Failed: {f} failed, {s} skipped, {t} total…"),
    (F::Swift, Total, "Tests Passed: {f} failed, {s} skipped, {t} total…"),
    (F::Swift, Failed, "** TEST… FAILED **…"),
    (F::Swift, Passed, "** TEST… SUCCEEDED **…"),
    (F::Swift, Failed, "** BUILD FAILED **…"),
    (F::Swift, Built, "** BUILD SUCCEEDED **…"),
    (F::Swift, Failed, "** ARCHIVE FAILED **…"),
    (F::Swift, Built, "** ARCHIVE SUCCEEDED **…"),
    (F::Swift, Built, "Build complete!…"),
    (F::Swift, Failed, "error: Exited with unexpected signal code {n}…"),
    (F::Swift, Finding, "error: fatalError"),
    (F::Zig, Counts, "All {p} tests passed."),
    (F::Zig, Counts, "{p} passed; {s} skipped; {f} failed."),
    (F::Zig, Failed, "error: the following … command failed with exit code {n}:…"),
    (F::Deno, Counts, "ok | {p} passed…| {f} failed…"),
    (F::Deno, Counts, "FAILED | {p} passed…| {f} failed…"),
    (F::Deno, Finding, "error: Test failed"),
    (F::Deno, Failed, "error: Type checking failed."),
    (F::Deno, Finding, "TS{n} [ERROR]: …"),
    (F::Deno, Finding, "error: TS{n} [ERROR]: …"),
    (F::Deno, Errors, "Found {e} problem"),
    (F::Deno, Errors, "Found {e} problems"),
    (F::Deno, PassedIfWhole, "Checked {n} file…"),
    (F::Bazel, Failed, "INFO: Build completed, {n} test… FAILED, …"),
    (F::Bazel, Failed, "ERROR: Build did NOT complete successfully"),
    (F::Bazel, Failed, "FAILED: Build did NOT complete successfully"),
    (F::Bazel, Built, "INFO: Build completed successfully, …"),
    (F::Bazel, Finding, "//…:… FAILED in …"),
    (F::Bazel, Finding, "//…:… TIMEOUT in …"),
    (F::Bazel, Finding, "//…:… FAILED TO BUILD"),
    (F::Sbt, Counts, "…Tests: succeeded {p}, failed {f}, canceled {n}, ignored {s}, pending {n}"),
    (F::Sbt, Counts, "[info] Passed: Total {t}, Failed {f}, Errors {e}, Passed …"),
    (F::Sbt, Counts, "[error] Failed: Total {t}, Failed {f}, Errors {e}, Passed …"),
    (F::Sbt, Counts, "[error] Error: Total {t}, Failed {f}, Errors {e}, Passed …"),
    (F::Sbt, Failed, "[error] Failed tests:"),
    (F::Sbt, Failed, "[error] (… / …) …"),
    (F::Sbt, Failed, "[error] Total time: …"),
    (F::Sbt, Passed, "[success] Total time: …"),
    (F::Dart, Counts, "{n}:{n} +{p}: All tests passed!"),
    (F::Dart, Counts, "{n}:{n} +{p} ~{s}: All tests passed!"),
    (F::Dart, Counts, "{n}:{n} +{p} -{f}: Some tests failed."),
    (F::Dart, Counts, "{n}:{n} +{p} ~{s} -{f}: Some tests failed."),
    (F::Dart, Passed, "No issues found!…"),
    (F::Mix, Failed, "== Compilation error in file … =="),
    (F::Mix, Finding, "** (Mix) …"),
    (F::Mix, Finding, "could not compile dependency …"),
    (F::Mix, Passed, "{n} mods/funs, found no issues."),
    (F::Mix, Errors, "{n} mods/funs, found {e} …"),
    (F::Mix, Passed, "done (passed successfully)"),
    (F::Mix, Failed, "done (warnings were emitted)"),
    (F::Dbt, Counts, "…Done. PASS={p} WARN={n} ERROR={e} SKIP={s}…"),
    (F::Dbt, Failed, "…Encountered an error:…"),
    (F::Erlang, Counts, "All {p} tests passed."),
    (F::Erlang, Counts, "Failed: {f}.  Skipped: {s}.  Passed: {p}."),
    (F::Erlang, Counts, "Failed {f} tests. Passed {p} tests."),
    (F::Erlang, Counts, "Failed {f} tests. Skipped {s} ({n}, {n}) tests. Passed {p} tests."),
    (F::Erlang, Failed, "===> Error running tests…"),
    (F::Erlang, Failed, "===> Compiling … failed"),
    (F::Lint, Errors, "{e} issues:"),
    (F::Lint, Errors, "{e} issues."),
    (F::Lint, Errors, "Done linting! Found {n} violation…, {e} serious in {n} file…"),
    (F::Lint, Failed, "== […] FAIL"),
    (F::Lint, Finding, "L:… | P:… | … | …"),
    (F::Lint, PassedIfWhole, "All Finished…"),
    (F::Lint, Failed, "Summary error count (descending) by rule:"),
    (F::Lint, Errors, "{n} file… inspected, {e} offense… detected"),
    (F::Lint, Errors, "{n} file… inspected, {e} offense… detected, {n} offense… autocorrectable"),
    (F::Lint, Passed, "{n} file… inspected, no offenses detected"),
    (F::Scripts, Finding, "✗ Build failed in …"),
    (F::Scripts, Finding, "error during build:"),
    (F::Scripts, Finding, "Failed to compile."),
    (F::Scripts, Built, "✓ built in …"),
    (F::Scripts, Built, "✓ Compiled successfully…"),
    (F::Scripts, Failed, "✖  {n} of {n} failed ({n}%)…"),
    (F::Scripts, Passed, "✔  All specs passed!…"),
    (F::Hooks, Failed, "…...Failed"),
    (F::Hooks, PassedIfWhole, "…...Passed"),
    (F::Manager, Failed, "evaluation failed :( (…"),
    (F::Manager, Passed, "congratulations :) (…"),
    (F::Manager, Failed, "nox > Session … failed."),
    (F::Manager, Failed, "nox > * …: failed"),
    (F::Manager, Passed, "nox > Session … was successful…"),
    (F::Make, Failed, "-- Configuring incomplete, errors occurred!"),
];

/// Lines of a verdict are short; longer ones are not read.
const LINE_BYTES_MAX: usize = 400;

pub(super) fn line(reading: &mut Reading<'_>, line: &str) {
    let line = line.trim_start();
    if line.len() > LINE_BYTES_MAX {
        return;
    }
    let is_known = |family: Family| reading.runners.counts(family);
    let found = FORMS.iter().filter(|(family, ..)| is_known(*family)).find_map(|row| {
        let mut numbers = Numbers::default();
        fits(row.2, line, &mut numbers).then_some((row.0, row.1, numbers))
    });
    if let Some((family, says, numbers)) = found {
        say(reading, family, says, numbers.tally());
    }
    bazel(reading, line);
    zig(reading, line);
    only_one_program(reading, line);
}

fn say(reading: &mut Reading<'_>, family: Family, says: Says, tally: Tally) {
    match says {
        Counts => reading.summary(family, tally),
        Total => {
            reading.said(family).tally = Tally::default();
            reading.summary(family, tally);
        }
        Errors => {
            reading.said(family).tally = tally;
            reading.part(family, "errors", tally.is_red());
        }
        Passed => reading.green(family, true),
        Built => {
            let is_build = reading.kind == RunKind::Build;
            reading.green(family, is_build);
        }
        PassedIfWhole => {
            let is_whole = reading.runners.is_whole;
            reading.green(family, is_whole);
        }
        Failed => reading.red(family, true),
        Finding => reading.finding(family, true),
    }
}

/// Lines that count only if a certain program prints them.
fn only_one_program(reading: &mut Reading<'_>, line: &str) {
    let mut numbers = Numbers::default();
    match reading.program {
        "cmake" if reading.is_configuring => {
            let written = line.starts_with("-- Build files have been written to: ");
            reading.green(Family::Make, written);
        }
        "biome" => {
            let checked = fits("Checked {n} file… in …", line, &mut numbers);
            reading.green(Family::Lint, checked);
        }
        "flutter" => {
            let found = fits("{n} issue… found.…", line, &mut numbers);
            reading.red(Family::Dart, found);
        }
        "golangci-lint" => {
            let place = super::lines::behind_place(line);
            let is_go = place.is_some_and(|(path, _)| path.ends_with(".go"));
            reading.finding(Family::Lint, is_go && line.ends_with(')'));
        }
        _ => {}
    }
}

/// `Executed 3 out of 4 tests: 2 tests pass, 1 fails to build and 1 fails locally.`
fn bazel(reading: &mut Reading<'_>, line: &str) {
    let Some((head, counts)) = line.split_once(": ").filter(|(head, _)| head.contains(" out of "))
    else {
        return;
    };
    if !fits("Executed {n} out of {n} test…", head, &mut Numbers::default()) {
        return;
    }
    let mut tally = Tally::default();
    for member in counts.split(", ").flat_map(|part| part.split(" and ")) {
        let Some((count, words)) = number(member) else { return };
        match () {
            () if words.contains(" pass") => TallySlot::Passed.put(&mut tally, count),
            () if words.contains(" fail") => TallySlot::Failed.put(&mut tally, count),
            () => TallySlot::Skipped.put(&mut tally, count),
        }
    }
    reading.summary(Family::Bazel, tally);
}

/// `Build Summary: 1/3 steps succeeded; 1 failed; 11/12 tests passed; 1 failed`.
fn zig(reading: &mut Reading<'_>, line: &str) {
    let Some(rest) = line.strip_prefix("Build Summary: ") else { return };
    let mut tally = Tally::default();
    let (mut is_red, mut is_whole, mut in_tests) = (false, false, false);
    for member in rest.split("; ") {
        let Some((count, words)) = number(member) else { return };
        if let Some((total, words)) = words.strip_prefix('/').and_then(number) {
            in_tests = words.starts_with(" tests passed");
            is_whole |= !in_tests && count == total;
            if in_tests {
                TallySlot::Passed.put(&mut tally, count);
            }
            continue;
        }
        let slot = match words.trim() {
            "skipped" => TallySlot::Skipped,
            _ => TallySlot::Failed,
        };
        is_red |= slot == TallySlot::Failed && count > 0;
        if in_tests {
            slot.put(&mut tally, count);
        }
    }
    reading.restart(Family::Zig);
    reading.add(Family::Zig, tally);
    reading.red(Family::Zig, is_red);
    reading.green(Family::Zig, is_whole && !is_red);
}

/// The numbers of a form.
#[derive(Clone, Copy, Default)]
struct Numbers {
    tally: Tally,
    total: Option<u64>,
}

impl Numbers {
    fn put(&mut self, name: u8, count: u64) {
        match name {
            b'p' => self.tally.passed = Some(count),
            b'f' => self.tally.failed = Some(count),
            b's' => self.tally.skipped = Some(count),
            b'e' => self.tally.errors = Some(count),
            b't' => self.total = Some(count),
            _ => {}
        }
    }

    fn tally(self) -> Tally {
        let Numbers { mut tally, total } = self;
        if let Some(total) = total {
            let others = [tally.failed, tally.skipped, tally.errors];
            let others = others.into_iter().flatten().fold(0, u64::saturating_add);
            tally.passed = Some(total.saturating_sub(others));
        }
        tally
    }
}

/// Whether a line has a form, and the numbers in it.
fn fits(form: &str, line: &str, numbers: &mut Numbers) -> bool {
    if let Some(rest) = form.strip_prefix('…') {
        let literal = &rest[..rest.find(['…', '{']).unwrap_or(rest.len())];
        return match rest.is_empty() {
            true => true,
            // The last literal has to be the end of the line.
            false if literal.len() == rest.len() => line.ends_with(literal),
            false => line
                .match_indices(literal)
                .any(|(at, _)| fits(&rest[literal.len()..], &line[at + literal.len()..], numbers)),
        };
    }
    if let Some((name, rest)) = form.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        let Some((count, behind)) = number(line) else { return false };
        numbers.put(name.as_bytes()[0], count);
        return fits(rest, behind, numbers);
    }
    let literal = &form[..form.find(['…', '{']).unwrap_or(form.len())];
    match (literal.is_empty(), line.strip_prefix(literal)) {
        (true, _) => line.is_empty(),
        (false, Some(behind)) => fits(&form[literal.len()..], behind, numbers),
        (false, None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_fits_the_whole_line_and_yields_its_numbers() {
        let table = [
            ("a {p} b", "a 12 b", Some((Some(12), None))),
            ("a {p} b", "a 12 bc", None),
            ("a {p} b…", "a 12 bc", Some((Some(12), None))),
            ("…x {p}, {f}", "y x x 1, 2", Some((Some(1), Some(2)))),
            ("{t} tests, {f} red", "5 tests, 2 red", Some((Some(3), Some(2)))),
            ("…...Failed", "mypy.......Failed", Some((None, None))),
            ("…...Failed", "Failed", None),
            ("ok", "ok", Some((None, None))),
            ("ok", "", None),
        ];
        for (form, line, expected) in table {
            let mut numbers = Numbers::default();
            let found = fits(form, line, &mut numbers).then(|| numbers.tally());
            assert_eq!(found.map(|it| (it.passed, it.failed)), expected, "{form}: {line}");
        }
    }
}
