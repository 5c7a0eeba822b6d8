//! Where a run of tests or a build ran: two runs of the same program in different directories are
//! different runs, and a red one in one of them stays red when the other passes.

use agents::shell;
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
    let directory = match told_directory(&tool.metadata, line) {
        Some(told) => command_directory(&command_directory(cwd, line), &format!("cd '{told}'")),
        None => command_directory(cwd, line),
    };
    let shown = match directory.strip_prefix(root?.trim_end_matches('/')) {
        Some("") => return None,
        Some(inside) if inside.starts_with('/') => &inside[1..],
        _ => directory.as_str(),
    };
    let mut metadata = (*tool.metadata).clone();
    metadata["run"]["directory"] = shown.into();
    Some(redact_json(metadata, Profile::Strict))
}

/// The directory that an option of the run names, as in `npm --prefix web test` or `make -C web`.
fn told_directory(metadata: &serde_json::Value, line: &str) -> Option<String> {
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
}
