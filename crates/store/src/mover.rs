//! WAL checkpointer: runs on its own thread and connection when the WAL has grown long. The disk takes a fifth of
//! a second for it, during which the writer continues.

use std::path::Path;
use std::thread::{self, JoinHandle};

use model::limits;
use rusqlite::Connection;

use crate::connection::{self, WalLength};

/// The most checkpoints that the thread makes, each for the pages written during the one before; the writer does the
/// rest.
const PASSES: usize = 3;

pub(crate) struct Mover {
    /// Number of pages from which on a WAL is checkpointed.
    long: u32,
    under_way: Option<JoinHandle<()>>,
}

impl Mover {
    /// Checkpoints a WAL that has at least this many pages.
    pub(crate) fn of(long: u32) -> Mover {
        Mover { long, under_way: None }
    }

    /// Checkpoints the WAL if it is long; called between two transactions of this connection. The few pages
    /// written during the thread's checkpoint are checkpointed here, because SQLite restarts the WAL only when it is
    /// checkpointed completely.
    pub(crate) fn tend(&mut self, db: &Connection, path: &Path) {
        if self.is_under_way() {
            return;
        }
        let Ok(log) = connection::log(db) else { return };
        if log.pages < self.long {
            self.finish();
        } else if self.under_way.is_some() {
            self.finish();
            // If it fails, the WAL grows until the next time.
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

    /// Waits for the running checkpoint, if any.
    pub(crate) fn finish(&mut self) {
        if let Some(thread) = self.under_way.take() {
            // A failure does no harm: the pages that it did not move are still in the WAL.
            let _ = thread.join();
        }
    }
}

/// Checkpoints until few pages are left that were written meanwhile.
fn move_beside(path: &Path, few: u32) {
    let Ok(db) = connection::connect(path, limits::STORE_BUSY) else { return };
    for _ in 0..PASSES {
        let moved = connection::move_log(&db).and_then(|()| connection::log(&db));
        if !moved.is_ok_and(|WalLength { pages, moved }| pages.saturating_sub(moved) > few) {
            return;
        }
    }
}
