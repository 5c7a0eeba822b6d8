//! One value from one thread to another. A channel would do, but it is compiled anew for each type of
//! value, all of its kinds at once, and each kind of write has a type of its own.

use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Where a value will arrive.
pub(crate) struct Answer<T> {
    value: Arc<Mutex<Option<T>>>,
    told: Receiver<()>,
}

impl<T> Answer<T> {
    /// With what sends the value.
    pub(crate) fn new() -> (Answer<T>, impl FnOnce(T)) {
        let value = Arc::new(Mutex::new(None));
        let (tell, told) = sync_channel(1);
        let answer = Answer { value: Arc::clone(&value), told };
        let send = move |sent| {
            *value.lock().unwrap_or_else(PoisonError::into_inner) = Some(sent);
            // Who asked may have given up waiting.
            let _ = tell.send(());
        };
        (answer, send)
    }

    /// The value; none if nobody can send it any more, or if it was taken before.
    pub(crate) fn wait(&self) -> Option<T> {
        self.told.recv().ok()?;
        self.value.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
