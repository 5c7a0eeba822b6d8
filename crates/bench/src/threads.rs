//! The threads on which calls are measured.

use model::OpError;

/// Threads as the daemon has them.
pub(crate) fn tokio_runtime() -> Result<tokio::runtime::Runtime, OpError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| OpError::unavailable(format!("no threads: {error}")))
}
