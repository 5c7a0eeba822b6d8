//! Splits output into lines, and parses their parts and numbers.

use model::limits;
pub(super) use text::telling::{behind_place, number};

/// The numbers that a run printed; those that it did not print are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: Option<u64>,
    pub(crate) failed: Option<u64>,
    pub(crate) skipped: Option<u64>,
    pub(crate) errors: Option<u64>,
}

impl Tally {
    pub(super) fn add(&mut self, other: Tally) {
        let pairs = [
            (&mut self.passed, other.passed),
            (&mut self.failed, other.failed),
            (&mut self.skipped, other.skipped),
            (&mut self.errors, other.errors),
        ];
        for (sum, more) in pairs {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or_default().saturating_add(more));
            }
        }
    }

    pub(crate) fn is_empty(self) -> bool {
        self == Tally::default()
    }

    /// Whether it counts a failure or an error.
    pub(super) fn is_red(self) -> bool {
        self.failed.unwrap_or_default() > 0 || self.errors.unwrap_or_default() > 0
    }
}

/// The parts of a text that are read: all of a short one, the beginning and the end of a long one.
pub(super) fn looked_at(text: &str) -> [&str; 2] {
    if text.len() <= limits::CAPTURED_BYTES_MAX {
        return [text, ""];
    }
    let half = limits::CAPTURED_BYTES_MAX / 2;
    let head = &text[..text.floor_char_boundary(half)];
    let tail = &text[text.ceil_char_boundary(text.len() - half)..];
    // Drop the partial lines at the cut.
    let head = head.rfind('\n').map_or("", |at| &head[..at]);
    let tail = tail.find('\n').map_or("", |at| &tail[at..]);
    [head, tail]
}

/// Splits a text into lines. A carriage return ends a line too, because progress bars overwrite theirs.
pub(super) fn of(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\r'])
}

/// Adds up a list such as `1 failed, 2 passed` or `1 failed | 2 passed (3)`. `None` if a member is not a
/// number with a word that `place` knows.
pub(super) fn list(
    text: &str,
    separator: char,
    place: impl Fn(&str) -> Option<TallySlot>,
) -> Option<Tally> {
    let mut tally = Tally::default();
    for member in text.split(separator) {
        let (count, word) = number(member.trim())?;
        place(word.strip_prefix(' ')?.trim())?.put(&mut tally, count);
    }
    Some(tally)
}

/// The member of a tally that a number in a summary belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TallySlot {
    Passed,
    Failed,
    Skipped,
    Errors,
    /// A number that does not matter for the result.
    Aside,
}

impl TallySlot {
    pub(super) fn put(self, tally: &mut Tally, count: u64) {
        let slot = match self {
            TallySlot::Passed => &mut tally.passed,
            TallySlot::Failed => &mut tally.failed,
            TallySlot::Skipped => &mut tally.skipped,
            TallySlot::Errors => &mut tally.errors,
            TallySlot::Aside => return,
        };
        *slot = Some(slot.unwrap_or_default().saturating_add(count));
    }
}
