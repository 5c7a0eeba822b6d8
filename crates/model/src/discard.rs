//! Uncommitted edits that a command of git took back or put aside, as the metadata of the command's record has them.

use serde_json::Value;

/// The paths whose edits were taken back, each absolute, a file or a folder; [`EVERYTHING`] is the whole working tree.
pub const DISCARDED: &str = "discarded";
/// Whether they were put aside with `git stash`.
pub const STASHED: &str = "stashed";
/// Whether edits that were put aside are there again: `git stash pop`.
pub const UNSTASHED: &str = "unstashed";
pub const EVERYTHING: &str = "*";

/// The commands of a project that took edits back or put them aside.
#[derive(Clone, Debug, Default)]
pub struct Discards(Vec<DiscardingCommand>);

#[derive(Clone, Debug)]
struct DiscardingCommand {
    at: i64,
    worktree: Option<String>,
    paths: Vec<String>,
    stashed: bool,
    unstashed: bool,
}

/// An edit of a file that may have been taken back.
#[derive(Clone, Copy, Debug)]
pub struct EditAt<'a> {
    pub at: i64,
    pub path: &'a str,
    /// The working tree, if it is not the main one.
    pub worktree: Option<&'a str>,
    /// Whether the file was written as a whole, and so may be new.
    pub is_write: bool,
}

impl Discards {
    /// From the time and the metadata of each command.
    pub fn of<'a>(commands: impl IntoIterator<Item = (i64, &'a Value)>) -> Discards {
        let read = |(at, metadata): (i64, &Value)| {
            let is = |member: &str| metadata.get(member).and_then(Value::as_bool) == Some(true);
            let paths = metadata.get(DISCARDED).and_then(Value::as_array);
            let paths = paths.into_iter().flatten().filter_map(Value::as_str);
            DiscardingCommand {
                at,
                worktree: metadata.get("worktree").and_then(Value::as_str).map(str::to_owned),
                paths: paths.map(str::to_owned).collect(),
                stashed: is(STASHED),
                unstashed: is(UNSTASHED),
            }
        };
        Discards(commands.into_iter().map(read).collect())
    }

    /// Whether an edit was taken back, or put aside and not brought back. Git leaves new files alone unless they are named.
    pub fn cover(&self, edit: EditAt<'_>) -> bool {
        let is_here = |one: &&DiscardingCommand| {
            one.at >= edit.at && one.worktree.as_deref() == edit.worktree
        };
        let later = || self.0.iter().filter(is_here);
        let returned = later().filter(|one| one.unstashed).map(|one| one.at).max();
        later().filter(|one| one.takes(edit)).any(|one| !one.stashed || returned < Some(one.at))
    }
}

impl DiscardingCommand {
    fn takes(&self, edit: EditAt<'_>) -> bool {
        self.paths.iter().any(|path| {
            let rest = edit.path.strip_prefix(path.trim_end_matches("/."));
            match rest {
                _ if path == EVERYTHING => !edit.is_write,
                Some("") => true,
                Some(inside) => inside.starts_with('/') && !edit.is_write,
                None => false,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn edit(path: &str, at: i64) -> EditAt<'_> {
        EditAt { at, path, worktree: None, is_write: false }
    }

    #[test]
    fn an_edit_is_taken_back_by_a_later_command_on_its_path() {
        let named = json!({ "discarded": ["/w/a.py", "/w/src"] });
        let found = Discards::of([(5, &named)]);
        assert!(found.cover(edit("/w/a.py", 4)) && found.cover(edit("/w/src/b.py", 5)));
        assert!(!found.cover(edit("/w/a.py", 6)) && !found.cover(edit("/w/src2/b.py", 4)));
        let other = EditAt { worktree: Some("/v"), ..edit("/w/a.py", 4) };
        assert!(!found.cover(other));
        let new = |path| EditAt { is_write: true, ..edit(path, 4) };
        assert!(found.cover(new("/w/a.py")) && !found.cover(new("/w/src/b.py")));
    }

    #[test]
    fn a_stash_that_was_popped_takes_nothing_back() {
        let (push, pop) =
            (json!({ "discarded": ["*"], "stashed": true }), json!({ "unstashed": true }));
        assert!(Discards::of([(5, &push)]).cover(edit("/w/a.py", 4)));
        assert!(!Discards::of([(5, &push), (7, &pop)]).cover(edit("/w/a.py", 4)));
        let again = Discards::of([(5, &push), (7, &pop), (8, &push)]);
        assert!(again.cover(edit("/w/a.py", 4)));
    }
}
