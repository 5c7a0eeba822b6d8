//! Where a run of tests or a build ran: two runs of the same program in different directories are
//! different runs, and a red one in one of them stays red when the other passes.

use model::hook::{HookEvent, ToolUse};
use place::command_directory;
use text::secrets::{Profile, Redacted, redact_json};

/// The metadata of a run with `run.directory`; none for other tools, for a run in the root itself, and
/// outside of projects, as in the home directory.
pub(crate) fn with_directory(
    tool: &ToolUse,
    event: &HookEvent,
    root: Option<&str>,
) -> Option<Redacted<serde_json::Value>> {
    tool.metadata.get("run")?;
    let cwd = event.cwd.as_ref()?;
    let line = tool.command.as_ref().unwrap_or(&tool.content);
    let directory = command_directory(cwd, line);
    let shown = match directory.strip_prefix(root?.trim_end_matches('/')) {
        Some("") => return None,
        Some(inside) if inside.starts_with('/') => &inside[1..],
        _ => directory.as_str(),
    };
    let mut metadata = (*tool.metadata).clone();
    metadata["run"]["directory"] = shown.into();
    Some(redact_json(metadata, Profile::Strict))
}
