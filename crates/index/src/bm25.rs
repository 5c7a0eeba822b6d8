//! BM25 over posting lists: any of several words, exact for every passage however frequent its words are.

use std::ops::Range;

use crate::postings::TermLists;
use crate::threads::in_parts;
use crate::{PassageFilter, Passages, Scored};

/// K1: how soon further occurrences of a word count less. B: how much the length of a passage
/// counts.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// The lowest weight of a word, for words that almost every passage has.
pub const IDF_MIN: f64 = 1e-6;

/// A word of a query with the lists of its stem.
pub struct Word<'q> {
    pub word: &'q str,
    /// Its stem, or that of another form of the word.
    pub term: String,
    /// How many passages have the stem.
    pub count: usize,
    pub postings: TermLists,
}

/// Scores every passage from `from` on that has one of the words, if the filter and the caller admit
/// it.
pub fn score(
    passages: &Passages,
    words: &[Word<'_>],
    from: usize,
    filter: &PassageFilter,
    admits: &(dyn Fn(usize) -> bool + Sync),
) -> Vec<Scored> {
    let Some(block_size) = words.first().map(|word| word.postings.division.block) else {
        return Vec::new();
    };
    let parts = in_parts(passages.end(), block_size, |part| {
        let mut sums = Sums::new(passages, words, block_size, part.start.max(from));
        let mut scored = Vec::new();
        for block in part.start.max(from) / block_size..part.end.div_ceil(block_size) {
            let start = block * block_size;
            if sums.add_up(block, filter.runs(passages, start..start + block_size)) {
                sums.take(|place, score| {
                    let passage = start + place;
                    if passage >= from && admits(passage) {
                        scored.push(Scored { passage, score });
                    }
                });
            }
        }
        scored
    });
    parts.into_iter().flatten().collect()
}

/// BM25 of sessions as whole texts, by their numbers in [`crate::SessionTable`]: a session may
/// be about a question although none of its records has many of the words.
pub fn whole_sessions(passages: &Passages, words: &[Word<'_>]) -> Vec<f64> {
    let lengths = passages.sessions().lengths();
    let count = lengths.iter().filter(|length| **length > 0).count() as f64;
    let average = (lengths.iter().sum::<u64>() as f64 / count.max(1.0)).max(1.0);
    let mut scores = vec![0.0; lengths.len()];
    let mut twice_of = vec![0_u32; lengths.len()];
    let mut touched: Vec<usize> = Vec::new();
    for word in words {
        // Internal iteration: there may be a million entries, and `for` would check each time which list is next.
        word.postings.entries().for_each(|(passage, twice)| {
            let session = passages.session_number(passage);
            if let Some(sum) = twice_of.get_mut(session).filter(|_| session != 0) {
                if *sum == 0 {
                    touched.push(session);
                }
                *sum += u32::from(twice);
            }
        });
        let having = touched.len() as f64;
        // Never negative: a word of most sessions still says a little about each.
        let idf = (1.0 + (count - having + 0.5) / (having + 0.5)).ln();
        for session in touched.drain(..) {
            let twice = twice_of.get_mut(session).map(std::mem::take).unwrap_or_default();
            let length = lengths.get(session).copied().unwrap_or_default() as f64;
            let often = f64::from(twice) / 2.0;
            let norm = K1 * (1.0 - B + B * length / average);
            if let Some(score) = scores.get_mut(session) {
                *score += idf * often * (K1 + 1.0) / (often + norm);
            }
        }
    }
    scores
}

/// How BM25 weighs words: by how many passages have a word, how often the scored passage has it, and how long that
/// passage is.
pub struct Weights {
    total: f64,
    average: f64,
}

impl Weights {
    /// `more` counts passages that `passages` lacks but that belong to the total.
    pub fn new(passages: &Passages, more: usize) -> Weights {
        Weights { total: (passages.count() + more) as f64, average: passages.average_length() }
    }

    /// The inverse document frequency of a word that `count` passages have.
    pub fn idf(&self, count: usize) -> f64 {
        let count = count as f64;
        ((self.total - count + 0.5) / (count + 0.5)).ln().max(IDF_MIN)
    }

    /// The term frequency factor of a word that occurs `twice / 2` times in a passage of this length.
    pub fn often(&self, twice: u8, length: u16) -> f64 {
        let often = f64::from(twice) / 2.0;
        let norm = K1 * (1.0 - B + B * f64::from(length) / self.average);
        often * (K1 + 1.0) / (often + norm)
    }
}

/// The BM25 scores of the passages of one block; the blocks are added up one after the other.
struct Sums<'w, 'q> {
    passages: &'w Passages,
    /// Each word with its IDF and the place of its next posting list.
    words: Vec<(&'w Word<'q>, f64, usize)>,
    weights: Weights,
    sums: Vec<f64>,
    /// The places in the block that may be scored: as runs, and as one flag per place.
    runs: Vec<Range<usize>>,
    wanted: Vec<bool>,
}

impl<'w, 'q> Sums<'w, 'q> {
    /// Starts at the block that contains the passage `from`.
    fn new(
        passages: &'w Passages,
        words: &'w [Word<'q>],
        block_size: usize,
        from: usize,
    ) -> Sums<'w, 'q> {
        let weights = Weights::new(passages, 0);
        let words = words.iter().map(|word| {
            let idf = weights.idf(word.count);
            let next = word.postings.lists.partition_point(|(block, _)| *block < from / block_size);
            (word, idf, next)
        });
        Sums {
            passages,
            words: words.collect(),
            weights,
            sums: vec![0.0; block_size],
            runs: Vec::new(),
            wanted: vec![false; block_size],
        }
    }

    /// Adds up the scores of a block, and returns whether any of its places may have a score. Places outside the runs
    /// are skipped: most passages with a frequent word may belong to other projects.
    fn add_up(&mut self, block: usize, runs: impl Iterator<Item = Range<usize>>) -> bool {
        let start = block * self.sums.len();
        self.wanted.fill(false);
        self.runs.clear();
        self.runs.extend(runs.map(|run| run.start - start..run.end - start));
        for run in &self.runs {
            if let Some(wanted) = self.wanted.get_mut(run.clone()) {
                wanted.fill(true);
            }
        }
        let (passages, weights) = (self.passages, &self.weights);
        let mut any = false;
        for (word, idf, next) in &mut self.words {
            let TermLists { division, lists } = &word.postings;
            while let Some((_, list)) = lists.get(*next).filter(|(of, _)| *of == block) {
                *next += 1;
                if self.runs.is_empty() {
                    continue;
                }
                any = true;
                for (place, twice) in division.entries(list) {
                    if self.wanted.get(place) == Some(&true)
                        && let Some(sum) = self.sums.get_mut(place)
                    {
                        *sum += *idf * weights.often(twice, passages.length(start + place));
                    }
                }
            }
        }
        any
    }

    /// Calls `each` with every place that has a score, in order, and resets the scores.
    fn take(&mut self, mut each: impl FnMut(usize, f64)) {
        // The runs of several projects are not sorted.
        self.runs.sort_unstable_by_key(|run| run.start);
        for run in &self.runs {
            let sums = self.sums.get_mut(run.clone()).unwrap_or_default();
            for (place, sum) in run.clone().zip(sums).filter(|(_, sum)| **sum > 0.0) {
                each(place, *sum);
                *sum = 0.0;
            }
        }
    }
}
