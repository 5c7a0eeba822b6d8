//! The one place that spawns asynchronous tasks, so that each has a name.

use std::future::Future;

use tokio::task::JoinHandle;

/// Spawns a task on the current runtime. The name is for readers of the code and of a debugger.
#[expect(clippy::disallowed_methods, reason = "this is the one place that spawns")]
pub fn spawn<F>(_name: &'static str, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    tokio::spawn(future)
}
