//! A secret that follows its name without `=` or `:` between them: after a flag, in SQL, in netrc, in attributes of
//! XML, in arguments of a call, and in sentences. Only values that look like a password count.

use std::ops::Range;

use super::super::bytes::{in_name, span, span_back};
use super::super::judge::{
    contains_any, entropy, is_address, is_made_up, is_placeholder, is_plain_name, is_stand_in,
    mixes_letters_and_digits, readable_share,
};
use super::sql::{quoted, sql_string};
use super::vocabulary::SPOKEN;
use super::{LONGEST, Named, SHORTEST, is_hex_key, is_ordinary, is_spaced, names, quote};

/// How many bytes before a name are searched for its context.
const CONTEXT: usize = 96;

/// The value next to the name with this keyword, if it is a secret.
pub(in super::super) fn loose_value(
    text: &[u8],
    at: Range<usize>,
    named: Named,
) -> Option<Range<usize>> {
    if !names(text, &at) {
        return None;
    }
    let end = at.end + span(text, at.end, 24, |byte| in_name(byte) || *byte == b'-');
    let start = at.start - span_back(text, at.start, 40, |byte| in_name(byte) || *byte == b'-');
    let context = &text[start.saturating_sub(CONTEXT)..start];
    let value = beside_quoted_name(text, end)
        .or_else(|| in_braces(text, start, end))
        .or_else(|| paired_value(text, end));
    if value.is_some() {
        return value;
    }
    let between = span(text, end, 4, |byte| matches!(byte, b' ' | b'\t'));
    let bracket = span(text, end + between, 1, |byte| *byte == b'(');
    let value =
        end + between + bracket + span(text, end + between + bracket, 2, |byte| *byte == b' ');
    if value == end {
        return None;
    }
    let verb = spoken(text, value);
    let said = text[value..value + verb].starts_with(b"lautet");
    let value = value + verb;
    if named == Named::Password
        && is_sql(context)
        && let Some(range) = sql_string(text, value).filter(|range| text[range.start - 1] != b'"')
    {
        let bytes = &text[range.clone()];
        let any = !is_spaced(bytes) && bytes.len() >= SHORTEST;
        return (!is_placeholder(bytes) && (any || is_chosen(bytes, said))).then_some(range);
    }
    if matches!(text.get(value), Some(b'"' | b'\'')) {
        let range = quoted(text, value)?;
        let bytes = &text[range.clone()];
        let flag = text[start..].starts_with(b"-");
        let any = flag && !is_spaced(bytes) && bytes.len() >= SHORTEST;
        let phrase = named == Named::Password && verb > 0 && is_phrase(bytes);
        return (!is_placeholder(bytes) && (any || phrase || is_chosen(bytes, said)))
            .then_some(range);
    }
    let length = span(text, value, LONGEST, |byte| {
        byte.is_ascii_graphic() && !b";,\"'`<>{}[]()\\|".contains(byte)
    });
    let range = value..value + length;
    let bytes = &text[range.clone()];
    let bytes = bytes.strip_suffix(b".").unwrap_or(bytes);
    if bytes.is_empty() || is_placeholder(bytes) || is_address(bytes) || bytes.starts_with(b"-") {
        return None;
    }
    let secret = match named {
        Named::Password => is_chosen(bytes, said) || is_netrc(context) && bytes.len() >= SHORTEST,
        Named::Secret | Named::Token | Named::ApiKey => {
            let flag = text[start..].starts_with(b"-")
                && start.checked_sub(1).is_none_or(|before| text[before].is_ascii_whitespace());
            // A command sets it by its name: `configure set token value`.
            let set = context.ends_with(b"set ");
            is_random_word(bytes) || (flag || set) && bytes.len() >= 8 && is_made_up(bytes)
        }
    };
    secret.then_some(range.start..range.start + bytes.len())
}

/// The password in `IDENTIFIED BY 'value'` and `IDENTIFIED WITH plugin BY 'value'`.
pub(in super::super) fn identified(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let rest = &text[at.end..text.len().min(at.end + CONTEXT)];
    let keywords = [&b" by "[..], b" as "];
    let by = rest
        .windows(4)
        .position(|window| keywords.iter().any(|keyword| window.eq_ignore_ascii_case(keyword)))?;
    let plugin = &rest[..by];
    if by > 0 && !contains_any(plugin, &["with"]) || plugin.contains(&b'\n') {
        return None;
    }
    let value = at.end + by + 4;
    let value = value + span(text, value, 4, |byte| *byte == b' ');
    let range = match sql_string(text, value) {
        Some(range) => range,
        None => {
            value
                ..value
                    + span(text, value, LONGEST, |byte| {
                        byte.is_ascii_graphic() && !b";,\"'`<>()\\".contains(byte)
                    })
        }
    };
    let bytes = &text[range.clone()];
    let plain = range.start == value && is_plain_name(bytes);
    (bytes.len() >= 4 && !is_placeholder(bytes) && !plain && !is_spaced(bytes)).then_some(range)
}

/// The value in `name="password" value="v"`, `("PASSWORD", "v")`, `get("PASSWORD") or "v"`, `["password"] "v"`.
fn beside_quoted_name(text: &[u8], end: usize) -> Option<Range<usize>> {
    let closed = end + span(text, end, 2, quote);
    if closed == end {
        return None;
    }
    let blanks = |at: usize| at + span(text, at, 4, |byte| *byte == b' ');
    let signs = ["value=", "default=", ", default=", ",default=", ",", ") or", ") ??", ") ||", "]"];
    let next = blanks(closed);
    let rest = text.get(next..).unwrap_or_default();
    let sign = signs.iter().find(|sign| rest.starts_with(sign.as_bytes()))?;
    let value = blanks(next + sign.len());
    let value = value + span(text, value, 1, |byte| matches!(byte, b'b' | b'r' | b'\\'));
    let range = quoted(text, value)?;
    let bytes = &text[range.clone()];
    let secret = mixes_letters_and_digits(bytes) && is_made_up(bytes) && !is_placeholder(bytes);
    secret.then_some(range)
}

/// The value in `ParameterKey=DbPassword,ParameterValue=v` and `name=DB_PASSWORD,value=v`; the secret's name ends at
/// `end`.
pub(super) fn paired_value(text: &[u8], end: usize) -> Option<Range<usize>> {
    if text.get(end) != Some(&b',') {
        return None;
    }
    let label = end + 1 + span(text, end + 1, 24, in_name);
    let head = label.saturating_sub(5).max(end + 1);
    if !text[head..label].eq_ignore_ascii_case(b"value") || text.get(label) != Some(&b'=') {
        return None;
    }
    let start = label + 1 + span(text, label + 1, 2, quote);
    let length = span(text, start, LONGEST, |byte| {
        byte.is_ascii_graphic() && !b",;\"'`<>{}[]()\\|".contains(byte)
    });
    let bytes = &text[start..start + length];
    let secret = length >= SHORTEST && !is_placeholder(bytes) && !is_address(bytes);
    (secret && !is_stand_in(bytes) && !is_ordinary(bytes)).then_some(start..start + length)
}

/// The last word in `<secret>{words}</secret>`, as Jenkins writes it.
fn in_braces(text: &[u8], start: usize, end: usize) -> Option<Range<usize>> {
    let tag = start > 0 && text[start - 1] == b'<' && text.get(end..end + 2) == Some(b">{");
    let length = span(text, end + 2, LONGEST, |byte| !b"}<\n".contains(byte));
    let inside = text.get(end + 2..end + 2 + length).filter(|_| tag)?;
    let word = inside.rsplit(|byte| *byte == b' ').next()?;
    let range = end + 2 + length - word.len()..end + 2 + length;
    is_random_word(word).then_some(range)
}

/// Whether a word in a sentence is a password. After `lautet`, which introduces a literal value, letters and a digit
/// suffice.
fn is_chosen(bytes: &[u8], said: bool) -> bool {
    is_made_up(bytes) || said && bytes.len() >= SHORTEST && mixes_letters_and_digits(bytes)
}

/// Whether a quoted text is a passphrase: three or more words in lower case, joined by hyphens, none of which is a word of
/// messages about passwords.
fn is_phrase(bytes: &[u8]) -> bool {
    let is_word = |word: &[u8]| word.len() > 2 && word.iter().all(u8::is_ascii_lowercase);
    bytes.split(|byte| *byte == b'-').count() >= 3
        && bytes.split(|byte| *byte == b'-').all(is_word)
        && !contains_any(bytes, &SPOKEN)
}

/// The length of `is `, `are ` or `lautet ` before the value.
fn spoken(text: &[u8], at: usize) -> usize {
    let rest = &text[at..];
    let verbs = [
        &b"is "[..],
        b"is: ",
        b"is now ",
        b"are ",
        b"was ",
        b"ist ",
        b"ist: ",
        b"ist jetzt ",
        b"war ",
        b"lautet ",
        b"lautet: ",
        b"lautet jetzt ",
    ];
    // The longer ones first.
    verbs.iter().rev().find(|verb| rest.starts_with(verb)).map_or(0, |verb| verb.len())
}

fn is_sql(context: &[u8]) -> bool {
    contains_any(context, &["user ", "role ", "login ", "alter ", "create ", "set password"])
}

fn is_netrc(context: &[u8]) -> bool {
    contains_any(context, &["machine "]) && contains_any(context, &["login "])
}

/// Whether a word after the name of a token looks like a token.
fn is_random_word(bytes: &[u8]) -> bool {
    let in_word = |byte: &u8| in_name(byte) || b"-+/=.".contains(byte);
    let uuid =
        bytes.len() == 36 && bytes.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    let random = bytes.len() >= 16
        && bytes.iter().all(in_word)
        && mixes_letters_and_digits(bytes)
        && entropy(bytes) > 3.3
        && readable_share(bytes) < 0.5;
    random || uuid || is_hex_key(bytes)
}
