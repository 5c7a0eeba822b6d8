//! Events on their way out: published after COMMIT, in sequence, to bounded queues.

use std::sync::{Arc, Mutex, PoisonError};

use model::event::Published;
use model::limits;
use tokio::sync::mpsc;

/// Who is told. A subscriber that does not keep up is dropped rather than waited for.
#[derive(Default)]
pub struct Bus {
    subscribers: Mutex<Vec<mpsc::Sender<Arc<Published>>>>,
}

/// One subscriber's end.
pub struct Subscription {
    queue: mpsc::Receiver<Arc<Published>>,
}

impl Bus {
    /// Hands events to every subscriber. The writer thread calls this, one batch at a time.
    pub fn publish(&self, events: Vec<Published>) {
        let mut subscribers = self.subscribers.lock().unwrap_or_else(PoisonError::into_inner);
        for event in events.into_iter().map(Arc::new) {
            subscribers.retain(|queue| queue.try_send(event.clone()).is_ok());
        }
    }

    pub fn subscribe(&self) -> Subscription {
        let (sender, queue) = mpsc::channel(limits::SUBSCRIBER_QUEUE_MAX);
        self.subscribers.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        Subscription { queue }
    }
}

impl Subscription {
    /// The next event, or nothing once this subscriber was dropped for being too slow.
    pub async fn next(&mut self) -> Option<Arc<Published>> {
        self.queue.recv().await
    }

    /// Why `next` ended.
    pub fn reason(&self) -> String {
        format!("more than {} events were waiting", limits::SUBSCRIBER_QUEUE_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(seq: u64) -> Published {
        Published {
            seq,
            at: 0,
            kind: "k".into(),
            subject: "s".into(),
            data: serde_json::Value::Null,
        }
    }

    #[test]
    fn a_slow_subscriber_is_dropped_and_the_others_are_not() {
        let bus = Bus::default();
        let mut slow = bus.subscribe();
        let max = limits::SUBSCRIBER_QUEUE_MAX as u64;
        bus.publish((1..=max).map(event).collect());
        let mut fresh = bus.subscribe();
        bus.publish(vec![event(max + 1)]);
        assert_eq!(fresh.queue.try_recv().map(|e| e.seq), Ok(max + 1));
        for seq in 1..=max {
            assert_eq!(slow.queue.try_recv().map(|e| e.seq), Ok(seq));
        }
        assert!(slow.queue.try_recv().is_err());
        assert_eq!(bus.subscribers.lock().unwrap().len(), 1);
    }
}
