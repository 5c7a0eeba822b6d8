//! Passages: the pieces of a document, about a hundred words each, that are found and ranked.

use std::ops::Range;

use crate::words;

/// Words of a passage, unless a single sentence has more.
const PASSAGE_WORDS: usize = 100;
/// Words of a sentence above which it is cut.
const SENTENCE_WORDS_MAX: usize = 200;

/// The passages of a document in their order; none if it has no words.
pub fn passages(document: &str) -> Vec<&str> {
    let mut passages = Vec::new();
    let mut open: Option<(Range<usize>, usize)> = None;
    for (range, count) in sentences(document).into_iter().flat_map(|range| cut(document, range)) {
        open = Some(match open {
            Some((passage, words)) if words + count <= PASSAGE_WORDS => {
                (passage.start..range.end, words + count)
            }
            full => {
                passages.extend(full.map(|(passage, _)| passage));
                (range, count)
            }
        });
    }
    passages.extend(open.map(|(passage, _)| passage));
    passages.into_iter().filter_map(|range| document.get(range)).collect()
}

/// The ranges of sentences: a sentence ends with its line, or with white space after `.`, `!` or `?`.
fn sentences(document: &str) -> Vec<Range<usize>> {
    let mut sentences = Vec::new();
    let mut begin = 0;
    let mut before = ' ';
    for (at, c) in document.char_indices() {
        if c == '\n' || (c.is_whitespace() && matches!(before, '.' | '!' | '?')) {
            sentences.push(begin..at);
            begin = at + c.len_utf8();
        }
        before = c;
    }
    sentences.push(begin..document.len());
    sentences
}

/// The sentence with its number of words, or its pieces if it is too long; nothing if it has no
/// words. It is cut at white space, so that a path or a name stays whole and is found as one.
fn cut(document: &str, sentence: Range<usize>) -> Vec<(Range<usize>, usize)> {
    let text = document.get(sentence.clone()).unwrap_or_default();
    let count = words::count(text);
    if count <= SENTENCE_WORDS_MAX {
        return Vec::from_iter((count > 0).then_some((sentence, count)));
    }
    let mut pieces: Vec<(Range<usize>, usize)> = Vec::new();
    let mut begin = sentence.start;
    for token in text.split_inclusive(char::is_whitespace) {
        let range = begin..begin + token.len();
        begin = range.end;
        for (range, count) in cut_token(token, range) {
            match pieces.last_mut().filter(|(_, words)| *words + count <= PASSAGE_WORDS) {
                Some((piece, words)) => (piece.end, *words) = (range.end, *words + count),
                None => pieces.push((range, count)),
            }
        }
    }
    pieces
}

/// A token, which has no white space inside, with its number of words; or its pieces, if it is far too long
/// for a name.
fn cut_token(token: &str, range: Range<usize>) -> Vec<(Range<usize>, usize)> {
    let count = words::count(token);
    if count <= SENTENCE_WORDS_MAX {
        return vec![(range, count)];
    }
    let begins = words::words(token).step_by(PASSAGE_WORDS).skip(1);
    let begins: Vec<usize> =
        [range.start].into_iter().chain(begins.map(|(at, _)| range.start + at)).collect();
    let ends = begins.iter().skip(1).copied().chain([range.end]);
    let counts = (0..count).step_by(PASSAGE_WORDS).map(|from| (count - from).min(PASSAGE_WORDS));
    begins.iter().copied().zip(ends).map(|(begin, end)| begin..end).zip(counts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(words: usize) -> String {
        format!("{}.", vec!["word"; words].join(" "))
    }

    fn counts(document: &str) -> Vec<usize> {
        passages(document).into_iter().map(words::count).collect()
    }

    #[test]
    fn a_short_document_is_one_passage_and_one_without_words_is_none() {
        assert_eq!(
            passages("cargo test failed. See the log!\nThen fix it"),
            ["cargo test failed. See the log!\nThen fix it"]
        );
        assert_eq!(passages(""), [""; 0]);
        assert_eq!(passages(" … \n--- !\n"), [""; 0]);
        assert_eq!(counts(&sentence(100)), [100]);
    }

    #[test]
    fn a_passage_is_filled_with_whole_sentences_up_to_a_hundred_words() {
        let document = [40, 40, 20, 30, 90].map(sentence).join(" ");
        assert_eq!(counts(&document), [100, 30, 90]);
        let lines = [60, 60, 60].map(sentence).join("\n");
        assert_eq!(counts(&lines), [60, 60, 60]);
    }

    #[test]
    fn a_sentence_is_cut_only_if_it_is_longer_than_two_hundred_words() {
        assert_eq!(counts(&sentence(200)), [200]);
        assert_eq!(counts(&sentence(201)), [100, 100, 1]);
        assert_eq!(counts(&format!("{} {}", sentence(350), sentence(50))), [100, 100, 100, 100]);
    }

    #[test]
    fn a_long_line_is_cut_between_names_and_never_through_one() {
        let path = "src/auth/login/form.rs";
        for before in 95..105 {
            let line = format!("{} {path} {}", vec!["w"; before].join(" "), "x ".repeat(150));
            let whole = passages(&line).into_iter().filter(|passage| passage.contains(path));
            assert_eq!(whole.count(), 1, "{before}");
            assert!(counts(&line).iter().all(|count| *count <= 100), "{before}");
        }
        // A token that is too long for a name is cut all the same.
        let endless = vec!["w"; 350].join("/");
        assert_eq!(counts(&format!("a {endless} b")), [1, 100, 100, 100, 51]);
        assert_eq!(counts(&format!("{} {}", vec!["w"; 150].join("/"), "x ".repeat(60))), [150, 60]);
    }

    #[test]
    fn no_word_is_lost_and_versions_are_not_ends_of_sentences() {
        let document = format!("v1.2.3 {} a.b\r\n\u{2028}{}", sentence(99), sentence(300));
        let joined: Vec<&str> = passages(&document);
        let of_passages = joined.iter().flat_map(|passage| words::words(passage)).map(|w| w.1);
        assert!(of_passages.eq(words::words(&document).map(|w| w.1)));
    }
}
