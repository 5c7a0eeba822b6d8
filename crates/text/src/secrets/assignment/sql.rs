//! Strings of SQL, also inside the quotes of a shell.

use std::ops::Range;

use super::super::bytes::{in_name, span};

/// The longest string, in bytes.
const STRING_MAX: usize = 512;
/// The longest tag of a string in dollars, in bytes.
const TAG_MAX: usize = 24;

/// The text of the string that begins here: `'v'`, `E'v'`, `N'v'`, `U&'v'`, `$$v$$`, `$tag$v$tag$`. A shell or JSON may
/// escape its quotes: `\"v\"`, `'\''v'\''`, `'"'"'v'"'"'`.
pub(super) fn sql_string(text: &[u8], at: usize) -> Option<Range<usize>> {
    let kind = match text.get(at..).unwrap_or_default() {
        [b'U' | b'u', b'&', ..] => 2,
        [b'E' | b'e' | b'N' | b'n', ..] => 1,
        _ => 0,
    };
    let opening = at + kind;
    let escapes = match text.get(opening..).unwrap_or_default() {
        [b'\'', b'\\', b'\'', b'\'', ..] => 3,
        [b'\'', b'"', b'\'', b'"', b'\'', ..] => 4,
        _ => span(text, opening, 3, |byte| *byte == b'\\'),
    };
    in_dollars(text, at).or_else(|| quoted(text, opening + escapes))
}

/// The text in the quotes that open here.
pub(super) fn quoted(text: &[u8], at: usize) -> Option<Range<usize>> {
    let mark = text.get(at).filter(|byte| matches!(byte, b'"' | b'\''))?;
    let inside = |byte: &u8| byte != mark && *byte != b'\n' && *byte != b'\\';
    let length = span(text, at + 1, STRING_MAX, inside);
    let closed = text.get(at + 1 + length).is_some_and(|byte| byte == mark || *byte == b'\\');
    closed.then_some(at + 1..at + 1 + length)
}

/// The text in `$$v$$` and `$tag$v$tag$`. In double quotes a shell needs a backslash before each dollar.
fn in_dollars(text: &[u8], at: usize) -> Option<Range<usize>> {
    let dollar = |at: usize| {
        let at = at + span(text, at, 3, |byte| *byte == b'\\');
        (text.get(at) == Some(&b'$')).then_some(at + 1)
    };
    let tag = dollar(at)?;
    let start = dollar(tag + span(text, tag, TAG_MAX, in_name))?;
    let length = span(text, start, STRING_MAX, |byte| !b"$\\\n".contains(byte));
    dollar(start + length).map(|_| start..start + length)
}
