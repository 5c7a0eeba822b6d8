//! Posting lists: which passages of a block have a stem, and how often.
//!
//! An entry is a varint: the distance from the previous passage, doubled, plus one if the stem does not occur exactly
//! once; only in that case, a byte with twice the frequency follows. A list begins with the number of its entries and
//! the place of the last one in the block, two bytes each.

/// Bytes before the entries of a list.
pub const HEAD: usize = 4;
/// The stored frequency of a word that occurs once in the passage.
pub const ONE_WORD: u8 = 2;

/// How passages are divided into blocks: how many each has. A place in a block fits into two bytes.
#[derive(Clone, Copy, Debug)]
pub struct Division {
    pub block: usize,
}

impl Division {
    /// The block of a passage, and its place there.
    pub fn place_of(self, passage: usize) -> (usize, u16) {
        (passage / self.block, u16::try_from(passage % self.block).unwrap_or_default())
    }

    /// The places of passages in their block, each with twice the frequency of the stem there. A damaged list ends
    /// early.
    pub fn entries(self, list: &[u8]) -> impl Iterator<Item = (usize, u8)> + '_ {
        let mut rest = list.get(HEAD..).unwrap_or_default().iter();
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
            (place < self.block).then_some((place, twice))
        })
    }

    /// The passages of a block's list, each with twice the frequency of the stem there.
    pub fn passages(self, block: usize, list: &[u8]) -> impl Iterator<Item = (usize, u8)> + '_ {
        self.entries(list).map(move |(place, twice)| (block * self.block + place, twice))
    }

    /// The list of a block without the entries of some passages, which are in order.
    pub fn without(self, list: &[u8], block: usize, gone: &[usize]) -> Vec<u8> {
        let mut kept = empty();
        for (passage, twice) in self.passages(block, list) {
            if gone.binary_search(&passage).is_err() {
                push(&mut kept, self.place_of(passage).1, twice);
            }
        }
        debug_assert_eq!(
            self.entries(&kept).count(),
            count(&kept),
            "the head counts other entries"
        );
        kept
    }

    /// Whether the list of a block is well-formed and leads to known passages only.
    pub fn is_sound_list(
        self,
        block: usize,
        list: &[u8],
        is_known: &dyn Fn(usize) -> bool,
    ) -> bool {
        let (mut found, mut last) = (0, None);
        for (place, _) in self.entries(list) {
            let passage = block.saturating_mul(self.block).saturating_add(place);
            if last.is_some_and(|last| place <= last) || !is_known(passage) {
                return false;
            }
            (found, last) = (found + 1, Some(place));
        }
        ends_as_it_says(list, found, last)
    }
}

/// The lists of a term, each with its block, in the order of the blocks.
#[derive(Clone, Debug)]
pub struct TermLists {
    pub division: Division,
    pub lists: Vec<(usize, Vec<u8>)>,
}

impl TermLists {
    /// How many passages have the term.
    pub fn count(&self) -> usize {
        self.lists.iter().map(|(_, list)| count(list)).sum()
    }

    /// The passages that have the term, each with twice its frequency there.
    pub fn entries(&self) -> impl Iterator<Item = (usize, u8)> + '_ {
        self.lists.iter().flat_map(|(block, list)| self.division.passages(*block, list))
    }
}

/// A list without entries.
pub fn empty() -> Vec<u8> {
    vec![0; HEAD]
}

fn head(list: &[u8]) -> (u16, u16) {
    match list {
        [a, b, c, d, ..] => (u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d])),
        _ => (0, 0),
    }
}

/// How many passages a list has.
pub fn count(list: &[u8]) -> usize {
    usize::from(head(list).0)
}

/// Adds an entry behind all others.
pub fn push(list: &mut Vec<u8>, place: u16, twice: u8) {
    let (count, last) = head(list);
    let distance = u32::from(place.saturating_sub(if count == 0 { 0 } else { last }));
    let mut code = distance << 1 | u32::from(twice != ONE_WORD);
    while code >= 0x80 {
        list.push(code as u8 | 0x80);
        code >>= 7;
    }
    list.push(code as u8);
    if twice != ONE_WORD {
        list.push(twice);
    }
    let (count, place) = (count.saturating_add(1).to_le_bytes(), place.to_le_bytes());
    list.splice(..HEAD, count.into_iter().chain(place));
}

/// Whether the head of a list agrees with its entries: their number `found` and the place of the
/// last one.
pub fn ends_as_it_says(list: &[u8], found: usize, last: Option<usize>) -> bool {
    let (count, end) = head(list);
    found == usize::from(count) && last == Some(usize::from(end))
}
