//! Where a run of tests or a build ran: two runs of the same program in different directories are
//! different runs: a run that failed in one directory stays red when a run in another one passes.

use model::hook::ToolUse;
use model::run;
use place::{Captured, run_directory};
use text::secrets::{Profile, Redacted, redact_json};

/// The metadata of a run with `run.directory`, and `run.elsewhere` if it ran outside the project of its record.
/// None for other tools, for a run in the root itself, and outside of projects, as in the home directory.
pub(crate) fn with_directory(
    tool: &ToolUse,
    captured: &Captured<'_>,
) -> Option<Redacted<serde_json::Value>> {
    let directory = run_directory(tool, captured.event.cwd.as_ref()?)?;
    let is_elsewhere = !captured.ran_in_session_project;
    let shown = match directory.strip_prefix(captured.root.as_deref()?.trim_end_matches('/')) {
        _ if is_elsewhere => directory.as_str(),
        Some("") => return None,
        Some(inside) if inside.starts_with('/') => &inside[1..],
        _ => directory.as_str(),
    };
    let mut metadata = (*tool.metadata).clone();
    metadata["run"]["directory"] = shown.into();
    if is_elsewhere {
        metadata["run"][run::ELSEWHERE] = true.into();
    }
    Some(redact_json(metadata, Profile::Strict))
}
