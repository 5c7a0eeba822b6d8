//! Tells tasks that something was committed.

use std::sync::Arc;

use tokio::sync::watch;

/// Tells the tasks of pulled feeds that something was committed.
pub(crate) struct Commits(Arc<watch::Sender<()>>);

impl Commits {
    /// Connects the store's signal.
    pub(crate) fn of(store: &store::Store) -> Commits {
        let woken = Arc::new(watch::Sender::new(()));
        let sender = woken.clone();
        store.commits().connect(move || {
            sender.send_replace(());
            sender.receiver_count() > 0
        });
        Commits(woken)
    }

    /// A receiver that each later commit wakes.
    pub(crate) fn listen(&self, store: &store::Store) -> watch::Receiver<()> {
        let receiver = self.0.subscribe();
        store.commits().listen();
        receiver
    }
}
