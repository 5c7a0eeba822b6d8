//! Normalises characters before the lookup of words: accents, case and control characters are dropped, and
//! punctuation and ideographs become words of their own. The build generates the tables.

include!(concat!(env!("OUT_DIR"), "/characters.rs"));

/// The first syllable of Hangul, and how many there are.
const HANGUL: u32 = 0xac00;
const HANGUL_COUNT: u32 = 11_172;

/// Receives the normalised characters of a text.
pub(crate) trait Letters {
    fn letter(&mut self, c: char);
    fn end_of_word(&mut self);
}

/// Normalises one character.
#[inline]
pub(crate) fn rewrite(c: char, to: &mut impl Letters) {
    match ASCII.get(c as usize) {
        Some(0) => {}
        Some(b' ') => to.end_of_word(),
        Some(mark @ 0x80..) => alone(char::from(mark & 0x7f), to),
        Some(letter) => to.letter(char::from(letter & 0x7f)),
        None => rewrite_foreign(c, to),
    }
}

/// A word of one character.
fn alone(c: char, to: &mut impl Letters) {
    to.end_of_word();
    to.letter(c);
    to.end_of_word();
}

/// Normalises a character that is not ASCII.
fn rewrite_foreign(c: char, to: &mut impl Letters) {
    let syllable = u32::from(c).wrapping_sub(HANGUL);
    if syllable < HANGUL_COUNT {
        return jamo(syllable, to);
    }
    match cell(c as usize).unwrap_or(DROP) {
        DROP => {}
        KEEP => to.letter(c),
        SPACE => to.end_of_word(),
        ALONE => alone(c, to),
        spelled => {
            let spelling = SPELLINGS.get(usize::from(spelled - SPELLED)..).unwrap_or_default();
            for c in spelling.chars().take_while(|c| *c != '\0') {
                if c == ' ' { to.end_of_word() } else { to.letter(c) }
            }
        }
    }
}

fn cell(code: usize) -> Option<u16> {
    let block = BLOCKS.get(code / BLOCK)?;
    CELLS.get(usize::from(*block) * BLOCK + code % BLOCK).copied()
}

/// Splits a Hangul syllable into its two or three letters.
fn jamo(syllable: u32, to: &mut impl Letters) {
    let (first, middle, last) = (syllable / 588, syllable % 588 / 28, syllable % 28);
    let letters = [0x1100 + first, 0x1161 + middle, 0x11a7 + last];
    let count = if last == 0 { 2 } else { 3 };
    for c in letters.into_iter().take(count).filter_map(char::from_u32) {
        to.letter(c);
    }
}
