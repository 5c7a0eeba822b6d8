//! Events in the store: one sequence, in the order of commits.

use model::event::{Event, Published};
use model::{OpError, limits};
use rusqlite::params;
use serde_json::Value;

use crate::aggregate::Aggregate;
use crate::cells::Cells as _;
use crate::table_info::TableInfo;
use crate::tx::{Rx, Tx};

/// The row of the registry.
pub(crate) struct Events;

impl Aggregate for Events {
    fn name(&self) -> &'static str {
        "events"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/events.sql")
    }

    fn tables(&self) -> &'static [TableInfo] {
        const TABLES: &[TableInfo] =
            &[TableInfo { name: "events", json: &["data"], ..TableInfo::PLAIN }];
        TABLES
    }

    fn emptied_notes(&self) -> &'static [(&'static str, &'static str)] {
        &[("events", "subject")]
    }

    fn prune(&self, tx: &Tx<'_>, _now: i64) -> Result<(), OpError> {
        trim(tx)
    }
}

const APPEND: &str = "INSERT INTO events (at, kind, subject, data) VALUES (?1, ?2, ?3, ?4)";
const TRIM: &str = "DELETE FROM events WHERE seq <= (SELECT max(seq) FROM events) - ?1";
pub(crate) const LAST: &str = "SELECT seq FROM sqlite_sequence WHERE name = 'events'";

impl Tx<'_> {
    /// Notes an event and returns its sequence number. Kind, subject and reason are stored in this transaction; the
    /// event is published after COMMIT. If this run is not committed, nothing is noted.
    pub fn note(&self, event: Event) -> Result<u64, OpError> {
        let Event { kind, subject, reason, project, data } = event;
        let at = self.at();
        // The column is JSON because it once held all data of an event.
        let stored = reason.map_or(Value::Null, Value::from).to_string();
        let row = params![at, kind, subject, stored];
        let seq = self.sql(|db| db.prepare_cached(APPEND)?.insert(row))?;
        let seq = u64::try_from(seq).unwrap_or_default();
        let (kind, reason) = (kind.to_owned(), reason.map(str::to_owned));
        self.publish(Published { seq, at, kind, subject, reason, project, data });
        Ok(seq)
    }
}

/// Resets the sequence to the last sound event if its number is out of range, which only damage causes.
pub(crate) fn repair_sequence(tx: &Tx<'_>) -> Result<(), OpError> {
    const FORGET: &str = "DELETE FROM events WHERE seq > ?1";
    const RESET: &str = "UPDATE sqlite_sequence SET seq = (SELECT coalesce(max(seq), 0) FROM events) \
         WHERE name = 'events'";
    if last_seq(tx)? <= limits::EVENT_NUMBER_MAX {
        return Ok(());
    }
    tx.sql(|db| {
        db.execute(FORGET, [limits::EVENT_NUMBER_MAX])?;
        db.execute(RESET, []).map(drop)
    })
}

/// The last number that was given out; 0 before the first.
pub(crate) fn last_seq(rx: &Rx<'_>) -> Result<u64, OpError> {
    rx.sql(|db| {
        let mut statement = db.prepare_cached(LAST)?;
        let mut rows = statement.query([])?;
        rows.next()?.map_or(Ok(0), |row| row.cell(0))
    })
}

/// Continues the sequence after `seq` if the last number in the file is lower, as in an older copy, so that subscribers
/// and versions never see it run backwards. Then returns a number that no event has, as a version for contexts that may
/// differ now.
pub(crate) fn go_on_after(tx: &Tx<'_>, seq: u64) -> Result<Option<u64>, OpError> {
    if seq <= last_seq(tx)? {
        return Ok(None);
    }
    reserve_after(tx, seq).map(Some)
}

/// Reserves a number after `seq` and after the last one in the file. No event has it.
pub(crate) fn reserve_after(tx: &Tx<'_>, seq: u64) -> Result<u64, OpError> {
    let next = seq.max(last_seq(tx)?).saturating_add(1);
    tx.sql(|db| {
        db.execute("DELETE FROM sqlite_sequence WHERE name = 'events'", [])?;
        db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('events', ?1)", [next])
    })?;
    Ok(next)
}

/// Empties the subject of the events about a session that is deleted.
pub(crate) fn forget_session(tx: &Tx<'_>, name: &str) -> Result<(), OpError> {
    const FORGET: &str = "UPDATE events SET subject = '' WHERE subject = ?1";
    tx.sql(|db| db.prepare_cached(FORGET)?.execute([format!("session://{name}")]).map(drop))
}

/// Removes the oldest events beyond those that are kept.
fn trim(tx: &Tx<'_>) -> Result<(), OpError> {
    tx.sql(|db| db.prepare_cached(TRIM)?.execute([limits::EVENTS_KEPT]))?;
    Ok(())
}
