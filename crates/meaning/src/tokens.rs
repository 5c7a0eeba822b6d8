//! A text as rows of the table: words, and for each the longest pieces that are known.

use crate::characters::{Letters, rewrite};
use crate::spread::Place;
use crate::table::{UNKNOWN, longest};

/// More pieces of a text are not read.
pub(crate) const PIECES_MAX: usize = 1024;

/// A longer word is not taken apart: it is one unknown piece.
const WORD_CHARACTERS_MAX: usize = 100;

/// The pieces of a text as rows of the table, and the word that is being read.
pub(crate) struct Pieces {
    rows: [u16; PIECES_MAX],
    count: usize,
    word: [u8; WORD_CHARACTERS_MAX * 4],
    bytes: usize,
    characters: usize,
}

impl Pieces {
    /// Reads a text up to its end or to the last piece that is taken.
    pub(crate) fn of(text: &str) -> Self {
        // The one letter whose small form depends on what stands around it.
        let lowered = text.contains('Σ').then(|| text.to_lowercase());
        let mut pieces = Self {
            rows: [UNKNOWN; PIECES_MAX],
            count: 0,
            word: [0; WORD_CHARACTERS_MAX * 4],
            bytes: 0,
            characters: 0,
        };
        for c in lowered.as_deref().unwrap_or(text).chars() {
            rewrite(c, &mut pieces);
            if pieces.count == PIECES_MAX {
                return pieces;
            }
        }
        pieces.end_of_word();
        pieces
    }

    pub(crate) fn rows(&self) -> &[u16] {
        self.rows.get(..self.count).unwrap_or_default()
    }

    /// Takes the word apart from its beginning. It is known as a whole or not at all.
    fn take_word(&mut self) {
        let before = self.count;
        let mut at = 0;
        let mut place = Place::Beginning;
        while self.characters <= WORD_CHARACTERS_MAX {
            let Some(rest) = self.word.get(at..self.bytes).filter(|rest| !rest.is_empty()) else {
                return;
            };
            let Some((row, length)) = longest(rest, place) else { break };
            self.push(row);
            at += length;
            place = Place::Continuation;
        }
        self.count = before;
        self.push(UNKNOWN);
    }

    fn push(&mut self, row: u16) {
        if let Some(next) = self.rows.get_mut(self.count) {
            *next = row;
            self.count += 1;
        }
    }
}

impl Letters for Pieces {
    #[inline]
    fn letter(&mut self, c: char) {
        self.characters += 1;
        if self.characters <= WORD_CHARACTERS_MAX
            && let Some(rest) = self.word.get_mut(self.bytes..)
            && c.len_utf8() <= rest.len()
        {
            self.bytes += c.encode_utf8(rest).len();
        }
    }

    #[inline]
    fn end_of_word(&mut self) {
        if self.characters > 0 {
            self.take_word();
            self.bytes = 0;
            self.characters = 0;
        }
    }
}
