//! Compilers, linters and build tools.

use super::lines::{TallySlot, behind_place, number};
use super::{Family, Reading, Tally};
use crate::tool::runs::RunKind;

/// Error messages of cargo and rustc themselves. Any other line with `error: ` may come from the program that
/// is built or tested.
const CARGO: &[&str] = &[
    "could not compile ",
    "test failed, to rerun pass",
    "test run failed",
    "doctest failed, to rerun pass",
    "no test target",
    "no bin target",
    "no example target",
    "no library targets found",
    "no tests to run",
    "package ID specification ",
    "could not find `Cargo.toml`",
    "could not execute process",
    "could not document ",
    "failed to parse manifest",
    "failed to load manifest",
    "failed to select a version",
    "failed to run custom build command",
    "failed to get `",
    "no such command: ",
    "unexpected argument ",
    "aborting due to ",
    "linking with ",
    "manifest path ",
    "the package '",
    "the package `",
    "none of the selected packages contain",
    "failed to load source for dependency",
    "failed to read `",
    "failed to resolve ",
    "failed to download ",
    "the lock file ",
    "cannot update the lock file ",
    "unrecognized subcommand ",
    "the following required arguments were not provided",
    "a bin target must be available for `cargo run`",
    "`cargo run` could not determine which binary to run",
    "toolchain '",
];

/// Whether cargo or rustc print this after `error: ` only if they fail.
pub(super) fn is_cargo_failure(message: &str) -> bool {
    names_failed_targets(message) || CARGO.iter().any(|start| message.starts_with(start))
}

/// Beginnings of the lines with which a program reports that a script, target, task or test binary that it started has
/// failed.
const CHILD_FAILED: &[&str] = &[
    "npm error ",
    "npm ERR! ",
    "ELIFECYCLE",
    "ERR_PNPM_RECURSIVE_",
    "error Command failed",
    "error: script \"",
    "error: Recipe `",
    "error: test failed, to rerun pass ",
    "error: test run failed",
    "make: *** ",
    "gmake: *** ",
    "make[",
    "FAIL\t",
    "> Task :",
    "FAILURE: Build failed with ",
    "BUILD FAILED",
    "[INFO] BUILD FAILURE",
    "[ERROR] Failed to execute goal ",
    "[ERROR] [Help 1] http",
];

/// Whether this line reports that a program which another one started has failed.
pub(super) fn reports_child(line: &str) -> bool {
    let line = line.trim();
    // `error: could not compile `shop` (lib)` without `due to 2 previous errors`: rustc did not end by itself.
    let could_not = line.starts_with("error: could not compile ") && !line.contains(" due to ");
    let targets = line.strip_prefix("error: ").is_some_and(names_failed_targets);
    line == "FAIL"
        || could_not
        || targets
        || CHILD_FAILED.iter().any(|start| line.starts_with(start))
}

/// `2 targets failed:`.
fn names_failed_targets(message: &str) -> bool {
    number(message).is_some_and(|(_, rest)| {
        rest.starts_with(" target failed:") || rest.starts_with(" targets failed:")
    })
}

/// How rake and Rails report a task that failed.
pub(super) const ABORTED: &[&str] = &["rake aborted!", "rails aborted!", "bin/rails aborted!"];

/// The word `error` in the languages of gcc and make.
const ERROR_WORDS: &[&str] = &[
    "error",
    "fatal error",
    "Fehler",
    "schwerwiegender Fehler",
    "erreur",
    "erreur fatale",
    "errore",
    "errore irreversibile",
    "erro",
    "erro fatal",
    "ошибка",
    "фатальная ошибка",
    "エラー",
    "致命的エラー",
    "错误",
    "致命错误",
    "błąd",
    "błąd krytyczny",
    "fel",
    "fout",
    "error fatal",
    "fatale fout",
];

pub(super) fn line(reading: &mut Reading<'_>, line: &str) {
    cargo(reading, line);
    compilers(reading, line);
    tsc(reading, line);
    linters(reading, line);
    make(reading, line);
    images(reading, line);
    go(reading, line);
}

fn errors(count: u64) -> Tally {
    Tally { errors: Some(count), ..Tally::default() }
}

fn cargo(reading: &mut Reading<'_>, line: &str) {
    if let Some(rest) = line.strip_prefix("error: ") {
        reading.red(Family::Cargo, is_cargo_failure(rest));
        let known = rest.strip_prefix("could not compile ");
        let known = known.and_then(|rest| rest.split_once(" due to ")).map(|(_, rest)| rest);
        if let Some((count, rest)) = known.and_then(number)
            && rest.starts_with(" previous error")
        {
            reading.add(Family::Compiler, errors(count));
        }
        return;
    }
    // A test may print `error[E0001]: …` too, but only the compiler prints the place on the next line.
    let shown = line.trim_start().starts_with("--> ");
    let shown = shown && ["error[E", "error: "].iter().any(|it| reading.last.starts_with(it));
    reading.finding(Family::Cargo, shown);
    let finished = line.trim_start().strip_prefix("Finished ").is_some_and(|rest| {
        rest.contains(" target(s) in ") && (rest.starts_with('`') || rest.contains(" ["))
    });
    let is_build = reading.kind == RunKind::Build && reading.program == "cargo";
    reading.green(Family::Cargo, finished && is_build);
}

/// `a.c:3:5: error: …`, `ld: …`, `2 errors generated.`
fn compilers(reading: &mut Reading<'_>, line: &str) {
    if let Some((path, rest)) = behind_place(line) {
        let word = rest.split(':').next().unwrap_or_default().trim_end_matches([' ', '\u{a0}']);
        let coded = rest.strip_prefix("error[E").is_some();
        let is_error = ERROR_WORDS.contains(&word) && rest.len() > word.len() || coded;
        reading.finding(Family::Compiler, is_error && !path.contains(' '));
        return;
    }
    let linked = line.starts_with("collect2: error: ")
        || line.starts_with("collect2: fatal error: ")
        || ["clang: error: ", "gcc: error: ", "g++: error: ", "cc1: error: ", "c++: error: "]
            .iter()
            .any(|start| line.starts_with(start))
        || ["clang: fatal error: ", "gcc: fatal error: ", "cc1: fatal error: ", "ld: error: "]
            .iter()
            .any(|start| line.starts_with(start))
        || line.starts_with("collect2: ") && line.contains("ld ");
    let is_build = reading.kind == RunKind::Build;
    reading.finding(Family::Compiler, linked && (is_build || reading.program == "make"));
    reading.finding(Family::Compiler, line == "compilation terminated." && is_build);
    let counted = number(line).filter(|(count, rest)| {
        let generated = ["error generated.", "errors generated."];
        *count > 0 && generated.iter().any(|end| rest.ends_with(end))
            || reading.program == "javac" && matches!(*rest, " error" | " errors")
    });
    if let Some((count, _)) = counted {
        reading.add(Family::Compiler, errors(count));
        reading.finding(Family::Compiler, true);
    }
}

/// `a.ts(3,5): error TS2322: …`, `a.ts:3:5 - error TS2322: …`, `error TS5058: …`.
fn tsc(reading: &mut Reading<'_>, line: &str) {
    let coded = |at: usize| number(&line[at..]).is_some_and(|(_, rest)| rest.starts_with(": "));
    let found = [": error TS", " - error TS"]
        .iter()
        .find_map(|mark| line.find(mark).map(|at| at + mark.len()))
        .or_else(|| line.starts_with("error TS").then_some("error TS".len()));
    if found.is_some_and(coded) {
        reading.finding(Family::Lint, true);
        let single = matches!(reading.program, "tsc" | "vue-tsc");
        if single {
            TallySlot::Errors.put(tally(reading), 1);
        }
        return;
    }
    // `error CS1002`, `error MSB1003` of .NET.
    let dotnet = ["error CS", "error MSB", "error NU", "error FS"];
    let dotnet = dotnet.iter().find_map(|code| line.find(code).map(|at| at + code.len()));
    let dotnet = dotnet.is_some_and(coded)
        && (line.contains("): error ")
            || line.contains(" : error ")
            || line.starts_with("MSBUILD"));
    reading.finding(Family::Dotnet, dotnet);
    if let Some((count, rest)) = line.strip_prefix("Found ").and_then(number)
        && (rest.starts_with(" error in ")
            || rest.starts_with(" errors in ")
            || rest == " error."
            || rest == " errors.")
    {
        reading.part(Family::Lint, "errors", count > 0);
        *tally(reading) = errors(count);
    }
    if reading.program == "ruff" {
        ruff(reading, line);
    }
}

/// `Found 3 errors (2 fixed, 1 remaining).`, `All checks passed!`.
fn ruff(reading: &mut Reading<'_>, line: &str) {
    reading.green(Family::Lint, line == "All checks passed!");
    reading.red(Family::Lint, line == "ruff failed");
    let fixed = line.strip_prefix("Found ").and_then(|rest| rest.split_once(" fixed, "));
    if let Some((count, rest)) = fixed.and_then(|(_, rest)| number(rest))
        && rest == " remaining)."
    {
        reading.part(Family::Lint, "errors", count > 0);
        *tally(reading) = errors(count);
    }
}

/// Messages of docker, podman and buildah about a failed build.
fn images(reading: &mut Reading<'_>, line: &str) {
    if !matches!(reading.program, "docker" | "podman" | "buildah") {
        return;
    }
    let step = line.starts_with("The command '") && line.contains("' returned a non-zero code: ");
    let failed = step
        || line.starts_with("ERROR: failed to solve")
        || line.starts_with("ERROR: failed to build")
        || line.starts_with("ERROR: unable to prepare context: ")
        || line.starts_with("unable to prepare context: ")
        || line.starts_with("failed to solve: ")
        || line.starts_with("Error response from daemon: ")
        || line.starts_with("ERROR: Cannot connect to the Docker daemon at ");
    reading.red(Family::Docker, failed);
}

fn tally<'r>(reading: &'r mut Reading<'_>) -> &'r mut Tally {
    &mut reading.said(Family::Lint).tally
}

/// eslint and mypy.
fn linters(reading: &mut Reading<'_>, line: &str) {
    if let Some((_, rest)) = line.strip_prefix("✖ ").and_then(number)
        && let Some((_, inner)) = rest.split_once(" (")
        && rest.starts_with(" problem")
        && let Some((count, _)) = number(inner)
    {
        reading.part(Family::Lint, "errors", count > 0);
        *tally(reading) = errors(count);
        return;
    }
    let broken = line == "Oops! Something went wrong! :("
        || line.starts_with("ESLint found too many warnings (maximum: ");
    reading.red(Family::Lint, broken);
    reading.green(Family::Lint, line.starts_with("Success: no issues found in "));
    if reading.program == "eslint" {
        let (place, rest) = line.trim_start().split_once("  ").unwrap_or_default();
        let is_place = place.split_once(':').is_some_and(|(row, column)| {
            number(row).is_some_and(|(_, rest)| rest.is_empty())
                && number(column).is_some_and(|(_, rest)| rest.is_empty())
        });
        let is_error = is_place && rest.trim_start().starts_with("error  ");
        reading.finding(Family::Lint, is_error);
    }
}

fn make(reading: &mut Reading<'_>, line: &str) {
    // An error of an inner make may be ignored by the outer one, so `make[1]: ***` does not count.
    let outer = line.strip_prefix("make: *** ").or_else(|| line.strip_prefix("gmake: *** "));
    let failed = outer.is_some()
        || line.starts_with("ninja: build stopped: ")
        || line.starts_with("ninja: error: ")
        || line.starts_with("CMake Error at ")
        || line.starts_with("CMake Error: ")
        || line.starts_with("Error: could not load cache")
        || ABORTED.contains(&line)
        || reading.program == "rake" && line.starts_with("Command failed with status (")
        || line.starts_with("just: *** ")
        || line.starts_with("error: Recipe `") && line.contains("` failed ");
    reading.red(Family::Make, failed);
    let builds = reading.kind == RunKind::Build;
    let done = line.starts_with("make: Nothing to be done for ")
        || line.starts_with("make: '") && line.ends_with("' is up to date.")
        || line == "ninja: no work to do."
        || line.starts_with("[100%] Built target ");
    reading.green(Family::Make, builds && done);
    let inner = line.starts_with("make[") && line.contains("]: *** [");
    let cut = line.starts_with("FAILED: ") && matches!(reading.program, "ninja" | "cmake");
    reading.finding(Family::Make, inner || cut);
}

/// `./x.go:2:34: undefined: y` below `# example.com/x`.
fn go(reading: &mut Reading<'_>, line: &str) {
    if reading.program != "go" {
        return;
    }
    let line = line.strip_prefix("vet: ").unwrap_or(line);
    let place =
        behind_place(line).is_some_and(|(path, _)| path.ends_with(".go") && !path.contains(' '));
    let module = ["go: cannot find ", "go: go.mod file not found", "go: updates to go.mod needed"];
    let module = module.iter().any(|start| line.starts_with(start));
    reading.finding(Family::Go, place || module);
}
