//! Generates docs/reference from the output of the binary, or checks that it is up to date.

mod render;
mod schema;

use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process;
use crate::project::Project;

const FOLDER: &str = "docs/reference";

pub(crate) fn run(project: &Project, check: bool) -> Result<()> {
    let pages = render::pages(&reference(project)?);
    let folder = project.root.join(FOLDER);
    let mut differing = Vec::new();
    for (name, text) in &pages {
        let path = folder.join(name);
        if fs::read_to_string(&path).ok().as_deref() == Some(text) {
            continue;
        }
        differing.push(format!("{FOLDER}/{name}"));
        if !check {
            fs::create_dir_all(&folder)?;
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    match (check, differing.is_empty()) {
        (_, true) => println!("codegen: {} files are up to date", pages.len()),
        (false, false) => println!("codegen: wrote {}", differing.join(", ")),
        (true, false) => bail!(
            "{} differ from what the binary says; run `cargo xtask codegen` and commit the result",
            differing.join(", ")
        ),
    }
    Ok(())
}

/// The document that the binary prints about itself.
fn reference(project: &Project) -> Result<Value> {
    let binary = project.build_binary(false)?;
    let mut command = Command::new(binary);
    command.arg("reference").current_dir(&project.root);
    let finished = process::run_ok(&mut command, Duration::from_secs(30))?;
    serde_json::from_str(&finished.stdout).context("`rekindle reference` printed no JSON document")
}
