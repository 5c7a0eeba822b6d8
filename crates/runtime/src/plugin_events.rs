//! The queue of committed events for plugins. One task on the pool delivers them (`feeds`), even if the pool is full, so
//! no plugin misses an event.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::event::Published;

/// Events that no plugin got yet.
#[derive(Default)]
pub(crate) struct PluginEvents(Mutex<EventQueue>);

#[derive(Default)]
struct EventQueue {
    events: VecDeque<Published>,
    /// Whether a task on the pool delivers them. There is at most one, so that events keep their order.
    is_delivered: bool,
}

impl PluginEvents {
    fn lock(&self) -> MutexGuard<'_, EventQueue> {
        // No plugin runs under the lock, so a poisoned lock still guards sound state.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds events. Returns whether the caller has to start a task that delivers them.
    pub(crate) fn add(&self, events: impl Iterator<Item = Published>) -> bool {
        let mut queue = self.lock();
        queue.events.extend(events);
        !queue.events.is_empty() && !std::mem::replace(&mut queue.is_delivered, true)
    }

    /// The next event; if there is none, the calling task must end.
    pub(crate) fn next(&self) -> Option<Published> {
        let mut queue = self.lock();
        let next = queue.events.pop_front();
        queue.is_delivered = next.is_some();
        next
    }
}
