//! Open connections of all surfaces: how many there are, and who goes when there are too many.
//!
//! When all places are taken, the connection that has longest sent nothing is closed for the new
//! one: a thousand idle clients cannot keep a new one out.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;

/// The places of one daemon.
pub struct Connections {
    max: usize,
    places: Mutex<Places>,
    /// Counts what was heard: the smaller a member's stamp, the longer it has been silent.
    heard: AtomicU64,
    count: watch::Sender<usize>,
}

#[derive(Default)]
struct Places {
    next: u64,
    taken: HashMap<u64, Arc<Member>>,
}

struct Member {
    last_heard: AtomicU64,
    evicted: watch::Sender<bool>,
}

impl Connections {
    pub fn new(max: usize) -> Arc<Connections> {
        Arc::new(Connections {
            max: max.max(1),
            places: Mutex::default(),
            heard: AtomicU64::new(0),
            count: watch::Sender::new(0),
        })
    }

    /// Gives a new connection its place. If all are taken, the longest silent one is evicted.
    pub fn admit(self: &Arc<Self>, kind: &'static str) -> Slot {
        let member = Arc::new(Member {
            last_heard: AtomicU64::new(self.stamp()),
            evicted: watch::Sender::new(false),
        });
        let mut places = self.places();
        if places.taken.len() >= self.max {
            let silent = |member: &Member| member.last_heard.load(Ordering::Relaxed);
            let longest = places.taken.iter().min_by_key(|(_, member)| silent(member));
            if let Some(gone) = longest.map(|(id, _)| *id).and_then(|id| places.taken.remove(&id)) {
                gone.evicted.send_replace(true);
            }
        }
        let id = places.next;
        places.next += 1;
        places.taken.insert(id, member.clone());
        self.count.send_replace(places.taken.len());
        Slot { connections: self.clone(), id, kind, member }
    }

    /// How many connections are open.
    pub fn open(&self) -> usize {
        *self.count.borrow()
    }

    /// The number of open connections, for whoever waits until it changes.
    pub fn changed(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }

    fn stamp(&self) -> u64 {
        self.heard.fetch_add(1, Ordering::Relaxed)
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection's place; dropping it leaves.
pub struct Slot {
    connections: Arc<Connections>,
    id: u64,
    kind: &'static str,
    member: Arc<Member>,
}

impl Slot {
    /// Notes that the connection sent something.
    pub fn touch(&self) {
        self.member.last_heard.store(self.connections.stamp(), Ordering::Relaxed);
    }

    /// Ends when the connection has to make room.
    pub async fn evicted(&self) {
        // The sender lives as long as this place, so waiting cannot fail.
        let _ = self.member.evicted.subscribe().wait_for(|evicted| *evicted).await;
    }

    /// The surface it came in by.
    pub fn kind(&self) -> &'static str {
        self.kind
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut places = self.connections.places();
        // An evicted connection left its place already.
        if places.taken.remove(&self.id).is_some() {
            self.connections.count.send_replace(places.taken.len());
        }
    }
}

/// A stream that says whenever its peer sent something.
pub struct Heard<T, F> {
    io: T,
    heard: F,
}

impl<T, F: Fn()> Heard<T, F> {
    pub fn new(io: T, heard: F) -> Heard<T, F> {
        Heard { io, heard }
    }
}

impl<T: AsyncRead + Unpin, F: Fn() + Unpin> AsyncRead for Heard<T, F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(cx, buf))?;
        if buf.filled().len() > before {
            (self.heard)();
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin, F: Unpin> AsyncWrite for Heard<T, F> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use futures_util::FutureExt as _;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    fn is_evicted(slot: &Slot) -> bool {
        slot.evicted().now_or_never().is_some()
    }

    #[test]
    fn when_full_the_longest_silent_connection_goes() {
        let connections = Connections::new(3);
        let first = connections.admit("a");
        let second = connections.admit("b");
        let third = connections.admit("c");
        first.touch();
        let fourth = connections.admit("d");
        assert!(is_evicted(&second));
        assert!(![&first, &third, &fourth].into_iter().any(is_evicted));
        let fifth = connections.admit("e");
        assert!(is_evicted(&third));
        assert_eq!((connections.open(), fifth.kind()), (3, "e"));
    }

    #[test]
    fn leaving_makes_room_and_is_counted_once() {
        let connections = Connections::new(2);
        let mut changed = connections.changed();
        let first = connections.admit("a");
        let second = connections.admit("a");
        assert!(changed.has_changed().unwrap());
        assert_eq!(*changed.borrow_and_update(), 2);
        drop(second);
        let third = connections.admit("a");
        assert!(!is_evicted(&first));
        let fourth = connections.admit("a");
        assert!(is_evicted(&first));
        drop(first);
        assert_eq!(connections.open(), 2);
        drop((third, fourth));
        assert_eq!(*changed.borrow_and_update(), 0);
    }

    #[tokio::test]
    async fn who_waits_for_eviction_is_woken() {
        let connections = Connections::new(1);
        let first = Arc::new(connections.admit("a"));
        let waiter = {
            let first = first.clone();
            runtime::tasks::spawn("test", async move { first.evicted().await })
        };
        let _second = connections.admit("a");
        waiter.await.unwrap();
    }

    #[tokio::test]
    async fn a_read_with_data_is_heard_and_the_end_is_not() {
        let (mut near, far) = tokio::io::duplex(64);
        let count = AtomicUsize::new(0);
        let mut far = Heard::new(far, || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        near.write_all(b"hello").await.unwrap();
        drop(near);
        let mut text = String::new();
        far.read_to_string(&mut text).await.unwrap();
        assert_eq!((text.as_str(), count.load(Ordering::Relaxed)), ("hello", 1));
    }
}
