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
    /// The indexed memories: their passages, and the columns of the vectors. Some may be deleted.
    passages: Vec<usize>,
    cells: Vec<[i8; DIMENSIONS]>,
    reciprocals: Vec<f32>,
    /// The passages of the catalogue up to here were read.
    end: usize,
    unindexed: Vec<UnindexedMemory>,
    /// The unindexed documents up to this one were read.
    last: i64,
}

pub(crate) struct UnindexedMemory {
    pub(crate) id: i64,
    pub(crate) project: i64,
    pub(crate) vector: Vector,
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
                self.cells.push(*vector.cells());
                self.reciprocals.push(vector.reciprocal());
            }
        }
        self.end = self.end.max(passages.end());
    }

    /// Removes the memories that were unindexed and are indexed by now: documents are indexed in the order of their ids.
    /// `ends` are the first and the last unindexed document. Returns the document behind which there are others to
    /// add, if there are any.
    pub(crate) fn keep_unindexed(&mut self, ends: (Option<i64>, Option<i64>)) -> Option<i64> {
        let (Some(first), Some(last)) = ends else {
            self.unindexed.clear();
            return None;
        };
        self.unindexed.retain(|memory| memory.id >= first);
        (last > self.last).then_some(self.last)
    }

    /// Adds the unindexed memories up to this document.
    pub(crate) fn add_unindexed(&mut self, last: i64, new: Vec<UnindexedMemory>) {
        self.unindexed.extend(new);
        self.last = last;
    }

    /// The memories of these projects, or of all, whose cosine with a vector is at least this, in any order and some more
    /// than once: record ids with cosines.
    pub(crate) fn near(
        &self,
        passages: &Passages,
        vector: &Vector,
        (projects, least): (Option<&[i64]>, f64),
    ) -> Vec<(i64, f64)> {
        let is_wanted = |project| projects.is_none_or(|projects| projects.contains(&project));
        let indexed = self.near_passages(vector, least).into_iter();
        let indexed = indexed.filter(|(passage, _)| is_wanted(passages.project(*passage)));
        // A deleted passage has no document.
        let indexed =
            indexed.filter_map(|(passage, cosine)| Some((passages.doc(passage)?, cosine)));
        let unindexed = self.unindexed.iter().filter(|memory| is_wanted(memory.project));
        let unindexed = unindexed
            .map(|memory| (memory.id, f64::from(meaning::cosine(vector, &memory.vector))))
            .filter(|(_, cosine)| *cosine >= least);
        indexed.chain(unindexed).collect()
    }

    /// The passages of indexed memories whose cosine with a vector is at least this.
    fn near_passages(&self, vector: &Vector, least: f64) -> Vec<(usize, f64)> {
        let mut cosines = [0.0; VECTORS_AT_ONCE];
        let mut near = Vec::new();
        let columns =
            self.cells.chunks(VECTORS_AT_ONCE).zip(self.reciprocals.chunks(VECTORS_AT_ONCE));
        for ((cells, reciprocals), passages) in columns.zip(self.passages.chunks(VECTORS_AT_ONCE)) {
            meaning::scan(vector, cells, reciprocals, &mut cosines);
            let found = cosines.iter().map(|cosine| f64::from(*cosine)).zip(passages);
            let found = found.filter(|(cosine, _)| *cosine >= least);
            near.extend(found.map(|(cosine, passage)| (*passage, cosine)));
        }
        near
    }
}
