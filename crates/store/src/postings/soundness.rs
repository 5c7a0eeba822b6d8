//! Finds damaged posting lists.

use rusqlite::Connection;

use super::{BLOCK, DIVISION, PACK};
use crate::cells::Cells as _;

/// Whether there are postings of a block or pack that no passage up to the last one can be in. Two seeks in each
/// table.
pub(crate) fn are_beyond(db: &Connection, last: usize) -> rusqlite::Result<bool> {
    const BEYOND: &str = "SELECT EXISTS (SELECT 1 FROM postings WHERE block < 0) \
         OR EXISTS (SELECT 1 FROM postings WHERE block > ?1) \
         OR EXISTS (SELECT 1 FROM packed_postings WHERE pack < 0) \
         OR EXISTS (SELECT 1 FROM packed_postings WHERE pack > ?2)";
    let given = [last / BLOCK, last / (BLOCK * PACK)];
    db.prepare_cached(BEYOND)?.query_row(given, |row| row.cell(0))
}

/// Whether every posting list is well-formed, belongs to a block or pack that exists, and leads to known passages
/// only. Reads all of them.
pub(crate) fn are_sound(
    db: &Connection,
    is_known: &dyn Fn(usize) -> bool,
) -> rusqlite::Result<bool> {
    const LISTS: &str = "SELECT block, entries FROM postings";
    const ROWS: &str = "SELECT pack, entries FROM packed_postings";
    for (select, packed) in [(LISTS, false), (ROWS, true)] {
        let mut select = db.prepare(select)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let Ok(number) = usize::try_from(row.cell::<i64>(0)?) else { return Ok(false) };
            let blob = row.blob(1)?;
            let sound = match packed {
                true => DIVISION.is_sound_row(number, blob, is_known),
                false => DIVISION.is_sound_list(number, blob, is_known),
            };
            if !sound {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
