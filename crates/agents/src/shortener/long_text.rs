//! Reduces a text that is too long for an event to its length, digest, head and tail, in one pass.

use model::limits;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::digest::hex;

/// Bytes that are buffered before they are hashed: most texts have an escape every few dozen bytes.
const GATHERED: usize = 16 * 1024;
/// How the tag around a private part begins, in small or capital letters.
const PRIVATE: &[u8] = b"<private";

/// The state of reading one long text. Length and digest are those of the decoded text, without JSON escapes.
pub(super) struct LongText {
    bytes: u64,
    hasher: Option<Sha256>,
    gathered: Vec<u8>,
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Whether a private part begins in the text. It may contain the tail, or end in the part that is omitted.
    private: bool,
    escape: Escape,
    /// The high surrogate of a character that is written as two escapes.
    high: Option<u32>,
}

/// How much of an escape has been read.
#[derive(Clone, Copy)]
enum Escape {
    None,
    Begun,
    Unicode { digits: u8, value: u32 },
}

impl LongText {
    pub(super) fn new(hashes: bool) -> LongText {
        LongText {
            bytes: 0,
            hasher: hashes.then(Sha256::new),
            gathered: Vec::new(),
            head: Vec::new(),
            tail: Vec::new(),
            private: false,
            escape: Escape::None,
            high: None,
        }
    }

    pub(super) fn stop_hashing(&mut self) {
        self.hasher = None;
    }

    /// Processes the next bytes. If the text ends in them, returns how many were consumed, closing quote included.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            if !matches!(self.escape, Escape::None) {
                self.escaped(*rest.first()?);
                at += 1;
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'));
            let plain = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            if !plain.is_empty() {
                self.end_pair();
                self.push(plain);
            }
            at += plain.len();
            match end.and_then(|end| rest.get(end)) {
                Some(b'"') => {
                    self.end_pair();
                    return Some(at + 1);
                }
                Some(_) => {
                    self.escape = Escape::Begun;
                    at += 1;
                }
                None => {}
            }
        }
        None
    }

    /// The replacement for the text: `{"bytes", "sha256", "head", "tail"}`. The digest is empty if there was no
    /// time for it, the tail if it may be private.
    pub(super) fn shortened(&mut self) -> String {
        self.flush();
        let digest = self.hasher.take().map(|hasher| hex(&hasher.finalize()));
        let max = limits::EVENT_TEXT_HEAD_BYTES;
        self.head.truncate(max);
        if self.private {
            self.tail.clear();
        }
        let from = self.tail.len().saturating_sub(max);
        let (head, tail) =
            (whole_chars(&self.head), whole_chars(self.tail.get(from..).unwrap_or_default()));
        json!({ "bytes": self.bytes, "sha256": digest.unwrap_or_default(), "head": head, "tail": tail })
            .to_string()
    }

    fn escaped(&mut self, byte: u8) {
        let decoded = match (self.escape, byte) {
            (Escape::Begun, b'u') => {
                self.escape = Escape::Unicode { digits: 0, value: 0 };
                return;
            }
            (Escape::Unicode { digits, value }, _) => {
                let digit = char::from(byte).to_digit(16).unwrap_or_default();
                let value = value * 16 + digit;
                if digits < 3 {
                    self.escape = Escape::Unicode { digits: digits + 1, value };
                } else {
                    self.escape = Escape::None;
                    self.unit(value);
                }
                return;
            }
            (_, b'n') => b'\n',
            (_, b't') => b'\t',
            (_, b'r') => b'\r',
            (_, b'b') => 8,
            (_, b'f') => 12,
            (_, other) => other,
        };
        self.escape = Escape::None;
        self.end_pair();
        self.push(&[decoded]);
    }

    /// Processes one UTF-16 unit.
    fn unit(&mut self, unit: u32) {
        match (self.high.take(), unit) {
            (Some(high), 0xdc00..=0xdfff) => {
                self.push_char(0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
            }
            (before, unit) => {
                if before.is_some() {
                    self.push_char(0xfffd);
                }
                match unit {
                    0xd800..=0xdbff => self.high = Some(unit),
                    unit => self.push_char(unit),
                }
            }
        }
    }

    /// Replaces a high surrogate without its second half.
    fn end_pair(&mut self) {
        if self.high.take().is_some() {
            self.push_char(0xfffd);
        }
    }

    fn push_char(&mut self, code: u32) {
        let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        self.push(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.gathered.extend_from_slice(bytes);
        if self.gathered.len() >= GATHERED {
            self.flush();
        }
    }

    /// Hashes the buffered bytes and updates head and tail.
    fn flush(&mut self) {
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&self.gathered);
        }
        self.private = self.private || self.opens_private();
        let max = limits::EVENT_TEXT_HEAD_BYTES;
        let missing = max.saturating_sub(self.head.len()).min(self.gathered.len());
        self.head.extend_from_slice(self.gathered.get(..missing).unwrap_or_default());
        if self.gathered.len() >= max {
            self.tail.clear();
        }
        self.tail.extend_from_slice(&self.gathered);
        let surplus = self.tail.len().saturating_sub(max);
        self.tail.drain(..surplus);
        self.gathered.clear();
    }

    /// Whether `<private` begins in the buffered bytes, or across their beginning.
    fn opens_private(&self) -> bool {
        let is_tag = |bytes: &[u8]| {
            let head = bytes.get(..PRIVATE.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(PRIVATE))
        };
        let before = self.tail.len().saturating_sub(PRIVATE.len() - 1);
        let mut seam = self.tail.get(before..).unwrap_or_default().to_vec();
        seam.extend(self.gathered.iter().take(PRIVATE.len() - 1));
        let mut signs = self.gathered.iter().enumerate().filter(|(_, byte)| **byte == b'<');
        seam.windows(PRIVATE.len()).any(is_tag)
            || signs.any(|(at, _)| self.gathered.get(at..).is_some_and(is_tag))
    }
}

/// Decodes these bytes, without incomplete characters at both ends.
fn whole_chars(bytes: &[u8]) -> String {
    let from = bytes.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
    let bytes = bytes.get(from..).unwrap_or_default();
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        // `error_len` is `None` for a character that is cut off at the end.
        Err(error) if error.error_len().is_none() => {
            String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default())
                .into_owned()
        }
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    }
}
