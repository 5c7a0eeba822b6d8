//! Whether two captured failures are the same one, measured on pairs of outputs of real runs.
//!
//! `quality/failures.jsonl` has 60 pairs. In half of them both outputs are of one failure: in another directory, with
//! other line numbers, values, colours or options. In the others they are of two failures, often of the same test or
//! file.

use model::run;
use serde_json::{Value, json};
use text::fingerprint::Fingerprint;

use super::{extract, payload, shorten, tool_of};

const PAIRS: &str = include_str!("../../../../quality/failures.jsonl");

/// A failure as Claude Code reports it: the program, the sub-command and the fingerprint.
fn failure(command: &str, output: &str) -> (Value, Value, Fingerprint) {
    let members = json!({
        "tool_name": "Bash",
        "tool_input": { "command": command },
        "error": format!("Exit code 1\n{output}"),
    });
    let tool = tool_of(extract("claude-code", &payload("PostToolUseFailure", members)).unwrap());
    let metadata = &*tool.metadata;
    assert_eq!(metadata["run"]["result"], "failed", "{command}");
    let named = |member: &str| metadata[member].clone();
    (named("program"), named("subcommand"), run::fingerprint(metadata))
}

/// @fixes_same
#[test]
fn a_repeated_failure_is_recognised_and_no_other_is() {
    let rows: Vec<Value> = PAIRS.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!(rows.len(), 60);
    let (mut missed, mut confused) = (Vec::new(), Vec::new());
    for row in &rows {
        let text = |member: &str| row[member].as_str().unwrap();
        let a = failure(text("command"), text("a"));
        let b = failure(text("command_b"), text("b"));
        assert_eq!((&a.0, &a.1), (&b.0, &b.1), "{}: the same kind of run", row["id"]);
        match (row["same"] == true, a.2.is_same(&b.2)) {
            (true, false) => missed.push(text("id")),
            (false, true) => confused.push(text("id")),
            _ => {}
        }
    }
    // A wrong fix costs more than a missing one.
    assert!(missed.len() <= 1, "{} of 30 not recognised: {missed:?}", missed.len());
    assert!(confused.is_empty(), "{} of 30 confused: {confused:?}", confused.len());
}

/// @fixes_same
#[test]
fn a_failure_is_recognised_by_its_whole_output_if_only_a_part_is_stored() {
    let noise = |word: &str| format!("{word} of the build\n").repeat(400);
    let error = "error[E0308]: mismatched types\n --> src/a.rs:1:1\nerror[E0425]: cannot find value `x`\n\
                 \x20--> src/b.rs:2:2\nerror[E0599]: no method `y`\n --> src/c.rs:3:3\n";
    let early = failure("cargo build", &format!("{error}{}", noise("a line")));
    let late = failure("cargo build", &format!("{}{error}{}", noise("another"), noise("a line")));
    assert_eq!(early.2.hashes().len(), 6);
    assert_eq!(early.2, late.2);
}

/// @capture_run
#[test]
fn counts_at_the_end_of_five_megabytes_decide_behind_a_pipe() {
    let noise = "a line of a log that says nothing at all\n".repeat(130_000);
    for (command, end, expected) in [
        ("pytest 2>&1 | tee log", "2 failed, 5 passed in 3.21s", json!(["failed", 2, 5])),
        ("pytest; true", "2 failed, 5 passed in 3.21s", json!(["failed", 2, 5])),
        ("pytest || true", "7 passed in 3.21s", json!(["passed", null, 7])),
        ("pytest || true", "nothing to see", json!(["unknown", null, null])),
    ] {
        let response = json!({ "stdout": format!("{noise}{end}\n"), "stderr": "" });
        let members = json!({
            "tool_name": "Bash", "tool_input": { "command": command }, "tool_response": response,
        });
        let event = payload("PostToolUse", members);
        let tool = tool_of(extract("claude-code", &shorten(&event)).unwrap());
        let run = &tool.metadata["run"];
        let read = json!([run["result"], run["failed"], run["passed"]]);
        assert_eq!(read, expected, "{command}, {end}");
    }
}

/// @fixes_same
#[test]
fn two_failures_of_gradle_are_not_equal_because_of_its_common_lines() {
    let output = |test: &str, place: &str, report: &str| {
        format!(
            "> Task :app:compileDebugKotlin UP-TO-DATE\n> Task :app:testDebugUnitTest FAILED\n\n{test} FAILED\n    \
             java.lang.AssertionError at {place}\n\n42 tests completed, 1 failed\n\nFAILURE: Build failed with an exception.\n\n\
             * What went wrong:\nExecution failed for task ':app:testDebugUnitTest'.\n> There were failing tests. See the \
             report at: file://{report}/index.html\n\n* Try:\n> Run with --scan to get full insights.\n\nBUILD FAILED in 38s\n\
             31 actionable tasks: 4 executed, 27 up-to-date\n"
        )
    };
    let of = |test, place, report| failure("./gradlew test", &output(test, place, report)).2;
    let route = of("RouteTest > loads offline route", "RouteTest.kt:48", "/srv/a");
    let again = of("RouteTest > loads offline route", "RouteTest.kt:51", "/home/b/app");
    let other = of("RouteTest > sorts by distance", "RouteTest.kt:90", "/srv/a");
    let sync = of("SyncTest > retries on 503", "SyncTest.kt:77", "/srv/a");
    assert!(route.is_same(&again));
    assert!(!route.is_same(&other));
    assert!(!route.is_same(&sync));
    assert!(failure("./gradlew test", "> Task :a:test FAILED\n\nBUILD FAILED in 3s").2.is_empty());
}
