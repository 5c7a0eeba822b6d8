//! Records that a transcript only has because it ends there: the agent's last words are its answer unless the turn goes
//! on. When the file is read again, such a record is confirmed, replaced or removed, so that a file that was imported in
//! several steps leaves the same records as one that was imported at its end.
//!
//! The marks are rows of `origins` with the record's id as a negative number, so that they do not count as its origins;
//! they are deleted with the record.

use model::OpError;
use model::origin::Origin;
use rusqlite::{OptionalExtension, params};

use crate::cells::Cells as _;
use crate::origins::{self, KnownOrigin};
use crate::purge::{self, PurgeFilter};
use crate::tx::{Rx, Tx};

/// The mark of the record with this origin.
fn mark(origin: Origin) -> Origin {
    Origin::of(&["unfinished", &origin.to_string()])
}

/// The mark of the record with which this file ended.
fn end_of(file: Origin) -> Origin {
    Origin::of(&["unfinished end", &file.to_string()])
}

/// Whether the record with this origin may change.
pub fn is_unfinished(rx: &Rx<'_>, origin: Origin) -> Result<bool, OpError> {
    Ok(matches!(origins::find(rx, mark(origin))?, Some(KnownOrigin::Stored(_))))
}

/// Whether a later reading of the transcript has the same words as the record. Of two readings that both end
/// unfinished, the later one in the session counts.
pub fn is_as_read(
    rx: &Rx<'_>,
    record: i64,
    (text, at, unfinished): (&str, i64, bool),
) -> Result<bool, OpError> {
    const SAME: &str = "SELECT 1 FROM (SELECT id, content, at FROM observations \
           UNION ALL SELECT id, content, at FROM prompts) \
         WHERE id = ?1 AND (content = ?2 OR ?4 AND at > ?3)";
    rx.sql(|db| db.prepare_cached(SAME)?.exists(params![record, text, at, unfinished]))
}

/// Notes that a record may change when this file is read again. `origin` is the record's.
pub fn note(tx: &Tx<'_>, file: Option<Origin>, origin: Origin) -> Result<(), OpError> {
    let Some(KnownOrigin::Stored(record)) = origins::find(tx, origin)? else { return Ok(()) };
    origins::add(tx, mark(origin), -record, None)?;
    match file {
        Some(file) => origins::add(tx, end_of(file), -record, None),
        None => Ok(()),
    }
}

/// Notes that the record with this origin does not change any more.
pub fn confirm(tx: &Tx<'_>, origin: Origin) -> Result<(), OpError> {
    origins::drop_one(tx, mark(origin))
}

/// Removes the record with which this file ended when it was read before, if it is of one of these sessions and nothing
/// confirmed it. `kept` is the origin of the record with which the file ends now.
pub fn retract(
    tx: &Tx<'_>,
    file: Origin,
    sessions: &[String],
    kept: Option<Origin>,
) -> Result<(), OpError> {
    const SESSION: &str = "SELECT s.name FROM (SELECT id, session FROM observations \
         UNION ALL SELECT id, session FROM prompts) d JOIN sessions s ON s.id = d.session \
         WHERE d.id = ?1";
    let Some(KnownOrigin::Stored(marked)) = origins::find(tx, end_of(file))? else { return Ok(()) };
    let record = -marked;
    let all = origins::all_of(tx, record)?;
    if kept.is_some_and(|kept| all.contains(&kept)) {
        return Ok(());
    }
    origins::drop_one(tx, end_of(file))?;
    let mut unfinished = None;
    for origin in all {
        if is_unfinished(tx, origin)? {
            unfinished = Some(origin);
        }
    }
    let Some(origin) = unfinished else { return Ok(()) };
    let session: Option<String> =
        tx.sql(|db| db.prepare_cached(SESSION)?.query_row([record], |row| row.cell(0)).optional())?;
    match session.is_some_and(|session| sessions.contains(&session)) {
        true => remove(tx, origin, record),
        false => Ok(()),
    }
}

/// Removes a record, or this origin of it if it counts several equal ones.
pub fn remove(tx: &Tx<'_>, origin: Origin, record: i64) -> Result<(), OpError> {
    const FEWER: &str = "UPDATE observations SET count = count - 1 WHERE id = ?1 AND count > 1";
    const LESS: &str = "UPDATE import_batches SET added = max(added - 1, 0) WHERE id = ?1";
    let batch = origins::batch_of(tx, record)?;
    tx.sql(|db| db.prepare_cached(LESS)?.execute([batch]))?;
    origins::drop_one(tx, mark(origin))?;
    origins::drop_one(tx, origin)?;
    if tx.sql(|db| db.prepare_cached(FEWER)?.execute([record]))? > 0 {
        return Ok(());
    }
    let filter = PurgeFilter { ids: Some(vec![record]), ..PurgeFilter::default() };
    purge::undo(tx, &filter).map(drop)
}
