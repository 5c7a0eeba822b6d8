//! Pauses in the store: projects in which nothing is captured for a while. They are also written to a file beside
//! the database, for hooks that find no daemon: they must not spool events of paused projects.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use model::OpError;
use model::locations::paused_beside;
use model::project::{Pause, Pauses};
use rusqlite::{Row, params};

use crate::aggregate::Aggregate;
use crate::cells::Cells as _;
use crate::deferred::Deferred;
use crate::files::Scratch;
use crate::projects;
use crate::tx::{Rx, Tx};

/// The id for a pause of all projects; no project has this id.
const EVERYWHERE: i64 = 0;
const COLUMNS: &str = "SELECT project, until FROM pauses WHERE (until IS NULL OR until > ?1)";

/// The row of the registry.
pub(crate) struct PauseRows;

impl Aggregate for PauseRows {
    fn name(&self) -> &'static str {
        "pauses"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/pauses.sql")
    }

    fn before_commit(&self, tx: &Tx<'_>) -> Result<(), OpError> {
        let PausesChanged(changed) = tx.take_deferred();
        if changed {
            let (file, pauses) = (paused_beside(&tx.facts().database), to_note(tx)?);
            tx.after_commit(Box::new(move || drop(note(&file, pauses.as_ref()))));
        }
        Ok(())
    }
}

/// Whether there is any pause at all, cached for a group of writes.
#[derive(Default)]
struct AnyPause(Cell<Option<bool>>);

/// Whether the group changed pauses, or aliases that lead to a project.
#[derive(Default)]
struct PausesChanged(bool);

impl Deferred for PausesChanged {
    fn add(&mut self, later: PausesChanged) {
        self.0 |= later.0;
    }
}

/// Begins a pause, or changes when it ends.
pub fn begin(tx: &Tx<'_>, pause: Pause) -> Result<(), OpError> {
    const BEGIN: &str = "INSERT INTO pauses (project, until) VALUES (?1, ?2) \
         ON CONFLICT (project) DO UPDATE SET until = excluded.until";
    let project = pause.project.unwrap_or(EVERYWHERE);
    forget_note(tx)?;
    changed(tx);
    tx.sql(|db| db.execute(BEGIN, params![project, pause.until]).map(drop))
}

/// Ends a pause; says whether there was one.
pub fn end(tx: &Tx<'_>, project: Option<i64>) -> Result<bool, OpError> {
    let project = project.unwrap_or(EVERYWHERE);
    forget_note(tx)?;
    changed(tx);
    tx.sql(|db| Ok(db.execute("DELETE FROM pauses WHERE project = ?1", [project])? == 1))
}

/// Copies the pause of a project to another; if both have one, the later end applies.
pub(crate) fn carry_over(tx: &Tx<'_>, from: i64, to: i64) -> Result<(), OpError> {
    const CARRY: &str = "INSERT INTO pauses (project, until) \
         SELECT ?2, until FROM pauses WHERE project = ?1 \
         ON CONFLICT (project) DO UPDATE SET until = CASE \
           WHEN until IS NULL OR excluded.until IS NULL THEN NULL \
           ELSE max(until, excluded.until) END";
    changed(tx);
    tx.sql(|db| db.execute(CARRY, [from, to]).map(drop))
}

/// Deletes the pause file before a pause changes: a stale one would make hooks drop events that are to be stored.
fn forget_note(tx: &Tx<'_>) -> Result<(), OpError> {
    let file = paused_beside(&tx.facts().database);
    match fs::remove_file(&file) {
        Err(error) if file.is_file() => {
            let message = format!("{} cannot be removed: {}", file.display(), error.kind());
            Err(OpError::unavailable(message)
                .hint("Hooks read this file to know what is paused: make its directory writable, then try again."))
        }
        _ => Ok(()),
    }
}

/// Marks pauses, or the aliases of a paused project, as changed: drops the cached state, and the pause file is
/// written again after the commit.
pub(crate) fn changed(tx: &Tx<'_>) {
    tx.cached::<AnyPause>().0.set(None);
    tx.defer(|changed: &mut PausesChanged| changed.0 = true);
}

/// The content of the pause file; `None` without any pause.
fn to_note(tx: &Tx<'_>) -> Result<Option<Pauses>, OpError> {
    if !any(tx)? {
        return Ok(None);
    }
    // Expired pauses do no harm: hooks check the end of each.
    let pauses = list(tx, i64::MIN)?;
    let aliases = match pauses.iter().any(|pause| pause.project.is_some()) {
        true => projects::leads(tx)?,
        false => BTreeMap::new(),
    };
    Ok(Some(Pauses { pauses, aliases }))
}

/// Writes the pause file, or deletes it once capture is resumed everywhere. If writing fails, events of paused projects are dropped
/// when they are ingested.
fn note(file: &Path, pauses: Option<&Pauses>) -> io::Result<()> {
    let Some(pauses) = pauses else { return fs::remove_file(file) };
    let new = Scratch::beside(file, "new");
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options.open(&new.0)?.write_all(&serde_json::to_vec(pauses)?)?;
    fs::rename(&new.0, file)
}

/// The pauses in force now.
pub fn list(rx: &Rx<'_>, now: i64) -> Result<Vec<Pause>, OpError> {
    rx.sql(|db| db.prepare_cached(COLUMNS)?.query_map([now], read)?.collect())
}

/// Whether there is any pause, expired ones included. This is checked for every event, and there is
/// hardly ever one.
pub fn any(tx: &Tx<'_>) -> Result<bool, OpError> {
    const ANY: &str = "SELECT EXISTS (SELECT 1 FROM pauses)";
    let AnyPause(known) = &*tx.cached::<AnyPause>();
    if known.get().is_none() {
        known.set(Some(tx.sql(|db| db.prepare_cached(ANY)?.query_row([], |row| row.cell(0)))?));
    }
    Ok(known.get().unwrap_or_default())
}

/// Whether capture is paused now, in this project or everywhere.
pub fn holds(rx: &Rx<'_>, project: Option<i64>, now: i64) -> Result<bool, OpError> {
    Ok(list(rx, now)?.iter().any(|pause| pause.holds(project, now)))
}

fn read(row: &Row<'_>) -> rusqlite::Result<Pause> {
    let project: i64 = row.cell(0)?;
    Ok(Pause { project: (project != EVERYWHERE).then_some(project), until: row.cell(1)? })
}
