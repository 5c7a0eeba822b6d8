//! The deadline of a query: one for all of its stages, since their costs cannot be predicted.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// How many checks of the deadline a statement passes even after the deadline: on a busy machine time passes without
/// work, and a small query has to finish nevertheless.
pub(crate) const LOOKS_GRANTED: u32 = 10;

thread_local! {
    static WATCHED: Cell<Option<DeadlineState>> = const { Cell::new(None) };
}

#[derive(Clone, Copy)]
struct DeadlineState {
    end: Instant,
    looks: u32,
    granted: u32,
    up: bool,
}

/// When a query, or a stage of it, has to end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    end: Instant,
}

impl Deadline {
    pub(crate) fn after(time: Duration) -> Deadline {
        Deadline { end: Instant::now() + time }
    }

    pub(crate) fn is_over(self) -> bool {
        Instant::now() >= self.end
    }

    /// The end of the first of `parts` equal parts of the remaining time.
    pub(crate) fn share(self, parts: u32) -> Deadline {
        Deadline::after(self.end.saturating_duration_since(Instant::now()) / parts.max(1))
    }

    /// The deadline of a stage that leaves a fifth of the time to the next one.
    pub(crate) fn all_but_a_fifth(self) -> Deadline {
        Deadline::after(self.end.saturating_duration_since(Instant::now()) * 4 / 5)
    }

    /// While the returned guard lives, statements of this thread on a read connection are interrupted at the deadline,
    /// but not before `granted` checks.
    pub(crate) fn watch(self, granted: u32) -> DeadlineWatch {
        WATCHED.set(Some(DeadlineState { end: self.end, looks: 0, granted, up: false }));
        DeadlineWatch
    }
}

pub(crate) struct DeadlineWatch;

impl Drop for DeadlineWatch {
    fn drop(&mut self) {
        WATCHED.set(None);
    }
}

/// SQLite's progress handler: checks the deadline and returns whether to interrupt the statement.
pub(crate) fn look() -> bool {
    let Some(mut watched) = WATCHED.get() else { return false };
    watched.looks += 1;
    watched.up = watched.looks > watched.granted && Instant::now() >= watched.end;
    WATCHED.set(Some(watched));
    watched.up
}

/// Whether a statement failed because it was interrupted at the deadline.
pub(crate) fn interrupted(error: &rusqlite::Error) -> bool {
    let is_up = WATCHED.get().is_some_and(|watched| watched.up);
    is_up && error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted)
}
