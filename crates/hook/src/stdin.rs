//! Reads one event from stdin, which an agent may leave open: reading ends with a complete event, and there is a
//! timeout for an incomplete one. Memory does not depend on the size of the event.

use std::time::{Duration, Instant};

use agents::{Intake, Taken};
use client::platform;
use model::limits;

/// Bytes of the first read, which most events fit into, and of further reads: the capacity of a pipe.
const FIRST: usize = 4 * 1024;
const CHUNK: usize = 64 * 1024;

/// The state of a JSON scanner, as far as needed to detect a complete text.
#[derive(Default)]
struct JsonScan {
    depth: usize,
    in_text: bool,
    escaped: bool,
    whole: bool,
}

impl JsonScan {
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

/// An event that was read.
pub(crate) struct ReceivedEvent {
    pub(crate) event: Taken,
    /// When the event exceeded the size of a large one. From then on reading counts towards the time limit.
    pub(crate) large_since: Option<Instant>,
}

/// Reads stdin to its end, or to the end of the event if stdin stays open. Most agents close it at once, so the
/// text is checked for completeness only after a short pause. A large event is shortened while it arrives, and
/// with less effort once `patience` has passed.
pub(crate) fn read(patience: Duration) -> Result<ReceivedEvent, String> {
    let max = limits::HOOK_BYTES_MAX;
    let mut intake = Intake::with_capacity(FIRST);
    let mut chunk = vec![0; FIRST];
    let (mut scan, mut scanned, mut paused) = (JsonScan::default(), 0, false);
    let mut large_since: Option<Instant> = None;
    let until = Instant::now() + limits::HOOK_STDIN_MAX;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let pause = match paused {
            // On a busy machine, an agent may take long until it starts to write.
            _ if intake.bytes() == 0 => limits::HOOK_STDIN_BEGIN,
            true => limits::HOOK_STDIN_SILENCE,
            false => limits::HOOK_STDIN_END,
        };
        match platform::read_stdin(&mut chunk, left.min(pause)) {
            Ok(Some(0)) => return Ok(ReceivedEvent { event: intake.finish(), large_since }),
            Ok(Some(bytes)) => {
                intake.push(chunk.get(..bytes).unwrap_or_default());
                paused = false;
                if bytes == chunk.len() {
                    chunk.resize(CHUNK, 0);
                }
            }
            Ok(None) => {
                scan.feed(intake.small().get(scanned..).unwrap_or_default());
                scanned = intake.small().len();
                if scan.whole || intake.is_whole() {
                    return Ok(ReceivedEvent { event: intake.finish(), large_since });
                }
                if paused || intake.bytes() == 0 || left.is_zero() {
                    // The part of a large event that has arrived is worth keeping.
                    if intake.is_large() {
                        return Ok(ReceivedEvent { event: intake.finish(), large_since });
                    }
                    let why = "dropped: stdin stayed open without a complete JSON object";
                    return Err(why.to_owned());
                }
                paused = true;
            }
            Err(error) => return Err(format!("stdin cannot be read: {}", error.kind())),
        }
        if intake.bytes() > max {
            return Err(format!("dropped: over {}", text::size(max as u64)));
        }
        if intake.is_large() && large_since.get_or_insert_with(Instant::now).elapsed() > patience {
            intake.hurry();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::JsonScan;

    /// The byte at which a text is complete, fed one byte at a time.
    fn whole_at(text: &str) -> Option<usize> {
        let mut scan = JsonScan::default();
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
        // Text that can never become an object counts as complete.
        assert_eq!(whole_at("}"), Some(0));
    }
}
