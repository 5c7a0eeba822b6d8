//! Retention: deletes records past their type's age limit, in small batches; pinned records are exempt.
//!
//! Summaries are not rebuilt here: they are what remains of a session whose details are deleted.

use std::time::{Duration, Instant};

use model::observation::{ObsType, RecordType};
use model::{OpError, limits};
use rusqlite::params;
use serde::Serialize;

use crate::aggregate::{Aggregate, Expiry};
use crate::cells::Cells as _;
use crate::projects;
use crate::tx::{Rx, Tx};

/// The row of the registry.
pub(crate) struct Sweeps;

impl Aggregate for Sweeps {
    fn name(&self) -> &'static str {
        "sweeps"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/sweeps.sql")
    }
}

/// The age limits and the size limit.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Days by kind where they differ from their defaults; 0 for ever.
    pub days: Vec<(RecordType, i64)>,
    /// Bytes the database may use; 0 for as many as it needs.
    pub bytes_max: u64,
}

impl Rules {
    /// Whether a record of this kind and time is within its age limit.
    pub fn keeps(&self, kind: ObsType, at: i64, now: i64) -> bool {
        let expiry = Expiry { days: &|kind| self.days(kind), now };
        at >= expiry.cutoff(kind.word(), kind.kept_days())
    }

    /// The setting for a kind, in days.
    fn days(&self, kind: &str) -> Option<i64> {
        self.days.iter().find(|(of, _)| of.word() == kind).map(|(_, days)| *days)
    }
}

/// A sweep of the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    pub removed: u64,
    pub finished: bool,
}

/// The last sweeps, the last first.
pub fn sweeps(rx: &Rx<'_>, limit: usize) -> Result<Vec<Sweep>, OpError> {
    const LAST: &str = "SELECT at, removed, finished FROM sweeps ORDER BY id DESC LIMIT ?1";
    rx.sql(|db| {
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Sweep { at: row.cell(0)?, removed: row.cell(1)?, finished: row.cell(2)? })
        };
        db.prepare_cached(LAST)?.query_map([limit], read)?.collect()
    })
}

/// The records that a sweep deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Swept {
    /// Counts of deleted records by kind.
    pub by_kind: Vec<(&'static str, u64)>,
    /// Whether no expired record is left.
    pub finished: bool,
}

impl Swept {
    /// Adds the counts of a sweep that continued this one.
    pub fn add(&mut self, next: Swept) {
        for (kind, count) in next.by_kind {
            self.note(kind, count);
        }
        self.finished = next.finished;
    }

    pub fn removed(&self) -> u64 {
        self.by_kind.iter().map(|(_, count)| count).sum()
    }

    fn note(&mut self, kind: &'static str, count: u64) {
        match self.by_kind.iter_mut().find(|(of, _)| *of == kind) {
            Some((_, sum)) => *sum += count,
            None if count > 0 => self.by_kind.push((kind, count)),
            None => {}
        }
    }
}

/// Whether a sweep is due: the last one is an hour ago, or a minute if it did not finish, so that a store
/// with many expired records does not spend all its time on them.
pub fn is_due(rx: &Rx<'_>, now: i64) -> Result<bool, OpError> {
    let Some(last) = sweeps(rx, 1)?.pop() else { return Ok(true) };
    let wait = if last.finished { limits::SWEEP_EVERY_MS } else { limits::SWEEP_AGAIN_MS };
    Ok(now.abs_diff(last.at) >= wait.unsigned_abs())
}

/// The time on this machine's clock, in milliseconds since 1970. The time of an event may be in the
/// future, which would make all other records look expired. So a sweep uses the earlier of that time and this one.
pub fn clock(rx: &Rx<'_>) -> Result<i64, OpError> {
    const CLOCK: &str = "SELECT CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)";
    rx.sql(|db| db.prepare_cached(CLOCK)?.query_row([], |row| row.cell(0)))
}

/// Deletes expired records and those over the size limit, until none is left or the time is used up.
pub fn sweep(tx: &Tx<'_>, rules: &Rules, now: i64, budget: Duration) -> Result<Swept, OpError> {
    let deadline = Instant::now() + budget;
    let mut swept = Swept::default();
    swept.finished = sweep_old(tx, rules, now, deadline, &mut swept)?
        && sweep_excess(tx, rules, deadline, &mut swept)?;
    tx.registry().iter().try_for_each(|aggregate| aggregate.after_sweep(tx, now))?;
    tx.sql(|db| {
        db.execute(
            "INSERT INTO sweeps (at, removed, finished) VALUES (?1, ?2, ?3)",
            params![now, i64::try_from(swept.removed()).unwrap_or(i64::MAX), swept.finished],
        )?;
        let trim = "DELETE FROM sweeps WHERE id <= (SELECT max(id) FROM sweeps) - ?1";
        db.execute(trim, [limits::SWEEPS_KEPT])
    })?;
    Ok(swept)
}

/// Deletes expired records, children before parents; false when the time is used up.
fn sweep_old(
    tx: &Tx<'_>,
    rules: &Rules,
    now: i64,
    deadline: Instant,
    swept: &mut Swept,
) -> Result<bool, OpError> {
    let expiry = Expiry { days: &|kind| rules.days(kind), now };
    for project in projects::ids(tx)? {
        for records in tx.registry().records() {
            loop {
                let batch = records.expired(tx, project, &expiry, limits::SWEEP_BATCH)?;
                if batch.is_empty() {
                    break;
                }
                for (id, kind) in batch {
                    swept.note(kind, 1);
                    records.remove(tx, id)?;
                }
                if Instant::now() >= deadline {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

/// Deletes the oldest records of the kinds that list them ([`Records::oldest`](crate::Records::oldest)), until the database
/// is within its size limit or has none left; false when the time is used up.
fn sweep_excess(
    tx: &Tx<'_>,
    rules: &Rules,
    deadline: Instant,
    swept: &mut Swept,
) -> Result<bool, OpError> {
    while rules.bytes_max > 0 && used_bytes(tx)? > rules.bytes_max {
        if Instant::now() >= deadline {
            return Ok(false);
        }
        let mut is_empty = true;
        for records in tx.registry().records() {
            for (id, kind) in records.oldest(tx, limits::SWEEP_BATCH)? {
                is_empty = false;
                swept.note(kind, 1);
                records.remove(tx, id)?;
            }
        }
        if is_empty {
            return Ok(true);
        }
    }
    Ok(true)
}

/// Bytes of the pages that are in use.
fn used_bytes(rx: &Rx<'_>) -> Result<u64, OpError> {
    rx.sql(|db| {
        let number = |pragma: &str| db.pragma_query_value(None, pragma, |row| row.cell::<u64>(0));
        let pages = number("page_count")?.saturating_sub(number("freelist_count")?);
        Ok(pages.saturating_mul(number("page_size")?))
    })
}
