//! Waiting for something to become true, with a deadline and without guessing how long it takes.

use std::time::{Duration, Instant};

/// The deadline of everything that should happen at once; generous, because machines are busy.
pub const SOON: Duration = Duration::from_secs(120);

/// Waits until `ready` gives something, or panics naming `what` did not happen.
pub fn wait_until<T>(what: &str, mut ready: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + SOON;
    loop {
        if let Some(value) = ready() {
            return value;
        }
        assert!(Instant::now() < until, "did not happen within {SOON:?}: {what}");
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

/// Watches for this long that something stays true, or panics naming `what` did not stay so.
pub fn holds_for(window: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + window;
    while Instant::now() < until {
        assert!(holds(), "did not stay so for {window:?}: {what}");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}
