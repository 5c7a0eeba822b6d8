//! Real agents with our hooks and our MCP server: one command connects them, a scripted model drives them, and the
//! requests to the model show the text that they received from us.
//!
//! Versions are pinned in `xtask/clients.toml`. An agent that cannot be installed is SKIPPED with the reason.

mod endpoint;
mod learned;
mod proof;
mod remembered;
mod script;
mod stage;
mod table;
mod twins;
mod wire;

use std::path::Path;

use anyhow::{Result, bail};

use crate::clients::install::{self, Pins};
use crate::project::{Project, split_binary};
use crate::report::{Step, StepLog, StepOutcome, finish};
use endpoint::Endpoint;
use proof::Proof;
use stage::Stage;
use table::{AGENTS, RealAgent};

pub(crate) fn run(project: &Project, arguments: &[String]) -> Result<()> {
    let (given, names) = split_binary(arguments)?;
    let known = || AGENTS.iter().map(|agent| agent.name).collect::<Vec<_>>().join(", ");
    if let Some(name) = names.iter().find(|name| AGENTS.iter().all(|agent| agent.name != **name)) {
        bail!("no agent is called '{name}'; there are {}", known());
    }
    let wanted =
        |agent: &RealAgent| names.is_empty() || names.iter().any(|name| name == agent.name);
    let binary = project.release_binary(given.as_deref())?;
    finish("e2e-agent", &steps(project, &binary, wanted)?)
}

/// Runs the agents that are installed and finish within seconds, as steps of `ci`.
pub(crate) fn quick(project: &Project) -> Result<Vec<Step>> {
    steps(project, &project.build_binary(true)?, |agent| agent.quick)
}

/// Runs the agents one after the other; one that fails does not keep the others from running.
fn steps(
    project: &Project,
    binary: &Path,
    wanted: impl Fn(&RealAgent) -> bool,
) -> Result<Vec<Step>> {
    let pins = Pins::read(project)?;
    let folder = project.target_dir()?.join("clients");
    let mut log = StepLog::new("agents");
    for agent in AGENTS.iter().filter(|agent| wanted(agent)) {
        let mut node = Err("not tried".to_owned());
        log.step(&format!("{}, install", agent.name), || {
            node = install::agent(&pins, agent.package, &folder);
            StepOutcome::installed(&node)
        });
        if let Ok(node) = &node {
            log.group(agent.name, |log| {
                let (stage, endpoint) = (Stage::new(binary)?, Endpoint::start()?);
                Proof { agent, node, stage, endpoint }.run(log)
            });
        }
    }
    Ok(log.steps)
}
