//! Client libraries and tools of other people, driven by the small scripts in `xtask/clients`.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::install::Node;
use crate::daemon::Daemon;
use crate::home::Home;
use crate::process;
use crate::project::Project;
use crate::report::{StepLog, StepOutcome};

const DEADLINE: Duration = Duration::from_secs(60);

/// Node finds packages beside a script, so the scripts are put beside the packages.
pub(crate) fn copy(project: &Project, folder: &Path) -> Result<()> {
    let scripts = folder.join("scripts");
    fs::create_dir_all(&scripts)?;
    for entry in fs::read_dir(project.root.join("xtask/clients"))? {
        let entry = entry?;
        fs::copy(entry.path(), scripts.join(entry.file_name()))
            .with_context(|| format!("cannot copy {}", entry.path().display()))?;
    }
    Ok(())
}

/// The inspector's command line lists our tools over stdio and HTTP.
pub(crate) fn inspector(node: &Node, home: &Home, log: &mut StepLog) -> Result<()> {
    log.step("inspector, stdio", || {
        let mut command = node.bin("mcp-inspector", home);
        command.arg("--cli");
        for (name, value) in home.variables() {
            command.arg("-e").arg(format!("{name}={}", value.display()));
        }
        command.arg(home.binary()).arg("serve").args(["--method", "tools/list"]);
        listed(&mut command)
    });
    let daemon = Daemon::start(home, &[])?;
    let bearer = format!("Authorization: Bearer {}", home.token()?);
    for (name, path, transport) in [("HTTP", "/mcp", "http"), ("SSE", "/sse", "sse")] {
        log.step(&format!("inspector, {name}"), || {
            let mut command = node.bin("mcp-inspector", home);
            command.args(["--cli", &daemon.url(path), "--transport", transport]);
            command.args(["--header", &bearer, "--method", "tools/list"]);
            listed(&mut command)
        });
    }
    Ok(())
}

/// The inspector prints the tools as one JSON document.
fn listed(command: &mut Command) -> Result<StepOutcome> {
    let finished = process::run_ok(command, DEADLINE)?;
    let start = finished.stdout.find('{').context("the inspector printed no JSON")?;
    let answer: Value = serde_json::from_str(&finished.stdout[start..])?;
    let names: Vec<&str> = answer["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    for wanted in ["set_hint", "get_hint"] {
        if !names.contains(&wanted) {
            bail!("{wanted} is not listed: {names:?}");
        }
    }
    Ok(StepOutcome::Ok(format!("{} tools", names.len())))
}

/// Both generations of the TypeScript SDK, on every transport they have.
pub(crate) fn typescript(node: &Node, folder: &Path, home: &Home, log: &mut StepLog) -> Result<()> {
    let daemon = Daemon::start(home, &[])?;
    for (name, script) in [("TypeScript SDK 1", "ts_v1.mjs"), ("TypeScript SDK 2", "ts_v2.mjs")] {
        for transport in ["stdio", "http", "sse"] {
            log.step(&format!("{name}, {transport}"), || {
                let mut command = node.run(&folder.join("scripts").join(script), home);
                scripted(command.arg(transport), home, &daemon)
            });
        }
    }
    log.step("TypeScript SDK 2, http 2026-07-28", || {
        let mut command = node.run(&folder.join("scripts/ts_v2.mjs"), home);
        scripted(command.args(["http", "2026-07-28"]), home, &daemon)
    });
    log.step("TypeScript SDK 2, stdio 2026-07-28", || {
        let mut command = node.run(&folder.join("scripts/ts_v2.mjs"), home);
        scripted(command.args(["stdio", "2026-07-28"]), home, &daemon)
    });
    Ok(())
}

/// JSON-RPC over WebSocket.
pub(crate) fn websocket(node: &Node, folder: &Path, home: &Home, log: &mut StepLog) -> Result<()> {
    let daemon = Daemon::start(home, &[])?;
    log.step("WebSocket (ws)", || {
        let mut command = node.run(&folder.join("scripts/websocket.mjs"), home);
        scripted(&mut command, home, &daemon)
    });
    Ok(())
}

/// Our plugin for OpenCode with the hooks that OpenCode calls.
pub(crate) fn opencode(
    project: &Project,
    node: &Node,
    folder: &Path,
    home: &Home,
    log: &mut StepLog,
) -> Result<()> {
    let daemon = Daemon::start(home, &[])?;
    log.step("OpenCode's plugin", || {
        let mut command = node.run(&folder.join("scripts/opencode.mjs"), home);
        command.env("REKINDLE_PLUGIN", project.root.join("crates/agents/src/opencode.js"));
        scripted(&mut command, home, &daemon)
    });
    Ok(())
}

/// The Python SDK on every transport, in both eras of the protocol.
pub(crate) fn python(python: &Path, folder: &Path, home: &Home, log: &mut StepLog) -> Result<()> {
    let daemon = Daemon::start(home, &[])?;
    let runs = [
        ("stdio", "auto"),
        ("stdio", "legacy"),
        ("http", "auto"),
        ("http", "legacy"),
        ("sse", "legacy"),
    ];
    for (transport, mode) in runs {
        log.step(&format!("Python SDK, {transport} {mode}"), || {
            let mut command = Command::new(python);
            command.arg(folder.join("scripts/python_client.py")).args([transport, mode]);
            home.enclose(&mut command);
            scripted(&mut command, home, &daemon)
        });
    }
    Ok(())
}

/// Runs a script that learns of the daemon by its environment and prints one line at its end.
fn scripted(command: &mut Command, home: &Home, daemon: &Daemon<'_>) -> Result<StepOutcome> {
    command.env("REKINDLE_BINARY", home.binary());
    command.env("REKINDLE_URL", daemon.url(""));
    command.env("REKINDLE_TOKEN", home.token()?);
    let finished = process::run_ok(command, DEADLINE)?;
    let last = finished.stdout.lines().last().context("the script printed nothing")?;
    Ok(StepOutcome::Ok(last.to_owned()))
}
