//! Moves a log that has grown long into the database, on a thread and a connection of its own: the disk takes a
//! fifth of a second for it, in which the writer goes on.

use std::path::Path;
use std::thread::{self, JoinHandle};

use model::limits;
use rusqlite::Connection;

use crate::connection::{self, Log};

/// Times that what was written during a move is moved too, before the writer does the rest.
const PASSES: usize = 3;

pub(crate) struct Mover {
    /// Pages from which on a log is long.
    long: u32,
    under_way: Option<JoinHandle<()>>,
}

impl Mover {
    /// One that moves a log of so many pages.
    pub(crate) fn of(long: u32) -> Mover {
        Mover { long, under_way: None }
    }

    /// Looks after the log, between two transactions of this connection. The little that was written while
    /// the rest was moved is moved here, for a log begins anew only when nothing of it is left.
    pub(crate) fn tend(&mut self, db: &Connection, path: &Path) {
        if self.is_under_way() {
            return;
        }
        let Ok(log) = connection::log(db) else { return };
        if log.pages < self.long {
            self.finish();
        } else if self.under_way.is_some() {
            self.finish();
            // If it fails, the log grows until the next time.
            let _ = connection::move_log(db);
        } else {
            let (path, few) = (path.to_owned(), self.long / 16);
            let beside = thread::Builder::new().name("store-mover".into());
            self.under_way = beside.spawn(move || move_beside(&path, few)).ok();
        }
    }

    pub(crate) fn is_under_way(&self) -> bool {
        self.under_way.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Waits until nothing is moved any more.
    pub(crate) fn finish(&mut self) {
        if let Some(thread) = self.under_way.take() {
            // It cannot have failed in a way that matters: what it did not move is still in the log.
            let _ = thread.join();
        }
    }
}

/// Moves what is in the log until there is little that came meanwhile.
fn move_beside(path: &Path, few: u32) {
    let Ok(db) = connection::connect(path, limits::STORE_BUSY) else { return };
    for _ in 0..PASSES {
        let moved = connection::move_log(&db).and_then(|()| connection::log(&db));
        if !moved.is_ok_and(|Log { pages, moved }| pages.saturating_sub(moved) > few) {
            return;
        }
    }
}
