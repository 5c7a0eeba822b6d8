//! Runs that were killed, with real outputs: whether they count as failed.
//!
//! `testdata/killed.jsonl` has one run per line: `command`, `killed` (which processes got which signal: `leaf` is the test
//! process itself, `tree` and `group` all processes; or `timeout`), `exit`, `output`, and `expected`. A run is
//! `failed` if a test had failed before the signal, else `unknown`.

use serde_json::{Value, json};

use super::results::failed;

const KILLED: &str = include_str!("../../testdata/killed.jsonl");

/// @capture_run
#[test]
fn a_killed_run_failed_only_if_a_test_failed_before() {
    let rows = KILLED.lines().map(|line| serde_json::from_str(line).expect("a line is JSON"));
    let rows: Vec<Value> = rows.collect();
    assert!(rows.len() > 40, "{}", rows.len());
    let text = |row: &Value, member: &str| row[member].as_str().unwrap().to_owned();
    let code = |row: &Value| row["exit"].as_u64().and_then(|code| u8::try_from(code).ok()).unwrap();
    let mut wrong = Vec::new();
    for row in &rows {
        let tool = failed(&text(row, "command"), &text(row, "output"), code(row));
        let is_interrupt = tool.metadata.get("is_interrupt") == Some(&json!(true));
        let result = &tool.metadata["run"]["result"];
        if *result != row["expected"] || is_interrupt != (row["expected"] == "unknown") {
            wrong.push(format!("{} {} {}: {result}", row["command"], row["killed"], row["exit"]));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Written by hand from what Gradle is known to print: it was not available.
///
/// @capture_run
#[test]
fn a_gradle_run_whose_processes_were_killed_is_unknown() {
    let red = "> Task :test FAILED\n\nCartTest > adds FAILED\n    java.lang.AssertionError at CartTest.java:9\n\n3 tests completed, 1 failed\n";
    let test = "> Task :test FAILED\n";
    let end = |why: &str| {
        format!(
            "\nFAILURE: Build failed with an exception.\n\n* What went wrong:\n{why}\n\n* Try:\n> Run with --scan to get full insights.\n\nBUILD FAILED in 12s\n3 actionable tasks: 1 executed\n"
        )
    };
    let executor = |code: u8| {
        format!(
            "Execution failed for task ':test'.\n> Process 'Gradle Test Executor 1' finished with non-zero exit value {code}"
        )
    };
    let gone = "Gradle build daemon disappeared unexpectedly (it may have been killed or may have crashed)";
    for (before, why, code, result) in [
        (test, executor(143), 1, "unknown"),
        (test, executor(137), 1, "unknown"),
        (test, "Build cancelled while executing task ':test'".to_owned(), 1, "unknown"),
        ("", gone.to_owned(), 1, "unknown"),
        (test, "Execution failed for task ':test'.\n> Build cancelled.".to_owned(), 130, "unknown"),
        (test, executor(1), 1, "failed"),
        (red, executor(143), 1, "failed"),
        (red, "Execution failed for task ':test'.".to_owned(), 143, "failed"),
    ] {
        let tool = failed("./gradlew test", &format!("{before}{}", end(&why)), code);
        assert_eq!(tool.metadata["run"]["result"], result, "{before}{why}");
    }
}

/// Output of a test that looks like that of a killed one.
///
/// @capture_run
#[test]
fn a_failed_run_that_prints_names_of_signals_is_failed() {
    for (line, output) in [
        ("go test ./...", "signal: segmentation fault\nFAIL\tshop\t0.1s\nFAIL\n"),
        (
            "go test ./...",
            "--- FAIL: TestStops (0.00s)\n    a_test.go:9: got\nsignal: killed\nFAIL\nFAIL\tshop\t0.1s\nFAIL\n",
        ),
        (
            "node --test",
            "TAP version 13\nnot ok 1 - stops\n  ---\n  actual:\n    signal: 'SIGTERM'\n  ...\n1..1\n# tests 1\n# pass 0\n# fail 1\n",
        ),
        (
            "npm test",
            "> node a.js\n\nAssertionError: shop\n\nNode.js v20.20.2\nnpm error Lifecycle script `test` failed with error:\nnpm error code 1\n",
        ),
        ("make test", "pytest\n1 failed in 0.1s\nmake: *** wait: No child processes.  Stop.\n"),
    ] {
        assert_eq!(failed(line, output, 1).metadata["run"]["result"], "failed", "{line}: {output}");
    }
}
