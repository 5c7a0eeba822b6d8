//! Finds damaged posting lists.

use rusqlite::Connection;

use super::{BLOCK, PACK, PART_HEAD, entries, head, parts};
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
                true => is_sound_row(number, blob, is_known),
                false => is_sound_list(number, blob, is_known),
            };
            if !sound {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn is_sound_row(pack: usize, row: &[u8], is_known: &dyn Fn(usize) -> bool) -> bool {
    let mut length = 0;
    let sound = parts(pack, row).all(|(block, blob)| {
        length += PART_HEAD + blob.len();
        is_sound_list(block, blob, is_known)
    });
    sound && length > 0 && length == row.len()
}

fn is_sound_list(block: usize, blob: &[u8], is_known: &dyn Fn(usize) -> bool) -> bool {
    let (mut found, mut last) = (0, None);
    for (place, _) in entries(blob) {
        let passage = block.saturating_mul(BLOCK).saturating_add(place);
        if last.is_some_and(|last| place <= last) || !is_known(passage) {
            return false;
        }
        (found, last) = (found + 1, Some(place));
    }
    ends_as_it_says(blob, found, last)
}

/// Whether a list of so many entries, with this last place, has the count and the place in its head.
pub(super) fn ends_as_it_says(blob: &[u8], found: usize, last: Option<usize>) -> bool {
    let (count, end) = head(blob);
    found == usize::from(count) && last == Some(usize::from(end))
}

#[cfg(test)]
mod tests {
    use super::super::{empty, push};
    use super::*;

    #[test]
    fn a_flipped_bit_in_a_list_of_passages_is_noticed() {
        let mut blob = empty();
        [(3, 2), (9, 1), (200, 2)]
            .iter()
            .for_each(|(place, twice)| push(&mut blob, *place, *twice));
        let is_sound =
            |blob: &[u8]| is_sound_list(0, blob, &|passage| [3, 9, 200].contains(&passage));
        assert!(is_sound(&blob));
        // The last bits of a count say how often a word occurs, which changes no result but its rank.
        let counts: Vec<usize> = vec![6];
        for at in (0..blob.len()).filter(|at| !counts.contains(at)) {
            for bit in 0..8 {
                let mut damaged = blob.clone();
                damaged[at] ^= 1 << bit;
                assert!(!is_sound(&damaged), "byte {at}, bit {bit}");
            }
        }
        assert!(!is_sound(&[]) && !is_sound(&empty()));
    }
}
