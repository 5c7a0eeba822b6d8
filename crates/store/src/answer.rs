//! Sends one value from one thread to another. A channel would do, but every write has its own result
//! type, and the compiler would generate a whole channel implementation for each.

use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Where a value will arrive.
pub(crate) struct Answer<T> {
    value: Arc<Mutex<Option<T>>>,
    told: Receiver<()>,
}

impl<T> Answer<T> {
    /// The receiving end, and the function that sends the value.
    pub(crate) fn new() -> (Answer<T>, impl FnOnce(T)) {
        let value = Arc::new(Mutex::new(None));
        let (tell, told) = sync_channel(1);
        let answer = Answer { value: Arc::clone(&value), told };
        let send = move |sent| {
            *value.lock().unwrap_or_else(PoisonError::into_inner) = Some(sent);
            // The caller may have dropped its end.
            let _ = tell.send(());
        };
        (answer, send)
    }

    /// Waits for the value; none if the sender was dropped or the value was taken before.
    pub(crate) fn wait(&self) -> Option<T> {
        self.told.recv().ok()?;
        self.value.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
