//! The offer to import what agents have on disk, after `install` and `up`: once, from the names and sizes of files.

use super::{ImportPlan, found, import_files, report, transcripts};
use crate::commands::connecting::ask;
use crate::world::World;

/// The file in the data directory that says that the offer was made.
const OFFERED: &str = "import-offered";

/// Asks once whether to import the transcripts on this machine. Without a terminal it is a note.
pub(in crate::commands) fn offer(world: &mut World) {
    if world.out.json || world.locations.data_dir.join(OFFERED).exists() {
        return;
    }
    let Ok(files) = transcripts(&[], &[]) else { return };
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
    std::fs::create_dir_all(dir).and_then(|()| std::fs::write(dir.join(OFFERED), "")).is_ok()
}
