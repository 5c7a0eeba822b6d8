//! When an agent was last active, by what it leaves behind itself: times of files, whose names and contents are not looked at.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use agents::wiring::Wiring;
use model::limits;

use crate::place::{Around, Scope};

/// The time of the newest file where an agent keeps its sessions; none if it keeps none there. Files from the
/// future tell of a clock that went back, and nothing of the agent.
pub fn last_active(wiring: &Wiring, around: &Around<'_>, now: SystemTime) -> Option<SystemTime> {
    let places = wiring.traces.iter().filter_map(|place| around.resolve(place, Scope::User));
    let mut folders: Vec<(PathBuf, usize)> = places.map(|place| (place, 0)).collect();
    let (mut newest, mut seen) = (None, 0);
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > limits::TRACES_MAX {
                return newest;
            }
            // Links are not followed: what is behind them is not the agent's.
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
