//! The queue of events that arrived while the spool had older ones.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::OpError;

/// An event that waits until older events in the spool are recorded, as a function that continues it. Its argument is
/// an error if the event was not admitted.
pub(crate) type WaitingEvent = Box<dyn FnOnce(Result<(), OpError>) + Send>;

/// Events that arrived while the spool had older ones, in the order of their arrival.
#[derive(Default)]
pub(crate) struct BehindSpool {
    waiting: Mutex<VecDeque<WaitingEvent>>,
    /// Events that the writer does not have yet. Until it is zero, no event may overtake them.
    pending: AtomicUsize,
    /// Held by the thread that hands waiting events to the writer, so that they keep their order.
    handing_over: Mutex<()>,
}

impl BehindSpool {
    pub(crate) fn push(&self, event: WaitingEvent) {
        self.pending.fetch_add(1, Ordering::AcqRel);
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push_back(event);
    }

    /// Takes out the event that arrived first.
    pub(crate) fn first(&self) -> Option<WaitingEvent> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Takes out the event that arrived last.
    pub(crate) fn last(&self) -> Option<WaitingEvent> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_back()
    }

    /// Whether the writer has all events.
    pub(crate) fn is_empty(&self) -> bool {
        self.pending.load(Ordering::Acquire) == 0
    }

    /// Notes that the writer has one more event, or that the event was refused.
    pub(crate) fn done(&self) {
        self.pending.fetch_sub(1, Ordering::AcqRel);
    }

    /// Locks the hand-over of events to the writer; one thread has it at a time.
    pub(crate) fn in_order(&self) -> MutexGuard<'_, ()> {
        self.handing_over.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
