//! How a command line is recorded, by its exit code and its output: a run that passed or failed, a commit
//! that was made or not, an error with the lines that matter.

use model::hook::ToolUse;
use model::observation::ObsType;
use serde_json::{Value, json};

use super::{extract, payload, shorten, tool_of, used};

const RED: &str = "running 3 tests\ntest a ... ok\ntest b ... FAILED\n\nthread 'b' panicked at src/lib.rs:9:5:\nassertion failed\n\ntest result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\nerror: test failed, to rerun pass `--lib`\n";
const GREEN: &str = "error: only a log line\ntest failed_login ... ok\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";

const RUFF: &str = "F401 [*] `os` imported but unused\n --> a.py:1:8\n  |\n1 | import os\n  |        ^^\n  |\nhelp: Remove unused import: `os`\n\nFound 1 error.\n[*] 1 fixable with the `--fix` option.\n";
const MYPY: &str = "a.py:1: error: Incompatible types in assignment (expression has type \"str\", variable has type \"int\")  [assignment]\nFound 1 error in 1 file (checked 1 source file)\n";
const ESLINT: &str = "\n/srv/shop/a.js\n  1:7  error  'x' is assigned a value but never used  no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)\n";
const CLIPPY: &str = "error: unneeded `return` statement\n --> src/lib.rs:2:5\n  |\n2 |     return 1;\n  |     ^^^^^^^^\n\nerror: could not compile `a` (lib) due to 1 previous error\n";

/// A command of Claude Code that it reports as a success: its exit code was 0.
pub(crate) fn claude(command: &str, output: &str) -> ToolUse {
    let response = json!({"stdout": output, "stderr": "", "interrupted": false});
    used("claude-code", "PostToolUse", "Bash", json!({"command": command}), response)
}

/// A command of Codex, which reports no exit code.
pub(crate) fn codex(command: &str, output: &str) -> ToolUse {
    used("codex", "PostToolUse", "Bash", json!({"command": command}), json!(output))
}

/// @capture_verdicts
#[test]
fn a_failed_run_is_recognised_if_its_exit_code_is_hidden_or_not_reported() {
    let counts = |own: bool| json!({"result": "failed", "own_exit": own, "passed": 1, "failed": 1, "skipped": 1});
    let table = [
        (claude("cargo test 2>&1 | tail -20", RED), counts(false)),
        (claude("cargo test || true", RED), counts(false)),
        (claude("cargo test; git status", RED), counts(false)),
        (codex("cargo test", RED), counts(true)),
        (codex("cargo test 2>&1 | tail -20", RED), counts(false)),
    ];
    for (tool, run) in table {
        let told = (tool.obs_type, tool.failed, &tool.metadata["run"]);
        assert_eq!(told, (ObsType::CommandError, true, &run), "{}", *tool.content);
        assert_eq!(tool.metadata["failed"], true);
        assert!(tool.metadata["error"].as_str().unwrap().contains("test b ... FAILED"));
    }
}

/// @capture_verdicts
#[test]
fn a_passing_run_does_not_fail_because_of_its_log() {
    let passed = |tool: ToolUse, own: bool| {
        assert_eq!((tool.obs_type, tool.failed), (ObsType::Command, false), "{}", *tool.content);
        let run = &tool.metadata["run"];
        assert_eq!((&run["result"], &run["own_exit"]), (&json!("passed"), &json!(own)));
    };
    passed(claude("cargo test 2>&1 | tail -20", GREEN), false);
    passed(codex("cargo test", GREEN), true);
    // If the exit code is that of the run itself, it decides, whatever the output says.
    passed(claude("cd app && cargo test", RED), true);
    passed(claude("set -o pipefail; cargo test 2>&1 | tail -20", RED), true);
    passed(claude("cargo test > log 2>&1; echo \"exit: $?\"", "exit: 0\n"), true);
}

/// @capture_run
#[test]
fn a_run_without_visible_result_is_unknown() {
    let table = [
        claude("cargo test 2>&1 | grep -c warning", "0\n"),
        claude("cargo test > /dev/null 2>&1 || true", ""),
        codex("cargo test > log 2>&1", ""),
        codex("npx tsc --noEmit", ""),
    ];
    for tool in table {
        assert_eq!((tool.obs_type, tool.failed), (ObsType::Command, false), "{}", *tool.content);
        assert_eq!(tool.metadata["run"]["result"], "unknown", "{}", *tool.content);
    }
    // A run that was interrupted or continues in the background has no result.
    for member in [json!({"interrupted": true}), json!({"backgroundTaskId": "b1"})] {
        let mut response = json!({"stdout": RED});
        response.as_object_mut().unwrap().extend(member.as_object().unwrap().clone());
        let input = json!({"command": "cargo test | tail"});
        let tool = used("claude-code", "PostToolUse", "Bash", input, response);
        assert_eq!((tool.failed, &tool.metadata["run"]["result"]), (false, &json!("unknown")));
    }
    assert_eq!(claude("ls", "").metadata.get("run"), None);
}

/// @capture_run
#[test]
fn a_printed_exit_code_decides_the_result_of_a_run() {
    let table = [
        ("cargo test > log 2>&1; echo $?", "101\n", "failed"),
        ("cargo test 2>&1 | tail -3; echo \"exit=${PIPESTATUS[0]}\"", "x\nexit=0\n", "passed"),
        ("cargo test > log; echo \"EXIT: $?\"; tail -3 log", "EXIT: 1\nerror\n", "failed"),
        ("cargo test > log; echo \"EXIT: $?\"", "no such line\n", "unknown"),
    ];
    for (command, output, result) in table {
        let tool = claude(command, output);
        let run = &tool.metadata["run"];
        assert_eq!(run["result"], result, "{command}");
        assert_eq!(tool.failed, result == "failed", "{command}");
    }
    // The push failed, not the tests before it.
    let members = json!({"tool_name": "Bash", "tool_input": {"command": "cargo test && git push"},
        "error": format!("Exit code 1\n{GREEN}\n ! [rejected] main -> main (fetch first)")});
    let tool = tool_of(extract("claude-code", &payload("PostToolUseFailure", members)).unwrap());
    assert_eq!((tool.failed, &tool.metadata["run"]["result"]), (true, &json!("passed")));
}

/// @capture_plain_failures
#[test]
fn a_plain_command_fails_only_if_its_program_reports_it() {
    let traceback =
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nValueError: x\n";
    for (command, output) in [
        ("cat log.txt", RED),
        ("cat log.txt", traceback),
        ("echo FAILED", "FAILED\n"),
        ("git log", "    fatal: was fixed\n"),
        ("git show HEAD:notes", "fatal: not a repository\n"),
        ("rg panic", "thread 'main' panicked at src/main.rs:1:1:\n"),
        ("grep -rn 'command not found' .", "bash: line 1: x: command not found\n"),
        ("python a.py", &format!("{traceback}recovered\n")),
        ("python a.py; cat log.txt", traceback),
    ] {
        let tool = codex(command, output);
        assert_eq!((tool.obs_type.word(), tool.failed), (tool.obs_type.word(), false), "{command}");
    }
    for (command, output) in [
        ("python a.py", traceback),
        ("cd x && python3 a.py 2>&1 | tail -5", traceback),
        ("cargo run", "thread 'main' (12) panicked at src/main.rs:1:1:\nboom\n"),
        ("nosuch --x", "bash: line 1: nosuch: command not found\n"),
        ("git rebase main", "fatal: no rebase in progress\n"),
    ] {
        let tool = codex(command, output);
        assert_eq!((tool.obs_type, tool.failed), (ObsType::CommandError, true), "{command}");
        assert_eq!(claude(command, output).failed, command.contains('|'), "{command}");
    }
}

/// @capture_no_commit
#[test]
fn a_commit_with_nothing_to_commit_failed() {
    for (command, output, failed) in [
        ("git commit -m x", "On branch main\nnothing to commit, working tree clean\n", true),
        ("git commit -m x | tail -1", "no changes added to commit\n", true),
        ("git commit -qm x", "no changes added to commit (use \"git add\")\n", true),
        ("git commit -m x", "nothing added to commit but untracked files present\n", true),
        ("git commit -qm x; git status", "nothing to commit, working tree clean\n", false),
        ("git commit -m x || true", "nothing to commit\n", false),
    ] {
        let kind = if failed { ObsType::CommandError } else { ObsType::Command };
        assert_eq!(codex(command, output).obs_type, kind, "{command}: {output}");
    }
}

/// @capture_no_commit
#[test]
fn a_commit_that_git_did_not_make_is_not_recorded_as_one() {
    let header = "[main 1a2b3c4] fix it\n 1 file changed, 2 insertions(+)\n";
    let table = [
        ("git commit -m 'fix it'", header, "git_commit"),
        ("git commit -qm 'fix it'", "", "git_commit"),
        ("git commit --quiet -m 'fix it'", "", "git_commit"),
        (
            "git commit -m 'fix it' 2>&1 | tail -1",
            " 1 file changed, 2 insertions(+)\n",
            "git_commit",
        ),
        // A pipe hides the exit code, not the output. It counts as a commit only if git printed the commit's name.
        ("git commit -m 'fix it' 2>&1 | tail -5", "lint: 3 problems\n", "command"),
        ("git commit -am 'fix it' 2>&1 | tail -3; git status", "lint: 3 problems\n", "command"),
        ("bash -c \"git commit -m 'fix it' 2>&1 | tail -3\"", "lint: 3 problems\n", "command"),
        ("(git commit -m 'fix it') | tail -1; echo done", "lint: 3 problems\ndone\n", "command"),
        (
            "git commit -m 'fix it' | tail -1; git show --stat | tail -1",
            "lint: 3 problems\n 1 file changed, 2 insertions(+)\n",
            "command",
        ),
        ("git commit -m 'fix it' | tail -1", " rename a.rs => b.rs (100%)\n", "git_commit"),
        ("git commit -m 'fix it' 2>&1 | tail -5 > log", "", "git_commit"),
        (
            "git commit -m 'fix it'; echo $?",
            "error: gpg failed to sign the data\n128\n",
            "command_error",
        ),
        ("git commit -m 'fix it' > /dev/null", "", "git_commit"),
        ("git commit -m 'fix it'", "error: lint warned\n[main 1a2b3c4] fix it\n", "git_commit"),
        ("git commit -m 'fix it'", "", "command"),
        ("git commit -m 'fix it'", "fatal: not a git repository\n", "command_error"),
        ("git commit -qm 'fix it'", "error: pathspec 'x' did not match\n", "command_error"),
        (
            "git commit -m 'fix it'",
            "ruff....Failed\n- hook id: ruff\n- exit code: 1\n",
            "command_error",
        ),
        (
            "git commit -m 'fix it' | tail -3",
            "fatal: unable to auto-detect email\n",
            "command_error",
        ),
        ("gh pr view; git commit -m x", "nothing to commit\n", "github"),
    ];
    for (command, output, kind) in table {
        let tool = codex(command, output);
        assert_eq!(tool.obs_type.word(), kind, "{command}: {output}");
        let has_message = tool.metadata.get("commit_message").is_some();
        assert_eq!(has_message, kind == "git_commit", "{command}: {output}");
        assert!(kind == "git_commit" || tool.metadata.get("commit_hash").is_none());
        // A commit that was not made is not taken for the run that worked after a failure.
        let result = tool.metadata.get("run").map(|run| &run["result"]);
        let expected = matches!(kind, "command" | "github").then(|| json!("unknown"));
        assert_eq!(result, expected.as_ref(), "{command}: {output}");
    }
    // Claude Code reports failures, so an exit code of 0 is trusted.
    assert_eq!(claude("git commit -m 'fix it'", "").obs_type, ObsType::GitCommit);
    assert_eq!(claude("git commit -m x || true", "nothing to commit\n").obs_type, ObsType::Command);
    // An interrupted commit counts only if git reported it.
    for (output, kind) in [("", ObsType::Command), (header, ObsType::GitCommit)] {
        let response = json!({"stdout": output, "interrupted": true});
        let input = json!({"command": "git commit -qm x"});
        let tool = used("claude-code", "PostToolUse", "Bash", input, response);
        assert_eq!(tool.obs_type, kind, "{output}");
    }
}

/// @capture_no_commit
#[test]
fn a_commit_that_git_denies_is_none_even_if_the_exit_code_is_reported_as_0() {
    let fatal = "fatal: unable to auto-detect email address (got 'dev@box.(none)')\n";
    let idle = "On branch main\nnothing to commit, working tree clean\n";
    for (command, output) in [
        ("git commit -m 'fix it'", fatal),
        ("git add -A && git commit -m 'fix it'", idle),
        ("git commit -qm 'fix it'", fatal),
    ] {
        let silent = claude(command, output);
        let response = json!({"stdout": output, "stderr": "", "exit_code": 0});
        let zero =
            used("claude-code", "PostToolUse", "Bash", json!({"command": command}), response);
        for tool in [silent, zero] {
            assert_eq!((tool.obs_type, tool.failed), (ObsType::CommandError, true), "{command}");
            assert!(tool.metadata.get("commit_message").is_none(), "{command}");
        }
    }
    // Here another command of git may have said it, or the commit was made.
    for (command, output) in [
        ("git rev-parse @{u} 2>&1; git commit -qm x", "fatal: no upstream configured\n"),
        ("git commit -m x", "fatal: a line of a hook\n[main 1a2b3c4] x\n"),
    ] {
        assert_eq!(claude(command, output).obs_type, ObsType::GitCommit, "{command}");
    }
}

/// @capture_no_commit
#[test]
fn a_commit_that_is_not_in_the_output_of_a_successful_command_is_not_recorded() {
    use ObsType::{Command, CommandError, GitCommit};
    let lint = "lint: 3 problems in src/pay.py\n";
    for (command, output, kind) in [
        ("git commit -m 'fix it'", lint, CommandError),
        ("git add -A && git commit -m 'fix it'", lint, CommandError),
        // Another program may have printed the lines; git has printed none.
        ("npm run lint && git commit -m 'fix it'", lint, Command),
        ("git commit -qm 'fix it'", lint, GitCommit),
        ("git commit -qm 'fix it'", "error: a hook only warned\n", GitCommit),
        ("git commit -m 'fix it' > log", lint, GitCommit),
        ("git commit -m 'fix it'", "", GitCommit),
        ("git commit -m 'fix it'", "lint\n[... 90 lines truncated ...]\n", GitCommit),
        ("git commit -qm 'fix it' && git status", "nothing to commit\n", GitCommit),
        ("git commit -m 'fix it' && git status", "nothing to commit\n", Command),
    ] {
        assert_eq!(claude(command, output).obs_type, kind, "{command}: {output}");
    }
    // An exit code of 0 contradicts the output, so the result is unknown.
    let response = json!({"stdout": lint, "stderr": "", "exit_code": 0});
    let input = json!({"command": "git commit -m 'fix it'"});
    let tool = used("claude-code", "PostToolUse", "Bash", input, response);
    assert_eq!((tool.obs_type, tool.failed), (Command, false));
    assert_eq!(tool.metadata["run"]["result"], "unknown");
    assert!(tool.metadata.get("commit_message").is_none());
}

/// @capture_no_commit
#[test]
fn a_commit_after_a_red_piped_run_is_a_commit_and_the_run_stays_red() {
    let output = format!("{RED}[main 1a2b3c4] fix it\n 1 file changed, 1 insertion(+)\n");
    for tool in [
        claude("cargo test 2>&1 | tail -20 && git commit -am 'fix it'", &output),
        codex("cargo test 2>&1 | tail -20 && git commit -am 'fix it'", &output),
    ] {
        assert_eq!((tool.obs_type, tool.failed), (ObsType::GitCommit, false));
        assert_eq!(tool.metadata["commit_message"], "fix it");
        assert_eq!(tool.metadata["run"]["result"], "failed");
    }
    // The commit was not made.
    let tool = claude("cargo test 2>&1 | tail -20 && git commit -am 'fix it'", RED);
    assert_eq!((tool.obs_type, tool.failed), (ObsType::CommandError, true));
}

/// @capture_no_commit
#[test]
fn a_commit_that_a_hook_refused_is_a_failure_where_all_of_its_output_is_visible() {
    let lint = "src/a.rs:1: trailing whitespace\n";
    let refused = [
        ("git commit -m 'fix it'", lint),
        ("git add -A && git commit -m 'fix it' 2>&1", "Bad commit subject: use area: imperative\n"),
        ("cd app && git commit -am 'fix it' && git push", lint),
        ("git status --short; git commit -m 'fix it'", " M src/a.rs\nlint: 3 problems\n"),
    ];
    for (command, output) in refused {
        let tool = codex(command, output);
        assert_eq!((tool.obs_type, tool.failed), (ObsType::CommandError, true), "{command}");
        assert!(tool.metadata.get("commit_message").is_none(), "{command}");
    }
    let cut = "lint: 1 problem\n…212 tokens truncated…\nlint: 9 problems\n";
    let unknown = [
        ("git commit -m 'fix it'", cut),
        ("git commit -m 'fix it' || true", lint),
        ("git commit -m 'fix it' | head -1", lint),
        ("git commit -m 'fix it'; git status", lint),
        ("git diff --cached --quiet || git commit -m 'fix it'", lint),
        ("if git diff --cached --quiet; then echo none; else git commit -m x; fi", "none\n"),
        ("for f in a b; do git commit -m x $f; done", lint),
        ("npm run lint; git commit -m 'fix it'", lint),
        ("git commit -m 'fix it' &", lint),
        ("git commit -m 'fix it'", "\n \n"),
    ];
    for (command, output) in unknown {
        assert!(!codex(command, output).failed, "{command}: {output}");
    }
    let response = json!({"stdout": lint, "interrupted": true});
    let input = json!({"command": "git commit -m x"});
    assert!(!used("claude-code", "PostToolUse", "Bash", input, response).failed);
}

/// @capture_no_commit
#[test]
fn a_push_that_was_refused_is_a_failure() {
    let table = [
        ("To host:r.git\n   a1b2c3d..e4f5a6b  main -> main\n", false),
        ("Everything up-to-date\n", false),
        (
            "To host:r.git\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to 'host:r.git'\n",
            true,
        ),
        ("fatal: No configured push destination.\n", true),
    ];
    for (output, failed) in table {
        let tool = codex("git push", output);
        let kind = if failed { ObsType::CommandError } else { ObsType::GitPush };
        assert_eq!((tool.obs_type, tool.failed), (kind, failed), "{output}");
    }
    let piped = "git push origin main 2>&1 | tail -2";
    let table = [
        (piped, "   a1b2c3d..e4f5a6b  main -> main\n", "git_push"),
        (
            piped,
            " * [new branch]      main -> main\nbranch 'main' set up to track 'origin/main'.\n",
            "git_push",
        ),
        (
            piped,
            "Please make sure you have the correct access rights\nand the repository exists.\n",
            "command_error",
        ),
        (piped, "fatal: Could not read from remote repository.\n", "command_error"),
        (piped, "error: failed to push some refs to 'host:r.git'\n", "command_error"),
        (
            piped,
            "hint: See the 'Note about fast-forwards' in 'git push --help' for details.\n",
            "command_error",
        ),
        // The output is a hook's; git printed nothing.
        (piped, "2 tests are red\n", "command"),
        ("git push -q 2>&1 | tail -2", "", "git_push"),
        ("git push", "", "git_push"),
        // The commit before such a push is one only if git named it.
        (
            "git commit -m x 2>&1 | tail -1; git push 2>&1 | tail -1",
            "lint: 1\n2 tests are red\n",
            "command",
        ),
        (
            "git commit -m x 2>&1 | head -1; git push 2>&1 | tail -1",
            "[main 1a2b3c4] x\n2 tests are red\n",
            "git_commit",
        ),
    ];
    for (command, output, kind) in table {
        assert_eq!(codex(command, output).obs_type.word(), kind, "{command}: {output}");
    }
}

/// @capture_no_commit
/// @capture_commit
#[test]
fn a_commit_stays_one_whatever_becomes_of_its_push() {
    let made = "[main 1a2b3c4] uploader: retry\n 1 file changed, 3 insertions(+)\nTo host:r.git\n";
    let line = "git commit -am 'uploader: retry' && git push";
    let pushed = codex(line, &format!("{made}   a1b2c3d..1a2b3c4  main -> main\n"));
    assert_eq!((pushed.obs_type, pushed.failed), (ObsType::GitCommit, false));
    assert_eq!(pushed.metadata["commit_hash"], "1a2b3c4");
    assert_eq!(pushed.metadata["hash_range"], "a1b2c3d..1a2b3c4");
    assert_eq!(pushed.metadata.get("error"), None);

    let refused = format!("{made} ! [rejected]        main -> main (fetch first)\n");
    let members = json!({"tool_name": "Bash", "tool_input": {"command": line},
        "error": format!("Exit code 1\n{refused}")});
    let failure = tool_of(extract("claude-code", &payload("PostToolUseFailure", members)).unwrap());
    for tool in [codex(line, &refused), failure] {
        assert_eq!((tool.obs_type, tool.failed), (ObsType::GitCommit, false));
        assert_eq!(tool.metadata["commit_message"], "uploader: retry");
        assert!(tool.metadata["error"].as_str().unwrap().contains("[rejected]"));
        assert_eq!(tool.metadata.get("hash_range"), None);
    }
}

/// A command of Claude Code that failed, with its exit code.
pub(crate) fn failed(command: &str, output: &str, code: u8) -> ToolUse {
    let members = json!({"tool_name": "Bash", "tool_input": {"command": command},
        "error": format!("Exit code {code}\n{output}")});
    tool_of(extract("claude-code", &payload("PostToolUseFailure", members)).unwrap())
}

/// @capture_no_commit
#[test]
fn a_red_run_behind_a_commit_makes_the_commit_a_failure_that_keeps_its_hash() {
    let rspec = "8 examples, 2 failures\n\nrspec ./spec/a_spec.rb:3 # test b ... FAILED\n";
    let go = "--- FAIL: TestB (0.00s)\ntest b ... FAILED\nFAIL\nFAIL\ta\t0.1s\nFAIL\n";
    let made = |output: &str| format!("[main 1a2b3c4] a: two\n 1 file changed\n{output}");
    let lines = [
        claude("git commit -am 'a: two' && cargo test 2>&1 | tail -3", &made(RED)),
        claude("git add -A && git commit -m 'a: two'; go test ./... | tail -3", &made(go)),
        claude("git commit -am 'a: two' && bundle exec rspec | tail -2", &made(rspec)),
        codex("git commit -am 'a: two' && cargo test", &made(RED)),
        failed("git commit -am 'a: two' && cargo test", &made(RED), 101),
        claude("cargo test | tail -1; git commit -am 'a: two'; cargo test | tail", &made(RED)),
    ];
    for tool in lines {
        let told = (tool.obs_type, tool.failed, &tool.metadata["failed"]);
        assert_eq!(told, (ObsType::GitCommit, true, &json!(true)), "{}", *tool.content);
        assert_eq!(tool.metadata["commit_hash"], "1a2b3c4", "{}", *tool.content);
        assert_eq!(tool.metadata["commit_message"], "a: two");
        assert_eq!(tool.metadata["run"]["result"], "failed");
        assert!(tool.metadata["error"].as_str().unwrap().contains("test b ... FAILED"));
    }
    let green = claude("git commit -am 'a: two' && cargo test 2>&1 | tail -3", &made(GREEN));
    assert_eq!((green.obs_type, green.failed), (ObsType::GitCommit, false));
    // The build behind the commit is not the run that was red.
    let line = "cargo test | tail -5; git commit -am 'a: two'; npm run build";
    let tool = claude(line, &format!("{RED}{}", made("")));
    assert_eq!((tool.obs_type, tool.failed), (ObsType::GitCommit, false));
}

/// @capture_run
#[test]
fn a_line_that_failed_before_its_run_began_has_an_unknown_result() {
    let table = [
        (
            "cd nonexist && cargo test",
            "/bin/bash: line 1: cd: nonexist: No such file or directory",
            1,
        ),
        ("cd nonexist && cargo test", "cd:1: no such file or directory: nonexist", 1),
        ("pytest -q", "/bin/bash: line 1: pytest: command not found", 127),
        (
            "source venv/bin/activate && pytest",
            "/bin/bash: line 1: venv/bin/activate: No such file or directory",
            1,
        ),
        ("npm ci && npm test", "npm error code EUSAGE\nnpm error `npm ci` needs a lock file", 1),
        (
            "git pull && cargo test",
            "fatal: unable to access 'https://x/': Could not resolve host",
            1,
        ),
        ("docker compose up -d && pytest -q", "Error response from daemon: no such image", 1),
        // A linter has found something.
        ("ruff check . && pytest -q", RUFF, 1),
        ("mypy src && pytest", MYPY, 1),
        ("npx eslint . && npx jest", ESLINT, 1),
        ("cargo clippy -- -D warnings && cargo test", CLIPPY, 101),
    ];
    for (line, output, code) in table {
        let tool = failed(line, output, code);
        assert_eq!((tool.obs_type, tool.failed), (ObsType::CommandError, true), "{line}");
        assert_eq!(tool.metadata["run"]["result"], "unknown", "{line}");
    }
    // The output or the exit code is that of the run.
    let table = [
        ("cd web && cargo test", RED, 101),
        ("cd web && npm test", "something is wrong", 1),
        ("export CI=1 && npm test", "something is wrong", 1),
        ("npm ci && npm test", "> web@1.0.0 test\n> node a.js\n\nnpm error code ELIFECYCLE", 1),
        ("git pull && cargo test", RED, 101),
        ("npm test", "npm error code ELIFECYCLE", 1),
        ("git pull; npm test", "something is wrong", 1),
        ("cargo clippy && cargo test", RED, 101),
        (
            "ruff check . && pytest -q",
            "F.\nFAILED a.py::b - assert 1\n1 failed, 1 passed in 0.01s",
            1,
        ),
        ("ruff check .", RUFF, 1),
        ("mypy src", MYPY, 1),
    ];
    for (line, output, code) in table {
        assert_eq!(failed(line, output, code).metadata["run"]["result"], "failed", "{line}");
    }
}

/// @capture_run
#[test]
fn the_findings_of_a_linter_are_no_failed_tests() {
    let green = "...\n3 passed in 0.01s\n";
    for (line, findings) in [
        ("ruff check . ; pytest -q", RUFF),
        ("mypy src; pytest -q", MYPY),
        ("ruff check . || true; pytest -q | tail -3", RUFF),
    ] {
        let tool = claude(line, &format!("{findings}{green}"));
        assert_eq!(tool.metadata["run"]["result"], "passed", "{line}");
        assert_eq!(tool.metadata["run"]["passed"], 3, "{line}");
    }
}

/// @capture_run
#[test]
fn a_run_in_the_background_or_one_that_was_stopped_has_an_unknown_result() {
    let gemini = |input: Value, text: &str| {
        let response = json!({ "llmContent": text, "returnDisplay": text });
        used("gemini-cli", "AfterTool", "run_shell_command", input, response)
    };
    let moved = "Command moved to background (PID: 33701). Output hidden. Press Ctrl+B to view.";
    let stopped = "Command was cancelled by user before it could complete. Below is the output before \
                   it was cancelled:\nrunning 3 tests";
    let line = |member: &str| json!({ "command": "cargo test", member: true });
    let response = json!({ "stdout": "", "stderr": "", "interrupted": false });
    let tools = [
        gemini(line("is_background"), moved),
        gemini(json!({ "command": "cargo test" }), moved),
        gemini(json!({ "command": "cargo test" }), stopped),
        used("cursor", "postToolUse", "Shell", line("is_background"), response.clone()),
        used("claude-code", "PostToolUse", "Bash", line("run_in_background"), response),
    ];
    for tool in tools {
        assert_eq!(tool.metadata["run"]["result"], "unknown", "{:?}", *tool.metadata);
        let is = |name: &str| tool.metadata.get(name) == Some(&json!(true));
        assert!(is("background") || is("is_interrupt"), "{:?}", *tool.metadata);
        assert!(!tool.failed);
    }
    let ended = gemini(json!({ "command": "cargo test", "is_background": false }), GREEN);
    assert_eq!(ended.metadata["run"]["result"], "passed");
}

/// @capture_hidden_errors
#[test]
fn a_plain_command_with_a_hidden_exit_code_and_an_error_in_its_output_is_of_unknown_success() {
    let error = "ERROR: health check of web failed\nrolled back";
    let unknown = json!({ "result": "unknown", "own_exit": false });
    for tool in [
        claude("./deploy.sh staging 2>&1 | tail -3", error),
        claude("./deploy.sh staging || true", error),
        codex("./deploy.sh staging", error),
        claude("cargo -V; pytest -V", "cargo 1.80\npytest 8"),
    ] {
        assert!(!tool.failed, "{}", *tool.content);
        assert_eq!(tool.metadata["run"], unknown, "{}", *tool.content);
    }
    for tool in [
        claude("./deploy.sh staging", error),
        claude("./deploy.sh staging | tail -3", "done"),
        claude("grep -rn error: src | head", "src/a.rs:3: error: bad\nerror: x"),
        claude("ls | head", "error.rs"),
    ] {
        assert_eq!(tool.metadata.get("run"), None, "{}", *tool.content);
    }
}

fn error_of(output: &str) -> String {
    let members =
        json!({"tool_name": "Bash", "tool_input": {"command": "cargo test"}, "error": output});
    let tool = tool_of(extract("claude-code", &payload("PostToolUseFailure", members)).unwrap());
    tool.metadata["error"].as_str().unwrap().to_owned()
}

/// @capture_error_lines
#[test]
fn an_error_keeps_its_head_its_tail_and_the_lines_that_matter() {
    let noise = "compiling something that is of no interest\n".repeat(200);
    let first = "error[E0308]: mismatched types\n --> src/deep.rs:7:9\n";
    let last = "FAILED tests/test_x.py::test_last - AssertionError: 3 != 4\n";
    let output = format!(
        "Exit code 101\n{noise}{first}{noise}error: in between\n{noise}{last}{noise}the end\n"
    );
    let error = error_of(&output);
    assert!(error.chars().count() <= 2_000, "{}", error.chars().count());
    assert!(error.starts_with("Exit code 101\n") && error.ends_with("the end\n"));
    for line in [
        "error[E0308]: mismatched types\n --> src/deep.rs:7:9",
        "test_last - AssertionError: 3 != 4",
    ] {
        assert!(error.contains(line), "{line}: {error}");
    }
    // This works past the first 64 KiB, too; colours are removed, and a secret in such a line is redacted.
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let far = "noise of no interest at all\n".repeat(9_000);
    let panic = format!(
        "\u{1b}[31mthread 'a' panicked at src/x.rs:1:2:\u{1b}[0m\ntoken {token} is wrong\n"
    );
    let error = error_of(&format!("{noise}{panic}{far}{}{noise}", panic.replace("'a'", "'z'")));
    assert!(error.chars().count() <= 2_000);
    for line in [
        "thread 'a' panicked at src/x.rs:1:2:\ntoken ",
        "thread 'z' panicked at src/x.rs:1:2:\ntoken ",
    ] {
        assert!(error.contains(line), "{line}: {error}");
    }
    assert!(!error.contains(token) && !error.contains('\u{1b}'), "{error}");
    // The only error may be in the middle, far from both ends.
    let error = error_of(&format!("{far}{panic}{far}"));
    assert!(error.chars().count() <= 2_000);
    assert!(error.contains("thread 'a' panicked at src/x.rs:1:2:\ntoken "), "{error}");
    assert!(!error.contains(token), "{error}");
}

/// @capture_shortened
#[test]
fn the_result_is_read_from_the_tail_of_a_shortened_output() {
    let noise = "a line of a very long log\n".repeat(200_000);
    let shortened = |members: Value| {
        let event = shorten(&payload("PostToolUse", members));
        assert!(event.to_string().len() < 20_000);
        event
    };
    let input = json!({"command": "cargo test 2>&1 | tail -100000"});
    let response = json!({"stdout": format!("{noise}{RED}"), "stderr": ""});
    let members = json!({"tool_name": "Bash", "tool_input": input, "tool_response": response});
    let tool = tool_of(extract("claude-code", &shortened(members.clone())).unwrap());
    assert_eq!(
        (tool.obs_type, &tool.metadata["run"]["failed"]),
        (ObsType::CommandError, &json!(1))
    );
    assert!(tool.metadata["error"].as_str().unwrap().contains("test b ... FAILED"));
    assert_eq!(
        tool_of(extract("claude-code", &payload("PostToolUse", members)).unwrap()).metadata["run"],
        tool.metadata["run"]
    );
    // The error of a separate failure event is kept in the same way.
    let error = format!("Exit code 101\n{noise}{RED}");
    let members =
        json!({"tool_name": "Bash", "tool_input": {"command": "cargo test"}, "error": error});
    let event = shorten(&payload("PostToolUseFailure", members));
    let tool = tool_of(extract("claude-code", &event).unwrap());
    assert_eq!(
        (&tool.metadata["exit_code"], &tool.metadata["run"]["failed"]),
        (&json!(101), &json!(1))
    );
    // A secret that is cut in two is not stored.
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    for at in [10, 30] {
        let end = "x ".repeat(2_048 - at / 2);
        let text = format!("{noise}{token}{end}");
        let event =
            shortened(json!({"tool_name": "Bash", "tool_input": {"command": "false | cat"},
            "tool_response": {"stdout": text, "is_error": true}}));
        let tool = tool_of(extract("claude-code", &event).unwrap());
        assert!(
            !tool.metadata.to_string().contains(&token[token.len() - 10..]),
            "{}",
            *tool.metadata
        );
    }
}

/// @capture_error_lines
#[test]
fn the_first_and_the_last_error_of_a_huge_output_are_kept_from_its_middle() {
    let noise = |lines: usize| "compiling something that is of no interest\n".repeat(lines);
    let [first, last] = ["error[E0308]: mismatched types", "error[E0499]: borrowed twice"];
    let between = "error[E0425]: cannot find value";
    let output = format!(
        "head\n{}{first}\n{}{between}\n{}{last}\n{}tail\n",
        noise(2_000),
        noise(900),
        noise(900),
        noise(2_000)
    );
    assert!(output.len() > 240_000);
    let error = error_of(&output);
    let places: Vec<_> = ["head", first, last, "tail"].map(|part| error.find(part)).into();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
    assert!(!error.contains(between));
}
