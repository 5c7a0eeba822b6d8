//! Feeds whose messages are read from the store after commits, instead of being made from events.

use contract::Pulled;
use model::event::Published;
use model::{OpError, limits};
use tokio::time::{Instant, sleep};

use crate::bus::{Delivered, SubscriptionFilters};
use crate::feeds::FeedSubscription;
use crate::runtime::Runtime;
use crate::tasks;

impl Runtime {
    /// Sends the messages of a pulled feed until the subscription ends.
    pub(crate) fn start_pulling(
        &self,
        filters: SubscriptionFilters,
        subscription: FeedSubscription,
        after: u64,
    ) {
        let Some(key) = filters.key(&subscription.key()) else { return };
        let runtime = self.clone();
        tasks::spawn("feed", async move {
            let mut commits = runtime.inner.commits.listen(&runtime.inner.store);
            let mut after = after;
            while filters.has(&key) {
                let mut last_pulled = filters.next_pull().await;
                commits.mark_unchanged();
                // A failed read is repeated with the next commit.
                let pulled = runtime.pull(&subscription, after).await.ok().flatten();
                let mut is_full = false;
                if let Some(Pulled { message, last }) = pulled {
                    if message.is_some() {
                        *last_pulled = Some(Instant::now());
                    }
                    let event = message.map(|data| Published {
                        seq: last,
                        at: 0,
                        kind: subscription.feed.method().to_owned(),
                        subject: String::new(),
                        reason: None,
                        project: None,
                        data,
                    });
                    match event.map_or(Delivered::Queued, |event| filters.deliver(&key, event)) {
                        Delivered::Queued => after = last,
                        Delivered::Full => is_full = true,
                        Delivered::Ended => return,
                    }
                }
                drop(last_pulled);
                sleep(limits::FEED_PULL_INTERVAL).await;
                if !is_full && commits.changed().await.is_err() {
                    return;
                }
            }
        });
    }

    async fn pull(
        &self,
        subscription: &FeedSubscription,
        after: u64,
    ) -> Result<Option<Pulled>, OpError> {
        let (inner, subscription) = (self.inner.clone(), subscription.clone());
        self.on_pool(move || inner.store.read(|rx| subscription.pull(rx, after))).await
    }
}
