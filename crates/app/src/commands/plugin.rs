//! `rekindle plugin DIR`: writes the plugin folder by which Claude Code is connected without touching its settings.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, value_parser};
use model::{Code, OpError};
use serde_json::{Value, json};

use super::install::INSTALLED;
use crate::world::World;

pub(super) fn command() -> Command {
    Command::new("plugin")
        .about("Write the Claude Code plugin: hooks and MCP tools in a folder")
        .long_about(
            "Write the Claude Code plugin: hooks and MCP tools in a folder of its own.\n\n\
             It is another way to connect that agent, without its settings being touched. Use the plugin or \
             `rekindle install claude-code`, not both.",
        )
        .arg(
            Arg::new("dir")
                .value_name("DIR")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("Folder to write; made if it is missing"),
        )
        .after_help("Example:\n  rekindle plugin ~/rekindle-plugin")
}

pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    let dir = matches.get_one::<PathBuf>("dir").cloned().unwrap_or_default();
    match write(&dir) {
        Ok(result) => world.out.result(&result, Some(&pretty)),
        Err(error) => world.out.error(&error),
    }
}

fn write(dir: &Path) -> Result<Value, OpError> {
    let failed = |error: std::io::Error| {
        OpError::unavailable(format!("cannot write {}: {error}", dir.display()))
            .hint("Choose a directory that is yours to write.")
    };
    let exe = program().map_err(failed)?;
    let Some(command) = exe.to_str() else {
        return Err(OpError::unavailable("the path of this program is not UTF-8"));
    };
    let manifest = dir.join(".claude-plugin/plugin.json");
    let others = fs::read_to_string(&manifest).is_ok_and(|text| !text.contains("\"rekindle\""));
    let strange = !manifest.exists() && fs::read_dir(dir).is_ok_and(|mut all| all.next().is_some());
    if others || strange {
        let message = format!("{} holds something else already", dir.display());
        return Err(OpError::new(Code::Conflict, message).hint("Choose an empty directory."));
    }
    let mut written = Vec::new();
    for (path, text) in connect::claude_plugin(command, env!("CARGO_PKG_VERSION")) {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap_or(dir)).map_err(failed)?;
        fs::write(&path, text).map_err(failed)?;
        written.push(path.to_string_lossy().into_owned());
    }
    let dir = dir.canonicalize().map_err(failed)?;
    Ok(json!({ "directory": dir.to_string_lossy(), "files": written, "command": command }))
}

/// This program; its copy if it runs from a build folder and was installed.
fn program() -> std::io::Result<PathBuf> {
    let exe = std::env::current_exe()?;
    let copy = client::platform::home().map(|home| home.join(INSTALLED));
    let copy = copy.filter(|copy| connect::build_folder(&exe) && copy.is_file());
    Ok(copy.unwrap_or(exe))
}

fn pretty(result: &Value) -> String {
    let files = result["files"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut lines: Vec<String> = files.map(|file| format!("wrote {file}")).collect();
    let dir = result["directory"].as_str().unwrap_or_default();
    lines.push(format!(
        "\nLoad it with:   claude --plugin-dir {dir}\nCheck it with:  claude plugin validate {dir}"
    ));
    lines.join("\n")
}
