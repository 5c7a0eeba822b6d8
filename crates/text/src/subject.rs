//! The words of a statement that say what it is about. Their stems are kept as hashes: statements are compared and
//! remembered without the words of their texts.

use crate::lexicon::Lists;
use crate::{other_forms, stem, words};

/// The hash of a stem or of an amount.
pub(crate) type WordHash = u32;

pub(crate) fn hash(word: &str) -> WordHash {
    let add = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = word.bytes().fold(0x811c_9dc5, add);
    hash ^ (hash >> 15)
}

/// A set of words by their hashes, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WordSet(Box<[WordHash]>);

impl WordSet {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(&self, word: WordHash) -> bool {
        self.0.binary_search(&word).is_ok()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = WordHash> {
        self.0.iter().copied()
    }

    /// The words that both sets have.
    pub(crate) fn shared(&self, other: &WordSet) -> impl Iterator<Item = WordHash> {
        self.iter().filter(|word| other.contains(*word))
    }

    pub(crate) fn is_subset(&self, of: &WordSet) -> bool {
        self.iter().all(|word| of.contains(word))
    }
}

impl From<Vec<WordHash>> for WordSet {
    fn from(mut words: Vec<WordHash>) -> WordSet {
        words.sort_unstable();
        words.dedup();
        WordSet(words.into())
    }
}

impl FromIterator<WordHash> for WordSet {
    fn from_iter<T: IntoIterator<Item = WordHash>>(words: T) -> WordSet {
        words.into_iter().collect::<Vec<_>>().into()
    }
}

/// The stems of the words that can name a subject: no short words, numbers, stop words or words of
/// deciding.
pub(crate) fn subject(text: &str) -> WordSet {
    let mut stems = Stems::default();
    words::words(text).filter_map(|(_, word)| stems.telling(word)).collect()
}

/// Takes the stems of words, in one buffer.
#[derive(Default)]
pub(crate) struct Stems(String);

impl Stems {
    /// The stem of a word that can name a subject; `None` for other words.
    pub(crate) fn telling(&mut self, word: &str) -> Option<WordHash> {
        self.of_joined(word, "")
    }

    /// The stem of two words, written as one, that can name a subject; `None` for other words.
    pub(crate) fn of_joined(&mut self, first: &str, second: &str) -> Option<WordHash> {
        let Stems(word) = self;
        word.clear();
        for part in [first, second] {
            match part.is_ascii() {
                true => word.extend(part.bytes().map(|byte| char::from(byte.to_ascii_lowercase()))),
                false => word.push_str(&words::fold(part)),
            }
        }
        let tells = word.len() > 2
            && !word.starts_with(|c: char| c.is_ascii_digit())
            && !Lists::of(word).any(Lists::NO_SUBJECT);
        tells.then(|| {
            stem::reduce(word);
            hash(other_forms::long_form(word).unwrap_or(word))
        })
    }
}
