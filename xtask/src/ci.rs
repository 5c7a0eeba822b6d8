//! All checks in the order in which they fail fastest; stops at the first failure.

mod quality;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::bench::{self, Verdict};
use crate::project::Project;
use crate::report::{Step, StepOutcome, summary};
use crate::{agents, clients, codegen, fuzz, page, process, recall, spec, tidy, weeks};

/// The action of a step; its text goes into the summary.
type Action<'a> = Box<dyn Fn() -> Result<StepOutcome> + 'a>;

/// Several steps that report for themselves.
type StepGroup = fn(&Project) -> Result<Vec<Step>>;

pub(crate) fn run(project: &Project, install: bool) -> Result<()> {
    let install = install || std::env::var("CI").is_ok_and(|value| value == "true");
    let mut steps = Vec::new();
    for (name, action) in plan(project, install) {
        println!("\n==> {name}");
        let step = timed(name, &action);
        let failed = step.failed();
        println!("{} ({:.1} s)", step.line(), step.took.as_secs_f64());
        steps.push(step);
        if failed {
            return finish(&steps);
        }
    }
    // The browser and other people's software: all of it is run, even after a failure.
    let others: [(&str, StepGroup); 3] =
        [("page", page::steps), ("clients", clients::steps), ("agents", agents::quick)];
    for (name, run) in others {
        println!("\n==> {name}");
        match run(project) {
            Ok(done) => steps.extend(done),
            Err(error) => {
                let outcome = StepOutcome::Failed(format!("{error:#}"));
                let step = Step { name: name.to_owned(), took: Duration::ZERO, outcome };
                println!("{}", step.line());
                steps.push(step);
            }
        }
    }
    finish(&steps)
}

fn plan(project: &Project, install: bool) -> Vec<(&'static str, Action<'_>)> {
    let plain = |result: Result<()>| result.map(|()| StepOutcome::Ok(String::new()));
    vec![
        ("tools", Box::new(move || tools(install))),
        ("fmt", Box::new(move || cargo(project, &["fmt", "--all", "--", "--check"]))),
        ("tidy", Box::new(move || plain(tidy::run(project)))),
        (
            "clippy",
            Box::new(move || {
                let args =
                    ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
                cargo(project, &args)
            }),
        ),
        ("build tests", Box::new(move || cargo(project, &test_args(true)))),
        ("tests", Box::new(move || tests(project))),
        ("fuzz", Box::new(move || fuzz::minute(project))),
        ("codegen --check", Box::new(move || plain(codegen::run(project, true)))),
        ("spec", Box::new(move || plain(spec::run(project)))),
        ("release build", Box::new(move || cargo(project, &["build", "--release", "--locked"]))),
        ("quality", Box::new(move || quality::gate(project))),
        ("weeks", Box::new(move || weeks::gate(project))),
        ("recall", Box::new(move || recall::gate(project))),
        ("gates", Box::new(move || gates(project))),
    ]
}

fn timed(name: &str, action: &Action<'_>) -> Step {
    let started = Instant::now();
    let outcome = action().unwrap_or_else(|error| StepOutcome::Failed(format!("{error:#}")));
    Step { name: name.to_owned(), took: started.elapsed(), outcome }
}

fn finish(steps: &[Step]) -> Result<()> {
    println!("\n{}", summary(steps));
    match steps.iter().find(|step| step.failed()) {
        None => {
            println!("ci: all green");
            Ok(())
        }
        Some(step) => bail!("ci stopped at '{}'", step.name),
    }
}

fn cargo(project: &Project, args: &[&str]) -> Result<StepOutcome> {
    let status = project.cargo().args(args).status().context("cannot start cargo")?;
    if !status.success() {
        bail!("cargo {} ended with {status}", args.join(" "));
    }
    Ok(StepOutcome::Ok(String::new()))
}

fn test_args(only_build: bool) -> Vec<&'static str> {
    let nextest = process::exists("cargo-nextest", "--version");
    let mut args = if nextest { vec!["nextest", "run"] } else { vec!["test"] };
    args.extend(["--workspace", "--locked"]);
    args.extend(only_build.then_some("--no-run"));
    args
}

/// Runs the tests; the runner's output goes to the terminal, and its result into the summary.
fn tests(project: &Project) -> Result<StepOutcome> {
    let mut command = project.cargo();
    command.args(test_args(false));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take().context("no stdout of the test runner")?;
    let stderr = child.stderr.take().context("no stderr of the test runner")?;
    let other = thread::spawn(move || relay(BufReader::new(stderr), std::io::stderr()));
    let mut results = relay(BufReader::new(stdout), std::io::stdout());
    results.extend(other.join().unwrap_or_default());
    let status = child.wait()?;
    let result = test_result(&results);
    if !status.success() {
        bail!("{result} ({status})");
    }
    Ok(StepOutcome::Ok(result))
}

/// Passes lines on and returns those with a runner's verdict.
fn relay(from: impl BufRead, mut to: impl Write) -> Vec<String> {
    let mut results = Vec::new();
    for line in from.lines().map_while(Result::ok) {
        // Losing the terminal is no reason to stop testing.
        let _ = writeln!(to, "{line}");
        if line.contains("test result:") || line.contains("tests run:") {
            results.push(line);
        }
    }
    results
}

/// One line from the runner's verdicts: nextest has one, `cargo test` one for each binary.
fn test_result(lines: &[String]) -> String {
    if let Some(line) = lines.iter().rev().find(|line| line.contains("tests run:")) {
        return line.split_once("] ").map_or(line.as_str(), |(_, rest)| rest).trim().to_owned();
    }
    let sum = |word: &str| -> u64 {
        let number = |line: &String| {
            let before = line.split(word).next()?;
            before.rsplit([' ', ';']).find(|part| !part.is_empty())?.parse::<u64>().ok()
        };
        lines.iter().filter_map(number).sum()
    };
    format!("{} passed, {} failed", sum(" passed"), sum(" failed"))
}

fn gates(project: &Project) -> Result<StepOutcome> {
    let rows = bench::gate(project)?;
    let failed = bench::failures(&rows);
    if !failed.is_empty() {
        bail!("over target: {}", failed.join("; "));
    }
    let text = |row: &bench::Row| match &row.verdict {
        Verdict::Skipped(why) => format!("{}: {why}", row.measure),
        _ => format!("{}: {}", row.measure, row.ours),
    };
    let note = rows.iter().map(text).collect::<Vec<_>>().join("; ");
    let skipped = rows.iter().any(|row| matches!(row.verdict, Verdict::Skipped(_)));
    Ok(if skipped { StepOutcome::Skipped(note) } else { StepOutcome::Ok(note) })
}

/// A tool the checks use: its name, an argument that only shows it is there, its Debian packages.
const TOOLS: [(&str, &str, &[&str]); 6] = [
    ("git", "--version", &["git"]),
    ("valgrind", "--version", &["valgrind"]),
    ("npm", "--version", &["nodejs", "npm"]),
    ("python3", "--version", &["python3", "python3-venv"]),
    ("curl", "--version", &["curl"]),
    ("chromium", "--version", &["chromium"]),
];

/// Installs missing tools if requested and possible; a step without its tool reports that.
fn tools(install: bool) -> Result<StepOutcome> {
    if !process::exists("cargo-fmt", "--version") || !process::exists("cargo-clippy", "--version") {
        let mut rustup = Command::new("rustup");
        rustup.args(["component", "add", "rustfmt", "clippy"]);
        process::run_ok(&mut rustup, Duration::from_secs(300)).context(
            "rustfmt or clippy is missing; get them with `rustup component add rustfmt clippy`",
        )?;
    }
    Ok(debian_tools(install))
}

fn debian_tools(install: bool) -> StepOutcome {
    let missing: Vec<_> =
        TOOLS.iter().filter(|(program, probe, _)| !process::exists(program, probe)).collect();
    if missing.is_empty() {
        return StepOutcome::Ok(String::new());
    }
    let packages: Vec<&str> =
        missing.iter().flat_map(|(_, _, packages)| *packages).copied().collect();
    let advice = format!("missing; get it with `apt-get install {}`", packages.join(" "));
    if !install {
        return StepOutcome::Skipped(format!("{advice} or with --install"));
    }
    let apt = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
        process::run_ok(&mut command, Duration::from_secs(300))
    };
    let mut args = vec!["install", "--yes", "--no-install-recommends"];
    args.extend(&packages);
    match apt(&["update"]).and_then(|_| apt(&args)) {
        Ok(_) => StepOutcome::Ok(format!("installed {}", packages.join(", "))),
        Err(error) => {
            let first = error.to_string().lines().next().unwrap_or_default().to_owned();
            StepOutcome::Skipped(format!("{advice} ({first})"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn nextests_verdict_is_its_summary_line() {
        let text = "     Summary [   1.234s] 120 tests run: 119 passed, 1 failed, 0 skipped";
        assert_eq!(test_result(&lines(&[text])), "120 tests run: 119 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn verdicts_of_cargo_test_are_added_up() {
        let results = lines(&[
            "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s",
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out",
        ]);
        assert_eq!(test_result(&results), "15 passed, 2 failed");
    }

    #[test]
    fn every_line_of_a_runner_is_passed_on() {
        let mut out = Vec::new();
        let results = relay("a\ntest result: ok. 1 passed; 0 failed\nb\n".as_bytes(), &mut out);
        assert_eq!(out, b"a\ntest result: ok. 1 passed; 0 failed\nb\n");
        assert_eq!(results.len(), 1);
    }

    #[test]
    fn a_step_that_returns_an_error_has_failed() {
        let action: Action<'_> = Box::new(|| bail!("broken"));
        let step = timed("x", &action);
        assert!(step.failed());
        assert_eq!(finish(&[step]).map_err(|e| e.to_string()), Err("ci stopped at 'x'".to_owned()));
    }
}
