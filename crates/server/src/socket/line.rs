//! Newline-delimited messages.

use std::io;

use model::limits;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// Reads one line without its newline; false at the end of input. A last line without a newline does not count.
pub(crate) async fn read_line<R: AsyncBufRead + Unpin>(
    reader: &mut R,
    line: &mut Vec<u8>,
) -> io::Result<bool> {
    loop {
        let available = reader.fill_buf().await?;
        if available.is_empty() {
            return Ok(false);
        }
        let newline = available.iter().position(|byte| *byte == b'\n');
        let taken = newline.unwrap_or(available.len());
        if line.len() + taken > limits::LINE_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        line.extend_from_slice(&available[..taken]);
        reader.consume(taken + usize::from(newline.is_some()));
        if newline.is_some() {
            return Ok(true);
        }
    }
}
