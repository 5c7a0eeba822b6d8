//! A project whose directory is gone may be the current repository.

use std::path::Path;

use serde_json::Value;

use super::check;

/// Offers to join the directory of this process to a project that lost its own. A directory that was moved on its file
/// system is recognised without this; a copy from another disk, or a restored backup, is not.
pub(super) fn check_here(listed: &Value, here: &git::Facts) -> Option<Value> {
    if here.remote.is_some() {
        return None;
    }
    let root = here.main_root.to_str()?;
    let projects = listed["projects"].as_array()?;
    let is_here = |project: &&Value| roots(project).any(|known| known == root);
    let own = projects.iter().find(is_here);
    // A project that has this directory besides others is joined already.
    if own.is_some_and(|own| roots(own).count() > 1) {
        return None;
    }
    let lost = |project: &&Value| {
        let mut roots = roots(project).peekable();
        let has_remote = aliases(project).any(|alias| !alias.starts_with('/'));
        roots.peek().is_some() && !has_remote && roots.all(|root| !Path::new(root).exists())
    };
    let lost: Vec<&Value> = projects.iter().filter(lost).collect();
    let named = |project: &&&Value| {
        roots(project).any(|old| Path::new(old).file_name() == here.main_root.file_name())
    };
    // A directory of the same name is the likely one; a single lost project is possible.
    let meant = lost.iter().find(named).or(if lost.len() == 1 { lost.first() } else { None })?;
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

fn aliases(project: &Value) -> impl Iterator<Item = &str> {
    project["aliases"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn roots(project: &Value) -> impl Iterator<Item = &str> {
    aliases(project).filter(|alias| alias.starts_with('/'))
}
