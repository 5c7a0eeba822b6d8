//! Secrets that a login of any program takes as plain words, and PINs after a flag.

use std::ops::Range;

use super::super::bytes::span;
use super::super::judge::{is_hex_or_uuid, is_made_up, is_secret, readable_share};
use super::words;

/// How many words after a login are read: a host, a user, a realm and the secret.
const LOGIN_WORDS_MAX: usize = 4;
/// How many bytes after a login are searched for a digit.
const LOGIN_BYTES_MAX: usize = 128;
/// Flags of a login that take no value.
const SWITCHES: [&str; 6] = ["--relogin", "--force", "-f", "--verify", "--quiet", "-q"];
/// Fewest characters of a secret in that place.
const SECRET_MIN: usize = 8;
/// Hex that is shorter than a key may be the id of a commit.
const HEX_MIN: usize = 32;

/// The secret in `program login VALUE` and `program auth USER VALUE`; the keyword is the verb with the blank after it.
pub(in super::super) fn logged_in(text: &[u8], at: &Range<usize>) -> Option<Range<usize>> {
    // Prose about logins is common, and most of it has no digit near.
    let near = &text[at.end..text.len().min(at.end + LOGIN_BYTES_MAX)];
    let line = near.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if !line.iter().any(u8::is_ascii_digit) {
        return None;
    }
    let words = words::up_to(text, at.end, LOGIN_WORDS_MAX);
    let switch = |word: &[u8]| SWITCHES.iter().any(|switch| word == switch.as_bytes());
    let bytes = |word: &words::Word| &text[word.inner.clone()];
    let mut own = words.iter().skip_while(|word| switch(bytes(word)));
    // The word after any other flag is its value.
    let mut own = own.by_ref().take_while(|word| !b"-<>".contains(&text[word.inner.start]));
    own.find(|word| is_certain(bytes(word))).map(|word| word.inner.clone())
}

/// Whether a word that may as well be a host, a user or a word of a sentence is a secret.
fn is_certain(bytes: &[u8]) -> bool {
    let name = bytes.iter().any(|byte| b"@./:=_".contains(byte));
    if bytes.len() < SECRET_MIN || name || !is_made_up(bytes) || !is_secret(bytes) {
        return false;
    }
    if is_hex_or_uuid(bytes) {
        return bytes.len() >= HEX_MIN && !bytes.contains(&b'-');
    }
    let last = bytes.iter().rposition(u8::is_ascii_alphabetic).unwrap_or(0);
    let digits = bytes[..last].iter().filter(|byte| byte.is_ascii_digit()).count();
    readable_share(bytes) < 0.5 || digits >= 2 && !bytes.contains(&b'-')
}

/// The PIN in `--pin VALUE` and `--so-pin=VALUE`; the keyword ends before the value. The number of a pin on a board has
/// fewer digits.
pub(in super::super) fn pin(text: &[u8], at: &Range<usize>) -> Option<Range<usize>> {
    let word = words::first(text, at.end)?.inner;
    let bytes = &text[word.clone()];
    let digits = span(bytes, 0, bytes.len(), u8::is_ascii_digit);
    let number = digits == bytes.len() && (4..=16).contains(&digits);
    (is_secret(bytes) && (number || is_made_up(bytes))).then_some(word)
}
