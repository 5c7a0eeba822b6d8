//! The queue of jobs, and the progress of running ones.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract::RunningJob;
use model::event::Event;
use model::job::{Job, JobState};
use model::{OpError, Reply};
use store::{Tx, jobs};

/// A job in the queue. Its row in the store decides whether it starts.
pub(crate) struct QueuedJob {
    /// The id of its row.
    pub(crate) id: i64,
    pub(crate) name: &'static str,
    pub(crate) handle: Arc<RunningJob>,
    pub(crate) work: JobWork,
}

/// The two halves of a job.
pub(crate) struct JobWork {
    /// Runs it, on a thread of the pool.
    pub(crate) run: Box<dyn FnOnce(Arc<RunningJob>) -> Reply + Send>,
    /// Gets its result, or why it did not run.
    pub(crate) reply: Box<dyn FnOnce(Reply) + Send>,
}

/// The queue of jobs and the running ones.
#[derive(Default)]
pub(crate) struct Jobs {
    state: Mutex<JobQueue>,
}

#[derive(Default)]
pub(crate) struct JobQueue {
    pub(crate) waiting: VecDeque<QueuedJob>,
    /// Jobs whose rows are being written, before they are in the queue.
    pub(crate) arriving: usize,
    /// Whether a thread of the pool works through the queue.
    pub(crate) is_served: bool,
    pub(crate) running: BTreeMap<i64, Arc<RunningJob>>,
}

impl Jobs {
    pub(crate) fn state(&self) -> MutexGuard<'_, JobQueue> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job, which counts as running from now on. If there is none, the caller has to stop serving.
    pub(crate) fn next(&self) -> Option<QueuedJob> {
        let mut state = self.state();
        let next = state.waiting.pop_front();
        match &next {
            Some(job) => drop(state.running.insert(job.id, job.handle.clone())),
            None => state.is_served = false,
        }
        next
    }

    /// Asks a running job to end; false if no such job runs.
    pub(crate) fn cancel(&self, id: i64) -> bool {
        self.state().running.get(&id).map(|job| job.cancel()).is_some()
    }

    /// Takes a job out of the queue whose row says that it was cancelled, and replies to its caller.
    pub(crate) fn drop_cancelled(&self, id: i64) {
        let mut state = self.state();
        let at = state.waiting.iter().position(|job| job.id == id);
        let job = at.and_then(|at| state.waiting.remove(at));
        drop(state);
        // A job that is no longer in the queue is about to start, and will read its state from its row.
        if let Some(job) = job {
            (job.work.reply)(Err(cancelled(&job.handle)));
        }
    }

    /// The job with its progress, if it runs.
    pub(crate) fn with_progress(&self, job: Job) -> Job {
        let state = self.state();
        let running = state.running.get(&job.id).filter(|_| job.state == JobState::Running);
        Job { progress: running.map(|running| running.progress()), ..job }
    }
}

/// The error of a job that was cancelled before its start.
pub(crate) fn cancelled(handle: &RunningJob) -> OpError {
    handle.cancel();
    handle.check().err().unwrap_or_else(|| OpError::internal("a cancelled job was not cancelled"))
}

/// The path of a job, as its events name it.
pub(crate) fn subject(id: i64) -> String {
    format!("job://{id}")
}

/// Notes the end of a job with its event, unless it has ended already.
pub(crate) fn end_job(
    tx: &Tx<'_>,
    id: i64,
    (state, why): (JobState, Option<&str>),
    now: i64,
) -> Result<(), OpError> {
    if jobs::end(tx, id, (state, why), now)? {
        tx.note(Event { reason: Some(state.word()), ..Event::new("job/ended", subject(id)) })?;
    }
    Ok(())
}
