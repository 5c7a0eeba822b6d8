//! Flags and their arguments. Signs such as `-v`, `|` or `&&` may follow an argument on a command line. In code they
//! would make it part of an expression.

use std::ops::Range;

use super::super::bytes::{blank, in_name, span, span_back};
use super::super::judge::is_stand_in;

/// How many bytes before `--` are searched for the program.
const COMMAND_MAX: usize = 128;

/// Programs that search for the words after `--`, print them or read them as names of files.
const PROGRAMS_FOR_WORDS: [&str; 24] = [
    "grep", "egrep", "fgrep", "zgrep", "ggrep", "ugrep", "rg", "ag", "ack", "pgrep", "pkill",
    "sed", "awk", "printf", "echo", "cat", "less", "rm", "mv", "cp", "touch", "ls", "man",
    "strings",
];

/// Whether the name at this place is a flag. With one dash it has to follow a blank: at the start of a line that dash
/// may mark a removed line of a diff. After `-e` it is a word that is searched for, and after `--` it is one for some
/// programs (`grep -- --password docs`). Others pass it on as a flag (`npm run deploy -- --password …`).
pub(super) fn is_flag(text: &[u8], name: usize) -> bool {
    let before = &text[..name];
    if before.ends_with(b" -e ") || before.ends_with(b" -- ") && takes_words(text, name) {
        return false;
    }
    match &text[name..] {
        [b'-', b'-', ..] => true,
        [b'-', ..] => name > 0 && blank(&text[name - 1]),
        // The name is the last part of a dotted one: `--server.password`.
        _ if text[..name].ends_with(b".") => {
            let head = span_back(text, name, 40, |byte| in_name(byte) || b"-.".contains(byte));
            text[name - head..].starts_with(b"--")
        }
        _ => false,
    }
}

/// Whether the command before `at` takes words and names of files after `--`, and no flags.
fn takes_words(text: &[u8], at: usize) -> bool {
    let length = span_back(text, at, COMMAND_MAX, |byte| !b"\n;|&".contains(byte));
    let mut words = text[at - length..at].split(|byte| b" \t\"'`(/".contains(byte));
    words.any(|word| PROGRAMS_FOR_WORDS.iter().any(|program| word == program.as_bytes()))
}

/// Whether a word after a flag is its argument: another flag, a sign of the shell or the end of the command follows,
/// and the word is not the name of an argument as in a usage line.
pub(super) fn is_argument(text: &[u8], word: &Range<usize>) -> bool {
    let at = word.end + span(text, word.end, 8, blank);
    let ends = match &text[at..] {
        [b'|' | b'&' | b'>' | b'<' | b';', ..] | [b'2', b'>', ..] | [b'\\', b'\n' | b'\r', ..] => {
            true
        }
        [b'-', next, rest @ ..] => {
            let ends = |byte: &u8| in_name(byte) || blank(byte);
            next.is_ascii_alphabetic() || *next == b'-' && rest.first().is_none_or(ends)
        }
        [b'"' | b'\'' | b')', ..] => at == word.end,
        _ => false,
    };
    ends && !is_stand_in(&text[word.clone()])
}

/// Whether a blank, a comma or a semicolon ends the word before `at`, and no expression continues there.
pub(super) fn is_whole(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(|byte| b" ,;".contains(byte)) && !goes_on(text, at)
}

/// Whether what follows a word makes it part of an expression.
fn goes_on(text: &[u8], at: usize) -> bool {
    let rest = &text[at + span(text, at, 8, blank)..];
    let sign = rest.first().is_some_and(|byte| b"+-*/%?|&=<>!^:.([{".contains(byte));
    sign || ["if ", "or ", "as ", "is ", "in ", "for ", "else "]
        .iter()
        .any(|word| rest.starts_with(word.as_bytes()))
}
