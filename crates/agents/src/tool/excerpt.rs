//! Shortens the output of a failed command: keeps its beginning and end, and between them the first and the
//! last line that say what went wrong.

use std::borrow::Cow;

use model::limits;
use text::telling::is_telling;

use crate::guard;

/// Characters of a line that says what went wrong, together with the next line, which shows the message of a panic or
/// the place of a compiler error.
const TELLING_CHARS_MAX: usize = 240;

/// Returns at most `max_chars` of a text, redacted.
pub(super) fn of(text: &str, max_chars: usize) -> String {
    let text = text::without_escapes(text);
    let first = guard::safe(&text);
    let is_whole = text.len() <= limits::CAPTURED_BYTES_MAX;
    if is_whole && first.chars().nth(max_chars).is_none() {
        return first.into_inner();
    }
    let last = match is_whole {
        true => Cow::Borrowed(first.as_str()),
        false => Cow::Owned(guard::safe_end(&text).into_inner()),
    };
    let between = match is_whole {
        true => Between::default(),
        false => Between::of(&text),
    };
    let middle = telling(&first, &last, between, max_chars / 2);
    let rest = max_chars - middle.chars().count();
    let mut excerpt: String = first.chars().take(rest / 2 - 1).collect();
    excerpt.push('…');
    excerpt.push_str(&middle);
    let tail = rest - rest / 2;
    let from = last.char_indices().rev().nth(tail - 1).map_or(0, |(at, _)| at);
    excerpt.push_str(&last[from..]);
    excerpt
}

/// The first and the last line that say what went wrong, if head and tail would not include them; each as
/// separate lines.
fn telling(first: &str, last: &str, between: Between, half: usize) -> String {
    let after_head = first.char_indices().nth(half).map_or(first.len(), |(at, _)| at);
    let before_tail = last.char_indices().rev().nth(half).map_or(0, |(at, _)| at);
    let at_first = places(first).next();
    let at_last = places(last).last();
    let mut found: Vec<String> = Vec::new();
    // Lines in the first or last quarter are part of head or tail anyway.
    if let Some(at) = at_first.filter(|at| at + TELLING_CHARS_MAX > after_head / 2) {
        found.push(with_next(first, at));
    }
    if at_first.is_none() {
        found.extend(between.first);
    }
    let from_tail = at_last.filter(|at| *at < before_tail + (last.len() - before_tail) / 2);
    let last_lines = match at_last {
        Some(_) => from_tail.map(|at| with_next(last, at)),
        None => between.last,
    };
    if let Some(lines) = last_lines.filter(|lines| !found.contains(lines)) {
        found.push(lines);
    }
    match found.is_empty() {
        true => String::new(),
        false => format!("\n{}\n…\n", found.join("\n…\n")),
    }
}

/// The first and the last line that say what went wrong in the part of a long text that is in neither end, redacted.
#[derive(Default)]
struct Between {
    first: Option<String>,
    last: Option<String>,
}

impl Between {
    fn of(text: &str) -> Between {
        let from = text.floor_char_boundary(limits::CAPTURED_BYTES_MAX);
        let until = text.ceil_char_boundary(text.len().saturating_sub(limits::CAPTURED_BYTES_MAX));
        let from = text[..from].rfind('\n').map_or(from, |at| at + 1);
        let Some(middle) = text.get(from..until) else { return Between::default() };
        let first = places(middle).next();
        // Lines are read from the end, so that few are read if the last error is near the end.
        let mut end = middle.len();
        let last = first.and_then(|_| {
            middle.split_inclusive('\n').rev().find_map(|line| {
                end -= line.len();
                is_telling(line).then_some(end)
            })
        });
        let of = |at: Option<usize>| at.and_then(|at| line_at(text, from + at));
        Between { first: of(first), last: of(last.filter(|last| Some(*last) != first)) }
    }
}

/// The line of a long text at an offset, with the next one, redacted. Text around the line is redacted with it, enough
/// to recognise a secret that spans several lines.
fn line_at(text: &str, at: usize) -> Option<String> {
    const AROUND: usize = 2 * 1024;
    let start = text.floor_char_boundary(at.saturating_sub(AROUND));
    // The window begins with a whole line.
    let start = text[start..at].find('\n').map_or(at, |next| start + next + 1);
    let window = guard::safe(&text[start..text.ceil_char_boundary(text.len().min(at + AROUND))]);
    let line = text[at..].lines().next()?;
    // Redaction may have moved the line, or changed it.
    let same = window.match_indices(line).find(|(at, _)| is_line_start(&window, *at));
    let at = same.map(|(at, _)| at).or_else(|| places(&window).next())?;
    Some(with_next(&window, at))
}

fn is_line_start(text: &str, at: usize) -> bool {
    at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n')
}

/// Offsets of the lines that say what went wrong.
fn places(text: &str) -> impl Iterator<Item = usize> {
    text.split_inclusive('\n')
        .scan(0, |at, line| {
            let from = *at;
            *at += line.len();
            Some((from, line))
        })
        .filter_map(|(from, line)| is_telling(line).then_some(from))
}

fn with_next(text: &str, at: usize) -> String {
    let lines: Vec<&str> = text[at..].lines().take(2).collect();
    lines.join("\n").chars().take(TELLING_CHARS_MAX).collect()
}
