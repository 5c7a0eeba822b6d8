//! Wakes a listener after commits. While nothing listens, a commit costs one check of a flag.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether something listens, and how it is woken.
#[derive(Default)]
pub struct CommitSignal {
    listens: AtomicBool,
    wake: OnceLock<Box<dyn Fn() -> bool + Send + Sync>>,
}

impl CommitSignal {
    /// Sets the function that the writer thread calls after a commit. It must not block, and returns whether anything still
    /// listens. Later calls are ignored.
    pub fn connect(&self, wake: impl Fn() -> bool + Send + Sync + 'static) {
        let _ = self.wake.set(Box::new(wake));
    }

    /// Has the function called after commits from now on.
    pub fn listen(&self) {
        self.listens.store(true, Ordering::Release);
    }

    pub(crate) fn committed(&self) {
        if !self.listens.load(Ordering::Acquire) {
            return;
        }
        // Cleared first: a listener that arrives during the call below sets the flag again.
        self.listens.store(false, Ordering::Release);
        if self.wake.get().is_some_and(|wake| wake()) {
            self.listens.store(true, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn commits_wake_a_listener_until_it_leaves() {
        let signal = CommitSignal::default();
        let woken = Arc::new(AtomicUsize::default());
        let count = woken.clone();
        signal.connect(move || count.fetch_add(1, Ordering::Relaxed) < 1);
        signal.committed();
        assert_eq!(woken.load(Ordering::Relaxed), 0, "nothing listens");
        signal.listen();
        signal.committed();
        signal.committed();
        assert_eq!(woken.load(Ordering::Relaxed), 2);
        signal.committed();
        assert_eq!(woken.load(Ordering::Relaxed), 2, "the second call said that nothing listens");
    }
}
