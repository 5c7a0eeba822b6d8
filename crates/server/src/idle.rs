//! When the daemon ends by itself: some time after its last client left, sooner if it holds no state.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use model::limits;

use crate::bound_socket::BoundSocket;
use crate::lock::Lock;
use crate::primary::{DaemonMode, EndReason, PrimaryState};

/// Ends the daemon after it had no client for the configured time, or once its lock file is gone, because new clients
/// could not find it then. While waiting, removes expired state, and binds the socket again if its file is gone.
pub(crate) async fn watch(shared: Arc<PrimaryState>, lock: Arc<Lock>, mut socket: BoundSocket) {
    let mut connections = shared.connections.changed();
    let mut stdio = shared.stdio_open.subscribe();
    let mut alone_since: Option<Instant> = None;
    loop {
        if !lock.is_in_place() {
            return shared.end(EndReason::LockLost);
        }
        socket.keep_open(shared.runtime.log());
        shared.runtime.sweep();
        if connections.has_changed().unwrap_or_default() {
            alone_since = None;
        }
        connections.borrow_and_update();
        let needed = *stdio.borrow_and_update()
            || shared.others() > 0
            || shared.stays.load(Ordering::Relaxed);
        let pause = if needed {
            alone_since = None;
            limits::IDLE_CHECK_INTERVAL
        } else {
            let (patience, why) = patience(&shared);
            let left = *alone_since.get_or_insert_with(Instant::now) + patience;
            let now = Instant::now();
            if now >= left {
                return shared.end(why);
            }
            (left - now).min(limits::IDLE_CHECK_INTERVAL)
        };
        let came = tokio::select! {
            _ = connections.changed() => true,
            _ = stdio.changed() => false,
            () = tokio::time::sleep(pause) => false,
        };
        if came {
            // Hooks connect by the hundred; checking after each of them would slow them down.
            connections.mark_changed();
            tokio::time::sleep(limits::IDLE_CHECK_DEBOUNCE).await;
        }
    }
}

fn patience(shared: &PrimaryState) -> (Duration, EndReason) {
    let config = shared.runtime.config();
    let empty = config.duration("daemon.idle_empty");
    match shared.runtime.held() {
        0 if shared.options.mode == DaemonMode::Stdio => {
            (empty.min(limits::IDLE_STDIO), EndReason::Idle)
        }
        0 => (empty, EndReason::Idle),
        _ => (config.duration("daemon.idle"), EndReason::Forgotten),
    }
}
