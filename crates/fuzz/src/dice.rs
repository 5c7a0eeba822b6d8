//! Repeatable random choices: a generator whose state follows from target, seed and case number.

/// A SplitMix64 generator. Every case has its own, so that a case can be repeated without those before it.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn of_case(target: &str, seed: u64, number: u64) -> Dice {
        let name = target.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mut dice = Dice(name);
        for part in [seed, number] {
            dice.0 = dice.next() ^ part;
        }
        dice
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if that is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % end).unwrap_or_default()
    }

    pub(crate) fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }

    /// A number below `end` that is small most of the time: lengths and counts.
    pub(crate) fn few(&mut self, end: usize) -> usize {
        let bits = usize::BITS - end.leading_zeros();
        let shift = u32::try_from(self.below(bits as usize)).unwrap_or_default();
        self.below((end >> shift).max(1))
    }

    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        let at = self.below(list.len());
        &list[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(target: &str, seed: u64, number: u64) -> u64 {
        Dice::of_case(target, seed, number).next()
    }

    #[test]
    fn a_case_depends_on_target_seed_and_number_alone() {
        assert_eq!(first("a", 1, 2), first("a", 1, 2));
        let others = [first("b", 1, 2), first("a", 2, 2), first("a", 1, 3), first("a", 2, 1)];
        assert!(!others.contains(&first("a", 1, 2)));
    }

    #[test]
    fn numbers_stay_below_their_end() {
        let mut dice = Dice::of_case("a", 0, 0);
        for end in [0, 1, 2, 7, 1000, usize::MAX] {
            for _ in 0..200 {
                assert!(dice.below(end) < end.max(1) && dice.few(end) < end.max(1));
            }
        }
    }
}
