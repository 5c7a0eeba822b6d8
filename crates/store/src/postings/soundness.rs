//! Finds damaged posting lists.

use rusqlite::Connection;

use super::{BLOCK, DIVISION};
use crate::cells::Cells as _;

/// Whether there are postings of a block after that of the last passage, or of a negative block. Costs two index
/// lookups.
pub(crate) fn are_beyond(db: &Connection, last: usize) -> rusqlite::Result<bool> {
    const BEYOND: &str = "SELECT EXISTS (SELECT 1 FROM postings WHERE block < 0) \
         OR EXISTS (SELECT 1 FROM postings WHERE block > ?1)";
    db.prepare_cached(BEYOND)?.query_row([last / BLOCK], |row| row.cell(0))
}

/// Whether every posting list is well-formed, belongs to a block that exists, and leads to known passages only. Reads
/// all of them.
pub(crate) fn are_sound(
    db: &Connection,
    is_known: &dyn Fn(usize) -> bool,
) -> rusqlite::Result<bool> {
    let mut select = db.prepare("SELECT block, entries FROM postings")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let Ok(block) = usize::try_from(row.cell::<i64>(0)?) else { return Ok(false) };
        if !DIVISION.is_sound_list(block, row.blob(1)?, is_known) {
            return Ok(false);
        }
    }
    Ok(true)
}
