//! `rekindle backup` and `rekindle restore`: the database to a file and back.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};
use model::OpError;
use serde_json::{Value, json};

use crate::world::World;

fn file() -> Arg {
    Arg::new("file").value_name("FILE").required(true).value_parser(value_parser!(PathBuf))
}

pub(super) fn backup_command() -> Command {
    Command::new("backup")
        .about("Copy the database to a file while it is in use")
        .arg(file().help("File to write; an existing one is never overwritten"))
}

pub(super) fn restore_command() -> Command {
    Command::new("restore")
        .about("Replace the database by a backup")
        .long_about("Replace the database by a backup. The file is checked first; the replaced database is kept among the backups.")
        .arg(file().help("Backup to restore"))
}

pub(super) fn backup(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    call(world, matches, "backup", |result| {
        let size = text::size(result["bytes"].as_u64().unwrap_or_default());
        format!("wrote {} ({size})", result["file"].as_str().unwrap_or_default())
    })
}

pub(super) fn restore(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    call(world, matches, "restore", |result| {
        let text = |name: &str| result[name].as_str().unwrap_or_default().to_owned();
        format!(
            "restored {}\nthe replaced database is kept as {}",
            text("restored"),
            text("previous")
        )
    })
}

/// The daemon has a working directory of its own, so the path is made absolute here.
fn call(world: &mut World, matches: &ArgMatches, op: &str, pretty: fn(&Value) -> String) -> u8 {
    let given = matches.get_one::<PathBuf>("file").cloned().unwrap_or_default();
    let params = std::path::absolute(&given)
        .map_err(|error| OpError::invalid("file", format!("not a path: {error}")))
        .and_then(|path| {
            let text =
                path.to_str().ok_or_else(|| OpError::invalid("file", "the path is not UTF-8"))?;
            Ok(json!({ "file": text }))
        });
    let params = match params {
        Ok(params) => params,
        Err(error) => return world.out.error(&error),
    };
    match crate::calls::call(world, op, params) {
        Ok(result) => world.out.result(&result, Some(&pretty)),
        Err(error) => world.out.error(&error),
    }
}
