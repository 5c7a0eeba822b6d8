//! Whether one run did all that another one did, whichever command started it: `cargo nextest run` after
//! `cargo test -p x`, `mvn package` after `mvn compile`, `make test` that printed the summary of pytest after
//! `pytest tests/a.py`.

use super::coverage::{self, Selection};
use super::{RunKey, runner_of};
use crate::observation::Observation;

/// The phases of Maven in order.
const MAVEN: &[&str] = &[
    "validate",
    "compile",
    "test-compile",
    "test",
    "package",
    "integration-test",
    "verify",
    "install",
    "deploy",
];
/// Each program whose tests build first, with the words of its steps in order.
const STEPS: &[(&str, &[&[&str]])] = &[
    (
        "cargo",
        &[&["check", "c"], &["build", "b"], &["test", "t", "nextest", "llvm-cov", "tarpaulin"]],
    ),
    ("go", &[&["build", "install"], &["test"]]),
    ("dotnet", &[&["build"], &["test"]]),
    ("swift", &[&["build"], &["test"]]),
    ("mix", &[&["compile"], &["test"]]),
    ("sbt", &[&["compile"], &["test"]]),
    ("gradle", &[&["compileJava", "compileKotlin", "classes"], &["test"], &["check"], &["build"]]),
];
/// Words of a command line that say what is done, and select nothing.
const COMMAND_WORDS: &[&str] = &["run", "watch", "clean", "run-script", "--run", "exec"];
/// Programs that run the scripts or the targets of a project.
const SCRIPTS: &[&str] =
    &["make", "gmake", "just", "task", "ninja", "npm", "pnpm", "yarn", "bun", "tox", "nox", "rake"];
/// Programs that run the same scripts of a package.
const PACKAGE_SCRIPTS: &[&str] = &["npm", "pnpm", "yarn", "bun"];

/// Whether a program runs scripts or targets of a project, which start other runners.
pub fn is_script(program: &str) -> bool {
    SCRIPTS.contains(&program)
}

/// The work of one run.
struct ExecutedRun<'a> {
    runner: &'a str,
    /// How far it went: a later step includes the earlier ones.
    step: usize,
    selection: Selection,
}

/// Whether a run did all that an earlier one did, in the same directory.
pub fn includes(later: &Observation, earlier: &Observation) -> bool {
    let (Some(key), Some(of)) = (RunKey::of(later), RunKey::of(earlier)) else { return false };
    if key.directory != of.directory {
        return false;
    }
    if key == of && coverage::covers(key.program, &later.content, &earlier.content) {
        return true;
    }
    let (Some(wide), Some(narrow)) = (executed(later, &key), executed(earlier, &of)) else {
        return false;
    };
    wide.runner == narrow.runner
        && wide.step >= narrow.step
        && !leaves_out(&key, (&later.content, wide.step), (&earlier.content, narrow.step))
        && wide.selection.covers(&narrow.selection)
}

/// Whether the line of a later run leaves out what the earlier one built or tested.
fn leaves_out(
    key: &RunKey<'_>,
    (later, step): (&str, usize),
    (earlier, of): (&str, usize),
) -> bool {
    let has = |line: &str, options: &[&str]| {
        line.split_whitespace().any(|word| options.contains(&word.trim_matches(['"', '\''])))
    };
    let builds_tests = &["--all-targets", "--tests", "--benches", "--examples"];
    match key.program {
        // Only `cargo test` runs the tests of the documentation.
        "cargo" if has(earlier, &["--doc"]) && !has(later, &["--doc"]) => {
            key.subcommand == "nextest" || step < 2
        }
        "cargo" => step < 2 && has(earlier, builds_tests) && !has(later, builds_tests) && of < 2,
        "mvn" | "mvnw" => has(later, &["-DskipTests", "-Dmaven.test.skip=true"]) && of >= 2,
        "gradle" | "gradlew" => has(later, &["-x"]),
        _ => false,
    }
}

fn executed<'a>(seen: &'a Observation, key: &RunKey<'a>) -> Option<ExecutedRun<'a>> {
    let program = match key.program {
        "mvnw" => "mvn",
        "gradlew" => "gradle",
        "sbtn" => "sbt",
        "py.test" => "pytest",
        "cargo-nextest" => "cargo",
        program => program,
    };
    if SCRIPTS.contains(&key.program) {
        let selection = || Selection::of_script(key.program, key.subcommand, &seen.content);
        // The command line of a script does not name the runner that it starts, but its output may.
        if let Some(runner) = runner_of(seen) {
            let step = steps(runner).map_or(0, |steps| steps.len() - 1);
            return Some(ExecutedRun { runner, step, selection: selection()? });
        }
        let is_package = PACKAGE_SCRIPTS.contains(&key.program);
        return is_package
            .then(|| Some(ExecutedRun { runner: key.subcommand, step: 0, selection: selection()? }))
            .flatten()
            .filter(|one| !one.runner.is_empty());
    }
    let selection = |words: &[&str]| {
        let skipped: Vec<&str> = COMMAND_WORDS.iter().chain(words).copied().collect();
        Selection::of(key.program, &seen.content, &skipped)
    };
    if program == "mvn" {
        let named = seen.content.split_whitespace();
        let step = named.filter_map(|word| MAVEN.iter().position(|phase| *phase == word)).max()?;
        return Some(ExecutedRun { runner: program, step, selection: selection(MAVEN)? });
    }
    let Some(steps) = steps(program) else {
        return Some(ExecutedRun {
            runner: program,
            step: 0,
            selection: selection(&[key.subcommand])?,
        })
        .filter(|_| key.subcommand.is_empty());
    };
    let subcommand = key.subcommand.trim_start_matches(':');
    let step = match key.program {
        "cargo-nextest" => steps.len() - 1,
        _ => steps.iter().position(|words| words.contains(&subcommand))?,
    };
    let words: Vec<&str> = steps.iter().flat_map(|words| words.iter().copied()).collect();
    Some(ExecutedRun { runner: program, step, selection: selection(&words)? })
}

fn steps(program: &str) -> Option<&'static [&'static [&'static str]]> {
    STEPS.iter().find(|(name, _)| *name == program).map(|(_, steps)| *steps)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::run::red;

    fn run(id: i64, (line, program, subcommand, runner): Line<'_>, result: &str) -> Observation {
        let mut metadata = json!({ "program": program, "run": { "result": result } });
        if !subcommand.is_empty() {
            metadata["subcommand"] = json!(subcommand);
        }
        if !runner.is_empty() {
            metadata["run"]["runner"] = Value::from(runner);
        }
        crate::run::tests::run(id, line, metadata)
    }

    /// A command line, its program and sub-command, and the runner that its output shows.
    type Line<'a> = (&'a str, &'a str, &'a str, &'a str);

    fn line<'a>(text: &'a str) -> Line<'a> {
        let words: Vec<&str> = text.split_whitespace().filter(|word| !word.contains('=')).collect();
        let (program, subcommand) = match words.as_slice() {
            ["npx", program, ..] => (*program, ""),
            ["uv", "run", program, ..] | ["python", "-m", program, ..] => (*program, ""),
            ["npm" | "pnpm", "run", script, ..] => (words[0], *script),
            ["pytest" | "jest" | "vitest" | "make", ..] if words[0] != "make" => (words[0], ""),
            [program, .., last] if *program == "mvn" => (*program, *last),
            [program, subcommand, ..] => (*program, *subcommand),
            [program] => (*program, ""),
            [] => ("", ""),
        };
        (text, program, subcommand, "")
    }

    fn stays_red(failed: Line<'_>, passed: Line<'_>) -> bool {
        let runs = [run(2, passed, "passed"), run(1, failed, "failed")];
        !red(&runs).is_empty()
    }

    /// @briefing_red_runs
    #[test]
    fn a_whole_run_ends_a_narrower_red_one_under_another_command() {
        for (failed, passed) in [
            ("cargo test -p x foo", "cargo nextest run"),
            ("cargo test -p x foo", "cargo nextest run -p x"),
            ("cargo nextest run -p x", "cargo test"),
            ("pytest tests/a.py", "uv run pytest"),
            ("pytest tests/a.py", "python -m pytest"),
            ("pytest tests/a.py::t", "uv run pytest tests/a.py -q"),
            ("cargo check", "cargo build"),
            ("cargo check", "cargo test"),
            ("cargo check -p x", "cargo build --workspace"),
            ("cargo build", "cargo nextest run --workspace"),
            ("cargo check --all-targets", "cargo test"),
            ("mvn compile", "mvn package"),
            ("mvn -q test", "mvn clean verify"),
            ("go test ./x", "go test ./..."),
            ("go build ./x", "go test ./..."),
            ("npx jest cart", "npx jest"),
            ("npx vitest run src/a.test.ts", "npx vitest run"),
            ("dotnet build", "dotnet test"),
            ("npm test", "pnpm test"),
            ("npm test -- cart", "npm run test"),
        ] {
            assert!(!stays_red(line(failed), line(passed)), "{failed} | {passed}");
        }
    }

    /// @briefing_red_runs
    #[test]
    fn a_narrow_or_earlier_run_under_another_command_ends_nothing() {
        for (failed, passed) in [
            ("cargo test", "cargo nextest run -p x"),
            ("cargo test -p x", "cargo nextest run -p y"),
            ("cargo test", "cargo build"),
            ("cargo build", "cargo check"),
            ("cargo test --doc", "cargo nextest run"),
            ("cargo check --all-targets", "cargo build"),
            ("cargo clippy", "cargo test"),
            ("pytest", "uv run pytest tests/a.py"),
            ("pytest tests/a.py", "python -m unittest"),
            ("mvn package", "mvn compile"),
            ("mvn test", "mvn package -DskipTests"),
            ("go test ./...", "go test ./x"),
            ("go test ./...", "go build ./..."),
            ("npx jest", "npx vitest run"),
            ("npx vitest run", "npx vitest run src/a.test.ts"),
            ("npm test", "npm run build"),
            ("npm test", "pnpm test -- cart"),
        ] {
            assert!(stays_red(line(failed), line(passed)), "{failed} | {passed}");
        }
    }

    /// @briefing_red_runs
    #[test]
    fn the_runner_of_a_script_is_the_one_that_its_output_shows() {
        let script = |text, runner| {
            let (text, program, subcommand, _) = line(text);
            (text, program, subcommand, runner)
        };
        for (failed, passed, expected) in [
            (line("pytest tests/a.py"), script("make test", "pytest"), false),
            (line("pytest tests/a.py"), script("make test", ""), true),
            (line("pytest tests/a.py"), script("make test", "jest"), true),
            (script("npm test", "jest"), line("npx jest"), false),
            (script("npm test", "jest"), line("npx jest cart"), true),
            (script("npm test", "vitest"), line("npx vitest run"), false),
            (script("npm test", "vitest"), line("npx jest"), true),
            (line("npx jest cart"), script("npm test", "jest"), false),
            (line("npx jest"), script("npm test -- cart", "jest"), true),
            (line("cargo test -p x"), script("make check", "cargo"), false),
        ] {
            assert_eq!(stays_red(failed, passed), expected, "{failed:?} | {passed:?}");
        }
    }
}
