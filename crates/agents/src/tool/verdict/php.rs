//! PHPUnit, and Pest and Laravel's `artisan test`, which run it.

use super::lines::{TallySlot, list, number};
use super::{Family, Reading, Tally};

pub(super) fn line(reading: &mut Reading<'_>, line: &str) {
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
