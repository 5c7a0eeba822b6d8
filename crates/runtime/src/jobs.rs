//! The queue of jobs, and the progress of running ones.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract::RunningJob;
use model::OpError;
use model::job::Job;

/// A queued job. It is called with an error if it was not admitted.
pub(crate) type WaitingJob = Box<dyn FnOnce(Result<(), OpError>) + Send>;

/// The queue of jobs and the running ones.
#[derive(Default)]
pub(crate) struct Jobs {
    state: Mutex<JobQueue>,
}

#[derive(Default)]
pub(crate) struct JobQueue {
    pub(crate) waiting: VecDeque<WaitingJob>,
    /// Whether a thread of the pool works through the queue.
    pub(crate) is_served: bool,
    pub(crate) running: BTreeMap<i64, Arc<RunningJob>>,
}

impl Jobs {
    pub(crate) fn state(&self) -> MutexGuard<'_, JobQueue> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks a running job to end; false if no such job runs.
    pub(crate) fn cancel(&self, id: i64) -> bool {
        self.state().running.get(&id).map(|job| job.cancel()).is_some()
    }

    /// The job with its progress, if it runs.
    pub(crate) fn with_progress(&self, job: Job) -> Job {
        let progress = self.state().running.get(&job.id).map(|running| running.progress());
        Job { progress, ..job }
    }
}
