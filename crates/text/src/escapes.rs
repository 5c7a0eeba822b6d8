//! Removes terminal escape sequences, such as colours, titles and links.

use std::borrow::Cow;

const ESCAPE: char = '\u{1b}';

/// The text without its escape sequences.
pub fn without_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains(ESCAPE) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != ESCAPE {
            plain.push(c);
            continue;
        }
        match chars.next() {
            // CSI: parameters, and a final byte.
            Some('[') => {
                while chars.next_if(|c| (' '..='?').contains(c)).is_some() {}
                chars.next_if(|c| ('@'..='~').contains(c));
            }
            // OSC: up to BEL or `ESC \`. An unterminated sequence must not swallow the next line.
            Some(']') => {
                while chars.next_if(|c| !matches!(*c, '\u{7}' | ESCAPE | '\n')).is_some() {}
                if chars.next_if_eq(&'\u{7}').is_none() && chars.next_if_eq(&ESCAPE).is_some() {
                    chars.next();
                }
            }
            // Selecting a character set takes one more byte.
            Some('(' | ')') => drop(chars.next()),
            _ => {}
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_titles_and_links_are_removed_and_text_stays() {
        let table = [
            ("plain", "plain"),
            ("\u{1b}[31;1mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}a\u{1b}]8;;u\u{1b}\\b", "ab"),
            ("\u{1b}]0;never ends\nnext", "\nnext"),
            ("\u{1b}(Bx", "x"),
            ("\u{1b}", ""),
        ];
        for (text, plain) in table {
            assert_eq!(without_escapes(text), plain, "{text:?}");
        }
    }
}
