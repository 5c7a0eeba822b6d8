//! Repairs the encoding of an event that a JSON parser refuses. Half an emoji in a tool's output, one byte of Latin-1
//! or a byte order mark must not make the whole event unreadable.

use std::borrow::Cow;

/// Replaces a lone surrogate.
const REPLACEMENT: &[u8] = b"\\ufffd";
/// Length of an escape such as `\u00e9`, in bytes.
const ESCAPE: usize = 6;

/// The event in valid UTF-8 and without lone surrogates, both replaced by U+FFFD. Byte order marks between values are
/// removed. Other errors are not repaired. A valid event is returned without a copy.
pub fn with_valid_encoding(event: &[u8]) -> Cow<'_, [u8]> {
    if !may_be_damaged(event) {
        return Cow::Borrowed(event);
    }
    let text = String::from_utf8_lossy(event);
    let mut rest = text.as_bytes();
    let mut repaired = Vec::with_capacity(rest.len());
    let mut in_text = false;
    while let Some(&byte) = rest.first() {
        let taken = match byte {
            b'\\' if in_text => {
                let length = escape_length(rest);
                let is_lone = length == ESCAPE && surrogate(rest).is_some();
                let escape = rest.get(..length).unwrap_or(rest);
                repaired.extend_from_slice(if is_lone { REPLACEMENT } else { escape });
                escape.len()
            }
            _ if !in_text && rest.starts_with(BYTE_ORDER_MARK) => BYTE_ORDER_MARK.len(),
            byte => {
                in_text ^= byte == b'"';
                repaired.push(byte);
                1
            }
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    Cow::Owned(repaired)
}

/// Whether the encoding may be damaged. This runs for every event of a hook.
fn may_be_damaged(event: &[u8]) -> bool {
    let is_plain =
        event.is_ascii() || std::str::from_utf8(event).is_ok_and(|text| !text.contains('\u{feff}'));
    let mut parts = event.split(|byte| *byte == b'\\').skip(1);
    !is_plain || parts.any(|part| matches!(part, [b'u', b'd' | b'D', ..]))
}

/// The byte order mark of UTF-8. Some programs write it at the beginning of a file or stream.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The event without a byte order mark at its beginning.
pub(crate) fn without_mark(event: &[u8]) -> &[u8] {
    event.strip_prefix(BYTE_ORDER_MARK).unwrap_or(event)
}

/// The length of the escape at the beginning of `rest`; both halves of a surrogate pair count as one.
fn escape_length(rest: &[u8]) -> usize {
    match surrogate(rest) {
        Some(0xd800..=0xdbff) => {
            let low = rest.get(ESCAPE..).and_then(surrogate);
            if matches!(low, Some(0xdc00..)) { 2 * ESCAPE } else { ESCAPE }
        }
        Some(_) => ESCAPE,
        None => 2,
    }
}

/// The surrogate encoded by an escape at the beginning of `rest`, if it is one.
fn surrogate(rest: &[u8]) -> Option<u16> {
    let digits = rest.strip_prefix(b"\\u")?.get(..4)?;
    let digits = digits.iter().all(u8::is_ascii_hexdigit).then_some(digits)?;
    let code = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (0xd800..=0xdfff).contains(&code).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_encoding_is_replaced_and_the_rest_is_unchanged() {
        let table: [(&[u8], &str); 12] = [
            (br#"{"a":"cut \ud83d"}"#, r#"{"a":"cut \ufffd"}"#),
            (br#"{"a":"\uDE00 x"}"#, r#"{"a":"\ufffd x"}"#),
            (br#"{"a":"\ud83d\ude00"}"#, r#"{"a":"\ud83d\ude00"}"#),
            (br#"{"a":"\ud83d\ud83d\ude00"}"#, r#"{"a":"\ufffd\ud83d\ude00"}"#),
            (br#"{"a":"\\ud83d \" \u00e9"}"#, r#"{"a":"\\ud83d \" \u00e9"}"#),
            (br#"{"\ud800":1}"#, r#"{"\ufffd":1}"#),
            (b"{\"a\":\"caf\xe9\"}", "{\"a\":\"caf\u{fffd}\"}"),
            (b"\xef\xbb\xbf{\"a\":1}", "{\"a\":1}"),
            (b" \xef\xbb\xbf{\"a\":\xef\xbb\xbf1}", " {\"a\":1}"),
            (b"{\"a\":\"\xef\xbb\xbf\"}", "{\"a\":\"\u{feff}\"}"),
            (br#"{"a":"\ud8"#, r#"{"a":"\ud8"#),
            (br#"{"a":"\"#, r#"{"a":"\"#),
        ];
        for (event, expected) in table {
            let repaired = with_valid_encoding(event);
            assert_eq!(String::from_utf8_lossy(&repaired), expected);
        }
    }
}
