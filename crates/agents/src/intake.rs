//! An event while it arrives: a small one is gathered as it is, a large one is shortened on the way, so that it
//! never is in memory as a whole.

use std::borrow::Cow;

use model::limits;

use crate::shortener::Shortener;

/// What has arrived of an event.
pub struct Intake {
    bytes: usize,
    small: Vec<u8>,
    large: Option<Box<Shortener>>,
}

/// An event that has arrived.
#[derive(Debug, PartialEq)]
pub enum Taken {
    /// As it was sent; whether it is JSON was not looked at.
    AsSent(Vec<u8>),
    /// Large, and shortened.
    Shortened(Vec<u8>),
    /// Large, and broken off: the part that arrived, shortened.
    Cut(Vec<u8>),
    /// Large, and not one JSON object.
    NoObject,
}

impl Intake {
    /// An empty one with room for this many bytes.
    pub fn with_capacity(bytes: usize) -> Intake {
        Intake { bytes: 0, small: Vec::with_capacity(bytes), large: None }
    }

    /// Takes in the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        match &mut self.large {
            Some(shortener) => shortener.feed(bytes),
            None => {
                self.small.extend_from_slice(bytes);
                if self.small.len() > limits::EVENT_BYTES_WHOLE {
                    let mut shortener = Box::<Shortener>::default();
                    shortener.feed(&std::mem::take(&mut self.small));
                    self.large = Some(shortener);
                }
            }
        }
    }

    /// Bytes that have arrived.
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

    /// Whether a large event has come to its end.
    pub fn is_whole(&self) -> bool {
        self.large.as_ref().is_some_and(|shortener| shortener.is_whole())
    }

    /// Does without what takes long and is not needed: the deadline is over.
    pub fn hurry(&mut self) {
        if let Some(shortener) = &mut self.large {
            shortener.hurry();
        }
    }

    /// The event, now that nothing more arrives.
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

/// An event that is in memory already: shortened if it is large, or if it is nested deeper than parsers go.
/// None if it is large and not one whole object.
pub fn shortened(event: &[u8]) -> Option<Cow<'_, [u8]>> {
    if event.len() <= limits::EVENT_BYTES_WHOLE && !is_deep(event) {
        return Some(Cow::Borrowed(event));
    }
    let mut shortener = Shortener::default();
    shortener.feed(event);
    shortener.finish().map(Cow::Owned)
}

/// Whether an event opens more levels than parsers go into. Brackets in texts count too, which only costs a
/// closer look.
fn is_deep(event: &[u8]) -> bool {
    let opening = event.iter().filter(|byte| matches!(byte, b'{' | b'[')).count();
    if opening <= limits::EVENT_DEPTH_MAX {
        return false;
    }
    let mut shortener = Shortener::default();
    shortener.feed(event);
    shortener.is_whole() && shortener.is_deep()
}
