//! Random numbers that a seed repeats.

/// The SplitMix64 generator: small, and the same numbers on every machine.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, not including, `end`. Zero if `end` is zero.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        if end == 0 { 0 } else { self.next() % end }
    }

    /// One of the items; an empty text if there is none.
    pub(super) fn pick<'a>(&mut self, items: &'a [String]) -> &'a str {
        let index = usize::try_from(self.below(items.len() as u64)).unwrap_or(0);
        items.get(index).map_or("", String::as_str)
    }

    /// True in this many of a hundred cases.
    pub(super) fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }
}
