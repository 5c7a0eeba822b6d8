//! The session that a new one continues.

use std::ops::RangeInclusive;

use model::{OpError, limits};
use rusqlite::{OptionalExtension, params};

use crate::cells::Cells as _;
use crate::listed::is_listed;
use crate::tx::Rx;

/// The session of an agent in a project, other than `id`, that ended last within these times. A session that ended with
/// `/clear` is preferred.
pub fn ended_within(
    rx: &Rx<'_>,
    (project, agent): (i64, &str),
    id: i64,
    times: RangeInclusive<i64>,
) -> Result<Option<i64>, OpError> {
    const ENDED: &str = "SELECT id FROM sessions s WHERE project = ?1 AND agent = ?2 AND id <> ?3 \
         AND last_at >= ?4 AND ended_at BETWEEN ?4 AND ?5 \
         ORDER BY EXISTS (SELECT 1 FROM observations o WHERE o.session = s.id AND o.at >= ?4 \
         AND o.kind = 'session_end' AND o.metadata ->> 'reason' = 'clear') DESC, \
         ended_at DESC, id DESC LIMIT 1";
    let given = params![project, agent, id, times.start(), times.end()];
    rx.sql(|db| db.prepare_cached(ENDED)?.query_row(given, |row| row.cell(0)).optional())
}

/// The session of a project, other than `id`, that was active last, preferably before `now`. Later times were stored
/// before the clock was set back.
pub fn latest_before(rx: &Rx<'_>, project: i64, id: i64, now: i64) -> Result<Option<i64>, OpError> {
    let latest = format!(
        "SELECT id FROM sessions WHERE project = ?1 AND id <> ?2 AND {} AND last_at <= ?3 \
         ORDER BY last_at DESC, id DESC LIMIT 1",
        is_listed("sessions")
    );
    let until = |time: i64| {
        let given = params![project, id, time];
        rx.sql(|db| db.prepare_cached(&latest)?.query_row(given, |row| row.cell(0)).optional())
    };
    until(now.saturating_add(limits::CLOCK_SLACK_MS))?
        .map_or_else(|| until(i64::MAX), |id| Ok(Some(id)))
}
