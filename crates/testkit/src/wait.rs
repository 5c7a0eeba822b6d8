//! Waits for a condition, with a deadline and without fixed delays.

use std::time::{Duration, Instant};

/// The deadline for everything that should happen at once; generous, because machines are busy.
pub const SOON: Duration = Duration::from_secs(120);

/// Waits until `ready` returns a value. Panics with `what` at the deadline.
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

/// Checks for this long that a condition stays true. Panics with `what` if it does not.
pub fn holds_for(window: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + window;
    while Instant::now() < until {
        assert!(holds(), "did not stay so for {window:?}: {what}");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}
