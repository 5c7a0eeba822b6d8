//! The environment of an agent: a temporary home directory with a repository, and snapshots of the home directory.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::home::Home;
use crate::process;

const DEADLINE: Duration = Duration::from_secs(30);

pub(crate) struct Stage {
    home: Home,
    /// Where the agent is started.
    repository: PathBuf,
}

impl Stage {
    pub(crate) fn new(binary: &Path) -> Result<Stage> {
        let home = Home::new(binary)?;
        let repository = home.file("home").join(REPOSITORY);
        fs::create_dir_all(&repository)?;
        fs::create_dir_all(home.file("home").join(MEMORY).join(".."))?;
        fs::write(repository.join("README.md"), "# Pottery\n")?;
        fs::write(repository.join("kiln_test.py"), FAILING_TEST)?;
        fs::write(repository.join("glaze_test.py"), IMPORTING_TEST)?;
        fs::set_permissions(home.file("run"), fs::Permissions::from_mode(0o700))?;
        let stage = Stage { home, repository };
        let mut git = Command::new("git");
        git.args(["init", "--quiet", "--initial-branch", "main"]);
        stage.run(&mut git)?;
        // Git derives no identity from the machine's name: a commit without one fails everywhere.
        stage.run(Command::new("git").args(["config", "user.useConfigOnly", "true"]))?;
        Ok(stage)
    }

    fn user(&self) -> PathBuf {
        self.home.file("home")
    }

    fn memory(&self) -> PathBuf {
        self.user().join(MEMORY)
    }

    /// Writes a file in the user's home, and creates the directories above it.
    pub(crate) fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.user().join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// The absolute path of a file in the repository.
    pub(crate) fn in_repository(&self, name: &str) -> String {
        self.repository.join(name).to_string_lossy().into_owned()
    }

    /// Runs a command like a user without any settings of ours: only the home directory and the session's runtime
    /// directory lead to the memory, and an agent may pass on less.
    pub(crate) fn enclose(&self, command: &mut Command) {
        command.current_dir(&self.repository).env_clear();
        command.env("HOME", self.user()).env("XDG_RUNTIME_DIR", self.home.file("run"));
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
    }

    fn run(&self, command: &mut Command) -> Result<String> {
        self.enclose(command);
        Ok(process::run_ok(command, DEADLINE)?.stdout)
    }

    /// Runs `rekindle` in the repository and returns its output.
    pub(crate) fn rekindle(&self, args: &[&str]) -> Result<String> {
        self.run(Command::new(self.home.binary()).args(args))
    }

    /// Copies a folder of the user to `TWIN_HOME`, with times an hour earlier: the sessions in it are over.
    pub(crate) fn age(&self, folder: &str) -> Result<()> {
        let mut python = Command::new("python3");
        python.args(["-c", AGE, folder]).arg(self.user()).arg(self.home.file(TWIN_HOME));
        self.run(&mut python).map(drop)
    }

    /// Runs `rekindle` with a store that no hook reports to.
    pub(crate) fn twin(&self, args: &[&str]) -> Result<String> {
        let mut command = Command::new(self.home.binary());
        self.enclose(&mut command);
        if self.home.file(TWIN_HOME).exists() {
            command.env("GEMINI_CLI_HOME", self.home.file(TWIN_HOME));
        }
        command.args(args).env("REKINDLE_HOME", self.home.data());
        command.env("REKINDLE_RUNTIME_DIR", self.home.file(TWIN_RUN));
        Ok(process::run_ok(&mut command, DEADLINE)?.stdout)
    }

    /// The hits of our search in the repository.
    pub(crate) fn search(&self, args: &[&str]) -> Result<Vec<Value>> {
        let printed = self.rekindle(&[&["search", "--json"], args].concat())?;
        let mut answer: Value = serde_json::from_str(&printed).context("the hits are not JSON")?;
        serde_json::from_value(answer["results"].take()).context("a search without results")
    }

    /// The number of events of each name in the store. Python reads the file, so that the count does not depend on
    /// our own code.
    pub(crate) fn events(&self) -> Result<BTreeMap<String, usize>> {
        let mut python = Command::new("python3");
        python.args(["-c", COUNT_EVENTS]).arg(self.memory().join("rekindle.db"));
        serde_json::from_str(&self.run(&mut python)?).context("the counts are not JSON")
    }

    /// The hooks' log; empty if there were no errors.
    pub(crate) fn trouble(&self) -> String {
        fs::read_to_string(self.memory().join("log/hook.log")).unwrap_or_default()
    }

    /// Fails if a file of the user contains this.
    pub(crate) fn expect_without(&self, path: &str, text: &str) -> Result<()> {
        let found = fs::read_to_string(self.user().join(path)).unwrap_or_default();
        if found.contains(text) {
            bail!("{path} still holds {text}\n{found}");
        }
        Ok(())
    }

    /// Everything in the user's home.
    pub(crate) fn snapshot(&self) -> Result<Snapshot> {
        let mut entries = BTreeMap::new();
        collect(&self.user(), &self.user(), &mut entries)?;
        Ok(Snapshot { entries })
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // The daemon that a hook started would keep running in a deleted directory.
        let _ = self.rekindle(&["stop"]);
        if self.home.file(TWIN_RUN).exists() {
            let _ = self.twin(&["stop"]);
        }
    }
}

/// The runtime directory of the store without hooks, and a home with sessions that are over.
const TWIN_RUN: &str = "twin-run";
const TWIN_HOME: &str = "twin-home";

/// The repository in a home.
const REPOSITORY: &str = "work/pottery";

/// A test that fails for good.
const FAILING_TEST: &str = "\
import unittest


class Kiln(unittest.TestCase):
    def test_reading(self):
        self.assertEqual(800, 1000)
";

/// A test that passes once the module exists.
const IMPORTING_TEST: &str = "\
import unittest

from glaze import CONE


class Glaze(unittest.TestCase):
    def test_cone(self):
        self.assertEqual(CONE, 6)
";

/// The memory's path in a home directory; it is kept when agents are disconnected.
pub(crate) const MEMORY: &str = ".local/share/rekindle";

const COUNT_EVENTS: &str = "\
import json, sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute('SELECT name, count(*) FROM hooks_seen GROUP BY name')
print(json.dumps(dict(rows.fetchall())))";

const AGE: &str = r#"
import datetime, pathlib, re, sys
folder, user, copy = sys.argv[1:]
def earlier(found):
    then = datetime.datetime.fromisoformat(found.group(1)) - datetime.timedelta(hours=1)
    return then.isoformat(timespec='milliseconds')
for path in pathlib.Path(user, folder).rglob('*'):
    if path.is_file():
        target = pathlib.Path(copy, path.relative_to(user))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(re.sub(r'(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})(?=Z")', earlier, path.read_text()))
"#;

/// The file at a path: its permissions and its bytes, or its link target.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StagedFile {
    mode: u32,
    content: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Snapshot {
    entries: BTreeMap<String, StagedFile>,
}

impl Snapshot {
    /// Paths that differ, except for those at or below one of `own`, which the agent itself writes; a `*` at its end
    /// matches any rest of the name.
    pub(crate) fn differences(&self, later: &Snapshot, own: &[&str]) -> Vec<String> {
        let all = self.entries.keys().chain(later.entries.keys());
        let mut paths: Vec<String> = all
            .filter(|path| self.entries.get(*path) != later.entries.get(*path))
            .filter(|path| !own.iter().any(|own| is_of(path, own)))
            .cloned()
            .collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// Fails with the paths that differ.
    pub(crate) fn expect_same(&self, later: &Snapshot, own: &[&str]) -> Result<()> {
        match self.differences(later, own).as_slice() {
            [] => Ok(()),
            paths => bail!("not as before: {}", paths.join(", ")),
        }
    }
}

fn is_of(path: &str, own: &str) -> bool {
    match own.strip_suffix('*') {
        Some(start) => path.starts_with(start),
        None => Path::new(path).starts_with(own),
    }
}

fn collect(root: &Path, folder: &Path, entries: &mut BTreeMap<String, StagedFile>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let about = fs::symlink_metadata(&path)?;
        let content = if about.is_symlink() {
            fs::read_link(&path)?.into_os_string().into_encoded_bytes()
        } else if about.is_file() {
            fs::read(&path)?
        } else {
            Vec::new()
        };
        if about.is_dir() {
            collect(root, &path, entries)?;
        }
        let mode = about.permissions().mode();
        let name = path.strip_prefix(root)?.to_string_lossy().into_owned();
        entries.insert(name, StagedFile { mode, content });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(rows: &[(&str, u32, &str)]) -> Snapshot {
        let entry = |(path, mode, text): &(&str, u32, &str)| {
            ((*path).to_owned(), StagedFile { mode: *mode, content: text.as_bytes().to_vec() })
        };
        Snapshot { entries: rows.iter().map(entry).collect() }
    }

    #[test]
    fn changed_new_and_deleted_files_differ_unless_the_agent_wrote_them() {
        let before = snapshot(&[("a", 0o644, "1"), ("b", 0o644, "1"), ("c", 0o644, "1")]);
        let later = snapshot(&[("a", 0o600, "1"), ("b", 0o644, "2"), ("own/x", 0o644, "")]);
        assert_eq!(before.differences(&later, &["own", "c/d"]), ["a", "b", "c"]);
        assert_eq!(before.differences(&later, &["a", "b", "c"]), ["own/x"]);
        assert_eq!(before.differences(&later, &["own/*", "o"]), ["a", "b", "c"]);
        assert!(before.expect_same(&before, &[]).is_ok());
    }
}
