//! What `doctor --fix` does: only what is safe, each told in a line.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use agents::wiring::WIRINGS;
use connect::{Asked, Scope, look};
use server::lock::Lock;

use super::places;
use super::program::Programs;
use crate::commands::connecting::Here;
use crate::commands::install;
use crate::road;
use crate::world::World;

/// Mends what can be mended, and says what was.
pub(super) fn mend(world: &World) -> Vec<String> {
    let mut fixed = close(world);
    fixed.extend(clear(world));
    fixed.extend(complete(world));
    fixed
}

/// Closes directories and files to others.
fn close(world: &World) -> Vec<String> {
    let mut fixed = Vec::new();
    for dir in places::directories(&world.locations) {
        if !client::platform::is_private(&dir) && client::platform::private_dir(&dir).is_ok() {
            fixed.push(format!("closed {} to others (mode 700)", dir.display()));
        }
    }
    for file in places::private_files(&world.locations) {
        let is_open = places::open_to_others(&file).is_some();
        // What belongs to somebody else stays as it is.
        if is_open && std::fs::set_permissions(&file, Permissions::from_mode(0o600)).is_ok() {
            fixed.push(format!("closed {} to others (mode 600)", file.display()));
        }
    }
    fixed
}

/// Removes what a daemon left that ended without saying goodbye.
fn clear(world: &World) -> Vec<String> {
    if !matches!(road::connect(world), Ok(None)) || !world.locations.runtime_dir.exists() {
        return Vec::new();
    }
    // Whoever holds the lock is the only one who could be behind these files.
    let Ok(Some(_lock)) = Lock::try_take(&world.locations) else { return Vec::new() };
    let left = [world.locations.discovery(), world.locations.socket()];
    let gone = left.into_iter().filter(|file| std::fs::remove_file(file).is_ok());
    gone.map(|file| format!("removed {}, of a daemon that is gone", file.display())).collect()
}

/// Completes agents that are partly connected, with the program that they know if it is good.
fn complete(world: &World) -> Vec<String> {
    let Ok(here) = Here::find() else { return Vec::new() };
    let around = here.around();
    let (mut fixed, mut programs) = (Vec::new(), Programs::default());
    for wiring in WIRINGS {
        let look = look(wiring, Scope::User, &around);
        if look.state() != "partly" || !look.trouble.is_empty() {
            continue;
        }
        let paths = look.programs.iter().map(|started| &started.path);
        let known = paths
            .into_iter()
            .find(|path| path.starts_with('/') && programs.of(path, &world.build).is_good());
        let program = match known {
            Some(known) => Ok((known.into(), None)),
            None => install::program(&here, None),
        };
        let Ok((binary, copy)) = program else { continue };
        let asked = Asked {
            agents: &[wiring],
            scope: Scope::User,
            binary: &binary,
            copy,
            shell: &[],
            data_dir: &world.locations.data_dir,
        };
        // Why it cannot be done is told by the check that stays.
        if connect::install(&asked, &around).is_ok_and(|outcome| !outcome.changes_nothing()) {
            let completed = [look.missing, look.altered].concat().join(", ");
            fixed.push(format!("connected {}: {completed}", wiring.title));
        }
    }
    fixed
}
