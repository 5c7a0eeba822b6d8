//! Any of the words: BM25 over the postings, exact for every passage however frequent its words are.

use std::ops::Range;

use model::OpError;
use rusqlite::Connection;
use text::terms;
use text::words::is_cjk;

use super::parts::in_parts;
use super::{Conditions, Scored};
use crate::catalogue::Passages;
use crate::index_health::is_index_fault;
use crate::postings::{self, BLOCK, Layout};
use crate::tx::Rx;

/// How soon further occurrences of a word count less, and how much the length of a passage counts.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// The least that a word counts which almost every passage has.
pub(super) const IDF_MIN: f64 = 1e-6;

/// A word of the query with the blobs of its entries, by block.
pub(super) struct Word<'q> {
    pub(super) word: &'q str,
    /// How many passages have it.
    pub(super) count: usize,
    blobs: Vec<(usize, Vec<u8>)>,
}

impl Word<'_> {
    /// The passages that have it.
    pub(super) fn passages(&self) -> impl Iterator<Item = usize> + '_ {
        self.blobs.iter().flat_map(|(block, blob)| {
            postings::entries(blob).map(move |(place, _)| block * BLOCK + place)
        })
    }
}

/// The words that some passage has, the rarest first. None if no word of the query says anything.
pub(super) fn words<'q>(
    rx: &Rx<'_>,
    passages: &Passages,
    query: &'q [String],
) -> Result<Option<Vec<Word<'q>>>, OpError> {
    let terms: Vec<(&str, String)> =
        query.iter().filter_map(|word| Some((word.as_str(), terms::term(word)?))).collect();
    if terms.is_empty() {
        return Ok(None);
    }
    let mut words: Vec<Word<'q>> = Vec::with_capacity(terms.len());
    let mut read = |db: &Connection| {
        let layout = Layout::of(db, passages.end())?;
        for (word, term) in &terms {
            let blobs = blobs(db, &layout, term)?;
            let count = blobs.iter().map(|(_, blob)| postings::count(blob)).sum();
            if count > 0 {
                words.push(Word { word, count, blobs });
            }
        }
        Ok(())
    };
    rx.sql(|db| match read(db) {
        // A search shows what it finds otherwise.
        Err(error) if is_index_fault(&error) => {
            rx.note_damaged_index();
            Ok(())
        }
        read => read,
    })?;
    words.sort_by_key(|word| word.count);
    Ok(Some(words))
}

fn blobs(db: &Connection, layout: &Layout, term: &str) -> rusqlite::Result<Vec<(usize, Vec<u8>)>> {
    let mut chars = term.chars();
    // A single character of a script without spaces stands for all pairs that begin with it.
    let lone = chars.next().filter(|c| is_cjk(*c) && chars.next().is_none());
    match lone.and_then(|c| char::from_u32(u32::from(c) + 1)) {
        Some(behind) => layout.of_range(db, (term, &behind.to_string())),
        None => layout.of_term(db, term),
    }
}

/// Every passage with one of the words that the conditions and whoever asks admit, with its score, from one
/// passage on.
pub(super) fn score(
    passages: &Passages,
    words: &[Word<'_>],
    from: usize,
    conditions: &Conditions,
    admits: &(dyn Fn(usize) -> bool + Sync),
) -> Vec<Scored> {
    let parts = in_parts(passages.end(), |part| {
        let mut sums = Sums::new(passages, words, part.start.max(from));
        let mut scored = Vec::new();
        for block in part.start.max(from) / BLOCK..part.end.div_ceil(BLOCK) {
            let start = block * BLOCK;
            if sums.add_up(block, conditions.runs(passages, start..start + BLOCK)) {
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

/// BM25 of sessions as whole texts, by their numbers in [`crate::catalogue::SessionLengths`]: a session may
/// be about a question although none of its records has many of the words.
pub(super) fn whole_sessions(passages: &Passages, words: &[Word<'_>]) -> Vec<f64> {
    let sessions = passages.session_lengths();
    let lengths = sessions.lengths();
    let count = lengths.iter().filter(|length| **length > 0).count() as f64;
    let average = (lengths.iter().sum::<u64>() as f64 / count.max(1.0)).max(1.0);
    let mut scores = vec![0.0; lengths.len()];
    let mut twice_of = vec![0_u32; lengths.len()];
    let mut touched: Vec<usize> = Vec::new();
    for word in words {
        for (block, blob) in &word.blobs {
            for (place, twice) in postings::entries(blob) {
                let session = sessions.of_passage(block * BLOCK + place);
                if let Some(sum) = twice_of.get_mut(session).filter(|_| session != 0) {
                    if *sum == 0 {
                        touched.push(session);
                    }
                    *sum += u32::from(twice);
                }
            }
        }
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

/// How BM25 weighs words: by how many passages have them, how often this one does, and how long it is.
pub(super) struct Weights {
    total: f64,
    average: f64,
}

impl Weights {
    /// For so many passages more than are known.
    pub(super) fn new(passages: &Passages, more: usize) -> Weights {
        Weights { total: (passages.count() + more) as f64, average: passages.average_length() }
    }

    /// What a word counts for that so many passages have.
    pub(super) fn idf(&self, count: usize) -> f64 {
        let count = count as f64;
        ((self.total - count + 0.5) / (count + 0.5)).ln().max(IDF_MIN)
    }

    /// How much of that it counts in a passage of this length that has it half as often as `twice`.
    pub(super) fn often(&self, twice: u8, length: u16) -> f64 {
        let often = f64::from(twice) / 2.0;
        let norm = K1 * (1.0 - B + B * f64::from(length) / self.average);
        often * (K1 + 1.0) / (often + norm)
    }
}

/// What the words of a query are worth in the passages of one block after the other.
struct Sums<'w, 'q> {
    passages: &'w Passages,
    /// Each with what it counts for and the place of its next blob.
    words: Vec<(&'w Word<'q>, f64, usize)>,
    weights: Weights,
    sums: Vec<f64>,
    /// The places that count, as runs and one by one.
    runs: Vec<Range<usize>>,
    wanted: Vec<bool>,
}

impl<'w, 'q> Sums<'w, 'q> {
    /// For the blocks from the one with this passage on.
    fn new(passages: &'w Passages, words: &'w [Word<'q>], from: usize) -> Sums<'w, 'q> {
        let weights = Weights::new(passages, 0);
        let words = words.iter().map(|word| {
            let idf = weights.idf(word.count);
            (word, idf, word.blobs.partition_point(|(block, _)| *block < from / BLOCK))
        });
        Sums {
            passages,
            words: words.collect(),
            weights,
            sums: vec![0.0; BLOCK],
            runs: Vec::new(),
            wanted: vec![false; BLOCK],
        }
    }

    /// Adds up a block, and says whether there was anything. Most of what has a frequent word may be of
    /// other projects: what is in none of the runs is passed over.
    fn add_up(&mut self, block: usize, runs: impl Iterator<Item = Range<usize>>) -> bool {
        let start = block * BLOCK;
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
            while let Some((_, blob)) = word.blobs.get(*next).filter(|(of, _)| *of == block) {
                *next += 1;
                any = true;
                for (place, twice) in postings::entries(blob) {
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

    /// Gives what was added up, and begins anew.
    fn take(&mut self, mut each: impl FnMut(usize, f64)) {
        // Those of several projects are not in order.
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
