//! The caller's situation: each surface reads it from its own process, files and directory.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use testkit::home::finish;
use testkit::{Daemon, Home, Mcp};

use super::home;

/// The surfaces whose process has a working directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LocalSurface {
    Command,
    InProcess,
    Primary,
    Proxy,
}

pub(crate) const WAYS: [LocalSurface; 4] =
    [LocalSurface::Command, LocalSurface::InProcess, LocalSurface::Primary, LocalSurface::Proxy];

/// A working directory and additional environment variables.
#[derive(Clone)]
pub(crate) struct Stand {
    dir: PathBuf,
    env: Vec<(&'static str, String)>,
}

impl Stand {
    pub(crate) fn at(dir: &Path) -> Stand {
        Stand { dir: dir.to_owned(), env: Vec::new() }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Stand {
        self.env.push((name, value.to_owned()));
        self
    }

    pub(crate) fn start(&self, home: &Home, args: &[&str]) -> Command {
        let mut command = home.command(args);
        command.current_dir(&self.dir).envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }
}

impl LocalSurface {
    pub(crate) fn daemon(self, home: &Home) -> Option<Daemon> {
        matches!(self, LocalSurface::Command | LocalSurface::Proxy).then(|| home.daemon())
    }

    /// The answer of `get_hint` for `web/build` in this situation: the value, or the reason why not.
    pub(crate) fn get(self, home: &Home, stand: &Stand) -> Result<String, String> {
        let params = json!({ "component": "web", "key": "build" });
        let found = match self {
            LocalSurface::Command | LocalSurface::InProcess => {
                let args = ["call", "get_hint", &params.to_string(), "--json"];
                finish(stand.start(home, &args), b"").json()
            }
            LocalSurface::Primary | LocalSurface::Proxy => {
                let mut mcp = Mcp::start(stand.start(home, &["serve"]));
                mcp.initialize("2025-06-18");
                mcp.call("get_hint", &params).unwrap()
            }
        };
        answer(&found)
    }
}

pub(crate) fn answer(found: &Value) -> Result<String, String> {
    match found["hint"]["value"].as_str() {
        Some(value) => Ok(value.to_owned()),
        None => Err(found["match_explain"]["reasons"][0].as_str().unwrap().to_owned()),
    }
}

/// Stores `web/build` with this scope.
pub(crate) fn scoped(home: &Home, scope: &Value) {
    let meta = json!({ "scope": scope });
    let params = json!({ "component": "web", "key": "build", "value": "make", "meta": meta });
    home.call("set_hint", &params);
}

fn git(dir: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args).current_dir(dir);
    command.env_remove("GIT_DIR").envs([("GIT_CONFIG_GLOBAL", "/dev/null")]);
    let output = command.output().expect("git can be run");
    assert!(output.status.success(), "git {args:?}: {output:?}");
}

/// A repository on branch `main` with one commit.
fn repository(home: &Home, name: &str) -> PathBuf {
    git(&home.dir, &["init", "-q", "-b", "main", name]);
    let path = home.path(name);
    git(&path, &["commit", "-q", "--allow-empty", "-m", "one"]);
    path
}

/// @situation_branch
#[test]
fn a_hint_for_a_branch_applies_in_the_working_tree_of_that_branch_and_elsewhere_says_why_not() {
    for way in WAYS {
        let home = home();
        let _daemon = way.daemon(&home);
        let main = repository(&home, "repo");
        git(&main, &["worktree", "add", "-q", "-b", "hotfix/a", "../tree"]);
        std::fs::create_dir(home.path("tree/src")).unwrap();
        scoped(&home, &json!({ "branch": ["hotfix/*"] }));
        let at = |dir: &str| way.get(&home, &Stand::at(&home.path(dir)));
        assert_eq!(at("tree/src"), Ok("make".into()), "{way:?}");
        assert_eq!(at("repo"), Err("branch=main not in [hotfix/*]".into()), "{way:?}");
        let unknown = Err("branch is not known, the hint needs one of [hotfix/*]".to_owned());
        assert_eq!(at(""), unknown, "{way:?}");
        git(&home.path("tree"), &["checkout", "-q", "--detach"]);
        assert_eq!(at("tree"), unknown, "{way:?}");
    }
}

/// @situation_branch
#[test]
fn a_long_running_server_notices_a_changed_branch() {
    for way in [LocalSurface::Primary, LocalSurface::Proxy] {
        let home = home();
        let _daemon = way.daemon(&home);
        let repo = repository(&home, "repo");
        scoped(&home, &json!({ "branch": ["dev"] }));
        let mut mcp = Mcp::start(Stand::at(&repo).start(&home, &["serve"]));
        mcp.initialize("2025-06-18");
        let params = json!({ "component": "web", "key": "build" });
        let mut get = || answer(&mcp.call("get_hint", &params).unwrap());
        assert!(get().is_err(), "{way:?}");
        git(&repo, &["checkout", "-q", "-b", "dev"]);
        assert_eq!(get(), Ok("make".into()), "{way:?}");
    }
}

/// @situation_repo
#[test]
fn a_hint_for_a_repository_applies_to_every_form_of_its_url() {
    let home = home();
    let _daemon = home.daemon();
    let repo = repository(&home, "repo");
    git(&repo, &["worktree", "add", "-q", "-b", "dev", "../tree"]);
    let get = |dir: &str| LocalSurface::Command.get(&home, &Stand::at(&home.path(dir)));
    let path = repo.display().to_string();
    for name in [format!("file://{path}"), path.clone(), format!("{path}/")] {
        scoped(&home, &json!({ "repo": name }));
        assert_eq!((get("repo"), get("tree")), (Ok("make".into()), Ok("make".into())), "{name}");
        assert!(get("").is_err());
        home.call("delete_hint", &json!({ "component": "web", "key": "build" }));
    }
    git(&repo, &["remote", "add", "origin", "https://user:pw@Example.org/Group/sub/repo.git"]);
    for name in [
        "git:Group/sub/repo",
        "Group/sub/repo",
        "example.org/Group/sub/repo",
        "https://user@example.org/Group/sub/repo.git",
        "git@example.org:Group/sub/repo.git",
        "ssh://git@example.org:22/Group/sub/repo",
    ] {
        scoped(&home, &json!({ "repo": ["git:other/one", name] }));
        assert_eq!((get("repo"), get("tree")), (Ok("make".into()), Ok("make".into())), "{name}");
        home.call("delete_hint", &json!({ "component": "web", "key": "build" }));
    }
    for other in ["git:sub/repo", "https://elsewhere.org/Group/sub/repo"] {
        scoped(&home, &json!({ "repo": other }));
        let why = format!("repo=https://example.org/Group/sub/repo not in [{other}]");
        assert_eq!(get("tree"), Err(why));
        home.call("delete_hint", &json!({ "component": "web", "key": "build" }));
    }
}

/// @situation_reads_files_only
#[test]
fn no_program_is_run_and_the_directory_counts_even_if_git_dir_names_another() {
    for way in WAYS {
        let home = home();
        let repo = repository(&home, "repo");
        let other = repository(&home, "other");
        git(&other, &["checkout", "-q", "-b", "dev"]);
        let _daemon = way.daemon(&home);
        scoped(&home, &json!({ "branch": ["main"] }));
        let git_dir = other.join(".git").display().to_string();
        let stand = Stand::at(&repo).with("PATH", "").with("GIT_DIR", &git_dir);
        assert_eq!(way.get(&home, &stand), Ok("make".into()), "{way:?}");
    }
}

/// @situation_cwd
#[test]
fn the_working_directory_is_the_one_the_shell_shows_if_it_is_the_same() {
    for way in WAYS {
        let home = home();
        let _daemon = way.daemon(&home);
        std::fs::create_dir(home.path("real")).unwrap();
        std::os::unix::fs::symlink(home.path("real"), home.path("shown")).unwrap();
        scoped(&home, &json!({ "cwd_glob": ["**/shown"] }));
        let real = Stand::at(&home.path("real"));
        let within = |part: &str| home.path(part).display().to_string();
        let at = |stand: &Stand| way.get(&home, stand).is_ok();
        assert!(at(&real.clone().with("PWD", &within("shown"))), "{way:?}");
        assert!(!at(&real), "{way:?}");
        for wrong in [&within(""), "shown", &within("real/../shown"), &within("gone"), ""] {
            assert!(!at(&real.clone().with("PWD", wrong)), "{way:?} {wrong}");
        }
    }
}
