//! Edits that a command of git takes back: `git checkout FILE`, `git restore .`, `git reset --hard`, `git stash`.

use model::discard::{DISCARDED, EVERYTHING, STASHED, UNSTASHED};
use serde_json::{Map, Value};

use crate::guard;
use crate::shell::Simple;

/// The most paths that are stored of a line.
const PATHS_MAX: usize = 20;
/// Options of `git checkout` that make a branch or ask for each hunk.
const KEEPS: &[&str] = &["-b", "-B", "--orphan", "-p", "--patch"];
/// Commands below `git stash` that put edits aside.
const STASHES: &[&str] = &["push", "save"];

/// The effect of a command on uncommitted edits.
#[derive(Debug, PartialEq)]
enum Discard<'a> {
    /// Takes back the edits of these paths.
    Paths(Vec<&'a str>),
    Stash(Vec<&'a str>),
    Unstash,
}

/// Adds the effect of a command line on uncommitted edits, if the line can only succeed if git did it. `absolute` makes a
/// path absolute.
pub(super) fn add(
    absolute: &dyn Fn(&str) -> String,
    commands: &[Simple],
    metadata: &mut Map<String, Value>,
) {
    let mut paths: Vec<String> = Vec::new();
    let (mut stashed, mut unstashed) = (false, false);
    let mut folder = String::new();
    for command in commands.iter().filter(|command| command.decides) {
        if command.program == "cd" {
            folder = command.words().next().map_or_else(String::new, |to| below(&folder, to));
        }
        match discards(command) {
            Some(Discard::Paths(of)) => {
                paths.extend(of.into_iter().map(|path| resolved(absolute, &folder, path)));
            }
            Some(Discard::Stash(of)) => {
                stashed = true;
                paths.extend(of.into_iter().map(|path| resolved(absolute, &folder, path)));
            }
            // `git stash && make test && git stash pop` leaves all as it was.
            Some(Discard::Unstash) if stashed => {
                stashed = false;
                paths.clear();
            }
            Some(Discard::Unstash) => unstashed = true,
            None => {}
        }
    }
    paths.truncate(PATHS_MAX);
    if !paths.is_empty() {
        metadata.insert(DISCARDED.into(), paths.into());
    }
    for (member, holds) in [(STASHED, stashed), (UNSTASHED, unstashed)] {
        if holds {
            metadata.insert(member.into(), true.into());
        }
    }
}

/// Removes what [`add`] added if git failed, also if the agent reports no exit code.
pub(super) fn settle(texts: &[&str], metadata: &mut Map<String, Value>) {
    let is_added = [DISCARDED, UNSTASHED].iter().any(|member| metadata.contains_key(*member));
    if is_added && has_failed(texts) {
        forget(metadata);
    }
}

pub(super) fn forget(metadata: &mut Map<String, Value>) {
    for member in [DISCARDED, STASHED, UNSTASHED] {
        metadata.remove(member);
    }
}

/// Whether git printed that it failed.
fn has_failed(texts: &[&str]) -> bool {
    let mut lines = texts.iter().flat_map(|text| guard::looked_at(text).lines());
    lines.any(|line| {
        ["error: ", "fatal: ", "CONFLICT ("].iter().any(|start| line.starts_with(start))
    })
}

fn below(folder: &str, to: &str) -> String {
    match to.starts_with(['/', '~']) || folder.is_empty() {
        true => to.to_owned(),
        false => format!("{}/{to}", folder.trim_end_matches('/')),
    }
}

fn resolved(absolute: &dyn Fn(&str) -> String, folder: &str, path: &str) -> String {
    if path == EVERYTHING {
        return path.to_owned();
    }
    absolute(&below(folder, path))
}

/// The effect of a command on uncommitted edits.
fn discards(command: &Simple) -> Option<Discard<'_>> {
    let name = command.git_command()?;
    let args = command.args.iter().map(String::as_str).skip_while(|arg| *arg != name);
    let args: Vec<&str> = args.skip(1).collect();
    let has = |options: &[&str]| args.iter().any(|arg| options.contains(arg));
    let paths = || -> Vec<&str> {
        let named = args.iter().position(|arg| *arg == "--");
        let named = named.map_or(&args[..], |at| &args[at + 1..]);
        let named = named.iter().filter(|arg| !arg.starts_with('-'));
        named.map(|path| if *path == ":/" { EVERYTHING } else { path }).collect()
    };
    let found = match name {
        "checkout" if has(KEEPS) => None,
        "checkout" if has(&["-f", "--force"]) => Some(vec![EVERYTHING]),
        "checkout" => Some(paths().into_iter().filter(|path| is_path(path, &args)).collect()),
        "restore" if has(&["-S", "--staged", "-p", "--patch"]) && !has(&["-W", "--worktree"]) => {
            None
        }
        "restore" => Some(paths()),
        "reset" if has(&["--hard"]) => Some(vec![EVERYTHING]),
        "stash" => return stashes(&args, paths),
        _ => None,
    };
    found.filter(|paths| !paths.is_empty()).map(Discard::Paths)
}

/// Whether an argument of `git checkout` is a path and no branch.
fn is_path(arg: &str, args: &[&str]) -> bool {
    let has_extension = || {
        let name = arg.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').is_some_and(|(_, extension)| !extension.is_empty())
    };
    args.contains(&"--") || matches!(arg, "." | EVERYTHING) || arg.ends_with('/') || has_extension()
}

fn stashes<'a>(args: &[&'a str], paths: impl Fn() -> Vec<&'a str>) -> Option<Discard<'a>> {
    let sub = args.iter().find(|arg| !arg.starts_with('-')).copied();
    match sub {
        Some("pop" | "apply") => Some(Discard::Unstash),
        Some(sub) if !STASHES.contains(&sub) => None,
        _ if args.contains(&"--") => Some(Discard::Stash(paths())),
        _ => Some(Discard::Stash(vec![EVERYTHING])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Vec<String> {
        let commands = crate::shell::commands(line);
        let found = commands.iter().filter_map(discards);
        found.map(|found| format!("{found:?}")).collect()
    }

    #[test]
    fn commands_of_git_that_take_edits_back_are_recognised() {
        for (line, expected) in [
            ("git checkout tests/conftest.py", r#"Paths(["tests/conftest.py"])"#),
            ("git checkout HEAD -- a.py b.py", r#"Paths(["a.py", "b.py"])"#),
            ("git restore .", r#"Paths(["."])"#),
            ("git restore --staged --worktree a.py", r#"Paths(["a.py"])"#),
            ("git checkout -- :/", r#"Paths(["*"])"#),
            ("git reset --hard HEAD~1", r#"Paths(["*"])"#),
            ("git stash", r#"Stash(["*"])"#),
            ("git stash push -m wip -- a.py", r#"Stash(["a.py"])"#),
            ("git -C sub stash -u", r#"Stash(["*"])"#),
            ("git stash pop", "Unstash"),
        ] {
            assert_eq!(of(line), [expected], "{line}");
        }
        for line in [
            "git checkout -b feature",
            "git checkout main",
            "git restore --staged a.py",
            "git reset HEAD a.py",
            "git stash list",
            "git stash drop",
            "git status",
        ] {
            assert!(of(line).is_empty(), "{line}");
        }
    }
}
