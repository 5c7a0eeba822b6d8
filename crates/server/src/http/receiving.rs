//! The time a peer has to send a request: one timer for a connection, not one for each request.
//!
//! Setting a timer wakes the thread that waits for sockets, which costs as much as a small answer.
//! So a timer is set when something arrives, and looked at again only when it fires.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Poll, ready};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// What is arriving on one connection, and since when.
pub(crate) struct Receiving {
    opened: Instant,
    /// Time to receive a whole request, headers included.
    limit: Duration,
    /// Milliseconds after `opened` at which the first byte of a request came, or a value below.
    since: AtomicU64,
    /// Whether the head is there, so that somebody can be told that the body is late.
    in_body: AtomicBool,
    cut: Notify,
}

/// Nothing is arriving: the peer may be silent as long as it likes.
const IDLE: u64 = u64::MAX;
/// The request is there and being answered.
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

    /// Something came from the peer: the first of it starts the request's time.
    pub(crate) fn heard(&self) {
        if self.since.load(Ordering::Relaxed) == IDLE {
            let now = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(0);
            self.since.store(now, Ordering::Relaxed);
        }
    }

    /// The head is there; the body has what is left of the time.
    pub(crate) fn head_came(&self) {
        self.in_body.store(true, Ordering::Relaxed);
        // A request that came together with the one before it was not heard by itself.
        self.heard();
    }

    /// The whole request is there.
    pub(crate) fn body_came(&self) {
        self.since.store(COMPLETE, Ordering::Relaxed);
    }

    /// The request was answered.
    pub(crate) fn answered(&self) {
        self.in_body.store(false, Ordering::Relaxed);
        self.since.store(IDLE, Ordering::Relaxed);
    }

    /// Ends when the body took too long.
    pub(crate) async fn cut(&self) {
        self.cut.notified().await;
    }

    /// Ends when a head took too long, and cuts bodies that do. It has to be polled after the
    /// connection by the same task, which is woken by whatever arrives.
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
                self.body_came();
                self.cut.notify_waiters();
            }
        })
        .await;
    }

    /// When the request that is arriving has to be complete.
    fn due(&self) -> Option<Instant> {
        match self.since.load(Ordering::Relaxed) {
            IDLE | COMPLETE => None,
            since => Some(self.opened + Duration::from_millis(since) + self.limit),
        }
    }
}
