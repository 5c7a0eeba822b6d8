//! The part of a text that shows why it is a hit, short enough for a list.

use std::collections::HashSet;
use std::ops::Range;

use super::Finder;

/// Marks each side where a text was cut.
const CUT: char = '…';
/// Characters that a cut may move to reach the space between two words.
const TO_A_SPACE: usize = 16;

/// The beginning of the text, at most `max_chars` characters, with `…` at its end if it was cut.
pub fn beginning(text: &str, max_chars: usize) -> String {
    window(&text.chars().collect::<Vec<_>>(), 0, 0, max_chars)
}

impl Finder<'_> {
    /// At most `max_chars` characters around the densest place with words of the query, with `…` on each
    /// side that was cut; the beginning of a text that contains none.
    pub fn excerpt(&self, text: &str, max_chars: usize) -> String {
        if text.len() <= max_chars {
            return text.to_owned();
        }
        let chars: Vec<char> = text.chars().collect();
        if chars.len() <= max_chars {
            return text.to_owned();
        }
        let matches = self.matches_in_chars(text);
        let Some(best) = densest(&matches, max_chars) else {
            return beginning(text, max_chars);
        };
        // Centre the matches, so that the text on both sides of them is visible.
        let slack = max_chars.saturating_sub(best.len());
        let start = best.start.saturating_sub(slack / 2).min(chars.len() - max_chars);
        window(&chars, start, best.start, max_chars)
    }

    /// The matches of the query: range in characters, and index of the word in the query.
    fn matches_in_chars(&self, text: &str) -> Vec<(Range<usize>, usize)> {
        let (mut chars, mut byte) = (0, 0);
        let mut in_chars = |to: usize| {
            chars += text.get(byte..to).map_or(0, |passed| passed.chars().count());
            byte = to;
            chars
        };
        let found = self.found_in(text).into_iter();
        found.map(|(range, word)| (in_chars(range.start)..in_chars(range.end), word)).collect()
    }
}

/// The stretch of at most `max_chars` with the most different words, then the most words; the first of
/// equals.
fn densest(matches: &[(Range<usize>, usize)], max_chars: usize) -> Option<Range<usize>> {
    let room = max_chars.saturating_sub(2);
    let mut best: Option<((usize, usize), Range<usize>)> = None;
    for (place, (first, _)) in matches.iter().enumerate() {
        let within = matches[place..].iter().take_while(|(one, _)| one.end <= first.start + room);
        let (mut words, mut count, mut end) = (HashSet::new(), 0, first.end);
        for (one, word) in within {
            words.insert(*word);
            (count, end) = (count + 1, one.end);
        }
        let rank = (words.len(), count);
        if best.as_ref().is_none_or(|(known, _)| rank > *known) {
            best = Some((rank, first.start..end));
        }
    }
    best.map(|(_, range)| range)
}

/// The characters from `start` on, `max_chars` with the marks where something was cut. The first cut moves
/// to the next space between two words if one is near and before `shown_from`.
fn window(chars: &[char], start: usize, shown_from: usize, max_chars: usize) -> String {
    if start == 0 && chars.len() <= max_chars {
        return chars.iter().collect();
    }
    let cut_before = start > 0;
    let mut start = start + usize::from(cut_before);
    if cut_before && chars.get(start - 1).is_some_and(|c| !c.is_whitespace()) {
        let near = chars.iter().skip(start).take(TO_A_SPACE.min(shown_from.saturating_sub(start)));
        start += near.clone().position(|c| c.is_whitespace()).unwrap_or_default();
    }
    let room = max_chars.saturating_sub(usize::from(cut_before));
    let cut_after = chars.len() > start + room;
    let end = if cut_after { start + room.saturating_sub(1) } else { chars.len() };
    let shown: String = chars.get(start..end).unwrap_or_default().iter().collect();
    let (before, after) = (cut_before.then_some(CUT), cut_after.then_some(CUT));
    let shown = if cut_before { shown.trim_start() } else { &shown };
    before.into_iter().chain(shown.chars()).chain(after).collect()
}

#[cfg(test)]
mod tests {
    use super::super::rewrite;
    use super::*;

    const LONG: &str = "One two three four five six seven eight nine ten. The migration was blocked by a \
        lock on the orders table. Eleven twelve thirteen fourteen fifteen sixteen.";

    #[test]
    fn a_text_that_fits_is_shown_whole() {
        assert_eq!(rewrite("lock").finder().excerpt("a lock", 6), "a lock");
        assert_eq!(rewrite("lock").finder().excerpt("ein Schloß", 10), "ein Schloß");
        assert_eq!(beginning("abc", 3), "abc");
    }

    #[test]
    fn the_passage_with_most_words_of_the_query_is_shown_with_marks_where_it_is_cut() {
        let shown = rewrite("what locked the orders table?").finder().excerpt(LONG, 60);
        assert!(shown.contains("lock on the orders table"), "{shown}");
        assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        assert!(shown.chars().count() <= 60, "{shown}");
        let first = rewrite("two").finder().excerpt(LONG, 40);
        assert!(first.starts_with("One two") && first.ends_with('…'), "{first}");
        let last = rewrite("sixteen").finder().excerpt(LONG, 40);
        assert!(last.starts_with('…') && last.ends_with("sixteen."), "{last}");
    }

    #[test]
    fn a_text_without_a_word_of_the_query_is_shown_from_its_beginning() {
        let shown = rewrite("zebra").finder().excerpt(LONG, 30);
        assert_eq!(shown, beginning(LONG, 30));
        assert!(shown.starts_with("One two") && shown.ends_with('…'), "{shown}");
        assert_eq!(shown.chars().count(), 30);
    }

    #[test]
    fn any_script_and_any_size_gives_at_most_that_many_characters() {
        let texts = ["é".repeat(500), "数据库".repeat(90), "a ".repeat(400), "x".repeat(1_000)];
        for text in texts {
            for query in ["é", "数据", "a", "x"] {
                for max in [1, 2, 3, 10, 120] {
                    let shown = rewrite(query).finder().excerpt(&text, max);
                    assert!(shown.chars().count() <= max, "{query} {max}: {shown}");
                }
            }
        }
    }
}
