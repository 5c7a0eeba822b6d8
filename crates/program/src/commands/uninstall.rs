//! `rekindle uninstall`: undoes `install`, byte for byte in files that were not edited since.

pub(super) mod data;

use std::fs;
use std::path::PathBuf;

use agents::wiring::{WIRINGS, Wiring};
use clap::{Arg, ArgAction, ArgMatches, Command};
use connect::{ConnectScope, FileAction, look};
use model::{Code, OpError};
use serde_json::{Value, json};

use self::data::Data;
use super::connecting::{self, Here};
use crate::world::World;

pub(super) fn command() -> Command {
    Command::new("uninstall")
        .about("Disconnect agents and restore their files")
        .long_about(
            "Disconnect agents and restore their files.\n\n\
             A file that was not edited since `rekindle install` is restored byte for byte; from any other file only our \
             entries are removed. Records are kept unless --data is given.",
        )
        .arg(connecting::agents_arg("Agents to disconnect; all, and the shell's files, if omitted"))
        .arg(
            Arg::new("data")
                .long("data")
                .action(ArgAction::SetTrue)
                .conflicts_with("agent")
                .help("Also delete all records, after confirmation"),
        )
        .arg(
            Arg::new("dry-run")
                .long("dry-run")
                .action(ArgAction::SetTrue)
                .help("Show what would be undone and deleted, and change nothing"),
        )
        .arg(connecting::yes_arg("With --data: delete the records without asking"))
        .after_help(
            "Examples:\n  rekindle uninstall codex\n  rekindle uninstall --data --dry-run\n  \
             rekindle uninstall --data --yes",
        )
}

pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    let done = match matches.get_flag("dry-run") {
        true => preview(world, matches).map(Some),
        false => uninstall(world, matches),
    };
    match done {
        Ok(Some(result)) => {
            let exit = world.out.result(&result, Some(&pretty));
            let failed = |of: &Value| of["failed"].as_array().is_some_and(|all| !all.is_empty());
            if !world.out.json {
                // Printed last, where the user sees them.
                for error in result["failed"].as_array().into_iter().flatten() {
                    world.out.error(&OpError::from_wire(error));
                }
            }
            if failed(&result) || failed(&result["data"]) { 1 } else { exit }
        }
        Ok(None) => world.out.text("nothing was changed"),
        Err(error) => world.out.error(&error),
    }
}

fn uninstall(world: &mut World, matches: &ArgMatches) -> Result<Option<Value>, OpError> {
    let here = Here::find()?;
    let data = matches.get_flag("data").then(|| Data::find(&world.locations));
    let mut lock = None;
    if let Some(data) = &data {
        if !agreed(world, data, matches.get_flag("yes"))? {
            return Ok(None);
        }
        // Stopped and locked before anything is undone; the lock is held until the data is deleted.
        lock = data.make_way(world)?;
    }
    let named = connecting::named(matches);
    let chosen = (!named.is_empty()).then_some(named.as_slice());
    let undone = connect::uninstall(chosen, &connecting::record_dir(), &here.around())?;
    let changed = undone.files.iter().filter(|change| change.doing() != FileAction::Kept);
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
    let replaced: Vec<_> = undone.replaced.iter().map(|path| path.to_string_lossy()).collect();
    let programs: Vec<_> = undone.removed.iter().map(|path| path.to_string_lossy()).collect();
    let removes_data = data.is_some();
    let removed = data.map(|data| data.remove(&world.locations));
    drop(lock);
    for folder in undone.folders.iter().rev() {
        // Fails if the directory has other files, which are not ours.
        let _ = fs::remove_dir(folder);
    }
    let gone = removed.as_ref().is_some_and(|removed| removed["files"] != 0);
    let changed = gone || !files.is_empty() || !programs.is_empty();
    let files = [files, unseen].concat();
    let failed: Vec<Value> = undone.failed.iter().map(OpError::to_wire).collect();
    Ok(Some(json!({
        "changed": changed,
        "failed": failed,
        "files": files,
        "programs": programs,
        "kept": kept,
        "replaced": replaced,
        "data": removed,
        "remaining": remaining(world, &undone.removed, removes_data),
    })))
}

/// Our files and processes that are still there: the records, the settings and the daemon. `program` is the command that
/// still starts the program; none if its file was just removed.
fn remaining(world: &World, removed: &[PathBuf], lists_settings: bool) -> Value {
    let data = Data::find(&world.locations);
    let records = data.has_records().then(|| data.summary());
    let daemon = server::lock::holder(&world.locations).and_then(|holder| holder.pid);
    let settings =
        Some(&world.locations.config_file).filter(|file| !lists_settings && file.exists());
    let program = match removed {
        [] => Some("rekindle".to_owned()),
        _ => std::env::current_exe()
            .ok()
            .filter(|exe| exe.exists())
            .map(|exe| connect::quoted(&exe.to_string_lossy())),
    };
    let settings = settings.map(|file| file.to_string_lossy());
    json!({ "data": records, "daemon": daemon, "settings": settings, "program": program })
}

/// Whether the data may be deleted, after showing its size.
fn agreed(world: &World, data: &Data, yes: bool) -> Result<bool, OpError> {
    if yes {
        return Ok(true);
    }
    let what = data.summary();
    connecting::ask(world, &format!("This deletes all records: {what}. Continue?"), false)
        .ok_or_else(|| {
            let message = format!("deleting data requires confirmation: {what}");
            OpError::new(Code::NotReady, message).hint("Use --yes to confirm.")
        })
}

/// Lists the changes that would be undone and the files that would be deleted.
fn preview(world: &World, matches: &ArgMatches) -> Result<Value, OpError> {
    let here = Here::find()?;
    let around = here.around();
    let named = connecting::named(matches);
    let recorded = connect::recorded(&connecting::record_dir())?;
    let is_named = |agent: &str| named.iter().any(|named| named.agent == agent);
    let is_meant = |wiring: &&Wiring| {
        let is_wired = |scope| {
            let look = look(wiring, scope, &around);
            !look.wired.is_empty() || !look.altered.is_empty()
        };
        (named.is_empty() || is_named(wiring.agent))
            && (recorded.agents.iter().any(|agent| agent == wiring.agent)
                || is_wired(ConnectScope::User)
                || is_wired(ConnectScope::Project))
    };
    let agents: Vec<_> = WIRINGS.iter().filter(is_meant).map(|wiring| wiring.title).collect();
    let data = matches.get_flag("data").then(|| Data::find(&world.locations));
    let data = data.map(|data| data.preview(&world.locations));
    // Shell files are removed with the last agent.
    let ends = named.is_empty() || recorded.agents.iter().all(|agent| is_named(agent));
    let files = if ends { [recorded.shell, recorded.copies].concat() } else { Vec::new() };
    let files: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
    let failed: Vec<Value> = recorded.bad.iter().map(OpError::to_wire).collect();
    Ok(
        json!({ "dry_run": true, "agents": agents, "removes": files, "data": data, "failed": failed }),
    )
}

fn pretty(result: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut lines: Vec<String> = Vec::new();
    let is_preview = result["dry_run"] == true;
    for agent in result["agents"].as_array().into_iter().flatten() {
        lines.push(format!("would disconnect {}", text(agent)));
    }
    for file in result["removes"].as_array().into_iter().flatten() {
        lines.push(format!("would remove {}", text(file)));
    }
    if is_preview && lines.is_empty() && result["data"]["files"].as_u64().unwrap_or(0) == 0 {
        lines.push("nothing of ours was found".to_owned());
    }
    let kept: Vec<&Value> = result["kept"].as_array().into_iter().flatten().collect();
    if !is_preview && result["changed"] != true {
        let is_clear = kept.is_empty() && result["failed"].as_array().is_none_or(Vec::is_empty);
        let found = if is_clear { "nothing of ours was found; " } else { "" };
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
    for path in result["replaced"].as_array().into_iter().flatten() {
        lines.push(format!("kept      {} (it is not our program any more)", text(path)));
    }
    lines.extend(data::pretty(&result["data"], is_preview));
    let remaining = &result["remaining"];
    let program = remaining["program"].as_str();
    if let Some(pid) = remaining["daemon"].as_u64() {
        let how = program.map_or(format!("kill {pid}"), |program| format!("{program} stop"));
        lines.push(format!("The daemon still runs (pid {pid}); `{how}` ends it."));
    }
    if let Some(records) = remaining["data"].as_str() {
        let how = match program {
            Some(program) => format!("`{program} uninstall --data` deletes them"),
            None => "the program is removed, so delete them there by hand".to_owned(),
        };
        lines.push(format!("Your records remain: {records}; {how}."));
    }
    if let Some(file) = remaining["settings"].as_str() {
        lines.push(format!("Your settings remain: {file}"));
    }
    lines.join("\n")
}
