//! A small pool of threads that run operations, started as needed, with a bounded queue.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use model::{OpError, limits};

/// What is run: on a thread of the pool, or at once with the reason why it may not.
type Job = Box<dyn FnOnce(Result<(), OpError>) + Send>;

/// Runs jobs on at most [`limits::POOL_THREADS`] threads.
pub(crate) struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    threads: usize,
    idle: usize,
    closed: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A job is caught when it panics, so a poisoned lock still guards sound state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pool {
    pub(crate) fn new() -> Pool {
        Pool { shared: Arc::new(Shared { state: Mutex::default(), wake: Condvar::new() }) }
    }

    /// Queues a job. One that cannot be queued is told so at once, on this thread.
    pub(crate) fn run(&self, job: Job) {
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

    /// Sees to it that the next job finds a place and, sooner or later, a thread.
    fn make_room(&self, state: &mut State) -> Result<(), OpError> {
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
            // The threads that exist will come to it.
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

fn work(shared: &Shared) {
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
