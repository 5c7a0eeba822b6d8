//! What aggregates work on: [`Rx`], a read snapshot, and [`Tx`], a transaction of the writer.

use std::cell::{Cell, RefCell, RefMut};
use std::ops::Deref;
use std::sync::RwLockReadGuard;

use model::OpError;
use model::hint::HintName;
use rusqlite::Connection;
use rusqlite::ffi;

use crate::catalogue::{Catalogue, Passages};
use crate::error::StoreError;
use crate::late::Late;
use crate::memo::Memo;

/// Something to do in memory once the transaction is committed.
pub(crate) type Effect = Box<dyn FnOnce() + Send>;

/// A read snapshot.
pub struct Rx<'a> {
    connection: &'a Connection,
    catalogue: &'a Catalogue,
    fault: Cell<Option<StoreError>>,
    index_damaged: Cell<bool>,
}

impl<'a> Rx<'a> {
    pub(crate) fn new(connection: &'a Connection, catalogue: &'a Catalogue) -> Rx<'a> {
        Rx { connection, catalogue, fault: Cell::new(None), index_damaged: Cell::new(false) }
    }

    /// Notes that the full-text index is damaged, so that results may be missing.
    pub(crate) fn note_damaged_index(&self) {
        self.index_damaged.set(true);
    }

    /// Whether a search in this snapshot met a damaged full-text index.
    pub fn met_damaged_index(&self) -> bool {
        self.index_damaged.get()
    }

    /// What is known of all passages.
    pub(crate) fn passages(&self) -> Result<RwLockReadGuard<'a, Passages>, OpError> {
        self.catalogue.of(self)
    }

    /// Runs statements. A fault of the database itself is remembered besides being returned,
    /// because what to do about it is decided by who owns the connection.
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

    /// Apart from [`Rx::sql`], which is compiled once for each statement.
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

/// Whether SQLite rejected an update because another cell of the row is damaged. Values that our own statements
/// bind always fit the schema.
fn is_damaged_row(error: &rusqlite::Error) -> bool {
    const REFUSED: [i32; 3] = [
        ffi::SQLITE_CONSTRAINT_DATATYPE,
        ffi::SQLITE_CONSTRAINT_NOTNULL,
        ffi::SQLITE_CONSTRAINT_CHECK,
    ];
    error.sqlite_error().is_some_and(|error| REFUSED.contains(&error.extended_code))
}

/// A transaction of the writer thread. What reads a snapshot also reads here.
pub struct Tx<'a> {
    rx: Rx<'a>,
    effects: RefCell<Vec<Effect>>,
    late: RefCell<Late>,
    /// Hints that this write stores, which its answer may quote.
    quoted_hints: RefCell<Vec<HintName>>,
    memo: &'a Memo,
}

impl<'a> Tx<'a> {
    /// One write of the group that this memo belongs to.
    pub(crate) fn new(connection: &'a Connection, memo: &'a Memo) -> Tx<'a> {
        Tx {
            rx: Rx::new(connection, &memo.catalogue),
            effects: RefCell::default(),
            late: RefCell::default(),
            quoted_hints: RefCell::default(),
            memo,
        }
    }

    /// What the group has found out so far.
    pub(crate) fn memo(&self) -> &'a Memo {
        self.memo
    }

    /// Queues an effect in memory. The writer thread runs effects after COMMIT, in order, before
    /// events are published and replies are sent; if this run is not committed they are dropped.
    pub fn after_commit(&self, effect: Box<dyn FnOnce() + Send>) {
        self.effects.borrow_mut().push(effect);
    }

    /// Notes that the answer of this write may quote a hint.
    pub(crate) fn quotes_hint(&self, name: &HintName) {
        self.quoted_hints.borrow_mut().push(name.clone());
    }

    pub(crate) fn take_quoted_hints(&self) -> Vec<HintName> {
        self.quoted_hints.take()
    }

    /// What waits for the end of the group, just before COMMIT.
    pub(crate) fn late(&self) -> RefMut<'_, Late> {
        self.late.borrow_mut()
    }

    /// What is left to do: before COMMIT, and in memory after it.
    pub(crate) fn into_rest(self) -> (Late, Vec<Effect>) {
        (self.late.into_inner(), self.effects.into_inner())
    }
}

impl<'a> Deref for Tx<'a> {
    type Target = Rx<'a>;

    fn deref(&self) -> &Rx<'a> {
        &self.rx
    }
}
