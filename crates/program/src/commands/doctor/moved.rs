//! A project whose directory is gone may be the current repository.

use std::collections::BTreeSet;
use std::path::Path;

use model::{Reply, limits};
use serde_json::{Value, json};

use super::check;

/// Offers to join the directory of this process to a project that lost its own. A directory that was moved on its file
/// system is recognised without this; a copy from another disk, or a restored backup, is not.
///
/// A lost project is offered if its directory had this name, or if most of the files that it has records of are here.
pub(super) fn check_here(
    ask: &dyn Fn(&str, Value) -> Reply,
    listed: &Value,
    here: &git::Facts,
) -> Option<Value> {
    if here.remote.is_some() {
        return None;
    }
    let root = here.main_root.to_str()?;
    let projects = listed["projects"].as_array()?;
    let own = projects.iter().find(|project| project["path"] == listed["here"]);
    // A project that has this directory besides others is joined already, and one with another directory was recognised.
    if own.is_some_and(|own| roots(own).any(|known| known != root)) {
        return None;
    }
    let lost = |project: &&Value| {
        let mut roots = roots(project).peekable();
        let has_remote = aliases(project).any(|alias| !alias.starts_with('/'));
        roots.peek().is_some() && !has_remote && roots.all(|root| !Path::new(root).exists())
    };
    let has_name = |project: &Value| {
        roots(project).any(|old| Path::new(old).file_name() == here.main_root.file_name())
    };
    // The projects with the latest events are first.
    let lost = projects.iter().filter(lost).take(limits::DOCTOR_LOST_PROJECTS);
    let likely = lost.filter_map(|project| {
        let evidence = (has_files(ask, project, &here.main_root), has_name(project));
        (evidence != (false, false)).then_some((evidence, project))
    });
    // Of equally likely projects the first: `max_by_key` alone returns the last.
    let likely: Vec<_> = likely.collect();
    let (_, meant) = likely.into_iter().rev().max_by_key(|(evidence, _)| *evidence)?;
    let old = roots(meant).next()?;
    let detail = format!(
        "{old}, the directory of a project, is gone; {root} may be its new place, but does not have its records"
    );
    let (old, root) = (connect::quoted(old), connect::quoted(root));
    let line = match own {
        Some(_) => format!("rekindle project merge {root} {old}"),
        None => format!("rekindle project alias {old} {root}"),
    };
    let hint = format!("If this is the same project, run `{line}`.");
    Some(check("moved project", "warn", &detail, &hint))
}

/// Whether the lost project has records of at least two files, and most of them are in this directory.
fn has_files(ask: &dyn Fn(&str, Value) -> Reply, project: &Value, root: &Path) -> bool {
    let params = json!({ "project": project["path"], "limit": limits::RECENT_MAX });
    let Ok(recent) = ask("recent_context", params) else { return false };
    let paths = recent["results"].as_array().into_iter().flatten();
    let paths = paths.filter_map(|record| record["file_path"].as_str());
    let inside = |path| roots(project).find_map(|old| Path::new(path).strip_prefix(old).ok());
    let files: BTreeSet<&Path> = paths.filter_map(inside).collect();
    let found = files.iter().filter(|file| root.join(file).exists()).count();
    files.len() >= 2 && found * 2 > files.len()
}

fn aliases(project: &Value) -> impl Iterator<Item = &str> {
    project["aliases"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn roots(project: &Value) -> impl Iterator<Item = &str> {
    aliases(project).filter(|alias| alias.starts_with('/'))
}
