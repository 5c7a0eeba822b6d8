//! Passwords in the arguments of SQL statements and of functions that hash a password.

use std::ops::Range;

use super::super::bytes::span;
use super::super::judge::{is_address, is_made_up, is_placeholder};
use super::{is_ordinary, is_secret_member, is_spaced};

/// How many bytes of a statement are read.
const STATEMENT_MAX: usize = 2048;
/// Minimum length of a hashed password, in characters.
const SHORTEST: usize = 5;

/// The values of password columns in `INSERT INTO t (name, password) VALUES ('bob', 'value')`. `read` is how far earlier
/// statements were read, so that no part is read twice.
pub(in super::super) fn inserted(
    text: &[u8],
    at: &Range<usize>,
    read: &mut usize,
) -> Vec<Range<usize>> {
    if at.start < *read {
        return Vec::new();
    }
    let end = text.len().min(at.end + STATEMENT_MAX);
    let table = span(text, at.end, 128, |byte| !b"(;".contains(byte));
    let Some((columns, mut next)) = list(&text[..end], at.end + table) else { return Vec::new() };
    let mut found = Vec::new();
    // The keyword VALUES is between the lists, commas between the rows.
    loop {
        let gap = span(text, next, 24, |byte| !b"(;".contains(byte));
        let Some((values, after)) = list(&text[..end], next + gap) else { break };
        for (column, value) in columns.iter().zip(values) {
            let Some(value) = first_string(text, value) else { continue };
            let name = text[column.clone()].trim_ascii();
            let name = name.strip_prefix(b"\\").unwrap_or(name);
            let name = String::from_utf8_lossy(name);
            let name = name.trim_matches(|c: char| "`\"'[]\\".contains(c));
            let bytes = String::from_utf8_lossy(&text[value.clone()]);
            if is_secret_member(name, &bytes) {
                found.push(value);
            }
        }
        next = after;
    }
    *read = next;
    found
}

/// The items of the list in brackets that begins at `at`, and its end.
fn list(text: &[u8], at: usize) -> Option<(Vec<Range<usize>>, usize)> {
    text.get(at).filter(|byte| **byte == b'(')?;
    let (mut items, mut start, mut depth, mut quoted) = (Vec::new(), at + 1, 0, false);
    for (at, byte) in text.iter().enumerate().skip(at + 1) {
        match byte {
            b'\'' => quoted = !quoted,
            _ if quoted => {}
            b'(' => depth += 1,
            b')' if depth > 0 => depth -= 1,
            b')' => {
                items.push(start..at);
                return Some((items, at + 1));
            }
            b',' if depth == 0 => {
                items.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    None
}

/// The first string in single quotes, which may be an argument: `crypt('value', gen_salt('bf'))`.
fn first_string(text: &[u8], item: Range<usize>) -> Option<Range<usize>> {
    let start = item.start + 1 + text[item.clone()].iter().position(|byte| *byte == b'\'')?;
    let length = text[start..item.end].iter().position(|byte| *byte == b'\'')?;
    Some(start..start + length)
}

/// The password in `bcrypt('value')`, `hashpw(b"value", …)` and the like; the keyword ends with the bracket.
pub(in super::super) fn hashed(text: &[u8], at: &Range<usize>) -> Option<Range<usize>> {
    // `encrypt(` and `decrypt(` take any text.
    let other = [&b"en"[..], b"de", b"En", b"De", b"EN", b"DE"];
    if other.iter().any(|start| text[..at.start].ends_with(start)) {
        return None;
    }
    let conversion = if text[at.end..].starts_with(b"[]byte(") { 7 } else { 0 };
    is_password(text, string(text, at.end + conversion)?)
}

/// The password in `db.auth("user", "value")`, `ftp.login("user", "value")` and `auth=('user', 'value')`; the keyword ends with the bracket.
pub(in super::super) fn credentials(text: &[u8], at: &Range<usize>) -> Option<Range<usize>> {
    let blanks = |at: usize| at + span(text, at, 4, |byte| *byte == b' ');
    let user = string(text, blanks(at.end))?;
    let comma = user.end + span(text, user.end, 2, |byte| b"\\\"'".contains(byte));
    text.get(comma).filter(|byte| **byte == b',')?;
    let password = is_password(text, string(text, blanks(comma + 1))?)?;
    // Methods named `login` take other arguments too.
    let login = text[at.clone()].eq_ignore_ascii_case(b".login(");
    (!login || is_made_up(&text[password.clone()])).then_some(password)
}

/// The password in `new PDO("mysql:host=h", "user", "value")` and other calls whose third argument it is; the keyword
/// ends with the bracket.
pub(in super::super) fn connected(text: &[u8], at: &Range<usize>) -> Option<Range<usize>> {
    let blanks = |at: usize| at + span(text, at, 4, |byte| *byte == b' ');
    let mut next = blanks(at.end);
    for _ in 0..2 {
        // An argument is a string or a variable.
        let end = match string(text, next) {
            Some(string) => string.end + span(text, string.end, 2, |byte| b"\\\"'".contains(byte)),
            None => next + span(text, next, 48, |byte| !b",()\n\"'".contains(byte)),
        };
        text.get(end).filter(|byte| **byte == b',')?;
        next = blanks(end + 1);
    }
    is_password(text, string(text, next)?)
}

/// The key in `PRAGMA key = 'value'` and `PRAGMA key('value')`; the keyword ends with the name.
pub(in super::super) fn pragma_key(text: &[u8], at: &Range<usize>) -> Option<Range<usize>> {
    let value = at.end + span(text, at.end, 4, |byte| b" =(".contains(byte));
    is_password(text, string(text, value)?)
}

/// The string whose quote is at `at`, or before it a backslash or a letter that says its kind.
fn string(text: &[u8], at: usize) -> Option<Range<usize>> {
    let quote = at + span(text, at, 2, |byte| b"bu\\".contains(byte));
    let mark = text.get(quote).filter(|byte| matches!(byte, b'"' | b'\''))?;
    let length = span(text, quote + 1, 128, |byte| byte != mark && !b"\n\\".contains(byte));
    let end = quote + 1 + length;
    text.get(end).filter(|byte| *byte == mark || **byte == b'\\').map(|_| quote + 1..end)
}

fn is_password(text: &[u8], range: Range<usize>) -> Option<Range<usize>> {
    let bytes = &text[range.clone()];
    let stand_in = ["password", "passwd", "secret"];
    let stand_in = stand_in.iter().any(|word| bytes.eq_ignore_ascii_case(word.as_bytes()));
    let secret = bytes.len() >= SHORTEST
        && !is_spaced(bytes)
        && !stand_in
        && !is_ordinary(bytes)
        && !is_address(bytes)
        && !is_placeholder(bytes);
    secret.then_some(range)
}
