//! `rekindle links DIR`: creates the program's other names as symbolic links in a directory.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use model::{Code, OpError};
use serde_json::{Value, json};

use crate::names::LINKS;
use crate::world::World;

pub(super) fn command() -> Command {
    let names: Vec<&str> = LINKS.iter().map(|name| name.word).collect();
    let names = names.join(", ");
    Command::new("links")
        .about("Create links to this program under its other names")
        .long_about(format!(
            "Create links to this program under its other names in a directory: {names}.\n\n\
             Started under such a name, the program has the command line of that name.",
        ))
        .arg(
            Arg::new("dir")
                .value_name("DIR")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("Directory for the links, preferably on your PATH; created if it is missing"),
        )
        .arg(
            Arg::new("force")
                .long("force")
                .action(ArgAction::SetTrue)
                .help("Replace files and links that are not ours"),
        )
        .after_help("Example:\n  rekindle links ~/.local/bin")
}

pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    let dir = matches.get_one::<PathBuf>("dir").cloned().unwrap_or_default();
    match links(&dir, matches.get_flag("force")) {
        Ok(result) => {
            let exit = world.out.result(&result, Some(&pretty));
            let shown = result["directory"].as_str().unwrap_or_default();
            if !world.out.json && !is_on_path(Path::new(shown)) {
                world.out.note(&format!("note: {shown} is not on your PATH"));
            }
            exit
        }
        Err(error) => world.out.error(&error),
    }
}

/// Checks every name before it creates the first link, so that a refusal changes nothing.
fn links(dir: &Path, force: bool) -> Result<Value, OpError> {
    let target = std::env::current_exe().and_then(|exe| exe.canonicalize()).map_err(|error| {
        OpError::unavailable(format!("cannot tell where this program is: {error}"))
    })?;
    let failed = |error: io::Error| unusable(dir, &error);
    std::fs::create_dir_all(dir).map_err(failed)?;
    let dir = dir.canonicalize().map_err(failed)?;
    let mut planned = Vec::new();
    for name in LINKS {
        let path = dir.join(name.word);
        planned.push((name.word, found(&path, &target, force)?, path));
    }
    let mut made = Vec::new();
    for (name, found, path) in planned {
        if found != LinkPath::Ours {
            link(&target, &path).map_err(|error| unusable(&path, &error))?;
        }
        made.push(json!({ "name": name, "path": path.to_string_lossy(), "done": found.done() }));
    }
    Ok(json!({
        "directory": dir.to_string_lossy(),
        "target": target.to_string_lossy(),
        "links": made,
    }))
}

/// The file or link at the path of a new link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LinkPath {
    Nothing,
    /// The link itself.
    Ours,
    /// Another file or link that may be replaced.
    Other,
}

impl LinkPath {
    fn done(self) -> &'static str {
        match self {
            LinkPath::Nothing => "made",
            LinkPath::Ours => "kept",
            LinkPath::Other => "replaced",
        }
    }
}

fn found(path: &Path, target: &Path, force: bool) -> Result<LinkPath, OpError> {
    let meta = match std::fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(LinkPath::Nothing),
        Err(error) => return Err(unusable(path, &error)),
    };
    let refused = |what: &str, hint: &str| {
        let message = format!("{} is {what}", path.display());
        Err(OpError::new(Code::Conflict, message).hint(hint))
    };
    if meta.is_dir() {
        return refused("a directory", "Choose another directory for the links.");
    }
    match std::fs::read_link(path) {
        Ok(there) if there == target => return Ok(LinkPath::Ours),
        // A link to this program at another path, for example to an older build.
        Ok(there) if there.file_name() == target.file_name() => return Ok(LinkPath::Other),
        Err(_) if path.canonicalize().is_ok_and(|file| file == target) => {
            return refused("this program itself", "Choose another directory for the links.");
        }
        _ => {}
    }
    if force {
        return Ok(LinkPath::Other);
    }
    refused("not a link of ours", "Use --force to replace it, or choose another directory.")
}

/// Creates the link atomically, so that the name is always valid.
fn link(target: &Path, path: &Path) -> io::Result<()> {
    let temporary = path.with_extension(format!("new-{}", std::process::id()));
    std::os::unix::fs::symlink(target, &temporary)?;
    std::fs::rename(&temporary, path).inspect_err(|_| {
        // The rename failed, which is reported; the temporary link is of no use.
        let _ = std::fs::remove_file(&temporary);
    })
}

fn unusable(path: &Path, error: &io::Error) -> OpError {
    OpError::unavailable(format!("cannot use {}: {error}", path.display()))
        .hint("Choose a directory that you may write to.")
}

fn is_on_path(dir: &Path) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|one| one.canonicalize().is_ok_and(|one| one == dir))
}

fn pretty(result: &Value) -> String {
    let target = result["target"].as_str().unwrap_or_default();
    let links = result["links"].as_array().into_iter().flatten().map(|link| {
        let text = |name: &str| link[name].as_str().unwrap_or_default();
        format!("{} {} -> {target}", text("done"), text("path"))
    });
    links.collect::<Vec<_>>().join("\n")
}
