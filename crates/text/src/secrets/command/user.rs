//! Passwords next to a user name on the command line of a program that the table does not have.

use std::ops::Range;

use super::super::bytes::{in_name, span_back};
use super::super::judge::{is_made_up, mixes_letters_and_digits};
use super::{is_secret, words};

/// How many bytes before `-p` are searched for the flag with the user.
const USER_MAX: usize = 128;

/// Flags with the name of a user.
const USER_FLAGS: [&str; 6] = ["-u", "-U", "--user", "--username", "-l", "--login"];

/// The password in `-u USER -p PASSWORD` and `-U USER -W PASSWORD` of a program that the table does not have; the
/// keyword is ` -p ` or ` -w `.
pub(in super::super) fn behind_user(text: &[u8], at: &Range<usize>) -> Option<Range<usize>> {
    let word = words::first(text, at.end)?.inner;
    let bytes = &text[word.clone()];
    if !mixes_letters_and_digits(bytes) || !is_secret(bytes) || bytes.contains(&b'/') {
        return None;
    }
    let before = span_back(text, at.start, USER_MAX, |byte| !b"\n;|&".contains(byte));
    let before = &text[at.start - before..at.start];
    let mut words = before.split(|byte| *byte == b' ');
    let is_user = |word: &[u8]| USER_FLAGS.iter().any(|flag| word == flag.as_bytes());
    let found = match text[at.clone()].eq_ignore_ascii_case(b" -w ") {
        true => {
            let principal = |word: &[u8]| word == b"-p" || word == b"-D";
            is_made_up(bytes) && words.any(|word| is_user(word) || principal(word))
        }
        false => words.any(|word| is_user(word) || word.starts_with(b"-u=")),
    };
    found.then_some(word)
}

/// The password in `--user USER:PASSWORD`; the keyword is the flag with the blank or `=` after it. Two names or numbers
/// are the user and the group of a process: `--user 1000:1000`.
pub(in super::super) fn user_pair(text: &[u8], at: &Range<usize>) -> Option<Range<usize>> {
    let word = words::first(text, at.end)?.inner;
    let bytes = &text[word.clone()];
    let colon = bytes.iter().position(|byte| *byte == b':')?;
    let (user, password) = (&bytes[..colon], &bytes[colon + 1..]);
    let named = !user.is_empty() && user.iter().all(|byte| in_name(byte) || b".-@+".contains(byte));
    (named && is_made_up(password) && is_secret(password))
        .then_some(word.start + colon + 1..word.end)
}
