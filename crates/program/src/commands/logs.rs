//! `rekindle logs`: the last lines of the daemon's log, or of the hooks' log.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use model::{OpError, limits};
use serde_json::json;

use crate::world::World;

pub(super) fn command() -> Command {
    Command::new("logs")
        .about("Print the last lines of the daemon's log, or of the hooks' log")
        .arg(
            Arg::new("follow")
                .short('f')
                .long("follow")
                .action(ArgAction::SetTrue)
                .help("Keep printing new lines"),
        )
        .arg(
            Arg::new("lines")
                .short('n')
                .long("lines")
                .value_name("N")
                .default_value("50")
                .value_parser(value_parser!(usize))
                .help("How many lines"),
        )
        .arg(
            Arg::new("hook")
                .long("hook")
                .action(ArgAction::SetTrue)
                .help("The hooks' log instead of the daemon's"),
        )
}

pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    world.note_broken_settings();
    let path = if matches.get_flag("hook") {
        world.locations.hook_log()
    } else {
        world.locations.daemon_log()
    };
    let follows = matches.get_flag("follow") && !world.out.json;
    if follows {
        world.out.without_pager();
    }
    let lines = matches.get_one::<usize>("lines").copied().unwrap_or(50);
    let text = match tail(&path, lines) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            world.out.note(&format!("there is no log yet: {} does not exist", path.display()));
            String::new()
        }
        Err(error) => {
            let error = OpError::unavailable(format!("cannot read {}: {error}", path.display()));
            return world.out.error(&error);
        }
    };
    let exit = if world.out.json {
        let lines: Vec<&str> = text.lines().collect();
        world.out.result(&json!({ "file": path.to_string_lossy(), "lines": lines }), None)
    } else {
        world.out.text(&text)
    };
    let follows = follows && !world.out.is_closed();
    if follows { follow(world, &path) } else { exit }
}

pub(super) fn tail(path: &Path, lines: usize) -> std::io::Result<String> {
    let mut file = regular::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(limits::LOG_TAIL_BYTES_MAX)))?;
    let mut bytes = Vec::new();
    file.take(limits::LOG_TAIL_BYTES_MAX).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let all: Vec<&str> = text.lines().collect();
    Ok(all[all.len().saturating_sub(lines)..].iter().map(|line| format!("{line}\n")).collect())
}

/// Prints new lines until the reader closes the pipe. A rotated log is followed into its new file.
fn follow(world: &mut World, path: &Path) -> u8 {
    let identity = |path: &Path| std::fs::metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
    let mut at = std::fs::metadata(path).map_or(0, |meta| meta.len());
    let mut seen = identity(path);
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let now = identity(path);
        if now != seen {
            (seen, at) = (now, 0);
        }
        let Ok(mut file) = regular::open(path) else { continue };
        let mut added = Vec::new();
        if file.seek(SeekFrom::Start(at)).is_ok()
            && file.take(limits::LOG_TAIL_BYTES_MAX).read_to_end(&mut added).is_ok()
            && !added.is_empty()
        {
            at += added.len() as u64;
            let exit = world.out.text(&String::from_utf8_lossy(&added));
            if world.out.is_closed() {
                return exit;
            }
        }
    }
}
