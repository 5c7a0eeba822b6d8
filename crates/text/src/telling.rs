//! The lines of a failed program's output that say what went wrong.

/// The number at the beginning of a text, and the rest of it.
pub fn number(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..digits].parse().ok()?, &text[digits..]))
}

/// The path and the message of a line that begins with a place in a file: `src/a.c:12: …` or
/// `src/a.c:12:5: …`.
pub fn behind_place(line: &str) -> Option<(&str, &str)> {
    let (path, rest) = line.split_once(':')?;
    // `C:\a.c` has a colon of its own.
    let (path, rest) = match (path.len(), rest.starts_with('\\')) {
        (1, true) => {
            let (more, rest) = rest.split_once(':')?;
            (more, rest)
        }
        _ => (path, rest),
    };
    let (_, rest) = number(rest)?;
    let rest = rest.strip_prefix(':')?;
    let rest = match number(rest) {
        Some((_, behind)) => behind.strip_prefix(':')?,
        None => rest,
    };
    let is_path = !path.is_empty() && !path.contains(['\t', '"']) && path.contains('.');
    is_path.then_some((path, rest.trim_start()))
}

/// Beginnings of lines that name an error.
const TELLING: &[&str] = &[
    "error:",
    "error[",
    "Error:",
    "ERROR:",
    "ERROR ",
    "FAILED ",
    "FAIL ",
    "FAIL:",
    "FAIL\t",
    "--- FAIL:",
    "E   ",
    "fatal:",
    "fatal error:",
    "panic:",
    "thread '",
    "not ok ",
    "[ERROR] ",
    "npm ERR!",
    "npm error",
    "CMake Error",
    "Failure/Error:",
    "AssertionError",
    "Caused by:",
    "make: ***",
    "collect2: error",
    "nothing to commit",
    "nothing added to commit",
    "no changes added to commit",
    "test result: FAILED",
];

/// Beginnings of lines that report a failure without its cause, which is on another line.
const REPORTS: &[&str] = &[
    "test result: FAILED",
    "error: test failed",
    "error: could not compile",
    "error: aborting due to",
    "make: ***",
    "gmake: ***",
    "make[",
    "collect2: error",
    "# fail ",
    "npm ERR!",
    "npm error",
    "Caused by:",
    "FAILED (",
    "[ERROR] Failed to execute goal",
];

/// Beginnings of lines that name a failed test. `FAIL ` alone names a file of tests.
const FAILED_TESTS: &[&str] =
    &["FAILED ", "--- FAIL:", "FAIL:", "ERROR:", "not ok ", "●", "[  FAILED  ] "];

/// The reasons in brackets at the end of a line of ctest about a failed test.
const CTEST_ENDS: &[&str] =
    &["(Failed)", "(Timeout)", "(SEGFAULT)", "(Not Run)", "(Subprocess aborted)", "(ILLEGAL)"];

/// Parts of the messages of a linker and of `assert` in C, which a place or a program precedes.
const TOLD_BEHIND: &[&str] =
    &[": undefined reference to ", ": multiple definition of ", ": Assertion `"];

/// Beginnings of lines that TAP prints for tests that passed, for plans and for counts.
const TAP_FRAME: &[&str] = &["# Subtest: ", "ok ", "1..", "# tests ", "# suites ", "duration_ms: "];

/// Signs that test runners print before a failed test.
const CROSSES: [char; 6] = ['✕', '✗', '✘', '×', '✖', '⨯'];

/// Whether a line of an error's output says what went wrong, so that it has to be kept.
pub fn is_telling(line: &str) -> bool {
    let line = line.trim_start();
    if is_excused(line) {
        return false;
    }
    if TELLING.iter().any(|start| line.starts_with(start)) {
        return !line.starts_with("thread '") || line.contains(" panicked at ");
    }
    if line.ends_with("... FAILED") || line.starts_with(CROSSES) || lists_failed_test(line) {
        return true;
    }
    if TOLD_BEHIND.iter().any(|message| line.contains(message)) || counts_failures(line) {
        return true;
    }
    // `src/a.c:3:5: error: …`, `a.ts(3,5): error TS2322: …`, `KeyError: 'missing'`.
    if behind_place(line)
        .is_some_and(|(_, rest)| rest.starts_with("error") || rest.starts_with("fatal error"))
        || line.contains(": error TS")
    {
        return true;
    }
    let word = line.split(':').next().unwrap_or_default();
    let named = (word.ends_with("Error") || word.ends_with("Exception")) && word.len() > 5;
    named && word.len() < line.len() && !word.contains(' ')
}

/// Whether a failed test is marked as one that is expected to fail, or the line is the heading of a list of failed tests.
fn is_excused(line: &str) -> bool {
    let is_test = line.starts_with("not ok ") || line.starts_with(CROSSES);
    is_test && (line.contains(" # TODO") || line.trim_end().ends_with("failing tests:"))
}

/// `# fail 2`: the count of failed tests at the end of a TAP stream.
fn counts_failures(line: &str) -> bool {
    let count = line.trim_end().strip_prefix("# fail ").and_then(number);
    count.is_some_and(|(count, rest)| count > 0 && rest.is_empty())
}

/// Whether a line reports a failure without its cause.
pub(crate) fn is_report(line: &str) -> bool {
    REPORTS.iter().any(|report| line.starts_with(report))
}

/// Whether a line names a failed test.
pub(crate) fn names_test(line: &str) -> bool {
    let begins = FAILED_TESTS.iter().any(|start| line.starts_with(start));
    (begins || line.ends_with("... FAILED") || line.starts_with(CROSSES) || lists_failed_test(line))
        && !is_report(line)
        && !is_excused(line)
}

/// A row in the list of failed tests of ctest, `7 - Dock.Closes (Failed)`, of PHPUnit, `1) Tests\RssTest::testFeed`, or of
/// GoogleTest.
fn lists_failed_test(line: &str) -> bool {
    let line = line.trim();
    let Some((_, rest)) = number(line) else { return line.starts_with("[  FAILED  ] ") };
    let of_phpunit = rest
        .strip_prefix(") ")
        .is_some_and(|name| name.contains("::test") && !name.trim_end().contains(' '));
    of_phpunit || rest.starts_with(" - ") && CTEST_ENDS.iter().any(|end| rest.ends_with(end))
}

/// Whether a line is an exit code, a rule, the progress of a test runner or a part of TAP without a failure.
pub(crate) fn says_nothing(line: &str) -> bool {
    let is_rule = line.chars().all(|c| matches!(c, '=' | '-' | '_' | '*' | '.' | ' '));
    // `F.E`: the progress of unittest and pytest.
    let is_progress = line.chars().all(|c| ".FEsxXu".contains(c));
    line.starts_with("Exit code ")
        || line == "…"
        || is_rule
        || is_progress
        || TAP_FRAME.iter().any(|start| line.starts_with(start))
}

/// The one line of an error's output that says most: the first that names a failed test, else the first
/// that names an error, else the first line that is not the exit code.
pub fn finding(error: &str) -> &str {
    let lines = || error.lines().map(str::trim).filter(|line| !line.is_empty());
    let test = lines().find(|line| names_test(line));
    let cause = || lines().find(|line| is_telling(line) && !is_report(line));
    let report = || lines().find(|line| is_telling(line));
    let any = || lines().find(|line| !says_nothing(line));
    test.or_else(cause).or_else(report).or_else(any).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_finding_is_the_failed_test_else_the_first_error_else_the_first_line() {
        let table = [
            ("", ""),
            ("Exit code 1\nno such service: proxy", "no such service: proxy"),
            (
                "running 2 tests\ntest a ... ok\ntest cart::rounds ... FAILED\n\
                 thread 'cart::rounds' panicked at src/cart.rs:4:5:\ntest result: FAILED. 1 passed",
                "test cart::rounds ... FAILED",
            ),
            (
                "E   assert 1 == 2\nFAILED tests/a.py::test_b - assert 1 == 2\n1 failed in 0.1s",
                "FAILED tests/a.py::test_b - assert 1 == 2",
            ),
            (
                "=== RUN TestX\n--- FAIL: TestX (0.00s)\nFAIL\texample.com/x",
                "--- FAIL: TestX (0.00s)",
            ),
            (
                "   Compiling shop\nerror[E0308]: mismatched types\n --> src/a.rs:1:1\n\
                 error: could not compile `shop`",
                "error[E0308]: mismatched types",
            ),
            (
                "FAIL src/Order.test.tsx\n  ● Order › shows the badge\nTests: 1 failed, 12 total",
                "● Order › shows the badge",
            ),
            ("make: *** [all] Error 2", "make: *** [all] Error 2"),
            (
                "F.\n======================\nFAIL: test_ch (tests.test_vat.Vat.test_ch)\n\
                 ----------------------\nAssertionError: 7.7 != 8.1\nFAILED (failures=1)",
                "FAIL: test_ch (tests.test_vat.Vat.test_ch)",
            ),
            ("F.\n=====\n7.7 is not 8.1", "7.7 is not 8.1"),
            (
                "src/a.c:3:5: error: expected ';'\nmake: *** [a.o] Error 1",
                "src/a.c:3:5: error: expected ';'",
            ),
            (
                "cc -o t test.c\n./t\nt: src/test.c:5: main: Assertion `r.head == 0' failed.\n\
                 make: *** [Makefile:3: test] Aborted",
                "t: src/test.c:5: main: Assertion `r.head == 0' failed.",
            ),
            (
                "/usr/bin/ld: /tmp/cc.o: in function `main':\n\
                 test.c:(.text+0xbd): undefined reference to `field_len'\n\
                 collect2: error: ld returned 1 exit status\nmake: *** [Makefile:6: t] Error 1",
                "test.c:(.text+0xbd): undefined reference to `field_len'",
            ),
            (
                "# Subtest: doubles\nok 2 - doubles\n  ---\n  duration_ms: 1.4\n  ...\n\
                 # Subtest: is capped\nnot ok 3 - is capped\n  ---\n  error: '12 == 3'\n1..3\n# fail 1",
                "not ok 3 - is capped",
            ),
            (
                "# Subtest: doubles\nok 2 - doubles\n  ...\n1..3\n# tests 3\n# pass 2\n# fail 1\n\
                 npm notice",
                "# fail 1",
            ),
            ("not ok 1 - later # TODO\nnot ok 2 - sum", "not ok 2 - sum"),
            ("✖ failing tests:\n\n✖ sum (6.8ms)", "✖ sum (6.8ms)"),
        ];
        for (error, expected) in table {
            assert_eq!(finding(error), expected, "{error:?}");
        }
    }

    #[test]
    fn the_lists_of_failed_tests_name_the_finding() {
        let table = [
            (
                "Test project /srv/robot/build\n    Start 1: Dock.Closes\n\
                 1/2 Test #1: Dock.Closes ......***Failed    0.01 sec\n\
                 The following tests FAILED:\n\t  1 - Dock.Closes (Failed)\n\
                 Errors while running CTest",
                "1 - Dock.Closes (Failed)",
            ),
            (
                "PHPUnit 11.2\n..F.\n1) Tests\\RssTest::testFeed\nFailed asserting that 2 is 3.\n\
                 FAILURES!\nTests: 4, Assertions: 9, Failures: 1.",
                "1) Tests\\RssTest::testFeed",
            ),
            (
                "[ RUN      ] Dock.Closes\n[  FAILED  ] Dock.Closes (2 ms)\n 1 FAILED TEST",
                "[  FAILED  ] Dock.Closes (2 ms)",
            ),
        ];
        for (error, expected) in table {
            assert_eq!(finding(error), expected, "{error:?}");
        }
    }
}
