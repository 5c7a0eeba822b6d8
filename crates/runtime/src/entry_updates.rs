//! Subscriptions to entries: reports the paths of entries that may read differently after an event.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::Scheme;
use model::OpError;
use model::entry::EntryPath;
use model::event::EventFilter;

use crate::bus::Subscription;
use crate::runtime::Runtime;

/// The entries that one client watches.
pub struct EntryUpdates {
    runtime: Runtime,
    subscription: Subscription,
    watched: BTreeMap<String, WatchedEntry>,
}

struct WatchedEntry {
    scheme: Arc<dyn Scheme>,
    path: EntryPath,
}

impl Runtime {
    /// A new client that watches no entry yet.
    pub fn entry_updates(&self) -> EntryUpdates {
        let (runtime, subscription) = (self.clone(), self.subscribe());
        EntryUpdates { runtime, subscription, watched: BTreeMap::new() }
    }

    /// Refuses a path whose entry cannot be watched.
    pub fn check_watchable(&self, path: &str) -> Result<(), OpError> {
        self.watched(path).map(drop)
    }

    fn watched(&self, text: &str) -> Result<(WatchedEntry, EventFilter), OpError> {
        let path = EntryPath::parse(text)?;
        let scheme = self.table().scheme(&path.scheme);
        let filter = scheme.map_or(Ok(None), |scheme| scheme.updated_by(&path))?;
        let Some((scheme, filter)) = scheme.zip(filter) else {
            let message = format!("entries of {}:// cannot be subscribed to", path.scheme);
            return Err(OpError::invalid("uri", message)
                .hint("Subscribe to session://ID, context://ID or context://ID/SET."));
        };
        Ok((WatchedEntry { scheme: scheme.clone(), path }, filter))
    }
}

impl EntryUpdates {
    /// Watches the entries at these paths and no others. Paths that cannot be watched are left out.
    pub fn watch<'p>(&mut self, paths: impl IntoIterator<Item = &'p str>) {
        let mut filters = BTreeMap::new();
        self.watched.clear();
        for path in paths {
            let Ok((entry, filter)) = self.runtime.watched(path) else { continue };
            self.watched.insert(path.to_owned(), entry);
            filters.insert(path.to_owned(), filter);
        }
        self.subscription.filters().replace(filters.into_iter());
    }

    /// The path of the next entry that may read differently, as it was given; `None` after this client was dropped because
    /// it was too slow. Cancellation-safe.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            let delivery = self.subscription.next().await?;
            // An entry that is no longer watched may still have events in the queue.
            let Some(entry) = self.watched.get(&*delivery.key) else { continue };
            if entry.scheme.concerns(&entry.path, &delivery.event) {
                return Some(delivery.key.to_string());
            }
        }
    }

    /// Why `next` ended.
    pub fn reason(&self) -> String {
        self.subscription.reason()
    }
}
