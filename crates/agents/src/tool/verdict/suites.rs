//! Test runners of Rust, Go, Ruby, Java, C and .NET.

use super::lines::{Slot, list, number};
use super::{Family, Reading, Tally};
use crate::tool::runs::Kind;

/// Lines such as `--- PASS: TestA (0.00s)` of top-level tests.
#[derive(Default)]
pub(super) struct GoLines {
    tally: Tally,
    /// Number of packages that passed. Without `-v` go prints nothing else about them.
    verbose: bool,
}

/// The results that test binaries of cargo print. A test may print such a line too; between `running 2 tests` and
/// the next binary the last one is that of the binary itself.
#[derive(Default)]
pub(super) struct Libtest {
    is_open: bool,
    /// The last result since the block was opened: whether it failed, and its numbers.
    last: Option<(bool, Tally)>,
    /// Whether a binary failed.
    red: bool,
    /// A failed result without all of its numbers. It counts only if no complete result was printed.
    shortened: Option<Tally>,
}

impl Reading<'_> {
    /// Counts the last result of the block that ends here, and opens the next one if a binary starts.
    fn end_of_libtest_block(&mut self, opens: bool) {
        self.libtest.is_open = opens;
        if let Some((red, tally)) = self.libtest.last.take() {
            self.count_libtest(red, tally);
        }
    }

    fn count_libtest(&mut self, red: bool, tally: Tally) {
        self.add(Family::Libtest, tally);
        self.libtest.red |= red;
        self.green |= !red;
    }
}

pub(super) fn line(reading: &mut Reading<'_>, line: &str) {
    libtest(reading, line);
    nextest(reading, line);
    go(reading, line);
    examples(reading, line);
    maven(reading, line);
    gradle(reading, line);
    ctest(reading, line);
    dotnet(reading, line);
    home_made(reading, line);
}

/// `12 passed, 0 failed`: the last line of many home-made runners.
fn home_made(reading: &mut Reading<'_>, line: &str) {
    let word = |word: &str| {
        Some(match word {
            "passed" | "tests passed" | "test passed" => Slot::Passed,
            "failed" => Slot::Failed,
            "skipped" | "ignored" => Slot::Skipped,
            "total" => Slot::Aside,
            _ => return None,
        })
    };
    if !line.starts_with(|c: char| c.is_ascii_digit()) {
        return;
    }
    let Some(tally) = list(line.trim_end_matches('.'), ',', word) else { return };
    if tally.passed.is_some() && tally.failed.is_some() {
        reading.add(Family::Other, tally);
        match tally.is_red() {
            true => reading.finding = true,
            false => reading.green = true,
        }
    }
}

fn libtest(reading: &mut Reading<'_>, line: &str) {
    if let Some(rest) = line.strip_prefix("test result: ") {
        let Some((word, counts)) = rest.split_once(". ") else { return };
        let counts = counts.split_once("; finished in").map_or(counts, |(counts, _)| counts);
        let place = |word: &str| {
            Some(match word {
                "passed" => Slot::Passed,
                "failed" => Slot::Failed,
                "ignored" => Slot::Skipped,
                _ => Slot::Aside,
            })
        };
        let Some(tally) = list(counts, ';', place) else { return };
        let red = match word {
            "FAILED" if counts.contains(" measured") => true,
            // A shortened line is one that a test or a script printed.
            "FAILED" => {
                reading.libtest.shortened = Some(tally);
                return;
            }
            "ok" => false,
            _ => return,
        };
        match reading.libtest.is_open {
            true => reading.libtest.last = Some((red, tally)),
            false => reading.count_libtest(red, tally),
        }
        return;
    }
    let starts = line.strip_prefix("running ").and_then(number);
    if starts.is_some_and(|(_, rest)| matches!(rest, " test" | " tests")) {
        return reading.end_of_libtest_block(true);
    }
    let inside = line.trim_start();
    if inside.len() < line.len()
        && (inside.starts_with("Running ") || inside.starts_with("Doc-tests "))
    {
        reading.end_of_libtest_block(false);
    }
    let case = line.starts_with("test ") && line.ends_with(" ... FAILED");
    let panicked = line.trim_start().starts_with("thread '") && line.contains(" panicked at ");
    reading.finding |= case || panicked;
}

fn nextest(reading: &mut Reading<'_>, line: &str) {
    let inside = line.trim_start();
    if let Some(rest) = inside.strip_prefix("Summary [")
        && let Some((_, counts)) =
            rest.split_once(" tests run: ").or_else(|| rest.split_once(" test run: "))
    {
        let mut tally = Tally::default();
        // `2 passed (1 slow, 1 flaky), 1 failed`: the numbers in parentheses are part of the one before.
        let mut depth = 0usize;
        let members = counts.split(|c: char| {
            depth = match c {
                '(' => depth + 1,
                ')' => depth.saturating_sub(1),
                _ => depth,
            };
            c == ',' && depth == 0
        });
        for (count, word) in members.filter_map(|member| number(member.trim())) {
            match word.trim_start() {
                word if word.starts_with("passed") => Slot::Passed,
                word if word.starts_with("skipped") => Slot::Skipped,
                _ => Slot::Failed,
            }
            .put(&mut tally, count);
        }
        let any = tally.passed.unwrap_or_default() > 0 || tally.is_red();
        return match any {
            true => reading.summary(Family::Nextest, tally),
            false => reading.add(Family::Nextest, tally),
        };
    }
    reading.finding |= ["FAIL [", "TIMEOUT [", "SIGABRT [", "SIGSEGV ["]
        .iter()
        .any(|start| inside.starts_with(start) && line.starts_with("    "));
}

fn go(reading: &mut Reading<'_>, line: &str) {
    for (start, slot) in
        [("--- PASS: ", Slot::Passed), ("--- FAIL: ", Slot::Failed), ("--- SKIP: ", Slot::Skipped)]
    {
        if line.starts_with(start) && line.ends_with("s)") {
            slot.put(&mut reading.go.tally, 1);
            reading.go.verbose |= slot == Slot::Passed;
            reading.finding |= slot == Slot::Failed;
        }
    }
    let package =
        |start: &str| line.strip_prefix(start).is_some_and(|rest| rest.contains(['\t', '[']));
    reading.red |= package("FAIL\t");
    reading.green |= line.strip_prefix("ok  \t").is_some_and(|rest| {
        let rest = rest.split('\t').nth(1).unwrap_or_default();
        rest.ends_with('s') || rest.starts_with("(cached)")
    });
    if reading.program != "go" && reading.program != "gotestsum" {
        return;
    }
    reading.finding |= line == "FAIL" || line.starts_with("panic: ");
    if line.starts_with("{\"") && line.contains("\"Action\":\"fail\"") {
        reading.red = true;
    } else if line.starts_with("{\"")
        && line.contains("\"Action\":\"pass\"")
        && !line.contains("\"Test\":")
    {
        reading.green = true;
    }
}

/// rspec, minitest, mix: `3 examples, 1 failure, 1 pending`.
fn examples(reading: &mut Reading<'_>, line: &str) {
    let listed = line.strip_prefix("rspec ./").is_some_and(|rest| rest.contains(" # "));
    let marked = line.starts_with("  ") && line.ends_with(')') && line.contains(" (FAILED - ");
    reading.finding |= listed || marked || line.starts_with("     Failure/Error: ");
    let Some((total, rest)) = number(line) else { return };
    let unit = rest.trim_start().split([',', ' ']).next().unwrap_or_default();
    if !matches!(unit, "example" | "examples" | "runs" | "tests" | "test" | "doctests" | "doctest")
        || !rest.contains(" failure")
    {
        return;
    }
    let place = |word: &str| {
        Some(match word {
            "failure" | "failures" => Slot::Failed,
            "error" | "errors" => Slot::Errors,
            "pending" | "skip" | "skips" | "skipped" | "excluded" => Slot::Skipped,
            "example" | "examples" | "runs" | "tests" | "test" | "doctests" | "doctest"
            | "assertions" | "assertion" => Slot::Aside,
            word if word.starts_with("error occurred outside of examples")
                || word.starts_with("errors occurred outside of examples") =>
            {
                Slot::Errors
            }
            _ => return None,
        })
    };
    let Some(mut tally) = list(line.trim_end_matches('.'), ',', place) else { return };
    let others = [tally.failed, tally.errors, tally.skipped];
    let others: u64 = others.into_iter().flatten().fold(0, u64::saturating_add);
    tally.passed = Some(total.saturating_sub(others));
    reading.summary(Family::Examples, tally);
}

fn maven(reading: &mut Reading<'_>, line: &str) {
    let levels = ["[INFO] ", "[ERROR] ", "[WARNING] "];
    let marked = levels.iter().find_map(|level| line.strip_prefix(level));
    let inside = marked.unwrap_or(line);
    if let Some(rest) = inside.strip_prefix("Tests run: ") {
        // The line of a single class shows its time, the summary line does not.
        let is_total = !rest.contains("Time elapsed");
        let mut members = rest.split(", ");
        let Some((run, _)) = members.next().and_then(number) else { return };
        let mut tally = Tally::default();
        for member in members {
            let Some((word, count)) = member.split_once(": ") else { return };
            let Some((count, _)) = number(count) else { continue };
            let slot = match word {
                "Failures" => Slot::Failed,
                "Errors" => Slot::Errors,
                "Skipped" => Slot::Skipped,
                _ => Slot::Aside,
            };
            slot.put(&mut tally, count);
        }
        let others = [tally.failed, tally.errors, tally.skipped];
        let others: u64 = others.into_iter().flatten().fold(0, u64::saturating_add);
        tally.passed = Some(run.saturating_sub(others));
        reading.finding |= tally.is_red();
        if is_total {
            reading.summary(Family::Maven, tally);
        }
        return;
    }
    if marked.is_none() {
        return;
    }
    reading.green |= inside == "BUILD SUCCESS";
    reading.red |= inside == "BUILD FAILURE"
        || inside.starts_with("Failed to execute goal ")
        || inside == "COMPILATION ERROR :"
        || inside.starts_with("[Help 1] http");
}

fn gradle(reading: &mut Reading<'_>, line: &str) {
    let timed = |start: &str| {
        line == start || line.strip_prefix(start).is_some_and(|rest| rest.starts_with(" in "))
    };
    reading.green |= timed("BUILD SUCCESSFUL");
    reading.red |= timed("BUILD FAILED") || line.starts_with("FAILURE: Build failed with ");
    if let Some((total, rest)) = number(line)
        && let Some(rest) = rest
            .strip_prefix(" tests completed, ")
            .or_else(|| rest.strip_prefix(" test completed, "))
        && let Some(mut tally) = list(rest, ',', |word| match word {
            "failed" => Some(Slot::Failed),
            "skipped" => Some(Slot::Skipped),
            _ => None,
        })
    {
        let others = tally.failed.unwrap_or_default() + tally.skipped.unwrap_or_default();
        tally.passed = Some(total.saturating_sub(others));
        return reading.summary(Family::Gradle, tally);
    }
    let task = line.strip_prefix("> Task :").is_some_and(|rest| rest.ends_with(" FAILED"));
    let case = line.ends_with(" FAILED")
        && line.contains(" > ")
        && matches!(reading.program, "gradle" | "gradlew");
    reading.finding |= task || case;
}

fn ctest(reading: &mut Reading<'_>, line: &str) {
    if let Some((_, rest)) = number(line)
        && let Some(rest) = rest.strip_prefix("% tests passed, ")
        && let Some((failed, rest)) = number(rest)
        && let Some((total, _)) = rest.strip_prefix(" tests failed out of ").and_then(number)
    {
        let tally = Tally {
            passed: Some(total.saturating_sub(failed)),
            failed: Some(failed),
            ..Tally::default()
        };
        return reading.summary(Family::Ctest, tally);
    }
    reading.red |= line == "The following tests FAILED:" || line == "Errors while running CTest";
    reading.finding |= line.starts_with("Use \"--rerun-failed --output-on-failure\" to re-run ");
    let points = line.contains(" Test ") && line.contains('#');
    reading.finding |= points
        && ["***Failed", "***Not Run", "***Exception", "***Timeout"]
            .iter()
            .any(|mark| line.contains(mark));
}

fn dotnet(reading: &mut Reading<'_>, line: &str) {
    let inside = line.trim_start();
    let counts = |rest: &str| {
        let mut tally = Tally::default();
        for member in rest.split(',') {
            let Some((word, count)) = member.split_once(':') else { continue };
            let Some((count, _)) = number(count.trim()) else { continue };
            match word.trim() {
                "Failed" | "failed" => Slot::Failed,
                "Passed" | "succeeded" => Slot::Passed,
                "Skipped" | "skipped" => Slot::Skipped,
                _ => Slot::Aside,
            }
            .put(&mut tally, count);
        }
        tally
    };
    let summary = ["Failed!", "Passed!", "Skipped!"]
        .iter()
        .find_map(|word| inside.strip_prefix(word)?.trim_start().strip_prefix("- "))
        .or_else(|| inside.strip_prefix("Test summary: "));
    if let Some(rest) = summary.filter(|rest| rest.contains("ailed:")) {
        return reading.summary(Family::Dotnet, counts(rest));
    }
    reading.red |= inside == "Test Run Failed."
        || inside == "Build FAILED."
        || inside.starts_with("Build failed with ") && inside.contains("error(s) in ");
    let built = reading.kind == Kind::Build && reading.program == "dotnet";
    reading.green |= inside == "Test Run Successful."
        || built && (inside == "Build succeeded." || inside.starts_with("Build succeeded in "));
}

pub(super) fn end(reading: &mut Reading<'_>) {
    reading.end_of_libtest_block(false);
    let is_counted = reading.tallies.iter().any(|(family, _)| *family == Family::Libtest);
    if let Some(tally) = reading.libtest.shortened.filter(|_| !is_counted) {
        reading.count_libtest(true, tally);
    }
    // Nextest runs each test in a process of its own, and counts them itself.
    let has_nextest = reading.tallies.iter().any(|(family, _)| *family == Family::Nextest);
    reading.red |= reading.libtest.red && !has_nextest;
    reading.red |= reading.program == "go" && reading.last == "FAIL";
    let go = std::mem::take(&mut reading.go);
    if go.tally.is_empty() {
        return;
    }
    reading.add(Family::Go, go.tally);
    // After `grep "^---"` only the lines of single tests are left.
    reading.green |= go.verbose && !go.tally.is_red();
}
