//! Real clients against the real binary: what other people's software makes of ours.
//!
//! Versions are pinned in `xtask/clients.toml` and installed under `target/clients`. What cannot be
//! installed is SKIPPED with its reason; what runs must see the values it expects.

mod conformance;
mod curl;
pub(crate) mod install;
mod scripts;

use anyhow::Result;

use crate::home::Home;
use crate::project::Project;
use crate::report::{Log, Outcome, Step, finish};

pub(crate) fn run(project: &Project) -> Result<()> {
    finish("clients", &steps(project)?)
}

/// Runs everything; a failed step does not keep the others from running.
pub(crate) fn steps(project: &Project) -> Result<Vec<Step>> {
    let binary = project.build_binary(true)?;
    let mut log = Log::new("clients");
    log.group("curl", |log| curl::run(&Home::new(&binary)?, log));

    let pins = install::Pins::read(project)?;
    let folder = project.target_dir()?.join("clients");
    let mut node = Err("not tried".to_owned());
    log.step("install: npm packages", || {
        node = install::npm(&pins, &folder);
        Outcome::installed(&node)
    });
    let mut python = Err("not tried".to_owned());
    log.step("install: Python packages", || {
        python = install::pip(&pins, &folder);
        Outcome::installed(&python)
    });
    scripts::copy(project, &folder)?;
    let home = || Home::new(&binary);
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
