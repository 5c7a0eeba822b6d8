//! When a text counts as being about another: the words that say something, and the least similarity.

use std::collections::BTreeSet;

use text::{terms, words};

/// The similarity from which on two texts may be about the same thing.
pub(crate) const SIMILAR: f64 = 0.4;

/// The stems of the words of a text that say something.
pub(crate) fn content_terms(text: &str) -> BTreeSet<String> {
    let said = words::words(text).filter(|(_, word)| !words::is_stop(&word.to_lowercase()));
    said.filter_map(|(_, word)| terms::term(word)).collect()
}
