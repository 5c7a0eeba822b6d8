//! Names that a file had before it was renamed, by the recorded commands that renamed it.

use std::collections::HashSet;

use agents::shell::{self, Simple};
use model::observation::ObsType;
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::search::{self, Filter, Order};
use store::{Rx, observations};

/// A name that the file had before.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct EarlierName {
    /// As the command that renamed it names it.
    pub(super) file_path: String,
    /// The command.
    pub(super) observation_id: i64,
}

/// The names that a file had before, the last one first. Commands that worked and contain `mv` and the file's name
/// are read, the newest first.
pub(super) fn earlier_names(
    rx: &Rx<'_>,
    projects: Option<&[i64]>,
    path: &str,
) -> Result<Vec<EarlierName>, OpError> {
    let mut names: Vec<EarlierName> = Vec::new();
    let mut known: HashSet<String> = HashSet::from([path.to_owned()]);
    let mut current = path.to_owned();
    while names.len() < limits::FILE_NAMES_MAX {
        let Some(earlier) = renamed_to(rx, projects, &current)? else { break };
        if !known.insert(earlier.file_path.clone()) {
            break;
        }
        current.clone_from(&earlier.file_path);
        names.push(earlier);
    }
    Ok(names)
}

/// The newest command that renamed a file to this path, and its name before.
fn renamed_to(
    rx: &Rx<'_>,
    projects: Option<&[i64]>,
    path: &str,
) -> Result<Option<EarlierName>, OpError> {
    if path.contains('"') {
        return Ok(None);
    }
    // The command has the name of the file, or of a directory above it.
    let names = path.rsplit('/').filter(|name| !name.is_empty()).take(limits::RENAMED_ABOVE);
    for name in names {
        if let Some(found) = renamed_by_name(rx, projects, path, name)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The newest command with this name in it that renamed a file to this path.
fn renamed_by_name(
    rx: &Rx<'_>,
    projects: Option<&[i64]>,
    path: &str,
    name: &str,
) -> Result<Option<EarlierName>, OpError> {
    let query = text::query::rewrite(&format!("mv AND \"{name}\""));
    let kinds = [ObsType::Command, ObsType::GitCommit];
    for kind in kinds {
        let filter =
            Filter { projects, kind: Some(kind.into()), failed: Some(false), ..Filter::default() };
        let hits = search::hits(rx, &query, &filter, Order::Newest, limits::RENAMES_READ)?;
        let ids: Vec<i64> = hits.hits.iter().map(|hit| hit.id).collect();
        for record in observations::get(rx, &ids)? {
            if let Some(file_path) = source_in(&record.content, path) {
                return Ok(Some(EarlierName { file_path, observation_id: record.id }));
            }
        }
    }
    Ok(None)
}

/// The file that a line renames to this path: `git mv old.py util.py`, `cd core && mv old.py util.py`.
fn source_in(line: &str, path: &str) -> Option<String> {
    let mut folder = String::new();
    for command in shell::commands(line) {
        match command.program.as_str() {
            "cd" => match command.words().next() {
                Some(to) if to.starts_with('/') => folder = format!("{to}/"),
                // `~` and variables are not expanded, so it is unknown where these lead.
                Some(to) if !to.starts_with(['~', '$']) => folder = format!("{folder}{to}/"),
                _ => {}
            },
            _ => {
                if let Some(found) = source(&command, &folder, path) {
                    return Some(found);
                }
            }
        }
    }
    None
}

/// The file that a command in a folder renames to this path. A renamed directory renames everything below it.
fn source(command: &Simple, folder: &str, path: &str) -> Option<String> {
    let words: Vec<&str> = match (command.git_command(), command.program.as_str()) {
        (Some("mv"), _) => command.words().skip_while(|word| *word != "mv").skip(1).collect(),
        (None, "mv") => command.words().collect(),
        _ => return None,
    };
    let (target, sources) = words.split_last()?;
    let is_directory = target.ends_with('/') || sources.len() > 1;
    let becomes = |source: &str| match is_directory {
        true => format!("{}/{}", target.trim_end_matches('/'), name(source.trim_end_matches('/'))),
        false => (*target).to_owned(),
    };
    let path = path.trim_start_matches("./");
    sources.iter().find_map(|source| {
        let new = plain(folder, &becomes(source));
        let old = plain(folder, source);
        if new == old {
            return None;
        }
        if ends_with_path(path, &new) || ends_with_path(&new, path) {
            return Some(old);
        }
        // A file below the directory: the rest of its path stays.
        let below = |at: usize| {
            let rest = path[at..].strip_prefix(&*new)?.strip_prefix('/')?;
            Some(format!("{old}/{rest}"))
        };
        let starts = path.match_indices(&*new).map(|(at, _)| at);
        let mut starts = starts.filter(|at| *at == 0 || path[..*at].ends_with('/'));
        (!name(&new).contains('.')).then(|| starts.find_map(below)).flatten()
    })
}

/// A path in a folder, without `./`.
fn plain(folder: &str, path: &str) -> String {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    if path.starts_with('/') { path.to_owned() } else { format!("{folder}{path}") }
}

/// Whether a path equals `end`, or ends with it after a slash.
fn ends_with_path(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_of_a_rename_is_the_file_that_became_the_path() {
        let table = [
            ("git mv old.py util.py", "util.py", Some("old.py")),
            (
                "git mv -f src/old.py src/util.py && git commit -m x",
                "src/util.py",
                Some("src/old.py"),
            ),
            ("git mv src/old.py src/util.py", "/w/app/src/util.py", Some("src/old.py")),
            ("git mv src/old.py src/util.py", "util.py", Some("src/old.py")),
            ("git mv old/util.py lib/", "lib/util.py", Some("old/util.py")),
            ("cd core && git mv index.py main.py", "core/main.py", Some("core/index.py")),
            ("cd core && git mv index.py main.py", "/w/app/core/main.py", Some("core/index.py")),
            ("cd core && git mv index.py main.py", "web/main.py", None),
            ("git mv dir dir2", "dir2/a/b.py", Some("dir/a/b.py")),
            ("git mv dir dir2", "/w/app/dir2/b.py", Some("dir/b.py")),
            ("git mv src/dir lib/", "lib/dir/b.py", Some("src/dir/b.py")),
            ("git mv dir dir2", "dir22/b.py", None),
            ("git mv old.py futil.py", "util.py", None),
            ("git mv util.py new.py", "util.py", None),
            ("git log mv util.py", "util.py", None),
        ];
        for (line, path, expected) in table {
            let found = source_in(line, path);
            assert_eq!(found.as_deref(), expected, "{line} | {path}");
        }
    }
}
