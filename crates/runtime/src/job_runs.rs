//! Runs jobs: long operations, one after the other, so that they occupy at most one thread of the pool. Each has a
//! row in the store as soon as it is queued, and ends with the event `job/ended`. The row decides a race between the
//! start of a waiting job and its cancellation.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use contract::{ProgressWatcher, RunningJob};
use model::event::Event;
use model::job::{Job, JobState};
use model::{OpError, limits};
use serde_json::Value;
use store::{Tx, Write, Written, jobs, passages};

use crate::jobs::{JobWork, QueuedJob, cancelled, end_job, subject};
use crate::runtime::RuntimeInner;

impl RuntimeInner {
    /// Marks jobs as failed that an earlier process left waiting or running. Writes nothing if there are none.
    pub(crate) fn fail_interrupted_jobs(&self) {
        let is_left = |job: &Job| !job.state.has_ended();
        let listed = self.store.read(|rx| jobs::list(rx, limits::JOBS_KEPT));
        if !listed.is_ok_and(|all| all.iter().any(is_left)) {
            return;
        }
        let marked = self.note_job(|tx, now| {
            for id in jobs::fail_interrupted(tx, now)? {
                tx.note(Event { reason: Some("failed"), ..Event::new("job/ended", subject(id)) })?;
            }
            Ok(())
        });
        if let Err(error) = marked {
            // The next process tries again.
            let word = error.code.row().word;
            self.log.warn("job", format_args!("interrupted jobs were not marked: {word}"));
        }
    }

    /// Indexes documents as a job if many are unindexed: after the index was emptied, or after an earlier process
    /// ended too early. The writer itself indexes only a few at a time.
    pub(crate) fn index_as_job(self: &Arc<RuntimeInner>) {
        let is_due = |inner: &RuntimeInner| {
            let waiting = inner.store.read(passages::waiting);
            waiting.is_ok_and(|count| count >= limits::INDEX_JOB_DOCUMENTS)
        };
        if self.one_shot || self.store.only_reads() || !is_due(self) {
            return;
        }
        let (inner, log) = (self.clone(), self.clone());
        let run = move |job: Arc<RunningJob>| {
            // An earlier job may have done this already.
            if is_due(&inner) {
                inner.store.index_all(&|done, all| {
                    job.report("indexing records", done, Some(all));
                    job.check()
                })?;
            }
            Ok(Value::Null)
        };
        let reply = move |result: Result<Value, OpError>| {
            if let Err(error) = result {
                let word = error.code.row().word;
                log.log.warn("job", format_args!("records wait for the index: {word}"));
            }
        };
        self.queue_job("index", None, JobWork { run: Box::new(run), reply: Box::new(reply) });
    }

    /// Queues a job: its row is in the store when this returns, so that it can be seen and cancelled. It runs after the
    /// jobs before it have ended; if it cannot be queued, it gets an error now. Waits for the writer, so no thread of an
    /// asynchronous surface may call it.
    pub(crate) fn queue_job(
        self: &Arc<RuntimeInner>,
        name: &'static str,
        watcher: Option<ProgressWatcher>,
        work: JobWork,
    ) {
        let max = limits::JOBS_WAITING_MAX;
        let mut state = self.jobs.state();
        if state.waiting.len() + state.arriving >= max {
            drop(state);
            let full = OpError::unavailable(format!("{max} jobs are waiting already"))
                .hint("`rekindle jobs list` shows them; try again when one has ended.");
            return (work.reply)(Err(full));
        }
        state.arriving += 1;
        drop(state);
        let noted = self.note_job(move |tx, now| jobs::queue(tx, name, now));
        let mut state = self.jobs.state();
        state.arriving -= 1;
        let id = match noted {
            Ok(id) => id,
            Err(error) => {
                drop(state);
                return (work.reply)(Err(error));
            }
        };
        let handle = Arc::new(RunningJob::watched_by(watcher));
        state.waiting.push_back(QueuedJob { id, name, handle, work });
        if std::mem::replace(&mut state.is_served, true) {
            return;
        }
        drop(state);
        let inner = self.clone();
        self.pool.run(Box::new(move |admitted| {
            while let Some(job) = inner.jobs.next() {
                let id = job.id;
                // A panic must not end this loop, which would leave the jobs behind it waiting for ever.
                let _ = catch_unwind(AssertUnwindSafe(|| inner.run_job(job, admitted.clone())));
                inner.jobs.state().running.remove(&id);
            }
        }));
    }

    /// Runs a job whose turn it is. Its row is `running` before it starts, and has the result before the reply is
    /// sent.
    fn run_job(&self, job: QueuedJob, admitted: Result<(), OpError>) {
        let QueuedJob { id, name, handle, work } = job;
        let started = admitted.and_then(|()| self.start_job(id));
        let result = match started {
            Ok(true) => self.fenced(name, || (work.run)(handle.clone())),
            Ok(false) => Err(cancelled(&handle)),
            Err(error) => Err(error),
        };
        self.jobs.state().running.remove(&id);
        let (state, why) = match &result {
            Ok(_) => (JobState::Done, None),
            Err(_) if handle.is_cancelled() => (JobState::Cancelled, None),
            Err(error) => (JobState::Failed, Some(error.code.row().word)),
        };
        let ended = self.note_job(move |tx, now| end_job(tx, id, (state, why), now));
        if let Err(error) = ended {
            // The next start marks the row as failed; the operation itself has ended.
            let word = error.code.row().word;
            self.log.warn("job", format_args!("the end of job {id} was not stored: {word}"));
        }
        (work.reply)(result);
    }

    /// Notes that a job starts; false if it was cancelled while it waited.
    fn start_job(&self, id: i64) -> Result<bool, OpError> {
        self.note_job(move |tx, now| {
            let starts = jobs::start(tx, id, now)?;
            if starts {
                tx.note(Event::new("job/started", subject(id)))?;
            }
            Ok(starts)
        })
    }

    fn note_job<T: serde::Serialize + Send + 'static>(
        &self,
        mut f: impl FnMut(&Tx<'_>, i64) -> Result<T, OpError> + Send + 'static,
    ) -> Result<T, OpError> {
        let now = (self.clock)();
        match self.store.write(Write { at: now, ..Write::default() }, move |tx| f(tx, now))? {
            Written::Done(value) => Ok(value),
            Written::Repeated(_) => Err(OpError::internal("a job without a call has no answer")),
        }
    }
}
