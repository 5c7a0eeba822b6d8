//! Runs jobs: long operations, one after the other, so that they occupy at most one thread of the pool. Each has a
//! row in the store and ends with the event `job/ended`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use contract::{ProgressWatcher, RunningJob};
use model::event::Event;
use model::job::{Job, JobState};
use model::{OpError, limits};
use store::{Tx, Write, Written, jobs, passages};

use crate::jobs::WaitingJob;
use crate::runtime::RuntimeInner;

/// The path of a job, as its events name it.
fn subject(id: i64) -> String {
    format!("job://{id}")
}

impl RuntimeInner {
    /// Marks jobs as failed that an earlier process left running. Writes nothing if there are none.
    pub(crate) fn fail_interrupted_jobs(&self) {
        let is_running = |job: &Job| job.state == JobState::Running;
        let listed = self.store.read(|rx| jobs::list(rx, limits::JOBS_KEPT));
        if !listed.is_ok_and(|all| all.iter().any(is_running)) {
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
        let inner = self.clone();
        self.queue_job(Box::new(move |admitted| {
            // An earlier job may have done this already.
            if admitted.is_err() || !is_due(&inner) {
                return;
            }
            let indexed = inner.as_job("index", None, |job| {
                inner.store.index_all(&|done, all| {
                    job.report("indexing records", done, Some(all));
                    job.check()
                })
            });
            if let Err(error) = indexed {
                let word = error.code.row().word;
                inner.log.warn("job", format_args!("records wait for the index: {word}"));
            }
        }));
    }

    /// Queues a job and returns at once. It runs after the jobs before it have ended; if the queue is full, it gets an error
    /// now.
    pub(crate) fn queue_job(self: &Arc<RuntimeInner>, work: WaitingJob) {
        let max = limits::JOBS_WAITING_MAX;
        let mut state = self.jobs.state();
        if state.waiting.len() >= max {
            drop(state);
            let full = OpError::unavailable(format!("{max} jobs are waiting already"))
                .hint("`rekindle jobs list` shows the running one; try again when it has ended.");
            return work(Err(full));
        }
        state.waiting.push_back(work);
        if std::mem::replace(&mut state.is_served, true) {
            return;
        }
        drop(state);
        let inner = self.clone();
        self.pool.run(Box::new(move |admitted| {
            loop {
                let mut state = inner.jobs.state();
                let Some(work) = state.waiting.pop_front() else {
                    state.is_served = false;
                    return;
                };
                drop(state);
                // A panic must not end this loop, which would leave the jobs behind it waiting for ever.
                let _ = catch_unwind(AssertUnwindSafe(|| work(admitted.clone())));
            }
        }));
    }

    /// Runs an operation as a job. Its row is `running` before it starts, and has the result before the reply is
    /// sent.
    pub(crate) fn as_job<T>(
        &self,
        name: &'static str,
        watcher: Option<ProgressWatcher>,
        run: impl FnOnce(Arc<RunningJob>) -> Result<T, OpError>,
    ) -> Result<T, OpError> {
        let id = self.note_job(move |tx, now| {
            let id = jobs::start(tx, name, now)?;
            tx.note(Event::new("job/started", subject(id)))?;
            Ok(id)
        })?;
        let job = Arc::new(RunningJob::watched_by(watcher));
        self.jobs.state().running.insert(id, job.clone());
        let result = self.fenced(name, || run(job.clone()));
        self.jobs.state().running.remove(&id);
        let (state, why) = match &result {
            Ok(_) => (JobState::Done, None),
            Err(_) if job.is_cancelled() => (JobState::Cancelled, None),
            Err(error) => (JobState::Failed, Some(error.code.row().word)),
        };
        let ended = self.note_job(move |tx, now| {
            jobs::end(tx, id, (state, why), now)?;
            let reason = Some(state.word());
            tx.note(Event { reason, ..Event::new("job/ended", subject(id)) })
        });
        if let Err(error) = ended {
            // The next start marks the row as failed; the operation itself has ended.
            let word = error.code.row().word;
            self.log.warn("job", format_args!("the end of job {id} was not stored: {word}"));
        }
        result
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
