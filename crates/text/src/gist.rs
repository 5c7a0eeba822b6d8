//! The gist of a longer text: its first sentences, as one line.

use crate::line_of_words;

/// Sentences are added until the gist has this many characters: "Done." alone says nothing.
const ENOUGH_CHARS: usize = 40;

/// The first sentences of a text as one line of at most `max_chars` characters, without the heading, list,
/// emphasis and fence markers of Markdown.
pub fn gist(text: &str, max_chars: usize) -> String {
    let mut gist = String::new();
    let mut fenced = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        let line = plain(line);
        if fenced || line.is_empty() {
            continue;
        }
        for sentence in sentences(line) {
            if !gist.is_empty() {
                gist.push(' ');
            }
            gist.push_str(sentence);
            if gist.chars().count() >= ENOUGH_CHARS {
                return line_of_words(&gist.replace("**", ""), max_chars);
            }
        }
    }
    line_of_words(&gist.replace("**", ""), max_chars)
}

/// The line without the marker of a heading, a list item or a quotation.
pub(crate) fn plain(line: &str) -> &str {
    let text = line.trim_start_matches(['#', '>', ' ']);
    let item = ["- ", "* ", "+ "].iter().find_map(|sign| text.strip_prefix(sign));
    item.unwrap_or(text).trim()
}

/// The sentences of a line. A full stop inside a word, as in a path or a version, does not end a sentence.
pub(crate) fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let ends = rest.match_indices([' ']).map(|(at, _)| at);
        let end = ends.into_iter().find(|at| rest[..*at].ends_with(['.', '!', '?']));
        let (sentence, behind) = rest.split_at(end.unwrap_or(rest.len()));
        rest = behind.trim_start();
        Some(sentence)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gist_is_the_first_meaningful_sentences() {
        let table = [
            ("", ""),
            ("Done.", "Done."),
            (
                "Done. The retry now waits 200 ms because the proxy drops bursts. More here.",
                "Done. The retry now waits 200 ms because the proxy drops bursts.",
            ),
            (
                "## Summary\n\n- **Fixed** the rounding in `src/cart.rs` by using cents\n- More",
                "Summary Fixed the rounding in `src/cart.rs` by using cents",
            ),
            (
                "```rust\nfn x() {}\n```\nI moved the parser to v2.1 of the grammar as you asked.",
                "I moved the parser to v2.1 of the grammar as you asked.",
            ),
        ];
        for (text, expected) in table {
            assert_eq!(gist(text, 240), expected, "{text:?}");
        }
        assert_eq!(gist("abcdefgh", 4), "abc…");
    }
}
