//! The passage catalogue, an in-memory copy of the `passages` table: the first search loads it, and each further one
//! adds the rows written since.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use index::{PassageRow, Passages};
use meaning::Vector;
use model::{OpError, limits};

use crate::cells::Cells as _;
use crate::memory_vectors::MemoryVectors;
use crate::tx::Rx;
use crate::verdicts::Verdicts;

/// Held by the store; empty until the first search.
#[derive(Default)]
pub(crate) struct Catalogue {
    passages: RwLock<Passages>,
    pub(crate) verdicts: Verdicts,
    pub(crate) memories: MemoryVectors,
}

pub(crate) const AFTER: &str = "SELECT id, doc, session, project, at / 1000, kind, length, words, vector FROM passages \
     WHERE id > ?1 ORDER BY id";
const GAP_MAX: usize = limits::PASSAGE_GAP_MAX as usize;
const STATE: &str = "SELECT coalesce((SELECT max(id) FROM passages), 0), \
     coalesce((SELECT count FROM passage_changes), 0)";

impl Catalogue {
    /// The catalogue with all passages of this snapshot. It may also have newer or deleted passages;
    /// their documents are not found in the snapshot.
    pub(crate) fn of<'c>(&'c self, rx: &Rx<'_>) -> Result<RwLockReadGuard<'c, Passages>, OpError> {
        let (last, changes) = rx.sql(|db| {
            db.prepare_cached(STATE)?.query_row([], |row| Ok((row.cell(0)?, row.cell(1)?)))
        })?;
        let known = self.passages.read().unwrap_or_else(PoisonError::into_inner);
        if known.is_after(last, changes) {
            return Ok(known);
        }
        drop(known);
        let mut passages = self.passages.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have added them while this one waited for the lock.
        if !passages.is_after(last, changes) {
            if passages.changes() < changes {
                *passages = Passages::after_changes(changes);
            }
            if let Err(error) = follow(&mut passages, rx) {
                *passages = Passages::default();
                return Err(error);
            }
        }
        Ok(RwLockWriteGuard::downgrade(passages))
    }

    /// Adds embeddings to passages that are in the catalogue already.
    pub(crate) fn learn(&self, vectors: &[(usize, Vector)]) {
        let mut passages = self.passages.write().unwrap_or_else(PoisonError::into_inner);
        vectors.iter().for_each(|(passage, vector)| passages.learn(*passage, vector));
        drop(passages);
        // The cached vectors of memories were read when these passages had no embeddings.
        self.memories.clear();
    }

    /// Removes deleted passages.
    pub(crate) fn remove(&self, gone: &[usize]) {
        let mut passages = self.passages.write().unwrap_or_else(PoisonError::into_inner);
        gone.iter().for_each(|passage| passages.remove(*passage));
    }

    /// Blocks all searches, as if the catalogue were being read.
    #[cfg(test)]
    pub(crate) fn hold(&self) -> RwLockWriteGuard<'_, Passages> {
        self.passages.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Empties the catalogue; the next search reads it again.
    pub(crate) fn clear(&self) {
        *self.passages.write().unwrap_or_else(PoisonError::into_inner) = Passages::default();
        self.verdicts.clear();
        self.memories.clear();
    }
}

/// Adds the passages that were written to the database since the last call.
fn follow(passages: &mut Passages, rx: &Rx<'_>) -> Result<(), OpError> {
    rx.sql(|db| {
        let mut select = db.prepare_cached(AFTER)?;
        let mut rows = select.query([passages.end() - 1])?;
        while let Some(row) = rows.next()? {
            let id: usize = row.cell(0)?;
            // Only damage leaves such a gap, and the catalogue would allocate room for all ids in it.
            if id.saturating_sub(passages.end()) > GAP_MAX {
                rx.note_damaged_index();
                break;
            }
            let number = |column| row.cell::<i64>(column).map(|id| u32::try_from(id).unwrap_or(0));
            passages.add(PassageRow {
                id,
                doc: number(1)?,
                session: number(2)?,
                project: number(3)?,
                at: number(4)?,
                kind: rx.registry().kind_of(&row.text(5)?),
                length: row.cell(6)?,
                words: row.cell(7)?,
                vector: Vector::from_bytes(row.blob(8)?),
            });
        }
        Ok(())
    })?;
    debug_assert!(passages.is_sound(), "columns, totals or runs of the catalogue do not fit");
    Ok(())
}
