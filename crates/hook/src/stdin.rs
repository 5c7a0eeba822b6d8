//! Reads one event from stdin, which an agent may leave open: a whole event is taken, half of one is not waited
//! for without end.

use std::time::Instant;

use client::platform;
use model::limits;

/// Bytes that are read at a time: what a pipe holds.
const CHUNK: usize = 64 * 1024;

/// Where in a JSON text a reader is, as far as it takes to know that the text is whole.
#[derive(Default)]
struct Scan {
    depth: usize,
    in_text: bool,
    escaped: bool,
    whole: bool,
}

impl Scan {
    fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.whole {
                return;
            }
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_text => self.escaped = true,
                b'"' => self.in_text = !self.in_text,
                _ if self.in_text => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.whole = self.depth == 0;
                }
                _ => {}
            }
        }
    }
}

/// The text on stdin up to its end, or up to the end of the event if nothing follows.
pub(crate) fn read() -> Result<Vec<u8>, String> {
    let max = limits::HOOK_BYTES_MAX;
    let mut text = Vec::with_capacity(4096);
    let mut chunk = vec![0; CHUNK];
    let mut scan = Scan::default();
    let mut until = Instant::now() + limits::HOOK_STDIN_MAX;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let bytes = match platform::read_stdin(&mut chunk, left.min(limits::HOOK_STDIN_SILENCE)) {
            Ok(Some(0)) => return Ok(text),
            Ok(Some(bytes)) => chunk.get(..bytes).unwrap_or_default(),
            Ok(None) if scan.whole => return Ok(text),
            Ok(None) => {
                return Err("dropped: stdin stayed open without a whole JSON object".to_owned());
            }
            Err(error) => return Err(format!("stdin cannot be read: {}", error.kind())),
        };
        text.extend_from_slice(bytes);
        if text.len() > max {
            return Err(format!("dropped: over {max} bytes"));
        }
        let was_whole = scan.whole;
        scan.feed(bytes);
        if scan.whole && !was_whole {
            until = Instant::now() + limits::HOOK_STDIN_END;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Scan;

    /// Where a text is found to be whole, fed a byte at a time.
    fn whole_at(text: &str) -> Option<usize> {
        let mut scan = Scan::default();
        text.as_bytes().chunks(1).position(|byte| {
            scan.feed(byte);
            scan.whole
        })
    }

    #[test]
    fn an_object_is_whole_with_its_last_bracket_and_not_before() {
        for text in
            ["{}", r#" {"a":"}","b":[{"c":"\\"},{}],"d":"\"}"}"#, r#"{"{[":"\\\"]}","n":[[[1]]]}"#]
        {
            assert_eq!(whole_at(text), Some(text.len() - 1), "{text}");
        }
        for half in ["", " ", r#"{"a":"}"#, r#"{"a":[}"#, r#""a}""#, r#"{"a":"\"}"#] {
            assert_eq!(whole_at(half), None, "{half}");
        }
        // What can never become an object is not waited for.
        assert_eq!(whole_at("}"), Some(0));
    }
}
