//! The writer's database file: opens it, detects that it was deleted, replaced or damaged, and then
//! continues with the file now at the path. Only the writer thread has one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use model::{OpError, limits, time};
use rusqlite::{Connection, MAIN_DB};

use crate::activity_counts;
use crate::backup;
use crate::batch_cache::{BatchCache, StoreFacts};
use crate::commit_signal::CommitSignal;
use crate::connection::{self, Setup};
use crate::context;
use crate::error::StoreError;
use crate::events;
use crate::files::{self, Look, Scratch, Standing};
use crate::group_end;
use crate::known::{FileClaim, KnownFiles};
use crate::leftovers;
use crate::notices;
use crate::passages;
use crate::pauses;
use crate::pool::Pool;
use crate::recover;
use crate::store::{OnOpen, Opened, Options};
use crate::tx::{Effect, Tx};

/// State shared by the store's handles and the writer thread.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) setup: Setup,
    /// Files opened before, so that a damaged one is recognised as ours.
    pub(crate) known: KnownFiles,
    pub(crate) pool: Pool,
    pub(crate) notices: Mutex<Vec<String>>,
    /// The store is read-only: it was opened that way, or another process held the write lock when it was opened.
    pub(crate) only_read: AtomicBool,
    /// Some documents are not in the full-text index yet.
    pub(crate) behind: AtomicBool,
    /// Some passages lack their embedding although embeddings are enabled.
    pub(crate) bare: AtomicBool,
    /// Many records are not counted by half hour yet.
    pub(crate) uncounted: AtomicBool,
    pub(crate) facts: Arc<StoreFacts>,
    pub(crate) commits: CommitSignal,
}

impl Shared {
    pub(crate) fn path(&self) -> &Path {
        &self.options.path
    }

    pub(crate) fn now(&self) -> i64 {
        (self.options.clock)()
    }
}

struct Live {
    db: Connection,
    standing: Standing,
    /// Number of this opening: a reader may report damage that it met in an earlier one.
    generation: u64,
    /// Whether the WAL existed before the opening. A read-only store then leaves it on close.
    had_log: bool,
    /// Whether SQLite could open the file only for reading.
    read_only: bool,
    opened_at: Instant,
    /// Declared last, so that it is released after the database is closed.
    _claim: Option<FileClaim>,
}

impl Live {
    /// Closes a database that is no longer at its path. The file may have been moved, so the WAL is checkpointed
    /// into it first. If that fails, the WAL is kept under the name that is returned.
    fn give_up(self, path: &Path, now: i64) -> Option<PathBuf> {
        let Live { db, standing, _claim, .. } = self;
        let is_written = connection::checkpoint(&db).is_ok();
        drop(db);
        let kept = if is_written { None } else { standing.keep_own_log(path, now) };
        standing.remove_own_sidecars(path);
        kept
    }
}

/// The open database, or none while the file at the path cannot be used.
pub(crate) struct Keeper {
    shared: Arc<Shared>,
    on_open: OnOpen,
    live: Option<Live>,
    started: bool,
    last_seq: u64,
    /// The database at the path is new and holds the records recovered from a damaged one.
    rebuilt: bool,
    /// A notice for users that the next opening stores.
    notice: Option<String>,
    /// Notices of the database that a restore replaces. They are about files in the directory, so the restored database
    /// keeps them.
    carried: Vec<(i64, String)>,
}

impl Keeper {
    pub(crate) fn new(shared: Arc<Shared>, on_open: OnOpen) -> Keeper {
        Keeper {
            shared,
            on_open,
            live: None,
            started: false,
            last_seq: 0,
            rebuilt: false,
            notice: None,
            carried: Vec::new(),
        }
    }

    /// The database at the path, reopened if it is not the file that was open.
    pub(crate) fn ready(&mut self) -> Result<&Connection, StoreError> {
        match self.look() {
            // A read-only store keeps the file it opened.
            Some(_) if self.shared.setup.to_read => {}
            // The file may have become writable; the connection would not notice.
            Some(Look::Same) if self.is_stuck_read_only() => self.reopen()?,
            Some(Look::Same) if !self.shared.only_read.load(Ordering::Relaxed) => {}
            Some(Look::SidecarLost) => self.reseat()?,
            // A read-only opening skipped steps that have to run before the first write.
            Some(Look::Same | Look::Gone | Look::Other) | None => {
                self.let_go();
                self.open()?;
            }
        }
        self.live.as_ref().map(|live| &live.db).ok_or_else(|| StoreError::Io("it is closed".into()))
    }

    fn is_stuck_read_only(&self) -> bool {
        let stuck = |live: &Live| live.opened_at.elapsed() >= limits::READ_ONLY_RETRY;
        self.live.as_ref().is_some_and(|live| live.read_only && stuck(live))
    }

    /// Whether the open database and its WAL are still the files at the path.
    pub(crate) fn stands(&self) -> bool {
        matches!(self.look(), Some(Look::Same))
    }

    /// The open database, even if another file is at the path by now.
    pub(crate) fn open_now(&self) -> Option<&Connection> {
        self.live.as_ref().map(|live| &live.db)
    }

    /// Whether the last commit went into the file that is at the path now.
    pub(crate) fn holds(&mut self) -> Result<bool, StoreError> {
        match self.look() {
            Some(Look::Same) => Ok(true),
            Some(Look::SidecarLost) => self.reseat().map(|()| true),
            Some(Look::Gone | Look::Other) | None => Ok(false),
        }
    }

    /// Handles damage that a statement met: the file at the path is sound afterwards.
    pub(crate) fn repair(&mut self, why: &str) -> Result<(), StoreError> {
        if self.shared.setup.to_read {
            return Err(StoreError::Corrupt(why.to_owned()));
        }
        // A file that was replaced while it was open reads like a damaged one, and is only opened again.
        if matches!(self.look(), Some(Look::Same | Look::SidecarLost)) {
            self.let_go();
            // Another program may have written over the file in place: that is not damage.
            let refused = connection::refuse_foreign_head(self.shared.path(), &self.shared.known);
            refused.inspect_err(|_| self.shared.pool.lose())?;
            self.set_aside(why)?;
        }
        self.ready().map(|_| ())
    }

    /// Handles damage that a reader of this generation met; does nothing if the file was reopened since.
    pub(crate) fn repair_for_reader(
        &mut self,
        why: &str,
        generation: u64,
    ) -> Result<(), StoreError> {
        match &self.live {
            Some(live) if live.generation != generation => Ok(()),
            _ => self.repair(why),
        }
    }

    /// Remembers the last event sequence number, for a new file that does not have it.
    pub(crate) fn saw(&mut self, seq: u64) {
        self.last_seq = self.last_seq.max(seq);
    }

    fn look(&self) -> Option<Look> {
        self.live.as_ref().map(|live| live.standing.look(self.shared.path()))
    }

    /// Closes all handles. If another file is at the path, the WAL of the file that was open must not be replayed onto
    /// the other one.
    fn let_go(&mut self) {
        self.shared.pool.suspend();
        if let Some(live) = self.live.take() {
            let path = self.shared.path();
            let notice = match live.standing.look(path) {
                Look::Gone => "the database file had vanished while in use; a new one was started",
                Look::Other => "another database file was put in the place of the one in use",
                Look::Same | Look::SidecarLost => return,
            };
            self.notice = Some(match live.give_up(path, self.shared.now()) {
                Some(log) => format!(
                    "{notice}; the last changes to the old file could not be written into it, they are in {}",
                    log.display()
                ),
                None => notice.to_owned(),
            });
        }
    }

    /// Opens the database at the path, or creates one if there is none. A damaged one is moved aside
    /// first.
    fn open(&mut self) -> Result<(), StoreError> {
        if !self.started && !self.shared.setup.to_read {
            self.clear_leftovers()?;
        }
        let mut opened = self.try_open(true);
        if let Err(StoreError::Corrupt(why)) = &opened
            && !self.shared.setup.to_read
            && connection::may_salvage(self.shared.path(), &self.shared.known)
        {
            let why = why.clone();
            opened = self.set_aside(&why).and_then(|()| self.try_open(true));
        }
        if opened.is_err() {
            self.shared.pool.lose();
        }
        opened
    }

    /// Cleans up after a killed process: finishes its repair and removes its scratch files.
    fn clear_leftovers(&mut self) -> Result<(), StoreError> {
        let path = self.shared.path().to_owned();
        let finished = leftovers::finish_repair(&path)?;
        self.rebuilt |= finished;
        let swept = leftovers::sweep(&path, &self.shared.options.backups);
        if finished || !swept.is_empty() {
            let mut notice = "an earlier process was interrupted".to_owned();
            if finished {
                notice.push_str("; its repair of the database was completed");
            }
            if !swept.is_empty() {
                let names: Vec<String> =
                    swept.iter().map(|file| file.display().to_string()).collect();
                notice.push_str("; its scratch files were deleted: ");
                notice.push_str(&names.join(", "));
            }
            self.notice = Some(notice);
        }
        Ok(())
    }

    fn set_aside(&mut self, why: &str) -> Result<(), StoreError> {
        let shared = &self.shared;
        let done = recover::set_aside(shared.path(), &shared.setup, why, shared.now());
        match done {
            Ok(()) => {
                self.rebuilt = true;
                self.notice = None;
            }
            Err(_) => shared.pool.lose(),
        }
        done
    }

    /// One attempt; `announce` runs the runtime's `on_open` callback.
    fn try_open(&mut self, announce: bool) -> Result<(), StoreError> {
        let shared = Arc::clone(&self.shared);
        let path = shared.path();
        // A path that cannot be read is refused right after, with its name.
        let before = files::id(path).ok().flatten();
        let had_log = files::id(&files::beside(path, "-wal")).is_ok_and(|log| log.is_some());
        let claim = if shared.setup.to_read {
            connection::refuse_foreign(path, &shared.known)?;
            None
        } else {
            connection::prepare_file(path, &shared.known)?;
            Some(shared.known.claim(path)?)
        };
        let (db, new) = connection::open_writer(path, &shared.setup)?;
        let read_only = db.is_readonly(MAIN_DB).unwrap_or(false);
        let opened = match (self.started, new || self.rebuilt) {
            (false, _) => Opened::First,
            (true, true) => Opened::Fresh,
            (true, false) => Opened::Replaced,
        };
        let effects = self.in_transaction(&db, announce.then_some(opened))?;
        let standing = Standing::of(path)?;
        if before.is_some_and(|before| before != standing.database) {
            return Err(StoreError::Io("the file was replaced while it was being opened".into()));
        }
        let generation = shared.pool.resume(standing.database);
        self.started = true;
        self.rebuilt = false;
        self.notice = None;
        self.carried.clear();
        let opened_at = Instant::now();
        self.live =
            Some(Live { db, standing, generation, had_log, read_only, opened_at, _claim: claim });
        run_effects(effects);
        Ok(())
    }

    fn in_transaction(
        &mut self,
        db: &Connection,
        opened: Option<Opened>,
    ) -> Result<Vec<Effect>, StoreError> {
        let failed = |error: rusqlite::Error| StoreError::of_any(&error);
        self.begin(db, opened)?;
        self.shared.facts.catalogue.clear();
        let cache = BatchCache::new(&self.shared.facts);
        let tx = Tx::new(db, &cache, self.shared.now());
        if let Err(error) = self.on_opened(&tx, opened) {
            // The database's own fault says more than the error that callers made of it.
            let fault = tx.take_fault().unwrap_or(StoreError::Io(error.message));
            // The connection is dropped next, which rolls the transaction back.
            return Err(fault);
        }
        // There is no subscriber yet.
        let (deferred, effects, _) = tx.into_rest();
        let finished = group_end::finish(db, &cache, deferred)?;
        if finished.index.noted > 0 {
            self.shared.behind.store(true, Ordering::Relaxed);
        }
        db.execute_batch("COMMIT").map_err(failed)?;
        run_effects(finished.effects);
        Ok(effects)
    }

    /// Begins the transaction of an opening. A one-shot command may only want to read, so its first
    /// opening continues without the write lock if another process holds it.
    fn begin(&self, db: &Connection, opened: Option<Opened>) -> Result<(), StoreError> {
        let failed = |error: rusqlite::Error| StoreError::of_any(&error);
        let Setup { one_shot, to_read, busy, .. } = self.shared.setup;
        if to_read {
            self.shared.only_read.store(true, Ordering::Relaxed);
            return db.execute_batch("BEGIN").map_err(failed);
        }
        let may_only_read =
            one_shot && opened == Some(Opened::First) && !self.rebuilt && self.notice.is_none();
        if may_only_read {
            db.busy_timeout(Duration::ZERO).map_err(failed)?;
        }
        let begun = db.execute_batch("BEGIN IMMEDIATE").map_err(failed);
        db.busy_timeout(busy).map_err(failed)?;
        let only_read = may_only_read && begun == Err(StoreError::Busy);
        self.shared.only_read.store(only_read, Ordering::Relaxed);
        if only_read { db.execute_batch("BEGIN").map_err(failed) } else { begun }
    }

    fn on_opened(&mut self, tx: &Tx<'_>, opened: Option<Opened>) -> Result<(), OpError> {
        let now = self.shared.now();
        tx.sql(|db| {
            notices::carry(db, &self.carried)?;
            self.notice.iter().try_for_each(|notice| notices::add(db, now, notice))
        })?;
        let recent = notices::recent(tx, now)?;
        *self.shared.notices.lock().unwrap_or_else(PoisonError::into_inner) = recent;
        let only_read = self.shared.only_read.load(Ordering::Relaxed);
        if !only_read {
            events::repair_sequence(tx)?;
        }
        // A damaged file may have lost its sequence of events and still have contexts with versions.
        let versions = if only_read { 0 } else { context::newest_version(tx)? };
        let known = self.last_seq.max(versions);
        let version = match self.rebuilt {
            // The repair may have lost versions, so every context gets a new one.
            true => Some(events::reserve_after(tx, known)?),
            false => events::go_on_after(tx, known)?,
        };
        if let Some(version) = version {
            context::renumber(tx, version)?;
        }
        self.last_seq = events::last_seq(tx)?;
        if self.rebuilt || (!only_read && (passages::is_old(tx)? || passages::lost_postings(tx)?)) {
            passages::rebuild(tx)?;
        }
        if !only_read {
            pauses::changed(tx);
        }
        // A store that is opened to read may lack tables of the index; `doctor` reports that.
        let known = |found: Result<bool, OpError>| match found {
            Err(_) if !tx.has_fault() => Ok(false),
            found => found,
        };
        self.shared.behind.store(known(passages::is_behind(tx))?, Ordering::Relaxed);
        self.shared.bare.store(known(passages::is_bare(tx))?, Ordering::Relaxed);
        let uncounted = !only_read && known(activity_counts::is_behind(tx))?;
        self.shared.uncounted.store(uncounted, Ordering::Relaxed);
        match opened {
            Some(opened) => catch_unwind(AssertUnwindSafe(|| (self.on_open)(tx, opened)))
                .unwrap_or_else(|_| Err(OpError::internal("opening the database panicked"))),
            None => Ok(()),
        }
    }

    /// The database is the same file, but its WAL was removed or replaced: checkpoints the open WAL into
    /// the database and reopens both.
    fn reseat(&mut self) -> Result<(), StoreError> {
        self.shared.pool.suspend();
        let moved = match &self.live {
            Some(live) => connection::checkpoint(&live.db),
            None => Ok(()),
        };
        if let (Err(error), Some(live)) = (moved, &self.live) {
            self.shared.pool.resume(live.standing.database);
            return Err(error);
        }
        if let Some(live) = self.live.take() {
            drop(live.db);
            live.standing.remove_own_sidecars(self.shared.path());
        }
        self.reopen()
    }

    /// Closes all handles and opens the same database again.
    fn reopen(&mut self) -> Result<(), StoreError> {
        self.shared.pool.suspend();
        self.live = None;
        let opened = self.try_open(false);
        if opened.is_err() {
            self.shared.pool.lose();
        }
        opened
    }

    /// Replaces the database with a checked copy. Returns where the old one was saved.
    pub(crate) fn swap(&mut self, copy: &Scratch) -> Result<PathBuf, OpError> {
        let busy = self.shared.setup.busy;
        let backups = self.shared.options.backups.clone();
        files::make_folder(&backups).map_err(StoreError::from)?;
        let saved = unused_backup(&backups, self.shared.now());
        let db = self.ready()?;
        backup::copy(db, &saved, busy, &|_, _| Ok(()))?;
        // Notices that cannot be read are no reason to keep a damaged database.
        self.carried = notices::all(db).unwrap_or_default();
        self.shared.pool.suspend();
        let path = self.shared.path().to_owned();
        if let Some(live) = self.live.take() {
            // With an empty WAL, a crash from here on cannot replay it onto the other database.
            if let Err(error) = connection::checkpoint(&live.db) {
                self.shared.pool.resume(live.standing.database);
                self.live = Some(live);
                return Err(error.into());
            }
            drop(live.db);
            live.standing.remove_own_sidecars(&path);
        }
        let swapped = std::fs::rename(&copy.0, &path).and_then(|()| files::sync_folder(&path));
        self.open()
            .map_err(|error| OpError::from(error).with("saved", saved.display().to_string()))?;
        swapped.map_err(StoreError::from)?;
        Ok(saved)
    }

    /// Rewrites the file so that no deleted data remains in it or in its WAL.
    pub(crate) fn compact(&mut self) -> Result<(), StoreError> {
        self.ready()?;
        // A reader's snapshot would keep the old WAL alive.
        self.shared.pool.suspend();
        let Some(live) = &mut self.live else {
            return Err(StoreError::Io("it is closed".into()));
        };
        let done = live.db.execute_batch("VACUUM").map_err(|e| StoreError::of_any(&e));
        let done = done.and_then(|()| connection::checkpoint(&live.db));
        live.generation = self.shared.pool.resume(live.standing.database);
        done
    }

    /// Checkpoints if needed and closes all handles.
    pub(crate) fn close(&mut self) {
        self.shared.pool.close();
        let look = self.look();
        let Some(live) = self.live.take() else { return };
        if self.shared.only_read.load(Ordering::Relaxed) {
            // Nothing was written, and a checkpoint would wait for the lock. If this opening created an
            // empty WAL, it is deleted again, unless another process has it open by now.
            if self.shared.setup.to_read && !live.had_log {
                connection::tidy_on_close(&live.db);
            }
            return;
        }
        let path = self.shared.path();
        match look {
            Some(Look::Same | Look::SidecarLost) => {
                let wal = files::bytes(&files::beside(path, "-wal"));
                let small = wal <= limits::ONE_SHOT_WAL_BYTES_MAX;
                if self.shared.setup.one_shot && small && look == Some(Look::Same) {
                    return;
                }
                // Pages that the checkpoint does not reach stay in the WAL, which the next process reads.
                let whole = connection::checkpoint(&live.db).is_ok();
                if whole && !self.shared.setup.one_shot {
                    connection::tidy_on_close(&live.db);
                }
            }
            Some(Look::Gone | Look::Other) | None => drop(live.give_up(path, self.shared.now())),
        }
    }
}

/// Runs in-memory effects after the commit. If one panics, the others still run.
pub(crate) fn run_effects(effects: Vec<Effect>) {
    for effect in effects {
        let _ = catch_unwind(AssertUnwindSafe(effect));
    }
}

fn unused_backup(folder: &Path, now: i64) -> PathBuf {
    let stamp = time::file_stamp(now);
    let mut name = folder.join(format!("before-restore-{stamp}.db"));
    let mut number = 2_u32;
    while name.exists() {
        name = folder.join(format!("before-restore-{stamp}-{number}.db"));
        number += 1;
    }
    name
}
