//! Test runners of Rust, Go, Ruby, Elixir, Java, C, PHP and .NET, and home-made ones.

use super::lines::{TallySlot, list, number};
use super::{Family, Reading, Tally};
use crate::tool::runs::RunKind;

/// Lines such as `--- PASS: TestA (0.00s)` of top-level tests.
#[derive(Default)]
pub(super) struct GoLines {
    tally: Tally,
    /// Whether a test passed by name, which go prints only with `-v`.
    verbose: bool,
    /// Whether a package failed.
    red: bool,
    /// Whether the last package passed, and no `FAIL` follows: go ends a failed run with it.
    ends_green: bool,
    /// The line number of the last package that failed.
    at: usize,
}

/// The results that test binaries of cargo print. A test may print such a line too; between `running 2 tests` and
/// the next binary the last one is that of the binary itself.
#[derive(Default)]
pub(super) struct Libtest {
    is_open: bool,
    /// The last result since the block was opened: whether it failed, its numbers and its line.
    last: Option<(bool, Tally, usize)>,
    /// Whether a binary failed, and the line number of its result.
    red: bool,
    red_at: usize,
    /// A failed result without all of its numbers. It counts only if no complete result was printed.
    shortened: Option<Tally>,
}

impl Reading<'_> {
    /// Counts the last result of the block that ends here, and opens the next one if a binary starts.
    fn end_of_libtest_block(&mut self, opens: bool) {
        self.libtest.is_open = opens;
        if let Some((red, tally, at)) = self.libtest.last.take() {
            let now = std::mem::replace(&mut self.at, at);
            self.count_libtest(red, tally);
            self.at = now;
        }
    }

    fn count_libtest(&mut self, red: bool, tally: Tally) {
        self.restart(Family::Libtest);
        self.add(Family::Libtest, tally);
        if red {
            (self.libtest.red, self.libtest.red_at) = (true, self.at);
        }
        self.green(Family::Libtest, !red);
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
    php(reading, line);
    home_made(reading, line);
}

/// `12 passed, 0 failed`: the last line of many home-made runners.
fn home_made(reading: &mut Reading<'_>, line: &str) {
    let word = |word: &str| {
        Some(match word {
            "passed" | "tests passed" | "test passed" => TallySlot::Passed,
            "failed" => TallySlot::Failed,
            "skipped" | "ignored" => TallySlot::Skipped,
            "total" => TallySlot::Aside,
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
            true => reading.finding(Family::Other, true),
            false => reading.green(Family::Other, true),
        }
    }
}

fn libtest(reading: &mut Reading<'_>, line: &str) {
    if let Some(rest) = line.strip_prefix("test result: ") {
        let Some((word, counts)) = rest.split_once(". ") else { return };
        let counts = counts.split_once("; finished in").map_or(counts, |(counts, _)| counts);
        let place = |word: &str| {
            Some(match word {
                "passed" => TallySlot::Passed,
                "failed" => TallySlot::Failed,
                "ignored" => TallySlot::Skipped,
                _ => TallySlot::Aside,
            })
        };
        let Some(tally) = list(counts, ';', place) else { return };
        let red = match word {
            "FAILED" if counts.contains(" measured") => true,
            // A test binary prints all counts. A line without `measured` is printed by a test, or by a script that
            // shortens the output.
            "FAILED" => {
                reading.libtest.shortened = Some(tally);
                return;
            }
            "ok" => false,
            _ => return,
        };
        match reading.libtest.is_open {
            true => reading.libtest.last = Some((red, tally, reading.at)),
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
    reading.finding(Family::Libtest, case || panicked);
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
                word if word.starts_with("passed") => TallySlot::Passed,
                word if word.starts_with("skipped") => TallySlot::Skipped,
                _ => TallySlot::Failed,
            }
            .put(&mut tally, count);
        }
        let any = tally.passed.unwrap_or_default() > 0 || tally.is_red();
        return match any {
            true => reading.summary(Family::Nextest, tally),
            false => reading.add(Family::Nextest, tally),
        };
    }
    let case = ["FAIL [", "TIMEOUT [", "SIGABRT [", "SIGSEGV ["]
        .iter()
        .any(|start| inside.starts_with(start) && line.starts_with("    "));
    reading.finding(Family::Nextest, case);
}

fn go(reading: &mut Reading<'_>, line: &str) {
    for (start, slot) in [
        ("--- PASS: ", TallySlot::Passed),
        ("--- FAIL: ", TallySlot::Failed),
        ("--- SKIP: ", TallySlot::Skipped),
    ] {
        if line.starts_with(start) && line.ends_with("s)") {
            slot.put(&mut reading.go.tally, 1);
            reading.go.verbose |= slot == TallySlot::Passed;
            reading.finding(Family::Go, slot == TallySlot::Failed);
        }
    }
    let failed = line.strip_prefix("FAIL\t").is_some_and(|rest| rest.contains(['\t', '[']));
    let passed = line.strip_prefix("ok  \t").is_some_and(|rest| {
        let rest = rest.split('\t').nth(1).unwrap_or_default();
        rest.ends_with('s') || rest.starts_with("(cached)")
    });
    if failed {
        reading.go.at = reading.at;
    }
    reading.go.red |= failed;
    reading.go.ends_green = passed || reading.go.ends_green && !failed && line != "FAIL";
    reading.finding(Family::Go, failed);
    reading.green(Family::Go, passed);
    if reading.program != "go" && reading.program != "gotestsum" {
        return;
    }
    reading.finding(Family::Go, line == "FAIL" || line.starts_with("panic: "));
    if reading.program == "gotestsum" {
        gotestsum(reading, line);
    }
    if line.starts_with("{\"") && line.contains("\"Action\":\"fail\"") {
        reading.red(Family::Go, true);
    } else if line.starts_with("{\"")
        && line.contains("\"Action\":\"pass\"")
        && !line.contains("\"Test\":")
    {
        reading.green(Family::Go, true);
    }
}

/// `=== FAIL: shop TestCart (0.00s)`, `DONE 12 tests, 1 skipped, 1 failure in 0.5s`.
fn gotestsum(reading: &mut Reading<'_>, line: &str) {
    reading.finding(Family::Go, line.starts_with("=== FAIL: ") && line.ends_with("s)"));
    let counts = line.strip_prefix("DONE ").and_then(|rest| rest.rsplit_once(" in "));
    let Some(counts) = counts.map(|(counts, _)| counts) else { return };
    let counted = list(counts, ',', |word| {
        Some(match word {
            "test" | "tests" => TallySlot::Passed,
            "failure" | "failures" => TallySlot::Failed,
            "error" | "errors" => TallySlot::Errors,
            "skipped" => TallySlot::Skipped,
            _ => return None,
        })
    });
    let Some(mut tally) = counted else { return };
    let others = [tally.failed, tally.skipped].into_iter().flatten().sum();
    tally.passed = tally.passed.map(|total| total.saturating_sub(others));
    reading.go.tally = Tally::default();
    reading.said(Family::Go).tally = Tally::default();
    reading.summary(Family::Go, tally);
}

/// Words for a test in the summaries of rspec, minitest and mix.
const EXAMPLES: &[&str] = &["example", "run", "test", "doctest", "property", "properties"];

/// rspec, minitest, mix: `3 examples, 1 failure, 1 pending`, `1 doctest, 2 properties, 40 tests, 0 failures`.
fn examples(reading: &mut Reading<'_>, line: &str) {
    let family = if reading.program == "mix" { Family::Mix } else { Family::Examples };
    let listed = line.strip_prefix("rspec ./").is_some_and(|rest| rest.contains(" # "));
    let marked = line.starts_with("  ") && line.ends_with(')') && line.contains(" (FAILED - ");
    let shown = line.starts_with("     Failure/Error: ");
    reading.finding(Family::Examples, listed || marked || shown);
    let is_unit = |word: &str| {
        EXAMPLES.contains(&word.strip_suffix('s').unwrap_or(word)) || EXAMPLES.contains(&word)
    };
    let Some((_, rest)) = number(line) else { return };
    let unit = rest.trim_start().split([',', ' ']).next().unwrap_or_default();
    if !is_unit(unit) || !rest.contains(" failure") {
        return;
    }
    let place = |word: &str| {
        Some(match word {
            "failure" | "failures" => TallySlot::Failed,
            "error" | "errors" => TallySlot::Errors,
            "pending" | "skip" | "skips" | "skipped" | "excluded" => TallySlot::Skipped,
            "assertions" | "assertion" => TallySlot::Aside,
            word if is_unit(word) => TallySlot::Passed,
            word if word.starts_with("error occurred outside of examples")
                || word.starts_with("errors occurred outside of examples") =>
            {
                TallySlot::Errors
            }
            _ => return None,
        })
    };
    let Some(mut tally) = list(line.trim_end_matches('.'), ',', place) else { return };
    let others = [tally.failed, tally.errors, tally.skipped];
    let others: u64 = others.into_iter().flatten().fold(0, u64::saturating_add);
    tally.passed = Some(tally.passed.unwrap_or_default().saturating_sub(others));
    reading.summary(family, tally);
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
                "Failures" => TallySlot::Failed,
                "Errors" => TallySlot::Errors,
                "Skipped" => TallySlot::Skipped,
                _ => TallySlot::Aside,
            };
            slot.put(&mut tally, count);
        }
        let others = [tally.failed, tally.errors, tally.skipped];
        let others: u64 = others.into_iter().flatten().fold(0, u64::saturating_add);
        tally.passed = Some(run.saturating_sub(others));
        reading.finding(Family::Maven, tally.is_red());
        if is_total {
            reading.summary(Family::Maven, tally);
        }
        return;
    }
    if marked.is_none() {
        return;
    }
    if matches!(inside, "BUILD SUCCESS" | "BUILD FAILURE") {
        reading.part(Family::Maven, "BUILD", inside == "BUILD FAILURE");
    }
    let broken = inside.starts_with("Failed to execute goal ")
        || inside == "COMPILATION ERROR :"
        || inside.starts_with("[Help 1] http");
    reading.red(Family::Maven, broken);
}

fn gradle(reading: &mut Reading<'_>, line: &str) {
    let timed = |start: &str| {
        line == start || line.strip_prefix(start).is_some_and(|rest| rest.starts_with(" in "))
    };
    let (passed, failed) = (timed("BUILD SUCCESSFUL"), timed("BUILD FAILED"));
    if passed || failed {
        reading.part(Family::Gradle, "BUILD", failed);
    }
    reading.red(Family::Gradle, line.starts_with("FAILURE: Build failed with "));
    if let Some((total, rest)) = number(line)
        && let Some(rest) = rest
            .strip_prefix(" tests completed, ")
            .or_else(|| rest.strip_prefix(" test completed, "))
        && let Some(mut tally) = list(rest, ',', |word| match word {
            "failed" => Some(TallySlot::Failed),
            "skipped" => Some(TallySlot::Skipped),
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
    reading.finding(Family::Gradle, task || case);
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
    let listed = line == "The following tests FAILED:" || line == "Errors while running CTest";
    reading.red(Family::Ctest, listed);
    let advice = line.starts_with("Use \"--rerun-failed --output-on-failure\" to re-run ");
    let points = line.contains(" Test ") && line.contains('#');
    let case = points
        && ["***Failed", "***Not Run", "***Exception", "***Timeout"]
            .iter()
            .any(|mark| line.contains(mark));
    reading.finding(Family::Ctest, advice || case);
}

/// How `dotnet test` begins the line with the counts of a project, in English, French and German.
const DOTNET_PROJECT: &[&str] = &[
    "Failed!",
    "Passed!",
    "Skipped!",
    "Échoué!",
    "Réussi!",
    "Ignoré!",
    "Fehler!",
    "Bestanden!",
    "Übersprungen!",
];
/// How `dotnet test` begins the line with the counts of all projects.
const DOTNET_TOTAL: &[&str] = &["Test summary", "Récapitulatif du test", "Testzusammenfassung"];

fn dotnet(reading: &mut Reading<'_>, line: &str) {
    let inside = line.trim_start();
    let counts = |rest: &str| {
        let mut tally = Tally::default();
        for member in rest.split([',', ';']) {
            let Some((word, count)) = member.split_once(':') else { continue };
            let Some((count, _)) = number(count.trim()) else { continue };
            match word.trim() {
                "Failed" | "failed" | "échec" | "Fehler" | "fehlgeschlagen" => TallySlot::Failed,
                "Passed" | "succeeded" | "réussite" | "réussi" | "erfolgreich" => {
                    TallySlot::Passed
                }
                "Skipped" | "skipped" | "ignorée(s)" | "ignoré" | "übersprungen" => {
                    TallySlot::Skipped
                }
                _ => TallySlot::Aside,
            }
            .put(&mut tally, count);
        }
        tally
    };
    let behind = |words: &[&str], marks: &[char]| {
        let rest = words.iter().find_map(|word| inside.strip_prefix(word))?;
        rest.trim_start().strip_prefix(marks)
    };
    // German has a colon where the others have a dash.
    let summary = behind(DOTNET_PROJECT, &['-', ':']).or_else(|| behind(DOTNET_TOTAL, &[':']));
    if let Some(tally) = summary.map(counts).filter(|tally| tally.failed.is_some()) {
        return reading.summary(Family::Dotnet, tally);
    }
    let failed = matches!(
        inside,
        "Test Run Failed." | "Échec de la série de tests." | "Fehler beim Testlauf."
    ) || inside == "Build FAILED."
        || inside.starts_with("Build failed with ") && inside.contains("error(s) in ")
        // The end of an output that a pipe cut: `    2 Error(s)`.
        || number(inside).is_some_and(|(count, rest)| count > 0 && rest == " Error(s)");
    reading.red(Family::Dotnet, failed);
    let built = reading.kind == RunKind::Build && reading.program == "dotnet";
    let passed = matches!(
        inside,
        "Test Run Successful." | "Série de tests réussie." | "Der Testlauf war erfolgreich."
    ) || built
        && (inside == "Build succeeded." || inside.starts_with("Build succeeded in "));
    reading.green(Family::Dotnet, passed);
}

/// PHPUnit, and Pest and `artisan test` of Laravel, which run it.
fn php(reading: &mut Reading<'_>, line: &str) {
    if let Some(tally) = phpunit(line).or_else(|| pest(line)) {
        return reading.summary(Family::Php, tally);
    }
    reading.red(Family::Php, matches!(line, "FAILURES!" | "ERRORS!"));
    let case = number(line).and_then(|(_, rest)| rest.strip_prefix(") "));
    let is_case = case.is_some_and(|name| name.contains("::test") && !name.contains(' '));
    reading.finding(Family::Php, is_case);
}

/// `OK (4 tests, 9 assertions)`, `Tests: 4, Assertions: 9, Failures: 1.`.
fn phpunit(line: &str) -> Option<Tally> {
    if let Some((total, rest)) = line.strip_prefix("OK (").and_then(number)
        && rest.starts_with(" test")
        && rest.contains(" assertion")
    {
        return Some(Tally { passed: Some(total), ..Tally::default() });
    }
    let mut tally = Tally::default();
    let mut total = None;
    for member in line.strip_suffix('.')?.split(", ") {
        let (word, count) = member.split_once(": ")?;
        let (count, "") = number(count)? else { return None };
        match word {
            "Tests" => total = Some(count),
            "Failures" => TallySlot::Failed.put(&mut tally, count),
            "Errors" => TallySlot::Errors.put(&mut tally, count),
            "Skipped" | "Incomplete" => TallySlot::Skipped.put(&mut tally, count),
            _ => {}
        }
    }
    let others = [tally.failed, tally.errors, tally.skipped].into_iter().flatten().sum();
    tally.passed = Some(total?.saturating_sub(others));
    line.contains("Assertions: ").then_some(tally)
}

/// `  Tests:    1 failed, 3 passed (9 assertions)`.
fn pest(line: &str) -> Option<Tally> {
    let counts = line.trim_start().strip_prefix("Tests:")?.trim();
    let counts = counts.split_once(" (").filter(|(_, rest)| rest.contains("assertion"))?.0;
    list(counts, ',', |word| {
        Some(match word {
            "passed" => TallySlot::Passed,
            "failed" => TallySlot::Failed,
            "skipped" | "todos" | "todo" | "incomplete" => TallySlot::Skipped,
            "risky" | "warnings" | "warning" | "deprecated" | "notices" => TallySlot::Aside,
            _ => return None,
        })
    })
}

pub(super) fn end(reading: &mut Reading<'_>) {
    reading.end_of_libtest_block(false);
    let is_counted = !reading.said(Family::Libtest).tally.is_empty();
    if let Some(tally) = reading.libtest.shortened.filter(|_| !is_counted) {
        reading.count_libtest(true, tally);
    }
    // Nextest runs each test in a process of its own, and counts them itself.
    let has_nextest =
        reading.runners.counts(Family::Nextest) && !reading.said(Family::Nextest).tally.is_empty();
    let red = reading.libtest.red && !has_nextest;
    reading.at = reading.libtest.red_at;
    reading.red(Family::Libtest, red);
    let ends_red = reading.program == "go" && reading.last == "FAIL";
    reading.red(Family::Go, ends_red);
    let go = std::mem::take(&mut reading.go);
    // A test may print the line of a failed package too.
    let is_over = reading.runners.is_single && reading.runners.shows_end && go.ends_green;
    reading.at = go.at;
    reading.red(Family::Go, go.red && !is_over);
    // Go prints no counts itself, and does not show where an attempt begins.
    if go.tally.is_empty() || reading.runners.repeats {
        return;
    }
    reading.add(Family::Go, go.tally);
    // After `grep "^---"` only the lines of single tests are left.
    reading.green(Family::Go, go.verbose && !go.tally.is_red());
}
