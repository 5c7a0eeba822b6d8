//! The build of a program that agents start, found by running it with `--version`; no daemon is started.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use connect::StartedProgram;
use model::limits;
use model::wire::Build;
use serde_json::Value;

/// The state of a program that agents start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProgramState {
    Missing,
    /// The file exists, but it is a directory or has no execute permission.
    NotRunnable,
    /// It does not identify itself as ours.
    Foreign,
    Ours,
    Older(String),
    Newer(String),
}

impl ProgramState {
    /// Why the program is of no use to an agent; `None` if it is valid.
    pub(crate) fn fault(&self, started: &StartedProgram) -> Option<String> {
        let path = &started.path;
        let lost = if started.by_hooks { "no event arrives" } else { "our MCP tools are missing" };
        match self {
            ProgramState::Missing => Some(format!("{path} does not exist, so {lost}")),
            ProgramState::NotRunnable => Some(format!("{path} cannot be run")),
            ProgramState::Foreign => Some(format!("{path} is not rekindle, or does not answer")),
            ProgramState::Ours | ProgramState::Older(_) | ProgramState::Newer(_) => None,
        }
    }

    /// Whether an agent that starts it reaches us.
    pub(crate) fn is_good(&self) -> bool {
        matches!(self, ProgramState::Ours | ProgramState::Older(_) | ProgramState::Newer(_))
    }
}

/// The programs that were already checked: agents share them.
#[derive(Default)]
pub(crate) struct ProgramCache(BTreeMap<String, ProgramState>);

impl ProgramCache {
    pub(crate) fn of(&mut self, path: &str, build: &Build) -> ProgramState {
        self.0.entry(path.to_owned()).or_insert_with(|| look(path, build)).clone()
    }
}

fn look(path: &str, build: &Build) -> ProgramState {
    let Some(file) = found(path) else { return ProgramState::Missing };
    let Ok(meta) = std::fs::metadata(&file) else { return ProgramState::Missing };
    if !meta.is_file() || meta.mode() & 0o111 == 0 {
        return ProgramState::NotRunnable;
    }
    let this = std::env::current_exe().and_then(std::fs::metadata);
    if this.is_ok_and(|this| (this.dev(), this.ino()) == (meta.dev(), meta.ino())) {
        return ProgramState::Ours;
    }
    match build_of(&file) {
        None => ProgramState::Foreign,
        Some(other) if other == build.to_string() => ProgramState::Ours,
        Some(other) if build.is_newer_than(&other) => ProgramState::Older(other),
        Some(other) => ProgramState::Newer(other),
    }
}

/// The file of a program name: a path, or found on the PATH.
fn found(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.exists());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file())
}

/// The build that a program reports, if it is ours and answers in time.
fn build_of(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.args(["--version", "--json"]).env("REKINDLE_NO_AUTOSTART", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let until = Instant::now() + limits::PROGRAM_ANSWER;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => break,
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(2)),
            _ => {
                // It has exited, or is killed now; either way it does not answer.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
    let mut said = String::new();
    child.stdout.take()?.take(limits::LINE_BYTES_MAX as u64).read_to_string(&mut said).ok()?;
    let said: Value = serde_json::from_str(&said).ok()?;
    Build::parse(said["build"].as_str()?).map(|build| build.to_string())
}
