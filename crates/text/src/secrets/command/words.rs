//! Splits a command line into words, as far as the guard needs it: quotes, escapes and the end of the command.

use std::ops::Range;

use super::super::bytes::span;

/// How many bytes after a program are read.
pub(super) const COMMAND_MAX: usize = 1024;
/// How many bytes of a string over several lines are read.
const LINES_MAX: usize = 128;
/// How many words are read.
const WORDS_MAX: usize = 64;

/// A word, and whether it is quoted as a whole.
#[derive(Debug)]
pub(super) struct Word {
    /// The word without the quotes around it.
    pub(super) inner: Range<usize>,
    pub(super) quoted: bool,
}

/// The words from `at` to the end of the command: the end of the line, `;`, `|`, `&`, a closing bracket, or the end
/// of the string that contains the command.
pub(super) fn words(text: &[u8], at: usize) -> Vec<Word> {
    up_to(text, at, WORDS_MAX)
}

/// The first of the words.
pub(super) fn first(text: &[u8], at: usize) -> Option<Word> {
    up_to(text, at, 1).pop()
}

/// At most this many of the words.
pub(super) fn up_to(text: &[u8], at: usize, most: usize) -> Vec<Word> {
    let end = text.len().min(at + COMMAND_MAX);
    let text = &text[..end];
    let mut words = Vec::new();
    let mut at = at;
    while words.len() < most {
        at += blanks(text, at);
        let Some(byte) = text.get(at) else { break };
        match byte {
            b'\n' | b'\r' | b';' | b'|' | b'&' | b')' | b'`' => break,
            b'<' | b'>' => {
                let length = span(text, at, 3, |byte| matches!(byte, b'<' | b'>' | b'('));
                words.push(Word { inner: at..at + length, quoted: false });
                at += length;
            }
            _ => {
                let (word_end, closed) = word_end(text, at);
                if word_end == at {
                    break;
                }
                let quoted = matches!(
                    &text[at..word_end],
                    [b'"' | b'\'', ..] | [b'\\' | b'$', b'"' | b'\'', ..]
                );
                let inner = if quoted { unquoted(text, at..word_end) } else { at..word_end };
                words.push(Word { inner, quoted });
                at = word_end;
                if closed {
                    break;
                }
            }
        }
    }
    words
}

/// Skips blanks and escaped line ends.
fn blanks(text: &[u8], at: usize) -> usize {
    let mut length = 0;
    loop {
        length += span(text, at + length, COMMAND_MAX, |byte| matches!(byte, b' ' | b'\t'));
        match text.get(at + length..) {
            Some([b'\\', b'\n', ..]) => length += 2,
            Some([b'\\', b'\r', b'\n', ..]) => length += 3,
            _ => return length,
        }
    }
}

/// The end of the word that begins here, and whether a closing quote ends the command after it.
fn word_end(text: &[u8], start: usize) -> (usize, bool) {
    let plain = |byte: &u8| !b" \t\n\r;|&)<>`\"'\\$".contains(byte);
    let mut at = start;
    loop {
        at += span(text, at, COMMAND_MAX, plain);
        match text.get(at..).unwrap_or_default() {
            [b'$', b'(', ..] => {
                at += 2 + span(text, at + 2, COMMAND_MAX, |byte| *byte != b')');
                at += span(text, at, 1, |byte| *byte == b')');
            }
            [b'$', ..] => at += 1,
            // After a closing quote this is a literal quote: `'it'\''s'`.
            [b'\\', b'"' | b'\'', ..] if at > start && is_quote(&text[at - 1]) => at += 2,
            [b'\\', b'"' | b'\'', rest @ ..] => match quote_end(text, at) {
                Some(end) => at = end,
                // Not closed, so it is a literal quote (`it\'s`) or closes a string that contains the command.
                None if at > start && rest.first().is_some_and(u8::is_ascii_alphanumeric) => {
                    at += 2
                }
                None => return (at, true),
            },
            [b'"' | b'\'', ..] => match quote_end(text, at) {
                Some(end) => at = end,
                None => return (at, true),
            },
            [b'\\', b'\n' | b'\r', ..] => return (at, false),
            [b'\\', _, ..] => at += 2,
            _ => return (at, false),
        }
    }
}

fn is_quote(byte: &u8) -> bool {
    matches!(byte, b'"' | b'\'')
}

/// The end of the string that a quote at this place opens; `None` if the quote closes an earlier one.
fn quote_end(text: &[u8], at: usize) -> Option<usize> {
    let escaped = usize::from(text[at] == b'\\');
    let mark = *text.get(at + escaped)?;
    let start = at + escaped + 1;
    let next = text.get(start)?;
    if next.is_ascii_whitespace() || b");|".contains(next) {
        return None;
    }
    // A string may continue on the next lines, but a quote before a line end often closes an earlier one.
    let line = span(text, start, COMMAND_MAX, |byte| *byte != mark && *byte != b'\n');
    let lines_max = if text.get(start + line) == Some(&b'\n') { LINES_MAX } else { COMMAND_MAX };
    let escapes = mark == b'"' || text[..at].ends_with(b"$");
    let mut end = start;
    loop {
        end += span(text, end, lines_max, |byte| *byte != mark);
        if text.get(end) != Some(&mark) || end - start > lines_max {
            return None;
        }
        let closing = escaped == 1 || text[end - 1] != b'\\' || !escapes;
        end += 1;
        if closing {
            return Some(end);
        }
    }
}

/// Whether a word goes on at `at`, next to a quote: the shell joins `"a"'b'` and `a"b"`. After a closing quote in JSON
/// or code there is a comma or a bracket.
fn continues(text: &[u8], at: usize, end: usize) -> bool {
    // The shell's ways to write a quote inside quotes: `'it'\''s'`, `'it'"'"'s'`.
    let literal_quote = match text.get(at..end).unwrap_or_default() {
        [b'\\', b'"' | b'\'', next, ..] => next.is_ascii_graphic() && !b",:;)]}".contains(next),
        [b'"', b'\'', b'"', ..] | [b'\'', b'"', b'\'', ..] => true,
        _ => false,
    };
    let at = at + span(text, at, 1, is_quote);
    literal_quote
        || at < end && text[at].is_ascii_graphic() && !b",:;{}[]()<>=+.\\\"'".contains(&text[at])
}

fn without_closing_quote(text: &[u8], end: usize) -> usize {
    end - usize::from(matches!(text[end - 1], b'"' | b'\''))
}

/// The end of the text that a shell reads from `at` on as one word, without a closing quote.
pub(in super::super) fn shell_word_end(text: &[u8], at: usize) -> usize {
    let text = &text[..text.len().min(at + COMMAND_MAX)];
    let (end, _) = word_end(text, at);
    unquoted(text, at..end).end
}

/// The range without the quotes around it, paired or not. It ends at the quote that closes it, unless the word goes on
/// after that quote.
pub(super) fn unquoted(text: &[u8], range: Range<usize>) -> Range<usize> {
    if range.is_empty() {
        return range;
    }
    let Range { mut start, mut end } = range;
    let range_start = start;
    // Bash has strings with a dollar sign before them: `$'…'`.
    if text[start..end].starts_with(b"$'") || text[start..end].starts_with(b"$\"") {
        start += 1;
    }
    let escaped = usize::from(text[start..end].starts_with(b"\\"));
    let Some(mark) = text[start..end].get(escaped).filter(|byte| matches!(byte, b'"' | b'\''))
    else {
        // A quote after it closes the string that contains the command.
        let length = span(text, start, end - start, |byte| !matches!(byte, b'"' | b'\''));
        if continues(text, start + length, end) {
            return start..without_closing_quote(text, end);
        }
        let cut = if text[start..start + length].ends_with(b"\\") { length - 1 } else { length };
        return start..start + cut;
    };
    let ansi = start > range_start;
    start += escaped + 1;
    if ansi {
        return start..without_closing_quote(text, end);
    }
    let length = span(text, start, end - start, |byte| byte != mark);
    if escaped == 0 && continues(text, start + length + 1, end) {
        return start..without_closing_quote(text, end);
    }
    end = start + length;
    if escaped == 1 && text[start..end].ends_with(b"\\") {
        end -= 1;
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Vec<&str> {
        words(line.as_bytes(), 0).into_iter().map(|word| &line[word.inner]).collect()
    }

    #[test]
    fn words_are_read_as_a_shell_reads_them() {
        let table: [(&str, &[&str]); 22] = [
            (r"-p'it'\''s a' b", &[r"-p'it'\''s a'", "b"]),
            (r#"'it'"'"'s' b"#, &[r#"it'"'"'s"#, "b"]),
            (r"it\'s b", &[r"it\'s", "b"]),
            (r#""it\"s" b"#, &[r#"it\"s"#, "b"]),
            (r"$'it\'s' b", &[r"it\'s", "b"]),
            ("'one\ntwo' b", &["one\ntwo", "b"]),
            ("-p 'a ' b", &["-p", "a ", "b"]),
            ("-u root -phunter2 db", &["-u", "root", "-phunter2", "db"]),
            ("-p 'a b' \"c d\" e", &["-p", "a b", "c d", "e"]),
            ("a; b", &["a"]),
            ("a | b", &["a"]),
            ("a && b", &["a"]),
            ("a \\\n  b", &["a", "b"]),
            ("-px' -e", &["-px"]),
            ("-p hunter2\" && x", &["-p", "hunter2"]),
            ("-S <<< word", &["-S", "<<<", "word"]),
            ("-p \\\"a b\\\" c", &["-p", "a b", "c"]),
            ("$'a b' $(c d) e", &["a b", "$(c d)", "e"]),
            ("\"a\"'b' c", &["a\"'b", "c"]),
            ("'a'b\"c\" d", &["a'b\"c", "d"]),
            ("'a','b'", &["a"]),
            ("", &[]),
        ];
        for (line, expected) in table {
            assert_eq!(read(line), expected, "{line}");
        }
    }
}
