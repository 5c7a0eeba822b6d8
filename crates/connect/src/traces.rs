//! When an agent was last active, by the modification times of its files. Their names and contents are not read.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use agents::wiring::Wiring;
use model::limits;

use crate::place::{Around, ConnectScope};

/// The time of the newest session file of an agent; `None` if there are none. Files from the future mean that the
/// clock went back, and are ignored.
pub fn last_active(wiring: &Wiring, around: &Around<'_>, now: SystemTime) -> Option<SystemTime> {
    let places = wiring.traces.iter().filter_map(|place| around.resolve(place, ConnectScope::User));
    let mut folders: Vec<(PathBuf, usize)> = places.map(|place| (place, 0)).collect();
    let (mut newest, mut seen) = (None, 0);
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > limits::TRACES_MAX {
                return newest;
            }
            // Links are not followed: their targets are not the agent's files.
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() && depth < limits::TRACES_DEPTH_MAX {
                folders.push((entry.path(), depth + 1));
            } else if meta.is_file() {
                newest = newest.max(meta.modified().ok().filter(|at| *at <= now));
            }
        }
    }
    newest
}
