//! Open connections of all surfaces: how many there are, and which one is closed when there are too many.
//!
//! At the limit, the connection that has been idle longest is closed for the new one, so that a thousand idle
//! clients cannot block a new one. Connections without a token are closed first, because any user of this machine
//! can open them.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use model::limits;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;

/// The open connections of one daemon, and their limit.
pub struct Connections {
    max: usize,
    slots: Mutex<Slots>,
    /// Grows by one with each read. The connection with the lowest stamp has been idle longest.
    heard: AtomicU64,
    count: watch::Sender<usize>,
}

#[derive(Default)]
struct Slots {
    next: u64,
    open: HashMap<u64, Arc<OpenConnection>>,
}

impl Slots {
    /// Evicts the connection that has been idle longest, preferably one without a token.
    fn evict_one(&mut self) {
        let rank = |member: &OpenConnection| {
            let trusted = member.trusted.load(Ordering::Relaxed);
            (trusted, member.last_heard.load(Ordering::Relaxed))
        };
        let first = self.open.iter().min_by_key(|(_, member)| rank(member)).map(|(id, _)| *id);
        if let Some(gone) = first.and_then(|id| self.open.remove(&id)) {
            gone.evicted.send_replace(Some(Eviction::Idle));
        }
    }
}

/// Why the daemon closes a connection that its client still wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// It had been idle longest when a new connection needed its place.
    Idle,
    /// Its browser was forgotten.
    Forgotten,
}

struct OpenConnection {
    last_heard: AtomicU64,
    /// Whether a request on it passed the guard, or it is a connection to the unix socket.
    trusted: AtomicBool,
    /// Whether a browser that is signed in to the page sent a request on it.
    of_browser: AtomicBool,
    evicted: watch::Sender<Option<Eviction>>,
}

/// The connection limit for this limit on open files.
pub fn fitting(open_files: usize) -> usize {
    let left = open_files.saturating_sub(limits::OPEN_FILES_RESERVED);
    left.clamp(limits::CONNECTIONS_MIN, limits::CONNECTIONS_MAX)
}

impl Connections {
    pub fn new(max: usize) -> Arc<Connections> {
        Arc::new(Connections {
            max: max.max(1),
            slots: Mutex::default(),
            heard: AtomicU64::new(0),
            count: watch::Sender::new(0),
        })
    }

    /// Registers a new connection. At the limit, another one is evicted.
    pub fn admit(self: &Arc<Self>, kind: &'static str) -> ConnectionSlot {
        let member = Arc::new(OpenConnection {
            last_heard: AtomicU64::new(self.stamp()),
            trusted: AtomicBool::new(false),
            of_browser: AtomicBool::new(false),
            evicted: watch::Sender::new(None),
        });
        let mut slots = self.slots();
        if slots.open.len() >= self.max {
            slots.evict_one();
        }
        let id = slots.next;
        slots.next += 1;
        slots.open.insert(id, member.clone());
        self.count.send_replace(slots.open.len());
        ConnectionSlot { connections: self.clone(), id, kind, member }
    }

    /// Closes a connection because no more files can be opened, so that the next connection can be accepted.
    pub fn make_room(&self) {
        let mut slots = self.slots();
        slots.evict_one();
        self.count.send_replace(slots.open.len());
    }

    /// Closes the connections of all browsers that are signed in to the page. Each request is checked when it arrives,
    /// but WebSockets and event streams that are open would go on.
    pub fn end_browsers(&self) {
        let mut slots = self.slots();
        slots.open.retain(|_, member| {
            let ends = member.of_browser.load(Ordering::Relaxed);
            if ends {
                member.evicted.send_replace(Some(Eviction::Forgotten));
            }
            !ends
        });
        self.count.send_replace(slots.open.len());
    }

    /// How many connections are open.
    pub fn open(&self) -> usize {
        *self.count.borrow()
    }

    /// The number of open connections, as a channel that reports each change.
    pub fn changed(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }

    fn stamp(&self) -> u64 {
        self.heard.fetch_add(1, Ordering::Relaxed)
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection's entry; dropping it removes the connection.
pub struct ConnectionSlot {
    connections: Arc<Connections>,
    id: u64,
    kind: &'static str,
    member: Arc<OpenConnection>,
}

impl ConnectionSlot {
    /// Notes that data arrived on the connection.
    pub fn touch(&self) {
        self.member.last_heard.store(self.connections.stamp(), Ordering::Relaxed);
    }

    /// Notes that a request of this connection passed the guard.
    pub fn trust(&self) {
        self.member.trusted.store(true, Ordering::Relaxed);
    }

    /// Notes that a browser that is signed in to the page uses this connection.
    pub fn used_by_browser(&self) {
        self.member.of_browser.store(true, Ordering::Relaxed);
    }

    /// Completes when the connection has to close.
    pub async fn evicted(&self) -> Eviction {
        let mut evicted = self.member.evicted.subscribe();
        // The sender lives as long as this slot, so waiting cannot fail.
        let why = evicted.wait_for(Option::is_some).await;
        why.ok().and_then(|why| *why).unwrap_or(Eviction::Idle)
    }

    /// The surface that accepted the connection.
    pub fn kind(&self) -> &'static str {
        self.kind
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut slots = self.connections.slots();
        // An evicted connection is no longer in the map.
        if slots.open.remove(&self.id).is_some() {
            self.connections.count.send_replace(slots.open.len());
        }
    }
}

/// A stream that calls `heard` whenever its peer sent data.
pub struct ReadObserver<T, F> {
    io: T,
    heard: F,
}

impl<T, F: Fn()> ReadObserver<T, F> {
    pub fn new(io: T, heard: F) -> ReadObserver<T, F> {
        ReadObserver { io, heard }
    }
}

impl<T: AsyncRead + Unpin, F: Fn() + Unpin> AsyncRead for ReadObserver<T, F> {
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

impl<T: AsyncWrite + Unpin, F: Unpin> AsyncWrite for ReadObserver<T, F> {
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

    fn is_evicted(slot: &ConnectionSlot) -> bool {
        slot.evicted().now_or_never().is_some()
    }

    #[test]
    fn at_the_limit_the_longest_idle_connection_is_evicted() {
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
    fn connections_without_a_token_are_closed_first() {
        let connections = Connections::new(3);
        let trusted = connections.admit("socket");
        trusted.trust();
        let second = connections.admit("a");
        let third = connections.admit("b");
        let _fourth = connections.admit("c");
        assert!(is_evicted(&second) && !is_evicted(&trusted) && !is_evicted(&third));
        connections.make_room();
        assert!(is_evicted(&third) && !is_evicted(&trusted));
        assert_eq!(connections.open(), 2);
        connections.make_room();
        connections.make_room();
        connections.make_room();
        assert!(is_evicted(&trusted), "if there is no other");
        assert_eq!(connections.open(), 0);
    }

    #[test]
    fn only_connections_of_browsers_end_when_browsers_are_forgotten() {
        let connections = Connections::new(3);
        let program = connections.admit("http");
        program.trust();
        let browser = connections.admit("http");
        browser.used_by_browser();
        connections.end_browsers();
        assert_eq!(browser.evicted().now_or_never(), Some(Eviction::Forgotten));
        assert!(!is_evicted(&program));
        assert_eq!(connections.open(), 1);
    }

    #[test]
    fn fewer_open_files_mean_fewer_connections() {
        assert_eq!(fitting(4_096), 512);
        assert_eq!(fitting(256), 192);
        assert_eq!(fitting(10), 8);
    }

    #[test]
    fn a_closed_connection_frees_its_slot_once() {
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
    async fn evicted_completes_when_the_connection_is_evicted() {
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
    async fn a_read_with_data_is_reported_and_the_end_is_not() {
        let (mut near, far) = tokio::io::duplex(64);
        let count = AtomicUsize::new(0);
        let mut far = ReadObserver::new(far, || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        near.write_all(b"hello").await.unwrap();
        drop(near);
        let mut text = String::new();
        far.read_to_string(&mut text).await.unwrap();
        assert_eq!((text.as_str(), count.load(Ordering::Relaxed)), ("hello", 1));
    }
}
