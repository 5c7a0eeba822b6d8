//! Real clients against the real binary: what other people's software makes of ours.
//!
//! Versions are pinned in `xtask/clients.toml` and installed under `target/clients`. What cannot be
//! installed is SKIPPED with its reason; what runs must see the values it expects.

mod conformance;
mod curl;
mod install;
mod scripts;

use std::time::Instant;

use anyhow::{Result, bail};

use crate::home::Home;
use crate::project::Project;
use crate::report::{Outcome, Step, summary};

pub(crate) fn run(project: &Project) -> Result<()> {
    let steps = steps(project)?;
    println!("\n{}", summary(&steps));
    match steps.iter().filter(|step| step.failed()).count() {
        0 => Ok(()),
        count => bail!("{count} of {} client steps failed", steps.len()),
    }
}

/// Runs everything; a failed step does not keep the others from running.
pub(crate) fn steps(project: &Project) -> Result<Vec<Step>> {
    let binary = project.build_binary(true)?;
    let mut log = Log { steps: Vec::new() };
    log.group("curl", |log| curl::run(&Home::new(&binary)?, log));

    let pins = install::Pins::read(project)?;
    let folder = project.target_dir()?.join("clients");
    let mut node = Err("not tried".to_owned());
    log.step("install: npm packages", || {
        node = install::npm(&pins, &folder);
        installed(&node)
    });
    let mut python = Err("not tried".to_owned());
    log.step("install: Python packages", || {
        python = install::pip(&pins, &folder);
        installed(&python)
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

fn installed<T>(result: &Result<T, String>) -> Result<Outcome> {
    Ok(match result {
        Ok(_) => Outcome::Ok(String::new()),
        Err(why) => Outcome::Skipped(why.clone()),
    })
}

/// Steps as they happen, one line each.
pub(crate) struct Log {
    steps: Vec<Step>,
}

impl Log {
    /// Runs steps that share a daemon; one that cannot be started is a failed step.
    fn group(&mut self, name: &str, steps: impl FnOnce(&mut Log) -> Result<()>) {
        if let Err(error) = steps(self) {
            self.step(name, || Err(error));
        }
    }

    fn step(&mut self, name: &str, action: impl FnOnce() -> Result<Outcome>) {
        let started = Instant::now();
        let outcome = action().unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        let step = Step { name: format!("clients: {name}"), took: started.elapsed(), outcome };
        println!("{} ({:.1} s)", step.line(), step.took.as_secs_f64());
        self.steps.push(step);
    }
}
