//! When a daemon leaves by itself: after its last client, sooner if it holds nothing.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use model::limits;

use crate::door::Door;
use crate::lock::Lock;
use crate::primary::{Mode, Shared, Why};

/// Ends the daemon once nobody has needed it for long enough, or once its lock file is gone and
/// whoever comes next could not find it. Meanwhile what has outlived its time is swept, and a socket
/// that is gone is bound again.
pub(crate) async fn watch(shared: Arc<Shared>, lock: Arc<Lock>, mut door: Door) {
    let mut connections = shared.connections.changed();
    let mut stdio = shared.stdio_open.subscribe();
    let mut alone_since: Option<Instant> = None;
    loop {
        if !lock.is_in_place() {
            return shared.end(Why::LockLost);
        }
        door.keep_open(shared.runtime.log());
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
            limits::IDLE_LOOK
        } else {
            let (patience, why) = patience(&shared);
            let left = *alone_since.get_or_insert_with(Instant::now) + patience;
            let now = Instant::now();
            if now >= left {
                return shared.end(why);
            }
            (left - now).min(limits::IDLE_LOOK)
        };
        let came = tokio::select! {
            _ = connections.changed() => true,
            _ = stdio.changed() => false,
            () = tokio::time::sleep(pause) => false,
        };
        if came {
            // Hooks come and go by the hundred, and none is to wait for this look.
            connections.mark_changed();
            tokio::time::sleep(limits::IDLE_BREATH).await;
        }
    }
}

fn patience(shared: &Shared) -> (Duration, Why) {
    let config = shared.runtime.config();
    let empty = config.duration("daemon.idle_empty");
    match shared.runtime.held() {
        0 if shared.options.mode == Mode::Stdio => (empty.min(limits::IDLE_STDIO), Why::Idle),
        0 => (empty, Why::Idle),
        _ => (config.duration("daemon.idle"), Why::Forgotten),
    }
}
