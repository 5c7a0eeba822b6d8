//! Runs that ran no test: they prove nothing, whatever their exit code is.

use super::runs::{Run, RunKind};
use super::verdict::{Tally, Verdict};
use crate::shell::Simple;

/// Options with which every runner only prints its help or its version.
const TALK: &[&str] = &["--help", "-h", "--version"];
/// Options with which only these programs print their help, version or settings. To others they mean something else:
/// `go test -v`, `mvn -V`, `docker build -v`.
const TALK_IN: &[(&[&str], &[&str])] = &[
    (&["tsc", "vue-tsc"], &["-v", "--init", "--showConfig", "--all"]),
    (&["jest"], &["-v", "--showConfig", "--init", "--clearCache"]),
    (&["vitest", "webpack", "rollup", "rspec"], &["-v"]),
    (&["eslint"], &["-v", "--init", "--print-config", "--env-info"]),
    (&["rubocop"], &["-v", "-V", "-L", "--list-target-files", "--show-cops", "--init"]),
    (&["mvn", "mvnw", "gradle", "gradlew", "make", "gmake"], &["-v"]),
    (&["cargo", "pytest", "py.test", "mypy", "ruff", "rustc", "mocha", "biome"], &["-V"]),
    (&["pytest", "py.test"], &["--markers", "--fixtures", "--fixtures-per-test", "--funcargs"]),
    (&["rustc"], &["-vV"]),
    (&["npm", "pnpm", "yarn", "bun"], &["-v"]),
    (&["javac", "kotlinc"], &["-version", "-help"]),
    (&["xcodebuild"], &["-version", "-list", "-showsdks", "-showBuildSettings", "-help"]),
    (&["just"], &["-V", "-l", "--summary", "--show"]),
    (&["task"], &["-l", "--list-all"]),
    (&["rake"], &["-T", "-P", "-W", "--tasks"]),
];
/// Words behind a program with which it only lists its tests.
const LIST_IN: &[(&str, &str)] = &[("vitest", "list"), ("nextest", "list"), ("tox", "list")];

/// Options with which a runner lists, collects or compiles tests and runs none.
const RUN_NOTHING: &[&str] = &[
    "--collect-only",
    "--co",
    "--no-run",
    "--list",
    "--listTests",
    "--list-tests",
    "--dry-run",
    "--just-print",
    "--setup-plan",
    "--setup-only",
    "--show-only",
    "-DskipTests",
    "-Dmaven.test.skip=true",
];
/// Options with which one program runs no test; to other programs they mean something else.
const RUN_NOTHING_IN: &[(&str, &str)] = &[
    ("make", "-n"),
    ("gmake", "-n"),
    ("go", "-list"),
    ("go", "-c"),
    ("ctest", "-N"),
    ("gradle", "-m"),
    ("gradlew", "-m"),
    ("go", "-n"),
    ("ninja", "-n"),
    ("rake", "-n"),
    ("dotnet", "-t"),
];
/// Parts of the line with which a runner says that it found no test.
const NO_TESTS: &[&str] = &[
    "no tests ran in ",
    "NO TESTS RAN",
    "Ran 0 tests in ",
    "No tests found, exiting with code ",
    "No test files found, exiting with code ",
    "error: no tests to run",
    "Error: No tests found",
    "No tests were found!!!",
];

/// Whether the run executed zero tests: its result then proves nothing. A failure counts unless the output says that there
/// were no tests: a run may fail before the first one.
pub(super) fn ran_none(
    command: &Simple,
    run: &Run<'_>,
    result: Verdict,
    tally: Tally,
    texts: &[&str],
) -> bool {
    if only_talks(command, run) {
        return true;
    }
    let only_lists = || {
        let words = || std::iter::once(&command.program).chain(&command.args);
        words().zip(words().skip(1)).any(|(program, word)| LIST_IN.contains(&(program, word)))
    };
    let does_nothing = |arg: &String| {
        RUN_NOTHING.contains(&arg.as_str()) || RUN_NOTHING_IN.contains(&(run.program, arg.as_str()))
    };
    if result == Verdict::Passed && (command.args.iter().any(does_nothing) || only_lists()) {
        return true;
    }
    let Tally { passed, failed, skipped, errors } = tally;
    let counted = [passed, failed, errors].into_iter().flatten();
    if run.kind != RunKind::Test || counted.clone().sum::<u64>() > 0 {
        return false;
    }
    let has_counts = counted.chain(skipped).next().is_some();
    (result == Verdict::Passed && (has_counts || only_empty_packages(texts)))
        || lines(texts).any(says_none)
}

/// Whether an option makes the runner only print its help, its version or its settings. `npm test -- --help` passes the
/// option on; there only the options of every runner count.
fn only_talks(command: &Simple, run: &Run<'_>) -> bool {
    let own = command.args.iter().take_while(|arg| *arg != "--");
    let of_program = |arg: &String| {
        let rows = TALK_IN.iter().filter(|(programs, _)| programs.contains(&run.program));
        rows.into_iter().any(|(_, options)| options.contains(&arg.as_str()))
    };
    command.args.iter().any(|arg| TALK.contains(&arg.as_str())) || own.into_iter().any(of_program)
}

fn lines<'a>(texts: &'a [&str]) -> impl Iterator<Item = &'a str> {
    texts.iter().flat_map(|text| text.lines()).map(str::trim)
}

fn says_none(line: &str) -> bool {
    let deselected = line.trim_matches(['=', ' ']).split_once(" deselected in ");
    NO_TESTS.iter().any(|part| line.contains(part))
        || deselected.is_some_and(|(count, _)| count.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether go reports packages, and none of them has a test that ran.
fn only_empty_packages(texts: &[&str]) -> bool {
    let is_empty =
        |line: &str| line.contains("[no tests to run]") || line.contains("[no test files]");
    lines(texts).any(is_empty)
        && !lines(texts).any(|line| line.starts_with("ok ") && !is_empty(line))
        && !lines(texts).any(|line| line.starts_with("ok\t") && !is_empty(line))
}

#[cfg(test)]
mod tests {
    use super::super::{containers, runs, verdict};
    use super::*;

    /// @capture_no_tests
    #[test]
    fn a_run_without_a_test_has_no_result() {
        let cargo_none = "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out";
        let cargo_one = "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
        let both = format!("{cargo_one}\n{cargo_none}");
        use Verdict::{Failed, Passed};
        let table = [
            ("cargo test nosuch", Passed, cargo_none, true),
            ("cargo test", Passed, &both, false),
            ("cargo test --no-run", Passed, "Finished", true),
            ("cargo test --no-run", Failed, "error[E0308]: mismatched types", false),
            ("cargo nextest list", Passed, "", true),
            ("pytest --collect-only", Passed, "2 tests collected in 0.01s", true),
            ("pytest", Passed, "2 skipped in 0.01s", true),
            ("pytest", Passed, "1 passed, 2 skipped in 0.01s", false),
            ("pytest -q", Passed, "", false),
            ("pytest tests/none.py", Failed, "no tests ran in 0.01s", true),
            ("pytest -k x", Failed, "===== 2 deselected in 0.01s =====", true),
            ("pytest", Failed, "1 failed, 2 deselected in 0.01s\nno tests ran in 0.01s", false),
            ("pytest -n 4", Passed, "", false),
            ("npx jest none", Failed, "No tests found, exiting with code 1", true),
            ("go test ./...", Passed, "?   \tex/a\t[no test files]", true),
            ("go test ./...", Passed, "?   \tex/a\t[no test files]\nok  \tex/b\t0.1s", false),
            ("go test -run X ./a", Passed, "ok  \tex/a\t0.1s [no tests to run]", true),
            ("make -n test", Passed, "pytest", true),
            ("cargo build", Passed, "", false),
            ("cargo test --help", Passed, "Usage: cargo test", true),
            ("cargo test -h", Passed, "Usage: cargo test", true),
            ("cargo test -- --help", Passed, "Usage: --help", true),
            ("cargo build --help", Passed, "Usage: cargo build", true),
            ("go test -h", Failed, "usage: go test [build/test flags]", true),
            ("npm test -- --help", Passed, "Usage: jest", true),
            ("npm run build -- --help", Passed, "vite/6.0", true),
            ("npx jest --version", Passed, "29.7.0", true),
            ("npx jest --showConfig", Passed, "{}", true),
            ("npx vitest list", Passed, "a.test.ts > sums", true),
            ("npx tsc -v", Passed, "Version 5.4.5", true),
            ("npx tsc --init", Passed, "Created a new tsconfig.json", true),
            ("mvn -v test", Passed, "Apache Maven 3.9", true),
            ("pytest --markers", Passed, "@pytest.mark.slow", true),
            ("ctest -N", Passed, "Total Tests: 3", true),
            ("docker compose run --rm app pytest tests --version", Passed, "pytest 8.0", true),
            ("ctest -V", Passed, "", false),
            ("mvn -V test", Passed, "", false),
            ("go test -v ./...", Passed, "ok  \ta\t0.1s", false),
            ("pytest -v", Passed, "", false),
            ("npm test -- -v", Passed, "", false),
            ("docker build -t x .", Passed, "", false),
        ];
        for (line, result, output, expected) in table {
            let commands = containers::commands(line);
            let (place, run) = runs::of(&commands).unwrap();
            let tally = verdict::read(&commands, place, &run, &[output]).tally;
            let none = ran_none(&commands[place], &run, result, tally, &[output]);
            assert_eq!(none, expected, "{line}: {output}");
        }
    }
}
