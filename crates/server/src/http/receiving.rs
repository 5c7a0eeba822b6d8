//! Timeouts for receiving a request: one timer per connection, not one per request.
//!
//! Setting a timer wakes the thread that waits for sockets, which costs as much as a small answer. So a timer is set
//! when data arrives, and checked again only when it fires.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Poll, ready};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// The request that is arriving on a connection, and since when.
pub(crate) struct Receiving {
    opened: Instant,
    /// Time to receive a whole request, headers included.
    limit: Duration,
    /// Milliseconds after `opened` at which the first byte of a request arrived, or `IDLE` or `COMPLETE`.
    since: AtomicU64,
    /// Whether the head was received, so that a client whose body is late can be answered.
    in_body: AtomicBool,
    cut: Notify,
}

/// No request is arriving: the peer may be silent as long as it likes.
const IDLE: u64 = u64::MAX;
/// The request was received and is being answered.
const COMPLETE: u64 = u64::MAX - 1;

impl Receiving {
    pub(crate) fn new(limit: Duration) -> Receiving {
        Receiving {
            opened: Instant::now(),
            limit,
            since: AtomicU64::new(IDLE),
            in_body: AtomicBool::new(false),
            cut: Notify::new(),
        }
    }

    /// Data arrived from the peer. The first byte of a request starts its time limit.
    pub(crate) fn heard(&self) {
        if self.since.load(Ordering::Relaxed) == IDLE {
            let now = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(0);
            self.since.store(now, Ordering::Relaxed);
        }
    }

    /// The head was received; the body has the rest of the time.
    pub(crate) fn head_received(&self) {
        self.in_body.store(true, Ordering::Relaxed);
        // A pipelined request arrives together with the one before it, so no read of its own started its time.
        self.heard();
    }

    /// The whole request was received.
    pub(crate) fn body_received(&self) {
        self.since.store(COMPLETE, Ordering::Relaxed);
    }

    /// The request was answered.
    pub(crate) fn answered(&self) {
        self.in_body.store(false, Ordering::Relaxed);
        self.since.store(IDLE, Ordering::Relaxed);
    }

    /// Completes when the body took too long.
    pub(crate) async fn cut(&self) {
        self.cut.notified().await;
    }

    /// Completes when a head took too long, and cuts off bodies that do. Poll it after the connection and in the same
    /// task, which is woken by every arriving byte.
    pub(crate) async fn late(&self) {
        let mut timer = pin!(sleep_until(self.opened));
        let mut set = false;
        poll_fn(|cx| {
            loop {
                let Some(due) = self.due() else { return Poll::Pending };
                if !set {
                    timer.as_mut().reset(due);
                    set = true;
                }
                ready!(timer.as_mut().poll(cx));
                set = false;
                if due > Instant::now() {
                    continue;
                }
                if !self.in_body.load(Ordering::Relaxed) {
                    return Poll::Ready(());
                }
                self.body_received();
                self.cut.notify_waiters();
            }
        })
        .await;
    }

    /// The deadline of the request that is arriving.
    fn due(&self) -> Option<Instant> {
        match self.since.load(Ordering::Relaxed) {
            IDLE | COMPLETE => None,
            since => Some(self.opened + Duration::from_millis(since) + self.limit),
        }
    }
}
