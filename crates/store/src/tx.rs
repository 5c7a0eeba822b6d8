//! What aggregates work on: [`Rx`], a read snapshot, and [`Tx`], a transaction of the writer.

use std::cell::{Cell, RefCell, RefMut};
use std::ops::Deref;
use std::sync::RwLockReadGuard;

use model::OpError;
use rusqlite::Connection;

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
}

impl<'a> Rx<'a> {
    pub(crate) fn new(connection: &'a Connection, catalogue: &'a Catalogue) -> Rx<'a> {
        Rx { connection, catalogue, fault: Cell::new(None) }
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

    /// Apart from [`Rx::sql`], which is compiled once for each statement.
    #[cold]
    fn failed(&self, error: &rusqlite::Error) -> OpError {
        match StoreError::of(error) {
            Some(fault) => {
                self.fault.set(Some(fault.clone()));
                fault.into()
            }
            None => OpError::internal(format!("a statement failed in the database: {error}")),
        }
    }

    pub(crate) fn take_fault(&self) -> Option<StoreError> {
        self.fault.take()
    }
}

/// A transaction of the writer thread. What reads a snapshot also reads here.
pub struct Tx<'a> {
    rx: Rx<'a>,
    effects: RefCell<Vec<Effect>>,
    late: RefCell<Late>,
    memo: &'a Memo,
}

impl<'a> Tx<'a> {
    /// One write of the group that this memo belongs to.
    pub(crate) fn new(connection: &'a Connection, memo: &'a Memo) -> Tx<'a> {
        Tx {
            rx: Rx::new(connection, &memo.catalogue),
            effects: RefCell::default(),
            late: RefCell::default(),
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
