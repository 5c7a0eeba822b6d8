//! Where a text contains what a query looks for, for marking it, and the same as reasons in words.

use std::collections::HashMap;
use std::ops::Range;

use super::Query;
use crate::stem::stem;
use crate::words;

/// Words that a reason names.
const NAMED_MAX: usize = 8;

/// The query's words as the index compares them.
struct Looks {
    /// Stems, with the place of the word in the query.
    whole: HashMap<String, usize>,
    beginnings: Vec<(String, usize)>,
}

impl Looks {
    fn of(query: &Query) -> Looks {
        let mut looks = Looks { whole: HashMap::new(), beginnings: Vec::new() };
        for (at, word) in query.words.iter().enumerate() {
            let folded = words::fold(word);
            let lone = folded.chars().count() == 1 && folded.chars().all(words::is_cjk);
            let begins = query.beginnings.contains(&at);
            if !begins {
                looks.whole.entry(stem(&folded)).or_insert(at);
            }
            if lone || begins {
                looks.beginnings.push((folded, at));
            }
        }
        looks
    }

    /// Which of the query's words this one is.
    fn find(&self, word: &str) -> Option<usize> {
        // Most words of a text begin otherwise than those of the query, and need no stem.
        let begins_alike = |byte: u8| {
            let beginnings = self.beginnings.iter().map(|(beginning, _)| beginning);
            self.whole.keys().chain(beginnings).any(|known| known.bytes().next() == Some(byte))
        };
        if words::first_byte(word).is_some_and(|byte| !begins_alike(byte)) {
            return None;
        }
        let folded = words::fold(word);
        let begins = |(beginning, _): &&(String, usize)| folded.starts_with(beginning.as_str());
        let beginning = || self.beginnings.iter().find(begins).map(|(_, at)| *at);
        self.whole.get(&stem(&folded)).copied().or_else(beginning)
    }

    /// Everything in the text that the query looks for: where it stands, and which word it is.
    fn all(&self, text: &str) -> Vec<(Range<usize>, usize)> {
        let mut found = Vec::new();
        for (begin, word) in words::words(text) {
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
    /// All matches of the query in the text, in order: the range, and the index of the word in the query.
    pub(super) fn found_in(&self, text: &str) -> Vec<(Range<usize>, usize)> {
        Looks::of(self).all(text)
    }

    /// The ranges of the text that match the query, in order and without overlaps.
    pub fn matched(&self, text: &str) -> Vec<Range<usize>> {
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
    /// stand side by side in both. Nothing if it contains no word of the query.
    pub fn reasons(&self, text: &str) -> Vec<String> {
        let mut which: Vec<usize> =
            self.found_in(text).into_iter().map(|(_, which)| which).collect();
        which.sort_unstable();
        which.dedup();
        let named: Vec<&str> = which
            .iter()
            .take(NAMED_MAX)
            .filter_map(|at| self.words.get(*at))
            .map(String::as_str)
            .collect();
        if named.is_empty() {
            return Vec::new();
        }
        let more = which.len().saturating_sub(NAMED_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let mut reasons = vec![format!("matched: {}{more}", named.join(", "))];
        let stems: Vec<String> = stems(words::words(text).map(|(_, word)| word));
        let pairs = self.pairs.iter().map(|pair| pair.as_slice());
        let phrases = pairs.chain(self.phrases.iter().map(Vec::as_slice));
        for phrase in phrases {
            let wanted = self::stems(phrase.iter().map(String::as_str));
            if stems.windows(wanted.len()).any(|here| here == wanted) {
                reasons.push(format!("phrase: \"{}\"", phrase.join(" ")));
            }
        }
        reasons
    }
}

fn stems<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    words.map(|word| stem(&words::fold(word))).collect()
}
