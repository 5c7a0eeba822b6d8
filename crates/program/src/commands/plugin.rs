//! `rekindle plugin DIR`: writes the plugin directory that connects Claude Code without editing its settings.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, value_parser};
use connect::{ConnectScope, InstallRequest};
use model::{Code, OpError, limits};
use serde_json::{Value, json};

use super::connecting::{Here, record_dir};
use super::install;
use crate::world::World;

pub(super) fn command() -> Command {
    Command::new("plugin")
        .about("Write the Claude Code plugin: hooks and MCP tools in a folder")
        .long_about(
            "Write the Claude Code plugin: hooks and MCP tools in a folder of its own.\n\n\
             This is another way to connect Claude Code, without editing its settings. Use the plugin or \
             `rekindle install claude-code`, not both. If the program runs from a build directory, it is first \
             copied to ~/.local/bin, as `rekindle install` does.",
        )
        .arg(
            Arg::new("dir")
                .value_name("DIR")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("Folder to write; created if it is missing"),
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
            .hint("Choose a directory that you may write to.")
    };
    let manifest = dir.join(".claude-plugin/plugin.json");
    let text = regular::read_text(&manifest, limits::SMALL_FILE_BYTES_MAX);
    let is_ours = text.is_ok_and(|text| text.contains("\"rekindle\""));
    let others = manifest.exists() && !is_ours;
    let strange = !manifest.exists() && fs::read_dir(dir).is_ok_and(|mut all| all.next().is_some());
    if others || strange {
        let message = format!("{} has files that are not of our plugin", dir.display());
        return Err(OpError::new(Code::Conflict, message)
            .hint("Choose an empty directory, or one that does not exist yet."));
    }
    let program = program()?;
    let Some(command) = program.path.to_str() else {
        return Err(OpError::unavailable("the path of this program is not UTF-8")
            .hint("Move the program to a path that is UTF-8, and run the command from there."));
    };
    let mut written = Vec::new();
    for (path, text) in connect::claude_plugin(command, env!("CARGO_PKG_VERSION")) {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap_or(dir)).map_err(failed)?;
        fs::write(&path, text).map_err(failed)?;
        written.push(path.to_string_lossy().into_owned());
    }
    let dir = dir.canonicalize().map_err(failed)?;
    connect::remember_plugin(&dir, &program.path, &record_dir())?;
    Ok(json!({
        "directory": dir.to_string_lossy(),
        "files": written,
        "command": command,
        "copied": program.copied,
    }))
}

/// The program that the plugin starts.
struct PluginProgram {
    path: PathBuf,
    /// Whether it was copied by this command.
    copied: bool,
}

/// This program, or a copy of it if it is in a build directory. The copy is recorded, so that `rekindle uninstall`
/// deletes it.
fn program() -> Result<PluginProgram, OpError> {
    let here = Here::find()?;
    let (path, copy) = install::program(&here, None)?;
    if copy.is_none() {
        return Ok(PluginProgram { path, copied: false });
    }
    let asked = InstallRequest {
        agents: &[],
        scope: ConnectScope::User,
        binary: &path,
        status_line: false,
        copy,
        shell: &[],
        data_dir: &record_dir(),
    };
    let copied = !connect::install(&asked, &here.around())?.changes_nothing();
    Ok(PluginProgram { path, copied })
}

fn pretty(result: &Value) -> String {
    let files = result["files"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut lines: Vec<String> = files.map(|file| format!("wrote {file}")).collect();
    if result["copied"] == true {
        let copy = result["command"].as_str().unwrap_or_default();
        lines.push(format!(
            "copied the program to {copy}; `rekindle uninstall` removes it once the plugin's folder is gone"
        ));
    }
    let dir = connect::quoted(result["directory"].as_str().unwrap_or_default());
    lines.push(format!(
        "\nLoad it with:   claude --plugin-dir {dir}\nCheck it with:  claude plugin validate {dir}"
    ));
    lines.join("\n")
}
