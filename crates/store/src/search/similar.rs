//! What is like a text: the records nearest to it in words and meaning, and which of them say the same.

use std::collections::HashSet;

use meaning::Vector;
use model::{OpError, limits};
use text::query::{self, Form};
use text::{stem, words};

use super::{Candidates, Conditions, Effort, Filter, Found, Hit, Order, Recipe};
use crate::passages;
use crate::tx::Rx;

/// Two texts say the same if they are at least so near in meaning and have this share of their words in
/// common. Either alone errs: what is near may say the opposite, and words may stand for other things.
const DUPLICATE_MEANING: f64 = 0.9;
const DUPLICATE_OVERLAP: f64 = 0.85;

/// A record that is like a text. Of its parts it has its own words and its meaning; where it stands does
/// not count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Similar {
    pub hit: Hit,
    pub alike: Alike,
}

/// How far two texts say the same, by their beginnings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alike {
    /// The cosine of the two, at least 0.
    pub meaning: f64,
    /// The share of the different words of both that both have, small words included.
    pub overlap: f64,
}

impl Alike {
    pub fn of(a: &str, b: &str) -> Alike {
        Said::of(a).alike(&Said::of(b))
    }

    /// Whether one of the two texts is not worth keeping beside the other.
    pub fn is_duplicate(&self) -> bool {
        self.meaning >= DUPLICATE_MEANING && self.overlap >= DUPLICATE_OVERLAP
    }
}

/// What is compared of a text.
struct Said {
    vector: Option<Vector>,
    stems: HashSet<String>,
}

impl Said {
    fn of(text: &str) -> Said {
        let text = beginning(text);
        let hidden = words::hidden_words(text);
        let stem = |word: &str| stem::stem(&words::fold(word));
        let mut stems: HashSet<String> = words::words(text).map(|(_, word)| stem(word)).collect();
        stems.extend(words::words(&hidden).map(|(_, part)| stem(part)));
        Said { vector: Vector::of(text), stems }
    }

    fn alike(&self, other: &Said) -> Alike {
        let meaning = match (&self.vector, &other.vector) {
            (Some(own), Some(other)) => meaning::cosine(own, other).max(0.0),
            _ => 0.0,
        };
        let common = self.stems.intersection(&other.stems).count();
        let different = self.stems.len() + other.stems.len() - common;
        let overlap = if different == 0 { 0.0 } else { common as f64 / different as f64 };
        Alike { meaning: meaning.into(), overlap }
    }
}

fn beginning(text: &str) -> &str {
    let end = text.char_indices().nth(limits::SIMILAR_TEXT_CHARS).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}

/// The records that are nearest to a text, the nearest first, by the words of its beginning and, unless
/// the recipe is without it, by what it means.
pub fn similar(
    rx: &Rx<'_>,
    recipe: Recipe,
    text: &str,
    filter: &Filter<'_>,
    limit: usize,
) -> Result<Vec<Similar>, OpError> {
    let query = query::any_of(beginning(text));
    if query.form == Form::Empty {
        return Ok(Vec::new());
    }
    let conditions = Conditions::of(rx, filter)?;
    let said = Said::of(text);
    let found = {
        let known = rx.passages()?;
        let mut found = Found::new(&known);
        found.with_words(rx, &query, &conditions, &Effort::default())?;
        let most = limit.max(limits::SEARCH_CANDIDATES);
        let hits = found.documents(rx, &conditions, Order::Best, most)?;
        let mut candidates = Candidates::new(&known, hits);
        if let Some(vector) = said.vector.as_ref().filter(|_| recipe == Recipe::Table) {
            candidates.compare(rx, &conditions, vector, true)?;
        }
        let mut ranked = candidates.ranked();
        ranked.truncate(limit);
        ranked
    };
    let mut similar = Vec::new();
    for hit in found {
        if let Some(other) = passages::text(rx, hit.id)? {
            similar.push(Similar { hit, alike: said.alike(&Said::of(&other)) });
        }
    }
    Ok(similar)
}
