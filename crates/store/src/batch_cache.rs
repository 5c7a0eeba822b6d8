//! The state of a group of writes: facts about the store, and values that its writes have looked up so far. No other
//! process can write before COMMIT, so the next write of the group need not look the values up again. A write that
//! changes such a value has to remove it from this cache.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use crate::aggregate::Registry;
use crate::catalogue::Catalogue;
use crate::foreground::Foreground;

/// Facts that are the same for all groups of writes.
pub(crate) struct StoreFacts {
    pub(crate) registry: Arc<Registry>,
    pub(crate) catalogue: Arc<Catalogue>,
    /// The file of the database.
    pub(crate) database: PathBuf,
    /// Whether passages get an embedding.
    pub(crate) meaning: bool,
    /// The hooks and searches that wait.
    pub(crate) foreground: Arc<Foreground>,
    /// How many times this process has replaced a damaged full-text index.
    pub(crate) index_rebuilds: AtomicUsize,
}

/// One group of writes.
pub(crate) struct BatchCache {
    pub(crate) facts: Arc<StoreFacts>,
    /// The last record id in use; it is stored at the end of the group. It is never forgotten, so that no id is used
    /// twice.
    pub(crate) last_id: Cell<Option<i64>>,
    /// Looked-up values, one for each type that an aggregate caches.
    pub(crate) looked_up: LookedUp,
}

impl BatchCache {
    pub(crate) fn new(facts: &Arc<StoreFacts>) -> BatchCache {
        let facts = Arc::clone(facts);
        BatchCache { facts, last_id: Cell::default(), looked_up: LookedUp::default() }
    }
}

/// Values by their type. There are few types, so that a list is searched faster than a map.
#[derive(Default)]
pub(crate) struct LookedUp(RefCell<Vec<Rc<dyn Any>>>);

impl LookedUp {
    /// The value of this type, empty if it was not used before in this group.
    pub(crate) fn of<T: Default + 'static>(&self) -> Rc<T> {
        let mut values = self.0.borrow_mut();
        let known = values.iter().find(|value| value.is::<T>()).cloned();
        if let Some(Ok(known)) = known.map(Rc::downcast) {
            return known;
        }
        let new = Rc::new(T::default());
        values.push(new.clone());
        new
    }

    pub(crate) fn forget(&self) {
        self.0.borrow_mut().clear();
    }
}
