//! Database access for aggregates: [`Rx`], a read snapshot, and [`Tx`], a transaction of the writer.

use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::rc::Rc;
use std::sync::{Arc, RwLockReadGuard};

use index::Passages;
use model::event::Published;
use model::{OpError, limits};
use rusqlite::Connection;
use text::Statement;

use crate::aggregate::Registry;
use crate::batch_cache::{BatchCache, StoreFacts};
use crate::catalogue::Catalogue;
use crate::deferred::{Deferred, DeferredWork, LogWipe};
use crate::error::{StoreError, is_damaged_row};
use crate::memory_vectors::MemoryVectors;
use crate::verdicts::TextQuestion;

/// Something to do in memory once the transaction is committed.
pub(crate) type Effect = Box<dyn FnOnce() + Send>;

/// A read snapshot.
pub struct Rx<'a> {
    connection: &'a Connection,
    catalogue: &'a Catalogue,
    registry: &'a Registry,
    fault: Cell<Option<StoreError>>,
    index_damaged: Cell<bool>,
    /// The number of changes of texts when this snapshot began; none in a transaction of the writer.
    text_changes: Option<u64>,
}

impl<'a> Rx<'a> {
    pub(crate) fn new(
        connection: &'a Connection,
        catalogue: &'a Catalogue,
        registry: &'a Registry,
    ) -> Rx<'a> {
        let (fault, index_damaged) = (Cell::new(None), Cell::new(false));
        let text_changes = Some(catalogue.verdicts.changes());
        Rx { connection, catalogue, registry, fault, index_damaged, text_changes }
    }

    /// The answer to a question about the texts of these records; the second id is 0 for a question about one record.
    /// Calls `judge` unless the answer is cached. In a transaction of the writer, which may be rolled back, the cache
    /// is not used.
    pub fn verdict(
        &self,
        question: TextQuestion,
        records: (i64, i64),
        judge: impl FnOnce() -> Result<bool, OpError>,
    ) -> Result<bool, OpError> {
        match self.text_changes {
            Some(changes) => self.catalogue.verdicts.answer(changes, (question, records), judge),
            None => judge(),
        }
    }

    /// The [`Statement`] of a record's text, from the cache or by parsing the text.
    pub fn statement(&self, id: i64, text: &str) -> Arc<Statement> {
        let read = || Statement::of(text);
        match self.text_changes {
            Some(changes) => self.catalogue.verdicts.statement(changes, id, read),
            None => Arc::new(read()),
        }
    }

    /// The vectors of the memories, and the number of changes of texts when the snapshot began. None in a transaction
    /// of the writer, which may be rolled back.
    pub(crate) fn memory_vectors(&self) -> Option<(&'a MemoryVectors, u64)> {
        Some((&self.catalogue.memories, self.text_changes?))
    }

    /// The aggregates of this store.
    pub(crate) fn registry(&self) -> &'a Registry {
        self.registry
    }

    /// Notes that the full-text index is damaged, so that results may be missing.
    pub(crate) fn note_damaged_index(&self) {
        self.index_damaged.set(true);
    }

    /// Whether a search in this snapshot met a damaged full-text index.
    pub fn met_damaged_index(&self) -> bool {
        self.index_damaged.get()
    }

    /// The catalogue of all passages.
    pub(crate) fn passages(&self) -> Result<RwLockReadGuard<'a, Passages>, OpError> {
        self.catalogue.of(self)
    }

    /// Runs statements. A fault of the database itself is also remembered, because the owner of the
    /// connection decides how to handle it.
    pub(crate) fn sql<T>(
        &self,
        f: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, OpError> {
        f(self.connection).map_err(|error| self.failed(&error))
    }

    /// Runs a statement that updates a part of a row. SQLite checks the types of all cells of the row and rejects
    /// the update if another cell is damaged: then the result is `None`, and the row is unchanged.
    pub(crate) fn sql_on_row<T>(
        &self,
        f: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, OpError> {
        match f(self.connection) {
            Ok(done) => Ok(Some(done)),
            Err(error) if is_damaged_row(&error) => Ok(None),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Separate from [`Rx::sql`], which is compiled once for each caller.
    #[cold]
    fn failed(&self, error: &rusqlite::Error) -> OpError {
        match StoreError::of(error) {
            Some(fault) => {
                self.fault.set(Some(fault.clone()));
                fault.into()
            }
            None if is_damaged_row(error) => {
                OpError::internal(format!("a damaged row cannot be changed: {error}"))
                    .hint("`rekindle doctor` names damaged rows and says how to remove them.")
            }
            None => OpError::internal(format!("a statement failed in the database: {error}")),
        }
    }

    /// Whether a statement failed because of the database itself.
    pub(crate) fn has_fault(&self) -> bool {
        let fault = self.fault.take();
        let met = fault.is_some();
        self.fault.set(fault);
        met
    }

    pub(crate) fn take_fault(&self) -> Option<StoreError> {
        self.fault.take()
    }
}

/// A transaction of the writer thread. It derefs to [`Rx`], so every read works here too.
pub struct Tx<'a> {
    rx: Rx<'a>,
    effects: RefCell<Vec<Effect>>,
    deferred: RefCell<DeferredWork>,
    cache: &'a BatchCache,
    at: i64,
    events: RefCell<Vec<Published>>,
}

impl<'a> Tx<'a> {
    /// One write of the group that this cache belongs to.
    pub(crate) fn new(connection: &'a Connection, cache: &'a BatchCache, at: i64) -> Tx<'a> {
        Tx::with_deferred(connection, cache, at, DeferredWork::default())
    }

    /// The end of a group with this deferred work.
    pub(crate) fn with_deferred(
        connection: &'a Connection,
        cache: &'a BatchCache,
        at: i64,
        deferred: DeferredWork,
    ) -> Tx<'a> {
        Tx {
            rx: Rx {
                text_changes: None,
                ..Rx::new(connection, &cache.facts.catalogue, &cache.facts.registry)
            },
            effects: RefCell::default(),
            deferred: RefCell::new(deferred),
            cache,
            at,
            events: RefCell::default(),
        }
    }

    /// The time of this write, in milliseconds.
    pub(crate) fn at(&self) -> i64 {
        self.at
    }

    /// Publishes an event after COMMIT.
    pub(crate) fn publish(&self, event: Published) {
        self.events.borrow_mut().push(event);
    }

    /// The last record id that is in use, as far as the group knows.
    pub(crate) fn last_id(&self) -> &'a Cell<Option<i64>> {
        &self.cache.last_id
    }

    /// The facts about the store.
    pub(crate) fn facts(&self) -> &'a StoreFacts {
        &self.cache.facts
    }

    /// Whether a hook or a search waits, so that bulk work should end its transaction.
    pub fn is_awaited(&self) -> bool {
        self.cache.facts.foreground.is_waiting()
    }

    /// Whether the next hook or search is expected soon, so that bulk work should end its transaction after a few steps.
    pub fn is_in_use(&self) -> bool {
        self.cache.facts.foreground.is_in_use(limits::FOREGROUND_COMES)
    }

    /// The values of this type that the group has looked up so far.
    pub(crate) fn cached<T: Default + 'static>(&self) -> Rc<T> {
        self.cache.looked_up.of()
    }

    /// Forgets all looked-up values of the group, because a write changes rows that they come from.
    pub(crate) fn forget_cached(&self) {
        self.cache.looked_up.forget();
    }

    /// Queues an effect in memory. The writer thread runs effects after COMMIT, in order, before
    /// events are published and replies are sent; if this run is not committed they are dropped.
    pub fn after_commit(&self, effect: Box<dyn FnOnce() + Send>) {
        self.effects.borrow_mut().push(effect);
    }

    /// Changes the deferred work of this type, which is done at the end of the group, just before COMMIT.
    pub(crate) fn defer<T: Deferred>(&self, f: impl FnOnce(&mut T)) {
        self.deferred.borrow_mut().change(f);
    }

    /// Takes the deferred work of this type.
    pub(crate) fn take_deferred<T: Deferred>(&self) -> T {
        self.deferred.borrow_mut().take()
    }

    /// Empties the log after COMMIT, because it contains a deleted value.
    pub(crate) fn wipe_log(&self) {
        self.defer(|wipe: &mut LogWipe| wipe.0 = true);
    }

    /// Ignores a failed note about one record or session at the end of a group, because the group contains others too.
    /// Only a fault of the database itself fails the group.
    pub(crate) fn unless_fault(&self, noted: Result<(), OpError>) -> Result<(), OpError> {
        match noted {
            Err(error) if self.has_fault() => Err(error),
            _ => Ok(()),
        }
    }

    /// The work left before COMMIT, and the effects and events for after it.
    pub(crate) fn into_rest(self) -> (DeferredWork, Vec<Effect>, Vec<Published>) {
        (self.deferred.into_inner(), self.effects.into_inner(), self.events.into_inner())
    }
}

impl<'a> Deref for Tx<'a> {
    type Target = Rx<'a>;

    fn deref(&self) -> &Rx<'a> {
        &self.rx
    }
}
