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
    "[error] ",
    "** (",
    "== Compilation error in file ",
    "e: file://",
    "> Could not ",
    "┃ [",
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
    "FAILED | ",
    "error: Test failed",
    "× Some errors were emitted",
    "error: the following ",
    "[ERROR] Failed to execute goal",
    "[ERROR] Failures:",
    "[ERROR] Errors:",
    "[ERROR] Tests run:",
    "[ERROR] There are test failures.",
    "[error] Failed tests:",
    "[error] Failed: Total ",
    "[error] Error: Total ",
    "[error] Total time: ",
    "[error] (",
    "[error] stack trace is suppressed",
    "== Compilation error in file ",
    "StandardError: An error has occurred, this and all later migrations canceled",
];

/// Beginnings of lines that name a failed test. `FAIL ` alone names a file of tests.
const FAILED_TESTS: &[&str] = &[
    "FAILED ",
    "--- FAIL:",
    "FAIL:",
    "ERROR:",
    "not ok ",
    "●",
    "[  FAILED  ] ",
    "rspec ./",
    "(fail) ",
    "==> X ",
    "Failure in test ",
];

/// Ends of lines that name a failed test: cargo, ScalaTest, Dart, pre-commit.
const FAILED_ENDS: &[&str] = &["... FAILED", "*** FAILED ***", " [E]", HOOK_FAILED];

/// Ends of the rows of pre-commit, one for each hook.
const HOOK_FAILED: &str = "....Failed";
const HOOK_ENDS: &[&str] = &[HOOK_FAILED, "....Passed", "....Skipped"];

/// Names of a test in the list of ExUnit.
const EX_UNIT: &[&str] = &[") test ", ") doctest ", ") property "];

/// Beginnings of lines about progress, which say nothing if the output has any other line.
const PROGRESS: &[&str] = &[
    "Compiling ",
    "Checking ",
    "Finished ",
    "Running ",
    "Downloading ",
    "Downloaded ",
    "Blocking ",
    "Updating ",
    "Locking ",
    "warning:",
    "note:",
    "hint:",
    "Node.js v",
    "Wall time:",
    "Output:",
    "real\t",
    "user\t",
    "sys\t",
    "> Task :",
    "> Configure project ",
    "Starting a Gradle Daemon",
    "Building for ",
    "[info] ",
    "INFO: ",
    "==> ",
    "Excluding tags: ",
    "Including tags: ",
    "bun test v",
    "running ",
];

/// Beginnings of lines that a build tool prints for any failure.
const BUILD_FRAME: &[&str] = &[
    "FAILURE: Build failed with ",
    "FAILURE: Build completed with ",
    "* What went wrong:",
    "* Try:",
    "* Where:",
    "* Exception is:",
    "* Get more help at ",
    "Execution failed for task ",
    "> There were failing tests.",
    "> A failure occurred while executing ",
    "> Compilation error. See log for more details",
    "> Compilation failed; see the compiler ",
    "> Run with --",
    "> Get more help at ",
    "BUILD FAILED",
    "Build Summary: ",
    "Failures:",
    "# ",
    "Deprecated Gradle features were used",
    "Lint found ",
    "rake aborted!",
    "rails aborted!",
    "bin/rails aborted!",
];

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

/// Beginnings of messages behind a place in a file; Android's lint has the second.
const PLACED: [&str; 3] = ["error", "Error: ", "fatal error"];

/// Whether a line of an error's output says what went wrong, so that it has to be kept.
pub fn is_telling(line: &str) -> bool {
    let line = line.trim_start();
    if is_excused(line) {
        return false;
    }
    if TELLING.iter().any(|start| line.starts_with(start)) {
        return !line.starts_with("thread '") || line.contains(" panicked at ");
    }
    if line.starts_with(CROSSES) || ends_as_failed(line) || lists_failed_test(line) {
        return true;
    }
    if TOLD_BEHIND.iter().any(|message| line.contains(message)) || counts_failures(line) {
        return true;
    }
    // `src/a.c:3:5: error: …`, `a.ts(3,5): error TS2322: …`, `KeyError: 'missing'`.
    if behind_place(line)
        .is_some_and(|(_, rest)| PLACED.iter().any(|start| rest.starts_with(start)))
        || line.contains(": error TS")
        || line.starts_with("TS") && line.contains(" [ERROR]: ")
    {
        return true;
    }
    if is_timed_error(line) || is_row_of_eslint(line) {
        return true;
    }
    let word = line.split(':').next().unwrap_or_default();
    // Gradle prints where: `java.lang.AssertionError at CartTest.kt:48`.
    let word = word.split_once(" at ").map_or(word, |(word, _)| word);
    let named = (word.ends_with("Error") || word.ends_with("Exception")) && word.len() > 5;
    named && word.len() < line.len() && !word.contains(' ')
        || line.split_once(": ").is_some_and(|(name, _)| is_ruby_name(name))
        || is_above_message(line)
}

/// Whether a line is only the name of an exception of Ruby, with its message on the next line.
fn is_above_message(line: &str) -> bool {
    line.trim_end().strip_suffix("Error:").is_some_and(|start| is_ruby_name(&format!("{start}X")))
}

/// `PG::DuplicateTable`: the name of a class inside of a module.
fn is_ruby_name(name: &str) -> bool {
    let is_constant = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_uppercase())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    name.contains("::") && name.split("::").all(is_constant)
}

/// Whether a failed test is marked as one that is expected to fail, or the line is the heading of a list of failed tests.
fn is_excused(line: &str) -> bool {
    let is_test = line.starts_with("not ok ") || line.starts_with(CROSSES);
    is_test && (line.contains(" # TODO") || line.trim_end().ends_with("failing tests:"))
}

/// `# fail 2`: the count of failed tests at the end of a TAP stream; `19 tests, 1 failure` of ExUnit and rspec.
fn counts_failures(line: &str) -> bool {
    let line = line.trim_end();
    let count = line.strip_prefix("# fail ").and_then(number);
    let listed = number(line).and_then(|(_, rest)| {
        let mut members = rest.split(", ").filter_map(number);
        members.find(|(_, word)| word.starts_with(" failure"))
    });
    count.is_some_and(|(count, rest)| count > 0 && rest.is_empty())
        || listed.is_some_and(|(count, _)| count > 0)
}

/// Whether a line reports a failure without its cause.
pub(crate) fn is_report(line: &str) -> bool {
    REPORTS.iter().any(|report| line.starts_with(report))
        || counts_failures(line)
        || counts_problems(line)
}

/// `✖ 2 problems (1 error, 1 warning)`, at the end of the output of eslint.
fn counts_problems(line: &str) -> bool {
    let counted = line.strip_prefix(CROSSES).map(str::trim_start).and_then(number);
    counted.is_some_and(|(_, rest)| rest.starts_with(" problem"))
}

/// `3:1  error  x is not defined  no-undef`: a row of eslint below the name of the file.
fn is_row_of_eslint(line: &str) -> bool {
    let column = number(line).and_then(|(_, rest)| number(rest.strip_prefix(':')?));
    column.is_some_and(|(_, rest)| rest.starts_with(' ') && rest.trim_start().starts_with("error "))
}

/// Whether a line names a failed test.
pub(crate) fn names_test(line: &str) -> bool {
    let begins = FAILED_TESTS.iter().any(|start| line.starts_with(start));
    (begins || line.starts_with(CROSSES) || ends_as_failed(line) || lists_failed_test(line))
        && !is_report(line)
        && !is_excused(line)
}

/// `test cart ... FAILED`, `rejects it ... FAILED (1ms)` of deno, `CartTest > rounds FAILED` of gradle,
/// `//cart:test FAILED in 0.6s` of bazel.
fn ends_as_failed(line: &str) -> bool {
    let line = line.trim_end();
    let untimed = match line.rsplit_once(" (") {
        Some((before, time)) if time.ends_with("s)") => before,
        _ => line,
    };
    FAILED_ENDS.iter().any(|end| untimed.ends_with(end))
        || line.ends_with(" FAILED") && line.contains(" > ") && !line.starts_with("> Task :")
        || line.starts_with("//") && line.contains(" FAILED in ")
        || is_zig_failure(line)
}

/// `2/3 cart.test.rounds...expected 3, found 2`: a test of zig that neither passed nor was skipped.
fn is_zig_failure(line: &str) -> bool {
    let is_numbered = number(line).is_some_and(|(_, rest)| rest.starts_with('/'));
    let result = line.split_once(".test.").and_then(|(_, rest)| rest.split_once("..."));
    is_numbered && result.is_some_and(|(_, result)| !matches!(result, "OK" | "SKIP"))
}

/// An error of dbt, after the time: `09:00:06  Database Error in model fct_bookings (models/fct_bookings.sql)`.
fn is_timed_error(line: &str) -> bool {
    [" Error in model ", " Error in test ", "Failure in test "].iter().any(|it| line.contains(it))
}

/// A row in the list of failed tests of ctest (`7 - Dock.Closes (Failed)`), PHPUnit (`1) Tests\RssTest::testFeed`),
/// GoogleTest (`[  FAILED  ] Cart.Rounds`), Playwright (`1) [chromium] › cart.spec.ts:3:5 › adds`) or Maven, or the heading
/// of a failed test of ExUnit, which names its module (`1) test rounds up (Shop.CartTest)`).
fn lists_failed_test(line: &str) -> bool {
    let line = line.trim();
    if lists_failed_test_of_maven(line) || names_test_of_playwright(line) {
        return true;
    }
    let Some((_, rest)) = number(line) else { return line.starts_with("[  FAILED  ] ") };
    let of_phpunit = rest
        .strip_prefix(") ")
        .is_some_and(|name| name.contains("::test") && !name.trim_end().contains(' '));
    let of_ex_unit = EX_UNIT.iter().any(|start| rest.starts_with(start)) && rest.ends_with(')');
    of_phpunit
        || of_ex_unit
        || rest.starts_with(" - ") && CTEST_ENDS.iter().any(|end| rest.ends_with(end))
}

/// `[ERROR]   CartTest.rounds:12 expected: <3> but was: <2>`, `[ERROR] shop.CartTest.rounds -- Time elapsed: 0.02 s <<< FAILURE!`.
fn lists_failed_test_of_maven(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("[ERROR] ") else { return false };
    let marked = rest.ends_with(" <<< FAILURE!") || rest.ends_with(" <<< ERROR!");
    let listed = || {
        let (name, place) = rest.strip_prefix("  ")?.split_once(':')?;
        let is_name = name.contains('.') && !name.contains([' ', '/', '\\']);
        (is_name && number(place).is_some()).then_some(())
    };
    (marked && !rest.starts_with("Tests run:")) || listed().is_some()
}

/// `1) [chromium] › cart.spec.ts:3:5 › adds ────`, also without the number or the browser.
fn names_test_of_playwright(line: &str) -> bool {
    let numbered = number(line).and_then(|(_, rest)| rest.strip_prefix(") "));
    let mut parts = numbered.unwrap_or(line).split(" › ");
    let file = parts.find(|part| !part.starts_with('['));
    let place = file.and_then(|file| file.split_once(':')).map(|(_, place)| place);
    parts.next().is_some() && place.and_then(number).is_some()
}

/// The last title of the first failed test in the list at the end of mocha: `1) cart`, and below it `rounds up:`.
fn test_of_mocha(error: &str) -> Option<&str> {
    let mut lines = error.lines().skip_while(|line| !line.trim_end().ends_with(" failing"));
    let is_number = |line: &&str| {
        let numbered = line.strip_prefix("  ").and_then(number);
        numbered.is_some_and(|(_, rest)| rest.starts_with(") "))
    };
    lines.find(is_number)?;
    // Each title is indented by two characters more than the one before.
    let titles = lines.take_while(|line| line.starts_with("       "));
    let last = titles.map(str::trim).find(|line| line.ends_with(':'))?;
    Some(last.trim_end_matches(':'))
}

/// Whether a line is an exit code, a separator line, the progress of a test runner or a part of TAP without a failure.
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

/// `ruff.....Failed`: the row of pre-commit for a hook that failed.
fn is_failed_hook(line: &str) -> bool {
    line.ends_with(HOOK_FAILED)
}

/// Of the lines that the first failed hook of pre-commit printed, the first with a place in a file, else the first one. If
/// it printed none, the row of the hook.
fn finding_of_hook(error: &str) -> Option<&str> {
    let mut lines = error.lines().map(str::trim).skip_while(|line| !is_failed_hook(line));
    let row = lines.next()?;
    let is_next = |line: &str| HOOK_ENDS.iter().any(|end| line.ends_with(end));
    let said = lines.take_while(|line| !is_next(line));
    let said =
        said.filter(|line| !line.is_empty() && !line.starts_with("- ") && !says_nothing(line));
    let said: Vec<&str> = said.collect();
    let placed = said.iter().find(|line| behind_place(line).is_some());
    Some(placed.or(said.first()).copied().unwrap_or(row))
}

/// The one line of an error's output that says most: the first that names a failed test, else the first
/// that names an error, else the first line that is neither progress nor the exit code.
pub fn finding(error: &str) -> &str {
    let lines = || error.lines().map(str::trim).filter(|line| !line.is_empty());
    let test = lines().find(|line| names_test(line) && !is_failed_hook(line));
    let test = test.or_else(|| finding_of_hook(error));
    let is_cause = |line: &&str| is_telling(line) && !is_report(line);
    let cause = || {
        let mut from = lines().skip_while(|line| !is_cause(line));
        let first = from.next()?;
        if is_above_message(first) { from.next().or(Some(first)) } else { Some(first) }
    };
    let report = || lines().find(|line| is_telling(line));
    let other = || lines().find(|line| !says_nothing(line) && !is_frame(line));
    let any = || lines().find(|line| !says_nothing(line));
    let test = test.or_else(|| test_of_mocha(error));
    let test = test.map(|line| line.trim_end_matches([' ', '─']));
    test.or_else(cause).or_else(report).or_else(other).or_else(any).unwrap_or_default()
}

/// Whether a line is progress, or one that a build tool prints for any failure.
pub(crate) fn is_frame(line: &str) -> bool {
    let line = line.trim_start();
    PROGRESS.iter().chain(BUILD_FRAME).any(|start| line.starts_with(start))
        || line.contains(" actionable task")
        || line.contains(" tests completed, ")
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
    fn the_cause_behind_the_summary_of_a_tool_is_the_finding() {
        let table = [
            (
                "> Task :app:lintDebug FAILED\nLint found 2 errors, 5 warnings. First failure:\n\n\
                 /src/ui/ProfileView.kt:88: Error: Elevation API called on the main thread [Elev]\n\
                 BUILD FAILED in 22s",
                "/src/ui/ProfileView.kt:88: Error: Elevation API called on the main thread [Elev]",
            ),
            (
                "  1) Booking a slip\n     Got 0 failures and 1 other error:\n\
                 \x20    Selenium::WebDriver::Error::SessionNotCreatedError:\n\
                 \x20      session not created: This version of ChromeDriver is too old\n\n\
                 8 examples, 8 failures",
                "session not created: This version of ChromeDriver is too old",
            ),
            (
                "bin/rails aborted!\n\
                 StandardError: An error has occurred, this and all later migrations canceled:\n\n\
                 PG::DuplicateTable: ERROR:  relation \"slips\" already exists\nTasks: TOP",
                "PG::DuplicateTable: ERROR:  relation \"slips\" already exists",
            ),
            ("rake aborted!\nno such task", "no such task"),
            (
                "/x/src/a.ts\n  1:1  warning  y  no-y\n  3:1  error  x is not defined  no-undef\n\n\
                 ✖ 2 problems (1 error, 1 warning)",
                "3:1  error  x is not defined  no-undef",
            ),
            ("✖ 1 problem (1 error, 0 warnings)", "✖ 1 problem (1 error, 0 warnings)"),
            (
                "trim.....................................................Passed\n\
                 ruff.....................................................Failed\n\
                 - hook id: ruff\n- exit code: 1\n\nsrc/api/limit.py:3:1: F401 `os` imported but unused\n\
                 Found 1 error.\nmypy.....................................................Passed",
                "src/api/limit.py:3:1: F401 `os` imported but unused",
            ),
            (
                "black....................................................Failed\n- hook id: black\n\
                 - files were modified by this hook\n\nreformatted src/a.py",
                "reformatted src/a.py",
            ),
            (
                "large....................................................Failed\n- hook id: large\n\
                 mypy.....................................................Passed\nsrc/a.py:1: x",
                "large....................................................Failed",
            ),
        ];
        for (error, expected) in table {
            assert_eq!(finding(error), expected, "{error:?}");
        }
    }

    #[test]
    fn progress_and_the_frame_of_a_build_tool_are_no_finding() {
        let table = [
            (
                "Running ExUnit with seed: 4, max_cases: 16\n\n....\n\n\
                 \x20 1) test rollout is sticky per user (Beacon.RolloutTest)\n     test/a_test.exs:27\n\
                 \x20    Assertion with == failed\n19 tests, 1 failure",
                "1) test rollout is sticky per user (Beacon.RolloutTest)",
            ),
            ("19 tests, 0 failures\n19 tests, 1 failure", "19 tests, 1 failure"),
            (
                "Compiling 3 files (.ex)\n    error: undefined function bucket/2\n\
                 == Compilation error in file lib/a.ex ==\n** (CompileError) lib/a.ex: cannot compile",
                "error: undefined function bucket/2",
            ),
            (
                "> Task :app:compileDebugKotlin\n> Task :app:test FAILED\n\nRouteTest > loads offline FAILED\n\
                 \x20   java.lang.AssertionError at RouteTest.kt:48\n\nFAILURE: Build failed with an exception.",
                "RouteTest > loads offline FAILED",
            ),
            (
                "> Task :app:compileDebugKotlin FAILED\ne: file:///srv/a/RouteDao.kt:31:17 Unresolved reference 'x'.\n\
                 FAILURE: Build failed with an exception.",
                "e: file:///srv/a/RouteDao.kt:31:17 Unresolved reference 'x'.",
            ),
            (
                "FAILURE: Build failed with an exception.\n\n* What went wrong:\n\
                 Execution failed for task ':app:detekt'.\n> Analysis failed with 3 weighted issues.\n\n* Try:\n\
                 > Run with --scan to get full insights.\n\nBUILD FAILED in 6s",
                "> Analysis failed with 3 weighted issues.",
            ),
            (
                "[info] welcome to sbt 1.10.2\n[info] - splits after 30 minutes *** FAILED ***\n\
                 [info]   3 did not equal 2 (A.scala:22)\n[error] Failed tests:\n[error] \tlake.A",
                "[info] - splits after 30 minutes *** FAILED ***",
            ),
            (
                "[info] welcome to sbt 1.10.2\n[error] /srv/A.scala:18:31: not found: value Window\n\
                 [error] (Compile / compileIncremental) Compilation failed",
                "[error] /srv/A.scala:18:31: not found: value Window",
            ),
            (
                "FAILED | 2 passed | 1 failed (12ms)\nrejects an empty key ... FAILED (1ms)\nerror: Test failed",
                "rejects an empty key ... FAILED (1ms)",
            ),
            ("running 1 test\nFAILED | 0 passed | 1 failed", "FAILED | 0 passed | 1 failed"),
            (
                "1/2 a.test.x...OK\n2/2 a.test.y...FAIL (Unexpected)",
                "2/2 a.test.y...FAIL (Unexpected)",
            ),
            (
                "00:01 +3 -1: counter increments [E]\n  Expected: 1",
                "00:01 +3 -1: counter increments [E]",
            ),
            (
                "09:00:05  1 of 31 START sql table model a\n09:00:06    Database Error in model a (models/a.sql)",
                "09:00:06    Database Error in model a (models/a.sql)",
            ),
            (
                "# lake/loader\nloader/s3.go:12:2: \"errors\" imported and not used",
                "loader/s3.go:12:2: \"errors\" imported and not used",
            ),
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
            (
                "  1) [chromium] › cart.spec.ts:3:5 › adds ─────────\n\n    Error: expect(received).toBe(expected)\n\n\
                 \x20 1 failed\n    [chromium] › cart.spec.ts:3:5 › adds ─────\n  2 passed (1.2s)",
                "1) [chromium] › cart.spec.ts:3:5 › adds",
            ),
            (
                "    Error: expect(received).toBe(expected)\n  1 failed\n    cart.spec.ts:3:5 › adds\n",
                "cart.spec.ts:3:5 › adds",
            ),
            (
                "\n  cart\n    ✔ adds\n    1) rounds up\n\n  1 passing (34ms)\n  1 failing\n\n  1) cart\n       rounds up:\n\n\
                 \x20     AssertionError [ERR_ASSERTION]: 1 == 2\n      + expected - actual\n",
                "rounds up",
            ),
            (
                "[INFO] Running shop.CartTest\n\
                 [ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0 <<< FAILURE! -- in shop.CartTest\n\
                 [ERROR] shop.CartTest.rounds -- Time elapsed: 0.02 s <<< FAILURE!\n\
                 org.opentest4j.AssertionFailedError: expected: <3> but was: <2>\n[ERROR] Failures: \n\
                 [ERROR]   CartTest.rounds:12 expected: <3> but was: <2>",
                "[ERROR] shop.CartTest.rounds -- Time elapsed: 0.02 s <<< FAILURE!",
            ),
            (
                "[ERROR] Failures: \n[ERROR]   CartTest.rounds:12 expected: <3> but was: <2>\n[INFO] \n\
                 [ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0",
                "[ERROR]   CartTest.rounds:12 expected: <3> but was: <2>",
            ),
            (
                "[ERROR] /srv/Cart.java:[5,9] cannot find symbol\n[ERROR] Failed to execute goal x",
                "[ERROR] /srv/Cart.java:[5,9] cannot find symbol",
            ),
        ];
        for (error, expected) in table {
            assert_eq!(finding(error), expected, "{error:?}");
        }
    }
}
