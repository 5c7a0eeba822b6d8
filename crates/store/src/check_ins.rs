//! Counters of tool calls by session and project, and the reminders of active ghaps that they make due.

use model::{OpError, limits};
use rusqlite::{OptionalExtension, Row, params};

use crate::aggregate::Aggregate;
use crate::cells::Cells as _;
use crate::ghaps;
use crate::table_info::TableInfo;
use crate::tx::{Rx, Tx};

/// The row of the registry.
pub(crate) struct CheckIns;

impl Aggregate for CheckIns {
    fn name(&self) -> &'static str {
        "check_ins"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/check_ins.sql")
    }

    fn tables(&self) -> &'static [TableInfo] {
        const TABLES: &[TableInfo] = &[TableInfo {
            name: "check_ins",
            links: &[("project", "projects"), ("session", "sessions")],
            ..TableInfo::PLAIN
        }];
        TABLES
    }

    /// A session that worked in both projects has one counter afterwards: calls and bases of both are added up.
    fn merge_project(&self, tx: &Tx<'_>, from: i64, into: i64) -> Result<(), OpError> {
        const MERGE: &str = "INSERT INTO check_ins (session, project, count, base, due, due_at) \
             SELECT session, ?2, count, base, due, due_at FROM check_ins WHERE project = ?1 \
             ON CONFLICT (session, project) DO UPDATE SET count = count + excluded.count, \
             base = base + excluded.base, due = max(due, excluded.due), due_at = max(due_at, excluded.due_at)";
        const CLEAR: &str = "DELETE FROM check_ins WHERE project = ?1";
        tx.sql(|db| {
            db.execute(MERGE, [from, into])?;
            db.execute(CLEAR, [from]).map(drop)
        })
    }

    /// Sessions and projects that were deleted need no counter.
    fn after_sweep(&self, tx: &Tx<'_>, _: i64) -> Result<(), OpError> {
        const LEFT: &str = "DELETE FROM check_ins \
             WHERE session NOT IN (SELECT id FROM sessions) \
             OR project NOT IN (SELECT id FROM projects)";
        tx.sql(|db| db.execute(LEFT, []).map(drop))
    }
}

/// The state of a counter after a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckInCount {
    pub count: u64,
    /// Whether this call made a reminder due.
    pub due: bool,
}

/// Counts a tool call. While a ghap is active, every tenth call since it began makes a reminder due.
pub fn count_call(
    tx: &Tx<'_>,
    session: i64,
    project: i64,
    now: i64,
) -> Result<CheckInCount, OpError> {
    // An update alone is cheaper than an insert that fails: nearly every call finds its counter.
    const COUNT: &str = "UPDATE check_ins SET count = count + 1 \
         WHERE session = ?1 AND project = ?2 RETURNING count, base";
    const FIRST: &str = "INSERT INTO check_ins (session, project, count) VALUES (?1, ?2, 1)";
    const DUE: &str =
        "UPDATE check_ins SET due = count, due_at = ?3 WHERE session = ?1 AND project = ?2";
    let counted: Option<(u64, u64)> = tx.sql(|db| {
        let mut counted = db.prepare_cached(COUNT)?;
        let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?));
        counted.query_row([session, project], read).optional()
    })?;
    let Some((count, base)) = counted else {
        tx.sql(|db| db.prepare_cached(FIRST)?.execute([session, project]))?;
        return Ok(CheckInCount { count: 1, due: false });
    };
    let since = count.saturating_sub(base);
    let is_tenth = since > 0 && since.is_multiple_of(limits::CHECK_IN_CALLS);
    let due = is_tenth && ghaps::has_active(tx, session, project)?;
    if due {
        tx.sql(|db| db.prepare_cached(DUE)?.execute(params![session, project, now]))?;
    }
    Ok(CheckInCount { count, due })
}

/// How many tool calls a session made in a project.
pub fn count(rx: &Rx<'_>, session: i64, project: i64) -> Result<u64, OpError> {
    const COUNT: &str = "SELECT count FROM check_ins WHERE session = ?1 AND project = ?2";
    let found: Option<u64> = rx.sql(|db| {
        let mut select = db.prepare_cached(COUNT)?;
        select.query_row([session, project], |row| row.cell(0)).optional()
    })?;
    Ok(found.unwrap_or_default())
}

/// Sets a counter to zero.
pub fn reset(tx: &Tx<'_>, session: i64, project: i64) -> Result<(), OpError> {
    const RESET: &str = "DELETE FROM check_ins WHERE session = ?1 AND project = ?2";
    tx.sql(|db| db.prepare_cached(RESET)?.execute([session, project]).map(drop))
}

/// Restarts the count of calls until the next reminder, because a ghap began or was adopted.
pub fn begin(tx: &Tx<'_>, session: i64, project: i64) -> Result<(), OpError> {
    const BEGIN: &str =
        "UPDATE check_ins SET base = count, due = 0 WHERE session = ?1 AND project = ?2";
    tx.sql(|db| db.prepare_cached(BEGIN)?.execute([session, project]).map(drop))
}

/// The number of the call that made a reminder due, if that reminder is not shown yet.
pub fn due(rx: &Rx<'_>, session: i64, project: i64) -> Result<Option<i64>, OpError> {
    const DUE: &str = "SELECT due FROM check_ins WHERE session = ?1 AND project = ?2 AND due > 0";
    rx.sql(|db| {
        let mut select = db.prepare_cached(DUE)?;
        select.query_row([session, project], |row| row.cell(0)).optional()
    })
}

/// Whether a reminder of any session became due since this time and is not shown yet.
pub fn any_due(rx: &Rx<'_>, since: i64) -> Result<bool, OpError> {
    const ANY: &str = "SELECT EXISTS (SELECT 1 FROM check_ins WHERE due > 0 AND due_at >= ?1)";
    rx.sql(|db| db.prepare_cached(ANY)?.query_row([since], |row| row.cell(0)))
}

/// Notes that the reminder of a session which became due at this call was shown.
pub fn shown(tx: &Tx<'_>, session: i64, due: i64) -> Result<(), OpError> {
    const SHOWN: &str = "UPDATE check_ins SET due = 0 WHERE session = ?1 AND due = ?2";
    tx.sql(|db| db.prepare_cached(SHOWN)?.execute([session, due]).map(drop))
}
