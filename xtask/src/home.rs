//! A temporary home directory for the measured binary: no files of the user are read or written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result};

/// A private data, runtime and home directory; removed when dropped.
pub(crate) struct Home {
    root: PathBuf,
    binary: PathBuf,
}

static COUNT: AtomicU32 = AtomicU32::new(0);

impl Home {
    pub(crate) fn new(binary: &Path) -> Result<Home> {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("rekindle-xtask-{}-{count}", std::process::id());
        let root = std::env::temp_dir().join(name);
        for part in ["home", "data", "run"] {
            let dir = root.join(part);
            fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
        }
        Ok(Home { root, binary: binary.to_path_buf() })
    }

    /// The variables that keep a process of ours inside of this home.
    pub(crate) fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        vec![
            ("HOME", self.root.join("home")),
            ("REKINDLE_HOME", self.data()),
            ("REKINDLE_RUNTIME_DIR", self.root.join("run")),
            ("REKINDLE_NO_AUTOSTART", PathBuf::from("1")),
        ]
    }

    /// `rekindle` with these arguments, in this home directory and with an otherwise empty environment.
    pub(crate) fn rekindle(&self, args: &[&str]) -> Command {
        self.program(&self.binary, args)
    }

    /// Another program, in this home directory and with an otherwise empty environment.
    pub(crate) fn program(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.root.join("home"));
        self.enclose(&mut command);
        command
    }

    /// Takes the caller's environment away from a command, all but the search path.
    pub(crate) fn enclose(&self, command: &mut Command) {
        command.env_clear().envs(self.variables());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    /// A path for something of the measurement's own.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn binary(&self) -> &Path {
        &self.binary
    }

    pub(crate) fn token(&self) -> Result<String> {
        let path = self.data().join("token");
        let token =
            fs::read_to_string(&path).with_context(|| format!("no token at {}", path.display()))?;
        Ok(token.trim().to_owned())
    }

    /// Events that wait in the spool.
    pub(crate) fn spooled(&self) -> usize {
        let dir = self.data().join("spool");
        fs::read_dir(dir).map_or(0, |entries| entries.filter_map(Result::ok).count())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A directory that cannot be deleted is in the temporary directory anyway.
        let _ = fs::remove_dir_all(&self.root);
    }
}
