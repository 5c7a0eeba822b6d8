//! Counts of prompts and observations by half hour, project, agent, type and tool.
//!
//! The writer counts new records when it is idle, in batches by id, so no event pays for it. A reader adds the records
//! that are not counted yet, so its answer is exact at any time. A deleted record is subtracted at once. A change of
//! many records, such as a merge of projects, discards all counts, and the writer counts again.

use index::kind_of;
use model::observation::ObsType;
use model::{OpError, limits};
use rusqlite::{Connection, Row, params};

use crate::aggregate::Aggregate;
use crate::cells::Cells as _;
use crate::index_state::IndexState;
use crate::record_ids;
use crate::table_info::{TableInfo, TableRole};
use crate::tx::{Rx, Tx};

/// Milliseconds of a slot: time zones differ by whole or half hours, a few by quarters.
pub const SLOT_MS: i64 = 30 * 60 * 1000;

/// The row of the registry.
pub(crate) struct ActivityCounts;

impl Aggregate for ActivityCounts {
    fn name(&self) -> &'static str {
        "activity_counts"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/activity_counts.sql")
    }

    fn tables(&self) -> &'static [TableInfo] {
        const fn derived(name: &'static str) -> TableInfo {
            TableInfo { name, role: TableRole::Derived, ..TableInfo::PLAIN }
        }
        const TABLES: &[TableInfo] = &[
            derived("activity_keys"),
            derived("activity_counts"),
            derived("activity_totals"),
            derived("activity_counted"),
        ];
        TABLES
    }
}

/// The properties that records are counted by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActivityKey {
    pub project: i64,
    /// Empty if the session is lost.
    pub agent: String,
    pub kind: String,
    /// Empty if no tool made the record.
    pub tool: String,
}

/// The records of a key in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotCount {
    /// Slots since 1970, UTC.
    pub slot: i64,
    pub records: u64,
    pub failed: u64,
}

/// The records of a type in a project. Several totals may have the same project and type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypeTotal {
    pub(crate) project: i64,
    kind: String,
    pub(crate) records: u64,
}

impl TypeTotal {
    /// The type of these observations; none for prompts.
    pub(crate) fn observations(&self) -> Option<ObsType> {
        (self.kind != PROMPT).then(|| kind_of(&self.kind))
    }
}

pub(crate) const TOTALS: &str = "SELECT k.project, k.kind, t.records FROM activity_keys k \
     JOIN activity_totals t ON t.key = k.id";

/// The type that prompts are counted as.
const PROMPT: &str = "user_prompt";

/// The records with ids in the range `(?1, ?2]`, as they are counted. The casts accept damaged cells.
const RECORDS: &str = "SELECT CAST(o.project AS INTEGER) AS project, CAST(coalesce(s.agent, '') AS TEXT) AS agent, CAST(o.kind AS TEXT) AS kind, \
     CAST(coalesce(o.tool, '') AS TEXT) AS tool, CAST(o.at AS INTEGER) / ?3 AS slot, o.failed = 1 AS failed \
     FROM observations o LEFT JOIN sessions s ON s.id = o.session WHERE o.id > ?1 AND o.id <= ?2 \
     UNION ALL SELECT CAST(q.project AS INTEGER), CAST(coalesce(s.agent, '') AS TEXT), 'user_prompt', '', \
     CAST(q.at AS INTEGER) / ?3, 0 \
     FROM prompts q LEFT JOIN sessions s ON s.id = q.session WHERE q.id > ?1 AND q.id <= ?2";

/// The id of the last counted record.
fn counted(rx: &Rx<'_>) -> Result<i64, OpError> {
    const COUNTED: &str = "SELECT coalesce((SELECT last FROM activity_counted), 0)";
    rx.sql(|db| db.prepare_cached(COUNTED)?.query_row([], |row| row.cell(0)))
}

/// Whether more than one batch of records is not counted yet, or an earlier build stored counts without totals.
pub(crate) fn is_behind(rx: &Rx<'_>) -> Result<bool, OpError> {
    const LACKS_TOTALS: &str = "SELECT EXISTS (SELECT 1 FROM activity_counts) \
         AND NOT EXISTS (SELECT 1 FROM activity_totals)";
    let uncounted = record_ids::stored_last(rx)?.saturating_sub(counted(rx)?);
    let lacks_totals =
        || rx.sql(|db| db.prepare_cached(LACKS_TOTALS)?.query_row([], |row| row.cell(0)));
    Ok(uncounted > limits::COUNT_BATCH || lacks_totals()?)
}

/// Counts a batch of new records.
pub(crate) fn catch_up(tx: &Tx<'_>) -> Result<(), OpError> {
    const KEEP: &str = "INSERT INTO activity_counted (only, last) VALUES (1, ?1) \
         ON CONFLICT (only) DO UPDATE SET last = excluded.last";
    let (from, last) = (counted(tx)?, record_ids::stored_last(tx)?);
    if from > last {
        // Only damage produces this.
        return discard(tx);
    }
    fill_totals(tx)?;
    let to = last.min(from.saturating_add(limits::COUNT_BATCH));
    if to > from {
        add(tx, from, to)?;
        tx.sql(|db| db.prepare_cached(KEEP)?.execute([to]))?;
    }
    if to == last {
        tx.defer(|index: &mut IndexState| index.is_counted = true);
    }
    Ok(())
}

/// Sums up the counts of an earlier build, which counted without totals.
fn fill_totals(tx: &Tx<'_>) -> Result<(), OpError> {
    const FILL: &str = "INSERT INTO activity_totals (key, records) \
         SELECT key, sum(count) FROM activity_counts \
         WHERE NOT EXISTS (SELECT 1 FROM activity_totals) GROUP BY key";
    tx.sql(|db| db.prepare_cached(FILL)?.execute([]).map(drop))
}

/// Adds the records with ids in the range `(from, to]` to the counts.
fn add(tx: &Tx<'_>, from: i64, to: i64) -> Result<(), OpError> {
    fill_totals(tx)?;
    let keys = format!(
        "INSERT OR IGNORE INTO activity_keys (project, agent, kind, tool) \
         SELECT DISTINCT project, agent, kind, tool FROM ({RECORDS})"
    );
    let counts = format!(
        "INSERT INTO activity_counts (key, slot, count, failed) \
         SELECT k.id, r.slot, count(*), sum(r.failed) FROM ({RECORDS}) r JOIN activity_keys k \
         ON k.project = r.project AND k.agent = r.agent AND k.kind = r.kind AND k.tool = r.tool \
         WHERE true GROUP BY k.id, r.slot ON CONFLICT (key, slot) \
         DO UPDATE SET count = count + excluded.count, failed = failed + excluded.failed"
    );
    let totals = format!(
        "INSERT INTO activity_totals (key, records) SELECT k.id, count(*) \
         FROM ({RECORDS}) r JOIN activity_keys k \
         ON k.project = r.project AND k.agent = r.agent AND k.kind = r.kind AND k.tool = r.tool \
         WHERE true GROUP BY k.id ON CONFLICT (key) DO UPDATE SET records = records + excluded.records"
    );
    let range = params![from, to, SLOT_MS];
    tx.sql(|db| {
        db.prepare_cached(&keys)?.execute(range)?;
        db.prepare_cached(&counts)?.execute(range)?;
        db.prepare_cached(&totals)?.execute(range).map(drop)
    })
}

/// Counts a record again whose time changed; [`subtract`] was called before the change.
pub(crate) fn add_again(tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
    match id <= counted(tx)? {
        true => add(tx, id - 1, id),
        false => Ok(()),
    }
}

/// Subtracts a record that is about to be deleted, if it is counted. A key is deleted with its last counted record.
pub(crate) fn subtract(tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
    const DROP_COUNT: &str = "DELETE FROM activity_counts WHERE key = ?1 AND slot = ?2";
    const LESS_TOTAL: &str = "UPDATE activity_totals SET records = records - 1 WHERE key = ?1";
    const DROP_KEY: &str = "DELETE FROM activity_keys WHERE id = ?1 \
         AND NOT EXISTS (SELECT 1 FROM activity_counts WHERE key = ?1)";
    const DROP_TOTAL: &str = "DELETE FROM activity_totals WHERE key = ?1 \
         AND NOT EXISTS (SELECT 1 FROM activity_counts WHERE key = ?1)";
    if id > counted(tx)? {
        return Ok(());
    }
    let less = format!(
        "UPDATE activity_counts AS c SET count = c.count - 1, failed = c.failed - r.failed \
         FROM ({RECORDS}) r JOIN activity_keys k \
         ON k.project = r.project AND k.agent = r.agent AND k.kind = r.kind AND k.tool = r.tool \
         WHERE c.key = k.id AND c.slot = r.slot RETURNING key, slot, count"
    );
    let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?, row.cell(2)?));
    let left: Vec<(i64, i64, i64)> = tx.sql(|db| {
        db.prepare_cached(&less)?.query_map(params![id - 1, id, SLOT_MS], read)?.collect()
    })?;
    for (key, slot, count) in left {
        tx.sql(|db| {
            db.prepare_cached(LESS_TOTAL)?.execute([key])?;
            if count <= 0 {
                db.prepare_cached(DROP_COUNT)?.execute([key, slot])?;
                db.prepare_cached(DROP_TOTAL)?.execute([key])?;
                db.prepare_cached(DROP_KEY)?.execute([key])?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Discards all counts, because many records changed. The writer counts them again when it is idle.
pub(crate) fn discard(tx: &Tx<'_>) -> Result<(), OpError> {
    tx.sql(discard_in)?;
    tx.defer(|index: &mut IndexState| index.is_uncounted = true);
    Ok(())
}

/// Discards all counts of a database that no writer has opened.
pub(crate) fn discard_in(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(
        "DELETE FROM activity_counts; DELETE FROM activity_totals; DELETE FROM activity_keys; \
         DELETE FROM activity_counted;",
    )
}

/// Passes the counts of all slots from `slots.0` to `slots.1` (excluded) to `each`, in these projects or in all. A key
/// may occur twice.
pub fn visit(
    rx: &Rx<'_>,
    projects: Option<&[i64]>,
    slots: (i64, i64),
    each: &mut dyn FnMut(&ActivityKey, &[SlotCount]),
) -> Result<(), OpError> {
    const KEYS: &str = "SELECT project, agent, kind, tool, id FROM activity_keys";
    const COUNTS: &str = "SELECT slot, count, failed FROM activity_counts \
         WHERE key = ?1 AND slot >= ?2 AND slot < ?3";
    let is_wanted =
        |key: &ActivityKey| projects.is_none_or(|projects| projects.contains(&key.project));
    let keys: Vec<(ActivityKey, i64)> = rx.sql(|db| {
        let read = |row: &Row<'_>| Ok((key(row)?, row.cell(4)?));
        db.prepare_cached(KEYS)?.query_map([], read)?.collect()
    })?;
    let mut counts = Vec::new();
    for (key, id) in keys.iter().filter(|(key, _)| is_wanted(key)) {
        counts.clear();
        rx.sql(|db| {
            let mut select = db.prepare_cached(COUNTS)?;
            let mut rows = select.query(params![id, slots.0, slots.1])?;
            while let Some(row) = rows.next()? {
                counts.push(slot_count(row, 0)?);
            }
            Ok(())
        })?;
        if !counts.is_empty() {
            each(key, &counts);
        }
    }
    uncounted(rx, slots, &mut |key, count| {
        if is_wanted(key) {
            each(key, &[count]);
        }
    })
}

/// The number of records of each project and type, in any order; `None` while so many records are not counted yet that
/// a count of the tables costs less.
pub(crate) fn totals(rx: &Rx<'_>) -> Result<Option<Vec<TypeTotal>>, OpError> {
    if is_behind(rx)? {
        return Ok(None);
    }
    let uncounted =
        format!("SELECT project, kind, count(*) FROM ({RECORDS}) GROUP BY project, kind");
    let from = counted(rx)?;
    let read = |row: &Row<'_>| {
        Ok(TypeTotal { project: row.cell(0)?, kind: row.cell(1)?, records: row.cell(2)? })
    };
    rx.sql(|db| {
        let counted =
            db.prepare_cached(TOTALS)?.query_map([], read)?.collect::<Result<Vec<_>, _>>();
        let mut totals = counted?;
        let mut select = db.prepare_cached(&uncounted)?;
        for total in select.query_map(params![from, i64::MAX, SLOT_MS], read)? {
            totals.push(total?);
        }
        Ok(Some(totals))
    })
}

/// The records that are not counted yet.
fn uncounted(
    rx: &Rx<'_>,
    slots: (i64, i64),
    each: &mut dyn FnMut(&ActivityKey, SlotCount),
) -> Result<(), OpError> {
    let select = format!(
        "SELECT project, agent, kind, tool, slot, count(*), sum(failed) FROM ({RECORDS}) \
         WHERE slot >= ?4 AND slot < ?5 GROUP BY project, agent, kind, tool, slot"
    );
    let from = counted(rx)?;
    rx.sql(|db| {
        let mut select = db.prepare_cached(&select)?;
        let mut rows = select.query(params![from, i64::MAX, SLOT_MS, slots.0, slots.1])?;
        while let Some(row) = rows.next()? {
            each(&key(row)?, slot_count(row, 4)?);
        }
        Ok(())
    })
}

fn key(row: &Row<'_>) -> rusqlite::Result<ActivityKey> {
    let (project, agent) = (row.cell(0)?, row.cell(1)?);
    Ok(ActivityKey { project, agent, kind: row.cell(2)?, tool: row.cell(3)? })
}

fn slot_count(row: &Row<'_>, first: usize) -> rusqlite::Result<SlotCount> {
    let (slot, records) = (row.cell(first)?, row.cell(first + 1)?);
    Ok(SlotCount { slot, records, failed: row.cell(first + 2)? })
}
