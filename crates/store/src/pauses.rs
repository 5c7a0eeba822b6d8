//! Pauses in the store: where nothing is captured for a while.

use model::OpError;
use rusqlite::{Row, params};

use crate::tx::{Rx, Tx};

/// A pause, everywhere or of one project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// None for everywhere.
    pub project: Option<i64>,
    /// Milliseconds since 1970, UTC; none for a pause that somebody has to end.
    pub until: Option<i64>,
}

/// Stands for everywhere; no project has this id.
const EVERYWHERE: i64 = 0;
const COLUMNS: &str = "SELECT project, until FROM pauses WHERE (until IS NULL OR until > ?1)";

/// Begins a pause, or changes when it ends.
pub fn begin(tx: &Tx<'_>, pause: Pause) -> Result<(), OpError> {
    const BEGIN: &str = "INSERT INTO pauses (project, until) VALUES (?1, ?2) \
         ON CONFLICT (project) DO UPDATE SET until = excluded.until";
    let project = pause.project.unwrap_or(EVERYWHERE);
    tx.memo().paused.set(None);
    tx.sql(|db| db.execute(BEGIN, params![project, pause.until]).map(drop))
}

/// Ends a pause; says whether there was one.
pub fn end(tx: &Tx<'_>, project: Option<i64>) -> Result<bool, OpError> {
    let project = project.unwrap_or(EVERYWHERE);
    tx.memo().paused.set(None);
    tx.sql(|db| Ok(db.execute("DELETE FROM pauses WHERE project = ?1", [project])? == 1))
}

/// The pauses that hold now.
pub fn list(rx: &Rx<'_>, now: i64) -> Result<Vec<Pause>, OpError> {
    rx.sql(|db| db.prepare_cached(COLUMNS)?.query_map([now], read)?.collect())
}

/// Whether there is any pause, which is asked with every event and hardly ever so. One that is over
/// still counts.
pub fn any(tx: &Tx<'_>) -> Result<bool, OpError> {
    const ANY: &str = "SELECT EXISTS (SELECT 1 FROM pauses)";
    let known = &tx.memo().paused;
    if known.get().is_none() {
        known.set(Some(tx.sql(|db| db.prepare_cached(ANY)?.query_row([], |row| row.get(0)))?));
    }
    Ok(known.get().unwrap_or_default())
}

/// Whether nothing is captured now in this project, or anywhere.
pub fn holds(rx: &Rx<'_>, project: Option<i64>, now: i64) -> Result<bool, OpError> {
    let paused = list(rx, now)?;
    Ok(paused.iter().any(|pause| pause.project.is_none() || pause.project == project))
}

fn read(row: &Row<'_>) -> rusqlite::Result<Pause> {
    let project: i64 = row.get(0)?;
    Ok(Pause { project: (project != EVERYWHERE).then_some(project), until: row.get(1)? })
}
