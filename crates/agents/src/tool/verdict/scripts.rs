//! Test runners of JavaScript and TypeScript, and TAP.

use super::lines::{TallySlot, list, number};
use super::{Family, Reading, SUMMARY, Tally};

/// The test points of a TAP stream that are not indented.
#[derive(Default)]
pub(super) struct Tap {
    passed: u64,
    failed: u64,
    skipped: u64,
    plan: Option<u64>,
    /// `# fail 0` or `# ok`.
    fine: bool,
    totals: Tally,
    /// The line number of the last test point or total.
    at: usize,
}

/// The final lines of playwright and mocha: `1 failed`, `2 passed (1.2s)`. A test may print such a line too,
/// so only the last block counts.
#[derive(Default)]
pub(super) struct Block {
    tally: Tally,
    /// Lines after the block that do not belong to it.
    behind: usize,
    gap: bool,
    /// Whether its beginning is cut off: names of tests are above it, but not their result.
    torn: bool,
    /// Whether mocha has numbered a failed test.
    numbered: bool,
    /// The line number of its last member.
    at: usize,
}

impl Block {
    /// An empty line.
    pub(super) fn gap(&mut self) {
        self.gap = true;
    }
}

pub(super) fn line(reading: &mut Reading<'_>, line: &str) {
    jest(reading, line);
    vitest(reading, line);
    block(reading, line);
    tap(reading, line);
    bun(reading, line);
    managers(reading, line);
}

/// ` 3 pass`, ` 1 fail` and `Ran 4 tests across 1 file. [18.00ms]` at the end.
fn bun(reading: &mut Reading<'_>, line: &str) {
    let counted = line.strip_prefix(' ').and_then(number).and_then(|(count, word)| {
        let slot = match word {
            " pass" => TallySlot::Passed,
            " fail" => TallySlot::Failed,
            " skip" => TallySlot::Skipped,
            " error" | " errors" => TallySlot::Errors,
            _ => return None,
        };
        Some((slot, count))
    });
    if let Some((slot, count)) = counted {
        // The first number of a run.
        if slot == TallySlot::Passed {
            reading.bun = Tally::default();
        }
        slot.put(&mut reading.bun, count);
        let is_red = reading.bun.is_red();
        return reading.finding(Family::Bun, is_red);
    }
    let ran = line.strip_prefix("Ran ").and_then(number);
    if ran.is_some_and(|(_, rest)| rest.starts_with(" test") && rest.contains(" across "))
        && line.ends_with(']')
    {
        let tally = std::mem::take(&mut reading.bun);
        reading.summary(Family::Bun, tally);
    }
    reading.finding(Family::Bun, line.starts_with("(fail) ") && line.ends_with(']'));
}

fn word(word: &str) -> Option<TallySlot> {
    Some(match word {
        "passed" => TallySlot::Passed,
        "failed" => TallySlot::Failed,
        "skipped" => TallySlot::Skipped,
        "todo" | "pending" | "total" | "updated" | "obsolete" | "written" | "expected fail" => {
            TallySlot::Aside
        }
        _ => return None,
    })
}

fn jest(reading: &mut Reading<'_>, line: &str) {
    if let Some(tally) = line.strip_prefix("Tests: ").and_then(|rest| list(rest, ',', word)) {
        return reading.summary(Family::Jest, tally);
    }
    if let Some(tally) = line.strip_prefix("Test Suites: ").and_then(|rest| list(rest, ',', word)) {
        return reading.part_if_red(Family::Jest, "Test Suites", tally.is_red());
    }
    let ends = [
        ("No tests found, exiting with code ", Family::Jest),
        ("No test files found, exiting with code ", Family::Vitest),
    ];
    for (start, family) in ends {
        let code = line.strip_prefix(start).and_then(number);
        reading.red(family, code.is_some_and(|(code, _)| code != 0));
    }
    let uncovered = line.starts_with("Jest: \"") && line.contains("\" coverage threshold for ");
    reading.red(Family::Jest, uncovered);
    // `ERROR: Coverage for lines (66.66%) does not meet global threshold (90%)` of vitest, and of nyc and c8 around mocha.
    let uncovered = line.starts_with("ERROR: Coverage for ") && line.contains(" does not meet ");
    reading.red(Family::Vitest, uncovered);
    reading.red(Family::Mocha, uncovered);
    // ` FAIL  src/a.test.ts > sums`, `FAIL ./a.test.js`.
    let suite = line.trim_start().strip_prefix("FAIL ").map(str::trim_start);
    let suite = suite.filter(|_| line.len() - line.trim_start().len() <= 1);
    let suite = suite.and_then(|rest| rest.split_whitespace().next());
    let is_script = |path: &str| {
        let ending = path.rsplit('.').next().unwrap_or_default();
        path.contains('.')
            && matches!(ending, "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" | "vue")
    };
    let inside = line.trim_start();
    let case = (inside.starts_with("✕ ") || inside.starts_with("● ") && line.contains(" › "))
        && line.starts_with("  ");
    // Vitest prints lines with `FAIL` too.
    reading.finding(Family::Jest, case || suite.is_some_and(is_script));
    reading.finding(Family::Vitest, suite.is_some_and(is_script));
}

fn vitest(reading: &mut Reading<'_>, line: &str) {
    let inside = line.trim_start();
    let behind = |title: &str| {
        let rest = inside.strip_prefix(title)?.strip_prefix("  ")?.trim_start();
        Some(rest.rsplit_once(" (").map_or(rest, |(counts, _)| counts))
    };
    if let Some(tally) = behind("Tests").and_then(|rest| list(rest, '|', word)) {
        return reading.summary(Family::Vitest, tally);
    }
    if let Some(tally) = behind("Test Files").and_then(|rest| list(rest, '|', word)) {
        return reading.part_if_red(Family::Vitest, "Test Files", tally.is_red());
    }
    if let Some((count, rest)) = behind("Errors").and_then(number) {
        reading.red(Family::Vitest, count > 0 && rest.starts_with(" error"));
        return;
    }
    // ` ❯ a.test.ts (2 tests | 1 failed) 8ms`, `   × sums 5ms`.
    let suite = inside.strip_prefix("❯ ").and_then(|rest| rest.split_once(" (")).is_some_and(
        |(_, counts)| {
            let counts = counts.split_once(')').map_or(counts, |(counts, _)| counts);
            counts.split(" | ").any(|part| {
                number(part).is_some_and(|(count, word)| count > 0 && word == " failed")
            })
        },
    );
    let case = line.starts_with(' ') && inside.starts_with("× ");
    reading.finding(Family::Vitest, suite || case);
}

/// The end of playwright, mocha and ava.
fn block(reading: &mut Reading<'_>, line: &str) {
    let inside = line.trim_start();
    let indent = line.len() - inside.len();
    let gap = std::mem::take(&mut reading.block.gap);
    let member = number(inside).filter(|_| indent == 2).and_then(|(count, rest)| {
        let rest = rest.strip_prefix(' ')?;
        Some((count, rest.split_once(" (").map_or(rest, |(rest, _)| rest)))
    });
    if let Some((count, rest)) = member
        && (numbered_end(reading, count, rest) || playwright_end(reading, count, rest, gap))
    {
        return;
    }
    // The names of the failed tests follow their number, indented by at least four characters.
    let names = indent >= 4 && !reading.block.tally.is_empty() && !gap;
    if !names {
        reading.block.behind += 1;
    }
    cases(reading, line);
}

/// `3 passing`, `1 failing` of mocha and `1 test failed` of ava, which no other program prints.
fn numbered_end(reading: &mut Reading<'_>, count: u64, rest: &str) -> bool {
    let tally = |slot| tally_of(slot, count);
    match rest {
        "passing" => {
            // The first line of the summary: a test may have printed another one before.
            reading.restart(Family::Mocha);
            reading.add(Family::Mocha, tally(TallySlot::Passed));
            let is_green = !reading.block.numbered;
            reading.green(Family::Mocha, is_green);
        }
        "pending" => reading.add(Family::Mocha, tally(TallySlot::Skipped)),
        "failing" => {
            reading.add(Family::Mocha, tally(TallySlot::Failed));
            reading.part_if_red(Family::Mocha, SUMMARY, count > 0);
        }
        "test passed" | "tests passed" => {
            reading.add(Family::Ava, tally(TallySlot::Passed));
            reading.green(Family::Ava, count > 0);
        }
        "test failed" | "tests failed" => {
            reading.add(Family::Ava, tally(TallySlot::Failed));
            reading.red(Family::Ava, count > 0);
        }
        "test skipped" | "tests skipped" => reading.add(Family::Ava, tally(TallySlot::Skipped)),
        "uncaught exception"
        | "uncaught exceptions"
        | "unhandled rejection"
        | "unhandled rejections" => reading.red(Family::Ava, count > 0),
        _ => return false,
    }
    true
}

/// `1 failed`, `2 passed` of playwright, which a test may print too.
fn playwright_end(reading: &mut Reading<'_>, count: u64, rest: &str, gap: bool) -> bool {
    let slot = match rest {
        "passed" | "flaky" => TallySlot::Passed,
        "failed" | "interrupted" => TallySlot::Failed,
        "skipped" => TallySlot::Skipped,
        "did not run" => TallySlot::Aside,
        "error was not a part of any test, see above for details"
        | "errors were not a part of any test, see above for details" => TallySlot::Errors,
        _ => return false,
    };
    if gap || reading.block.behind > 0 {
        let torn = !gap && names_test(&reading.last);
        let numbered = reading.block.numbered;
        reading.block = Block { torn, numbered, ..Block::default() };
    } else if reading.block.tally.is_empty() {
        reading.block.torn = names_test(&reading.last);
    }
    slot.put(&mut reading.block.tally, count);
    reading.block.at = reading.at;
    true
}

/// Single tests that failed.
fn cases(reading: &mut Reading<'_>, line: &str) {
    let inside = line.trim_start();
    let indent = line.len() - inside.len();
    // `  1) a.spec.ts:3:1 › adds ────`, also with `[chromium]` before the file.
    let listed = number(inside).and_then(|(_, rest)| rest.strip_prefix(") "));
    if reading.program == "playwright" {
        let listed = indent == 2 && listed.is_some_and(|rest| rest.contains(" › "));
        let marked = inside.starts_with("✘ ") && line.contains(" › ");
        reading.finding(Family::Playwright, listed || marked);
        let none = line == "Error: No tests found" || line == "Error: No tests found.";
        reading.red(Family::Playwright, none);
    }
    reading.finding(Family::Ava, inside.starts_with("✘ [fail]: "));
    // `✖ adds (2.5ms)` of node, unless it is marked as TODO.
    let timed = inside.starts_with("✖ ") && inside.ends_with("ms)") && inside.contains(" (");
    reading.finding(Family::Tap, timed);
    // Mocha puts a number before each test that failed.
    let numbered = listed.is_some() && indent >= 4 && matches!(reading.program, "mocha" | "npm");
    reading.block.numbered |= numbered;
    reading.finding(Family::Mocha, numbered);
}

/// `    [chromium] › a.spec.ts:3:1 › adds ────`.
fn names_test(line: &str) -> bool {
    line.starts_with("    ") && line.contains(" › ")
}

fn tally_of(slot: TallySlot, count: u64) -> Tally {
    let mut tally = Tally::default();
    slot.put(&mut tally, count);
    tally
}

fn tap(reading: &mut Reading<'_>, line: &str) {
    if reading.program == "prove" {
        reading.red(Family::Tap, line == "Result: FAIL");
        reading.green(Family::Tap, line == "Result: PASS");
    }
    let at = reading.at;
    let tap = &mut reading.tap;
    let inside = line.trim_start();
    if let Some(rest) = inside.strip_prefix("not ok ") {
        let upper = rest.to_ascii_uppercase();
        let excused = upper.contains("# TODO") || upper.contains("# SKIP");
        if number(rest).is_some() && !excused {
            tap.at = at;
            tap.failed += u64::from(inside.len() == line.len());
            reading.finding(Family::Tap, true);
        }
        return;
    }
    if let Some(rest) = line.strip_prefix("ok ").filter(|rest| number(rest).is_some()) {
        match rest.to_ascii_uppercase().contains("# SKIP") {
            true => tap.skipped += 1,
            false => tap.passed += 1,
        }
        tap.at = at;
        return;
    }
    if let Some((count, "")) = line.strip_prefix("1..").and_then(number) {
        tap.plan = Some(count);
        return;
    }
    if line.starts_with("Bail out!") {
        reading.red(Family::Tap, true);
        return;
    }
    let Some(rest) = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ ")) else { return };
    if rest == "ok" {
        tap.fine = true;
        return;
    }
    // `Error: 50.00% line coverage does not meet threshold of 90%.` of node.
    if rest.starts_with("Error: ") && rest.contains(" coverage does not meet threshold of ") {
        return reading.red(Family::Tap, true);
    }
    let Some((name, count)) = rest.split_once(' ') else { return };
    let Some((count, "")) = number(count.trim_start()) else { return };
    tap.at = at;
    // The first of the totals: those before are of an earlier attempt.
    if name == "tests" && reading.runners.repeats {
        (tap.totals, tap.fine) = (Tally::default(), false);
    }
    match name {
        "pass" => TallySlot::Passed.put(&mut tap.totals, count),
        "fail" | "cancelled" => {
            TallySlot::Failed.put(&mut tap.totals, count);
            tap.fine |= count == 0;
        }
        "skipped" | "skip" => TallySlot::Skipped.put(&mut tap.totals, count),
        _ => {}
    }
}

/// `Node.js v22.1.0`, the last line of node after an exception that was not caught.
pub(super) fn is_node_version(line: &str) -> bool {
    line.strip_prefix("Node.js v").is_some_and(|version| {
        version.starts_with(|c: char| c.is_ascii_digit()) && !version.contains(' ')
    })
}

/// Messages of package managers about a failed script.
fn managers(reading: &mut Reading<'_>, line: &str) {
    let inside = line.trim_start();
    let lifecycle = inside.strip_prefix("ELIFECYCLE").map(str::trim_start);
    let lifecycle = lifecycle
        .is_some_and(|rest| rest.starts_with("Test failed") || rest.starts_with("Command failed"));
    let bun = line.starts_with("error: script \"") && line.contains("\" exited with code ");
    // `pnpm -r test` puts the name of the package before every line of a script, and says at the end that a script has
    // failed.
    let recursive = inside.starts_with("ERR_PNPM_RECURSIVE_");
    let failed = lifecycle
        || recursive
        || bun
        || line.starts_with("npm ERR! Test failed.")
        || line.starts_with("npm ERR! code ELIFECYCLE")
        || line.starts_with("npm error Lifecycle script `")
        || line.starts_with("error Command failed with exit code ");
    reading.red(Family::Manager, failed);
    // Node prints its version after an uncaught exception.
    reading.finding(Family::Node, is_node_version(line));
    let coded = ["npm ERR! code ", "npm error code "].iter().any(|start| line.starts_with(start));
    reading.finding(Family::Manager, coded);
    let missing = ["npm ERR! Missing script:", "npm error Missing script:"];
    let missing = missing.iter().any(|start| line.starts_with(start));
    reading.red(Family::Manager, missing);
    let no_tests = line.starts_with("Error: No test files found")
        || inside.starts_with("Exception during run: ");
    reading.red(Family::Mocha, reading.program == "mocha" && no_tests);
    let not_found = reading.program == "node" && line.starts_with("Could not find '");
    reading.red(Family::Node, not_found);
}

pub(super) fn end(reading: &mut Reading<'_>) {
    // The block is the end of the output: at most a few lines with the address of a report follow.
    let block = std::mem::take(&mut reading.block);
    let runs_scripts = !matches!(reading.program, "mocha" | "ava" | "cargo" | "pytest");
    if !block.tally.is_empty() && block.behind <= 6 && runs_scripts {
        reading.at = block.at;
        match block.torn && !block.tally.is_red() {
            true => reading.add(Family::Playwright, block.tally),
            false => reading.summary(Family::Playwright, block.tally),
        }
    }
    let tap = std::mem::take(&mut reading.tap);
    reading.at = tap.at;
    if !tap.totals.is_empty() {
        reading.add(Family::Tap, tap.totals);
        reading.red(Family::Tap, tap.totals.is_red());
        reading.green(Family::Tap, tap.fine);
        return;
    }
    let seen = tap.passed + tap.failed + tap.skipped;
    if tap.plan == Some(seen) && seen > 0 {
        let (passed, failed, skipped) = (tap.passed, tap.failed, tap.skipped);
        let tally = Tally {
            passed: Some(passed),
            failed: Some(failed),
            skipped: Some(skipped),
            errors: None,
        };
        reading.summary(Family::Tap, tally);
    }
}
