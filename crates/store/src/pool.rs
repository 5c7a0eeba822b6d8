//! The pool of read connections: opened when needed, all closed before files are changed.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use model::limits;
use rusqlite::{Connection, InterruptHandle};

use crate::connection;
use crate::error::StoreError;
use crate::files::{self, FileId};

/// Read connections of one store.
pub(crate) struct Pool {
    path: PathBuf,
    busy: Duration,
    state: Mutex<ReaderPoolState>,
    changed: Condvar,
}

struct ReaderPoolState {
    phase: Phase,
    /// Counts the times all connections were closed, so that an old one is not taken back.
    generation: u64,
    idle: Vec<Connection>,
    /// Readers in use, by ticket, each with an interrupt handle once its connection is open.
    out: HashMap<u64, Option<InterruptHandle>>,
    tickets: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Readers belong to this file.
    Open(FileId),
    /// The writer is changing files; readers wait.
    Suspended,
    /// The writer has no database; a reader has to ask it to try again.
    Lost,
    Closed,
}

/// The reason why no reader could be had.
pub(crate) enum NoReader {
    /// The file at the path is not the one that is open, or none is open: the writer has to check the path.
    Stale,
    Closed,
    AllBusy,
    Failed {
        error: StoreError,
        generation: u64,
    },
}

impl Pool {
    pub(crate) fn new(path: PathBuf, busy: Duration) -> Pool {
        let state = ReaderPoolState {
            phase: Phase::Suspended,
            generation: 0,
            idle: Vec::new(),
            out: HashMap::new(),
            tickets: 0,
        };
        Pool { path, busy, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, ReaderPoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a free reader of the file at the path.
    pub(crate) fn checkout(&self) -> Result<Reader<'_>, NoReader> {
        let deadline = Instant::now() + limits::OP_DEADLINE;
        let mut state = self.lock();
        let file = loop {
            match state.phase {
                Phase::Closed => return Err(NoReader::Closed),
                Phase::Lost => return Err(NoReader::Stale),
                Phase::Open(file) if state.out.len() < limits::READ_CONNECTIONS_MAX => break file,
                Phase::Open(_) | Phase::Suspended => {}
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(NoReader::AllBusy);
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        };
        let idle = state.idle.pop();
        state.tickets += 1;
        let (ticket, generation) = (state.tickets, state.generation);
        state.out.insert(ticket, idle.as_ref().map(Connection::get_interrupt_handle));
        drop(state);
        let mut reader = Reader { pool: self, connection: idle, ticket, generation };
        // Looking comes after opening, so that it also covers the file that was just opened.
        let connected = reader.connect();
        match files::id(&self.path) {
            Ok(now) if now != Some(file) => Err(NoReader::Stale),
            Ok(_) | Err(_) => connected.map(|()| reader),
        }
    }

    /// Closes all readers and makes new ones wait. The statements of readers in use are interrupted,
    /// and they are closed when they are returned.
    pub(crate) fn suspend(&self) {
        self.close_all(Phase::Suspended);
    }

    /// Lets readers continue with this file. Returns their generation.
    pub(crate) fn resume(&self, file: FileId) -> u64 {
        let mut state = self.lock();
        state.phase = Phase::Open(file);
        self.changed.notify_all();
        state.generation
    }

    /// Which generation of readers is served now.
    pub(crate) fn generation(&self) -> u64 {
        self.lock().generation
    }

    /// Marks the database as lost; a reader has to ask the writer to open one.
    pub(crate) fn lose(&self) {
        self.lock().phase = Phase::Lost;
        self.changed.notify_all();
    }

    pub(crate) fn close(&self) {
        self.close_all(Phase::Closed);
    }

    fn close_all(&self, phase: Phase) {
        let deadline = Instant::now() + limits::STORE_BUSY;
        let mut state = self.lock();
        state.phase = phase;
        state.generation += 1;
        state.idle.clear();
        self.changed.notify_all();
        state.out.values().flatten().for_each(InterruptHandle::interrupt);
        while !state.out.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                // A reader that computes between statements keeps its old file open a little
                // longer. It can only read, and its closing touches nothing.
                return;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// A read connection that returns to the pool when it is dropped.
pub(crate) struct Reader<'a> {
    pool: &'a Pool,
    connection: Option<Connection>,
    ticket: u64,
    generation: u64,
}

impl Reader<'_> {
    fn connect(&mut self) -> Result<(), NoReader> {
        if self.connection.is_some() {
            return Ok(());
        }
        let is_first = {
            let state = self.pool.lock();
            state.idle.is_empty() && state.out.values().flatten().next().is_none()
        };
        let db = connection::open_caching_reader(&self.pool.path, self.pool.busy, is_first)
            .map_err(|error| NoReader::Failed { error, generation: self.generation })?;
        self.pool.lock().out.insert(self.ticket, Some(db.get_interrupt_handle()));
        self.connection = Some(db);
        Ok(())
    }

    /// Which opening of the database this reader belongs to.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    pub(crate) fn connection(&self) -> Option<&Connection> {
        self.connection.as_ref()
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        let connection = self.connection.take().filter(|db| {
            // A connection that cannot end its snapshot is not used again.
            db.is_autocommit() || db.execute_batch("ROLLBACK").is_ok()
        });
        let mut state = self.pool.lock();
        let current = state.generation == self.generation;
        match connection {
            Some(db) if current => state.idle.push(db),
            // An outdated connection is closed before its ticket is returned to the pool.
            other => drop(other),
        }
        state.out.remove(&self.ticket);
        drop(state);
        self.pool.changed.notify_all();
    }
}
