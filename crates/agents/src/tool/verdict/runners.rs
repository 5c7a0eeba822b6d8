//! Which verdicts count for a command line: those of the programs that it runs.

use super::Family;
use crate::shell::{LoopPlace, Simple};
use crate::tool::runs::{self, Run};

/// Programs that run others and end a failed run with a message of their own.
const REPORTING: &[&str] = &["make", "gmake", "ninja", "cmake", "just", "rake"];

/// Programs that run others, besides those above: scripts of a package, targets, environments.
const RUNNING: &[&str] = &["npm", "pnpm", "yarn", "bun", "task", "tox", "nox", "nx", "turbo"];

/// Programs that pass on the end of their input.
const SHOWING_END: &[&str] = &["tail", "tee", "cat"];

/// The runners of a command line.
pub(super) struct Runners {
    /// Whether other programs than those of `families` may run, such as in `make test`.
    pub(super) runs_others: bool,
    /// Whether each of the programs that run others reports a failure itself, at the end of the output.
    pub(super) reports_failures: bool,
    /// Whether exactly one runner runs, once. Of several verdicts the last one is the runner's own.
    pub(super) is_single: bool,
    /// Whether the end of the run's output is shown.
    pub(super) shows_end: bool,
    /// Whether the command line may repeat the run, after a failure or after other work: then the last attempt counts.
    pub(super) repeats: bool,
    /// Whether all of the run's output is shown.
    pub(super) is_whole: bool,
    families: Vec<Family>,
}

impl Runners {
    /// The runners of a line; the run is the command at `place`.
    pub(super) fn of(commands: &[Simple], place: usize) -> Runners {
        let (mut families, mut runs, mut others, mut silent) = (Vec::new(), 0, 0, 0);
        let is_of_lint = commands.get(place).is_some_and(runs::is_lint);
        // `ruff check . && pytest`: a finding is no failed test.
        for command in commands.iter().filter(|command| is_of_lint || !runs::is_lint(command)) {
            let run = runs::of_command(command);
            runs += usize::from(run.is_some());
            match run.as_ref().map(own_families) {
                Some(own) if !own.is_empty() => {
                    families.extend_from_slice(own);
                    // `vitest --reporter=tap`.
                    if own.contains(&Family::Node)
                        && command.args.iter().any(|arg| arg.ends_with("tap"))
                    {
                        families.push(Family::Tap);
                    }
                }
                run => {
                    // A target that is neither a test nor a build may print verdicts too.
                    let reports = REPORTING.contains(&command.program.as_str());
                    let is_other = reports || RUNNING.contains(&command.program.as_str());
                    others += usize::from(run.is_some() || is_other);
                    silent += usize::from((run.is_some() || is_other) && !reports);
                }
            }
        }
        let shows_end = shows_end(commands.get(place..).unwrap_or_default());
        let repeats = repeats(commands, place);
        let run = commands.get(place);
        // In a loop that goes on after a failure every run counts.
        let runs_often = run.is_some_and(|run| run.in_loop != LoopPlace::Outside) && !repeats;
        Runners {
            repeats,
            runs_others: others > 0,
            reports_failures: others > 0 && silent == 0 && shows_end,
            is_single: runs == 1 && others == 0 && !runs_often,
            shows_end,
            is_whole: run.is_some_and(|run| !run.hidden),
            families,
        }
    }

    /// Whether verdicts of this family count.
    pub(super) fn counts(&self, family: Family) -> bool {
        self.runs_others || self.families.contains(&family)
    }

    /// Whether a failure of this family is that of the run: the family is that of a program that runs others, or of one
    /// on the command line.
    pub(super) fn announces(&self, family: Family) -> bool {
        matches!(family, Family::Make | Family::Manager) || self.families.contains(&family)
    }
}

/// Whether a command line repeats its run until it passes, once more if it failed, or after other work: `until npm
/// test; do …`, `for …; do npm test && break; done`, `mix test || mix test --failed`, `cargo test; git stash pop; cargo
/// test`.
fn repeats(commands: &[Simple], place: usize) -> bool {
    let Some(run) = commands.get(place) else { return false };
    let mut later = commands.iter().skip(place + 1);
    let ends_loop = |command: &Simple| {
        command.in_loop == LoopPlace::Body
            && matches!(command.program.as_str(), "break" | "exit" | "return")
    };
    match run.in_loop {
        LoopPlace::Condition => return true,
        LoopPlace::Body if later.clone().any(ends_loop) => return true,
        _ => {}
    }
    let is_within = |one: &Simple, other: &Simple| {
        one.words().all(|word| other.words().any(|known| known == word))
    };
    later.any(|again| {
        let is_equal = run.args == again.args;
        let is_retry = again.is_alternative && (is_within(run, again) || is_within(again, run));
        run.program == again.program && (is_equal || is_retry)
    })
}

/// Whether the output of the first command reaches the end of its pipe without losing its own end.
fn shows_end(commands: &[Simple]) -> bool {
    let pipe = commands.iter().zip(commands.iter().skip(1)).take_while(|(from, _)| from.piped);
    pipe.into_iter().all(|(_, into)| SHOWING_END.contains(&into.program.as_str()))
}

/// The families of a run's own verdicts. None for programs that run others, and for those whose verdicts are not known.
fn own_families(run: &Run<'_>) -> &'static [Family] {
    use Family as F;
    match run.program {
        "pytest" | "py.test" => &[F::Pytest, F::Python],
        "unittest" | "manage.py" | "nose2" => &[F::Unittest, F::Python],
        "cargo" if matches!(run.subcommand, Some("test" | "t")) => {
            &[F::Libtest, F::Cargo, F::Compiler]
        }
        "cargo" | "cargo-nextest" if run.kind == runs::RunKind::Test => {
            &[F::Libtest, F::Nextest, F::Cargo, F::Compiler]
        }
        "cargo" => &[F::Cargo, F::Compiler],
        "go" | "gotestsum" => &[F::Go, F::Compiler],
        "jest" => &[F::Jest, F::Node],
        "vitest" => &[F::Vitest, F::Node],
        "mocha" => &[F::Mocha, F::Node],
        "ava" => &[F::Ava, F::Tap, F::Node],
        "playwright" => &[F::Playwright, F::Node],
        "node" | "tap" | "tape" | "prove" => &[F::Tap, F::Node],
        "bats" => &[F::Tap, F::Examples],
        "rspec" => &[F::Examples],
        "mix" => &[F::Mix],
        "rebar3" => &[F::Erlang, F::Examples],
        "swift" | "xcodebuild" => &[F::Swift, F::Compiler],
        "zig" => &[F::Zig, F::Compiler],
        "deno" => &[F::Deno, F::Lint],
        "bazel" | "bazelisk" => &[F::Bazel, F::Compiler],
        "sbt" | "sbtn" => &[F::Sbt],
        "flutter" | "dart" => &[F::Dart],
        "dbt" => &[F::Dbt, F::Python],
        "pre-commit" => &[F::Hooks],
        "ctest" => &[F::Ctest],
        "phpunit" | "pest" | "artisan" => &[F::Php],
        "mvn" | "mvnw" => &[F::Maven],
        "gradle" | "gradlew" => &[F::Gradle, F::Compiler],
        "dotnet" | "msbuild" => &[F::Dotnet],
        "tsc" | "vue-tsc" | "eslint" => &[F::Lint, F::Node],
        "mypy" => &[F::Lint, F::Compiler, F::Python],
        "ruff" | "biome" | "golangci-lint" | "swiftlint" | "sqlfluff" | "ktlint" => &[F::Lint],
        "rustc" | "javac" | "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++" => {
            &[F::Compiler, F::Cargo]
        }
        "rubocop" => &[F::Lint],
        "kotlinc" => &[F::Compiler],
        "cypress" => &[F::Scripts, F::Mocha],
        "vite" | "next" => &[F::Scripts, F::Lint, F::Node],
        "docker" | "podman" | "buildah" => &[F::Docker],
        _ => &[],
    }
}
