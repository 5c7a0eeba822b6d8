//! The project on disk: its root, its text files, cargo's metadata and the binaries cargo builds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Directories without files of the project. In a second working tree `.git` is a file.
const SKIPPED_DIRS: [&str; 3] = [".git", "target", "node_modules"];

/// File endings that are text and checked as such.
const TEXT_ENDINGS: [&str; 15] = [
    "rs", "toml", "md", "sql", "js", "mjs", "css", "html", "py", "json", "txt", "sh", "yml",
    "yaml", "svg",
];

pub(crate) struct Project {
    pub(crate) root: PathBuf,
    incremental: bool,
}

/// A text file of the project, with its path relative to the root (`/` between parts).
#[derive(Clone, Debug)]
pub(crate) struct TextFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Project {
    pub(crate) fn find() -> Result<Project> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = here.parent().context("xtask has no parent folder")?;
        if !root.join("Cargo.toml").is_file() {
            bail!("{} has no Cargo.toml; run this through `cargo xtask`", root.display());
        }
        Ok(Project { root: root.to_path_buf(), incremental: true })
    }

    /// Without incremental compilation, which costs more than it saves when all is built once.
    pub(crate) fn without_incremental(self) -> Project {
        Project { incremental: false, ..self }
    }

    /// Cargo, started at the root.
    pub(crate) fn cargo(&self) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.current_dir(&self.root);
        if !self.incremental {
            command.env("CARGO_INCREMENTAL", "0");
        }
        command
    }

    /// Every text file of the project in the order of its path.
    pub(crate) fn text_files(&self) -> Result<Vec<TextFile>> {
        let mut files = Vec::new();
        collect(&self.root, &self.root, &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    /// `cargo metadata` of the members alone.
    pub(crate) fn members(&self) -> Result<Value> {
        self.metadata(&["--no-deps"])
    }

    /// `cargo metadata` of everything that is linked on the platforms we build for.
    pub(crate) fn all_packages(&self) -> Result<Value> {
        let platforms = ["x86_64-unknown-linux-gnu", "aarch64-apple-darwin"];
        let mut args = vec!["--locked"];
        for platform in platforms {
            args.extend(["--filter-platform", platform]);
        }
        self.metadata(&args)
    }

    fn metadata(&self, args: &[&str]) -> Result<Value> {
        let output = self
            .cargo()
            .args(["metadata", "--format-version", "1"])
            .args(args)
            .stderr(Stdio::inherit())
            .output()
            .context("cannot start cargo metadata")?;
        if !output.status.success() {
            bail!("cargo metadata failed ({})", output.status);
        }
        serde_json::from_slice(&output.stdout).context("cargo metadata printed no JSON")
    }

    /// Cargo's target directory.
    pub(crate) fn target_dir(&self) -> Result<PathBuf> {
        let members = self.members()?;
        let dir =
            members["target_directory"].as_str().context("metadata names no target folder")?;
        Ok(PathBuf::from(dir))
    }

    /// Builds `rekindle` and returns its path.
    pub(crate) fn build_binary(&self, release: bool) -> Result<PathBuf> {
        self.build("app", "rekindle", release)
    }

    /// Builds `rekindle-bench`, the measurements that are not part of the product.
    pub(crate) fn build_bench(&self) -> Result<PathBuf> {
        self.build("bench", "rekindle-bench", true)
    }

    /// The binary to test: the one given by `--binary`, or a release build.
    pub(crate) fn release_binary(&self, given: Option<&Path>) -> Result<PathBuf> {
        match given {
            // Agents start it from other directories, so that its path has to be absolute.
            Some(path) => path.canonicalize().with_context(|| format!("no {}", path.display())),
            None => self.build_binary(true),
        }
    }

    /// Builds a binary of a package and returns its path.
    pub(crate) fn build(&self, package: &str, binary: &str, release: bool) -> Result<PathBuf> {
        let mut command = self.cargo();
        command.args(["build", "--locked", "--package", package, "--bin", binary]);
        command.arg("--message-format=json-render-diagnostics");
        if release {
            command.arg("--release");
        }
        let output =
            command.stderr(Stdio::inherit()).output().context("cannot start cargo build")?;
        if !output.status.success() {
            bail!("cargo build failed ({})", output.status);
        }
        executable_of(&String::from_utf8_lossy(&output.stdout), binary)
            .with_context(|| format!("cargo build reported no executable called {binary}"))
    }
}

/// Splits `--binary FILE` off the arguments of a verb.
pub(crate) fn split_binary(arguments: &[String]) -> Result<(Option<PathBuf>, Vec<String>)> {
    let mut others = arguments.to_vec();
    let Some(place) = others.iter().position(|argument| argument == "--binary") else {
        return Ok((None, others));
    };
    if place + 1 == others.len() {
        bail!("--binary needs a value");
    }
    let given = others.drain(place..place + 2).next_back().map(PathBuf::from);
    Ok((given, others))
}

/// The executable of this name in cargo's build messages.
fn executable_of(messages: &str, name: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == name)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
}

fn collect(root: &Path, dir: &Path, files: &mut Vec<TextFile>) -> Result<()> {
    let entries = fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))?;
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            if !SKIPPED_DIRS.contains(&name.as_str()) {
                collect(root, &path, files)?;
            }
        } else if is_text(&name) && !SKIPPED_DIRS.contains(&name.as_str()) {
            let bytes =
                fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let path = path.strip_prefix(root)?.to_string_lossy().into_owned();
            files.push(TextFile { path, text: String::from_utf8_lossy(&bytes).into_owned() });
        }
    }
    Ok(())
}

/// Files without an ending (`LICENSE-MIT`, `.ci/run`, `.gitignore`) are text here, too.
fn is_text(name: &str) -> bool {
    match name.rsplit_once('.') {
        Some(("", _)) | None => true,
        Some((_, ending)) => TEXT_ENDINGS.contains(&ending),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_executable_is_read_from_cargos_messages() {
        let messages = "\
{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"model\"},\"executable\":null}
not json
{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"rekindle\"},\"executable\":\"/t/rekindle\"}
{\"reason\":\"build-finished\",\"success\":true}";
        assert_eq!(executable_of(messages, "rekindle"), Some(PathBuf::from("/t/rekindle")));
        assert_eq!(executable_of("{\"reason\":\"build-finished\"}", "rekindle"), None);
    }

    #[test]
    fn the_binary_is_split_off_and_needs_a_value() {
        let given = |arguments: &[&str]| {
            split_binary(&arguments.iter().map(|&text| text.to_owned()).collect::<Vec<_>>())
        };
        let (binary, others) = given(&["codex", "--binary", "/b", "opencode"]).expect("a value");
        assert_eq!(binary, Some(PathBuf::from("/b")));
        assert_eq!(others, ["codex", "opencode"]);
        let (binary, others) = given(&["codex"]).expect("no flag");
        assert_eq!((binary, others.len()), (None, 1));
        assert!(given(&["codex", "--binary"]).is_err());
    }

    #[test]
    fn files_without_an_ending_are_text_and_pictures_are_not() {
        assert!(is_text("LICENSE-MIT") && is_text(".gitignore") && is_text("lib.rs"));
        assert!(!is_text("icon.png") && !is_text("Cargo.lock"));
    }
}
