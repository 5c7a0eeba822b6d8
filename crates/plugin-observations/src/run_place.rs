//! Where a run of tests or a build ran: two runs of the same program in different directories are
//! different runs, and a red one in one of them stays red when the other passes.

use agents::shell;
use model::hook::{Happening, HookEvent, ToolUse};
use model::observation::ObsType;
use text::secrets::{Profile, Redacted, redact_json};

use crate::place::{Place, Places};

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
    let directory = directory(cwd, line);
    let shown = match directory.strip_prefix(root?.trim_end_matches('/')) {
        Some("") => return None,
        Some(inside) if inside.starts_with('/') => &inside[1..],
        _ => directory.as_str(),
    };
    let mut metadata = (*tool.metadata).clone();
    metadata["run"]["directory"] = shown.into();
    Some(redact_json(metadata, Profile::Strict))
}

/// The checkout that a tool works in; `here` is the place of the event's directory. A commit after `cd ../other`
/// belongs to the work tree there.
pub(crate) fn checkout(
    places: &dyn Places,
    here: &Place,
    event: &HookEvent,
) -> Option<Redacted<serde_json::Value>> {
    let Happening::ToolUsed(tool) = &event.what else { return None };
    let Some(cwd) = event.cwd.as_ref().filter(|_| tool.obs_type == ObsType::GitCommit) else {
        return here.checkout.clone();
    };
    let line = tool.command.as_ref().unwrap_or(&tool.content);
    places.at(Some(&directory(cwd, line))).checkout.clone()
}

/// The directory that a command line works in: the agent's, changed by a `cd` at the beginning of the
/// line.
fn directory(cwd: &str, line: &str) -> String {
    let mut directory = cwd.to_owned();
    for command in shell::commands(line).iter().take_while(|command| command.program == "cd") {
        match command.words().next() {
            Some(to) if to.starts_with('/') => directory = to.to_owned(),
            // `~` and variables are not expanded, so it is unknown where these lead.
            Some(to) if !to.starts_with(['~', '$']) => directory = format!("{directory}/{to}"),
            _ => {}
        }
    }
    plain(&directory)
}

/// The path without `.`, `..` and doubled slashes.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_works_where_its_first_cd_leads() {
        let table = [
            ("cargo test", "/srv/app"),
            ("cd web && npm test", "/srv/app/web"),
            ("cd ../api; cd sub && make", "/srv/api/sub"),
            ("cd /opt/x && make", "/opt/x"),
            ("cd ~/x && make", "/srv/app"),
            ("make && cd web", "/srv/app"),
        ];
        for (line, expected) in table {
            assert_eq!(directory("/srv/app/", line), expected, "{line}");
        }
    }
}
