//! Secrets that a shell passes on without a flag: variables, `echo` in place of a password file, here-strings, and
//! the answers of an `expect` script.

use std::ops::Range;

use super::super::bytes::{in_name, span, span_back};
use super::super::judge::{contains, contains_any, is_made_up};
use super::words::Word;
use super::{is_secret, starts_command, words};

/// How many bytes before a command are searched for the value of a variable.
const VARIABLE_MAX: usize = 512;
/// How many bytes before a value are searched for the name or the prompt that marks it as a secret.
const CONTEXT: usize = 96;
/// How many lines of a here-document are read, and the longest of them that counts, in bytes.
const DOCUMENT_LINES_MAX: usize = 8;
const LINE_MAX: usize = 256;

/// How many words of a program are searched for one that says that it reads a secret.
const PROGRAM_WORDS_MAX: usize = 8;
/// How many words of `echo` are read: its flags, a format and the value.
const ECHO_WORDS_MAX: usize = 4;

/// Subcommands that read a password or a token from their input.
const LOGINS: [&str; 7] =
    ["login", "logon", "signin", "unlock", "load-key", "authenticate", "--with-token"];
/// Programs that search, change or store their input, whatever words they are given.
const FILTERS: [&str; 18] = [
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ag",
    "sed",
    "awk",
    "cut",
    "jq",
    "yq",
    "tr",
    "wc",
    "tee",
    "cat",
    "xargs",
    "base64",
    "sha256sum",
    "sort",
];

/// The value assigned to the variable in this word before `end`: `P=value && sshpass -p $P`.
pub(super) fn variable_value(text: &[u8], word: &Range<usize>, end: usize) -> Option<Range<usize>> {
    let name = text[word.clone()].strip_prefix(b"$")?;
    let name = name.strip_prefix(b"{").and_then(|name| name.strip_suffix(b"}")).unwrap_or(name);
    if name.is_empty() || !name.iter().all(in_name) {
        return None;
    }
    let from = end - span_back(text, end, VARIABLE_MAX, |_| true);
    let before = &text[from..end];
    let starts = before.windows(name.len()).enumerate().rev();
    for (at, _) in starts.filter(|(_, window)| *window == name) {
        let at = from + at;
        // PowerShell writes `$p = "value"`, the other shells `p=value`.
        let dollar = text[..at].ends_with(b"$");
        let blanks = |at: usize| at + span(text, at, 2, |byte| dollar && *byte == b' ');
        let equals = blanks(at + name.len());
        let starts = dollar || starts_command(text, at);
        if starts && text.get(equals) == Some(&b'=') && text.get(equals + 1) != Some(&b' ')
            || starts && dollar && text[equals..].starts_with(b"= ")
        {
            return words::first(text, blanks(equals + 1)).map(|word| word.inner);
        }
    }
    None
}

/// The secret that `echo` prints in place of a file or a command: `--password-file=<(echo value)`,
/// `--password-command 'echo value'`, `DB_PASSWORD=$(echo value)`; or pipes into a login. The keyword is `echo ` or
/// `printf `.
pub(in super::super) fn echoed(text: &[u8], at: &Range<usize>) -> Option<Range<usize>> {
    echoed_as_file(text, at).or_else(|| echoed_to_login(text, at))
}

fn echoed_as_file(text: &[u8], at: &Range<usize>) -> Option<Range<usize>> {
    let marks = span_back(text, at.start, 4, |byte| b"<($\"'`\\= ".contains(byte));
    let between = &text[at.start - marks..at.start];
    let opened = between.iter().any(|byte| b"(\"'`".contains(byte));
    if !opened {
        return None;
    }
    let name_end = at.start - marks;
    let name = span_back(text, name_end, 40, |byte| in_name(byte) || *byte == b'-');
    let name = &text[name_end - name..name_end];
    let command = contains_any(name, &["passcmd", "passcommand", "passwordeval"]);
    let given =
        command || name.starts_with(b"-") || between.starts_with(b"=") || between.contains(&b'<');
    (given && is_secret_name(name)).then_some(())?;
    let value = printed(text, &words(text, at.end))?;
    is_secret(&text[value.clone()]).then_some(value)
}

/// The word that `echo` and `printf` print. Their flags and the format come before it.
fn printed(text: &[u8], words: &[Word]) -> Option<Range<usize>> {
    let value = words.iter().find(|word| {
        let bytes = &text[word.inner.clone()];
        !bytes.contains(&b'%') && (word.quoted || !bytes.starts_with(b"-"))
    })?;
    Some(value.inner.clone())
}

/// The word that is printed in place of a file, `<(echo value)`; the words are those after the bracket.
pub(super) fn substituted(text: &[u8], words: &[Word]) -> Option<Range<usize>> {
    let (writer, rest) = words.split_first()?;
    let writer = &text[writer.inner.clone()];
    if writer != b"echo" && writer != b"printf" {
        return None;
    }
    printed(text, rest)
}

/// The secret in `echo value | program login`. Only a value that looks like a chosen password counts, because any
/// program may follow.
fn echoed_to_login(text: &[u8], at: &Range<usize>) -> Option<Range<usize>> {
    let words = words::up_to(text, at.end, ECHO_WORDS_MAX);
    let value = printed(text, &words)?;
    let last = words.last()?.inner.end;
    let pipe = last + span(text, last, 4, |byte| b"\"'\\ ".contains(byte));
    let bytes = &text[value.clone()];
    if text.get(pipe) != Some(&b'|') || !is_made_up(bytes) || !is_secret(bytes) {
        return None;
    }
    let program = words::up_to(text, pipe + 1, PROGRAM_WORDS_MAX);
    let program = program.iter().map(|word| &text[word.inner.clone()]);
    reads_secret(program).then_some(value)
}

/// Whether the words of a command say that it reads a secret from its input.
fn reads_secret<'t>(words: impl Iterator<Item = &'t [u8]>) -> bool {
    let is_one = |word: &[u8], names: &[&str]| names.iter().any(|name| word == name.as_bytes());
    let mut reads = false;
    for word in words {
        if is_one(word, &FILTERS) {
            return false;
        }
        reads |= is_one(word, &LOGINS)
            || contains_any(word, &["password", "passphrase", "passwd", "passwort"]);
    }
    reads
}

/// The secret in `read -s PASSWORD <<< value` and `program login <<< value`; the keyword is `<<<`.
pub(in super::super) fn here_string(text: &[u8], at: &Range<usize>) -> Option<Range<usize>> {
    // Seven of them mark a conflict.
    if text[..at.start].ends_with(b"<") || text[at.end..].starts_with(b"<") {
        return None;
    }
    let before = span_back(text, at.start, CONTEXT, |byte| !b"\n;|&".contains(byte));
    let before = &text[at.start - before..at.start];
    let mut words = before.split(|byte| *byte == b' ').rev().filter(|word| !word.is_empty());
    let name = words.next()?;
    // `read -s` does not show what is typed.
    let mut silent = false;
    let reads = words.any(|word| {
        silent |= word.starts_with(b"-") && !word.starts_with(b"--") && word.contains(&b's');
        word == b"read"
    });
    let named = reads && (silent || is_secret_name(name));
    let login = !reads && reads_secret(before.split(|byte| *byte == b' '));
    if !named && !login {
        return None;
    }
    let value = words::first(text, at.end)?.inner;
    let bytes = &text[value.clone()];
    (is_secret(bytes) && (named || is_made_up(bytes))).then_some(value)
}

/// The lines of the here-document that begins on the line of this command: `chpasswd <<EOF`, `cat <<EOF | …`.
pub(super) fn here_document(text: &[u8], at: usize) -> Vec<Range<usize>> {
    let before = span_back(text, at, CONTEXT, |byte| *byte != b'\n');
    let line_end = at + span(text, at, words::COMMAND_MAX, |byte| *byte != b'\n');
    let line = &text[at - before..line_end];
    let Some(opened) = line.windows(2).rposition(|window| window == b"<<") else {
        return Vec::new();
    };
    let mark = &line[opened + 2..];
    let mark = &mark[span(mark, 0, 4, |byte| b"-'\" \\".contains(byte))..];
    let mark = &mark[..span(mark, 0, 40, in_name)];
    let mut lines = Vec::new();
    let mut start = line_end + 1;
    while lines.len() < DOCUMENT_LINES_MAX && start < text.len() && !mark.is_empty() {
        let indent = span(text, start, 8, |byte| *byte == b'\t');
        let length = span(text, start + indent, LINE_MAX, |byte| *byte != b'\n');
        let line = start + indent..start + indent + length;
        if &text[line.clone()] == mark || length == LINE_MAX {
            break;
        }
        start = line.end + 1;
        lines.push(line);
    }
    lines
}

/// The answer to a password prompt in an `expect` script: `expect "assword:"; send "value\r"`. The keyword is `send `.
pub(in super::super) fn sent(text: &[u8], at: &Range<usize>) -> Option<Range<usize>> {
    let dashes = if text[at.end..].starts_with(b"-- ") { 3 } else { 0 };
    let quote = at.end + dashes + span(text, at.end + dashes, 1, |byte| *byte == b'\\');
    if !matches!(text.get(quote), Some(b'"' | b'\'' | b'{')) {
        return None;
    }
    let start = quote + 1;
    let length =
        span(text, start, CONTEXT, |byte| !byte.is_ascii_whitespace() && !b"\"'}".contains(byte));
    let bytes = &text[start..start + length];
    let bytes = bytes.strip_suffix(b"\\").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\\r").or_else(|| bytes.strip_suffix(b"\\n"))?;
    let bytes = bytes.strip_suffix(b"\\").unwrap_or(bytes);
    let before = span_back(text, at.start, CONTEXT, |_| true);
    let before = &text[at.start - before..at.start];
    let prompt = before.windows(6).rposition(|window| window == b"expect").unwrap_or(0);
    let prompted = contains_any(&before[prompt..], &["assword", "assphrase", "passwort"]);
    // Without a prompt the answer may be any command.
    let scripted = contains_any(before, &["expect -c", "spawn "]) && is_made_up(bytes);
    ((prompted || scripted) && is_secret(bytes)).then_some(start..start + bytes.len())
}

/// Whether a variable or a flag of this name holds a password, or says where one is read from.
fn is_secret_name(name: &[u8]) -> bool {
    let ends = |end: &str| {
        name.len() >= end.len()
            && name[name.len() - end.len()..].eq_ignore_ascii_case(end.as_bytes())
    };
    let parts = ["password", "passwd", "passphrase", "passcommand", "passcmd", "secret"];
    contains_any(name, &parts)
        || ["pass", "pw", "pwd", "token"].iter().any(|end| ends(end))
        || contains(name, "key") && ends("file")
        || ["private-key", "preshared-key"].iter().any(|end| ends(end))
}
