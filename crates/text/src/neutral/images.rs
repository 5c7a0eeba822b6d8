//! Markdown images: a program that displays a model's answer loads them at once, and their URL can leak data that
//! the model has read. Links are kept, because the user has to click them.

use std::collections::HashSet;

use super::{Edit, INERT_BANG, INERT_BRACKET};

/// Limit for open brackets. Above it, the outermost `![` counts as an image.
const OPEN_MAX: usize = 32;
/// Longest label of a link reference in CommonMark, in bytes.
const LABEL_BYTES_MAX: usize = 999;

/// An open `[`.
struct Bracket {
    /// Offset of the bracket.
    at: usize,
    /// Offset of the `!` before it, if there is one.
    bang: Option<usize>,
    /// Whether code or a tag begins after it: then a `]` may be part of the code or tag.
    unsure: bool,
}

/// The `!` of all images, inline (`![a](b)`) and by reference (`![a][b]`, `![b]`).
pub(super) fn edits(text: &str) -> Vec<Edit> {
    if !text.contains("![") {
        return Vec::new();
    }
    let mut reader =
        Reader { text, defined: definitions(text), open: Vec::new(), images: Vec::new() };
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if escaped {
            escaped = false;
        } else if byte == b'\\' {
            escaped = true;
        } else {
            reader.take(at, byte);
        }
    }
    let mut images = reader.images;
    images.sort_unstable();
    images.dedup();
    images.into_iter().map(|at| Edit { at, len: 1, with: INERT_BANG }).collect()
}

/// Matches brackets. If in doubt it assumes an image; a wrong guess only makes a `!` full-width.
struct Reader<'a> {
    text: &'a str,
    defined: HashSet<String>,
    open: Vec<Bracket>,
    images: Vec<usize>,
}

impl Reader<'_> {
    fn take(&mut self, at: usize, byte: u8) {
        let behind = self.text.get(at + 1..).unwrap_or_default();
        match byte {
            // No image continues after an empty line.
            b'\n' if behind.starts_with('\n') => self.open.clear(),
            b'[' => self.opens(at),
            b'`' | b'<' => self.is_unsure(),
            // A bracket that `tags` has replaced counts like the original `<`.
            0xe2 if self.text.get(at..).is_some_and(|rest| rest.starts_with(INERT_BRACKET)) => {
                self.is_unsure();
            }
            b']' if behind.starts_with('(') => {
                self.images.extend(self.open.drain(..).filter_map(|bracket| bracket.bang));
            }
            b']' => self.closes(at, behind),
            _ => {}
        }
    }

    fn opens(&mut self, at: usize) {
        if self.open.len() == OPEN_MAX {
            self.images.extend(self.open.remove(0).bang);
        }
        let before = self.text.get(..at).unwrap_or_default();
        let bang = before.ends_with('!').then(|| at - 1);
        self.open.push(Bracket { at, bang, unsure: false });
    }

    fn is_unsure(&mut self) {
        self.open.iter_mut().for_each(|bracket| bracket.unsure = true);
    }

    fn closes(&mut self, at: usize, behind: &str) {
        let Some(last) = self.open.last() else { return };
        if !self.defined.is_empty() {
            let own = self.text.get(last.at + 1..at).and_then(label);
            let named = behind.strip_prefix('[').and_then(up_to_bracket).and_then(label);
            if own.into_iter().chain(named).any(|label| self.defined.contains(&label)) {
                self.images.extend(self.open.iter().filter_map(|bracket| bracket.bang));
            }
        }
        if !last.unsure {
            self.open.pop();
        }
    }
}

/// The labels that the text defines: `[label]: https://…`.
fn definitions(text: &str) -> HashSet<String> {
    let ends = text.match_indices("]:");
    ends.filter_map(|(end, _)| {
        let before = text.get(..end)?;
        let window = before.len().saturating_sub(LABEL_BYTES_MAX);
        let open = before.as_bytes().get(window..)?.iter().rposition(|byte| *byte == b'[')?;
        label(before.get(window + open + 1..)?)
    })
    .collect()
}

/// The beginning of the text up to a `]`.
fn up_to_bracket(text: &str) -> Option<&str> {
    let end = text.bytes().take(LABEL_BYTES_MAX).position(|byte| byte == b']')?;
    text.get(..end)
}

/// The normal form of a label: case-insensitive, with runs of white space as one blank.
fn label(text: &str) -> Option<String> {
    if text.len() > LABEL_BYTES_MAX {
        return None;
    }
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    (!words.is_empty()).then(|| words.join(" "))
}
