//! Splits output into lines, and parsers for their parts.

use model::limits;

use super::Tally;

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

/// The number at the beginning of a text, and the rest of it.
pub(super) fn number(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..digits].parse().ok()?, &text[digits..]))
}

/// Adds up a list such as `1 failed, 2 passed` or `1 failed | 2 passed (3)`. `None` if a member is not a
/// number with a word that `place` knows.
pub(super) fn list(
    text: &str,
    separator: char,
    place: impl Fn(&str) -> Option<Slot>,
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
pub(super) enum Slot {
    Passed,
    Failed,
    Skipped,
    Errors,
    /// A number that does not matter for the result.
    Aside,
}

impl Slot {
    pub(super) fn put(self, tally: &mut Tally, count: u64) {
        let slot = match self {
            Slot::Passed => &mut tally.passed,
            Slot::Failed => &mut tally.failed,
            Slot::Skipped => &mut tally.skipped,
            Slot::Errors => &mut tally.errors,
            Slot::Aside => return,
        };
        *slot = Some(slot.unwrap_or_default().saturating_add(count));
    }
}

/// Splits a line after its place in a file, `src/a.c:12:` or `src/a.c:12:5:`; `None` if it begins with none.
pub(super) fn behind_place(line: &str) -> Option<(&str, &str)> {
    let (path, rest) = line.split_once(':')?;
    // The colon in `C:\a.c` is part of the path.
    let (path, rest) = match (path.len(), rest.starts_with('\\')) {
        (1, true) => {
            let (more, rest) = rest.split_once(':')?;
            (more, rest)
        }
        _ => (path, rest),
    };
    let (_, rest) = number(rest)?;
    let rest = rest.strip_prefix(':')?;
    let rest = match number(rest) {
        Some((_, behind)) => behind.strip_prefix(':')?,
        None => rest,
    };
    let is_path = !path.is_empty() && !path.contains(['\t', '"']) && path.contains('.');
    is_path.then_some((path, rest.trim_start()))
}

/// Prefixes of lines that say what went wrong.
const TELLING: &[&str] = &[
    "error:",
    "error[",
    "Error:",
    "ERROR:",
    "ERROR ",
    "FAILED ",
    "FAIL ",
    "FAIL:",
    "FAIL\t",
    "--- FAIL:",
    "E   ",
    "fatal:",
    "fatal error:",
    "panic:",
    "thread '",
    "not ok ",
    "[ERROR] ",
    "npm ERR!",
    "npm error",
    "CMake Error",
    "Failure/Error:",
    "AssertionError",
    "Caused by:",
    "make: ***",
    "collect2: error",
    "test result: FAILED",
];

/// Whether a line of failed output says what went wrong, so that it has to be kept.
pub(crate) fn is_telling(line: &str) -> bool {
    let line = line.trim_start();
    if TELLING.iter().any(|start| line.starts_with(start)) {
        return !line.starts_with("thread '") || line.contains(" panicked at ");
    }
    if line.ends_with("... FAILED") || line.starts_with(['✕', '✗', '✘', '×', '✖']) {
        return true;
    }
    // `src/a.c:3:5: error: …`, `a.ts(3,5): error TS2322: …`, `KeyError: 'missing'`.
    if behind_place(line)
        .is_some_and(|(_, rest)| rest.starts_with("error") || rest.starts_with("fatal error"))
        || line.contains(": error TS")
    {
        return true;
    }
    let word = line.split(':').next().unwrap_or_default();
    let named = (word.ends_with("Error") || word.ends_with("Exception")) && word.len() > 5;
    named && word.len() < line.len() && !word.contains(' ')
}
