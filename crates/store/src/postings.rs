//! The tables of postings: which passages have a stem and how often, in blocks, so that a query for any of several
//! words is answered by adding up, exactly and in the time that it takes to read a few short blobs
//! ([`index::postings`]).
//!
//! Postings are written in blocks, so that new passages change few pages. In a large store a search would
//! spend most of its time looking a stem up in one block after the other. So full blocks are merged into a
//! pack, in which a stem has one row.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use index::postings::{Division, HEAD, TermLists, count, empty, ends_as_it_says, push};
use rusqlite::{Connection, OptionalExtension, params};
use text::terms::Terms;

use crate::cells::{Cells as _, RawText};

pub(crate) mod soundness;

/// Passages of a block and blocks of a pack. Tests have few, and are to have several of them.
pub(crate) const DIVISION: Division =
    if cfg!(test) { Division { block: 256, pack: 3 } } else { Division { block: 8_192, pack: 8 } };
const BLOCK: usize = DIVISION.block;
const PACK: usize = DIVISION.pack;
/// Stems of each block that are packed in one go: it takes a few milliseconds, for which writes wait.
const PACKED_AT_ONCE: usize = 256;

const OF_TERM: &str = "SELECT entries FROM postings WHERE block = ?1 AND term = ?2";
const OF_BEGINNING: &str =
    "SELECT entries, term FROM postings WHERE block = ?1 AND term >= ?2 AND term < ?3";
const OF_BLOCK: &str = "SELECT term, entries FROM postings WHERE block = ?1";
const FIRST_OF_BLOCK: &str =
    "SELECT term, entries FROM postings WHERE block = ?1 ORDER BY term LIMIT ?2";
const PUT: &str = "INSERT INTO postings (block, term, entries) VALUES (?1, ?2, ?3) \
     ON CONFLICT (block, term) DO UPDATE SET entries = excluded.entries";
const REMOVE: &str = "DELETE FROM postings WHERE block = ?1 AND term = ?2";
const REMOVE_UNTIL: &str = "DELETE FROM postings WHERE block = ?1 AND term <= ?2";
const REMOVE_BLOCK: &str = "DELETE FROM postings WHERE block = ?1";

const PACK_OF_TERM: &str = "SELECT entries FROM packed_postings WHERE pack = ?1 AND term = ?2";
const PACK_OF_BEGINNING: &str =
    "SELECT entries, term FROM packed_postings WHERE pack = ?1 AND term >= ?2 AND term < ?3";
const OF_PACK: &str = "SELECT term, entries FROM packed_postings WHERE pack = ?1";
const PUT_PACK: &str = "INSERT INTO packed_postings (pack, term, entries) VALUES (?1, ?2, ?3) \
     ON CONFLICT (pack, term) DO UPDATE SET entries = excluded.entries";
const REMOVE_PACK: &str = "DELETE FROM packed_postings WHERE pack = ?1 AND term = ?2";

/// Postings to be written: for each block and stem the places of passages, in order.
#[derive(Default)]
pub(crate) struct Batch(BTreeMap<(usize, String), Vec<(u16, u8)>>);

impl Batch {
    /// Adds a passage. Its id is higher than all earlier ones.
    pub(crate) fn add(&mut self, passage: usize, terms: Terms) {
        let (block, place) = DIVISION.place_of(passage);
        for (term, twice) in terms.twice {
            self.0.entry((block, term)).or_default().push((place, twice));
        }
    }

    /// Whether all of it is stored where a removal of its passages looks for it, in lists that end as they say.
    pub(crate) fn is_stored(&self, db: &Connection) -> rusqlite::Result<bool> {
        for ((block, term), places) in &self.0 {
            let (block, mut places) = (*block, places.clone());
            places.sort_unstable();
            let mut missing = places.into_iter().peekable();
            let mut whole = true;
            let mut check = |of: usize, blob: &[u8]| {
                if of != block {
                    return;
                }
                let (mut found, mut last) = (0, None);
                for (place, twice) in DIVISION.entries(blob) {
                    missing.next_if(|(at, times)| usize::from(*at) == place && *times == twice);
                    (found, last) = (found + 1, Some(place));
                }
                whole &= ends_as_it_says(blob, found, last);
            };
            Section::Block(block).of_term(db, term, &mut check)?;
            Section::Pack(block / PACK).of_term(db, term, &mut check)?;
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

/// A part of all passages whose postings are read at a time.
#[derive(Clone, Copy)]
pub(crate) enum Section {
    Pack(usize),
    Block(usize),
}

/// Where postings are, as one snapshot has them.
pub(crate) struct Layout {
    packs: Range<usize>,
    /// From the first to the last one that has something which is not packed.
    blocks: Range<usize>,
}

impl Layout {
    /// The layout for `passages` passages. Numbers of packs and blocks beyond the last passage are damage and are
    /// left out: one row with a very high number would make every search visit all numbers before it.
    pub(crate) fn of(db: &Connection, passages: usize) -> rusqlite::Result<Layout> {
        const LAST_PACK: &str = "SELECT max(pack) FROM packed_postings WHERE pack BETWEEN 0 AND ?1";
        const BLOCKS: &str = "SELECT (SELECT min(block) FROM postings WHERE block >= 0), \
             (SELECT max(block) FROM postings WHERE block <= ?1)";
        let (last_block, last_pack) = (passages / BLOCK, passages / (BLOCK * PACK));
        let pack: Option<usize> =
            db.prepare_cached(LAST_PACK)?.query_row([last_pack], |row| row.cell(0))?;
        let (first, last): (Option<i64>, Option<i64>) = db
            .prepare_cached(BLOCKS)?
            .query_row([last_block], |row| Ok((row.cell(0)?, row.cell(1)?)))?;
        let behind = last.and_then(|last| usize::try_from(last).ok()).map_or(0, |last| last + 1);
        let first = first.and_then(|first| usize::try_from(first).ok()).unwrap_or(behind);
        Ok(Layout { packs: 0..pack.map_or(0, |pack| pack + 1), blocks: first..behind })
    }

    /// From the oldest passages to the newest. A partly built pack precedes its remaining blocks: a stem is
    /// either in the pack or in the blocks.
    fn sections(&self) -> impl Iterator<Item = Section> + use<> {
        let packs = self.packs.clone().map(Section::Pack);
        packs.chain(self.blocks.clone().map(Section::Block))
    }

    /// From the newest to the oldest: all that is in passages behind the end of one has been in those
    /// before it.
    pub(crate) fn newest_first(&self) -> Vec<Section> {
        let mut sections: Vec<Section> = self.sections().collect();
        sections.sort_unstable_by_key(|section| {
            (Reverse(section.end()), matches!(section, Section::Block(_)))
        });
        sections
    }

    /// The posting lists of a stem with their blocks, ordered by block.
    pub(crate) fn of_term(&self, db: &Connection, term: &str) -> rusqlite::Result<TermLists> {
        let mut lists = Vec::new();
        for section in self.sections() {
            section.of_term(db, term, &mut |block, blob| lists.push((block, blob.to_vec())))?;
        }
        Ok(TermLists { division: DIVISION, lists })
    }

    /// The posting lists of all stems in a half-open range, ordered by block.
    pub(crate) fn of_range(
        &self,
        db: &Connection,
        range: (&str, &str),
    ) -> rusqlite::Result<TermLists> {
        let mut lists = Vec::new();
        for section in self.sections() {
            section.of_range(db, range, &mut |_, block, blob| {
                lists.push((block, blob.to_vec()));
                true
            })?;
        }
        lists.sort_unstable_by_key(|(block, _)| *block);
        Ok(TermLists { division: DIVISION, lists })
    }
}

impl Section {
    /// The first passage after it.
    pub(crate) fn end(self) -> usize {
        match self {
            Section::Pack(pack) => pack.saturating_add(1).saturating_mul(PACK * BLOCK),
            Section::Block(block) => block.saturating_add(1).saturating_mul(BLOCK),
        }
    }

    /// Calls `each` with the posting lists of a stem and their blocks.
    pub(crate) fn of_term(
        self,
        db: &Connection,
        term: &str,
        each: &mut dyn FnMut(usize, &[u8]),
    ) -> rusqlite::Result<()> {
        let mut select = db.prepare_cached(match self {
            Section::Pack(_) => PACK_OF_TERM,
            Section::Block(_) => OF_TERM,
        })?;
        let mut rows = select.query(params![self.number(), term])?;
        if let Some(row) = rows.next()? {
            let blob = row.blob(0)?;
            match self {
                Section::Pack(pack) => {
                    DIVISION.parts(pack, blob).for_each(|(block, blob)| each(block, blob))
                }
                Section::Block(block) => each(block, blob),
            }
        }
        Ok(())
    }

    /// Calls `each` with the posting lists of all stems in a half-open range, with their stems and blocks,
    /// until it returns false.
    pub(crate) fn of_range(
        self,
        db: &Connection,
        (first, behind): (&str, &str),
        each: &mut dyn FnMut(&str, usize, &[u8]) -> bool,
    ) -> rusqlite::Result<()> {
        let mut select = db.prepare_cached(match self {
            Section::Pack(_) => PACK_OF_BEGINNING,
            Section::Block(_) => OF_BEGINNING,
        })?;
        let mut rows = select.query(params![self.number(), first, behind])?;
        while let Some(row) = rows.next()? {
            let (blob, term) = (row.blob(0)?, row.text(1)?);
            let goes_on = match self {
                Section::Pack(pack) => {
                    DIVISION.parts(pack, blob).all(|(block, blob)| each(&term, block, blob))
                }
                Section::Block(block) => each(&term, block, blob),
            };
            if !goes_on {
                break;
            }
        }
        Ok(())
    }

    fn number(self) -> usize {
        match self {
            Section::Pack(number) | Section::Block(number) => number,
        }
    }
}

/// The first block that is not packed.
fn first_loose(db: &Connection) -> rusqlite::Result<Option<usize>> {
    const FIRST: &str = "SELECT min(block) FROM postings WHERE block >= 0";
    db.prepare_cached(FIRST)?.query_row([], |row| row.cell(0))
}

/// The next pack to build: all of its blocks are full.
fn next_pack(db: &Connection) -> rusqlite::Result<Option<usize>> {
    const LAST: &str = "SELECT coalesce(max(id), 0) FROM passages";
    let Some(pack) = first_loose(db)?.map(|block| block / PACK) else { return Ok(None) };
    let last: usize = db.prepare_cached(LAST)?.query_row([], |row| row.cell(0))?;
    Ok((Section::Pack(pack).end() <= last).then_some(pack))
}

/// Whether there are full blocks that could be a pack.
pub(crate) fn is_loose(db: &Connection) -> rusqlite::Result<bool> {
    next_pack(db).map(|pack| pack.is_some())
}

/// Moves a batch of stems of full blocks into their pack. Returns whether there are more.
pub(crate) fn pack(db: &Connection) -> rusqlite::Result<bool> {
    let Some(pack) = next_pack(db)? else { return Ok(false) };
    let mut packed: BTreeMap<RawText, Vec<u8>> = BTreeMap::new();
    // The last stem that all blocks were read to.
    let mut until: Option<RawText> = None;
    for block in pack * PACK..(pack + 1) * PACK {
        let mut select = db.prepare_cached(FIRST_OF_BLOCK)?;
        let mut rows = select.query(params![block, PACKED_AT_ONCE])?;
        let (mut count, mut last) = (0, None);
        while let Some(row) = rows.next()? {
            let term: RawText = row.cell(0)?;
            DIVISION.push_part(packed.entry(term.clone()).or_default(), block, row.blob(1)?);
            (count, last) = (count + 1, Some(term));
        }
        if count == PACKED_AT_ONCE {
            until = until.into_iter().chain(last).min();
        }
    }
    for (term, row) in packed {
        if until.as_ref().is_none_or(|until| term <= *until) {
            db.prepare_cached(PUT_PACK)?.execute(params![pack, term, row])?;
        }
    }
    for block in pack * PACK..(pack + 1) * PACK {
        match &until {
            Some(until) => db.prepare_cached(REMOVE_UNTIL)?.execute(params![block, until])?,
            None => db.prepare_cached(REMOVE_BLOCK)?.execute([block])?,
        };
    }
    is_loose(db)
}

/// Takes passages out, which are in order, so that nothing of their words is left.
pub(crate) fn take_out(db: &Connection, passages: &[usize]) -> rusqlite::Result<()> {
    debug_assert!(passages.is_sorted(), "passages to remove are searched by bisection");
    for gone in passages.chunk_by(|a, b| a / BLOCK == b / BLOCK) {
        let Some(block) = gone.first().map(|first| first / BLOCK) else { continue };
        for (term, blob) in rows_of(db, OF_BLOCK, block)? {
            let kept = DIVISION.without(&blob, block, gone);
            if count(&kept) == 0 {
                db.prepare_cached(REMOVE)?.execute(params![block, term])?;
            } else if count(&kept) < count(&blob) {
                db.prepare_cached(PUT)?.execute(params![block, term, kept])?;
            }
        }
    }
    for gone in passages.chunk_by(|a, b| a / (BLOCK * PACK) == b / (BLOCK * PACK)) {
        let Some(pack) = gone.first().map(|first| first / (BLOCK * PACK)) else { continue };
        for (term, row) in rows_of(db, OF_PACK, pack)? {
            let mut kept = Vec::new();
            for (block, blob) in DIVISION.parts(pack, &row) {
                let blob = DIVISION.without(blob, block, gone);
                if count(&blob) > 0 {
                    DIVISION.push_part(&mut kept, block, &blob);
                }
            }
            if kept.is_empty() {
                db.prepare_cached(REMOVE_PACK)?.execute(params![pack, term])?;
            // Without an entry, the distance to the next one may take a byte more.
            } else if kept != row {
                db.prepare_cached(PUT_PACK)?.execute(params![pack, term, kept])?;
            }
        }
    }
    Ok(())
}

fn rows_of(db: &Connection, sql: &str, number: usize) -> rusqlite::Result<Vec<(RawText, Vec<u8>)>> {
    let mut select = db.prepare_cached(sql)?;
    select.query_map([number], |row| Ok((row.cell(0)?, row.cell(1)?)))?.collect()
}

#[cfg(test)]
mod tests {
    use index::postings::ONE_WORD;

    use super::*;

    #[test]
    fn a_passage_leaves_a_pack_even_if_the_row_stays_as_long() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("schema/passages.sql")).unwrap();
        let mut blob = empty();
        [1, 40, 80].iter().for_each(|place| push(&mut blob, *place, ONE_WORD));
        let mut row = Vec::new();
        DIVISION.push_part(&mut row, 0, &blob);
        db.execute(PUT_PACK, params![0, "word", row]).unwrap();
        take_out(&db, &[40]).unwrap();
        let mut places = Vec::new();
        Section::Pack(0)
            .of_term(&db, "word", &mut |_, blob| {
                places.extend(DIVISION.entries(blob).map(|(place, _)| place));
            })
            .unwrap();
        assert_eq!(places, [1, 80]);
    }
}
