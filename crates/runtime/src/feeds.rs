//! Subscriptions to feeds, and events for plugins.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use contract::{Feed, FeedParams, Plugin, Pulled};
use model::event::Published;
use model::{Code, OpError, limits};
use serde_json::Value;
use store::Rx;

use crate::bus::{Subscription, SubscriptionFilters};
use crate::runtime::{Runtime, RuntimeInner};

/// A client's subscription to a feed.
#[derive(Clone)]
pub struct FeedSubscription {
    pub feed: Arc<dyn Feed>,
    params: FeedParams,
}

impl FeedSubscription {
    /// The key of the subscription among those of its client: a repeated subscription replaces the first.
    pub fn key(&self) -> String {
        format!("{} {}", self.feed.name(), Value::Object(self.params.clone()))
    }

    /// Whether unsubscribing with this name and these parameters ends the subscription with this key. Without
    /// parameters, all subscriptions of the feed end.
    pub fn ends(&self, key: &str) -> bool {
        let of_feed = key.strip_prefix(self.feed.name()).is_some_and(|rest| rest.starts_with(' '));
        key == self.key() || (of_feed && self.params.is_empty())
    }

    pub(crate) fn pull(&self, rx: &Rx<'_>, after: u64) -> Result<Option<Pulled>, OpError> {
        self.feed.pull(&self.params, rx, after)
    }
}

impl Runtime {
    /// A new client of feeds, without a subscription.
    pub fn subscribe(&self) -> Subscription {
        self.inner.bus.subscribe()
    }

    /// A new client with the feeds that every client gets.
    pub fn subscribe_with_feeds(&self) -> (Subscription, Vec<FeedSubscription>) {
        let subscription = self.subscribe();
        let mut all = Vec::new();
        for feed in self.table().feeds() {
            let Some(filter) = feed.for_everyone() else { continue };
            let feed = FeedSubscription { feed: feed.clone(), params: FeedParams::new() };
            subscription.filters().add(&feed.key(), filter);
            all.push(feed);
        }
        (subscription, all)
    }

    /// The subscription for a feed's name and parameters.
    pub fn feed(&self, name: &str, params: Value) -> Result<FeedSubscription, OpError> {
        let feed = self.table().feed(name)?.clone();
        match params {
            Value::Null => Ok(FeedSubscription { feed, params: FeedParams::new() }),
            Value::Object(params) => Ok(FeedSubscription { feed, params }),
            _ => Err(OpError::invalid("params", "the parameters are not an object")),
        }
    }

    /// Adds a subscription to a client and returns its first message. Events that are committed from now on are
    /// queued, so none is missed after the first message.
    pub async fn follow(
        &self,
        filters: SubscriptionFilters,
        subscription: FeedSubscription,
    ) -> Result<Option<Value>, OpError> {
        let inner = self.inner.clone();
        let (follows, wanted) = (filters.clone(), subscription.clone());
        let (first, after) = self.on_pool(move || inner.follow(&follows, &wanted)).await?;
        if let Some(after) = after {
            self.start_pulling(filters, subscription, after);
        }
        Ok(first)
    }

    /// Runs blocking work on the pool.
    pub(crate) async fn on_pool<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, OpError> + Send + 'static,
    ) -> Result<T, OpError> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        self.inner.pool.run(Box::new(move |admitted| {
            // The client may have left.
            let _ = sender.send(admitted.and_then(|()| work()));
        }));
        receiver.await.unwrap_or_else(|_| {
            Err(OpError::unavailable("the daemon is ending").hint("Try again."))
        })
    }
}

impl RuntimeInner {
    /// Adds a subscription. Returns its first message and, for a pulled feed, the position after which to read.
    fn follow(
        &self,
        filters: &SubscriptionFilters,
        FeedSubscription { feed, params }: &FeedSubscription,
    ) -> Result<(Option<Value>, Option<u64>), OpError> {
        let filter = self.store.read(|rx| feed.filter(params, rx))?;
        let subscription = FeedSubscription { feed: feed.clone(), params: params.clone() };
        if !filters.add(&subscription.key(), filter) {
            let max = limits::SUBSCRIPTIONS_PER_CLIENT_MAX;
            return Err(OpError::new(
                Code::Quota,
                format!("a client has at most {max} subscriptions"),
            )
            .with("max", max)
            .hint("Unsubscribe from others first."));
        }
        self.store.read(|rx| Ok((feed.first(params, rx)?, feed.pulls_after(params, rx)?)))
    }
}

impl RuntimeInner {
    /// Gives events to the plugins that listen to their kinds, on the pool.
    pub(crate) fn hand_to_plugins(self: &Arc<RuntimeInner>, events: &[Published]) {
        let is_heard = |event: &&Published| {
            self.plugins.iter().any(|plugin| listens(plugin.listens_to(), &event.kind))
        };
        if !events.iter().any(|event| is_heard(&event)) {
            return;
        }
        if self.plugin_events.add(events.iter().filter(is_heard).cloned()) {
            let inner = self.clone();
            self.pool.run_always(move || inner.deliver_to_plugins());
        }
    }

    fn deliver_to_plugins(&self) {
        while let Some(event) = self.plugin_events.next() {
            for plugin in self.plugins.iter() {
                if listens(plugin.listens_to(), &event.kind) {
                    self.deliver(plugin.as_ref(), &event);
                }
            }
        }
    }

    fn deliver(&self, plugin: &dyn Plugin, event: &Published) {
        // The panic hook logs a panic. The other plugins and the next events follow.
        let heard =
            catch_unwind(AssertUnwindSafe(|| plugin.on_event(event, &self.store, &self.config)));
        if let Ok(Err(error)) = heard {
            let (name, code) = (plugin.name(), error.code.row().word);
            self.log.warn("event", format_args!("plugin={name} outcome={code}"));
        }
    }
}

/// Whether one of these kinds matches that of an event. A kind that ends with a slash is a prefix.
fn listens(kinds: &[&str], kind: &str) -> bool {
    kinds.iter().any(|one| match one.ends_with('/') {
        true => kind.starts_with(one),
        false => kind == *one,
    })
}
