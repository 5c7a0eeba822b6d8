//! Failures that are read from the output of a command: commands that are neither tests nor builds, and runs whose
//! output has several verdicts.

use model::observation::ObsType;

use super::results::{claude, codex};

const CRASH: &str = "/srv/app/crash.js:1\nJSON.parse('{')\n     ^\n\nSyntaxError: Expected property name or '}' in JSON at position 1\n    at JSON.parse (<anonymous>)\n    at Object.<anonymous> (/srv/app/crash.js:1:6)\n    at Module._compile (node:internal/modules/cjs/loader:1521:14)\n    at node:internal/main/run_main_module:28:49\n\nNode.js v20.20.2\n";
const BOOM: &str = "Traceback (most recent call last):\n  File \"/srv/app/boom.py\", line 2, in <module>\n    deep()\n  File \"/srv/app/boom.py\", line 1, in deep\n    def deep(): {}[\"k\"]\n                ~~^^^^^\nKeyError: 'k'\n";
const PANIC: &str = "     Running `target/debug/t`\n\nthread 'main' (77) panicked at src/bin/t.rs:1:88:\nindex out of bounds: the len is 0 but the index is 3\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";

/// Commands of Codex with the output of a failure.
const FAILURES: &[(&str, &str)] = &[
    (
        "git commit -m x 2>&1 | tail -4",
        "summary: (done in 0.04 seconds)\n✓ fmt (0.00 seconds)\n✗ credo (0.04 seconds)\n",
    ),
    ("git commit -m x 2>&1 | tail -2", "summary: (done in 0.9 seconds)\n🥊 credo\n"),
    ("git commit -m x 2>&1 | tail -1", "husky - pre-commit hook exited with code 1 (error)\n"),
    ("mix format --check-formatted", "** (Mix) mix format failed due to --check-formatted.\n"),
    ("make bad", "compiling\nmake: *** [Makefile:4: bad] Error 1\n"),
    ("make deploy 2>&1 | tail -1", "make: *** [Makefile:9: deploy] Fehler 1\n"),
    ("./nosuch.sh 2>&1 | tail", "bash: ./nosuch.sh: No such file or directory\n"),
    ("bash nosuch.sh | tail -3", "bash: nosuch.sh: No such file or directory\n"),
    ("python -c 'import days; days.run()' 2>&1 | tail -1", "ValueError: no such day\n"),
    ("python3 -m pytest 2>&1 | tail", "/usr/bin/python3: No module named pytest\n"),
    ("make nothere", "make: *** No rule to make target 'nothere'.  Stop.\n"),
    ("just ship", "error: Recipe `ship` failed on line 3 with exit code 1\n"),
    ("node crash.js", CRASH),
    (
        "python syn.py",
        "  File \"/srv/app/syn.py\", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax\n",
    ),
    (
        "python3 -m py_compile syn.py",
        "  File \"syn.py\", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax\n",
    ),
    (
        "python none.py",
        "python: can't open file '/srv/app/none.py': [Errno 2] No such file or directory\n",
    ),
    (
        "python a.py 2>&1 | tail -2",
        "    import nosuch\nModuleNotFoundError: No module named 'nosuch'\n",
    ),
    ("python a.py 2>&1 | tail -2", "          ^\nSyntaxError: invalid syntax\n"),
    ("python a.py 2>&1 | tail -3", "    def f(:\n          ^\nSyntaxError: invalid syntax\n"),
    ("npm run nope 2>&1 | tail", "npm error Missing script: \"nope\"\nnpm error\n"),
    ("uv run python boom.py", BOOM),
    ("poetry run python boom.py", BOOM),
    ("./boom.py", BOOM),
    (
        "python3 test_cart.py 2>&1 | tail -4",
        "----------\nRan 1 test in 0.000s\n\nFAILED (failures=1)\n",
    ),
    (
        "perl a.t",
        "1..2\nok 1\nnot ok 2 - b\n#   Failed test 'b'\n# Looks like you failed 1 test of 2.\n",
    ),
    ("./checks.sh", "1..2\nok 1 - a\nnot ok 2 - b\n"),
    ("cargo run", PANIC),
    (
        "cargo run",
        "error[E0308]: mismatched types\n --> src/main.rs:1:1\nerror: could not compile `x` (bin \"x\") due to 1 previous error\n",
    ),
    (
        "cargo bench --features nope",
        "error: the package 'tiny' does not contain this feature: nope\n",
    ),
    (
        "npm install",
        "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\n",
    ),
    ("npm ci", "npm ERR! code EUSAGE\nnpm ERR! \n"),
    ("terraform plan -out p", "╷\n│ Error: Invalid reference\n│ \n│   on main.tf line 3:\n╵\n"),
    (
        "docker compose up -d",
        "Error response from daemon: driver failed programming external connectivity\n",
    ),
    ("kubectl apply -f x.yml", "error: the path \"x.yml\" does not exist\n"),
    ("kubectl get pod x", "Error from server (NotFound): pods \"x\" not found\n"),
    ("git checkout nope", "error: pathspec 'nope' did not match any file(s) known to git\n"),
    ("git checkout main && git pull", "Already on 'main'\nfatal: couldn't find remote ref main\n"),
    (
        "git merge topic",
        "Auto-merging a\nCONFLICT (content): Merge conflict in a\nAutomatic merge failed; fix conflicts and then commit the result.\n",
    ),
    (
        "git log -1 --format=%s",
        "fatal: not a git repository (or any of the parent directories): .git\n",
    ),
    ("go run .", "# command-line-arguments\n./x.go:3:2: undefined: y\n"),
];

/// The last lines of a text.
fn tail(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n") + "\n"
}

/// @capture_plain_failures
#[test]
fn commands_other_than_tests_fail_by_the_messages_of_their_program() {
    for (command, output) in FAILURES {
        let variants = [
            ((*command).to_owned(), (*output).to_owned()),
            (format!("{command}; echo finished"), format!("{output}finished\n")),
            (format!("{command}; echo \"exit: $?\""), format!("{output}exit: 1\n")),
            (format!("{command} || true"), (*output).to_owned()),
            (format!("cd app && {command} 2>&1 | tail -20"), tail(output, 20)),
        ];
        for (command, output) in variants {
            let tool = codex(&command, &output);
            assert_eq!((tool.obs_type, tool.failed), (ObsType::CommandError, true), "{command}");
        }
    }
    for (command, output) in [
        ("python boom.py 2>&1 | tail -5", BOOM),
        ("cargo run 2>&1 | tail -5", PANIC),
        ("node crash.js 2>&1 | tail -5", CRASH),
    ] {
        assert!(claude(command, &tail(output, 5)).failed, "{command}");
    }
}

/// @capture_plain_failures
#[test]
fn output_that_only_resembles_an_error_does_not_fail_a_command() {
    let logged = CRASH.replace("Node.js v20.20.2\n", "ok\n");
    let table = [
        ("make ok", "error: 0 errors, 0 warnings\ndone\n"),
        ("make ign", "make: [Makefile:6: ign] Error 1 (ignored)\nfine\n"),
        ("make sub", "make[1]: *** [Makefile:2: x] Error 1\nmade do without it\n"),
        ("node logged.js", &logged),
        ("node version.js", "Node.js v20 is what we run\n"),
        ("python caught.py", &format!("{BOOM}recovered, all fine\n")),
        ("python caught.py; echo done", &format!("{BOOM}recovered\ndone\n")),
        ("python names.py", "KeyError: 'k'\n"),
        ("python notes.py | tail -2", "see also\nModuleNotFoundError: No module named 'x'\n"),
        ("python notes.py | tail -2", "checked a.py\nSyntaxError: invalid syntax\n"),
        ("npm run docs", "the words npm error Missing script: are explained\n"),
        ("python -c 'import a; print(a.b)' | tail -1", "KeyError: 'k'\n"),
        ("ls scripts 2>&1 | tail", "ls: scripts: No such file or directory\n"),
        ("python doc.py", "  File \"a.py\", line 1\nValueError is raised\n"),
        ("perl a.t", "1..2\nok 1\nnot ok 2 - b # TODO later\n"),
        ("./notes.sh", "not ok 2 is what TAP prints\n"),
        ("cargo run --bin t", "     Running `target/debug/t`\nerror: 0 problems\n"),
        ("cargo tree", "tiny v0.1.0\nerror-chain v0.12.4\n"),
        ("npm install", "npm warn deprecated x\nadded 3 packages, found 0 vulnerabilities\n"),
        ("npm ls", "npm error is a word in a readme\n"),
        ("terraform plan", "│ Warning: Deprecated\nNo changes.\n  + text = \"Error: x\"\n"),
        ("docker logs web", "Error response from daemon: logged by the app\n"),
        ("kubectl logs web", "error: cannot connect, trying again\n"),
        ("git status", "On branch main\n\terror: notes.txt\nnothing to commit\n"),
        ("git show HEAD:notes; git status", "fatal: not a repository\nclean\n"),
        ("git log --format=%s", "error: wrong exit code in cli\nfatal: handled\n"),
        ("cat build.log", "make: *** [Makefile:4: bad] Error 1\n"),
        ("cat build.log | tail -3", "npm error code ERESOLVE\n"),
        ("ssh host make bad", "make: *** [Makefile:4: bad] Error 1\n"),
        ("make ok && cat old.log", "done\nmake: *** [Makefile:4: bad] Error 1\n"),
        ("./run.sh && tail -3 tap.log", "1..1\nnot ok 1\n"),
    ];
    for (command, output) in table {
        for command in [command.to_owned(), format!("{command} || true")] {
            assert!(!codex(&command, output).failed, "{command}");
        }
    }
}

/// @capture_verdicts
#[test]
fn the_last_verdict_of_the_runner_itself_counts() {
    let ok = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    let red = "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    let short = "test result: FAILED. 0 passed; 1 failed\n";
    let unittest = "Traceback (most recent call last):\nFAILED (errors=1)\n.\n----------------------------------------------------------------------\nRan 1 test in 0.000s\n\nOK\n";
    let next = "     Summary [   0.011s] 1 test run: 1 passed, 0 skipped\n";
    let table = [
        ("python -m unittest ut_ok", unittest.to_owned(), "passed"),
        ("python -m unittest ut_ok | grep -iE 'fail|ok'", "FAILED (errors=1)\nOK\n".to_owned(), "unknown"),
        ("python -m unittest x | tail -1", "FAILED (errors=1)\n".to_owned(), "failed"),
        ("python -m unittest x", unittest.replace("\nOK", "\nFAILED (failures=1)"), "failed"),
        ("cargo test -- --nocapture", format!("running 1 test\n{short}test ok ... ok\n\n{ok}"), "passed"),
        ("cargo test -- --nocapture", format!("running 1 test\n{red}test ok ... ok\n\n{ok}"), "passed"),
        ("cargo test", format!("running 1 test\n{ok}\n     Running tests/a.rs (x)\n\nrunning 1 test\n{red}"), "failed"),
        ("cargo test --no-fail-fast", format!("running 1 test\n{red}\nrunning 1 test\n{ok}"), "failed"),
        ("cargo test | grep 'test result'", format!("{red}{ok}"), "failed"),
        ("cargo nextest run --no-capture", format!("running 1 test\n{red}{next}"), "passed"),
        ("BAD=1 prove a.t", "a.t .. \nDubious, test returned 1 (wstat 256, 0x100)\nFailed 1/2 subtests \nResult: FAIL\n".to_owned(), "failed"),
        ("prove a.t", "a.t .. ok\nAll tests successful.\nResult: PASS\n".to_owned(), "passed"),
        ("cargo test --features nope", "error: the package 'tiny' does not contain this feature: nope\n".to_owned(), "failed"),
        ("ruff check . | tail -5", "Found 14 errors.\n[*] 7 fixable with `--fix`.\n".to_owned(), "failed"),
        ("ruff check --fix .", "Found 3 errors (3 fixed, 0 remaining).\n".to_owned(), "passed"),
        ("ruff check --fix .", "Found 3 errors (2 fixed, 1 remaining).\n".to_owned(), "failed"),
        ("ruff check .", "All checks passed!\n".to_owned(), "passed"),
        ("docker build -t x .", "ERROR: failed to solve: process \"/bin/sh -c false\" did not complete successfully: exit code: 1\n".to_owned(), "failed"),
    ];
    for (command, output, result) in table {
        let tool = codex(command, &output);
        assert_eq!(tool.metadata["run"]["result"], result, "{command}: {output}");
        assert_eq!(tool.failed, result == "failed", "{command}: {output}");
    }
}
