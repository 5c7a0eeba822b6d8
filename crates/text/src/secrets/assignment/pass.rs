//! Names that are short for a password: `DB_PASS`, `smtp_pass`, `keystorePass`, `bind_pw`. Because `pass` and
//! `pw` are parts of other words, the value has to meet stricter conditions than after `password`.

use std::ops::Range;

use super::super::bytes::{blank, in_name, span, span_back};
use super::super::judge::{
    contains_any, is_hex_or_uuid, is_made_up, is_placeholder, is_plain_name, is_stand_in,
    mixes_letters_and_digits,
};
use super::{
    Named, SHORTEST, Value, is_argument, is_code, is_environment, is_spaced, is_variable, is_whole,
    loose, read, spaced_is_secret, suffixed_value, words_are_secret,
};

/// Prefixes of `pass` in the names of flags and settings.
const GLUED: [&str; 15] = [
    "store", "key", "db", "user", "admin", "root", "my", "pg", "smtp", "ftp", "mysql", "bind",
    "login", "trust", "wifi",
];

/// Words before `pass` that make it a run over something, or a verdict: `two_pass`, `--by-pass`.
const RUNS: [&str; 18] = [
    "two", "multi", "single", "one", "first", "second", "third", "last", "each", "by", "per",
    "render", "is", "did", "test", "tests", "all", "no",
];

/// Fewest characters of a word after a flag that is a password.
const WORD_MIN: usize = 6;
/// How many bytes before `pass=` are searched for a user.
const USER_MAX: usize = 48;

/// The value assigned to such a name, if it is a secret.
pub(in super::super) fn pass_value(text: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    if !is_name(text, &at) {
        return suffixed_value(text, &at);
    }
    let end = at.end + span(text, at.end, 2, u8::is_ascii_digit);
    let start = at.start - span_back(text, at.start, 40, |byte| in_name(byte) || *byte == b'-');
    let flag = flag_value(text, start, at.start, end);
    let flag = flag.or_else(|| loose::paired_value(text, end));
    if flag.is_some() {
        return flag;
    }
    let value = read(text, start..end)?;
    let bytes = &text[value.range.clone()];
    let capitals = !text[start..end].iter().any(u8::is_ascii_lowercase);
    let of_environment = (value.bare || is_environment(text, start..end))
        && text[start..at.start].ends_with(b"_")
        && capitals;
    let named = of_environment
        || value.bare && is_option(text, start, end, value.range.end)
        || is_setting(text, start..at.start, &value);
    // A longer number is a password, a shorter one may count what passed.
    let number = of_environment && bytes.len() >= 6 && bytes.iter().all(u8::is_ascii_digit);
    if !(SHORTEST..=128).contains(&bytes.len())
        || is_placeholder(bytes)
        || is_hex_or_uuid(bytes) && bytes.len() < 16 && !number
    {
        return None;
    }
    let secret = if is_plain_name(bytes) {
        let variable = !of_environment && is_variable(bytes);
        named && !variable && words_are_secret(bytes, Named::Password)
    } else if number {
        true
    } else if value.quoted && is_spaced(bytes) {
        let trimmed = bytes.trim_ascii();
        value.closed
            && is_environment(text, start..end)
            && (spaced_is_secret(bytes, Named::Password, true)
                || !is_spaced(trimmed) && is_made_up(trimmed))
    } else if value.quoted || value.bare {
        // A value without quotes has blanks only if they are escaped.
        (value.bare && is_spaced(bytes) || mixes_letters_and_digits(bytes) || is_made_up(bytes))
            && !is_code(bytes)
    } else {
        value.listed && is_made_up(bytes)
    };
    secret.then_some(value.range)
}

/// Whether a word assigned to this name is one of a command line and not of code: `--dbpass=word`, `local pass=word`,
/// `ansible_become_pass=word`. In code another sign follows the word.
fn is_option(text: &[u8], start: usize, end: usize, value_end: usize) -> bool {
    let declared = ["local ", "declare ", "typeset ", "readonly ", "export ", "-x "];
    let before = &text[start.saturating_sub(12)..start];
    let declared = declared.iter().any(|word| before.ends_with(word.as_bytes()));
    let name = &text[start..end];
    let known = name.starts_with(b"--") || contains_any(name, &["ansible_", "become_", "sudo_"]);
    let ended = text.get(value_end).is_none_or(|byte| b" \n\r\"';".contains(byte));
    ended && (declared || known)
}

/// Whether a word is assigned to a name such as `db_pass` on a command line: `make deploy db_pass=word`,
/// `-o user=bob,pass=word`. The head is the part of the name before `pass`.
fn is_setting(text: &[u8], head: Range<usize>, value: &Value) -> bool {
    let before = head.start.checked_sub(1).map_or(b' ', |before| text[before]);
    let apart = before.is_ascii_whitespace() || b"\"',;&?".contains(&before);
    let next = text.get(value.range.end).copied().unwrap_or(b'\n');
    let before_path = matches!(&text[value.range.end..], [b' ', b'/', name, ..] if !blank(name));
    let ended =
        value.last || b"\"'&".contains(&next) || before_path || is_whole(text, value.range.end);
    if !(value.bare && value.set && apart && ended) {
        return false;
    }
    if head.is_empty() {
        let context = &text[head.start.saturating_sub(USER_MAX)..head.start];
        return contains_any(context, &["user=", "username=", "login=", "email="]);
    }
    !is_run(&text[head])
}

/// Whether the part of a name before `pass` says that it is something else than a password.
fn is_run(head: &[u8]) -> bool {
    let mut parts = head.split(|byte| b"_-".contains(byte)).filter(|part| !part.is_empty());
    let last = parts.next_back().unwrap_or_default();
    RUNS.iter().any(|run| last.eq_ignore_ascii_case(run.as_bytes()))
}

/// Whether a name ends with `pass` or `pw` at this place as a word of its own.
pub(in super::super) fn is_pass_name(name: &[u8], at: usize) -> bool {
    is_name(name, &(at..name.len()))
}

/// Whether a short name for a password ends here.
pub(super) fn is_name(text: &[u8], at: &Range<usize>) -> bool {
    let keyword = &text[at.clone()];
    let goes_on = text.get(at.end).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let before = text[..at.start].last().copied().unwrap_or(b' ');
    let hump = before.is_ascii_lowercase() && keyword[0].is_ascii_uppercase();
    let head = span_back(text, at.start, 16, u8::is_ascii_alphanumeric);
    let head = &text[at.start - head..at.start];
    let glued = GLUED.iter().any(|word| {
        head.len() >= word.len()
            && head[head.len() - word.len()..].eq_ignore_ascii_case(word.as_bytes())
    });
    !goes_on && (!before.is_ascii_alphanumeric() || hump || glued)
}

/// The value in `-pw VALUE`, `--pass VALUE`; the name's keyword begins at `keyword`.
fn flag_value(text: &[u8], start: usize, keyword: usize, end: usize) -> Option<Range<usize>> {
    let alone = start == 0 || text[start - 1].is_ascii_whitespace();
    if !text[start..].starts_with(b"-") || !alone || text.get(end) != Some(&b' ') {
        return None;
    }
    let quote = text.get(end + 1).filter(|byte| matches!(byte, b'"' | b'\''));
    let from = end + 1 + usize::from(quote.is_some());
    let length = span(text, from, 128, |byte| match quote {
        Some(quote) => byte != quote && *byte != b'\n',
        None => !byte.is_ascii_whitespace() && !b";|&\"')".contains(byte),
    });
    let bytes = &text[from..from + length];
    let range = from..from + length;
    let last = text.get(range.end).is_none_or(|byte| matches!(byte, b'\n' | b'\r'));
    // After one dash the next word of a sentence may follow: `option -Pw defines the prompt`.
    let long = text[start..].starts_with(b"--");
    let given =
        quote.is_some() || last || long && is_whole(text, range.end) || is_argument(text, &range);
    let word = length >= WORD_MIN
        && given
        && is_plain_name(bytes)
        && !is_variable(bytes)
        && !is_stand_in(bytes)
        && !is_run(&text[start..keyword])
        && words_are_secret(bytes, Named::Password);
    let secret = length >= SHORTEST && (word || mixes_letters_and_digits(bytes));
    (secret && !is_placeholder(bytes) && !bytes.starts_with(b"-")).then_some(range)
}
