//! The store's handle: writes go to the writer thread, reads to the pool.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, ThreadId};
use std::time::{Duration, Instant};

use model::event::Published;
use model::{CallId, OpError, limits};
use serde::Serialize;

use crate::aggregate::Aggregate;
use crate::answer::Answer;
use crate::backup;
use crate::batch_cache::StoreFacts;
use crate::commit_signal::CommitSignal;
use crate::connection::{self, Setup};
use crate::copies;
use crate::error::StoreError;
use crate::files;
use crate::foreground::{ForegroundKind, ForegroundUse};
use crate::health::{self, Health, Integrity};
use crate::index_health;
use crate::keeper::{Keeper, Shared};
use crate::known::KnownFiles;
use crate::passages;
use crate::pool::{NoReader, Pool, Reader};
use crate::registry;
use crate::spool_files::{self, SpoolFiles};
use crate::tx::{Rx, Tx};
use crate::writer::{Command, Job, Work, Writer};

/// Where the database is and how it is used.
#[derive(Clone)]
pub struct Options {
    pub path: PathBuf,
    /// A process that does one thing and ends. It leaves a small WAL to other processes, without a
    /// checkpoint.
    pub one_shot: bool,
    /// Where `restore` saves the database that it replaces.
    pub backups: PathBuf,
    /// The directories of the spool, whose files contain user text too.
    pub spools: Vec<PathBuf>,
    /// Directories for the record of opened databases, the preferred one first. See
    /// [`crate::check_file`].
    pub records: Vec<PathBuf>,
    /// The directory for locks by the identity of a database file, which all processes of the user share. It is
    /// created, and used only if no other user can write to it.
    pub identity_locks: Option<PathBuf>,
    /// Pages the database may grow to; for tests of a full disk.
    pub page_count_max: Option<u32>,
    /// Whether embeddings are computed for records, for search by meaning.
    pub meaning: bool,
    /// Aggregates besides those of the store, which plugins bring.
    pub more: Vec<&'static dyn Aggregate>,
    /// Milliseconds since 1970, UTC.
    pub clock: fn() -> i64,
}

/// How the database came to be open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// At the start of the process.
    First,
    /// The file had vanished or was damaged while in use, and is new.
    Fresh,
    /// Another database file is at the path now.
    Replaced,
}

/// Runs inside a transaction after each opening, on the writer thread.
pub type OnOpen = Box<dyn Fn(&Tx<'_>, Opened) -> Result<(), OpError> + Send + Sync>;

/// Called with the events of a commit after COMMIT, in sequence, on the writer thread, before
/// replies are sent.
pub type Publish = Box<dyn Fn(Vec<Published>) + Send + Sync>;

/// A write's call id and time.
#[derive(Clone, Debug, Default)]
pub struct Write {
    /// The call whose repeat must find the stored answer.
    pub call: Option<CallId>,
    /// A hash of the call. An id that comes again with another fingerprint is a conflict, not a repeat.
    pub fingerprint: i64,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
}

/// The result of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written<T> {
    Done(T),
    /// The call was answered before: that answer as JSON. Nothing ran.
    Repeated(String),
}

/// A write that is queued or runs, while its caller does something else. It is also done if this value is dropped.
pub struct StartedWrite<T>(Answer<Result<Written<T>, OpError>>);

impl<T> StartedWrite<T> {
    /// Waits for COMMIT.
    pub fn wait(self) -> Result<Written<T>, OpError> {
        self.0.wait().ok_or_else(closed)?
    }
}

/// The store; cloning it is cheap.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    queue: SyncSender<Command>,
    writer: ThreadId,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Store {
    /// Opens the database, or makes it, and starts the writer thread. `on_open` has run with
    /// [`Opened::First`] when this returns.
    pub fn open(options: Options, on_open: OnOpen, publish: Publish) -> Result<Store, StoreError> {
        Store::open_within(options, limits::STORE_BUSY, on_open, publish)
    }

    /// Opens an existing database read-only; other processes may write to it at the same time.
    pub fn open_to_read(
        options: Options,
        on_open: OnOpen,
        publish: Publish,
    ) -> Result<Store, StoreError> {
        Store::open_as(options, limits::STORE_BUSY, true, on_open, publish)
    }

    /// Opens the database with the given timeout for locks of other processes.
    pub(crate) fn open_within(
        options: Options,
        busy: Duration,
        on_open: OnOpen,
        publish: Publish,
    ) -> Result<Store, StoreError> {
        Store::open_as(options, busy, false, on_open, publish)
    }

    fn open_as(
        options: Options,
        busy: Duration,
        to_read: bool,
        on_open: OnOpen,
        publish: Publish,
    ) -> Result<Store, StoreError> {
        let (one_shot, page_count_max) = (options.one_shot, options.page_count_max);
        let registry = Arc::new(registry::with(&options.more));
        let setup = Setup { registry: registry.clone(), one_shot, to_read, page_count_max, busy };
        let facts = StoreFacts {
            registry,
            catalogue: Arc::default(),
            database: options.path.clone(),
            meaning: options.meaning,
            foreground: Arc::default(),
            index_rebuilds: AtomicUsize::default(),
        };
        let pool = Pool::new(options.path.clone(), busy);
        let known = KnownFiles::new(&options.records, options.identity_locks.clone());
        let shared = Arc::new(Shared {
            options,
            setup,
            known,
            pool,
            notices: Mutex::default(),
            only_read: AtomicBool::default(),
            behind: AtomicBool::default(),
            bare: AtomicBool::default(),
            uncounted: AtomicBool::default(),
            facts: Arc::new(facts),
            commits: CommitSignal::default(),
        });
        let keeper = Keeper::new(Arc::clone(&shared), on_open);
        let mut writer = Writer::new(Arc::clone(&shared), keeper, publish);
        let (queue, commands) = sync_channel(limits::WRITE_QUEUE_MAX);
        let (opened, first) = sync_channel(1);
        let thread = thread::Builder::new().name("store-writer".into()).spawn(move || {
            let started = writer.start();
            let failed = started.is_err();
            let _ = opened.send(started);
            if !failed {
                writer.work(&commands);
            }
        })?;
        let writer = thread.thread().id();
        first.recv().unwrap_or_else(|_| Err(StoreError::Io("its writer ended".into())))?;
        let thread = Mutex::new(Some(thread));
        Ok(Store { inner: Arc::new(Inner { shared, queue, writer, thread }) })
    }

    /// Runs `f` in a transaction and returns after COMMIT. The writer may run `f` more than once;
    /// only the run that is committed counts.
    pub fn write<T: Serialize + Send + 'static>(
        &self,
        write: Write,
        f: impl FnMut(&Tx<'_>) -> Result<T, OpError> + Send + 'static,
    ) -> Result<Written<T>, OpError> {
        self.start_write(write, f)?.wait()
    }

    /// Queues a write and returns at once.
    pub fn start_write<T: Serialize + Send + 'static>(
        &self,
        write: Write,
        f: impl FnMut(&Tx<'_>) -> Result<T, OpError> + Send + 'static,
    ) -> Result<StartedWrite<T>, OpError> {
        self.submit(write, f).map(StartedWrite)
    }

    /// Queues a write and returns at once. `then` gets its result on the writer's thread, which it must
    /// not block. If the store closes first, `then` is dropped.
    pub fn write_then<T: Serialize + Send + 'static>(
        &self,
        write: Write,
        f: impl FnMut(&Tx<'_>) -> Result<T, OpError> + Send + 'static,
        then: impl FnOnce(Result<Written<T>, OpError>) + Send + 'static,
    ) {
        let work = Box::new(Task { f, value: None, then });
        let Err(refused) = self.inner.queue.try_send(Command::Job(Job { write, work })) else {
            return;
        };
        let error = refusal(&refused);
        if let TrySendError::Full(Command::Job(job))
        | TrySendError::Disconnected(Command::Job(job)) = refused
        {
            job.work.reply(Err(error));
        }
    }

    /// Queues a write; the returned [`Answer`] receives its result.
    pub(crate) fn submit<T: Serialize + Send + 'static>(
        &self,
        write: Write,
        f: impl FnMut(&Tx<'_>) -> Result<T, OpError> + Send + 'static,
    ) -> Result<Answer<Result<Written<T>, OpError>>, OpError> {
        self.may_wait()?;
        let (answer, tell) = Answer::new();
        self.write_then(write, f, tell);
        Ok(answer)
    }

    /// Wakes a listener after commits.
    pub fn commits(&self) -> &CommitSignal {
        &self.inner.shared.commits
    }

    /// Runs `f` over a snapshot.
    pub fn read<T>(&self, f: impl FnOnce(&Rx<'_>) -> Result<T, OpError>) -> Result<T, OpError> {
        let reader = self.reader()?;
        let Some(db) = reader.connection() else { return Err(closed()) };
        let facts = &self.inner.shared.facts;
        let rx = Rx::new(db, &facts.catalogue, &facts.registry);
        let done = begin(&rx).and_then(|()| f(&rx));
        let fault = rx.take_fault();
        let generation = reader.generation();
        // The reader is returned first, because the writer waits for readers before a repair.
        drop(reader);
        match (done, fault) {
            (Err(_), Some(fault)) => Err(self.report(fault, generation)),
            (done, _) => done,
        }
    }

    /// A reader of the file that is at the path.
    fn reader(&self) -> Result<Reader<'_>, OpError> {
        for _ in 0..limits::STORE_LOOKS_MAX {
            match self.inner.shared.pool.checkout() {
                Ok(reader) => return Ok(reader),
                Err(NoReader::Stale) => {
                    let (reply, looked) = sync_channel(1);
                    self.ask(Command::Look { reply })?;
                    self.wait(&looked)??;
                }
                Err(NoReader::Closed) => return Err(closed()),
                Err(NoReader::AllBusy) => {
                    let max = limits::READ_CONNECTIONS_MAX;
                    return Err(OpError::unavailable(format!(
                        "all {max} read connections are busy"
                    ))
                    .with("max", max)
                    .hint("Try again."));
                }
                Err(NoReader::Failed { error, generation }) => {
                    return Err(self.report(error, generation));
                }
            }
        }
        Err(StoreError::Io("its file is moved or replaced repeatedly".into()).into())
    }

    /// Reports damage that a reader met to the writer. Returns the error for the reader's caller.
    fn report(&self, fault: StoreError, generation: u64) -> OpError {
        if let StoreError::Corrupt(why) = &fault {
            let (reply, repaired) = sync_channel(1);
            let command = Command::Repair { why: why.clone(), generation, reply };
            let asked = self.ask(command).and_then(|()| self.wait(&repaired)?.map_err(Into::into));
            if let Err(error) = asked {
                return error;
            }
        }
        fault.into()
    }

    /// Brings the full-text index up to date with all earlier commits, within this time. Returns whether
    /// it is up to date.
    pub fn catch_up(&self, patience: Duration) -> bool {
        let Shared { behind, bare, setup, facts, .. } = &*self.inner.shared;
        let _search = ForegroundUse::of(&facts.foreground, ForegroundKind::Search);
        let is_behind = || behind.load(Ordering::Acquire);
        // A one-shot process computes embeddings here, because it has no idle time later.
        let is_due = || is_behind() || (setup.one_shot && bare.load(Ordering::Acquire));
        let until = Instant::now() + patience;
        // A read-only store uses the index as it is.
        while is_due() && !self.only_reads() {
            let work = if setup.one_shot { passages::catch_up } else { passages::index };
            if self.write(Write::default(), work).is_err() || Instant::now() >= until {
                break;
            }
        }
        !is_behind()
    }

    /// Notes that an agent waits for a hook, until the value is dropped.
    pub fn hook_waits(&self) -> ForegroundUse {
        ForegroundUse::of(&self.inner.shared.facts.foreground, ForegroundKind::Hook)
    }

    /// Queues a batch of indexing if there was a search recently, so that no search has to index the backlog of bulk
    /// work. Without searches the writer indexes when it is idle.
    pub fn index_for_searches(&self) {
        let Shared { behind, facts, .. } = &*self.inner.shared;
        let come = facts.foreground.had_search(limits::SEARCHES_COME);
        let is_due = come && behind.load(Ordering::Acquire);
        if is_due && !self.only_reads() {
            self.write_then(Write::default(), passages::index, drop);
        }
    }

    /// Indexes all unindexed documents, batch by batch, so that other writes run in between. `progress` gets how many are
    /// done and how many there are; if it returns an error, the work ends, and the rest stays unindexed.
    pub fn index_all(
        &self,
        progress: &dyn Fn(u64, u64) -> Result<(), OpError>,
    ) -> Result<(), OpError> {
        let all = self.read(passages::waiting)?;
        let mut left = all;
        while left > 0 {
            progress(all.saturating_sub(left), all)?;
            self.write(Write::default(), passages::index)?;
            left = self.read(passages::waiting)?;
        }
        Ok(())
    }

    /// Checks the full-text index and rebuilds it if it is damaged, when the writer gets to it.
    pub fn mend_index_later(&self) {
        if !self.only_reads() {
            self.write_then(Write::default(), index_health::mend, drop);
        }
    }

    /// Whether every passage has its embedding, if embeddings are enabled. Computing them for a large
    /// store takes minutes. Searches of a daemon do not wait for them. A one-shot process spends up to
    /// `INDEX_PATIENCE` on them.
    pub fn is_worked_out(&self) -> bool {
        !self.inner.shared.bare.load(Ordering::Acquire)
    }

    /// Copies the database to a new file while it is in use. `progress` gets the pages that are left and the pages in
    /// all; an error from it aborts the copy.
    pub fn backup(
        &self,
        file: &Path,
        progress: &dyn Fn(u32, u32) -> Result<(), OpError>,
    ) -> Result<(), OpError> {
        // Looks at the file first, as any reader does, but does not occupy a reader for long.
        self.read(|_| Ok(()))?;
        let shared = &self.inner.shared;
        let db = connection::open_reader(shared.path(), shared.setup.busy)?;
        backup::copy(&db, file, shared.setup.busy, progress)
    }

    /// Checks the database in `file` and replaces this one with it. Returns the path at which this one was saved.
    pub fn restore(&self, file: &Path) -> Result<PathBuf, OpError> {
        let shared = &self.inner.shared;
        let current = files::id(shared.path()).map_err(StoreError::from)?;
        let copy = backup::prepare_restore(file, shared.path(), current, &shared.setup)?;
        let (reply, swapped) = sync_channel(1);
        self.ask(Command::Restore { copy, reply })?;
        self.wait(&swapped)?
    }

    /// The copies of the database: saved by a restore, set aside as damaged, or in its directory. With a text
    /// only those that contain it, or that cannot be read.
    pub fn copies(&self, text: Option<&str>) -> Vec<PathBuf> {
        let shared = &self.inner.shared;
        copies::find(shared.path(), &shared.options.backups, text)
    }

    /// The files of the spool that contain a text, as `is_in` says.
    pub fn spool_files(&self, is_in: &dyn Fn(&[u8]) -> Option<bool>) -> SpoolFiles {
        spool_files::find(&self.inner.shared.options.spools, is_in)
    }

    /// Rewrites the file so that no deleted data remains in it. Time and extra disk space are
    /// proportional to the size of the file.
    pub fn compact(&self) -> Result<(), OpError> {
        let (reply, done) = sync_channel(1);
        self.ask(Command::Compact { reply })?;
        self.wait(&done)?.map_err(Into::into)
    }

    /// Looks at the whole database, within a bounded time.
    pub fn health(&self) -> Health {
        let shared = &self.inner.shared;
        health::examine(shared.path(), &shared.setup, self.notices())
    }

    /// Checks the whole database. A damaged full-text index is rebuilt; a damaged file is set aside, and its readable
    /// rows are copied into a new one.
    pub fn mend(&self) -> Result<Health, OpError> {
        let health = self.health();
        if health.index_damage.is_some() {
            self.write(Write::default(), index_health::mend)?;
        }
        let Integrity::Damaged(findings) = &health.integrity else {
            return Ok(if health.index_damage.is_some() { self.health() } else { health });
        };
        let why = findings.first().cloned().unwrap_or_default();
        let generation = self.inner.shared.pool.generation();
        let (reply, mended) = sync_channel(1);
        self.ask(Command::Repair { why, generation, reply })?;
        self.wait(&mended)??;
        Ok(self.health())
    }

    /// Recovery notices as text, oldest first.
    pub fn notices(&self) -> Vec<String> {
        self.inner.shared.notices.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the store was opened read-only, or another process held the write lock when a one-shot
    /// command opened the database; a write would have to wait for that lock.
    pub fn only_reads(&self) -> bool {
        self.inner.shared.only_read.load(Ordering::Relaxed)
    }

    /// Finishes the queued writes, checkpoints, and closes all handles; later calls are
    /// `unavailable`.
    pub fn close(&self) {
        self.inner.close();
    }

    fn ask(&self, command: Command) -> Result<(), OpError> {
        self.may_wait()?;
        self.inner.queue.try_send(command).map_err(|refused| refusal(&refused))
    }

    fn may_wait(&self) -> Result<(), OpError> {
        if thread::current().id() == self.inner.writer {
            return Err(OpError::internal("a write waits for itself"));
        }
        Ok(())
    }

    fn wait<T>(&self, reply: &Receiver<T>) -> Result<T, OpError> {
        reply.recv().map_err(|_| closed())
    }
}

impl Inner {
    fn close(&self) {
        // Sending fails if the writer has ended already; then there is nothing to stop.
        let _ = self.queue.send(Command::Close);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && thread::current().id() != self.writer
        {
            let _ = thread.join();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}

fn begin(rx: &Rx<'_>) -> Result<(), OpError> {
    rx.sql(|db| db.prepare_cached("BEGIN")?.execute([])).map(drop)
}

fn refusal(refused: &TrySendError<Command>) -> OpError {
    match refused {
        TrySendError::Full(_) => {
            let max = limits::WRITE_QUEUE_MAX;
            OpError::unavailable(format!("{max} writes are waiting already"))
                .with("max", max)
                .hint("Try again in a moment.")
        }
        TrySendError::Disconnected(_) => closed(),
    }
}

fn closed() -> OpError {
    OpError::unavailable("the store is closed").hint("The daemon is stopping: try again.")
}

/// A write's closure, its last result, and the callback that gets it.
struct Task<T, F, R> {
    f: F,
    value: Option<T>,
    then: R,
}

impl<T, F, R> Work for Task<T, F, R>
where
    T: Serialize + Send + 'static,
    F: FnMut(&Tx<'_>) -> Result<T, OpError> + Send + 'static,
    R: FnOnce(Result<Written<T>, OpError>) + Send + 'static,
{
    fn run(&mut self, tx: &Tx<'_>) -> Result<(), OpError> {
        self.value = None;
        self.value = Some((self.f)(tx)?);
        Ok(())
    }

    fn answer(&self) -> Result<String, OpError> {
        serde_json::to_string(&self.value)
            .map_err(|error| OpError::internal(format!("an answer is not JSON: {error}")))
    }

    fn reply(self: Box<Self>, outcome: Result<Option<String>, OpError>) {
        let written = match (outcome, self.value) {
            (Err(error), _) => Err(error),
            (Ok(Some(answer)), _) => Ok(Written::Repeated(answer)),
            (Ok(None), Some(value)) => Ok(Written::Done(value)),
            (Ok(None), None) => Err(OpError::internal("a write was committed without a result")),
        };
        (self.then)(written);
    }
}
