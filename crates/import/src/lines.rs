//! The lines of a file that may grow while it is read.

use std::io::{self, BufRead};

use model::limits;

/// A line, or why there is none.
pub(crate) enum NextLine {
    /// A whole line of this many bytes, with its line break. The buffer has it without.
    Line(u64),
    /// A line over the limit, of this many bytes.
    TooLong(u64),
    /// The file ends, perhaps in the middle of a line, which is read next time.
    End,
}

/// Reads the next line into the buffer. A line that is too long is skipped without being held in memory.
pub(crate) fn next(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<NextLine> {
    line.clear();
    let mut bytes = 0u64;
    loop {
        let part = match reader.fill_buf() {
            Ok(part) => part,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if part.is_empty() {
            return Ok(NextLine::End);
        }
        let end = memchr::memchr(b'\n', part);
        let taken = end.map_or(part.len(), |end| end + 1);
        let fits = line.len() + taken <= limits::TRANSCRIPT_LINE_MAX + 1;
        if fits && bytes == line.len() as u64 {
            line.extend_from_slice(&part[..taken]);
        }
        bytes += taken as u64;
        reader.consume(taken);
        if end.is_some() {
            if bytes != line.len() as u64 {
                return Ok(NextLine::TooLong(bytes));
            }
            while line.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
                line.pop();
            }
            return Ok(NextLine::Line(bytes));
        }
    }
}
