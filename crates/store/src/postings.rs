//! The tables of postings: which passages have a stem, and how often. A query for any of several words adds up the
//! scores of a few short blobs ([`index::postings`]), and is exact.
//!
//! Postings are stored in blocks of passages, so that new passages change few pages.

use std::collections::BTreeMap;
use std::ops::Range;

use index::postings::{Division, HEAD, TermLists, count, empty, ends_as_it_says, push};
use rusqlite::{Connection, OptionalExtension, params};
use text::terms::Terms;

use crate::cells::{Cells as _, RawText};

pub(crate) mod soundness;

/// How many passages a block has. Tests have few passages, and need several blocks of them.
pub(crate) const DIVISION: Division = Division { block: if cfg!(test) { 256 } else { 16_384 } };
const BLOCK: usize = DIVISION.block;

const OF_TERM: &str = "SELECT entries FROM postings WHERE block = ?1 AND term = ?2";
const OF_BEGINNING: &str =
    "SELECT entries, term FROM postings WHERE block = ?1 AND term >= ?2 AND term < ?3";
const OF_BLOCK: &str = "SELECT term, entries FROM postings WHERE block = ?1";
const PUT: &str = "INSERT INTO postings (block, term, entries) VALUES (?1, ?2, ?3) \
     ON CONFLICT (block, term) DO UPDATE SET entries = excluded.entries";
const REMOVE: &str = "DELETE FROM postings WHERE block = ?1 AND term = ?2";

/// Postings to be written: for each block and stem the places of passages, in order.
#[derive(Default)]
pub(crate) struct Batch(BTreeMap<(usize, String), Vec<(u16, u8)>>);

impl Batch {
    /// Adds a passage. Before [`Batch::write`], add passages in ascending order of their ids.
    pub(crate) fn add(&mut self, passage: usize, terms: Terms) {
        let (block, place) = DIVISION.place_of(passage);
        for (term, twice) in terms.twice {
            self.0.entry((block, term)).or_default().push((place, twice));
        }
    }

    /// Whether all of it is stored where a removal of its passages expects it, in lists whose head agrees with
    /// their entries.
    pub(crate) fn is_stored(&self, db: &Connection) -> rusqlite::Result<bool> {
        for ((block, term), places) in &self.0 {
            let mut places = places.clone();
            places.sort_unstable();
            let mut missing = places.into_iter().peekable();
            let mut whole = true;
            in_block(db, *block, term, |blob| {
                let (mut found, mut last) = (0, None);
                for (place, twice) in DIVISION.entries(blob) {
                    missing.next_if(|(at, times)| usize::from(*at) == place && *times == twice);
                    (found, last) = (found + 1, Some(place));
                }
                whole = ends_as_it_says(blob, found, last);
            })?;
            if !whole || missing.peek().is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(crate) fn write(self, db: &Connection) -> rusqlite::Result<()> {
        let mut known = db.prepare_cached(OF_TERM)?;
        let mut put = db.prepare_cached(PUT)?;
        for ((block, term), places) in self.0 {
            debug_assert!(is_ascending(&places), "a passage was added before an earlier one");
            let given = params![block, term];
            let stored: Option<Vec<u8>> = known.query_row(given, |row| row.cell(0)).optional()?;
            let mut blob = stored.filter(|blob| blob.len() >= HEAD).unwrap_or_else(empty);
            places.into_iter().for_each(|(place, twice)| push(&mut blob, place, twice));
            put.execute(params![block, term, blob])?;
        }
        Ok(())
    }
}

/// Whether each place is after the one before it: distances are stored, and they cannot be negative.
fn is_ascending(places: &[(u16, u8)]) -> bool {
    places.is_sorted_by(|(place, _), (next, _)| place < next)
}

/// The numbers of the blocks that this many passages fill. A block with a higher number is damage: a search must not
/// visit all block numbers up to it.
pub(crate) fn blocks(passages: usize) -> Range<usize> {
    0..passages.div_ceil(BLOCK)
}

/// The posting lists of a stem in `blocks`, in order.
pub(crate) fn of_term(
    db: &Connection,
    blocks: Range<usize>,
    term: &str,
) -> rusqlite::Result<TermLists> {
    let mut lists = Vec::new();
    for block in blocks {
        in_block(db, block, term, |blob| lists.push((block, blob.to_vec())))?;
    }
    Ok(TermLists { division: DIVISION, lists })
}

/// The posting lists of all stems in a half-open range, ordered by block.
pub(crate) fn of_range(
    db: &Connection,
    blocks: Range<usize>,
    range: (&str, &str),
) -> rusqlite::Result<TermLists> {
    let mut lists = Vec::new();
    for block in blocks {
        range_in_block(db, block, range, |_, blob| {
            lists.push((block, blob.to_vec()));
            true
        })?;
    }
    Ok(TermLists { division: DIVISION, lists })
}

/// Calls `each` with the posting list of a stem in a block, if there is one.
pub(crate) fn in_block(
    db: &Connection,
    block: usize,
    term: &str,
    each: impl FnOnce(&[u8]),
) -> rusqlite::Result<()> {
    let mut select = db.prepare_cached(OF_TERM)?;
    let mut rows = select.query(params![block, term])?;
    if let Some(row) = rows.next()? {
        each(row.blob(0)?);
    }
    Ok(())
}

/// Calls `each` with the posting lists of all stems in a half-open range in a block, with their stems, until it
/// returns false.
pub(crate) fn range_in_block(
    db: &Connection,
    block: usize,
    (first, behind): (&str, &str),
    mut each: impl FnMut(&str, &[u8]) -> bool,
) -> rusqlite::Result<()> {
    let mut select = db.prepare_cached(OF_BEGINNING)?;
    let mut rows = select.query(params![block, first, behind])?;
    while let Some(row) = rows.next()? {
        if !each(&row.text(1)?, row.blob(0)?) {
            break;
        }
    }
    Ok(())
}

/// Removes the postings of these passages, which are sorted.
pub(crate) fn take_out(db: &Connection, passages: &[usize]) -> rusqlite::Result<()> {
    debug_assert!(passages.is_sorted(), "passages to remove are searched by bisection");
    for gone in passages.chunk_by(|a, b| a / BLOCK == b / BLOCK) {
        let Some(block) = gone.first().map(|first| first / BLOCK) else { continue };
        let rows: Vec<(RawText, Vec<u8>)> = db
            .prepare_cached(OF_BLOCK)?
            .query_map([block], |row| Ok((row.cell(0)?, row.cell(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        for (term, blob) in rows {
            let kept = DIVISION.without(&blob, block, gone);
            if count(&kept) == 0 {
                db.prepare_cached(REMOVE)?.execute(params![block, term])?;
            } else if count(&kept) < count(&blob) {
                db.prepare_cached(PUT)?.execute(params![block, term, kept])?;
            }
        }
    }
    Ok(())
}
