//! Runs and commits without a usable exit code: their output decides how they are recorded.

use serde_json::{Value, json};
use testkit::Home;

use super::home;

const RED: &str = "running 2 tests\ntest parses ... ok\ntest adds ... FAILED\n\nthread 'adds' panicked at src/lib.rs:9:5:\nassertion `left == right` failed\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\nerror: test failed, to rerun pass `--lib`\n";
const GREEN: &str = "error: a log line\ntest failed_logins ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";

/// Sends a command of an agent with this response.
fn ran(home: &Home, agent: &str, session: &str, command: &str, response: &Value) {
    let payload = json!({
        "session_id": session, "cwd": home.path(""), "hook_event_name": "PostToolUse",
        "tool_name": "Bash", "tool_input": {"command": command}, "tool_response": response,
        "tool_use_id": format!("use-{command}-{}", response.to_string().len()),
    });
    let args = ["hook", "PostToolUse", "--agent", agent];
    let run = home.run_with(&args, payload.to_string().as_bytes());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{command}");
}

/// Type and metadata of the records of a session, in order.
fn records(home: &Home, session: &str) -> Vec<(String, Value)> {
    let trace = home.call("session_trace", &json!({ "session_id": session }));
    let turns = trace["prompts"].as_array().unwrap();
    let seen = turns.iter().flat_map(|turn| turn["observations"].as_array().unwrap());
    let ids: Vec<&Value> = seen.map(|seen| &seen["id"]).collect();
    let whole = home.call("get_observations", &json!({ "ids": ids }));
    let whole = whole["results"].as_array().unwrap().clone();
    let of_id = |id: &Value| whole.iter().find(|record| record["id"] == *id).unwrap().clone();
    ids.into_iter()
        .map(of_id)
        .map(|record| (record["obs_type"].as_str().unwrap().to_owned(), record["metadata"].clone()))
        .collect()
}

/// @capture_verdicts
/// @capture_run
#[test]
fn failed_runs_behind_a_pipe_and_in_codex_are_recorded_as_failures() {
    for with_daemon in [true, false] {
        let home = home();
        // Without a daemon the hook itself reads the output, before it spools the event.
        let _daemon = with_daemon.then(|| home.daemon());
        let piped = "cargo test 2>&1 | tail -20";
        for (agent, session, command) in
            [("claude-code", "s-1", piped), ("codex", "s-2", "cargo test")]
        {
            let answer = |output: &str| match agent {
                "codex" => json!(output),
                _ => json!({"stdout": output, "stderr": ""}),
            };
            ran(&home, agent, session, command, &answer(RED));
            ran(&home, agent, session, command, &answer(GREEN));
            let own = command != piped;
            let failed = json!({"result": "failed", "own_exit": own, "passed": 1, "failed": 1, "skipped": 0});
            let passed = json!({"result": "passed", "own_exit": own, "passed": 1, "failed": 0, "skipped": 0});
            let told = records(&home, session);
            let runs: Vec<_> =
                told.iter().map(|(kind, told)| (kind.as_str(), told["run"].clone())).collect();
            assert_eq!(runs, [("command_error", failed), ("command", passed)], "{with_daemon}");
            assert_eq!(told[0].1["failed"], true);
            assert!(told[0].1["error"].as_str().unwrap().contains("test adds ... FAILED"));
        }
    }
}

/// @capture_foreign_verdicts
#[test]
fn a_passing_run_that_prints_the_verdict_of_another_runner_is_not_a_failure() {
    let home = home();
    let _daemon = home.daemon();
    let passing = [
        ("python3 -m unittest 2>&1 | tail -8", "{}\n.\n-----\nRan 1 test in 0.000s\n\nOK\n"),
        ("python3 -m unittest 2>&1 | tail -9", ".\n-----\nRan 1 test in 0.000s\n\nOK\n{}\n"),
        ("pytest -q -s 2>&1 | tail -20", "{}\n.      [100%]\n1 passed in 0.02s\n"),
        (
            "go test -v ./... 2>&1 | tail -20",
            "=== RUN   TestA\n{}\n--- PASS: TestA (0.00s)\nPASS\nok  \ta\t0.004s\n",
        ),
        ("make test 2>&1 | tail -20", "{}\n.\n-----\nRan 1 test in 0.000s\n\nOK\n"),
    ];
    let foreign = [
        "Tests:       1 failed, 1 total",
        "  3 failing",
        "[ERROR] BUILD FAILURE",
        "✖ 3 problems (3 errors, 0 warnings)",
        "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
        "--- FAIL: TestB (0.00s)\nFAIL\nFAIL\tother\t0.1s",
    ];
    for (agent, session) in [("codex", "s-1"), ("claude-code", "s-2")] {
        for (command, output) in passing {
            for line in foreign {
                let output = output.replace("{}", line);
                let response = match agent {
                    "codex" => json!(output),
                    _ => json!({"stdout": output, "stderr": ""}),
                };
                ran(&home, agent, session, command, &response);
            }
        }
        let told = records(&home, session);
        assert!(told.len() >= passing.len(), "{agent}: {}", told.len());
        for (kind, metadata) in told {
            assert_eq!(
                (kind.as_str(), &metadata["failed"]),
                ("command", &Value::Null),
                "{metadata}"
            );
        }
    }
}

/// @capture_no_commit
/// @obs_summary_completed
#[test]
fn a_commit_that_failed_in_codex_is_neither_a_commit_nor_completed() {
    let home = home();
    let _daemon = home.daemon();
    let command = "git commit -m 'fix the login'";
    let fatal = "fatal: unable to auto-detect email address";
    ran(&home, "codex", "s-1", command, &json!(fatal));
    ran(&home, "codex", "s-1", command, &json!("On branch main\nnothing to commit\n"));
    let hook = "src/login.rs:1: trailing whitespace";
    ran(&home, "codex", "s-1", command, &json!(format!("{hook}\n")));
    ran(
        &home,
        "codex",
        "s-1",
        "git commit -m tests",
        &json!("[main 1a2b3c4] tests\n 1 file changed, 1 insertion(+)\n"),
    );
    let kinds: Vec<String> = records(&home, "s-1").into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["command_error", "command_error", "command_error", "git_commit"]);
    let end = json!({ "session_id": "s-1", "cwd": home.path(""), "hook_event_name": "Stop" });
    home.hook("Stop", &end);
    let summaries = home.call("session_summaries", &json!({ "project": "*" }));
    let summary = &summaries["results"][0]["summary"];
    assert_eq!(summary["completed"], json!(["tests"]), "{summary}");
    assert_eq!(summary["notes"], json!([hook, "nothing to commit", fatal]), "{summary}");
}

/// @capture_no_commit
/// @obs_summary_completed
#[test]
fn a_commit_that_a_git_hook_refused_behind_a_pipe_is_not_recorded_as_a_success() {
    let home = home();
    let _daemon = home.daemon();
    let answer = |output: &str| json!({"stdout": output, "stderr": ""});
    let prompt = json!({"session_id": "s-1", "cwd": home.path(""), "hook_event_name": "UserPromptSubmit",
        "prompt": "commit the lint rules and push them"});
    home.hook("UserPromptSubmit", &prompt);
    let table = [
        ("git commit -m 'lint: rules' 2>&1 | tail -5", "error: gpg failed to sign the data\n"),
        ("git commit -m 'lint: rules' 2>&1 | tail -5", "lint: 3 problems\n"),
        ("git commit -m 'lint: again' 2>&1 | tail -1", "no changes added to commit\n"),
        ("git push origin main 2>&1 | tail -1", "and the repository exists.\n"),
        ("make deploy 2>&1 | tail -1", "make: *** [Makefile:4: deploy] Error 1\n"),
        (
            "docker build nope 2>&1 | tail -1",
            "ERROR: unable to prepare context: path \"nope\" not found\n",
        ),
        (
            "python3 -c 'import nope' 2>&1 | tail -1",
            "ModuleNotFoundError: No module named 'nope'\n",
        ),
    ];
    for (command, output) in table {
        ran(&home, "claude-code", "s-1", command, &answer(output));
    }
    let kinds: Vec<String> = records(&home, "s-1").into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(
        kinds,
        [&["command_error", "command"][..], &["command_error"; 5]].concat(),
        "{kinds:?}"
    );
    let end = json!({ "session_id": "s-1", "cwd": home.path(""), "hook_event_name": "Stop" });
    home.hook("Stop", &end);
    let summaries = home.call("session_summaries", &json!({ "project": "*" }));
    assert_eq!(summaries["results"][0]["summary"]["completed"], json!([]), "{summaries}");
    let briefing = home.call("briefing", &json!({ "project": "*" })).to_string();
    assert!(!briefing.contains("worked: `git commit"), "{briefing}");
}

/// @capture_shortened
#[test]
fn the_counts_at_the_end_of_a_five_megabyte_output_are_recorded() {
    let home = home();
    let _daemon = home.daemon();
    let output = format!("{}{RED}", "a line of a long log\n".repeat(250_000));
    ran(&home, "codex", "s-1", "cargo test", &json!(output));
    let told = records(&home, "s-1");
    assert_eq!((told[0].0.as_str(), &told[0].1["run"]["failed"]), ("command_error", &json!(1)));
}

/// @capture_host_text
#[test]
fn the_first_output_line_of_gemini_is_read() {
    let home = home();
    let _daemon = home.daemon();
    let table = [
        ("make deploy 2>&1 | tail -3", "make: *** No rule to make target 'deploy'.  Stop.\n", ""),
        ("git push 2>&1 | tail -1", "fatal: unable to access", ""),
        ("nosuch 2>&1 | tail -1", "bash: line 1: nosuch: command not found\n", ""),
        ("git commit -m 'fix it'", "[main 1a2b3c4] fix it\n 1 file changed\n", ""),
        ("make clean", "cannot clean\n", "\nExit Code: 2"),
    ];
    for (command, output, code) in table {
        let text = format!("Output: {output}{code}\nProcess Group PGID: 4");
        let payload = json!({
            "session_id": "s-1", "cwd": home.path(""), "hook_event_name": "AfterTool",
            "tool_name": "run_shell_command", "tool_input": {"command": command},
            "tool_response": {"llmContent": [{"text": text}], "returnDisplay": output},
        });
        let args = ["hook", "AfterTool", "--agent", "gemini-cli"];
        let run = home.run_with(&args, payload.to_string().as_bytes());
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{command}");
    }
    let told = records(&home, "s-1");
    let kinds: Vec<&str> = told.iter().map(|(kind, _)| kind.as_str()).collect();
    let error = "command_error";
    assert_eq!(kinds, [error, error, error, "git_commit", error], "{told:?}");
    assert_eq!(told[3].1["commit_hash"], "1a2b3c4", "{told:?}");
    assert_eq!(told[4].1["error"], "cannot clean\n", "{told:?}");
    assert!(!format!("{told:?}").contains("Output: "), "{told:?}");
}

/// @capture_no_match
#[test]
fn a_search_that_finds_nothing_is_recorded_as_a_command_that_worked() {
    let home = home();
    let failing = |session: &str, command: &str, error: &str| {
        let payload = json!({
            "session_id": session, "cwd": home.path(""), "hook_event_name": "PostToolUseFailure",
            "tool_name": "Bash", "tool_input": {"command": command}, "error": error,
            "tool_use_id": format!("use-{session}"),
        });
        let args = ["hook", "PostToolUseFailure", "--agent", "claude-code"];
        home.run_with(&args, payload.to_string().as_bytes()).ok();
        records(&home, session)[0].0.clone()
    };
    for (number, command) in
        ["rg -n retry src", "git grep budget", "cd src && grep -q x y", "diff a b"]
            .iter()
            .enumerate()
    {
        assert_eq!(
            failing(&format!("no-{number}"), command, "Exit code 1"),
            "command",
            "{command}"
        );
    }
    let table = [
        ("rg -n '(' src", "Exit code 2\nregex parse error"),
        ("rg x src && make", "Exit code 1\nmake: failed"),
        ("./deploy", "Exit code 1"),
        ("cd nowhere && rg x", "Exit code 1\nbash: line 1: cd: nowhere: No such file or directory"),
    ];
    for (number, (command, error)) in table.into_iter().enumerate() {
        assert_eq!(failing(&format!("bad-{number}"), command, error), "command_error", "{command}");
    }
}

/// @capture_retries
#[test]
fn a_line_that_tries_until_it_passes_is_recorded_by_its_last_attempt() {
    let home = home();
    let _daemon = home.daemon();
    let (red, green) =
        ("Tests:       1 failed, 3 passed, 4 total\n", "Tests:       4 passed, 4 total\n");
    let table = [
        ("for i in 1 2 3; do npm test && break; done", format!("{red}{green}"), "passed"),
        ("until npm test; do sleep 1; done", format!("{red}{red}{green}"), "passed"),
        ("npm test || npm test -- --runInBand", format!("{red}{green}"), "passed"),
        ("for i in 1 2 3; do npm test 2>&1 | tail -1; done", format!("{red}{green}"), "failed"),
    ];
    for (command, output, _) in &table {
        let answer = json!({"stdout": output, "stderr": ""});
        ran(&home, "claude-code", "s-1", command, &answer);
    }
    let told = records(&home, "s-1");
    assert_eq!(told.len(), table.len());
    for ((kind, metadata), (command, _, result)) in told.iter().zip(&table) {
        let run = &metadata["run"];
        assert_eq!(run["result"], *result, "{command}");
        let expected = if *result == "passed" { "command" } else { "command_error" };
        assert_eq!(kind, expected, "{command}");
        if *result == "passed" {
            assert_eq!((&run["passed"], &run["failed"]), (&json!(4), &Value::Null), "{command}");
        }
    }
}
