//! The files of a cloned repository: reading them does no harm, and the clone never counts as another repository.

use std::path::{Path, PathBuf};

use git::{Facts, normal_remote};
use serde_json::{Map, Value, json};

use crate::dice::Dice;
use crate::grammar;
use crate::mutate::mutate;
use crate::target::{Checked, Subject, Workbench, ensure};

/// The address of the repository that a hostile clone tries to impersonate.
const VICTIM: &str = "https://victim.example/acme/secret";

/// Files of the clone by their path, as JSON. `.git` itself is a file or a directory.
pub(crate) fn generate(dice: &mut Dice) -> Vec<u8> {
    let mut files = Map::new();
    if dice.one_in(2) {
        let pointer = format!("gitdir: {}\n", place(dice));
        files.insert(".git".to_owned(), damaged(dice, &pointer).into());
        for name in ["HEAD", "commondir", "gitdir", "config"] {
            if dice.one_in(2) {
                files.insert(format!("inside/{name}"), content(dice, name).into());
            }
        }
    } else {
        for name in ["HEAD", "config", "commondir", "gitdir", "config.worktree"] {
            if !dice.one_in(4) {
                files.insert(format!(".git/{name}"), content(dice, name).into());
            }
        }
        if dice.one_in(2) {
            files.insert(".git/objects/x".to_owned(), "".into());
            files.insert(".git/refs/x".to_owned(), "".into());
        }
    }
    json!(files).to_string().into_bytes()
}

#[rustfmt::skip]
const PLACES: &[&str] = &[
    "../victim/.git", "../victim/.git/worktrees/w", "../victim/.git/modules/m", "../victim", "inside",
    "./inside", "../clone/inside", ".git", ".", "..", "/", "", "/dev/null",
    "../victim/.git/worktrees/known", "inside/../../victim/.git", "\0", "~",
];

/// A target for a git pointer file, relative to the clone.
fn place(dice: &mut Dice) -> &'static str {
    dice.pick::<&str>(PLACES)
}

fn content(dice: &mut Dice, name: &str) -> String {
    let text = match name {
        "HEAD" => {
            (*dice.pick(&["ref: refs/heads/main\n", "1a2b3c4d\n", "ref: ../../x\n", "ref: \n", ""]))
                .to_owned()
        }
        "commondir" | "gitdir" => format!("{}\n", place(dice)),
        _ => config(dice),
    };
    damaged(dice, &text)
}

#[rustfmt::skip]
const LINES: &[&str] = &[
    "[core]", "bare = false", "bare = true", "worktree = ../../victim", "worktree = ..",
    "[remote \"origin\"]", "url = https://evil.example/x/y",
    "url = git@evil.example:@victim.example:acme/secret", "url = ../victim", "url =",
    "url = \"https://evil.example/x\" ; comment", "url = https://evil.example/\\\n/acme",
    "[remote \"a\\\"b\"]", "[include]", "path = ../../victim/.git/config",
    "[url \"https://victim.example/\"]", "insteadOf = https://evil.example/", "[remote]", "[", "]", "url",
    "= x", "\\", "\"", "[extensions]", "worktreeConfig = true",
];

fn config(dice: &mut Dice) -> String {
    let mut text = String::new();
    for _ in 0..dice.few(14) {
        text.push_str(dice.pick::<&str>(LINES));
        text.push('\n');
    }
    text
}

fn damaged(dice: &mut Dice, text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    if dice.one_in(4) {
        mutate(dice, &mut bytes, b"[remote \"origin\"]\n\turl = https://evil.example/x\n");
    }
    String::from_utf8_lossy(&grammar::without_secrets(&bytes)).into_owned()
}

pub(crate) fn open(_: &Workbench) -> Box<dyn Subject> {
    let root = std::env::temp_dir().join(format!("rekindle-repository-{}", std::process::id()));
    for folder in ["victim/.git/objects", "victim/.git/refs"] {
        std::fs::create_dir_all(root.join(folder)).unwrap_or_else(|error| panic!("{error}"));
    }
    let subject = RepositorySubject { root };
    subject.write("victim/.git/HEAD", b"ref: refs/heads/main\n");
    subject
        .write("victim/.git/config", format!("[remote \"origin\"]\n\turl = {VICTIM}\n").as_bytes());
    Box::new(subject)
}

struct RepositorySubject {
    root: PathBuf,
}

impl Drop for RepositorySubject {
    fn drop(&mut self) {
        // The supervisor removes the directory above it in any case.
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

impl RepositorySubject {
    /// Writes a file of this case; a name that cannot be used is left out.
    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.root.join(name);
        let _ = std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/")));
        let _ = std::fs::write(path, bytes);
    }
}

impl Subject for RepositorySubject {
    fn check(&mut self, input: &[u8]) -> Checked {
        let clone = self.root.join("clone");
        // The clone of the case before, if there was one.
        let _ = std::fs::remove_dir_all(&clone);
        std::fs::create_dir_all(&clone).unwrap_or_else(|error| panic!("no clone: {error}"));
        let files: Map<String, Value> = serde_json::from_slice(input).unwrap_or_default();
        for (name, text) in &files {
            let climbs = name.split('/').any(|part| part == "..");
            if !climbs && !name.starts_with('/') {
                self.write(&format!("clone/{name}"), text.as_str().unwrap_or_default().as_bytes());
            }
        }
        let Some(facts) = Facts::at(&clone) else { return Ok(()) };
        let key = facts.remote.as_deref().and_then(normal_remote);
        let _ = (facts.repo(), facts.branch.branch());
        let is_victim = key.as_deref() == Some("victim.example/acme/secret");
        // A clone whose own configuration names the address counts as that repository, as it does for git.
        let named = files.values().filter_map(Value::as_str).any(|text| text.contains(VICTIM));
        ensure(named || !is_victim, || format!("the clone counts as the victim: {facts:?}"))?;
        let victim = self.root.join("victim").canonicalize().unwrap_or_default();
        ensure(!facts.main_root.starts_with(&victim), || {
            format!("the clone counts as a part of the victim: {facts:?}")
        })
    }
}
