//! Jobs in the store: which long operations ran, and how they ended. Their progress is in memory only.

use model::job::{Job, JobState};
use model::{OpError, limits};
use rusqlite::{Row, params};

use crate::aggregate::Aggregate;
use crate::cells::Cells as _;
use crate::tx::{Rx, Tx};

/// The row of the registry.
pub(crate) struct Jobs;

impl Aggregate for Jobs {
    fn name(&self) -> &'static str {
        "job_runs"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/jobs.sql")
    }
}

/// Notes that an operation is queued as a job, and removes the oldest jobs beyond those that are kept.
pub fn queue(tx: &Tx<'_>, op: &str, at: i64) -> Result<i64, OpError> {
    const QUEUE: &str = "INSERT INTO job_runs (op, state, started_at) VALUES (?1, 'waiting', ?2)";
    const TRIM: &str = "DELETE FROM job_runs WHERE state NOT IN ('waiting', 'running') \
         AND id <= (SELECT max(id) FROM job_runs) - ?1";
    tx.sql(|db| {
        let id = db.prepare_cached(QUEUE)?.insert(params![op, at])?;
        db.prepare_cached(TRIM)?.execute([limits::JOBS_KEPT])?;
        Ok(id)
    })
}

/// Notes that a waiting job starts. Returns false if it does not wait any more, because it was cancelled.
pub fn start(tx: &Tx<'_>, id: i64, at: i64) -> Result<bool, OpError> {
    const START: &str = "UPDATE job_runs SET state = 'running', started_at = ?2 \
         WHERE id = ?1 AND state = 'waiting'";
    tx.sql(|db| db.prepare_cached(START)?.execute([id, at])).map(|changed| changed > 0)
}

/// Notes how a job ended, or that it was cancelled while it waited. Returns false if it had ended already.
pub fn end(
    tx: &Tx<'_>,
    id: i64,
    (state, why): (JobState, Option<&str>),
    at: i64,
) -> Result<bool, OpError> {
    const END: &str = "UPDATE job_runs SET state = ?2, why = ?3, ended_at = ?4 \
         WHERE id = ?1 AND state IN ('waiting', 'running')";
    tx.sql(|db| db.prepare_cached(END)?.execute(params![id, state.word(), why, at]))
        .map(|changed| changed > 0)
}

/// Marks jobs as failed that an earlier process did not end. Returns their ids.
pub fn fail_interrupted(tx: &Tx<'_>, at: i64) -> Result<Vec<i64>, OpError> {
    const FAIL: &str = "UPDATE job_runs SET state = 'failed', why = 'interrupted', ended_at = ?1 \
         WHERE state IN ('waiting', 'running') RETURNING id";
    tx.sql(|db| db.prepare_cached(FAIL)?.query_map([at], |row| row.cell(0))?.collect())
}

/// Ends the jobs that a restored backup has as waiting or running. The backup job itself copied its row while it was
/// running; the copy exists, so the job succeeded.
pub fn end_restored(tx: &Tx<'_>, at: i64) -> Result<(), OpError> {
    const DONE: &str = "UPDATE job_runs SET state = 'done', ended_at = ?1 \
         WHERE state = 'running' AND op = 'backup'";
    tx.sql(|db| db.execute(DONE, [at]))?;
    fail_interrupted(tx, at).map(drop)
}

/// The newest jobs, newest first.
pub fn list(rx: &Rx<'_>, limit: usize) -> Result<Vec<Job>, OpError> {
    const LIST: &str = "SELECT id, op, state, why, started_at, ended_at FROM job_runs \
         ORDER BY id DESC LIMIT ?1";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    rx.sql(|db| db.prepare_cached(LIST)?.query_map([limit], read)?.collect())
}

fn read(row: &Row<'_>) -> rusqlite::Result<Job> {
    let state: String = row.cell(2)?;
    Ok(Job {
        id: row.cell(0)?,
        op: row.cell(1)?,
        // The schema admits no other word; a damaged row counts as failed.
        state: JobState::parse(&state).unwrap_or(JobState::Failed),
        why: row.cell(3)?,
        started_at: row.cell(4)?,
        ended_at: row.cell(5)?,
        progress: None,
    })
}
