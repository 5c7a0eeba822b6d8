//! Three-way merge of a text: removes our change, and keeps later edits of the user.

use std::ops::Range;

use crate::diff::{DiffSide, marked};

/// The words that replace a range of the base text.
struct Hunk<'t> {
    base: Range<usize>,
    text: Vec<&'t str>,
}

/// The texts with both changes, merged by lines and then by words. A merge in which the changes overlap is left out.
pub(crate) fn merged(base: &str, one: &str, other: &str) -> impl Iterator<Item = String> {
    let by = |pieces: fn(&str) -> Vec<&str>| merged_by(&pieces(base), &pieces(one), &pieces(other));
    by(lines).into_iter().chain(by(words))
}

/// Applies both changes to the pieces of the base text.
fn merged_by(base: &[&str], one: &[&str], other: &[&str]) -> Option<String> {
    let mut hunks = hunks(base, one);
    hunks.extend(self::hunks(base, other));
    // An insertion is applied before a deletion at the same position.
    hunks.sort_by_key(|hunk| (hunk.base.start, hunk.base.end));
    let (mut text, mut at) = (String::new(), 0);
    let mut last_put = None;
    for hunk in hunks {
        let is_put = hunk.base.is_empty().then_some(hunk.base.start);
        // The order of two insertions at the same position is unknown.
        if hunk.base.start < at || (is_put.is_some() && is_put == last_put) {
            return None;
        }
        text.extend(base.get(at..hunk.base.start)?.iter().copied());
        text.extend(hunk.text);
        (at, last_put) = (hunk.base.end, is_put.or(last_put));
    }
    text.extend(base.get(at..)?.iter().copied());
    Some(text)
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Splits a text into pieces that change as a whole: blanks, quoted strings, words, and single characters.
fn words(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let run = |is_part: fn(char) -> bool| rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let end = match first {
            _ if first.is_whitespace() => run(char::is_whitespace),
            _ if first.is_alphanumeric() => run(char::is_alphanumeric),
            '"' => quoted(rest),
            _ => first.len_utf8(),
        };
        let (word, behind) = rest.split_at(end);
        all.push(word);
        rest = behind;
    }
    all
}

/// The length of a quoted string; 1 if it does not end on its line.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => break,
            '"' if !escaped => return at + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    1
}

/// The differences of a text from its base.
fn hunks<'t>(base: &[&'t str], text: &[&'t str]) -> Vec<Hunk<'t>> {
    let mut all: Vec<Hunk<'t>> = Vec::new();
    let mut at = 0;
    let mut open = false;
    for (mark, word) in marked(base, text) {
        if mark == DiffSide::Same {
            (open, at) = (false, at + 1);
            continue;
        }
        if !open {
            all.push(Hunk { base: at..at, text: Vec::new() });
            open = true;
        }
        let Some(hunk) = all.last_mut() else { continue };
        if mark == DiffSide::New {
            hunk.text.push(word);
        } else {
            at += 1;
            hunk.base.end = at;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(base: &str, one: &str, other: &str) -> Option<String> {
        merged(base, one, other).next()
    }

    #[test]
    fn changes_in_different_places_are_both_there() {
        let base = "{ \"a\": 1, \"ours\": [1, 2], \"b\": \"x y\" }";
        let theirs = base.replace('1', "one").replace("one, 2", "1, 2").replace("x y", "z");
        let ours = base.replace(", \"ours\": [1, 2]", "");
        let both = first(base, &theirs, &ours).unwrap();
        assert_eq!(both, "{ \"a\": one, \"b\": \"z\" }");
        assert_eq!(first(base, base, &ours).as_deref(), Some(ours.as_str()));
        // Right behind the removed entry.
        let behind = base.replace("2]", "2], \"new\": 3");
        let both = first(base, &behind, &ours).unwrap();
        assert_eq!(both, "{ \"a\": 1, \"new\": 3, \"b\": \"x y\" }");
    }

    #[test]
    fn changes_in_the_same_place_are_not_merged() {
        assert_eq!(first("a b c", "a x c", "a c"), None);
        assert_eq!(first("a c", "a x c", "a y c"), None);
        assert_eq!(first("a\nb\nc", "a\nx\nc", "a\nc"), None);
    }

    #[test]
    fn every_text_is_the_sum_of_its_words() {
        for text in ["", "{\"a\\\"b\": 1} // ü\r\n", "\"open\nx = 'y'", "\\\"", "\"\\"] {
            assert_eq!(words(text).concat(), text);
        }
        assert_eq!(words("\"a \\\" b\": x1"), ["\"a \\\" b\"", ":", " ", "x1"]);
    }
}
