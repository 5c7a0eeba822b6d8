//! The fingerprint of a failure: hashes of the lines of its output that say what went wrong, without the parts that
//! differ from run to run (colours, directories, numbers, hashes, addresses, times).

mod normal;
mod significant;
mod verdict_line;

pub use significant::significant;

/// Lines of a fingerprint. A longer set is sampled by its smallest hashes, so that the order in which a parallel
/// test runner reports its failures does not change the sample.
const LINES_MAX: usize = 24;
/// Two failures are the same if at least this share of their lines is: four in five.
const SAME: (usize, usize) = (4, 5);

/// The hashes of the significant lines of a failure, in ascending order. Empty if the output says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint(Vec<u32>);

impl Fingerprint {
    /// The fingerprint of the output of a failed command.
    pub fn of(output: &str) -> Fingerprint {
        Fingerprint::from_hashes(significant(output).iter().map(|line| hash(line)))
    }

    /// The fingerprint of a failure whose output says nothing: its command and its project. No output has the same
    /// fingerprint, because this text has a line break, and no line of an output has one.
    pub fn of_command(line: &str, project: i64) -> Fingerprint {
        let words: Vec<&str> = line.split_whitespace().collect();
        Fingerprint(vec![hash(&format!("{}\n{project}", words.join(" ")))])
    }

    /// The fingerprint with these lines.
    pub fn from_hashes(hashes: impl IntoIterator<Item = u32>) -> Fingerprint {
        let mut hashes: Vec<u32> = hashes.into_iter().collect();
        hashes.sort_unstable();
        hashes.dedup();
        hashes.truncate(LINES_MAX);
        Fingerprint(hashes)
    }

    /// Whether both are of the same failure, given that program, sub-command and project are equal.
    pub fn is_same(&self, other: &Fingerprint) -> bool {
        let shared = self.0.iter().filter(|hash| other.0.binary_search(hash).is_ok()).count();
        let longest = self.0.len().max(other.0.len());
        longest > 0 && shared * SAME.1 >= longest * SAME.0
    }

    /// Whether another failure has all lines of this one.
    pub fn is_part_of(&self, other: &Fingerprint) -> bool {
        !self.0.is_empty() && self.0.iter().all(|hash| other.0.binary_search(hash).is_ok())
    }

    /// The lines to look a failure up by: every fingerprint of the same failure has at least one of them. At most one
    /// line in five may differ, so one more than a fifth is enough.
    pub fn probes(&self) -> &[u32] {
        let may_differ = self.0.len() * (SAME.1 - SAME.0) / SAME.1;
        &self.0[..self.0.len().min(may_differ + 1)]
    }

    pub fn hashes(&self) -> &[u32] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// FNV-1a, folded to 32 bits: stored, so it must be the same in every build.
fn hash(line: &str) -> u32 {
    let long = line.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    // Both halves count.
    #[allow(clippy::cast_possible_truncation)]
    let folded = (long ^ (long >> 32)) as u32;
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(hashes: &[u32]) -> Fingerprint {
        Fingerprint::from_hashes(hashes.iter().copied())
    }

    #[test]
    fn four_in_five_lines_of_the_longer_one_have_to_be_equal() {
        let five = of(&[1, 2, 3, 4, 5]);
        for (other, expected) in [
            (of(&[1, 2, 3, 4, 5]), true),
            (of(&[1, 2, 3, 4, 9]), true),
            (of(&[1, 2, 3, 4]), true),
            (of(&[1, 2, 3]), false),
            (of(&[1, 2, 3, 8, 9]), false),
            (of(&[1, 2, 3, 4, 5, 6, 7]), false),
            (of(&[]), false),
        ] {
            assert_eq!(five.is_same(&other), expected, "{other:?}");
            assert_eq!(other.is_same(&five), expected, "{other:?}");
        }
        assert!(!of(&[]).is_same(&of(&[])), "an output that says nothing is like no other");
    }

    #[test]
    fn every_fingerprint_of_the_same_failure_has_one_of_the_probes() {
        for size in 1..=24_u32 {
            let all: Vec<u32> = (0..size).collect();
            let whole = of(&all);
            let gone = size / 5;
            // The worst case: the lines that differ are the first probes.
            let other = of(&all[gone as usize..]);
            assert!(whole.is_same(&other), "{size}");
            let finds = |probe: &u32| other.hashes().contains(probe);
            assert!(whole.probes().iter().any(finds), "{size}");
        }
        assert!(of(&[]).probes().is_empty());
    }

    #[test]
    fn many_failures_in_another_order_have_the_same_fingerprint() {
        let line = |n: u32| format!("test shop::case_{n} ... FAILED\n");
        let up: String = (0..200).map(line).collect();
        let down: String = (0..200).rev().map(line).collect();
        assert_eq!(Fingerprint::of(&up), Fingerprint::of(&down));
        assert_eq!(Fingerprint::of(&up).hashes().len(), LINES_MAX);
    }
}
