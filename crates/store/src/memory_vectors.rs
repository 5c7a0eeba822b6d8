//! The embeddings of all memories, one after the other in memory, because a new memory is compared with each of them. The
//! first comparison reads them; each further one adds those written since.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use index::{Passages, RecordKind};
use meaning::{DIMENSIONS, Vector};

/// Vectors that are compared at a time, so that their cosines stay in the cache.
const VECTORS_AT_ONCE: usize = 1_024;

/// Held by the catalogue.
#[derive(Default)]
pub(crate) struct MemoryVectors(Mutex<KnownVectors>);

#[derive(Default)]
pub(crate) struct KnownVectors {
    /// The change counters of the passages and of the texts that the vectors belong to.
    changes: (u64, u64),
    /// The passages of the indexed memories, some of which may be deleted, and their vectors.
    passages: Vec<usize>,
    indexed: VectorColumns,
    /// The passages of the catalogue up to here were read.
    end: usize,
    /// The ids and projects of the unindexed memories, in the order of the ids, and their vectors.
    unindexed: Vec<(i64, i64)>,
    unindexed_vectors: VectorColumns,
    /// The unindexed documents up to this one were read.
    last: i64,
}

/// The columns of vectors, as they are scanned.
#[derive(Default)]
struct VectorColumns {
    cells: Vec<[i8; DIMENSIONS]>,
    reciprocals: Vec<f32>,
}

/// The memories of a comparison: those of these projects, or of all, with at least this cosine, and how many of them.
#[derive(Clone, Copy)]
pub struct NearestMemories<'a> {
    pub projects: Option<&'a [i64]>,
    pub least: f64,
    pub count: usize,
}

/// The nearest memories so far: record ids with cosines, the nearest first; of two with equal cosines, the newer first.
struct NearestSoFar {
    count: usize,
    found: Vec<(i64, f64)>,
}

impl MemoryVectors {
    fn known(&self) -> MutexGuard<'_, KnownVectors> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets all vectors.
    pub(crate) fn clear(&self) {
        *self.known() = KnownVectors::default();
    }

    /// The vectors for a snapshot with these change counters. Vectors that were read before the last of these changes
    /// are dropped first. A snapshot from before a change may use vectors that were read after it.
    pub(crate) fn after(&self, changes: (u64, u64)) -> MutexGuard<'_, KnownVectors> {
        let mut known = self.known();
        if known.changes.0 < changes.0 || known.changes.1 < changes.1 {
            *known = KnownVectors { changes, ..KnownVectors::default() };
        }
        known
    }
}

impl KnownVectors {
    /// Adds the memories that were indexed since; `kind` is that of memories.
    pub(crate) fn add_indexed(&mut self, passages: &Passages, kind: RecordKind) {
        let new: Range<usize> = self.end..passages.end();
        for passage in passages.of_kind(kind, new).flatten() {
            if let Some(vector) = passages.vector(passage) {
                self.passages.push(passage);
                self.indexed.push(vector.cells(), vector.reciprocal());
            }
        }
        self.end = self.end.max(passages.end());
    }

    /// Removes the memories that were unindexed and are indexed by now: documents are indexed in the order of their ids.
    /// `ends` are the first and the last unindexed document. Returns the document behind which there are others to
    /// add, if there are any.
    pub(crate) fn keep_unindexed(&mut self, ends: (Option<i64>, Option<i64>)) -> Option<i64> {
        let (first, last) = ends.0.zip(ends.1).unwrap_or((i64::MAX, self.last));
        let indexed = self.unindexed.partition_point(|(id, _)| *id < first);
        self.unindexed.drain(..indexed);
        self.unindexed_vectors.remove_first(indexed);
        (last > self.last).then_some(self.last)
    }

    /// Adds an unindexed memory, whose id is greater than those of all others.
    pub(crate) fn add_unindexed(&mut self, (id, project): (i64, i64), vector: &Vector) {
        self.unindexed.push((id, project));
        self.unindexed_vectors.push(vector.cells(), vector.reciprocal());
    }

    /// Notes that all unindexed documents up to this one were added.
    pub(crate) fn set_last(&mut self, last: i64) {
        self.last = last;
    }

    /// The memories that are nearest to a vector: record ids with cosines, the nearest first.
    pub(crate) fn nearest(
        &self,
        passages: &Passages,
        vector: &Vector,
        wanted: NearestMemories<'_>,
    ) -> Vec<(i64, f64)> {
        let is_wanted =
            |project| wanted.projects.is_none_or(|projects| projects.contains(&project));
        let mut nearest = NearestSoFar { count: wanted.count, found: Vec::new() };
        self.indexed.each_near(vector, wanted.least, |position, cosine| {
            let passage = self.passages[position];
            if nearest.is_near(cosine) && is_wanted(passages.project(passage)) {
                // A deleted passage has no document.
                passages.doc(passage).into_iter().for_each(|id| nearest.add(id, cosine));
            }
        });
        self.unindexed_vectors.each_near(vector, wanted.least, |position, cosine| {
            let (id, project) = self.unindexed[position];
            if is_wanted(project) {
                nearest.add(id, cosine);
            }
        });
        nearest.found
    }
}

impl VectorColumns {
    fn push(&mut self, cells: &[i8; DIMENSIONS], reciprocal: f32) {
        self.cells.push(*cells);
        self.reciprocals.push(reciprocal);
    }

    fn remove_first(&mut self, count: usize) {
        self.cells.drain(..count);
        self.reciprocals.drain(..count);
    }

    /// Calls `near` with the position and the cosine of each vector whose cosine with this one is at least `least`.
    fn each_near(&self, vector: &Vector, least: f64, mut near: impl FnMut(usize, f64)) {
        let mut cosines = [0.0; VECTORS_AT_ONCE];
        let chunks =
            self.cells.chunks(VECTORS_AT_ONCE).zip(self.reciprocals.chunks(VECTORS_AT_ONCE));
        for (number, (cells, reciprocals)) in chunks.enumerate() {
            meaning::scan(vector, cells, reciprocals, &mut cosines);
            let first = number * VECTORS_AT_ONCE;
            for (position, cosine) in (first..).zip(&cosines[..cells.len()]) {
                if f64::from(*cosine) >= least {
                    near(position, f64::from(*cosine));
                }
            }
        }
    }
}

impl NearestSoFar {
    /// Whether a memory with this cosine may be one of the nearest.
    fn is_near(&self, cosine: f64) -> bool {
        self.found.len() < self.count || self.found.last().is_some_and(|last| cosine >= last.1)
    }

    /// Adds a memory if it is one of the nearest. It may be there already, by another of its passages.
    fn add(&mut self, id: i64, cosine: f64) {
        match self.found.iter().position(|(known, _)| *known == id) {
            Some(place) if self.found[place].1 < cosine => drop(self.found.remove(place)),
            Some(_) => return,
            None => {}
        }
        let place = self.found.partition_point(|(known, other)| (*other, *known) > (cosine, id));
        self.found.insert(place, (id, cosine));
        self.found.truncate(self.count);
    }
}
