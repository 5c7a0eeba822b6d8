//! The passages that are nearest in meaning. On one core, reading all vectors of a large store takes longer
//! than the rest of a search: helper threads start this scan while the caller scores the words, and then the caller
//! helps to finish the scan.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};

use meaning::Vector;
use model::limits;

use crate::threads::{self, THREADS_MAX};
use crate::{PassageFilter, Passages};

/// Vectors that are compared at a time.
const VECTORS_AT_ONCE: usize = 1_024;
/// Passages that a thread claims at a time, the newest first. Fewer in tests, whose stores are small.
const PART: usize = if cfg!(test) { 64 } else { 16 * 1_024 };
/// How many passages there must be for each helper thread.
const PASSAGES_PER_THREAD: usize = 4 * PART;

/// Runs `work` while helper threads scan for the passages nearest to `vector`; without a vector, no scan runs.
pub fn beside<T>(
    passages: &Passages,
    filter: &PassageFilter,
    vector: Option<&Vector>,
    work: impl FnOnce(Option<Begun<'_>>) -> T,
) -> T {
    let Some(vector) = vector else { return work(None) };
    let scan = Scan::of(passages, filter, vector);
    thread::scope(|scope| work(Some(scan.begin(scope))))
}

/// A scan for the nearest passages among those that the filter admits.
struct Scan<'s> {
    passages: &'s Passages,
    filter: &'s PassageFilter,
    vector: &'s Vector,
    /// Parts that no thread has claimed yet.
    left: AtomicUsize,
}

impl<'s> Scan<'s> {
    fn of(passages: &'s Passages, filter: &'s PassageFilter, vector: &'s Vector) -> Scan<'s> {
        let left = AtomicUsize::new(passages.end().div_ceil(PART));
        Scan { passages, filter, vector, left }
    }

    /// Starts helper threads, more of them the more passages there are.
    fn begin<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) -> Begun<'scope> {
        let runs = self.filter.runs(self.passages, 0..self.passages.end());
        let passages: usize = runs.map(|run| run.len()).sum();
        let others = THREADS_MAX.min(threads::cores()) - 1;
        let others = (0..others.min(passages / PASSAGES_PER_THREAD))
            // If a thread cannot be spawned, fewer of them scan.
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, || self.work()).ok());
        Begun { others: others.collect(), scan: self }
    }

    /// Claims one part after the other until none is left, and returns the nearest passages of these parts.
    fn work(&self) -> Nearest {
        let mut nearest = Nearest::default();
        let passages = self.passages;
        let admits = self.filter.admits_of_run(passages);
        while let Some(part) = self.next() {
            for run in self.filter.runs(passages, part) {
                each_cosine(passages, run, self.vector, |passage, cosine| {
                    if cosine > 0.0 && nearest.wants(cosine) && admits(passage) {
                        nearest.add(cosine.to_bits(), passage);
                    }
                });
            }
        }
        nearest
    }

    fn next(&self) -> Option<Range<usize>> {
        let left = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        let from = (left.ok()? - 1) * PART;
        Some(from..(from + PART).min(self.passages.end()))
    }
}

/// A scan that runs on helper threads. If it is dropped, each of them stops after its current part.
pub struct Begun<'s> {
    scan: &'s Scan<'s>,
    others: Vec<ScopedJoinHandle<'s, Nearest>>,
}

impl Begun<'_> {
    /// Scans the parts that are left, and returns the nearest passages that any thread found.
    pub fn finish(mut self) -> Vec<usize> {
        let Scan { passages, filter, vector, .. } = self.scan;
        let mut nearest = self.scan.work();
        let others: Result<Vec<Nearest>, _> = self.others.drain(..).map(|one| one.join()).collect();
        match others {
            Ok(others) => {
                for Reverse((cosine, passage)) in others.into_iter().flat_map(|one| one.0) {
                    nearest.add(cosine, passage);
                }
            }
            // The parts that a panicked thread had claimed are lost: scan all parts again.
            Err(_) => nearest = Scan::of(passages, filter, vector).work(),
        }
        nearest.0.into_iter().map(|Reverse((_, passage))| passage).collect()
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.scan.left.store(0, Ordering::Relaxed);
    }
}

/// The passages with the highest cosines of those that were added; of equal ones, the newer. A cosine is stored as
/// its bits, which have the order of the numbers if these are positive.
#[derive(Default)]
struct Nearest(BinaryHeap<Reverse<(u64, usize)>>);

impl Nearest {
    /// Whether a passage with this cosine may be among the nearest.
    fn wants(&self, cosine: f64) -> bool {
        self.0.len() < limits::SEARCH_CANDIDATES
            || self.0.peek().is_some_and(|Reverse((least, _))| cosine.to_bits() >= *least)
    }

    /// Adds a passage, and drops the lowest-ranked one if there are too many. The result does not depend on the order
    /// in which threads add theirs.
    fn add(&mut self, cosine: u64, passage: usize) {
        self.0.push(Reverse((cosine, passage)));
        if self.0.len() > limits::SEARCH_CANDIDATES {
            self.0.pop();
        }
    }
}

/// Calls `each` with the cosine of every passage of a part that has a vector.
pub fn each_cosine(
    passages: &Passages,
    part: Range<usize>,
    vector: &Vector,
    mut each: impl FnMut(usize, f64),
) {
    let mut cosines = [0.0; VECTORS_AT_ONCE];
    for from in part.clone().step_by(VECTORS_AT_ONCE) {
        let (cells, reciprocals) = passages.vectors(from, VECTORS_AT_ONCE.min(part.end - from));
        meaning::scan(vector, cells, reciprocals, &mut cosines);
        for (at, (cosine, reciprocal)) in cosines.iter().zip(reciprocals).enumerate() {
            if *reciprocal > 0.0 {
                each(from + at, f64::from(*cosine));
            }
        }
    }
}
