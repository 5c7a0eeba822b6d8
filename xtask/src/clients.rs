//! Real clients against the real binary.
//!
//! Versions are pinned in `xtask/clients.toml` and installed under `target/clients`. A client that cannot be
//! installed is SKIPPED with the reason; one that runs must get the values it expects.

mod conformance;
mod curl;
pub(crate) mod install;
mod scripts;

use std::path::Path;

use anyhow::{Result, bail};

use crate::home::Home;
use crate::project::{Project, split_binary};
use crate::report::{Step, StepLog, StepOutcome, finish};

pub(crate) fn run(project: &Project, arguments: &[String]) -> Result<()> {
    let (given, others) = split_binary(arguments)?;
    if let Some(other) = others.first() {
        bail!("'clients' has no flag '{other}'; it has --binary FILE");
    }
    let binary = project.release_binary(given.as_deref())?;
    finish("clients", &steps_with(project, &binary)?)
}

/// The steps of `ci`, with a fresh release build.
pub(crate) fn steps(project: &Project) -> Result<Vec<Step>> {
    steps_with(project, &project.build_binary(true)?)
}

/// Runs everything; a failed step does not keep the others from running.
fn steps_with(project: &Project, binary: &Path) -> Result<Vec<Step>> {
    let mut log = StepLog::new("clients");
    log.group("curl", |log| curl::run(&Home::new(binary)?, log));

    let pins = install::Pins::read(project)?;
    let folder = project.target_dir()?.join("clients");
    let mut node = Err("not tried".to_owned());
    log.step("install: npm packages", || {
        node = install::npm(&pins, &folder);
        StepOutcome::installed(&node)
    });
    let mut python = Err("not tried".to_owned());
    log.step("install: Python packages", || {
        python = install::pip(&pins, &folder);
        StepOutcome::installed(&python)
    });
    scripts::copy(project, &folder)?;
    let home = || Home::new(binary);
    if let Ok(node) = &node {
        log.group("conformance", |log| conformance::run(project, node, &home()?, log));
        log.group("inspector", |log| scripts::inspector(node, &home()?, log));
        log.group("TypeScript SDKs", |log| scripts::typescript(node, &folder, &home()?, log));
        log.group("WebSocket", |log| scripts::websocket(node, &folder, &home()?, log));
        log.group("OpenCode", |log| scripts::opencode(project, node, &folder, &home()?, log));
    }
    if let Ok(python) = &python {
        log.group("Python SDK", |log| scripts::python(python, &folder, &home()?, log));
    }
    Ok(log.steps)
}
