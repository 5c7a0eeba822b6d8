//! A time by which statements of this thread have to end, for queries whose cost nobody can foresee.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Looks that a statement is granted in any case: on a busy machine time passes without work, and
/// a small query has to end all the same.
const LOOKS_GRANTED: u32 = 10;

thread_local! {
    static WATCH: Cell<Option<Watch>> = const { Cell::new(None) };
}

#[derive(Clone, Copy)]
struct Watch {
    until: Instant,
    looks: u32,
    granted: u32,
    up: bool,
}

/// While it lives, a statement of this thread on a read connection is interrupted once time is up.
pub(crate) struct Deadline;

impl Deadline {
    pub(crate) fn at(until: Instant) -> Deadline {
        Deadline::share(until.saturating_duration_since(Instant::now()), 1)
    }

    /// The same for one of several statements that have so much time together.
    pub(crate) fn share(patience: Duration, statements: u32) -> Deadline {
        let statements = statements.max(1);
        Deadline::beyond(LOOKS_GRANTED / statements, patience / statements)
    }

    /// The same for a statement that is granted so many looks in any case.
    pub(crate) fn beyond(granted: u32, patience: Duration) -> Deadline {
        WATCH.set(Some(Watch { until: Instant::now() + patience, looks: 0, granted, up: false }));
        Deadline
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        WATCH.set(None);
    }
}

/// Looks at the clock, and says whether to interrupt. SQLite asks this while it works.
pub(crate) fn look() -> bool {
    let Some(mut watch) = WATCH.get() else { return false };
    watch.looks += 1;
    watch.up = watch.looks > watch.granted && Instant::now() >= watch.until;
    WATCH.set(Some(watch));
    watch.up
}

/// Whether a statement of this thread was interrupted because time is up.
pub(crate) fn is_up() -> bool {
    WATCH.get().is_some_and(|watch| watch.up)
}
