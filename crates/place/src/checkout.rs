//! The working tree and the directory that a tool works in.

use std::path::Path;
use std::sync::Arc;

use agents::shell;
use model::OpError;
use model::hook::{Happening, HookEvent, ToolUse};
use model::observation::ObsType;
use model::project::ProjectFacts;
use serde_json::Value;
use store::{Rx, projects};
use text::secrets::Redacted;

use crate::places::{Place, PlaceSource};

/// The checkout of the directory of a tool call or an answer; `here` is the place of that directory. A leading
/// `cd` counts only for a commit: after `cd ../other` the commit belongs to the working tree there.
pub(crate) fn of_event(
    places: &dyn PlaceSource,
    here: &Place,
    event: &HookEvent,
) -> Option<Redacted<Value>> {
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

/// The directory in which a test run or a build ran, for an agent in this one; none for other tools.
pub fn run_directory(tool: &ToolUse, cwd: &str) -> Option<String> {
    tool.metadata.get("run")?;
    let line = tool.command.as_ref().unwrap_or(&tool.content);
    let directory = command_directory(cwd, line);
    Some(match told_directory(&tool.metadata, line) {
        Some(told) => command_directory(&directory, &format!("cd '{told}'")),
        None => directory,
    })
}

/// The directory that an option of the run names, as in `npm --prefix web test` or `make -C web`.
fn told_directory(metadata: &Value, line: &str) -> Option<String> {
    const OPTIONS: &[&str] = &["--prefix", "-C", "--cwd", "--dir", "--directory"];
    const PROGRAMS: &[&str] = &["npm", "pnpm", "yarn", "bun", "make", "gmake", "ninja", "just"];
    let program = metadata["program"].as_str().filter(|program| PROGRAMS.contains(program))?;
    let run = shell::commands(line).into_iter().find(|command| command.program == program)?;
    let mut args = run.args.iter().map(String::as_str);
    let told = args.find_map(|arg| match arg.split_once('=') {
        Some((option, told)) if OPTIONS.contains(&option) => Some(told),
        _ => OPTIONS.contains(&arg).then_some(""),
    })?;
    let told = if told.is_empty() { args.next()? } else { told };
    (!told.contains('\'')).then(|| told.to_owned())
}

/// The place where a test run or a build ran, if it ran neither below the agent's directory nor in the project of that
/// directory, whose place is `here`. `None` for other runs and other events.
pub(crate) fn ran_outside(
    places: &dyn PlaceSource,
    here: &Place,
    event: &HookEvent,
) -> Option<Arc<Place>> {
    let Happening::ToolUsed(tool) = &event.what else { return None };
    let cwd = event.cwd.as_ref()?.as_str();
    // Outside of projects, as in the home directory, no directory belongs to another one.
    let root = here.facts.root.as_deref()?;
    let directory = run_directory(tool, cwd)?;
    let is_inside = [cwd, root].iter().any(|top| Path::new(&directory).starts_with(top));
    (!is_inside).then(|| places.at(Some(&directory)))
}

/// The place where a test run or a build ran: that of the agent's directory, unless its line leads out of the project.
pub fn run_place(places: &dyn PlaceSource, here: &Arc<Place>, event: &HookEvent) -> Arc<Place> {
    ran_outside(places, here, event).unwrap_or_else(|| here.clone())
}

/// Whether a run at a place with these facts is a run of the project: it ran in the project, or below a root of it.
pub fn is_run_of(rx: &Rx<'_>, project: i64, ran: &ProjectFacts) -> Result<bool, OpError> {
    if projects::known(rx, ran)?.is_some_and(|known| known.id == project) {
        return Ok(true);
    }
    let roots = projects::roots(rx, &[project])?;
    let below =
        |root: &String| ran.root.as_ref().is_some_and(|inside| Path::new(inside).starts_with(root));
    Ok(roots.is_empty() || roots.iter().any(below))
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
    use serde_json::json;

    use super::*;

    #[test]
    fn an_option_of_the_run_says_where_it_works() {
        for (program, line, told) in [
            ("npm", "npm --prefix web test", Some("web")),
            ("npm", "npm --prefix=web test", Some("web")),
            ("make", "make -C api check | tail", Some("api")),
            ("npm", "npm test", None),
            ("pytest", "pytest -C web", None),
        ] {
            let metadata = json!({ "program": program });
            assert_eq!(told_directory(&metadata, line).as_deref(), told, "{line}");
        }
    }

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
