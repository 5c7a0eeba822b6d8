//! Checks the table and generates the lookup tables, so that nothing is built or read when a process starts: an index
//! of the word pieces, and the normalisation of each Unicode character.

use std::collections::HashMap;
use std::error::Error;
use std::io::Write as _;
use std::path::Path;

use regex_syntax::hir::{ClassUnicode, HirKind};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::canonical_combining_class;

#[path = "src/layout.rs"]
mod layout;
#[path = "src/spread.rs"]
mod spread;

use layout::{DIMENSIONS, TableLayout};
use spread::{PIECE_BYTES_MAX, PieceHash, PiecePosition, SLOT_BITS, TAG_BITS};

const TABLE: &str = "table/table-128.rke";

/// Characters that share one block of the table of characters.
const BLOCK: usize = 64;

/// Syllables that are split by arithmetic at run time and are not in the table.
const HANGUL: std::ops::RangeInclusive<char> = '\u{ac00}'..='\u{d7a3}';

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    for path in ["build.rs", "src/layout.rs", "src/spread.rs", TABLE] {
        writeln!(out, "cargo::rerun-if-changed={path}")?;
    }
    let wrong =
        |why: String| format!("crates/meaning/{TABLE} is not the table of word pieces: {why}");
    let file = std::fs::read(TABLE).map_err(|error| wrong(error.to_string()))?;
    let layout = TableLayout::read(&file).map_err(wrong)?;
    let dir = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&dir).join("index.rs"), index(&file, &layout)?)?;
    std::fs::write(Path::new(&dir).join("characters.rs"), characters()?)?;
    Ok(())
}

/// The row of each word piece by its hash, and the offset of its letters in the file.
fn index(file: &[u8], layout: &TableLayout) -> Result<String, Box<dyn Error>> {
    let mut slots = vec![u16::MAX; 1 << SLOT_BITS];
    let mut letters = Vec::new();
    let mut unknown = None;
    for (row, (at, piece)) in layout.lines(file)?.into_iter().enumerate() {
        let (place, at, piece) = match piece.strip_prefix("##") {
            Some(rest) => (PiecePosition::Continuation, at + 2, rest),
            None => (PiecePosition::Beginning, at, piece),
        };
        if piece.is_empty() || piece.len() > PIECE_BYTES_MAX {
            return Err(format!("row {row}: '{piece}' has a length outside of the limits").into());
        }
        // NFD only reorders marks among themselves. No piece has marks, so their order does not matter, and the
        // tokeniser does not change it.
        if piece.chars().any(|c| canonical_combining_class(c) != 0) {
            return Err(format!("row {row}: '{piece}' has a mark that NFD may move").into());
        }
        if piece == "[UNK]" {
            unknown = Some(row);
        }
        let spread = piece.bytes().fold(PieceHash::new(place), PieceHash::with);
        let mut slot = spread.slot();
        while slots[slot] != u16::MAX {
            slot = (slot + 1) % slots.len();
        }
        slots[slot] = u16::try_from(row)?;
        let at = u32::try_from(at)?;
        if row >= slots.len() / 2 || at >> (u32::BITS - TAG_BITS) != 0 {
            return Err("there are more word pieces than the index has room for".into());
        }
        letters.push((at << TAG_BITS) | spread.tag(place, piece.len()));
    }
    let unknown = unknown.ok_or("there is no row for [UNK]")?;
    Ok(format!(
        "/// Numbers of a vector.\n\
         pub const DIMENSIONS: usize = {DIMENSIONS};\n\
         const FILE_BYTES: usize = {};\n\
         const ROWS: usize = {};\n\
         const SCALES_AT: usize = {};\n\
         const VECTORS_AT: usize = {};\n\
         pub(crate) const UNKNOWN: u16 = {unknown};\n\
         static SLOTS: [u16; {}] = {slots:?};\n\
         static LETTERS: [u32; ROWS] = {letters:?};\n",
        file.len(),
        layout.rows,
        layout.scales_at,
        layout.vectors_at,
        slots.len(),
    ))
}

/// Sets of characters by their Unicode category.
struct Categories {
    other: ClassUnicode,
    mark: ClassUnicode,
    punctuation: ClassUnicode,
}

impl Categories {
    fn new() -> Result<Self, Box<dyn Error>> {
        let class = |name: &str| match regex_syntax::parse(name)?.into_kind() {
            HirKind::Class(regex_syntax::hir::Class::Unicode(class)) => Ok(class),
            _ => Err(Box::<dyn Error>::from(format!("{name} is no class of characters"))),
        };
        Ok(Self { other: class(r"\p{C}")?, mark: class(r"\p{Mn}")?, punctuation: class(r"\p{P}")? })
    }

    /// The normalised form of one character: nothing, letters, and a space wherever a word ends.
    fn rewritten(&self, c: char) -> String {
        let keeps = ['\t', '\n', '\r'].contains(&c);
        if !keeps && (c == '\0' || c == '\u{fffd}' || has(&self.other, c)) {
            return String::new();
        }
        if c.is_whitespace() {
            return " ".into();
        }
        let plain = c.nfd().filter(|c| !has(&self.mark, *c)).flat_map(char::to_lowercase);
        if is_ideograph(c) {
            return format!(" {} ", plain.collect::<String>());
        }
        let mut text = String::new();
        for c in plain {
            if c.is_whitespace() {
                text.push(' ');
            } else if c.is_ascii_punctuation() || has(&self.punctuation, c) {
                text.extend([' ', c, ' ']);
            } else {
                text.push(c);
            }
        }
        text
    }
}

fn has(class: &ClassUnicode, c: char) -> bool {
    class
        .ranges()
        .binary_search_by(|range| {
            if range.end() < c {
                std::cmp::Ordering::Less
            } else if range.start() > c {
                std::cmp::Ordering::Greater
            } else {
                std::cmp::Ordering::Equal
            }
        })
        .is_ok()
}

/// The ranges of ideographs as the vocabulary's own tokeniser has them.
fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c),
        0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x2a6df | 0x2a700..=0x2b73f
        | 0x2b740..=0x2b81f | 0x2b920..=0x2ceaf | 0x2f800..=0x2fa1f)
}

// Values of a character's cell: dropped, kept, ends a word, is a word of its own, or is replaced by the text at `cell
// - SPELLED`.
const DROP: usize = 0;
const KEEP: usize = 1;
const SPACE: usize = 2;
const ALONE: usize = 3;
const SPELLED: usize = 4;

/// The normalisation of every character: one byte for each of ASCII, blocks of cells for the others.
fn characters() -> Result<String, Box<dyn Error>> {
    let categories = Categories::new()?;
    let ascii = ascii(&categories)?;
    let (cells, spellings) = cells(&categories)?;
    let (blocks, cells) = shared(&cells)?;
    Ok(format!(
        "const DROP: u16 = {DROP};\n\
         const KEEP: u16 = {KEEP};\n\
         const SPACE: u16 = {SPACE};\n\
         const ALONE: u16 = {ALONE};\n\
         const SPELLED: u16 = {SPELLED};\n\
         const BLOCK: usize = {BLOCK};\n\
         static ASCII: [u8; {}] = {ascii:?};\n\
         static BLOCKS: [u16; {}] = {blocks:?};\n\
         static CELLS: [u16; {}] = {cells:?};\n\
         static SPELLINGS: &str = {spellings:?};\n",
        ascii.len(),
        blocks.len(),
        cells.len(),
    ))
}

/// For each byte of ASCII: 0 if it is dropped, a space if it ends a word, else the letter, with the highest bit if it
/// is a word of its own.
fn ascii(categories: &Categories) -> Result<Vec<u8>, Box<dyn Error>> {
    (0..128u8)
        .map(|byte| match categories.rewritten(char::from(byte)).as_bytes() {
            [] => Ok(0),
            [one] => Ok(*one),
            [b' ', mark, b' '] => Ok(mark | 0x80),
            _ => Err(format!("the ASCII character {byte} becomes more than one letter").into()),
        })
        .collect()
}

/// A cell for each character up to the last that is not dropped, and the texts that cells refer to.
fn cells(categories: &Categories) -> Result<(Vec<u16>, String), Box<dyn Error>> {
    let mut spellings = String::new();
    let mut known = HashMap::new();
    let mut cells = Vec::new();
    for code in 0..=u32::from(char::MAX) {
        let Some(c) = char::from_u32(code) else {
            cells.push(u16::try_from(DROP)?);
            continue;
        };
        let text = categories.rewritten(c);
        let cell = if text.is_empty() {
            DROP
        } else if text == " " {
            SPACE
        } else if HANGUL.contains(&c) || text.chars().eq([c]) {
            KEEP
        } else if text.chars().eq([' ', c, ' ']) {
            ALONE
        } else {
            *known.entry(text).or_insert_with_key(|text| {
                let at = spellings.len();
                spellings.push_str(text);
                spellings.push('\0');
                at + SPELLED
            })
        };
        cells.push(u16::try_from(cell)?);
    }
    let used = cells.iter().rposition(|cell| usize::from(*cell) != DROP).ok_or("no characters")?;
    cells.truncate((used / BLOCK + 1) * BLOCK);
    Ok((cells, spellings))
}

/// The deduplicated blocks of cells: for each run of characters the number of its block, and the blocks.
fn shared(cells: &[u16]) -> Result<(Vec<u16>, Vec<u16>), Box<dyn Error>> {
    let mut numbers = HashMap::new();
    let mut blocks = Vec::new();
    let mut unlike = Vec::new();
    for block in cells.as_chunks::<BLOCK>().0 {
        let next = u16::try_from(numbers.len())?;
        let number = *numbers.entry(*block).or_insert(next);
        if number == next {
            unlike.extend(block);
        }
        blocks.push(number);
    }
    Ok((blocks, unlike))
}
