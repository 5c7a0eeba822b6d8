//! Published events: filtered and queued for subscribers after COMMIT, in sequence. Queues are bounded.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::event::{EventFilter, Published};
use model::limits;
use tokio::sync::{OwnedMutexGuard, mpsc};
use tokio::time::{Instant, sleep_until};

/// Distributes events. A subscriber that does not keep up is dropped; the writer never waits for a subscriber.
#[derive(Default)]
pub struct Bus {
    subscribers: Mutex<Vec<Subscriber>>,
    /// Whether there are subscribers: without any, an event costs this check.
    has_subscribers: AtomicBool,
}

struct Subscriber {
    queue: mpsc::Sender<Delivery>,
    filters: Arc<Mutex<Filters>>,
}

/// The filters of a subscriber by the key of their subscription.
type Filters = Vec<(Arc<str>, EventFilter)>;

/// An event for one subscription of a client.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The key that the subscription was added with.
    pub key: Arc<str>,
    pub event: Arc<Published>,
}

/// The receiving end of a client, with any number of subscriptions.
pub struct Subscription {
    queue: mpsc::Receiver<Delivery>,
    filters: SubscriptionFilters,
}

/// Adds and removes the subscriptions of a client. Cheap to clone.
#[derive(Clone)]
pub struct SubscriptionFilters {
    filters: Arc<Mutex<Filters>>,
    /// Weak, so that it does not keep the queue open: the end of the queue tells the client that it was dropped.
    queue: mpsc::WeakSender<Delivery>,
    /// When the client last got a message of a pulled feed. A feed holds the lock while it pulls, so that all feeds of a
    /// client together keep to the rate of one.
    last_pulled: Arc<tokio::sync::Mutex<Option<Instant>>>,
}

/// The fate of a message for one subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivered {
    Queued,
    /// The client does not keep up; the message may be tried again later.
    Full,
    /// The client has left, or the subscription was removed or replaced.
    Ended,
}

impl Bus {
    /// Queues events for the subscribers whose filters admit them. The writer thread calls this, one batch at a time.
    pub fn publish(&self, events: Vec<Published>) {
        if !self.has_subscribers.load(Ordering::Acquire) {
            return;
        }
        let mut subscribers = self.subscribers.lock().unwrap_or_else(PoisonError::into_inner);
        for event in events.into_iter().map(Arc::new) {
            subscribers.retain(|subscriber| subscriber.queue(&event));
        }
        self.has_subscribers.store(!subscribers.is_empty(), Ordering::Release);
    }

    pub fn subscribe(&self) -> Subscription {
        let (sender, queue) = mpsc::channel(limits::SUBSCRIBER_QUEUE_MAX);
        let filters = Arc::new(Mutex::default());
        let weak = sender.downgrade();
        let subscriber = Subscriber { queue: sender, filters: Arc::clone(&filters) };
        let mut subscribers = self.subscribers.lock().unwrap_or_else(PoisonError::into_inner);
        subscribers.push(subscriber);
        self.has_subscribers.store(true, Ordering::Release);
        let last_pulled = Arc::default();
        Subscription { queue, filters: SubscriptionFilters { filters, queue: weak, last_pulled } }
    }
}

impl Subscriber {
    /// Queues the event once for each filter that admits it. Returns false if the queue is full or the subscriber
    /// has left: it is removed then.
    fn queue(&self, event: &Arc<Published>) -> bool {
        let filters = self.filters.lock().unwrap_or_else(PoisonError::into_inner);
        let mut admitting = filters.iter().filter(|(_, filter)| filter.admits(event));
        let queued = admitting.all(|(key, _)| {
            let delivery = Delivery { key: Arc::clone(key), event: Arc::clone(event) };
            self.queue.try_send(delivery).is_ok()
        });
        queued && !self.queue.is_closed()
    }
}

impl Subscription {
    /// Adds and removes subscriptions of this client.
    pub fn filters(&self) -> SubscriptionFilters {
        self.filters.clone()
    }

    /// The next event, or `None` after this client was dropped because it was too slow.
    pub async fn next(&mut self) -> Option<Delivery> {
        self.queue.recv().await
    }

    /// Why `next` ended.
    pub fn reason(&self) -> String {
        format!("more than {} events were waiting", limits::SUBSCRIBER_QUEUE_MAX)
    }
}

impl SubscriptionFilters {
    fn locked(&self) -> MutexGuard<'_, Filters> {
        self.filters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the client may get the next message of a pulled feed. The caller pulls while it holds the lock, and
    /// stores the time if there was a message.
    pub(crate) async fn next_pull(&self) -> OwnedMutexGuard<Option<Instant>> {
        let last = self.last_pulled.clone().lock_owned().await;
        if let Some(last) = *last {
            sleep_until(last + limits::FEED_PULL_INTERVAL).await;
        }
        last
    }

    /// The key of a subscription as long as it is not replaced or removed.
    pub(crate) fn key(&self, key: &str) -> Option<Arc<str>> {
        self.locked().iter().map(|(known, _)| known).find(|known| ***known == *key).cloned()
    }

    /// Queues a message for one subscription only: the one that has this very key object, not just an equal key.
    pub(crate) fn deliver(&self, key: &Arc<str>, event: Published) -> Delivered {
        let Some(queue) = self.queue.upgrade() else { return Delivered::Ended };
        if queue.is_closed() || !self.locked().iter().any(|(known, _)| Arc::ptr_eq(known, key)) {
            return Delivered::Ended;
        }
        let delivery = Delivery { key: Arc::clone(key), event: Arc::new(event) };
        if queue.try_send(delivery).is_ok() { Delivered::Queued } else { Delivered::Full }
    }

    /// Whether the client is connected and still has the subscription with this very key object.
    pub(crate) fn has(&self, key: &Arc<str>) -> bool {
        let is_open = self.queue.upgrade().is_some_and(|queue| !queue.is_closed());
        is_open && self.locked().iter().any(|(known, _)| Arc::ptr_eq(known, key))
    }

    /// Adds a subscription; one with the same key is replaced. False if the client has too many.
    pub fn add(&self, key: &str, filter: EventFilter) -> bool {
        let mut filters = self.locked();
        filters.retain(|(known, _)| **known != *key);
        if filters.len() >= limits::SUBSCRIPTIONS_PER_CLIENT_MAX {
            return false;
        }
        filters.push((key.into(), filter));
        true
    }

    /// Replaces all subscriptions at once, so that a subscription that stays misses no event.
    pub fn replace(&self, subscriptions: impl Iterator<Item = (String, EventFilter)>) {
        *self.locked() = subscriptions.map(|(key, filter)| (key.into(), filter)).collect();
    }

    /// Removes the subscriptions whose keys `is_ended` accepts.
    pub fn remove(&self, is_ended: impl Fn(&str) -> bool) {
        self.locked().retain(|(known, _)| !is_ended(known));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(seq: u64) -> Published {
        Published {
            seq,
            at: 0,
            kind: if seq.is_multiple_of(2) { "even/k" } else { "odd/k" }.into(),
            subject: "s".into(),
            reason: None,
            project: None,
            data: serde_json::Value::Null,
        }
    }

    fn received(subscription: &mut Subscription) -> Option<(String, u64)> {
        let delivery = subscription.queue.try_recv().ok()?;
        Some((delivery.key.to_string(), delivery.event.seq))
    }

    #[test]
    fn a_slow_subscriber_is_dropped_and_the_others_are_not() {
        let bus = Bus::default();
        let mut slow = bus.subscribe();
        slow.filters().add("all", EventFilter::default());
        let max = limits::SUBSCRIBER_QUEUE_MAX as u64;
        bus.publish((1..=max).map(event).collect());
        let mut fresh = bus.subscribe();
        fresh.filters().add("all", EventFilter::default());
        bus.publish(vec![event(max + 1)]);
        assert_eq!(received(&mut fresh), Some(("all".into(), max + 1)));
        for seq in 1..=max {
            assert_eq!(received(&mut slow), Some(("all".into(), seq)));
        }
        assert_eq!(received(&mut slow), None);
        assert_eq!(bus.subscribers.lock().unwrap().len(), 1);
    }

    #[test]
    fn filters_are_applied_before_an_event_is_queued() {
        let bus = Bus::default();
        let mut client = bus.subscribe();
        let of = |kind: &str| EventFilter { kind: Some(kind.into()), ..EventFilter::default() };
        bus.publish(vec![event(1)]);
        assert!(client.filters().add("even", of("even/")));
        assert!(client.filters().add("even", of("even/")), "the same one again replaces it");
        assert!(client.filters().add("first", of("even/k")));
        bus.publish(vec![event(1), event(2)]);
        client.filters().remove(|key| key == "first");
        client.filters().remove(|key| key == "unknown");
        bus.publish(vec![event(3), event(4)]);
        let all: Vec<(String, u64)> = std::iter::from_fn(|| received(&mut client)).collect();
        assert_eq!(all, [("even".into(), 2), ("first".into(), 2), ("even".into(), 4)]);
    }

    #[test]
    fn without_subscribers_nothing_is_distributed() {
        let bus = Bus::default();
        drop(bus.subscribe());
        assert!(bus.has_subscribers.load(Ordering::Acquire));
        bus.publish(vec![event(1)]);
        assert!(!bus.has_subscribers.load(Ordering::Acquire), "the client that left is noticed");
    }
}
