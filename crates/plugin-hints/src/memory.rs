//! The hints in memory. The store is their journal: memory changes only after COMMIT, in order.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use model::OpError;
use model::hint::{Hint, HintName, Ttl};
use model::time::rfc3339;
use store::hints::{self, StoredHint};
use store::{Opened, Tx};

type Map = BTreeMap<HintName, StoredHint>;

/// Every hint, by name.
#[derive(Default)]
pub(crate) struct Memory {
    hints: Arc<RwLock<Map>>,
}

impl Memory {
    pub(crate) fn get(&self, name: &HintName) -> Option<StoredHint> {
        self.read().get(name).cloned()
    }

    pub(crate) fn all(&self) -> Vec<StoredHint> {
        self.read().values().cloned().collect()
    }

    pub(crate) fn session_hints(&self) -> usize {
        self.read()
            .values()
            .filter(|hint| hint.meta.ttl.unwrap_or_default() == Ttl::Session)
            .count()
    }

    /// Journals a hint and shows it to readers once it is committed.
    pub(crate) fn put(&self, tx: &Tx<'_>, hint: &StoredHint) -> Result<(), OpError> {
        hints::put(tx, hint)?;
        let map = self.hints.clone();
        let hint = hint.clone();
        tx.after_commit(Box::new(move || {
            map.write().unwrap_or_else(PoisonError::into_inner).insert(hint.name.clone(), hint);
        }));
        Ok(())
    }

    /// At the start memory takes what the journal holds, which is how a new PRIMARY adopts the
    /// hints of one that crashed. When the file vanished, memory is what remains and is journaled
    /// anew; when another database took its place, that one counts.
    pub(crate) fn opened(&self, tx: &Tx<'_>, how: Opened) -> Result<(), OpError> {
        match how {
            Opened::Fresh => {
                for hint in self.all() {
                    hints::put(tx, &hint)?;
                }
            }
            Opened::First | Opened::Replaced => {
                let stored = hints::all(tx)?;
                *self.write() = stored.into_iter().map(|hint| (hint.name.clone(), hint)).collect();
            }
        }
        Ok(())
    }

    fn read(&self) -> RwLockReadGuard<'_, Map> {
        self.hints.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Map> {
        self.hints.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stored hint as surfaces show it.
pub(crate) fn shown(hint: StoredHint) -> Hint {
    Hint {
        value: hint.value,
        meta: hint.meta,
        version: hint.version,
        created_at: rfc3339(hint.created_at),
        updated_at: rfc3339(hint.updated_at),
    }
}
