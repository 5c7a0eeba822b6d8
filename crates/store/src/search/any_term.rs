//! Any of the words: BM25 over the postings, exact for every passage however frequent its words are.

use std::ops::Range;

use model::OpError;
use rusqlite::{Connection, params};
use text::terms;
use text::words::is_cjk;

use super::Scored;
use crate::catalogue::Passages;
use crate::postings::{self, BLOCK};
use crate::tx::Rx;

/// How soon further occurrences of a word count less, and how much the length of a passage counts.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// The least that a word counts which almost every passage has.
const IDF_MIN: f64 = 1e-6;

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
    for (word, term) in terms {
        let blobs = rx.sql(|db| blobs(db, &term, 0..passages.end().div_ceil(BLOCK)))?;
        let count = blobs.iter().map(|(_, blob)| postings::count(blob)).sum();
        if count > 0 {
            words.push(Word { word, count, blobs });
        }
    }
    words.sort_by_key(|word| word.count);
    Ok(Some(words))
}

fn blobs(
    db: &Connection,
    term: &str,
    blocks: Range<usize>,
) -> rusqlite::Result<Vec<(usize, Vec<u8>)>> {
    let mut found = Vec::new();
    let mut chars = term.chars();
    // A single character of a script without spaces stands for all pairs that begin with it.
    let lone = chars.next().filter(|c| is_cjk(*c) && chars.next().is_none());
    let behind = lone.and_then(|c| char::from_u32(u32::from(c) + 1));
    for block in blocks {
        match behind {
            Some(behind) => {
                let mut select = db.prepare_cached(postings::OF_BEGINNING)?;
                let mut rows = select.query(params![block, term, behind.to_string()])?;
                while let Some(row) = rows.next()? {
                    found.push((block, row.get(0)?));
                }
            }
            None => {
                let mut select = db.prepare_cached(postings::OF_TERM)?;
                let mut rows = select.query(params![block, term])?;
                if let Some(row) = rows.next()? {
                    found.push((block, row.get(0)?));
                }
            }
        }
    }
    Ok(found)
}

/// Every passage with one of the words that is admitted, with its score, from one passage on.
pub(super) fn score(
    passages: &Passages,
    words: &[Word<'_>],
    from: usize,
    admits: &dyn Fn(usize) -> bool,
) -> Vec<Scored> {
    let total = passages.count() as f64;
    let average = passages.average_length();
    let norm = |passage: usize| K1 * (1.0 - B + B * f64::from(passages.length(passage)) / average);
    let mut scored = Vec::new();
    let mut sums = vec![0.0_f64; BLOCK];
    let first = from / BLOCK;
    let before = |word: &Word<'_>| word.blobs.partition_point(|(block, _)| *block < first);
    let mut next: Vec<usize> = words.iter().map(before).collect();
    for block in first..passages.end().div_ceil(BLOCK) {
        let mut any = false;
        for (word, next) in words.iter().zip(&mut next) {
            let count = word.count as f64;
            let idf = ((total - count + 0.5) / (count + 0.5)).ln().max(IDF_MIN);
            while let Some((_, blob)) = word.blobs.get(*next).filter(|(of, _)| *of == block) {
                *next += 1;
                any = true;
                for (place, twice) in postings::entries(blob) {
                    let often = f64::from(twice) / 2.0;
                    let score = idf * often * (K1 + 1.0) / (often + norm(block * BLOCK + place));
                    if let Some(sum) = sums.get_mut(place) {
                        *sum += score;
                    }
                }
            }
        }
        if !any {
            continue;
        }
        for (place, sum) in sums.iter_mut().enumerate().filter(|(_, sum)| **sum > 0.0) {
            let passage = block * BLOCK + place;
            if passage >= from && admits(passage) {
                scored.push(Scored { passage, score: *sum });
            }
            *sum = 0.0;
        }
    }
    scored
}
