//! The one sequence of ids that sessions, prompts, observations and their passages share.

use model::OpError;
use rusqlite::OptionalExtension;

use crate::tx::Tx;

const LAST: &str = "SELECT last FROM record_ids";
const TAKE: &str = "UPDATE record_ids SET last = ?1";
/// In a database that lost the counter, for example by damage, it goes on after what is there.
const FIRST: &str = "INSERT INTO record_ids (only, last) SELECT 1, 1 + max( \
     (SELECT coalesce(max(id), 0) FROM observations), \
     (SELECT coalesce(max(id), 0) FROM prompts), \
     (SELECT coalesce(max(id), 0) FROM further_passages), \
     (SELECT coalesce(max(id), 0) FROM sessions)) RETURNING last";

/// An id that was never given out before.
pub(crate) fn next(tx: &Tx<'_>) -> Result<i64, OpError> {
    tx.sql(|db| {
        let one = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        match db.prepare_cached(LAST)?.query_row([], one).optional()? {
            Some(last) => {
                db.prepare_cached(TAKE)?.execute([last + 1])?;
                Ok(last + 1)
            }
            None => db.query_row(FIRST, [], one),
        }
    })
}
