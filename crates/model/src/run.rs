//! Runs of tests and builds, read from their records, and which of them are red.

mod coverage;
mod runner;

use serde_json::Value;

use text::fingerprint::Fingerprint;

use crate::limits;
use crate::observation::Observation;
pub use coverage::is_fixed_by;
pub use runner::{includes, is_script};

/// The member of `metadata.run` with the fingerprint of a failure whose output was too long to be stored whole.
pub const FINGERPRINT: &str = "fingerprint";

/// The member of `metadata.run` of a run that ran no test.
pub const NO_TESTS: &str = "no_tests";

/// The member of `metadata.run` that marks a run outside of the project that its record belongs to.
pub const ELSEWHERE: &str = "elsewhere";

/// The member of `metadata.run` with the runner whose summary the output of a script shows.
pub const RUNNER: &str = "runner";

/// Identifies a test or build: its program, and where it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunKey<'a> {
    pub program: &'a str,
    pub subcommand: &'a str,
    /// Its directory relative to the project's root; empty for the root itself.
    pub directory: &'a str,
}

impl<'a> RunKey<'a> {
    /// The key of a run that ended; `None` for other records.
    pub fn of(seen: &'a Observation) -> Option<RunKey<'a>> {
        let metadata = seen.metadata.as_ref()?;
        let run = metadata.get("run")?;
        let is = |name: &str| metadata.get(name).and_then(Value::as_bool) == Some(true);
        if is("is_interrupt") || is("background") {
            return None;
        }
        let word = |value: &'a Value, name: &str| value.get(name).and_then(Value::as_str);
        Some(RunKey {
            program: word(metadata, "program")?,
            subcommand: word(metadata, "subcommand").unwrap_or_default(),
            directory: word(run, "directory").unwrap_or_default(),
        })
    }
}

/// The red runs: those that failed, without a later run that executed as much or more, by [`includes`]. A later run of
/// other tests proves nothing, nor does one in another project, one that ran no test, or one that failed before the tests
/// began. A later run whose result is unknown may have passed. If one red run is a part of
/// another, the newer one counts.
pub fn red<'a>(newest_first: impl IntoIterator<Item = &'a Observation>) -> Vec<&'a Observation> {
    let mut later: Vec<&'a Observation> = Vec::new();
    let mut red = Vec::new();
    for seen in newest_first {
        if RunKey::of(seen).is_none() || is_elsewhere(seen) {
            continue;
        }
        let is_red = result(seen) == Some("failed");
        let is = |name: &str| seen.metadata.as_ref().is_some_and(|all| all["run"][name] == true);
        if is(NO_TESTS) || (seen.failed() && !is_red) {
            continue;
        }
        let ends = |newer: &&'a Observation| {
            includes(newer, seen) || (result(newer) == Some("failed") && includes(seen, newer))
        };
        if is_red && !later.iter().any(ends) {
            red.push(seen);
        }
        later.push(seen);
    }
    red
}

/// Whether this is a linter, which is recorded as a build. It says how the code is written, not whether it works.
pub fn is_lint(program: &str, subcommand: &str) -> bool {
    const TARGETS: [&str; 4] = ["lint", "detekt", "ktlint", "spotlessCheck"];
    match program {
        "eslint" | "ruff" | "biome" | "sqlfluff" | "golangci-lint" | "pre-commit" | "swiftlint"
        | "ktlint" | "mypy" | "rubocop" => true,
        "cargo" => subcommand == "clippy",
        "go" => subcommand == "vet",
        "mix" => subcommand == "credo",
        "flutter" | "dart" => subcommand == "analyze",
        _ => TARGETS.iter().any(|target| subcommand.starts_with(target)),
    }
}

/// Whether a run was outside of the project that its record belongs to.
fn is_elsewhere(seen: &Observation) -> bool {
    let run = seen.metadata.as_ref().and_then(|metadata| metadata.get("run"));
    run.is_some_and(|run| run[ELSEWHERE] == true)
}

/// The runner whose summary the output of a script shows.
pub fn runner_of(seen: &Observation) -> Option<&str> {
    seen.metadata.as_ref()?.get("run")?.get(RUNNER)?.as_str()
}

/// `passed`, `failed` or `unknown`.
pub fn result(seen: &Observation) -> Option<&str> {
    seen.metadata.as_ref()?.get("run")?.get("result")?.as_str()
}

/// The fingerprint of the failure that this metadata of a run describes.
pub fn fingerprint(metadata: &Value) -> Fingerprint {
    let hash = |value: &Value| value.as_u64().and_then(|hash| u32::try_from(hash).ok());
    match metadata["run"][FINGERPRINT].as_array() {
        Some(hashes) => Fingerprint::from_hashes(hashes.iter().filter_map(hash)),
        None => metadata["error"].as_str().map(Fingerprint::of).unwrap_or_default(),
    }
}

/// The text of a red run: its command, its directory, and the test that failed or the first error.
pub fn told(seen: &Observation) -> String {
    let line = text::line_of_words(&seen.content, limits::RED_COMMAND_CHARS);
    let directory = RunKey::of(seen).map_or("", |key| key.directory);
    let place = match directory {
        "" => String::new(),
        directory => format!(" in {directory}"),
    };
    let finding = seen.error().map(text::telling::finding).unwrap_or_default();
    match text::line_of_words(finding, limits::RED_FINDING_CHARS) {
        finding if finding.is_empty() => format!("`{line}`{place}"),
        finding => format!("`{line}`{place}: {finding}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::observation::ObsType;

    pub(super) fn run(id: i64, line: &str, metadata: Value) -> Observation {
        Observation {
            id,
            timestamp: id,
            session_id: "s".into(),
            project: "p".into(),
            obs_type: ObsType::Command.into(),
            source_event: "PostToolUse".into(),
            tool_name: None,
            file_path: None,
            content: line.into(),
            metadata: Some(metadata),
            is_pinned: false,
            prompt_id: None,
            agent: "claude-code".into(),
            agent_id: None,
            damaged: false,
            at_ms: id * 1000,
            project_row: 1,
        }
    }

    fn ended(program: &str, directory: &str, result: &str) -> Value {
        json!({ "program": program, "run": { "result": result, "directory": directory } })
    }

    #[test]
    fn a_linter_is_recognised_among_builds() {
        let linters =
            [("eslint", ""), ("npm", "lint:fix"), ("gradlew", "lintDebug"), ("deno", "lint")];
        assert!(linters.iter().all(|(program, word)| is_lint(program, word)));
        assert!(is_lint("cargo", "clippy") && is_lint("golangci-lint", "run"));
        let builds = [("cargo", "build"), ("tsc", ""), ("npm", "build"), ("deno", "check")];
        assert!(!builds.iter().any(|(program, word)| is_lint(program, word)));
    }

    #[test]
    fn a_run_is_red_if_the_newest_of_its_kind_and_directory_failed() {
        let mut stopped = ended("jest", "", "failed");
        stopped["is_interrupt"] = json!(true);
        let runs = [
            run(9, "npx jest", stopped),
            run(8, "npx jest", ended("jest", "", "passed")),
            run(7, "npx jest", ended("jest", "", "failed")),
            run(6, "npx jest", ended("jest", "web", "failed")),
            run(5, "tsc | head", ended("tsc", "", "unknown")),
            run(4, "tsc", ended("tsc", "", "failed")),
            run(3, "pytest", ended("pytest", "", "failed")),
            run(2, "pytest", ended("pytest", "", "passed")),
            run(1, "ls", json!({})),
        ];
        let ids: Vec<i64> = red(&runs).into_iter().map(|run| run.id).collect();
        assert_eq!(ids, [6, 3]);
    }

    #[test]
    fn a_run_that_began_no_test_ends_no_red_run() {
        let mut helped = ended("cargo", "", "unknown");
        helped["run"][NO_TESTS] = json!(true);
        let mut broken = ended("cargo", "", "unknown");
        broken["failed"] = json!(true);
        let hidden = ended("cargo", "", "unknown");
        for (metadata, is_red) in [(helped, true), (broken, true), (hidden, false)] {
            let runs = [
                run(2, "cargo test", metadata),
                run(1, "cargo test", ended("cargo", "", "failed")),
            ];
            assert_eq!(red(&runs).len(), usize::from(is_red), "{:?}", runs[0].metadata);
        }
    }

    #[test]
    fn only_a_run_of_as_much_or_more_ends_a_red_run() {
        let table = [
            ("pytest tests/a.py", "pytest tests/b.py", true),
            ("pytest tests/a.py", "pytest tests/", false),
            ("pytest tests/a.py", "pytest", false),
            ("pytest", "pytest tests/a.py", true),
        ];
        for (failed, passed, is_red) in table {
            let runs = [
                run(2, passed, ended("pytest", "", "passed")),
                run(1, failed, ended("pytest", "", "failed")),
            ];
            assert_eq!(red(&runs).len(), usize::from(is_red), "{failed} | {passed}");
        }
        let both = [
            run(2, "pytest tests/a.py", ended("pytest", "", "failed")),
            run(1, "pytest", ended("pytest", "", "failed")),
        ];
        let ids: Vec<i64> = red(&both).into_iter().map(|run| run.id).collect();
        assert_eq!(ids, [2], "one of them is enough");
    }

    #[test]
    fn a_red_run_names_its_command_its_place_and_what_failed() {
        let mut metadata = ended("jest", "web", "failed");
        metadata["error"] = json!("Exit code 1\n✕ adds up (3 ms)");
        let seen = run(1, "npx jest", metadata);
        assert_eq!(told(&seen), "`npx jest` in web: ✕ adds up (3 ms)");
        assert_eq!(told(&run(1, "make", ended("make", "", "failed"))), "`make`");
    }
}
