//! A small pool of threads that run operations, started as needed, with a bounded queue.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use model::{OpError, limits};

type Job = Box<dyn FnOnce() + Send>;

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

    /// Queues a job, or says `unavailable` when the queue is full.
    pub(crate) fn run(&self, job: Job) -> Result<(), OpError> {
        let mut state = self.shared.lock();
        if state.queue.len() >= limits::POOL_QUEUE_MAX {
            let max = limits::POOL_QUEUE_MAX;
            return Err(OpError::unavailable(format!("{max} calls are waiting already"))
                .hint("Try again in a moment."));
        }
        state.queue.push_back(job);
        if state.idle == 0 && state.threads < limits::POOL_THREADS {
            let shared = self.shared.clone();
            let name = format!("op-{}", state.threads);
            let started = std::thread::Builder::new().name(name).spawn(move || work(&shared));
            match started {
                Ok(_) => state.threads += 1,
                Err(_) if state.threads == 0 => {
                    state.queue.pop_back();
                    return Err(OpError::unavailable("the system refuses a new thread"));
                }
                // The threads that exist will come to it.
                Err(_) => {}
            }
        }
        drop(state);
        self.shared.wake.notify_one();
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
            job();
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
