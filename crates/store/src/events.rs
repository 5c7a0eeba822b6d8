//! Events in the store: one sequence, in the order of commits.

use model::event::{Event, Published};
use model::{OpError, limits};
use rusqlite::params;

use crate::cells::Cells as _;
use crate::tx::{Rx, Tx};

const APPEND: &str = "INSERT INTO events (at, kind, subject, data) VALUES (?1, ?2, ?3, ?4)";
const TRIM: &str = "DELETE FROM events WHERE seq <= (SELECT max(seq) FROM events) - ?1";
pub(crate) const LAST: &str = "SELECT seq FROM sqlite_sequence WHERE name = 'events'";

/// Writes events and gives each its place in the sequence.
pub(crate) fn append(tx: &Tx<'_>, at: i64, events: &[Event]) -> Result<Vec<Published>, OpError> {
    let mut published = Vec::with_capacity(events.len());
    for event in events {
        let seq = tx.sql(|db| {
            db.prepare_cached(APPEND)?.insert(params![
                at,
                event.kind,
                event.subject,
                event.data.to_string()
            ])
        })?;
        published.push(Published {
            seq: u64::try_from(seq).unwrap_or_default(),
            at,
            kind: event.kind.to_owned(),
            subject: event.subject.clone(),
            data: event.data.clone(),
        });
    }
    Ok(published)
}

/// The last number that was given out; 0 before the first.
pub(crate) fn last_seq(rx: &Rx<'_>) -> Result<u64, OpError> {
    rx.sql(|db| {
        let mut statement = db.prepare_cached(LAST)?;
        let mut rows = statement.query([])?;
        rows.next()?.map_or(Ok(0), |row| row.cell(0))
    })
}

/// Lets the sequence go on after `seq` in a file that knows less, so that subscribers and versions
/// never see it run backwards.
pub(crate) fn go_on_after(tx: &Tx<'_>, seq: u64) -> Result<(), OpError> {
    if seq <= last_seq(tx)? {
        return Ok(());
    }
    tx.sql(|db| {
        db.execute("DELETE FROM sqlite_sequence WHERE name = 'events'", [])?;
        db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('events', ?1)", [seq])
    })?;
    Ok(())
}

/// Removes the oldest events beyond those that are kept.
pub(crate) fn trim(tx: &Tx<'_>) -> Result<(), OpError> {
    tx.sql(|db| db.prepare_cached(TRIM)?.execute([limits::EVENTS_KEPT]))?;
    Ok(())
}
