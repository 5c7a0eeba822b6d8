//! Tokenises a text to rows of the table: words, and the longest known pieces of each.

use crate::characters::{Letters, rewrite};
use crate::spread::PiecePosition;
use crate::table::{UNKNOWN, longest};

/// Pieces of a text; further ones are ignored.
pub(crate) const PIECES_MAX: usize = 1024;

/// Characters of a word; a longer one is one unknown piece.
const WORD_CHARACTERS_MAX: usize = 100;

/// The pieces of a text as rows of the table, and the current word.
pub(crate) struct Pieces {
    rows: [u16; PIECES_MAX],
    count: usize,
    word: [u8; WORD_CHARACTERS_MAX * 4],
    bytes: usize,
    characters: usize,
}

impl Pieces {
    /// Tokenises a text up to its end or to the maximum number of pieces.
    pub(crate) fn of(text: &str) -> Self {
        // The only letter whose lower case depends on the letters around it.
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

    /// Splits the word into pieces from its start. Unless all of its pieces are known, the word is unknown.
    fn take_word(&mut self) {
        let before = self.count;
        let mut at = 0;
        let mut place = PiecePosition::Beginning;
        while self.characters <= WORD_CHARACTERS_MAX {
            let Some(rest) = self.word.get(at..self.bytes).filter(|rest| !rest.is_empty()) else {
                return;
            };
            let Some((row, length)) = longest(rest, place) else { break };
            self.push(row);
            at += length;
            place = PiecePosition::Continuation;
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
