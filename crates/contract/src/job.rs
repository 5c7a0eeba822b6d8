//! The handle of a running job: it reports progress and learns that it was cancelled.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use model::job::JobProgress;
use model::{Code, OpError};

/// Receives each report of a job, on the job's thread.
pub type ProgressWatcher = Arc<dyn Fn(&JobProgress) + Send + Sync>;

/// A running job as its operation and the runtime share it.
#[derive(Default)]
pub struct RunningJob {
    watcher: Option<ProgressWatcher>,
    progress: Mutex<JobProgress>,
    cancelled: AtomicBool,
}

impl RunningJob {
    /// A job whose reports also go to its caller.
    pub fn watched_by(watcher: Option<ProgressWatcher>) -> RunningJob {
        RunningJob { watcher, ..RunningJob::default() }
    }

    /// Notes the progress of a step.
    pub fn report(&self, step: &str, done: u64, total: Option<u64>) {
        let progress = JobProgress { step: step.to_owned(), done, total };
        if let Some(watcher) = &self.watcher {
            watcher(&progress);
        }
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = progress;
    }

    pub fn progress(&self) -> JobProgress {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks the job to end at its next report of progress.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// `conflict` once the job was cancelled.
    pub fn check(&self) -> Result<(), OpError> {
        if self.is_cancelled() {
            return Err(OpError::new(Code::Conflict, "the job was cancelled")
                .hint("Run the command again at any time."));
        }
        Ok(())
    }
}
