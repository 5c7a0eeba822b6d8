//! The project of a directory that no longer exists, for events of transcripts.

use std::path::Path;

use model::OpError;
use model::hook::HookEvent;
use model::project::ProjectFacts;
use store::{Rx, projects};

/// The project of an event's directory that is gone: that of the recorded remote, else a known project whose root
/// contains the directory. `None` if neither is known; then `around` applies, which are the facts of the nearest
/// directory that exists, or the path itself.
///
/// A project whose own directory an import found gone does not count as containing the directory, nor does a plain
/// directory that exists: otherwise the result would depend on the order in which transcripts are read, and a dry run,
/// which creates no project, would differ.
pub(crate) fn facts(
    rx: &Rx<'_>,
    around: &ProjectFacts,
    event: &HookEvent,
) -> Result<Option<ProjectFacts>, OpError> {
    let remote = event.transcript.as_ref().and_then(|facts| facts.remote.as_ref());
    if let Some(remote) = remote.and_then(|remote| git::normal_remote(remote)) {
        let name = remote.rsplit('/').next().unwrap_or(&remote).to_owned();
        return Ok(Some(ProjectFacts {
            remote_key: Some(remote),
            name,
            ..ProjectFacts::default()
        }));
    }
    let Some(cwd) = event.cwd.as_ref() else { return Ok(None) };
    // No other part of the project is above the repository that contains the directory.
    let top = around.root.as_deref().filter(|_| !around.made.is_empty());
    for above in Path::new(cwd.as_str()).ancestors() {
        if above.parent().is_none() || top.is_some_and(|top| Path::new(top) == above) {
            break;
        }
        let root = above.to_string_lossy();
        let known = if above.exists() { None } else { projects::seen_at_root(rx, &root)? };
        if let Some(project) = known {
            let root = Some(root.into_owned());
            return Ok(Some(ProjectFacts { root, name: project.name, ..ProjectFacts::default() }));
        }
    }
    Ok(None)
}
