//! Repositories that git itself creates, broken ones, and the facts read from them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{Facts, Head};

mod broken;
mod claims;
mod commits;
mod hosts;
mod remotes;
mod repositories;
mod tracked;

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A temporary directory in which git can be run; deleted on drop.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn new() -> Folder {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("rekindle-git-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder { path: path.canonicalize().unwrap() }
    }

    /// A directory with a repository `repo` on branch `main` that has one commit.
    fn with_repository() -> Folder {
        let folder = Folder::new();
        folder.git("", &["init", "-q", "-b", "main", "repo"]);
        folder.commit("repo");
        folder
    }

    fn join(&self, path: &str) -> PathBuf {
        if path.is_empty() { self.path.clone() } else { self.path.join(path) }
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// Runs git in a directory without any user settings and returns its output.
    fn git(&self, within: &str, args: &[&str]) -> String {
        let said = self.try_git(within, args);
        said.unwrap_or_else(|error| panic!("git {args:?} in '{within}': {error}"))
    }

    /// Runs git at a time that it takes for the present.
    fn git_at(&self, within: &str, args: &[&str], date: &str) -> String {
        let dates = [("GIT_AUTHOR_DATE", date), ("GIT_COMMITTER_DATE", date)];
        self.run_git(within, args, &dates).unwrap_or_else(|error| panic!("git {args:?}: {error}"))
    }

    fn try_git(&self, within: &str, args: &[&str]) -> Result<String, String> {
        self.run_git(within, args, &[])
    }

    fn run_git(
        &self,
        within: &str,
        args: &[&str],
        environment: &[(&str, &str)],
    ) -> Result<String, String> {
        let output = Command::new("git")
            .args(["-c", "protocol.file.allow=always", "-c", "user.name=a", "-c", "user.email=a@b"])
            .args(args)
            .current_dir(self.join(within))
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
            .envs(environment.iter().copied())
            .output()
            .expect("git can be run");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    fn commit(&self, within: &str) {
        self.git(within, &["commit", "-q", "--allow-empty", "-m", "one"]);
    }

    fn facts(&self, within: &str) -> Facts {
        self.look(within).unwrap_or_else(|| panic!("no repository at '{within}'"))
    }

    fn look(&self, within: &str) -> Option<Facts> {
        Facts::at(&self.join(within))
    }

    /// The facts of a working tree, each of them checked against git.
    fn agreed(&self, within: &str) -> Facts {
        let facts = self.facts(within);
        let says = |args: &[&str]| self.git(within, args);
        let path = |flag: &str| PathBuf::from(says(&["rev-parse", "--path-format=absolute", flag]));
        assert_eq!(facts.root, path("--show-toplevel"));
        assert_eq!(facts.git_dir, path("--git-dir"));
        assert_eq!(facts.common_dir, path("--git-common-dir"));
        let branch = self.try_git(within, &["symbolic-ref", "--short", "HEAD"]).ok();
        assert_eq!(facts.branch.branch(), branch.as_deref());
        if branch.is_none() {
            assert_eq!(facts.branch, Head::Detached(says(&["rev-parse", "HEAD"])));
        }
        let has_origin = self.try_git(within, &["config", "--local", "remote.origin.url"]).is_ok();
        let origin = has_origin.then(|| says(&["ls-remote", "--get-url", "origin"]));
        assert_eq!(facts.remote, origin);
        facts
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

fn link(to: &Path, at: &Path) {
    std::os::unix::fs::symlink(to, at).unwrap();
}
