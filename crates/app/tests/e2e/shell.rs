//! A shell that finds the program under each of its names.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use testkit::home::finish;
use testkit::{Home, Run};

use super::home;

/// A home whose shell finds every name of the program, and a working directory.
pub(crate) struct TestShell {
    pub(crate) home: Home,
    pub(crate) bin: PathBuf,
    pub(crate) folder: PathBuf,
}

impl TestShell {
    /// A shell in a directory of this name.
    pub(crate) fn new(folder: &str) -> TestShell {
        let home = home();
        let (bin, folder) = (home.path("bin"), home.path("work").join(folder));
        std::fs::create_dir_all(&folder).unwrap();
        home.run(&["links", bin.to_str().unwrap()]).ok();
        TestShell { home, bin, folder }
    }

    /// A command with the home's environment, in that directory.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env_clear().envs(self.home.env.iter().map(|(name, value)| (name, value)));
        command.env("PATH", format!("{}:{path}", self.bin.display())).current_dir(&self.folder);
        command
    }

    /// Runs a line as a user types it.
    pub(crate) fn sh(&self, line: &str) -> Run {
        self.sh_with(line, b"")
    }

    pub(crate) fn sh_with(&self, line: &str, stdin: &[u8]) -> Run {
        let mut shell = self.command("sh");
        shell.args(["-c", line]);
        finish(shell, stdin)
    }

    pub(crate) fn json(&self, line: &str) -> Value {
        let run = self.sh(line);
        assert_eq!(run.code, 0, "{line}: {run:?}");
        run.json()
    }
}
