//! The writer thread: commits all queued writes as one group, and only then replies.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Instant;

use model::context::ContextSets;
use model::event::Published;
use model::{OpError, limits};
use rusqlite::Connection;

use crate::batch_cache::BatchCache;
use crate::deferred::DeferredWork;
use crate::error::StoreError;
use crate::files::Scratch;
use crate::group_end::{self, Finished};
use crate::index_state::IndexState;
use crate::keeper::{Keeper, Shared, run_effects};
use crate::mover::Mover;
use crate::store::{Publish, Write};
use crate::tx::{Effect, Rx, Tx};
use crate::{
    activity_counts, calls, connection, context, files, passages, record_ids, session_events,
};

/// A command for the writer thread.
pub(crate) enum Command {
    Job(Job),
    /// A reader found another file at the path, or none.
    Look {
        reply: SyncSender<Result<(), StoreError>>,
    },
    /// A reader of this generation met damage.
    Repair {
        why: String,
        generation: u64,
        reply: SyncSender<Result<(), StoreError>>,
    },
    Restore {
        copy: Scratch,
        reply: SyncSender<Result<PathBuf, OpError>>,
    },
    /// Rewrite the file without the deleted data.
    Compact {
        reply: SyncSender<Result<(), StoreError>>,
    },
    Close,
}

/// One queued write: its call id and its closure.
pub(crate) struct Job {
    pub(crate) write: Write,
    pub(crate) work: Box<dyn Work>,
}

/// The closure of a write with its result's type erased.
pub(crate) trait Work: Send {
    /// Runs the closure and keeps its result.
    fn run(&mut self, tx: &Tx<'_>) -> Result<(), OpError>;
    /// The kept result as the JSON that a repeat gets.
    fn answer(&self) -> Result<String, OpError>;
    /// Replies to the caller: with the kept result, or with the stored answer of an earlier call.
    fn reply(self: Box<Self>, outcome: Result<Option<String>, OpError>);
}

/// The writer's own background write, for which no caller waits.
struct Indexing {
    failed: Arc<AtomicBool>,
}

impl Work for Indexing {
    fn run(&mut self, tx: &Tx<'_>) -> Result<(), OpError> {
        tx.unless_fault(activity_counts::catch_up(tx))?;
        passages::catch_up(tx).map(drop)
    }

    fn answer(&self) -> Result<String, OpError> {
        Ok(String::new())
    }

    fn reply(self: Box<Self>, outcome: Result<Option<String>, OpError>) {
        self.failed.store(outcome.is_err(), Ordering::Relaxed);
    }
}

/// Publishes the changes of a restore.
#[derive(Default)]
struct PublishRestored {
    /// The contexts of the database before the restore, by the agent's own ids of the sessions.
    contexts: BTreeMap<String, ContextSets>,
    /// The last id of a record in the database before the restore.
    last_id: i64,
}

impl Work for PublishRestored {
    fn run(&mut self, tx: &Tx<'_>) -> Result<(), OpError> {
        record_ids::go_on_after(tx, self.last_id)?;
        session_events::restored(tx, &self.contexts)
    }

    fn answer(&self) -> Result<String, OpError> {
        Ok(String::new())
    }

    fn reply(self: Box<Self>, _: Result<Option<String>, OpError>) {}
}

/// The outcome of a job inside a transaction.
enum Outcome {
    Done { events: Vec<Published>, effects: Vec<Effect>, deferred: DeferredWork },
    Repeated(String),
    Failed(OpError),
}

/// A group that was not committed; nothing of it was kept.
struct Aborted {
    fault: StoreError,
    /// Whether a single job may be the cause: then each job is retried in a transaction of its own.
    one_may_be_to_blame: bool,
}

impl From<StoreError> for Aborted {
    fn from(fault: StoreError) -> Aborted {
        Aborted { fault, one_may_be_to_blame: false }
    }
}

pub(crate) struct Writer {
    shared: Arc<Shared>,
    keeper: Keeper,
    publish: Publish,
    pruned_at: i64,
    /// Approximate number of unindexed documents.
    unindexed: usize,
    /// Whether something was committed since the last checkpoint.
    unmoved: bool,
    /// Whether the WAL still contains a value that was deleted for good.
    unwiped: bool,
    mover: Mover,
}

impl Writer {
    pub(crate) fn new(shared: Arc<Shared>, keeper: Keeper, publish: Publish) -> Writer {
        let pruned_at = shared.now();
        let long = match shared.setup.one_shot {
            true => limits::ONE_SHOT_WAL_PAGES,
            false => limits::WAL_PAGES,
        };
        let mover = Mover::of(long);
        Writer {
            shared,
            keeper,
            publish,
            pruned_at,
            unindexed: 0,
            unmoved: false,
            unwiped: false,
            mover,
        }
    }

    /// Opens the database for the first time.
    pub(crate) fn start(&mut self) -> Result<(), StoreError> {
        self.keeper.ready().map(|_| ())?;
        // An earlier process may have left a long WAL; it is checkpointed even if nothing is written.
        self.unmoved = files::bytes(&files::beside(self.shared.path(), "-wal")) > 0;
        if self.is_behind() {
            // Counts as a small backlog: indexing waits for a quiet moment, because requests come first at startup.
            self.unindexed = 1;
        }
        Ok(())
    }

    /// Runs commands until [`Command::Close`] arrives or all senders are dropped.
    pub(crate) fn work(mut self, queue: &Receiver<Command>) {
        let mut next = self.wait(queue);
        while let Some(command) = next.take() {
            if !matches!(command, Command::Job(_)) {
                // These commands need the file to themselves, without a concurrent checkpoint.
                self.mover.finish();
            }
            match command {
                Command::Job(job) => {
                    let (mut group, mut arrivals) = (vec![job], Arrivals::of(queue));
                    arrivals.fill(&mut group);
                    self.commit(group, &mut arrivals);
                    next = arrivals.other;
                }
                Command::Look { reply } => {
                    let _ = reply.send(self.keeper.ready().map(|_| ()));
                }
                Command::Repair { why, generation, reply } => {
                    let _ = reply.send(self.keeper.repair_for_reader(&why, generation));
                }
                Command::Restore { copy, reply } => {
                    let swapped = self.restore(&copy);
                    drop(copy);
                    let _ = reply.send(swapped);
                }
                Command::Compact { reply } => {
                    let _ = reply.send(self.keeper.compact());
                }
                Command::Close => break,
            }
            if next.is_none() {
                next = self.wait(queue);
            }
        }
        self.mover.finish();
        self.wipe_log();
        self.keeper.close();
    }

    /// Waits for a command. Meanwhile it brings the full-text index up to date, and then checkpoints the WAL.
    /// A one-shot process leaves both to other processes.
    fn wait(&mut self, queue: &Receiver<Command>) -> Option<Command> {
        loop {
            let quiet = match self.unindexed {
                _ if self.unwiped => Some(limits::WAL_WIPE_RETRY),
                _ if self.shared.setup.one_shot => None,
                0 => self.unmoved.then_some(limits::WAL_QUIET),
                few if few < limits::INDEX_AT => Some(limits::INDEX_QUIET),
                _ => Some(limits::INDEX_PAUSE),
            };
            let Some(quiet) = quiet else { return queue.recv().ok() };
            match queue.recv_timeout(quiet) {
                Ok(command) => return Some(command),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if self.unwiped => self.wipe_log(),
                Err(RecvTimeoutError::Timeout) if self.unindexed > 0 => self.index(),
                Err(RecvTimeoutError::Timeout) => self.move_log(),
            }
        }
    }

    fn move_log(&mut self) {
        self.unmoved = false;
        self.mover.finish();
        let log = files::beside(self.shared.path(), "-wal");
        if let Ok(db) = self.keeper.ready() {
            let moved = match files::bytes(&log) > limits::WAL_BYTES_KEPT {
                true => connection::shorten_log(db, self.shared.setup.busy),
                false => connection::move_log(db).map(|()| true),
            };
            // While a reader needs the WAL, retry when quiet again; after an error, wait for the next write.
            self.unmoved = moved.is_ok_and(|moved| !moved);
        }
    }

    /// Truncates the WAL if it contains a value that was deleted for good. While a reader needs the WAL, this is
    /// retried.
    fn wipe_log(&mut self) {
        if self.unwiped {
            self.mover.finish();
            let busy = self.shared.setup.busy;
            let wiped = self.keeper.open_now().map(|db| connection::shorten_log(db, busy));
            self.unwiped = wiped.is_some_and(|wiped| wiped.is_ok_and(|is_empty| !is_empty));
        }
    }

    fn tend_log(&mut self) {
        if let Some(db) = self.keeper.open_now() {
            self.mover.tend(db, self.shared.path());
        }
    }

    fn is_behind(&self) -> bool {
        let Shared { behind, bare, uncounted, .. } = &*self.shared;
        [behind, bare, uncounted].iter().any(|flag| flag.load(Ordering::Relaxed))
    }

    /// Counts a batch of new records, and indexes a batch of unindexed documents or computes a batch of missing
    /// embeddings.
    fn index(&mut self) {
        let failed = Arc::new(AtomicBool::default());
        let work = Box::new(Indexing { failed: failed.clone() });
        self.commit(vec![Job { write: Write::default(), work }], &mut Arrivals::default());
        // If it fails, the next write or search tries again.
        let again = !failed.load(Ordering::Relaxed) && self.is_behind();
        self.unindexed = if again { limits::INDEX_AT } else { 0 };
    }

    /// Replaces the database with a checked copy, and publishes what changed for subscribers.
    fn restore(&mut self, copy: &Scratch) -> Result<PathBuf, OpError> {
        let facts = &self.shared.facts;
        let before = self.keeper.open_now().map(|db| {
            let rx = Rx::new(db, &facts.catalogue, &facts.registry);
            // A damaged database is replaced too: its contexts count as empty.
            let contexts = context::all(&rx).unwrap_or_default();
            PublishRestored { contexts, last_id: record_ids::stored_last(&rx).unwrap_or_default() }
        });
        let saved = self.keeper.swap(copy)?;
        let work = Box::new(before.unwrap_or_default());
        let write = Write { at: self.shared.now(), ..Write::default() };
        self.commit(vec![Job { write, work }], &mut Arrivals::default());
        Ok(saved)
    }

    /// Commits a group, including jobs that arrive while it runs, and replies. If the group fails and one job may be
    /// the cause, each job is retried in a transaction of its own.
    fn commit(&mut self, mut group: Vec<Job>, arrivals: &mut Arrivals<'_>) {
        match self.run(&mut group, arrivals) {
            Ok(outcomes) => {
                self.wipe_log();
                self.acknowledge(group, outcomes);
                self.tend_log();
            }
            Err(aborted) if group.len() > 1 && aborted.one_may_be_to_blame => {
                group.into_iter().for_each(|job| self.commit(vec![job], &mut Arrivals::default()));
            }
            Err(aborted) => {
                for job in group {
                    job.work.reply(Err(aborted.fault.clone().into()));
                }
            }
        }
    }

    /// Runs the jobs until they are committed to the file that is at the path.
    fn run(
        &mut self,
        group: &mut Vec<Job>,
        arrivals: &mut Arrivals<'_>,
    ) -> Result<Vec<Outcome>, Aborted> {
        let now = self.shared.now();
        let prune = now.saturating_sub(self.pruned_at) >= limits::PRUNE_EVERY_MS;
        for _ in 0..limits::WRITE_RUNS_MAX {
            if self.mover.is_under_way() && !self.keeper.stands() {
                // The file or its WAL was replaced: reopening it needs the file without a concurrent checkpoint.
                self.mover.finish();
            }
            let db = self.keeper.ready()?;
            match transact((db, &self.shared), (group, arrivals), prune.then_some(now)) {
                Ok((outcomes, finished)) => {
                    if self.keeper.holds()? {
                        self.unmoved = true;
                        self.unwiped |= finished.wiped;
                        if prune {
                            self.pruned_at = now;
                        }
                        run_effects(finished.effects);
                        self.follow(finished.index);
                        return Ok(outcomes);
                    }
                }
                Err(Aborted { fault: StoreError::Corrupt(why), .. }) => {
                    self.mover.finish();
                    self.keeper.repair(&why)?;
                }
                Err(aborted) => {
                    // If the file was replaced during the transaction, the fault may be due to that: try again.
                    if self.keeper.holds()? {
                        return Err(aborted);
                    }
                }
            }
        }
        Err(StoreError::Io("its file is moved or replaced repeatedly".into()).into())
    }

    /// Updates the state of the full-text index before subscribers and callers learn of the commit.
    fn follow(&mut self, index: IndexState) {
        if index.noted > 0 {
            self.unindexed += index.noted;
            self.shared.behind.store(true, Ordering::Release);
        } else if index.is_whole {
            self.unindexed = 0;
            self.shared.behind.store(false, Ordering::Release);
        }
        if index.is_worked_out {
            self.shared.bare.store(false, Ordering::Release);
        }
        if index.is_uncounted || index.is_counted {
            self.shared.uncounted.store(index.is_uncounted, Ordering::Release);
        }
        if self.unindexed == 0 && self.is_behind() {
            self.unindexed = limits::INDEX_AT;
        }
    }

    /// After COMMIT: effects in memory, then events, then replies.
    fn acknowledge(&mut self, group: Vec<Job>, outcomes: Vec<Outcome>) {
        let mut published = Vec::new();
        let mut replies = Vec::with_capacity(group.len());
        for (job, outcome) in group.into_iter().zip(outcomes) {
            let reply = match outcome {
                Outcome::Done { events, effects, .. } => {
                    run_effects(effects);
                    published.extend(events);
                    Ok(None)
                }
                Outcome::Repeated(answer) => Ok(Some(answer)),
                Outcome::Failed(error) => Err(error),
            };
            replies.push((job.work, reply));
        }
        if let Some(last) = published.last() {
            self.keeper.saw(last.seq);
            // A subscriber that panics must not end the writer.
            let _ = catch_unwind(AssertUnwindSafe(|| (self.publish)(published)));
        }
        self.shared.commits.committed();
        for (work, reply) in replies {
            work.reply(reply);
        }
    }
}

/// The writer's queue. Jobs that arrive while a group is written join that group: each COMMIT writes every
/// changed page again and rebuilds the summaries of its sessions once, so fewer commits cost less.
#[derive(Default)]
struct Arrivals<'a> {
    queue: Option<&'a Receiver<Command>>,
    /// Deadline for joining the group, so that its first callers get their replies.
    until: Option<Instant>,
    /// A command that is not a write; it ends the group.
    other: Option<Command>,
}

impl<'a> Arrivals<'a> {
    fn of(queue: &'a Receiver<Command>) -> Arrivals<'a> {
        let until = Instant::now() + limits::WRITE_GROUP_PATIENCE;
        Arrivals { queue: Some(queue), until: Some(until), other: None }
    }

    /// Adds queued jobs to the group, up to the group's size limit or the next command that is not a write.
    fn fill(&mut self, group: &mut Vec<Job>) {
        let Some(queue) = self.queue else { return };
        while self.other.is_none() && group.len() < limits::WRITE_GROUP_MAX {
            match queue.try_recv() {
                Ok(Command::Job(job)) => group.push(job),
                Ok(other) => self.other = Some(other),
                Err(_) => return,
            }
        }
    }

    /// Adds queued jobs to the group unless the deadline has passed.
    fn fill_more(&mut self, group: &mut Vec<Job>) {
        if self.until.is_some_and(|until| Instant::now() < until) {
            self.fill(group);
        }
    }
}

/// Runs all jobs in one transaction; an error means that nothing was committed. Few jobs fail, and a
/// savepoint for each would copy every page that it changes, so the first attempt has no savepoints.
fn transact(
    at: (&Connection, &Shared),
    (group, arrivals): (&mut Vec<Job>, &mut Arrivals<'_>),
    prune: Option<i64>,
) -> Result<(Vec<Outcome>, Finished), Aborted> {
    let (db, _) = at;
    for apart in [false, true] {
        execute(db, "BEGIN IMMEDIATE")?;
        let outcomes = run_jobs(at, (group, arrivals), prune, apart).and_then(|outcomes| {
            if outcomes.is_some() {
                execute(db, "COMMIT").map_err(blame)?;
            }
            Ok(outcomes)
        });
        if !db.is_autocommit() {
            execute(db, "ROLLBACK")?;
        }
        if let Some(outcomes) = outcomes? {
            return Ok(outcomes);
        }
    }
    Err(StoreError::Io("this batch of writes failed twice and was rolled back".into()).into())
}

fn blame(fault: StoreError) -> Aborted {
    Aborted { fault, one_may_be_to_blame: true }
}

/// Runs the jobs, each in a savepoint if `apart`. Without savepoints, the failure of one job undoes all of
/// them: then there are no outcomes.
fn run_jobs(
    (db, shared): (&Connection, &Shared),
    (group, arrivals): (&mut Vec<Job>, &mut Arrivals<'_>),
    prune: Option<i64>,
    apart: bool,
) -> Result<Option<(Vec<Outcome>, Finished)>, Aborted> {
    let mut outcomes = Vec::with_capacity(group.len());
    let mut deferred = DeferredWork::default();
    let cache = BatchCache::new(&shared.facts);
    loop {
        let at = outcomes.len();
        if at == group.len() {
            arrivals.fill_more(group);
        }
        let Some(job) = group.get_mut(at) else { break };
        if apart {
            execute(db, "SAVEPOINT job").map_err(blame)?;
        }
        let (mut outcome, fault) = run_job(db, &cache, job);
        if db.is_autocommit() {
            let lost = || StoreError::Io("SQLite rolled the transaction back".into());
            return Err(blame(fault.unwrap_or_else(lost)));
        }
        if let Some(fault @ StoreError::Corrupt(_)) = fault {
            return Err(blame(fault));
        }
        let failed = matches!(outcome, Outcome::Failed(_));
        if failed && !apart {
            return Ok(None);
        }
        if failed {
            execute(db, "ROLLBACK TO job").map_err(blame)?;
            cache.looked_up.forget();
        }
        if apart {
            execute(db, "RELEASE job").map_err(blame)?;
        }
        if let Outcome::Done { deferred: more, .. } = &mut outcome {
            deferred.add(std::mem::take(more));
        }
        outcomes.push(outcome);
    }
    let finished = group_end::finish(db, &cache, deferred).map_err(blame)?;
    if let Some(now) = prune {
        let tx = Tx::new(db, &cache, now);
        let prune =
            || cache.facts.registry.iter().try_for_each(|aggregate| aggregate.prune(&tx, now));
        if prune().is_err() {
            let unknown =
                || StoreError::Io("rows that are no longer needed cannot be deleted".into());
            return Err(tx.take_fault().unwrap_or_else(unknown).into());
        }
    }
    Ok(Some((outcomes, finished)))
}

/// Runs one job. Also returns the fault of the database that a statement of the job met, if any.
fn run_job(db: &Connection, cache: &BatchCache, job: &mut Job) -> (Outcome, Option<StoreError>) {
    let tx = Tx::new(db, cache, job.write.at);
    let done = run_once(&tx, job);
    let fault = tx.take_fault();
    let outcome = match done {
        Ok(Ran::Now) => {
            let (deferred, effects, events) = tx.into_rest();
            Outcome::Done { events, effects, deferred }
        }
        Ok(Ran::Before(answer)) => Outcome::Repeated(answer),
        Err(error) => Outcome::Failed(error),
    };
    (outcome, fault)
}

enum Ran {
    Now,
    Before(String),
}

fn run_once(tx: &Tx<'_>, job: &mut Job) -> Result<Ran, OpError> {
    let Job { write, work } = job;
    if let Some(call) = write.call
        && let Some(answer) = calls::answer(tx, call, write.fingerprint)?
    {
        return Ok(Ran::Before(answer));
    }
    catch_unwind(AssertUnwindSafe(|| work.run(tx)))
        .unwrap_or_else(|_| Err(OpError::internal("a write panicked; nothing of it was kept")))?;
    if let Some(call) = write.call {
        calls::remember(tx, (call, write.fingerprint), write.at, &work.answer()?)?;
    }
    Ok(Ran::Now)
}

fn execute(db: &Connection, statement: &str) -> Result<(), StoreError> {
    let run = || db.prepare_cached(statement)?.execute([]);
    run().map(|_| ()).map_err(|error| StoreError::of_any(&error))
}
