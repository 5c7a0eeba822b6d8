//! The offer to import what agents have on disk, after `install` and `up`: once, from the names and sizes of files.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;

use client::platform;

use super::plan::{ImportPlan, of_all_agents};
use super::{found, import_files, report};
use crate::commands::connecting::ask;
use crate::world::World;

/// The file in the data directory that says that the offer was made.
pub(in crate::commands) const OFFERED: &str = "import-offered";

/// Asks once whether to import the transcripts on this machine. Without a terminal it is a note.
pub(in crate::commands) fn offer(world: &mut World) {
    if world.out.json || world.locations.data_dir.join(OFFERED).exists() {
        return;
    }
    let files = of_all_agents(&[], &mut Vec::new());
    // If the mark cannot be written, the offer would be made again and again.
    if files.is_empty() || !mark(world) {
        return;
    }
    let found = found(&files);
    match ask(world, &format!("{found} Import them?"), true) {
        Some(true) => {
            let plan = ImportPlan { files, ..ImportPlan::default() };
            match import_files(world, &plan) {
                Ok(totals) => drop(report(world, &plan, &totals)),
                Err(error) => drop(world.out.error(&error)),
            }
        }
        Some(false) => world.out.note("`rekindle import` does it later"),
        None => world.out.note(&format!("note: {found} `rekindle import` makes them searchable")),
    }
}

/// Notes that the offer was made.
pub(super) fn mark(world: &World) -> bool {
    let dir = &world.locations.data_dir;
    let mut private = OpenOptions::new();
    private.write(true).create(true).truncate(true).mode(0o600);
    platform::data_dir(dir).is_ok() && private.open(dir.join(OFFERED)).is_ok()
}
