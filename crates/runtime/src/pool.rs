//! A small pool of threads that run operations, started as needed, with a bounded queue.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use model::{OpError, limits};

/// A task. It is called on a thread of the pool, or at once with the reason why it was not admitted.
type PoolTask = Box<dyn FnOnce(Result<(), OpError>) + Send>;

/// Runs tasks on at most [`limits::POOL_THREADS`] threads.
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
        // A panic of a task is caught, so a poisoned lock still guards sound state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pool {
    pub(crate) fn new() -> Pool {
        Pool { shared: Arc::new(PoolShared { state: Mutex::default(), wake: Condvar::new() }) }
    }

    /// Queues a task. A task that cannot be queued is called at once with the error, on this
    /// thread.
    pub(crate) fn run(&self, job: PoolTask) {
        let mut state = self.shared.lock();
        let max = limits::POOL_QUEUE_MAX;
        let admitted = match state.queue.len() < max {
            true => self.ensure_thread(&mut state),
            false => Err(OpError::unavailable(format!("{max} calls are waiting already"))
                .hint("Try again in a moment.")),
        };
        if let Err(error) = admitted {
            drop(state);
            return job(Err(error));
        }
        state.queue.push_back(job);
        drop(state);
        self.shared.wake.notify_one();
    }

    /// Queues a task that must run, even if the queue is full. If the system refuses a thread, the task waits for the
    /// next one.
    pub(crate) fn run_always(&self, job: impl FnOnce() + Send + 'static) {
        let mut state = self.shared.lock();
        let _ = self.ensure_thread(&mut state);
        state.queue.push_back(Box::new(move |_| job()));
        drop(state);
        self.shared.wake.notify_one();
    }

    /// Starts a thread for one more task if one is needed.
    fn ensure_thread(&self, state: &mut PoolState) -> Result<(), OpError> {
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
            // The panic hook has logged it; the thread goes on with the next task.
            let _ = catch_unwind(AssertUnwindSafe(|| job(Ok(()))));
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    const SOON: Duration = Duration::from_secs(10);

    #[test]
    fn jobs_run_side_by_side_on_as_many_threads_as_allowed() {
        let pool = Pool::new();
        let (started, starts) = mpsc::channel();
        let gates: Vec<mpsc::Sender<()>> = (0..=limits::POOL_THREADS)
            .map(|number| {
                let (gate, closed) = mpsc::channel::<()>();
                let started = started.clone();
                pool.run(Box::new(move |admitted| {
                    assert!(admitted.is_ok());
                    started.send(number).unwrap();
                    let _ = closed.recv();
                }));
                gate
            })
            .collect();
        let mut running: Vec<usize> =
            (0..limits::POOL_THREADS).map(|_| starts.recv_timeout(SOON).unwrap()).collect();
        running.sort_unstable();
        assert_eq!(running, (0..limits::POOL_THREADS).collect::<Vec<_>>());
        assert_eq!(pool.shared.lock().queue.len(), 1, "the last one waits for a thread");
        drop(gates);
        assert_eq!(starts.recv_timeout(SOON), Ok(limits::POOL_THREADS));
    }

    #[test]
    fn an_idle_thread_takes_the_next_job() {
        let pool = Pool::new();
        let (done, ends) = mpsc::channel();
        for _ in 0..3 {
            let done = done.clone();
            pool.run(Box::new(move |_| done.send(()).unwrap()));
            ends.recv_timeout(SOON).unwrap();
            while pool.shared.lock().idle == 0 {
                std::thread::yield_now();
            }
        }
        assert_eq!(pool.shared.lock().threads, 1);
    }

    #[test]
    fn a_panic_ends_its_task_and_no_thread() {
        let pool = Pool::new();
        for _ in 0..limits::POOL_THREADS * 2 {
            pool.run(Box::new(|_| std::panic::resume_unwind(Box::new("a defect"))));
        }
        let (done, ends) = mpsc::channel();
        pool.run(Box::new(move |_| done.send(()).unwrap()));
        assert_eq!(ends.recv_timeout(SOON), Ok(()));
    }

    #[test]
    fn a_job_beyond_the_queue_is_refused_at_once() {
        let pool = Pool::new();
        let (gate, closed) = mpsc::channel::<()>();
        let closed = Arc::new(Mutex::new(closed));
        let (started, starts) = mpsc::channel();
        for _ in 0..limits::POOL_THREADS {
            let (closed, started) = (Arc::clone(&closed), started.clone());
            pool.run(Box::new(move |_| {
                started.send(()).unwrap();
                let _ = closed.lock().unwrap_or_else(PoisonError::into_inner).recv();
            }));
        }
        (0..limits::POOL_THREADS).for_each(|_| starts.recv_timeout(SOON).unwrap());
        (0..limits::POOL_QUEUE_MAX).for_each(|_| pool.run(Box::new(drop)));
        let (refused, refusals) = mpsc::channel();
        pool.run(Box::new(move |admitted| refused.send(admitted).unwrap()));
        let error = refusals.try_recv().unwrap().unwrap_err();
        assert!(error.message.contains("4096 calls are waiting"), "{}", error.message);
        let (done, ends) = mpsc::channel();
        pool.run_always(move || done.send(()).unwrap());
        drop(gate);
        assert_eq!(ends.recv_timeout(SOON), Ok(()), "a task that must run waits its turn");
    }

    #[test]
    fn a_dropped_pool_ends_its_threads_after_the_last_job() {
        let pool = Pool::new();
        let (done, ends) = mpsc::channel();
        let shared = Arc::downgrade(&pool.shared);
        (0..10).for_each(|number| {
            let done = done.clone();
            pool.run(Box::new(move |_| done.send(number).unwrap()));
        });
        drop((pool, done));
        assert_eq!(ends.iter().count(), 10);
        let until = std::time::Instant::now() + SOON;
        while shared.strong_count() > 0 {
            assert!(std::time::Instant::now() < until, "the threads end");
            std::thread::yield_now();
        }
    }
}
