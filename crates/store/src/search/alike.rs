//! How similar two texts are, and whether one is a duplicate of the other.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use meaning::{SpecificVector, Vector};
use model::limits;
use text::{stem, words};

use crate::commits::hash::is_hash;

/// Two texts are duplicates if their embeddings are at least this similar and they share this part of their
/// words. Either measure alone errs: texts with similar embeddings may say the opposite, and texts with the same words
/// may mean different things.
const DUPLICATE_MEANING: f64 = 0.9;
const DUPLICATE_OVERLAP: f64 = 0.85;
/// Texts with a lower share of equal words are not compared further. Inflected words count as different here, so it is
/// below [`DUPLICATE_OVERLAP`].
const ROUGH_OVERLAP: f64 = 0.6;
/// Stems of words that negate a statement; `t` is the rest of `don't`.
const NEGATIONS: [&str; 18] = [
    "not", "no", "never", "none", "nor", "neither", "nobodi", "noth", "without", "cannot", "t",
    "dont", "cant", "wont", "不", "没", "無", "未",
];
/// If comparing the word order of two texts takes more comparisons of words than this, the orders count as different.
const ORDER_STEPS_MAX: usize = 1_000_000;

/// The most words of a quotation that counts as a value.
const QUOTED_VALUE_WORDS: usize = 3;

/// How similar two texts are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alike {
    /// The cosine of the two, at least 0.
    pub meaning: f64,
    /// The distinct words that both texts have, as a share of all distinct words of the two, stop words included.
    pub overlap: f64,
    /// Whether both have their common words in the same order, as many negations, and the same values. False for texts
    /// that are not similar enough to compute this.
    pub in_order: bool,
}

impl Alike {
    pub fn of(a: &str, b: &str) -> Alike {
        Said::of(a).alike(&Said::of(b))
    }

    /// Whether one of the two texts is not worth keeping beside the other.
    pub fn is_duplicate(&self) -> bool {
        self.is_near() && self.in_order
    }

    fn is_near(&self) -> bool {
        self.meaning >= DUPLICATE_MEANING && self.overlap >= DUPLICATE_OVERLAP
    }
}

/// The meaning of a text that is compared with several others, without the direction that all texts about software share:
/// two unrelated ones would otherwise be similar, too.
pub struct SpecificMeaning(Option<SpecificVector>);

impl SpecificMeaning {
    pub fn of(text: &str) -> SpecificMeaning {
        SpecificMeaning(Vector::of(text).as_ref().map(SpecificVector::of))
    }

    /// The similarity to the nearest passage of some documents, from 0 to 1.
    pub fn similarity<'d>(&self, documents: impl Iterator<Item = &'d str>) -> f64 {
        let Some(own) = &self.0 else { return 0.0 };
        let passages = documents.flat_map(text::passages::passages).filter_map(Vector::of);
        passages.map(|other| own.cosine(&SpecificVector::of(&other))).fold(0.0, f64::max)
    }
}

/// A text that is compared with several others. Its words are computed when they are first needed.
pub struct ComparedText(Said<'static>);

impl ComparedText {
    pub fn new(text: String) -> ComparedText {
        ComparedText(Said::without_vector(Cow::Owned(text)))
    }

    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The distinct words that both texts have, as a share of all distinct words of the two.
    pub fn overlap(&self, other: &str) -> f64 {
        self.0.overlap(&Said::without_vector(Cow::Borrowed(other)))
    }

    /// Whether one of the two is not worth keeping beside the other, by the measure of [`Alike`]. A text without words is
    /// no duplicate.
    pub fn is_duplicate_of(&self, other: &ComparedText) -> bool {
        // The vectors cost most, and few texts share nearly all words.
        !self.0.rough().is_empty()
            && self.0.repeats(&other.0)
            && (self.text() == other.text() || Alike::of(self.text(), other.text()).is_duplicate())
    }
}

/// The hashes of the different words of a text, sorted. Of a word with a non-ASCII character, each character is hashed:
/// some scripts write words without spaces.
fn rough_words(text: &str) -> Vec<u64> {
    let lower = text.to_lowercase();
    let mut hashes = Vec::new();
    for word in lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if word.is_ascii() {
            hashes.push(hash(word));
        } else {
            let mut letter = [0; 4];
            hashes.extend(word.chars().map(|c| hash(c.encode_utf8(&mut letter))));
        }
    }
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

fn hash(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

/// The hashes that both sorted lists have, as a share of all distinct hashes of the two.
fn shared_hashes(own: &[u64], others: &[u64]) -> f64 {
    let (mut common, mut left) = (0, others);
    for one in own {
        let smaller = left.iter().take_while(|other| *other < one).count();
        left = left.get(smaller..).unwrap_or_default();
        common += usize::from(left.first() == Some(one));
    }
    let different = own.len() + others.len() - common;
    if different == 0 { 0.0 } else { common as f64 / different as f64 }
}

/// The parts of a text that are compared.
pub(super) struct Said<'t> {
    pub(super) vector: Option<Vector>,
    /// Computed when first needed: most duplicates are equal texts, which need none of these.
    sets: OnceCell<WordSets>,
    sequence: OnceCell<Vec<u64>>,
    /// Hashes of the words. They are cheaper than the sets and differ for most pairs of texts.
    rough: OnceCell<Vec<u64>>,
    text: Cow<'t, str>,
    /// The byte at which the beginning ends.
    beginning: usize,
}

impl<'t> Said<'t> {
    pub(super) fn of(text: &'t str) -> Said<'t> {
        let said = Said::without_vector(Cow::Borrowed(text));
        Said { vector: Vector::of(said.beginning()), ..said }
    }

    /// For texts that are known to be near in meaning.
    pub(super) fn without_vector(text: Cow<'t, str>) -> Said<'t> {
        let beginning = head(&text, limits::SIMILAR_TEXT_CHARS).len();
        let (sets, sequence, rough) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Said { vector: None, sets, sequence, rough, beginning, text }
    }

    pub(super) fn alike(&self, other: &Said<'_>) -> Alike {
        let meaning = match (&self.vector, &other.vector) {
            (Some(own), Some(other)) => meaning::cosine(own, other).max(0.0),
            _ => 0.0,
        };
        let alike =
            Alike { meaning: meaning.into(), overlap: self.overlap(other), in_order: false };
        Alike { in_order: alike.is_near() && self.is_in_order_of(other), ..alike }
    }

    /// Whether one of two texts that are near in meaning is not worth keeping beside the other.
    pub(super) fn repeats(&self, other: &Said<'_>) -> bool {
        self.text == other.text
            || (self.may_overlap(other)
                && self.overlap(other) >= DUPLICATE_OVERLAP
                && self.is_in_order_of(other))
    }

    /// The parts of the text between white space.
    pub(super) fn words_as_written(&self) -> impl Iterator<Item = &str> {
        self.text.split_whitespace()
    }

    fn may_overlap(&self, other: &Said<'_>) -> bool {
        let (own, others) = (self.rough(), other.rough());
        own.is_empty() || shared_hashes(own, others) >= ROUGH_OVERLAP
    }

    fn rough(&self) -> &[u64] {
        self.rough.get_or_init(|| rough_words(self.beginning()))
    }

    /// The share of common words, whole or with their parts, whichever is higher. With parts, `get_user`
    /// equals `get user`; but `SQLite` has parts and `sqlite` has none, so these two are equal as whole
    /// words only.
    fn overlap(&self, other: &Said<'_>) -> f64 {
        let (own, others) = (self.sets(), other.sets());
        let words = shared_hashes(&own.words, &others.words);
        words.max(shared_hashes(&own.stems, &others.stems))
    }

    fn sets(&self) -> &WordSets {
        self.sets.get_or_init(|| WordSets::of(self.beginning()))
    }

    fn is_in_order_of(&self, other: &Said<'_>) -> bool {
        in_order(self.sequence(), other.sequence())
            && has_equal_values(self.beginning(), other.beginning())
            && folded(self.rest()).eq(folded(other.rest()))
    }

    fn sequence(&self) -> &[u64] {
        self.sequence.get_or_init(|| sequence(self.beginning()))
    }

    fn beginning(&self) -> &str {
        self.text.get(..self.beginning).unwrap_or_default()
    }

    fn rest(&self) -> &str {
        self.text.get(self.beginning..).unwrap_or_default()
    }
}

/// Hashes of a text's words, sorted and without duplicates: `words` has the stems of whole words,
/// `stems` also those of the parts of compound words.
struct WordSets {
    words: Vec<u64>,
    stems: Vec<u64>,
}

impl WordSets {
    fn of(text: &str) -> WordSets {
        let hidden = words::hidden_words(text);
        let of = |text: &str| words::words(text).map(|(_, word)| hash(&stemmed(word))).collect();
        let sorted = |mut hashes: Vec<u64>| {
            hashes.sort_unstable();
            hashes.dedup();
            hashes
        };
        let words: Vec<u64> = sorted(of(text));
        let mut stems: Vec<u64> = of(&hidden);
        stems.extend(&words);
        WordSets { words, stems: sorted(stems) }
    }
}

/// The beginning of a text.
pub(super) fn head(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}

fn stemmed(word: &str) -> String {
    stem::stemmed(words::fold(word))
}

fn folded(text: &str) -> impl Iterator<Item = String> + '_ {
    words::words(text).map(|(_, word)| words::fold(word))
}

/// The words of a text in order, as hashes of their stems; in scripts without spaces, its characters. The last bit
/// says whether the word is a negation.
fn sequence(text: &str) -> Vec<u64> {
    let hashed = |word: &str| hash(word) & !1 | u64::from(NEGATIONS.contains(&word));
    let mut sequence = Vec::new();
    for stretch in words::words(text).flat_map(|(_, word)| words::stretches(word)) {
        if stretch.cjk {
            let mut letter = [0; 4];
            sequence.extend(stretch.text.chars().map(|c| hashed(c.encode_utf8(&mut letter))));
        } else {
            sequence.push(hashed(&stemmed(stretch.text)));
        }
    }
    sequence
}

/// Whether the common words have the same order in both, and both have as many negations.
fn in_order(a: &[u64], b: &[u64]) -> bool {
    let denied = |words: &[u64]| words.iter().filter(|word| **word & 1 == 1).count();
    // The common prefix and suffix are in order.
    let begin = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.get(begin..).unwrap_or_default(), b.get(begin..).unwrap_or_default());
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.get(..a.len() - end), b.get(..b.len() - end));
    let (a, b) = (a.unwrap_or_default(), b.unwrap_or_default());
    denied(a) == denied(b)
        && a.len().saturating_mul(b.len()) <= ORDER_STEPS_MAX
        && longest_common(a, b) == in_both(a, b)
}

/// Whether two texts with nearly the same words state the same values: equal numbers in equal order and, if they
/// quote equally many values, equal ones. One text may write a value without quotes that the other one quotes.
fn has_equal_values(a: &str, b: &str) -> bool {
    let (own, others) = (quoted_values(a), quoted_values(b));
    numbers(a).eq(numbers(b)) && (own.len() != others.len() || own == others)
}

/// The quotations that are values: a few words, in lower case and without punctuation around them. A longer one is a
/// sentence, which is compared by its words.
fn quoted_values(text: &str) -> Vec<String> {
    let bare = quotations(text).map(|quoted| quoted.trim_matches(|c: char| !c.is_alphanumeric()));
    bare.filter(|value| value.split_whitespace().count() <= QUOTED_VALUE_WORDS)
        .map(str::to_lowercase)
        .collect()
}

/// The parts of a text that begin with a digit, without the hashes of commits.
fn numbers(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    let has_number = |part: &&str| {
        part.starts_with(|c: char| c.is_ascii_digit())
            && !(is_hash(part) && part.contains(|c: char| c.is_ascii_alphabetic()))
    };
    parts.filter(has_number).map(str::to_lowercase)
}

/// The texts between two equal quotation marks on one line. An apostrophe inside a word is none.
fn quotations(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        ['"', '`', '\''].into_iter().flat_map(move |mark| {
            let is_mark = move |(at, _): &(usize, &str)| {
                let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                let (before, behind) = line.split_at(*at);
                !is_letter(before.chars().next_back()) || !is_letter(behind.chars().nth(1))
            };
            let marks: Vec<usize> =
                line.match_indices(mark).filter(is_mark).map(|(at, _)| at).collect();
            let pairs: Vec<&str> =
                (marks.chunks_exact(2)).filter_map(|two| line.get(two[0] + 1..two[1])).collect();
            pairs
        })
    })
}

/// How many words both have, each as often as both have it.
fn in_both(a: &[u64], b: &[u64]) -> usize {
    let mut left: HashMap<u64, usize> = HashMap::new();
    for word in a {
        *left.entry(*word).or_default() += 1;
    }
    let mut has = |word: &&u64| match left.get_mut(word) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    b.iter().filter(|word| has(word)).count()
}

/// The length of the longest common subsequence.
fn longest_common(a: &[u64], b: &[u64]) -> usize {
    // For each prefix of `b`, the longest subsequence that it shares with the words of `a` so far.
    let mut lengths = vec![0_usize; b.len() + 1];
    for word in a {
        let mut diagonal = 0;
        let mut left = 0;
        for (length, other) in lengths.iter_mut().skip(1).zip(b) {
            let above = *length;
            *length = if word == other { diagonal + 1 } else { above.max(left) };
            (diagonal, left) = (above, *length);
        }
    }
    lengths.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_another_number_or_quotation_state_other_values() {
        for (a, b) in [
            ("FREE_UNTIL = 48.hours", "FREE_UNTIL = 72.hours"),
            ("the page is called \"Berths\"", "the page is called \"Slips\""),
            ("mode = 'fast'", "mode = 'safe'"),
        ] {
            assert!(!has_equal_values(a, b), "{a} | {b}");
        }
        for (a, b) in [
            ("FREE_UNTIL = 48.hours", "FREE_UNTIL  =  48.Hours"),
            ("committed as 1a2b3c4", "committed as 9f8e7d6"),
            ("don't run `make`", "don't run make"),
            ("it isn't Bob's", "it isn't Ann's"),
            ("mode = 'Fast'", "mode = 'fast.'"),
            ("\"Run the migrations first\"", "\"run the migration first\""),
        ] {
            assert!(has_equal_values(a, b), "{a} | {b}");
        }
    }
}
