//! A flag in memory that saves reads of the store: whether rows of a kind may exist.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use store::Tx;

/// Whether rows of a kind may exist in the store, so that most events do not read it for them.
#[derive(Clone, Debug)]
pub(crate) struct StoreFlag {
    /// Rises with each row that is noted; 0 if the store has no such row.
    noted: Arc<AtomicU64>,
}

impl Default for StoreFlag {
    /// Set at the start: an earlier process may have stored a row.
    fn default() -> StoreFlag {
        StoreFlag { noted: Arc::new(AtomicU64::new(1)) }
    }
}

impl StoreFlag {
    pub(crate) fn may_be(&self) -> bool {
        self.noted() > 0
    }

    pub(crate) fn noted(&self) -> u64 {
        self.noted.load(Ordering::Relaxed)
    }

    /// Notes that the store has no such row, unless a row was noted since `noted` was read.
    pub(crate) fn none_since(&self, noted: u64) {
        let _ = self.noted.compare_exchange(noted, 0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Notes after COMMIT that the store has a row.
    pub(crate) fn note(&self, tx: &Tx<'_>) {
        let noted = self.noted.clone();
        tx.after_commit(Box::new(move || {
            noted.fetch_add(1, Ordering::Relaxed);
        }));
    }
}
