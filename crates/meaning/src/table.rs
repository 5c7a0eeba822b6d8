//! The table: a vector for each of about 30,000 word pieces, read in place, with an index that the build generates.

use crate::spread::{PIECE_BYTES_MAX, PieceHash, PiecePosition, TAG_BITS};

include!(concat!(env!("OUT_DIR"), "/index.rs"));

/// The file. A `static` is in the program only once.
static FILE: [u8; FILE_BYTES] = *include_bytes!("../table/table-128.rke");

static VECTORS: &[[u8; DIMENSIONS]] = FILE.split_at(VECTORS_AT).1.as_chunks().0;
static SCALES: &[[u8; 4]] = FILE.split_at(VECTORS_AT).0.split_at(SCALES_AT).1.as_chunks().0;

const _: () = assert!(VECTORS_AT + ROWS * DIMENSIONS == FILE_BYTES, "the table has another length");

/// The scale of a row and its cells, as bytes of i8.
#[inline(always)]
pub(crate) fn row(row: u16) -> Option<(f32, &'static [u8; DIMENSIONS])> {
    let row = usize::from(row);
    Some((f32::from_le_bytes(*SCALES.get(row)?), VECTORS.get(row)?))
}

/// The longest piece that is a prefix of `letters`: its row and its length in bytes. Pieces consist of whole
/// characters.
pub(crate) fn longest(letters: &[u8], place: PiecePosition) -> Option<(u16, usize)> {
    let mut spreads = [PieceHash::default(); PIECE_BYTES_MAX];
    let mut spread = PieceHash::new(place);
    let mut most = 0;
    for (kept, byte) in spreads.iter_mut().zip(letters) {
        spread = spread.with(*byte);
        *kept = spread;
        most += 1;
    }
    spreads[..most].iter().enumerate().rev().find_map(|(last, spread)| {
        let length = last + 1;
        Some((find(*spread, &letters[..length], place)?, length))
    })
}

/// The row of a piece. The index is half empty, so few slots are probed; the probe ends at an empty slot.
#[inline]
fn find(spread: PieceHash, letters: &[u8], place: PiecePosition) -> Option<u16> {
    let tag = spread.tag(place, letters.len());
    let mut slot = spread.slot();
    loop {
        let row = SLOTS[slot % SLOTS.len()];
        let known = *LETTERS.get(usize::from(row))?;
        if known & ((1 << TAG_BITS) - 1) == tag {
            let at = (known >> TAG_BITS) as usize;
            if FILE.get(at..at + letters.len()) == Some(letters) {
                return Some(row);
            }
        }
        slot += 1;
    }
}
