//! Targets with known faults: the fuzzer finds each, names its case, and the case fails again.

#![expect(clippy::expect_used, reason = "tests fail by panicking")]

use std::path::PathBuf;
use std::process::Command;

/// Output and exit code of the fuzzer.
struct Fuzzed {
    code: i32,
    said: String,
    out: PathBuf,
}

impl Fuzzed {
    /// The arguments of the first command in the output that repeats a failure.
    fn again(&self) -> Vec<String> {
        let line = self.said.lines().find_map(|line| line.split_once("again: cargo xtask fuzz "));
        let (_, args) = line.unwrap_or_else(|| panic!("no command in {}", self.said));
        args.split(' ').map(str::to_owned).collect()
    }

    /// The first file with the input of a failure.
    fn input(&self) -> PathBuf {
        let line = self.said.lines().find_map(|line| line.trim().strip_prefix("input: "));
        let path = line.and_then(|line| line.split(" (").next());
        path.unwrap_or_else(|| panic!("no file in {}", self.said)).into()
    }
}

impl Drop for Fuzzed {
    fn drop(&mut self) {
        // A directory that cannot be removed is left to the system: the result of the test is known.
        let _ = std::fs::remove_dir_all(&self.out);
    }
}

fn fuzz(test: &str, args: &[&str]) -> Fuzzed {
    let out = std::env::temp_dir().join(format!("rekindle-drill-{test}-{}", std::process::id()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuzz"));
    command.args(args).arg("--out").arg(&out);
    let output = command.output().expect("the fuzzer runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    Fuzzed { code: output.status.code().unwrap_or(-1), said, out }
}

/// Runs a target with a fault, and then the command that the report names.
fn found_and_repeated(target: &str, words: &str) {
    let found = fuzz(target, &[target, "--seed", "5", "--seconds", "2"]);
    assert_eq!(found.code, 1, "{}", found.said);
    let failed = format!("FAILED {target}, case ");
    assert!(found.said.contains(&failed) && found.said.contains(words), "{}", found.said);
    let first = |said: &str| said.lines().find(|line| line.starts_with(&failed)).map(str::to_owned);
    let again = found.again();
    let again: Vec<&str> = again.iter().map(String::as_str).collect();
    let repeated = fuzz(&format!("{target}-again"), &again);
    assert_eq!(repeated.code, 1, "{}", repeated.said);
    assert_eq!(first(&repeated.said), first(&found.said));
    let inputs = [&found, &repeated].map(|run| std::fs::read(run.input()).expect("an input"));
    assert_eq!(inputs[0], inputs[1]);
}

#[test]
fn a_panic_is_reported_with_its_case_and_happens_again() {
    found_and_repeated("drill-panic", "the marked input came");
}

#[test]
fn a_hang_is_reported_with_its_case_and_happens_again() {
    found_and_repeated("drill-hang", "no end after 0.5 s");
}

#[test]
fn a_dead_process_is_reported_with_its_case_and_happens_again() {
    found_and_repeated("drill-abort", "the process died");
}

#[test]
fn a_failure_that_needs_earlier_cases_is_repeated_with_them() {
    let found = fuzz("needs", &["drill-memory", "--seed", "5", "--seconds", "1"]);
    let again = found.again();
    assert!(again.last().is_some_and(|range| range.contains('-')), "{again:?}");
    found_and_repeated("drill-memory", "marked, and not alone");
}

#[test]
fn an_input_can_be_replayed_from_its_file() {
    let found = fuzz("file", &["drill-panic", "--seed", "6", "--seconds", "1"]);
    let input = found.input();
    let replayed = fuzz("file-again", &["--replay", input.to_str().expect("a UTF-8 path")]);
    assert_eq!(replayed.code, 1, "{}", replayed.said);
    assert!(replayed.said.contains("FAILED drill-panic: panicked"), "{}", replayed.said);
}

#[test]
fn a_run_without_failures_ends_with_a_table_and_exit_code_0() {
    let run = fuzz("fine", &["drill-fine", "--seed", "1", "--seconds", "0.3"]);
    assert_eq!(run.code, 0, "{}", run.said);
    assert!(run.said.contains("seed 1") && run.said.contains("cases/s"), "{}", run.said);
    let row = run.said.lines().find(|line| line.starts_with("drill-fine")).expect("a row");
    let cases = row.split_whitespace().nth(1).and_then(|cases| cases.parse::<u64>().ok());
    assert!(cases.is_some_and(|cases| cases > 10), "{row}");
}

#[test]
fn a_mistake_on_the_command_line_exits_with_2() {
    assert_eq!(fuzz("mistake", &["no-such-target"]).code, 2);
    assert_eq!(fuzz("help", &["--help"]).code, 0);
}
