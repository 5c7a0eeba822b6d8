//! Receives an event piece by piece. A small event is buffered unchanged; a large one is shortened while it
//! arrives, so that it is never in memory as a whole.

use std::borrow::Cow;

use model::limits;

use crate::encoding::without_mark;
use crate::shortener::Shortener;

/// The part of an event that has arrived so far.
pub struct Intake {
    bytes: usize,
    small: Vec<u8>,
    large: Option<Box<Shortener>>,
}

/// A received event.
#[derive(Debug, PartialEq)]
pub enum Taken {
    /// Unchanged. It was not checked to be JSON.
    AsSent(Vec<u8>),
    /// Large, and shortened.
    Shortened(Vec<u8>),
    /// Large, and cut off before its end: the part that arrived, shortened.
    Cut(Vec<u8>),
    /// Large, and not one JSON object.
    NoObject,
}

impl Intake {
    /// An empty buffer with room for this many bytes.
    pub fn with_capacity(bytes: usize) -> Intake {
        Intake { bytes: 0, small: Vec::with_capacity(bytes), large: None }
    }

    /// Appends the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        match &mut self.large {
            Some(shortener) => shortener.feed(bytes),
            None => {
                self.small.extend_from_slice(bytes);
                if self.small.len() > limits::EVENT_BYTES_WHOLE {
                    let mut shortener = Box::<Shortener>::default();
                    shortener.feed(without_mark(&std::mem::take(&mut self.small)));
                    self.large = Some(shortener);
                }
            }
        }
    }

    /// How many bytes have arrived.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The event so far, if it is small.
    pub fn small(&self) -> &[u8] {
        &self.small
    }

    pub fn is_large(&self) -> bool {
        self.large.is_some()
    }

    /// Whether a large event is complete.
    pub fn is_whole(&self) -> bool {
        self.large.as_ref().is_some_and(|shortener| shortener.is_whole())
    }

    /// Skips the optional slow work (hashing), because the deadline has passed.
    pub fn hurry(&mut self) {
        if let Some(shortener) = &mut self.large {
            shortener.hurry();
        }
    }

    /// Returns the event at the end of the input.
    pub fn finish(self) -> Taken {
        let Some(shortener) = self.large else { return Taken::AsSent(self.small) };
        let whole = shortener.is_whole();
        match shortener.finish_cut() {
            Some(text) if whole => Taken::Shortened(text),
            Some(text) => Taken::Cut(text),
            None => Taken::NoObject,
        }
    }
}

/// Shortens an event that is already in memory, if it is large or nested deeper than parsers allow. `None` if it
/// is large and not one complete object.
pub fn shortened(event: &[u8]) -> Option<Cow<'_, [u8]>> {
    if event.len() <= limits::EVENT_BYTES_WHOLE && !is_deep(event) {
        return Some(Cow::Borrowed(event));
    }
    let mut shortener = Shortener::default();
    shortener.feed(event);
    shortener.finish().map(Cow::Owned)
}

/// Whether an event is nested deeper than parsers allow. The quick count includes brackets inside strings; then a
/// full pass decides.
fn is_deep(event: &[u8]) -> bool {
    let opening = event.iter().filter(|byte| matches!(byte, b'{' | b'[')).count();
    if opening <= limits::EVENT_DEPTH_MAX {
        return false;
    }
    let mut shortener = Shortener::default();
    shortener.feed(event);
    shortener.is_whole() && shortener.is_deep()
}
