//! `cargo xtask fuzz`: builds the fuzzer and the binary under test, and runs the fuzzer.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::project::Project;
use crate::report::StepOutcome;

/// The fixed seed of `ci`, so that every run tries the same inputs. [`SEED`] overrides it.
const CI_SEED: &str = "17";
const CI_SECONDS: &str = "60";

/// Another seed for `ci`, or `random`.
const SEED: &str = "REKINDLE_FUZZ_SEED";

/// Replaces this process by the fuzzer, so that Ctrl-C reaches only the fuzzer, which then prints its results.
pub(crate) fn run(project: &Project, args: &[String]) -> Result<()> {
    let error = command(project, args)?.exec();
    Err(error).context("cannot start the fuzzer")
}

/// A minute of all targets.
pub(crate) fn minute(project: &Project) -> Result<StepOutcome> {
    let seed = std::env::var(SEED).unwrap_or_else(|_| CI_SEED.to_owned());
    let mut args = vec!["--seconds".to_owned(), CI_SECONDS.to_owned()];
    if seed != "random" {
        args.extend(["--seed".to_owned(), seed.clone()]);
    }
    let status = command(project, &args)?.status().context("cannot start the fuzzer")?;
    if !status.success() {
        bail!("a case failed ({status}); the lines above say how to run it again");
    }
    Ok(StepOutcome::Ok(format!("{CI_SECONDS} s, seed {seed}")))
}

fn command(project: &Project, args: &[String]) -> Result<Command> {
    let mut command = Command::new(project.build("fuzz", "fuzz", false)?);
    command.current_dir(&project.root).args(args);
    let only_tells = |arg: &String| matches!(arg.as_str(), "--help" | "-h" | "--list");
    if !args.iter().any(only_tells) {
        command.arg("--binary").arg(project.build_binary(false)?);
    }
    Ok(command)
}
