//! Lines that only say that a run failed, or count its tests: two failures of a program that have nothing to do with each
//! other share them.

use crate::telling::is_report;
use crate::words;

/// The words of such lines, in lower case. A line with any other word says something about its failure.
const WORDS: &[&str] = &[
    "across",
    "after",
    "all",
    "and",
    "assertions",
    "at",
    "build",
    "calls",
    "cancelled",
    "cancelling",
    "code",
    "collect",
    "collection",
    "completed",
    "coverage",
    "deselected",
    "done",
    "due",
    "duration",
    "during",
    "environment",
    "error",
    "errors",
    "exit",
    "expect",
    "expected",
    "fail",
    "failed",
    "failing",
    "fails",
    "failure",
    "failures",
    "file",
    "files",
    "filtered",
    "finished",
    "flaky",
    "h",
    "ignored",
    "import",
    "in",
    "info",
    "interrupted",
    "load",
    "m",
    "measured",
    "min",
    "ms",
    "obsolete",
    "of",
    "ok",
    "out",
    "pass",
    "passed",
    "passes",
    "passing",
    "pending",
    "prepare",
    "ran",
    "rerun",
    "reruns",
    "result",
    "results",
    "run",
    "running",
    "s",
    "sec",
    "second",
    "seconds",
    "setup",
    "short",
    "skipped",
    "snapshot",
    "snapshots",
    "start",
    "statements",
    "status",
    "stopping",
    "suite",
    "suites",
    "summary",
    "t",
    "test",
    "tests",
    "time",
    "to",
    "todo",
    "took",
    "total",
    "transform",
    "typecheck",
    "warning",
    "warnings",
    "with",
    "written",
    "xfailed",
    "xpassed",
    "z",
];

/// Beginnings of such lines that have other words, too.
const BEGINNINGS: &[&str] =
    &["Failed!  - Failed:", "Ran all test suites", "[ERROR] Please refer to ", "[ERROR] See "];

/// Parts of reports that name the cause.
const CAUSES: &[&str] = &["No rule to make target", "No such file or directory"];

/// The rest of a line of npm that wraps the failure of a script.
const NPM_FRAME: &[&str] = &[
    "A complete log",
    "Exit status",
    "Failed at ",
    "Lifecycle script ",
    "Test failed",
    "This is probably not a problem with npm",
    "code ",
    "command ",
    "errno ",
    "location ",
    "path ",
    "workspace ",
];

/// The end of the line of maven about a goal whose own output has the cause.
const MAVEN_FRAME: &[&str] = &["There are test failures", "Compilation failure"];

/// Whether a line says no more than that the run failed, and how many tests did.
pub(super) fn is_verdict_line(line: &str) -> bool {
    // Node's test runner prints this sign, which is a letter in Unicode.
    let line = line.trim_start_matches(['ℹ', ' ', '\t']).trim_end();
    only_counts(line)
        || BEGINNINGS.iter().any(|start| line.starts_with(start))
        || is_report(line) && !tells_cause(line)
}

/// `test result: FAILED. 3 passed; 1 failed`, `FAIL`, `=== 2 failed in 0.1s ===`.
fn only_counts(line: &str) -> bool {
    let has_word = |word: &str| {
        let letters = word.trim_matches(|c: char| c.is_ascii_digit());
        letters.is_empty() || WORDS.binary_search(&&*letters.to_ascii_lowercase()).is_ok()
    };
    // A path or a name is about its failure, whatever its words are.
    !line.contains("::") && words::words(line).all(|(_, word)| has_word(word))
}

fn tells_cause(line: &str) -> bool {
    let of_npm = line.strip_prefix("npm error").or_else(|| line.strip_prefix("npm ERR!"));
    if let Some(rest) = of_npm {
        let rest = rest.trim_start();
        return !rest.is_empty() && !NPM_FRAME.iter().any(|start| rest.starts_with(start));
    }
    if line.starts_with("[ERROR] Failed to execute goal") {
        return !MAVEN_FRAME.iter().any(|part| line.contains(part));
    }
    CAUSES.iter().any(|part| line.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_only_counts_or_says_that_the_run_failed_is_no_part_of_its_failure() {
        for line in [
            "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "error: test failed, to rerun pass `--lib`",
            "error: test run failed",
            "     Summary [   0.012s] 4 tests run: 3 passed, 1 failed, 0 skipped",
            "===== 3 failed, 10 passed, 2 deselected in 0.12s =====",
            "3 failed, 10 passed in 62.10s (0:01:02)",
            "Test Suites: 1 failed, 3 passed, 4 total",
            "Snapshots:   0 total",
            "Time:        1.234 s",
            "Ran all test suites matching /cart/i.",
            " Test Files  1 failed | 3 passed (4)",
            "   Start at  10:14:05",
            "   Duration  1.02s (transform 50ms, setup 0ms, collect 30ms, tests 5ms, environment 0ms, prepare 70ms)",
            "FAIL",
            "exit status 1",
            "[INFO] BUILD FAILURE",
            "[INFO] Total time:  2.301 s",
            "[INFO] Finished at: 2026-03-04T10:14:05+01:00",
            "[ERROR]",
            "[ERROR] Please refer to /srv/shop/target/surefire-reports for the individual test results.",
            "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test: There are test failures.",
            "npm error Lifecycle script `test` failed with error:",
            "npm error code 1",
            "make: *** [Makefile:3: test] Error 1",
            "make[1]: *** [Makefile:9: unit] Error 2",
            "ℹ fail 1",
            "Ran 3 tests in 0.001s",
            "10 examples, 1 failure",
            "  1 failing",
            "Ran 4 tests across 2 files. [10.00ms]",
        ] {
            assert!(is_verdict_line(line), "{line}");
        }
        for line in [
            "test cart::rounds ... FAILED",
            "    tests::fails",
            "npm error Missing script: \"tset\"",
            "npm error enoent Could not read package.json",
            "make: *** No rule to make target 'tset'.  Stop.",
            "[ERROR] Failed to execute goal on project shop: Could not resolve dependencies for project shop",
            "no such service: proxy",
            "timed out",
            "connection refused",
        ] {
            assert!(!is_verdict_line(line), "{line}");
        }
        assert!(WORDS.is_sorted());
    }
}
