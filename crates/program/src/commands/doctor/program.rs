//! Which build a program is that agents start, by asking it; no daemon is started for that.

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

/// What a program that agents start turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Missing,
    /// It is there and cannot be run.
    NotRunnable,
    /// It does not say that it is ours.
    Foreign,
    Ours,
    Older(String),
    Newer(String),
}

impl Program {
    /// Why nothing comes of it that an agent starts it, if that is so.
    pub(crate) fn fault(&self, started: &StartedProgram) -> Option<String> {
        let path = &started.path;
        let lost = if started.by_hooks { "no event comes" } else { "our MCP tools are not there" };
        match self {
            Program::Missing => Some(format!("{path} is not there, so {lost}")),
            Program::NotRunnable => Some(format!("{path} cannot be run")),
            Program::Foreign => Some(format!("{path} does not answer as rekindle")),
            Program::Ours | Program::Older(_) | Program::Newer(_) => None,
        }
    }

    /// Whether an agent that starts it reaches us.
    pub(crate) fn is_good(&self) -> bool {
        matches!(self, Program::Ours | Program::Older(_) | Program::Newer(_))
    }
}

/// The programs that were asked already: agents share them.
#[derive(Default)]
pub(crate) struct Programs(BTreeMap<String, Program>);

impl Programs {
    pub(crate) fn of(&mut self, path: &str, build: &Build) -> Program {
        self.0.entry(path.to_owned()).or_insert_with(|| look(path, build)).clone()
    }
}

fn look(path: &str, build: &Build) -> Program {
    let Some(file) = found(path) else { return Program::Missing };
    let Ok(meta) = std::fs::metadata(&file) else { return Program::Missing };
    if !meta.is_file() || meta.mode() & 0o111 == 0 {
        return Program::NotRunnable;
    }
    let this = std::env::current_exe().and_then(std::fs::metadata);
    if this.is_ok_and(|this| (this.dev(), this.ino()) == (meta.dev(), meta.ino())) {
        return Program::Ours;
    }
    match build_of(&file) {
        None => Program::Foreign,
        Some(other) if other == build.to_string() => Program::Ours,
        Some(other) if build.is_newer_than(&other) => Program::Older(other),
        Some(other) => Program::Newer(other),
    }
}

/// The file behind a name: as it stands there, or on the PATH.
fn found(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.exists());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file())
}

/// The build that a program says it is, if it is ours and says so in time.
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
                // It has ended, or is ended now; either way it does not answer.
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
