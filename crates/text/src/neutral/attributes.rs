//! Attributes that make a page load a URL, whatever their element: `style` with `url(…)`, `background`, and
//! `http-equiv` of a `<meta>`, which may redirect the page.
//!
//! The `=` is replaced and not the bracket of the tag, because the tag may begin anywhere before it.

use super::{Edit, INERT_EQUALS};

/// Text in a value of `style` that loads something; an entity may spell any of it.
const LOADING_STYLES: &[&str] =
    &["url(", "image(", "image-set(", "src(", "@import", "&#", "&lpar", "&bsol", "&commat"];
/// Text in a URL that names another host, or may spell it.
const REMOTE: &[&str] = &["//", "\\\\", "/\\", "\\/", "&#", "&sol", "&bsol"];

/// Longest value in bytes that is read, in quotes and without; a longer one counts as loading. Values without
/// quotes can overlap, so their limit is what bounds the time for a text.
const VALUE_BYTES_MAX: usize = 4096;
const BARE_VALUE_BYTES_MAX: usize = 128;

/// The edits that replace the `=` of these attributes.
pub(super) fn edits(text: &str) -> Vec<Edit> {
    let first_tag = text.as_bytes().windows(2).position(is_tag_start).unwrap_or(text.len());
    let equals = text.match_indices('=').map(|(at, _)| at);
    let loading = equals.filter(|&at| {
        let before = text.get(..at).unwrap_or_default().trim_ascii_end();
        let name = name_at_end(before);
        let head = before.get(..before.len() - name.len()).unwrap_or_default();
        // `el.style = …` is a member of an object, and `--style=…` an option.
        let is_attribute = head.is_empty()
            || head.ends_with(|c: char| c.is_ascii_whitespace() || matches!(c, '"' | '\'' | '/'));
        is_attribute
            && match name.to_ascii_lowercase().as_str() {
                "style" => value(text, at + 1).is_none_or(|value| styles(&value)),
                "background" if first_tag < at => {
                    value(text, at + 1).is_none_or(|value| has_any(&value, REMOTE))
                }
                "http-equiv" => true,
                _ => false,
            }
    });
    loading.map(|at| Edit { at, len: 1, with: INERT_EQUALS }).collect()
}

fn is_tag_start(pair: &[u8]) -> bool {
    matches!(pair, [b'<', letter] if letter.is_ascii_alphabetic())
}

/// The name of an attribute that the text ends with.
fn name_at_end(text: &str) -> &str {
    let in_name = |byte: &&u8| byte.is_ascii_alphabetic() || **byte == b'-';
    let length = text.as_bytes().iter().rev().take(16).take_while(in_name).count();
    text.get(text.len() - length..).unwrap_or_default()
}

/// The value of an attribute that begins here, in lower case; `None` if it is too long.
fn value(text: &str, from: usize) -> Option<String> {
    let rest = text.get(from..).unwrap_or_default();
    let blanks = rest.bytes().take(VALUE_BYTES_MAX).take_while(u8::is_ascii_whitespace).count();
    let rest = rest.as_bytes().get(blanks..).unwrap_or_default();
    let (rest, max, ends): (&[u8], usize, &[u8]) = match rest {
        [b'"', rest @ ..] => (rest, VALUE_BYTES_MAX, b"\""),
        [b'\'', rest @ ..] => (rest, VALUE_BYTES_MAX, b"'"),
        rest => (rest, BARE_VALUE_BYTES_MAX, b" \t\n>"),
    };
    let length = rest.iter().take(max).take_while(|byte| !ends.contains(byte)).count();
    let value = rest.get(..length).unwrap_or_default();
    (blanks < VALUE_BYTES_MAX && length < max)
        .then(|| String::from_utf8_lossy(value).to_ascii_lowercase())
}

/// Whether a value of `style` loads something. A backslash before a letter or digit is an escape of CSS.
fn styles(value: &str) -> bool {
    let is_escape = |pair: &[u8]| matches!(pair, [b'\\', next] if next.is_ascii_alphanumeric());
    has_any(value, LOADING_STYLES) || value.as_bytes().windows(2).any(is_escape)
}

fn has_any(value: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| value.contains(part))
}
