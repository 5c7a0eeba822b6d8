//! `rekindle uninstall`: undoes what `install` did, to the byte where nobody touched a file since.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command};
use connect::Doing;
use model::{Code, OpError};
use serde_json::{Value, json};

use super::connecting::{self, Here};
use crate::world::World;

pub(super) fn command() -> Command {
    Command::new("uninstall")
        .about("Disconnect agents and restore their files")
        .long_about(
            "Disconnect agents and restore their files.\n\n\
             A file that nobody touched since `rekindle install` gets its very bytes back; from any other only what \
             is ours is removed. What was remembered stays, unless --data is given.",
        )
        .arg(connecting::agents_arg("Agents to disconnect; all, and the shell's files, if left out"))
        .arg(
            Arg::new("data")
                .long("data")
                .action(ArgAction::SetTrue)
                .conflicts_with("agent")
                .help("Remove everything that was remembered, too, after a question"),
        )
        .arg(connecting::yes_arg("Remove the data without a question"))
        .after_help("Examples:\n  rekindle uninstall codex\n  rekindle uninstall --data --yes")
}

pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    match uninstall(world, matches) {
        Ok(Some(result)) => world.out.result(&result, Some(&pretty)),
        Ok(None) => world.out.text("nothing was changed"),
        Err(error) => world.out.error(&error),
    }
}

fn uninstall(world: &mut World, matches: &ArgMatches) -> Result<Option<Value>, OpError> {
    let data = matches.get_flag("data");
    if data && !agreed(world, matches.get_flag("yes"))? {
        return Ok(None);
    }
    let here = Here::find()?;
    let named = connecting::named(matches);
    let chosen = (!named.is_empty()).then_some(named.as_slice());
    let undone = connect::uninstall(chosen, &world.locations.data_dir, &here.around())?;
    let changed = undone.files.iter().filter(|change| change.doing() != Doing::Kept);
    let files: Vec<Value> = changed
        .map(|change| {
            let path = change.path.to_string_lossy();
            json!({ "agent": change.agent, "path": path, "done": change.doing().word() })
        })
        .collect();
    let unseen = undone.unseen.iter();
    let unseen: Vec<_> = unseen.map(|place| json!({ "path": place, "done": "not seen" })).collect();
    let kept: Vec<Value> = undone
        .kept
        .iter()
        .map(|(copy, plugin)| json!({ "path": copy.to_string_lossy(), "plugin": plugin.to_string_lossy() }))
        .collect();
    let programs: Vec<_> = undone.removed.iter().map(|path| path.to_string_lossy()).collect();
    let removed = if data { Some(remove_data(world)?) } else { None };
    for folder in undone.folders.iter().rev() {
        // Whatever else is in it now is not ours to remove.
        let _ = fs::remove_dir(folder);
    }
    let gone = removed.as_ref().is_some_and(|removed| removed["files"] != 0);
    let changed = gone || !files.is_empty() || !programs.is_empty();
    let files = [files, unseen].concat();
    Ok(Some(json!({
        "changed": changed,
        "files": files,
        "programs": programs,
        "kept": kept,
        "data": removed,
    })))
}

/// Whether the data may go, after saying how much it is.
fn agreed(world: &World, yes: bool) -> Result<bool, OpError> {
    if yes {
        return Ok(true);
    }
    let dir = &world.locations.data_dir;
    let (count, bytes) = extent(dir);
    let what = format!("{count} files, {bytes} bytes in {}", dir.display());
    connecting::ask(world, &format!("This removes all that was remembered: {what}. Go on?"), false)
        .ok_or_else(|| {
            let message = format!("removing the data needs a yes: {what}");
            OpError::new(Code::NotReady, message).hint("Use --yes if that is what you want.")
        })
}

/// How many files are in a folder, and their bytes.
fn extent(dir: &Path) -> (u64, u64) {
    let (mut count, mut bytes) = (0, 0);
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(meta) if meta.is_dir() => {
                let (more, size) = extent(&entry.path());
                (count, bytes) = (count + more, bytes + size);
            }
            Ok(meta) => (count, bytes) = (count + 1, bytes + meta.len()),
            Err(_) => {}
        }
    }
    (count, bytes)
}

/// What is ours in a data directory, whoever chose the directory.
const OURS: &[&str] = &[
    "rekindle.db",
    "rekindle.db-wal",
    "rekindle.db-shm",
    "rekindle.db.lock",
    "token",
    "spool",
    "backups",
    "log",
];

/// Damaged databases that were set aside beside this one: they hold what was remembered, too.
pub(super) fn set_aside(database: &Path) -> Vec<PathBuf> {
    let name = database.file_name().unwrap_or_default().to_string_lossy();
    let folder = database.parent().unwrap_or(Path::new("."));
    let beside = fs::read_dir(folder).into_iter().flatten().flatten();
    let prefix = format!("{name}.corrupt-");
    let is_one = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(&prefix);
    beside.filter(is_one).map(|entry| entry.path()).collect()
}

/// Ends the daemon, then removes what it kept.
fn remove_data(world: &mut World) -> Result<Value, OpError> {
    super::stop::stop(world)?;
    let dir = world.locations.data_dir.clone();
    let (count, bytes) = extent(&dir);
    let database = world.locations.database.clone();
    let beside = ["", "-wal", "-shm", ".lock"].map(|ending| {
        let mut name = database.clone().into_os_string();
        name.push(ending);
        name.into()
    });
    let ours = OURS.iter().map(|name| dir.join(name)).chain(beside);
    for path in ours.chain(set_aside(&database)) {
        let removed =
            if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        match removed {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                let message = format!("cannot remove {}: {error}", path.display());
                return Err(OpError::unavailable(message).hint("Remove it by hand."));
            }
            _ => {}
        }
    }
    // What else is in it was not put there by us.
    let _ = fs::remove_dir(&dir);
    let (left, left_bytes) = extent(&dir);
    let stayed = fs::read_dir(&dir).into_iter().flatten().flatten();
    let mut stayed: Vec<_> =
        stayed.map(|entry| entry.path().to_string_lossy().into_owned()).collect();
    stayed.sort();
    Ok(json!({
        "directory": dir.to_string_lossy(),
        "files": count.saturating_sub(left),
        "bytes": bytes.saturating_sub(left_bytes),
        "stayed": stayed,
    }))
}

fn pretty(result: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut lines: Vec<String> = Vec::new();
    let kept: Vec<&Value> = result["kept"].as_array().into_iter().flatten().collect();
    if result["changed"] != true {
        let found = if kept.is_empty() { "nothing of ours was found; " } else { "" };
        lines.push(format!("{found}nothing was changed"));
    }
    for file in result["files"].as_array().into_iter().flatten() {
        lines.push(format!("{:<9} {}", text(&file["done"]), text(&file["path"])));
    }
    for program in result["programs"].as_array().into_iter().flatten() {
        lines.push(format!("removed   {}", text(program)));
    }
    for copy in kept {
        let (path, plugin) = (text(&copy["path"]), text(&copy["plugin"]));
        lines.push(format!("kept      {path} (the plugin in {plugin} starts it)"));
    }
    let data = &result["data"];
    let (files, bytes) = (&data["files"], &data["bytes"]);
    let stayed: Vec<&Value> = data["stayed"].as_array().into_iter().flatten().collect();
    if files.as_u64().is_some_and(|files| files > 0) {
        let of = if stayed.is_empty() { "" } else { "from " };
        let dir = text(&data["directory"]);
        lines.push(format!("removed   {of}{dir} ({files} files, {bytes} bytes)"));
    }
    for path in stayed {
        lines.push(format!("kept      {} (not ours)", text(path)));
    }
    lines.join("\n")
}
