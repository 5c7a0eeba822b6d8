//! The one sequence of ids that sessions, prompts and observations share.

use model::OpError;

use crate::cells::Cells as _;
use crate::tx::Tx;

/// If the counter is lost or damaged, ids continue after the highest one in use.
const LAST: &str = "SELECT max( \
     coalesce((SELECT last FROM record_ids WHERE typeof(last) = 'integer'), 0), \
     (SELECT coalesce(max(id), 0) FROM observations), \
     (SELECT coalesce(max(id), 0) FROM prompts), \
     (SELECT coalesce(max(id), 0) FROM sessions))";
const KEEP: &str = "INSERT INTO record_ids (only, last) VALUES (1, ?1) \
     ON CONFLICT (only) DO UPDATE SET last = excluded.last";

/// An id that was never given out before.
pub(crate) fn next(tx: &Tx<'_>) -> Result<i64, OpError> {
    let last = &tx.memo().last_id;
    let known = match last.get() {
        Some(known) => known,
        None => tx.sql(|db| db.prepare_cached(LAST)?.query_row([], |row| row.cell(0)))?,
    };
    last.set(Some(known + 1));
    Ok(known + 1)
}

/// Writes down, at the end of a group, how far it came.
pub(crate) fn keep(tx: &Tx<'_>) -> Result<(), OpError> {
    match tx.memo().last_id.get() {
        Some(last) => tx.sql(|db| db.prepare_cached(KEEP)?.execute([last]).map(drop)),
        None => Ok(()),
    }
}
