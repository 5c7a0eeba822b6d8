//! The working tree and the directory that a tool works in.

use agents::shell;
use model::hook::{Happening, HookEvent};
use model::observation::ObsType;
use text::secrets::Redacted;

use crate::places::{Place, PlaceSource};

/// The checkout of the directory of a tool call or an answer; `here` is the place of that directory. Only for a commit a
/// leading `cd` counts: after `cd ../other` it belongs to the working tree there.
pub(crate) fn of_event(
    places: &dyn PlaceSource,
    here: &Place,
    event: &HookEvent,
) -> Option<Redacted<serde_json::Value>> {
    let tool = match &event.what {
        Happening::ToolUsed(tool) => tool,
        Happening::Answered(_) => return here.checkout.clone(),
        _ => return None,
    };
    let Some(cwd) = event.cwd.as_ref().filter(|_| tool.obs_type == ObsType::GitCommit) else {
        return here.checkout.clone();
    };
    let line = tool.command.as_ref().unwrap_or(&tool.content);
    places.at(Some(&command_directory(cwd, line))).checkout.clone()
}

/// The directory that a command line works in: the agent's, changed by a `cd` at the beginning of the
/// line.
pub fn command_directory(cwd: &str, line: &str) -> String {
    let mut directory = cwd.to_owned();
    for command in shell::commands(line).iter().take_while(|command| command.program == "cd") {
        match command.words().next() {
            Some(to) if to.starts_with('/') => directory = to.to_owned(),
            // `~` and variables are not expanded, so the target is unknown.
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
            assert_eq!(command_directory("/srv/app/", line), expected, "{line}");
        }
    }
}
