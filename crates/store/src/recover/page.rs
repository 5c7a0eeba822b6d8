//! Parses the rows on a table leaf page of SQLite's file format: pure functions over bytes, for pages that are
//! no longer reachable. On any input nothing panics and all work is bounded.
//!
//! The official `recover` extension is not part of the bundled amalgamation, and no crate offers it without C
//! code of our own. This module covers only what a salvage needs: leaf pages of rowid tables and their overflow.

use rusqlite::types::Value;

/// The first byte of a leaf page of a table.
const TABLE_LEAF: u8 = 0x0d;
/// Size of a leaf page's header. The cell pointers follow it.
const LEAF_HEADER: usize = 8;
/// Size of a record above which it counts as damaged.
const RECORD_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Number of cells above which a record counts as damaged; our widest table has 25.
const CELLS_MAX: usize = 64;

/// A row as stored on the page.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LeafRow {
    pub(super) id: i64,
    /// A column that is an alias of the row id is NULL here.
    pub(super) cells: Vec<Value>,
}

/// Whether this may be a table leaf page.
pub(super) fn is_leaf(page: &[u8]) -> bool {
    page.first() == Some(&TABLE_LEAF)
}

/// Whether this is a B-tree page with at least one cell, whose header starts at this offset: 100 on the first page,
/// else 0. Every field of the header and every cell pointer has to be valid, so that text is not mistaken for one.
pub(super) fn is_btree(page: &[u8], at: usize) -> bool {
    let header = match page.get(at) {
        Some(0x02 | 0x05) => 12,
        Some(0x0a | 0x0d) => 8,
        _ => return false,
    };
    let field = |offset: usize| number(page, at + offset).map(usize::from);
    let (Some(free), Some(count), Some(content)) = (field(1), field(3), field(5)) else {
        return false;
    };
    // 0 means 65,536.
    let content = if content == 0 { 65_536 } else { content };
    let cells = at + header..at + header + 2 * count;
    let is_inside = |place: usize| (cells.end..page.len()).contains(&place);
    count > 0
        && (free == 0 || is_inside(free))
        && content >= cells.end
        && content < page.len()
        && cells.step_by(2).all(|place| {
            number(page, place).is_some_and(|cell| (content..page.len()).contains(&cell.into()))
        })
}

/// The readable rows of a leaf page. `next` returns a page by its number, for rows that overflow the page.
pub(super) fn rows(page: &[u8], next: &mut dyn FnMut(u32) -> Option<Vec<u8>>) -> Vec<LeafRow> {
    if !is_leaf(page) {
        return Vec::new();
    }
    let count = usize::from(number(page, 3).unwrap_or_default());
    // The smallest cell has four bytes and a pointer of two.
    let count = count.min(page.len() / 6);
    let place = |index: usize| number(page, LEAF_HEADER + 2 * index);
    let places = (0..count).filter_map(place).map(usize::from);
    places.filter_map(|place| row(page, place, next)).collect()
}

fn number(page: &[u8], at: usize) -> Option<u16> {
    let bytes = page.get(at..at.checked_add(2)?)?;
    Some(u16::from_be_bytes(bytes.try_into().ok()?))
}

/// The row of the cell at this offset.
fn row(page: &[u8], place: usize, next: &mut dyn FnMut(u32) -> Option<Vec<u8>>) -> Option<LeafRow> {
    let mut cell = Bytes(page.get(place..)?);
    let length = usize::try_from(cell.varint()?).ok().filter(|n| *n <= RECORD_BYTES_MAX)?;
    let id = cell.varint()?;
    let local = local_bytes(page.len(), length)?;
    let mut record = cell.take(local)?.to_vec();
    if local < length {
        let mut page_number = u32::from_be_bytes(cell.take(4)?.try_into().ok()?);
        // Each page of the chain adds bytes, so a cycle ends too.
        while record.len() < length {
            let overflow = next(page_number)?;
            let (head, content) = overflow.split_first_chunk::<4>()?;
            let missing = length - record.len();
            record.extend_from_slice(content.get(..missing.min(content.len()))?);
            page_number = u32::from_be_bytes(*head);
            if content.is_empty() {
                return None;
            }
        }
    }
    Some(LeafRow { id, cells: cells(&record)? })
}

/// How many bytes of a record of this length are on the leaf page itself.
fn local_bytes(page: usize, length: usize) -> Option<usize> {
    let most = page.checked_sub(35)?;
    if length <= most {
        return Some(length);
    }
    let least = (page.checked_sub(12)? * 32 / 255).checked_sub(23)?;
    let fitting = least + (length - least) % page.checked_sub(4)?;
    Some(if fitting <= most { fitting } else { least })
}

/// The cells of a record: a header with the type of each, then their bytes.
fn cells(record: &[u8]) -> Option<Vec<Value>> {
    let mut rest = Bytes(record);
    let header = usize::try_from(rest.varint()?).ok()?;
    let read = record.len() - rest.0.len();
    let mut types = Bytes(rest.take(header.checked_sub(read)?)?);
    let mut cells = Vec::new();
    while !types.0.is_empty() {
        if cells.len() == CELLS_MAX {
            return None;
        }
        cells.push(rest.cell(types.varint()?)?);
    }
    Some(cells)
}

/// A cursor over bytes.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// SQLite's varint: seven bits per byte, big-endian, while the high bit is set; all eight bits of the ninth.
    fn varint(&mut self) -> Option<i64> {
        let mut value = 0_u64;
        for place in 0..9 {
            let byte = *self.take(1)?.first()?;
            if place == 8 {
                value = value << 8 | u64::from(byte);
                break;
            }
            value = value << 7 | u64::from(byte & 0x7f);
            if byte < 0x80 {
                break;
            }
        }
        Some(value.cast_signed())
    }

    fn integer(&mut self, bytes: usize) -> Option<Value> {
        let taken = self.take(bytes)?;
        let negative = taken.first().is_some_and(|byte| *byte >= 0x80);
        let mut wide = [if negative { 0xff } else { 0 }; 8];
        wide.get_mut(8 - bytes..)?.copy_from_slice(taken);
        Some(Value::Integer(i64::from_be_bytes(wide)))
    }

    fn cell(&mut self, kind: i64) -> Option<Value> {
        match kind {
            0 => Some(Value::Null),
            1..=4 => self.integer(usize::try_from(kind).ok()?),
            5 => self.integer(6),
            6 => self.integer(8),
            7 => {
                let bits = self.take(8)?.try_into().ok()?;
                Some(Value::Real(f64::from_be_bytes(bits)))
            }
            8 => Some(Value::Integer(0)),
            9 => Some(Value::Integer(1)),
            12.. => {
                let bytes = self.take(usize::try_from((kind - 12) / 2).ok()?)?;
                Some(match kind % 2 {
                    0 => Value::Blob(bytes.to_vec()),
                    _ => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
                })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_are_read_as_sqlite_writes_them() {
        let cases: [(&[u8], i64); 5] = [
            (&[0x00], 0),
            (&[0x7f], 127),
            (&[0x81, 0x00], 128),
            (&[0x81, 0x80, 0x00], 16_384),
            (&[0xff; 9], -1),
        ];
        for (bytes, expected) in cases {
            assert_eq!(Bytes(bytes).varint(), Some(expected), "{bytes:?}");
        }
        assert_eq!(Bytes(&[0x81]).varint(), None);
    }

    #[test]
    fn text_and_zeros_are_not_pages() {
        for text in ["\r\n", "\n\n\n\n", "\r\t\t\t\t", "garbage ", "\u{5}\u{2}", "\n\u{0}"] {
            let page = text.repeat(4096);
            assert!(!is_btree(&page.as_bytes()[..4096], 0), "{text:?}");
            assert!(!is_btree(&page.as_bytes()[..4096], 100), "{text:?}");
        }
        let mut page = vec![0; 4096];
        assert!(!is_btree(&page, 0));
        // A leaf with one cell at 4,000.
        page[..10].copy_from_slice(&[TABLE_LEAF, 0, 0, 0, 1, 0x0f, 0xa0, 0, 0x0f, 0xa0]);
        assert!(is_btree(&page, 0));
        page[9] = 0;
        assert!(!is_btree(&page, 0), "the cell is before the content");
    }

    /// No input causes a panic or an endless loop: tries seeded noise, with cycles in the overflow chain.
    #[test]
    fn noise_causes_no_panic_and_no_endless_loop() {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        for round in 0..2_000 {
            let length = [0, 1, 7, 8, 64, 512, 4096][round % 7];
            let mut page: Vec<u8> = (0..length).map(|_| random() as u8).collect();
            if let Some(first) = page.first_mut() {
                *first = TABLE_LEAF;
            }
            // Few cells, so that their pointers are read at all.
            if let Some(count) = page.get_mut(3..5) {
                count.copy_from_slice(&[0, 40]);
            }
            let overflow = page.clone();
            let _ = rows(&page, &mut |_| Some(overflow.clone()));
            let _ = rows(&page, &mut |_| None);
            let _ = cells(&page);
        }
    }
}
