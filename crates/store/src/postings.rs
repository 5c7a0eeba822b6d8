//! Postings: which passages have a stem and how often, in blocks, so that a query for any of several
//! words is answered by adding up, exactly and in the time that it takes to read a few short blobs.
//!
//! An entry is the distance from the passage before, doubled, plus one if the stem counts for more or
//! less than one word; then a byte says twice how much. A blob begins with the number of its entries
//! and the place of the last one in the block, two bytes each.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, params};
use text::terms::Terms;

/// Passages of a block.
pub(crate) const BLOCK: usize = 8_192;

const HEAD: usize = 4;
/// What a word counts that stands in the passage once.
const ONE_WORD: u8 = 2;

pub(crate) const OF_TERM: &str = "SELECT entries FROM postings WHERE block = ?1 AND term = ?2";
pub(crate) const OF_BEGINNING: &str =
    "SELECT entries, term FROM postings WHERE block = ?1 AND term >= ?2 AND term < ?3";
const OF_BLOCK: &str = "SELECT term, entries FROM postings WHERE block = ?1";
const PUT: &str = "INSERT INTO postings (block, term, entries) VALUES (?1, ?2, ?3) \
     ON CONFLICT (block, term) DO UPDATE SET entries = excluded.entries";
const REMOVE: &str = "DELETE FROM postings WHERE block = ?1 AND term = ?2";

/// What is about to be written: for each block and stem the places of passages, in order.
#[derive(Default)]
pub(crate) struct Batch(BTreeMap<(usize, String), Vec<(u16, u8)>>);

impl Batch {
    /// Adds a passage that comes after all others.
    pub(crate) fn add(&mut self, passage: usize, terms: Terms) {
        let (block, place) = place_of(passage);
        for (term, twice) in terms.twice {
            self.0.entry((block, term)).or_default().push((place, twice));
        }
    }

    pub(crate) fn write(self, db: &Connection) -> rusqlite::Result<()> {
        let mut known = db.prepare_cached(OF_TERM)?;
        let mut put = db.prepare_cached(PUT)?;
        for ((block, term), places) in self.0 {
            let given = params![block, term];
            let mut blob: Vec<u8> =
                known.query_row(given, |row| row.get(0)).optional()?.unwrap_or_else(empty);
            places.into_iter().for_each(|(place, twice)| push(&mut blob, place, twice));
            put.execute(params![block, term, blob])?;
        }
        Ok(())
    }
}

fn place_of(passage: usize) -> (usize, u16) {
    (passage / BLOCK, u16::try_from(passage % BLOCK).unwrap_or_default())
}

fn empty() -> Vec<u8> {
    vec![0; HEAD]
}

fn head(blob: &[u8]) -> (u16, u16) {
    match blob {
        [a, b, c, d, ..] => (u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d])),
        _ => (0, 0),
    }
}

/// How many passages an entry list has.
pub(crate) fn count(blob: &[u8]) -> usize {
    usize::from(head(blob).0)
}

fn push(blob: &mut Vec<u8>, place: u16, twice: u8) {
    let (count, last) = head(blob);
    let distance = u32::from(place - if count == 0 { 0 } else { last });
    let mut code = distance << 1 | u32::from(twice != ONE_WORD);
    while code >= 0x80 {
        blob.push(code as u8 | 0x80);
        code >>= 7;
    }
    blob.push(code as u8);
    if twice != ONE_WORD {
        blob.push(twice);
    }
    let (count, place) = ((count + 1).to_le_bytes(), place.to_le_bytes());
    blob.splice(..HEAD, count.into_iter().chain(place));
}

/// The places of passages in their block, and twice how much the stem counts in each.
pub(crate) fn entries(blob: &[u8]) -> impl Iterator<Item = (usize, u8)> + '_ {
    let mut rest = blob.get(HEAD..).unwrap_or_default().iter();
    let mut place = 0;
    std::iter::from_fn(move || {
        let (mut code, mut shift) = (0_usize, 0);
        loop {
            let byte = usize::from(*rest.next()?);
            code |= (byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
            shift += 7;
            // Only damage makes a number this long.
            if shift > 21 {
                return None;
            }
        }
        place += code >> 1;
        let twice = if code & 1 == 0 { ONE_WORD } else { *rest.next()? };
        (place < BLOCK).then_some((place, twice))
    })
}

/// Takes passages out, which are in order, so that nothing of their words is left.
pub(crate) fn take_out(db: &Connection, passages: &[usize]) -> rusqlite::Result<()> {
    for gone in passages.chunk_by(|a, b| a / BLOCK == b / BLOCK) {
        let Some(block) = gone.first().map(|first| first / BLOCK) else { continue };
        let rows: Vec<(String, Vec<u8>)> = db
            .prepare_cached(OF_BLOCK)?
            .query_map([block], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        for (term, blob) in rows {
            let mut kept = empty();
            for (place, twice) in entries(&blob) {
                if gone.binary_search(&(block * BLOCK + place)).is_err() {
                    push(&mut kept, u16::try_from(place).unwrap_or_default(), twice);
                }
            }
            if count(&kept) == 0 {
                db.prepare_cached(REMOVE)?.execute(params![block, term])?;
            } else if count(&kept) < count(&blob) {
                db.prepare_cached(PUT)?.execute(params![block, term, kept])?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_out_as_they_went_in() {
        let given = [(0, 2), (1, 1), (130, 255), (8_000, 2), (8_191, 3)];
        let mut blob = empty();
        given.iter().for_each(|(place, twice)| push(&mut blob, *place, *twice));
        let expected = given.map(|(place, twice)| (usize::from(place), twice));
        assert_eq!(entries(&blob).collect::<Vec<_>>(), expected);
        assert_eq!(count(&blob), 5);
    }

    #[test]
    fn a_damaged_blob_ends_early_and_never_leads_out_of_its_block() {
        let damaged: [&[u8]; 5] =
            [&[], &[1], &[9, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff], &[1, 0, 0, 0, 3], &[0xff; 64]];
        for blob in damaged {
            assert!(entries(blob).all(|(place, _)| place < BLOCK), "{blob:?}");
        }
    }
}
