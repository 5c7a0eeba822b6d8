//! Control characters and invisible ones: direction marks, zero-width and tag characters. A model reads them, but
//! a user does not see them.

use std::borrow::Cow;

use crate::shown;

/// Replaces control characters by their Unicode pictures and each run of hidden characters by one U+FFFD. Line
/// feeds and tabs are kept; a CR before a line feed is dropped.
pub(super) fn made_visible(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return Cow::Borrowed(text);
    }
    let mut made = String::with_capacity(text.len());
    let mut last = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        if c == '\r' && next == Some('\n') {
            continue;
        }
        let out = match c {
            '\n' | '\t' => c,
            c if is_hidden(c) && !belongs(c, last, next) => char::REPLACEMENT_CHARACTER,
            c => shown(c),
        };
        // One U+FFFD per run is enough: a smuggled text may have thousands of hidden characters.
        if out == char::REPLACEMENT_CHARACTER && last == Some(out) {
            continue;
        }
        made.push(out);
        last = Some(out);
    }
    Cow::Owned(made)
}

/// Whether the character is default-ignorable in Unicode, or an interlinear annotation character (U+FFF9 to U+FFFB).
/// Most of them are invisible.
pub(crate) fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a hidden character is part of correct spelling: a joiner inside an emoji or between letters of a
/// script that needs it, or a variation selector after a symbol. `last` is the character written before it, so a
/// selector cannot follow another.
fn belongs(c: char, last: Option<char>, next: Option<char>) -> bool {
    let Some(last) = last else { return false };
    let between = |fits: fn(char) -> bool| fits(last) && next.is_some_and(fits);
    match c {
        '\u{200d}' => between(joins_letters) || (ends_emoji(last) && next.is_some_and(is_symbol)),
        '\u{200c}' => between(joins_letters),
        '\u{fe0e}' | '\u{fe0f}' => is_symbol(last) || matches!(last, '0'..='9' | '#' | '*'),
        _ => false,
    }
}

/// Letters and marks of the scripts in which a joiner changes the spelling: Arabic to Myanmar, Khmer, Mongolian.
fn joins_letters(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{109f}' | '\u{1780}'..='\u{18af}') && !is_hidden(c)
}

/// Emoji and other symbols.
fn is_symbol(c: char) -> bool {
    matches!(c, '©' | '®' | '\u{203c}' | '\u{2049}' | '\u{2100}'..='\u{2bff}' | '\u{3030}' | '\u{303d}'
        | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

fn ends_emoji(c: char) -> bool {
    is_symbol(c) || c == '\u{fe0f}'
}
