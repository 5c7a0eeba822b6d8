//! Where an agent works: a temporary home with a repository in it, and what of the home is the same afterwards.

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
        fs::set_permissions(home.file("run"), fs::Permissions::from_mode(0o700))?;
        let stage = Stage { home, repository };
        let mut git = Command::new("git");
        git.args(["init", "--quiet", "--initial-branch", "main"]);
        stage.run(&mut git)?;
        // Git makes up no identity from the machine's name: a commit without one fails everywhere.
        stage.run(Command::new("git").args(["config", "user.useConfigOnly", "true"]))?;
        Ok(stage)
    }

    fn user(&self) -> PathBuf {
        self.home.file("home")
    }

    fn memory(&self) -> PathBuf {
        self.user().join(MEMORY)
    }

    /// A file of the user's, with the folders that lead to it.
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

    /// Puts a command where a user is who set nothing of ours: all that leads to the memory is the home
    /// and the session's runtime folder, and an agent may hand on less.
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

    /// `rekindle` in the repository; what it printed.
    pub(crate) fn rekindle(&self, args: &[&str]) -> Result<String> {
        self.run(Command::new(self.home.binary()).args(args))
    }

    /// The hits of our search in the repository.
    pub(crate) fn search(&self, args: &[&str]) -> Result<Vec<Value>> {
        let printed = self.rekindle(&[&["search", "--json"], args].concat())?;
        let mut answer: Value = serde_json::from_str(&printed).context("the hits are not JSON")?;
        serde_json::from_value(answer["results"].take()).context("a search without results")
    }

    /// How many events of each name the store took in. Python reads the file: what counts is what is
    /// there, not what we say about it.
    pub(crate) fn events(&self) -> Result<BTreeMap<String, usize>> {
        let mut python = Command::new("python3");
        python.args(["-c", COUNT_EVENTS]).arg(self.memory().join("rekindle.db"));
        serde_json::from_str(&self.run(&mut python)?).context("the counts are not JSON")
    }

    /// What hooks complained of; nothing if all went well.
    pub(crate) fn trouble(&self) -> String {
        fs::read_to_string(self.memory().join("log/hook.log")).unwrap_or_default()
    }

    /// Fails if a file of the user's holds this.
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
        // The daemon that a hook started would go on for a while in a folder that is gone.
        let _ = self.rekindle(&["stop"]);
    }
}

/// The repository in a home.
const REPOSITORY: &str = "work/pottery";

/// A test that fails for good.
const FAILING_TEST: &str = "\
import unittest


class Kiln(unittest.TestCase):
    def test_reading(self):
        self.assertEqual(800, 1000)
";

/// Where our memory is in a home; it stays when agents are disconnected.
pub(crate) const MEMORY: &str = ".local/share/rekindle";

const COUNT_EVENTS: &str = "\
import json, sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute('SELECT name, count(*) FROM hooks_seen GROUP BY name')
print(json.dumps(dict(rows.fetchall())))";

/// What stands at a path: its permissions and its bytes, or where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    mode: u32,
    content: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Snapshot {
    entries: BTreeMap<String, Entry>,
}

impl Snapshot {
    /// Paths that differ, but for those at or below one of `own`, which the agent itself writes; a `*` at
    /// its end stands for whatever the name goes on with.
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

fn collect(root: &Path, folder: &Path, entries: &mut BTreeMap<String, Entry>) -> Result<()> {
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
        entries.insert(name, Entry { mode, content });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(rows: &[(&str, u32, &str)]) -> Snapshot {
        let entry = |(path, mode, text): &(&str, u32, &str)| {
            ((*path).to_owned(), Entry { mode: *mode, content: text.as_bytes().to_vec() })
        };
        Snapshot { entries: rows.iter().map(entry).collect() }
    }

    #[test]
    fn what_changed_appeared_or_vanished_differs_unless_the_agent_wrote_it() {
        let before = snapshot(&[("a", 0o644, "1"), ("b", 0o644, "1"), ("c", 0o644, "1")]);
        let later = snapshot(&[("a", 0o600, "1"), ("b", 0o644, "2"), ("own/x", 0o644, "")]);
        assert_eq!(before.differences(&later, &["own", "c/d"]), ["a", "b", "c"]);
        assert_eq!(before.differences(&later, &["a", "b", "c"]), ["own/x"]);
        assert_eq!(before.differences(&later, &["own/*", "o"]), ["a", "b", "c"]);
        assert!(before.expect_same(&before, &[]).is_ok());
    }
}
