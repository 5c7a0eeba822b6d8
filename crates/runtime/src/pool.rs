//! A small pool of threads that run operations, started as needed, with a bounded queue.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use model::{OpError, limits};

/// A task. It is called on a thread of the pool, or at once with the reason why it was not admitted.
type PoolTask = Box<dyn FnOnce(Result<(), OpError>) + Send>;

/// Runs jobs on at most [`limits::POOL_THREADS`] threads.
pub(crate) struct Pool {
    shared: Arc<PoolShared>,
}

struct PoolShared {
    state: Mutex<PoolState>,
    wake: Condvar,
}

#[derive(Default)]
struct PoolState {
    queue: VecDeque<PoolTask>,
    threads: usize,
    idle: usize,
    closed: bool,
}

impl PoolShared {
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        // A panic of a job is caught, so a poisoned lock still guards sound state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pool {
    pub(crate) fn new() -> Pool {
        Pool { shared: Arc::new(PoolShared { state: Mutex::default(), wake: Condvar::new() }) }
    }

    /// Queues a job. A job that cannot be queued is called at once with the error, on this thread.
    pub(crate) fn run(&self, job: PoolTask) {
        let mut state = self.shared.lock();
        let refusal = self.make_room(&mut state);
        if let Err(error) = refusal {
            drop(state);
            return job(Err(error));
        }
        state.queue.push_back(job);
        drop(state);
        self.shared.wake.notify_one();
    }

    /// Checks that the queue has room, and starts a thread if one is needed.
    fn make_room(&self, state: &mut PoolState) -> Result<(), OpError> {
        let max = limits::POOL_QUEUE_MAX;
        if state.queue.len() >= max {
            return Err(OpError::unavailable(format!("{max} calls are waiting already"))
                .hint("Try again in a moment."));
        }
        if state.idle > state.queue.len() || state.threads >= limits::POOL_THREADS {
            return Ok(());
        }
        let shared = self.shared.clone();
        let name = format!("op-{}", state.threads);
        match std::thread::Builder::new().name(name).spawn(move || work(&shared)) {
            Ok(_) => state.threads += 1,
            Err(_) if state.threads == 0 => {
                return Err(OpError::unavailable("the system refuses a new thread"));
            }
            // The existing threads will run it.
            Err(_) => {}
        }
        Ok(())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.wake.notify_all();
    }
}

fn work(shared: &PoolShared) {
    let mut state = shared.lock();
    loop {
        if let Some(job) = state.queue.pop_front() {
            drop(state);
            job(Ok(()));
            state = shared.lock();
        } else if state.closed {
            return;
        } else {
            state.idle += 1;
            state = shared.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }
}
