//! pytest, unittest and programs that run them.

use super::lines::{TallySlot, list, number};
use super::{Family, Reading, Tally};

/// The two-line summary of unittest: the number of tests, then `OK` or `FAILED (failures=1)`. A test may print
/// the second line too, so alone it counts only if no whole summary was seen.
#[derive(Default)]
pub(super) struct Unittest {
    ran: Option<u64>,
    /// Whether there was a summary with both lines.
    is_whole: bool,
    /// The last result line (`OK` or `FAILED`) that had no line with the number of tests before it, and whether it said
    /// `FAILED`.
    alone: Option<(bool, Tally)>,
    /// Whether a `FAILED` is among those lines.
    alone_red: bool,
    /// A traceback at the end of the output so far.
    traceback: Traceback,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Traceback {
    #[default]
    None,
    Open,
    /// The line that names the exception was seen.
    Ended,
}

pub(super) fn line(reading: &mut Reading<'_>, line: &str) {
    pytest(reading, line);
    unittest(reading, line);
    traceback(reading, line);
}

fn pytest(reading: &mut Reading<'_>, line: &str) {
    let inner = line.trim_matches('=').trim();
    if let Some((counts, _)) = split_time(inner)
        && let Some(tally) = list(counts, ',', pytest_word)
    {
        return reading.summary(Family::Pytest, tally);
    }
    // `collected 0 items / 1 error`.
    let collected = line.strip_prefix("collected ").and_then(|rest| rest.split_once(" / "));
    let collected = collected.and_then(|(_, rest)| number(rest));
    let collected = collected.is_some_and(|(_, word)| word.starts_with(" error"));
    reading.finding(Family::Pytest, collected);
    let strong = line.starts_with("INTERNALERROR>")
        || line.starts_with("ERROR: file or directory not found: ")
        || line.starts_with("ERROR: usage: pytest")
        || line.starts_with("ImportError while loading conftest ")
        || (line.starts_with('!') && line.contains(" during collection !"));
    // Of pytest-cov. The summary of the tests may follow it or precede it, and only counts the tests.
    let uncovered = line.starts_with("FAIL Required test coverage of ")
        || line.starts_with("ERROR: Coverage failure: total of ");
    // `/usr/bin/python3: No module named pytest`, printed by the interpreter.
    let missing = line.split_once(": No module named ").is_some_and(|(interpreter, module)| {
        let name = interpreter.rsplit('/').next().unwrap_or(interpreter);
        name.starts_with("python") && !name.contains(' ') && module == reading.program
    });
    reading.red(Family::Pytest, strong || missing || uncovered);
    let case = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "));
    let case = case.and_then(|rest| rest.split_whitespace().next());
    let names_case = case.is_some_and(|case| case.ends_with(".py") || case.contains(".py::"));
    let assertion = line.starts_with("E   ") && line.len() > 8;
    let is_finding = names_case || assertion || verbose(line) || progress(line);
    reading.finding(Family::Pytest, is_finding);
}

/// `2 failed, 1 passed, 3 warnings in 0.12s` up to ` in `; the time may be followed by `(0:01:02)`.
fn split_time(line: &str) -> Option<(&str, &str)> {
    let (counts, time) = line.rsplit_once(" in ")?;
    let (_, rest) = number(time)?;
    let rest = rest.strip_prefix('.').and_then(number).map_or(rest, |(_, rest)| rest);
    (rest == "s" || rest.starts_with("s (")).then_some((counts, time))
}

fn pytest_word(word: &str) -> Option<TallySlot> {
    Some(match word {
        "passed" => TallySlot::Passed,
        "failed" => TallySlot::Failed,
        "error" | "errors" => TallySlot::Errors,
        "skipped" => TallySlot::Skipped,
        "deselected" | "xfailed" | "xpassed" | "warning" | "warnings" | "rerun"
        | "subtests passed" => TallySlot::Aside,
        _ => return None,
    })
}

/// `tests/a.py::test_b FAILED   [ 33%]`.
fn verbose(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let Some(first) = words.next() else { return false };
    let (case, word) = match first.starts_with("[gw") {
        // `[gw1] [ 10%] FAILED tests/a.py::b`.
        true => {
            let rest: Vec<&str> = words.skip_while(|word| *word != "FAILED").take(2).collect();
            (rest.get(1).copied().unwrap_or_default(), rest.first().copied())
        }
        false => (first, words.next()),
    };
    case.contains(".py::") && matches!(word, Some("FAILED" | "ERROR"))
}

/// `tests/a.py F.F    [100%]`, or without the file if pytest runs with `-q`.
fn progress(line: &str) -> bool {
    let Some((dots, percent)) = line.rsplit_once('[') else { return false };
    let percent = percent.strip_suffix("%]").map(str::trim_start);
    if !percent.is_some_and(|percent| percent.bytes().all(|byte| byte.is_ascii_digit())) {
        return false;
    }
    let mut words = dots.split_whitespace();
    let signs = match (words.next(), words.next(), words.next()) {
        (Some(signs), None, None) => signs,
        (Some(file), Some(signs), None) if file.ends_with(".py") => signs,
        _ => return false,
    };
    signs.contains(['F', 'E']) && signs.chars().all(|sign| ".FEsxXRp".contains(sign))
}

fn unittest(reading: &mut Reading<'_>, line: &str) {
    if let Some(rest) = line.strip_prefix("Ran ")
        && let Some((ran, rest)) = number(rest)
        && (rest.starts_with(" test in ") || rest.starts_with(" tests in "))
    {
        reading.python.ran = Some(ran);
        return;
    }
    let behind = |word: &str| {
        let rest = line.strip_prefix(word)?;
        let inner = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')'));
        if rest.is_empty() { Some("") } else { inner }
    };
    let runs_python =
        matches!(reading.program, "unittest" | "manage.py" | "nose2" | "tox" | "nox" | "python");
    if let Some(inner) = behind("OK")
        && (reading.python.ran.is_some() || runs_python)
        && let Some(tally) = outcomes(inner)
    {
        return ended(reading, tally, false);
    }
    if let Some(inner) = behind("FAILED").filter(|inner| inner.contains('='))
        && let Some(tally) = outcomes(inner)
    {
        return ended(reading, tally, true);
    }
    // `ERROR: test_key (tests.Case.test_key)`, `test_key (tests.Case) ... FAIL`.
    let named = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: "));
    let named = named.and_then(|rest| rest.split_once(' '));
    let named = named.is_some_and(|(_, case)| {
        case.starts_with('(') && case.ends_with(')') && !case.contains(' ')
    });
    let told = (line.ends_with(") ... FAIL") || line.ends_with(") ... ERROR"))
        && line.contains(" (")
        && runs_python;
    reading.finding(Family::Unittest, named || told);
}

/// `failures=1, errors=2, skipped=3, expected failures=4`.
fn outcomes(inner: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    for member in inner.split(", ").filter(|member| !member.is_empty()) {
        let (word, count) = member.split_once('=')?;
        let slot = match word {
            "failures" | "unexpected successes" => TallySlot::Failed,
            "errors" => TallySlot::Errors,
            "skipped" => TallySlot::Skipped,
            "expected failures" => TallySlot::Aside,
            _ => return None,
        };
        slot.put(&mut tally, count.parse().ok()?);
    }
    Some(tally)
}

fn ended(reading: &mut Reading<'_>, mut tally: Tally, red: bool) {
    let Some(ran) = reading.python.ran.take() else {
        reading.python.alone = Some((red, tally));
        reading.python.alone_red |= red;
        return;
    };
    let others = [tally.failed, tally.errors, tally.skipped];
    let others: u64 = others.into_iter().flatten().fold(0, u64::saturating_add);
    tally.passed = Some(ran.saturating_sub(others));
    reading.python.is_whole = true;
    reading.restart(Family::Unittest);
    reading.add(Family::Unittest, tally);
    // A run without tests neither passed nor failed.
    if red || ran != 0 {
        reading.part(Family::Unittest, "tests", red);
    }
}

fn traceback(reading: &mut Reading<'_>, line: &str) {
    let state = reading.python.traceback;
    reading.python.traceback = match () {
        () if line == "Traceback (most recent call last):" => Traceback::Open,
        () if state == Traceback::Open && line.starts_with(' ') => Traceback::Open,
        () if state == Traceback::Open && names_exception(line) => Traceback::Ended,
        () => Traceback::None,
    };
}

/// `ValueError: message`, `package.Refused: message`, `KeyboardInterrupt`.
pub(super) fn names_exception(line: &str) -> bool {
    let name = line.split(':').next().unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(plain)
}

/// A traceback at the end of the output means that the run failed.
pub(super) fn end(reading: &mut Reading<'_>) {
    let python = matches!(
        reading.program,
        "pytest" | "py.test" | "unittest" | "manage.py" | "nose2" | "tox" | "nox" | "python"
    );
    let raised = python && reading.python.traceback == Traceback::Ended;
    reading.finding(Family::Python, raised);
    let Some((red, tally)) = reading.python.alone.filter(|_| !reading.python.is_whole) else {
        return;
    };
    // `OK` after `FAILED` is a passing run whose test printed the latter, or the second of two runs.
    if red || !reading.python.alone_red {
        reading.add(Family::Unittest, tally);
        reading.part(Family::Unittest, "tests", red);
    }
}
