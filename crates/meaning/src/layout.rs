//! The layout of the table's file, and checks of its header. The build parses the file with it; only the numbers
//! remain at run time.

use std::ops::Range;

const MAGIC: &[u8; 8] = b"RKEMBED1";
const HEADER: usize = 24;

/// Dimensions of a vector, and bytes of a row.
pub(crate) const DIMENSIONS: usize = 128;

/// Offsets into the file.
#[derive(Debug)]
pub(crate) struct TableLayout {
    pub(crate) rows: usize,
    /// The word pieces, each ended by a newline.
    pub(crate) vocabulary: Range<usize>,
    /// A little-endian f32 for each row.
    pub(crate) scales_at: usize,
    /// The rows, in sequence.
    pub(crate) vectors_at: usize,
}

impl TableLayout {
    /// Parses the header; the error says why this is not a table.
    pub(crate) fn read(file: &[u8]) -> Result<Self, String> {
        let head = file.get(..HEADER).ok_or_else(|| {
            format!("it has {} bytes, and the header alone has {HEADER}", file.len())
        })?;
        if !head.starts_with(MAGIC) {
            return Err("it does not begin with RKEMBED1".into());
        }
        let mut numbers = [0usize; 4];
        for (number, bytes) in numbers.iter_mut().zip(head[MAGIC.len()..].as_chunks::<4>().0) {
            *number = usize::try_from(u32::from_le_bytes(*bytes)).map_err(|e| e.to_string())?;
        }
        let [rows, dimensions, vocabulary, _reserved] = numbers;
        if dimensions != DIMENSIONS {
            return Err(format!("it has {dimensions} dimensions, and {DIMENSIONS} are expected"));
        }
        let scales_at = HEADER + vocabulary;
        let vectors_at = scales_at + 4 * rows;
        let length = vectors_at + rows * DIMENSIONS;
        if file.len() != length {
            return Err(format!(
                "it has {} bytes, and its header promises {length} ({rows} rows)",
                file.len()
            ));
        }
        let layout = Self { rows, vocabulary: HEADER..scales_at, scales_at, vectors_at };
        let lines = layout.lines(file)?.len();
        if lines != rows {
            return Err(format!("it has {lines} word pieces for {rows} rows"));
        }
        Ok(layout)
    }

    /// The word pieces in the order of the rows, each with its offset in the file.
    pub(crate) fn lines<'a>(&self, file: &'a [u8]) -> Result<Vec<(usize, &'a str)>, String> {
        let text = str::from_utf8(&file[self.vocabulary.clone()])
            .map_err(|error| format!("its word pieces are not UTF-8: {error}"))?;
        let mut at = self.vocabulary.start;
        let mut found = Vec::new();
        for line in text.split_inclusive('\n') {
            let piece = line.strip_suffix('\n').ok_or("its last word piece has no end")?;
            found.push((at, piece));
            at += line.len();
        }
        Ok(found)
    }
}
