//! The text after a test run or a build: the outcome for the active ghap, and the suggestion to start one.

use serde_json::{Value, json};
use testkit::Home;

use super::ghaps::SESSION;
use super::ghaps_hooks::{GREEN, RED, active, event, here, ran, start, starts};
use super::home;

const OWN: (&str, &str) = (SESSION, "web");

/// A run that Claude Code reports as failed.
fn fails(home: &Home, at: (&str, &str), command: &str, error: &str) -> String {
    let more = json!({ "tool_name": "Bash", "tool_input": { "command": command }, "error": error });
    event(home, "PostToolUseFailure", at, &more)
}

fn update(home: &Home, hypothesis: &str) {
    home.call(
        "update_ghap",
        &here(home, json!({ "hypothesis": hypothesis, "session_id": SESSION })),
    );
}

/// @ghap_outcome
#[test]
fn a_run_of_an_active_ghap_is_answered_once_per_result_and_iteration() {
    let home = home();
    let _daemon = home.daemon();
    starts(&home, SESSION, "startup");
    start(&home, SESSION);
    let passed = "## Outcome\n- `cargo test` passed (3 passed, 0 failed)\n  \
         Prediction: The login tests pass with a frozen clock\n  \
         If the prediction came true, call resolve_ghap with status confirmed.";
    assert_eq!(ran(&home, OWN, "cargo test", GREEN), passed);
    assert_eq!(ran(&home, OWN, "cargo test", GREEN), "", "once");
    let failed = ran(&home, OWN, "cargo test 2>&1 | tail -20", RED);
    assert!(
        failed.starts_with(
            "## Outcome\n- `cargo test 2>&1 | tail -20` failed (1 passed, 1 failed)\n"
        ),
        "{failed}"
    );
    assert!(
        failed.contains("\n  Prediction: The login tests pass with a frozen clock\n"),
        "{failed}"
    );
    assert!(failed.contains("surprise, root_cause and lesson"), "{failed}");
    assert_eq!(fails(&home, OWN, "cargo test", "Exit code 101\nerror: test failed"), "");
    assert_eq!(ran(&home, OWN, "cargo test", GREEN), "", "the failure in between changes nothing");
    let built = fails(&home, OWN, "cargo build", "Exit code 101\nerror[E0308]: mismatched types");
    assert!(built.contains("`cargo build` failed"), "another sub-command: {built}");
    update(&home, "Two tests share one user");
    assert_eq!(ran(&home, OWN, "cargo test", GREEN), passed, "another iteration");
    assert_eq!(ran(&home, OWN, "ls src", "main.rs\n"), "", "no run");
    starts(&home, SESSION, "compact");
    assert_eq!(ran(&home, OWN, "cargo test", GREEN), passed, "the host dropped it");
}

/// @ghap_outcome
#[test]
fn a_hidden_result_is_said_to_be_no_evidence() {
    let home = home();
    let _daemon = home.daemon();
    starts(&home, SESSION, "startup");
    assert_eq!(ran(&home, OWN, "cargo test | wc -l", "9\n"), "", "without a ghap");
    start(&home, SESSION);
    let told = ran(&home, OWN, "cargo test | wc -l", "9\n");
    assert!(told.contains("The result of `cargo test | wc -l` is hidden"), "{told}");
    assert!(told.contains("Prediction: The login tests pass"), "{told}");
    assert_eq!(ran(&home, OWN, "cargo test || true", ""), "", "once");
}

/// Codex reports no exit code, so that a run without a summary may have passed or failed.
/// @ghap_outcome
#[test]
fn a_run_whose_end_no_agent_reported_is_said_to_be_no_evidence() {
    let home = home();
    let _daemon = home.daemon();
    starts(&home, SESSION, "startup");
    start(&home, SESSION);
    let cwd = home.path("web").to_string_lossy().into_owned();
    let payload = json!({ "session_id": SESSION, "cwd": cwd, "hook_event_name": "PostToolUse",
        "tool_name": "Bash", "tool_input": { "command": "cargo test -q" }, "tool_response": "" });
    let told = home
        .run_with(&["hook", "PostToolUse", "--agent", "codex"], payload.to_string().as_bytes())
        .ok();
    assert!(told.contains("does not say how it ended"), "{told}");
}

/// @ghap_evidence @ghap_outcome
#[test]
fn a_run_that_was_killed_or_interrupted_is_no_evidence_and_not_answered() {
    let home = home();
    let _daemon = home.daemon();
    starts(&home, SESSION, "startup");
    start(&home, SESSION);
    for error in [
        "Exit code 143\nCommand timed out after 2m 0.0s\ntests/a.py ..",
        "Command timed out after 2m 0.0s",
        "Exit code 137\ntests/a.py ..",
        "Exit code 130\ntests/a.py ..",
        "Exit code 2\n!!!!! KeyboardInterrupt !!!!!\n/usr/lib/x.py:1: KeyboardInterrupt\n===== 3 passed in 0.5s =====",
    ] {
        assert_eq!(fails(&home, OWN, "pytest", error), "", "{error}");
        assert_eq!(active(&home, SESSION).get("evidence"), None, "{error}");
    }
    let told = fails(&home, OWN, "pytest", "Exit code 143\n===== 1 failed, 2 passed in 9s =====");
    assert!(told.contains("failed"), "a failure was seen before: {told}");
    assert_eq!(active(&home, SESSION)["proof"], "falsified would be gold");
}

/// @ghap_outcome @ghap_suggestion
#[test]
fn a_linter_is_not_answered() {
    let home = home();
    let _daemon = home.daemon();
    starts(&home, SESSION, "startup");
    let found = "Exit code 1\nsrc/a.js\n  1:1  error  x is unused  no-unused-vars\n\n\u{2716} 1 problem (1 error, 0 warnings)";
    assert_eq!(fails(&home, OWN, "npx eslint src", found), "", "no reason to start a ghap");
    start(&home, SESSION);
    assert_eq!(fails(&home, OWN, "npx eslint src", found), "");
    assert_eq!(ran(&home, OWN, "npx eslint src", ""), "");
    assert_eq!(active(&home, SESSION).get("evidence"), None);
}

/// @ghap_outcome
#[test]
fn a_run_without_a_test_is_not_answered() {
    let home = home();
    let _daemon = home.daemon();
    starts(&home, SESSION, "startup");
    start(&home, SESSION);
    let none = "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out\n";
    for (command, output) in [
        ("cargo test nosuch", none),
        ("cargo test nosuch | tail -3", none),
        ("cargo test --no-run", "    Finished `test` profile\n"),
        ("pytest --collect-only -q", "tests/a.py::test_a\n\n1 test collected in 0.01s\n"),
        ("go test ./...", "?   \tex/a\t[no test files]\n"),
    ] {
        assert_eq!(ran(&home, OWN, command, output), "", "{command}");
    }
    let error = "Exit code 5\n===== 2 deselected in 0.01s =====";
    assert_eq!(fails(&home, OWN, "pytest -k zzz", error), "");
}

/// @ghap_outcome
#[test]
fn the_outcome_reaches_codex_which_reports_no_failure() {
    let home = home();
    let _daemon = home.daemon();
    starts(&home, SESSION, "startup");
    start(&home, SESSION);
    let payload = json!({
        "session_id": SESSION, "cwd": home.path("web"), "hook_event_name": "PostToolUse",
        "tool_name": "Bash", "tool_use_id": "call-1", "model": "m", "turn_id": "t",
        "tool_input": { "command": "cargo test" }, "tool_response": RED,
    });
    let run =
        home.run_with(&["hook", "PostToolUse", "--agent", "codex"], payload.to_string().as_bytes());
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(text.contains("`cargo test` failed (1 passed, 1 failed)"), "{text}");
}

/// @ghap_suggestion
#[test]
fn a_failed_run_without_a_ghap_leads_to_one_suggestion_in_a_session() {
    let home = home();
    let _daemon = home.daemon();
    starts(&home, SESSION, "startup");
    assert_eq!(ran(&home, OWN, "cargo test", GREEN), "", "a run that passed");
    assert_eq!(fails(&home, OWN, "ls /none", "Exit code 2\nls: no such file"), "", "no run");
    let told = ran(&home, OWN, "cargo test 2>&1 | tail -20", RED);
    assert_eq!(
        told,
        "## Outcome\n- `cargo test 2>&1 | tail -20` failed (1 passed, 1 failed)\n  \
         If the cause is not clear, state a hypothesis first: start_ghap."
    );
    assert_eq!(fails(&home, OWN, "pytest", "Exit code 1\nE  ValueError: x\n1 failed"), "");
    starts(&home, SESSION, "compact");
    assert_eq!(
        fails(&home, OWN, "cargo test", "Exit code 101\nerror: y"),
        "",
        "after a compaction"
    );
    starts(&home, "s-2", "startup");
    let other = ran(&home, ("s-2", "web"), "cargo test | tail", RED);
    assert!(other.contains("start_ghap"), "{other}");
}
