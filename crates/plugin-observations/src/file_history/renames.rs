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
    let name = name(path);
    if name.contains('"') {
        return Ok(None);
    }
    let query = text::query::rewrite(&format!("mv AND \"{name}\""));
    let kinds = [ObsType::Command, ObsType::GitCommit];
    for kind in kinds {
        let filter =
            Filter { projects, kind: Some(kind), failed: Some(false), ..Filter::default() };
        let hits = search::hits(rx, &query, &filter, Order::Newest, limits::RENAMES_READ)?;
        let ids: Vec<i64> = hits.hits.iter().map(|hit| hit.id).collect();
        for record in observations::get(rx, &ids)? {
            let commands = shell::commands(&record.content);
            let from = commands.iter().find_map(|command| source(command, path));
            if let Some(file_path) = from {
                return Ok(Some(EarlierName { file_path, observation_id: record.id }));
            }
        }
    }
    Ok(None)
}

/// The file that a command renames to this path: `git mv old.py util.py`, `mv src/old.py src/util.py`.
fn source(command: &Simple, path: &str) -> Option<String> {
    let words: Vec<&str> = match (command.git_command(), command.program.as_str()) {
        (Some("mv"), _) => command.words().skip_while(|word| *word != "mv").skip(1).collect(),
        (None, "mv") => command.words().collect(),
        _ => return None,
    };
    let (target, sources) = words.split_last()?;
    let is_directory = target.ends_with('/') || sources.len() > 1;
    let becomes = |source: &str| match is_directory {
        true => format!("{}/{}", target.trim_end_matches('/'), name(source)),
        false => (*target).to_owned(),
    };
    let is_it = |source: &&&str| {
        let new = becomes(source);
        let (new, path) = (new.trim_start_matches("./"), path.trim_start_matches("./"));
        new != **source && (ends_with_path(path, new) || ends_with_path(new, path))
    };
    sources.iter().find(is_it).map(|source| source.trim_start_matches("./").to_owned())
}

/// Whether a path is another one, or ends with it.
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
            ("git mv old.py futil.py", "util.py", None),
            ("git mv util.py new.py", "util.py", None),
            ("git log mv util.py", "util.py", None),
        ];
        for (line, path, expected) in table {
            let commands = shell::commands(line);
            let found = commands.iter().find_map(|command| source(command, path));
            assert_eq!(found.as_deref(), expected, "{line} | {path}");
        }
    }
}
