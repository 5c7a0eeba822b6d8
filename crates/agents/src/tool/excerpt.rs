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
    let mut middle = TellingLines::of(&first, &last, between);
    let mut ends = EndsOfText::of((&first, &last), max_chars, &middle);
    // Without a line that an end has anyway, there is room for more of both ends.
    while middle.drop_repeated(&ends) {
        ends = EndsOfText::of((&first, &last), max_chars, &middle);
    }
    format!("{}…{}{}", ends.head, middle.text(), ends.tail)
}

/// The beginning and the end of an output, beside the lines between them.
struct EndsOfText<'t> {
    head: &'t str,
    tail: &'t str,
}

impl<'t> EndsOfText<'t> {
    fn of(
        (first, last): (&'t str, &'t str),
        max_chars: usize,
        middle: &TellingLines,
    ) -> EndsOfText<'t> {
        let rest = max_chars - middle.text().chars().count();
        let until = first.char_indices().nth(rest / 2 - 1).map_or(first.len(), |(at, _)| at);
        let tail = rest - rest / 2;
        let from = last.char_indices().rev().nth(tail - 1).map_or(0, |(at, _)| at);
        EndsOfText { head: &first[..until], tail: &last[from..] }
    }
}

/// The first and the last line that say what went wrong.
struct TellingLines {
    first: Option<String>,
    last: Option<String>,
}

impl TellingLines {
    fn of(first: &str, last: &str, between: Between) -> TellingLines {
        let at_first = places(first).next().map(|at| with_next(first, at));
        let at_last = places(last).last().map(|at| with_next(last, at));
        let first = at_first.or(between.first);
        let last = at_last.or(between.last).filter(|lines| first.as_ref() != Some(lines));
        TellingLines { first, last }
    }

    /// Drops a line that the beginning or the end of the output has too. Returns whether it dropped one.
    fn drop_repeated(&mut self, ends: &EndsOfText<'_>) -> bool {
        let is_in = |lines: &String| ends.head.contains(lines) || ends.tail.contains(lines);
        let dropped = [&mut self.first, &mut self.last].map(|one| one.take_if(|it| is_in(it)));
        dropped.iter().any(Option::is_some)
    }

    /// Both on lines of their own.
    fn text(&self) -> String {
        let found: Vec<&str> =
            [&self.first, &self.last].into_iter().flatten().map(String::as_str).collect();
        match found.is_empty() {
            true => String::new(),
            false => format!("\n{}\n…\n", found.join("\n…\n")),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_error_line_is_kept_once_wherever_it_is() {
        let lines = |name: &str, count: usize| -> String {
            (0..count).map(|number| format!("{name} {number}\n")).collect()
        };
        for behind in [5, 20, 60, 80, 100, 120, 150, 200, 400] {
            let text = format!(
                "{}src/a.rs:3: error: FIRST\n{}error: could not compile LAST\n{}",
                lines("compiling", 300),
                lines("note", 300),
                lines("tail", behind)
            );
            let kept = of(&text, 2_000);
            for once in ["FIRST", "LAST"] {
                assert_eq!(kept.matches(once).count(), 1, "{behind}: {kept}");
            }
            assert_eq!(kept.chars().count(), 2_000, "{behind}");
        }
    }
}
