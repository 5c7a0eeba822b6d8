//! The matches of a query in a text: their ranges, to mark them, and the reasons for a hit in words.

use std::ops::Range;

use super::{Form, Query};
use crate::stem::{stem, stemmed};
use crate::words;

/// Words that a reason names.
const NAMED_MAX: usize = 8;

/// A query in the form in which texts are searched for it. Its words are reduced to stems once for all texts.
pub struct Finder<'q> {
    query: &'q Query,
    looks: Looks,
    /// Words that are adjacent in the query, and their stems.
    phrases: Vec<(&'q [String], Vec<String>)>,
}

/// The query's words as the index compares them.
struct Looks {
    /// Stems, with the place of the word in the query.
    whole: Vec<(String, usize)>,
    beginnings: Vec<(String, usize)>,
    /// For each byte, whether a stem or a prefix begins with it.
    first_bytes: [bool; 256],
}

impl Looks {
    fn of(query: &Query) -> Looks {
        let (whole, beginnings, first_bytes) = (Vec::new(), Vec::new(), [false; 256]);
        let mut looks = Looks { whole, beginnings, first_bytes };
        for (at, word) in query.words.iter().enumerate() {
            let folded = words::fold(word);
            let lone = folded.chars().count() == 1 && folded.chars().all(words::is_cjk);
            let begins = query.beginnings.contains(&at);
            if let Some(byte) = folded.bytes().next() {
                looks.first_bytes[usize::from(byte)] = true;
            }
            let stemmed = stem(&folded);
            if !begins && looks.whole.iter().all(|(known, _)| *known != stemmed) {
                looks.whole.push((stemmed, at));
            }
            if lone || begins {
                looks.beginnings.push((folded, at));
            }
        }
        for (word, term) in query.terms() {
            let at = query.words.iter().position(|known| known == word);
            if let (Some(at), Some(byte)) = (at, term.bytes().next())
                && query.form == Form::AnyTerm
                && looks.whole.iter().all(|(known, _)| *known != term)
            {
                looks.first_bytes[usize::from(byte)] = true;
                looks.whole.push((term, at));
            }
        }
        looks
    }

    /// The index of the query's word that a word of the text matches.
    fn find(&self, word: &str) -> Option<usize> {
        // Most words of a text begin with another letter than those of the query, and need no stem.
        if words::first_byte(word).is_some_and(|byte| !self.first_bytes[usize::from(byte)]) {
            return None;
        }
        let folded = words::fold(word);
        let begins = |(beginning, _): &&(String, usize)| folded.starts_with(beginning.as_str());
        let beginning = || self.beginnings.iter().find(begins).map(|(_, at)| *at);
        let stemmed = stem(&folded);
        let whole = self.whole.iter().find(|(known, _)| *known == stemmed).map(|(_, at)| *at);
        whole.or_else(beginning)
    }

    /// All matches in the text: the range of each, and the index of its word in the query. With `first`, the scan
    /// stops after the first word that matches.
    fn all(&self, text: &str, first: bool) -> Vec<(Range<usize>, usize)> {
        let mut found = Vec::new();
        for (begin, word) in words::words(text) {
            if first && !found.is_empty() {
                break;
            }
            for stretch in words::stretches(word) {
                let begin = begin + stretch.at;
                let whole = (!stretch.cjk).then(|| self.find(stretch.text)).flatten();
                if let Some(which) = whole {
                    found.push((begin..begin + stretch.text.len(), which));
                    continue;
                }
                let pieces: Vec<(usize, &str)> = if stretch.cjk {
                    words::bigrams(stretch.text).collect()
                } else {
                    words::parts(stretch.text)
                };
                for (at, piece) in pieces {
                    let range = begin + at..begin + at + piece.len();
                    found.extend(self.find(piece).map(|which| (range, which)));
                }
            }
        }
        found
    }
}

impl Query {
    pub fn finder(&self) -> Finder<'_> {
        let pairs = self.pairs.iter().map(|pair| pair.as_slice());
        let phrases = pairs.chain(self.phrases.iter().map(Vec::as_slice));
        let stems =
            |phrase: &[String]| phrase.iter().map(|word| stem(&words::fold(word))).collect();
        let phrases = phrases.map(|phrase| (phrase, stems(phrase))).collect();
        Finder { query: self, looks: Looks::of(self), phrases }
    }

    /// The ranges of the text that match the query, in order and without overlaps.
    pub fn matched(&self, text: &str) -> Vec<Range<usize>> {
        self.finder().matched(text)
    }
}

impl Finder<'_> {
    /// All matches of the query in the text, in order: the range, and the index of the word in the query.
    pub(super) fn found_in(&self, text: &str) -> Vec<(Range<usize>, usize)> {
        self.looks.all(text, false)
    }

    /// Whether the text contains a word of the query.
    pub fn is_in(&self, text: &str) -> bool {
        !self.looks.all(text, true).is_empty()
    }

    /// The ranges of the text that match the query, in order and without overlaps.
    fn matched(&self, text: &str) -> Vec<Range<usize>> {
        let mut merged: Vec<Range<usize>> = Vec::new();
        for (range, _) in self.found_in(text) {
            match merged.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        merged
    }

    /// Why the text is a hit: `matched: auth, token`, and `phrase: "docker compose"` for words that
    /// are adjacent in both. Empty if it contains no word of the query.
    pub fn reasons(&self, text: &str) -> Vec<String> {
        let mut which: Vec<usize> =
            self.found_in(text).into_iter().map(|(_, which)| which).collect();
        which.sort_unstable();
        which.dedup();
        let named: Vec<&str> = which
            .iter()
            .take(NAMED_MAX)
            .filter_map(|at| self.query.words.get(*at))
            .map(String::as_str)
            .collect();
        if named.is_empty() {
            return Vec::new();
        }
        let more = which.len().saturating_sub(NAMED_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let mut reasons = vec![format!("matched: {}{more}", named.join(", "))];
        let mut begins = [false; 256];
        for byte in
            self.phrases.iter().flat_map(|(_, stems)| stems).filter_map(|stem| stem.bytes().next())
        {
            begins[usize::from(byte)] = true;
        }
        // Words that begin with another letter than all of these are in no phrase, and need no stem.
        let stems: Vec<String> = words::words(text)
            .map(|(_, word)| match words::first_byte(word) {
                Some(byte) if !begins[usize::from(byte)] => String::new(),
                _ => stemmed(words::fold(word)),
            })
            .collect();
        for (phrase, wanted) in &self.phrases {
            if stems.windows(wanted.len()).any(|here| here == wanted) {
                reasons.push(format!("phrase: \"{}\"", phrase.join(" ")));
            }
        }
        reasons
    }
}
