//! `doctor --fix`: safe fixes only, each reported in a line.

use std::fmt::Display;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use agents::wiring::WIRINGS;
use connect::InstallRequest;
use serde_json::{Value, json};
use server::lock::Lock;

use super::daemon::DaemonState;
use super::places::{self, SpooledEvents};
use super::program::ProgramCache;
use crate::calls;
use crate::commands::connecting::{Here, record_dir, seen};
use crate::commands::install;
use crate::commands::uninstall::data::set_aside;
use crate::world::World;

/// Fixes that succeeded, and those that failed with the reason, one line each.
#[derive(Default)]
pub(super) struct Fixes {
    pub(super) fixed: Vec<String>,
    pub(super) failed: Vec<String>,
}

impl Fixes {
    /// Records a fix of something, or its failure; the verb in both forms.
    fn note(
        &mut self,
        (done, do_it): (&str, &str),
        thing: &str,
        outcome: Result<(), impl Display>,
    ) {
        match outcome {
            Ok(()) => self.fixed.push(format!("{done} {thing}")),
            Err(why) => self.failed.push(format!("cannot {do_it} {thing}: {why}")),
        }
    }
}

const CLOSED: (&str, &str) = ("closed", "close");
const UNLOCKED: (&str, &str) = ("made", "make");
const CONNECTED: (&str, &str) = ("connected", "connect");

/// Closes directories and files to others, and makes our files writable for their owner.
pub(super) fn close(world: &World, mended: &mut Fixes) {
    for dir in places::directories(&world.locations) {
        if !client::platform::is_private(&dir) {
            let closed = client::platform::private_dir(&dir);
            mended.note(CLOSED, &format!("{} to others (mode 700)", dir.display()), closed);
        }
    }
    for file in places::private_files(&world.locations) {
        if places::open_to_others(&file).is_some() {
            let closed = std::fs::set_permissions(&file, Permissions::from_mode(0o600));
            mended.note(CLOSED, &format!("{} to others (mode 600)", file.display()), closed);
        }
    }
    for file in places::locked_files(&world.locations) {
        let unlocked = std::fs::set_permissions(&file.path, Permissions::from_mode(0o600));
        mended.note(UNLOCKED, &format!("{} writable (mode 600)", file.path.display()), unlocked);
    }
    close_settings(world, mended);
}

/// Removes the permission of the group and of others to write the settings.
fn close_settings(world: &World, mended: &mut Fixes) {
    let Some(mode) = places::settings_open(&world.locations) else { return };
    let (file, mode) = (&world.locations.config_file, mode & !0o022);
    let closed = std::fs::set_permissions(file, Permissions::from_mode(mode));
    mended.note(CLOSED, &format!("{} to others (mode {mode:o})", file.display()), closed);
}

/// Applies the remaining fixes.
pub(super) fn mend(
    world: &mut World,
    daemon: &DaemonState,
    waited: &SpooledEvents,
    mended: &mut Fixes,
) {
    if !daemon.runs {
        clear(world, mended);
        restore_id(world, mended);
    }
    complete(world, mended);
    take_in(world, daemon, waited, mended);
}

/// Writes the application id into a database whose header lost it.
fn restore_id(world: &World, mended: &mut Fixes) {
    let locations = &world.locations;
    let (database, now) = (&locations.database, client::clock::now_ms());
    match store::lost_id::restore(database, &locations.records(), now) {
        Ok(None) => {}
        Ok(Some(copy)) => mended.fixed.push(format!(
            "wrote the application id into {}; {} is a copy from before",
            database.display(),
            copy.display()
        )),
        Err(error) => mended.failed.push(format!("cannot repair the database: {error}")),
    }
}

/// Deletes the files of a daemon that did not shut down cleanly.
fn clear(world: &World, mended: &mut Fixes) {
    let left = [world.locations.discovery(), world.locations.socket()];
    let left: Vec<_> = left.iter().filter(|file| std::fs::symlink_metadata(file).is_ok()).collect();
    if left.is_empty() {
        return;
    }
    // Under the lock no daemon can own these files.
    let Ok(Some(_lock)) = Lock::try_take(&world.locations) else { return };
    for file in left {
        let removed = std::fs::remove_file(file);
        let thing = format!("{}, of a daemon that is gone", file.display());
        mended.note(("removed", "remove"), &thing, removed);
    }
}

/// Ingests the spool; a damaged database is set aside on the way.
fn take_in(world: &mut World, daemon: &DaemonState, waited: &SpooledEvents, mended: &mut Fixes) {
    let count = waited.events;
    if daemon.runs && daemon.road.is_none() {
        if count > 0 {
            let why = daemon.check["detail"].as_str().unwrap_or_default();
            let events = text::counted(count, "event");
            mended.failed.push(format!("cannot ingest {events} from the spool: {why}"));
        }
        return;
    }
    // Do not create a database for an empty spool.
    if count == 0 && !world.locations.database.exists() {
        return;
    }
    let aside = set_aside(&world.locations.database);
    let left = leftovers(world);
    // This counts as a write, so the spool is ingested first. An operation that meets damage repairs it.
    let look = || json!({ "dry_run": true, "newest": 1 });
    let opened = calls::call(world, "scrub", look())
        .or_else(|_| calls::call(world, "scrub", look()))
        .and_then(|_| calls::call(world, "doctor", Value::Null));
    for path in set_aside(&world.locations.database) {
        if !aside.contains(&path) {
            mended.fixed.push(format!("set a damaged database aside at {}", path.display()));
        }
    }
    if let Ok(looked) = &opened {
        repair(world, looked, mended);
    }
    let still = leftovers(world);
    for file in left.iter().filter(|file| !still.contains(file)) {
        mended.fixed.push(format!("removed {}, left by interrupted work", file.display()));
    }
    let taken = count.saturating_sub(places::waiting(&world.locations).events);
    match opened {
        Err(error) => mended.failed.push(format!("cannot open the database: {}", error.message)),
        Ok(_) if taken > 0 => {
            let events = text::counted(taken, "event");
            mended.fixed.push(format!("ingested {events} from the spool"));
        }
        Ok(_) => {}
    }
}

/// Repairs damaged rows and a damaged full-text index and drops triggers, if the store reports any.
fn repair(world: &mut World, looked: &Value, mended: &mut Fixes) {
    let reported = |name: &str, detail: &str| {
        let mut checks = looked["checks"].as_array().into_iter().flatten();
        let says =
            |check: &Value| check["detail"].as_str().is_some_and(|said| said.contains(detail));
        checks.any(|check| check["name"] == name && says(check))
    };
    let has_triggers = reported("database objects", "trigger ");
    if !reported("damaged records", "") && !reported("search index", "") && !has_triggers {
        return;
    }
    match calls::call(world, "maintain", json!({ "repair": true })) {
        Ok(done) => {
            if has_triggers {
                mended.fixed.push("dropped triggers that another program added".to_owned());
            }
            if let Some(count) = done["repaired"].as_u64() {
                mended.fixed.push(format!("repaired {}", text::counted(count, "damaged row")));
            }
            if done["index"] == "rebuilt" {
                mended.fixed.push("rebuilt the full-text index from the records".to_owned());
            }
        }
        Err(error) => mended.failed.push(format!("cannot repair the database: {}", error.message)),
    }
}

fn leftovers(world: &World) -> Vec<PathBuf> {
    store::leftovers(&world.locations.database, &world.locations.backups())
}

/// Completes partly connected agents, with the program that they use if it is valid.
fn complete(world: &World, mended: &mut Fixes) {
    let Ok(here) = Here::find() else { return };
    let around = here.around();
    let mut programs = ProgramCache::default();
    for wiring in WIRINGS {
        let (look, scope) = seen(wiring, &around);
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
        let completed = [look.missing, look.altered].concat().join(", ");
        let thing = format!("{}: {completed}", wiring.title);
        let (binary, copy) = match program {
            Ok(found) => found,
            Err(error) => {
                mended.note(CONNECTED, &thing, Err(error.message));
                continue;
            }
        };
        let asked = InstallRequest {
            agents: &[wiring],
            scope,
            binary: &binary,
            status_line: false,
            copy,
            shell: &[],
            data_dir: &record_dir(),
        };
        match connect::install(&asked, &around) {
            Ok(outcome) if outcome.changes_nothing() => {}
            installed => {
                let installed = installed.map(drop).map_err(|error| error.message);
                mended.note(CONNECTED, &thing, installed);
            }
        }
    }
}
