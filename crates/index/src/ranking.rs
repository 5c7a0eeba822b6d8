//! Passages in ranked order. A search may score very many and read only a few, so they are sorted a part at a
//! time.

use std::cmp::Ordering;

use crate::Passages;

/// Passages that are sorted at a time.
const PART: usize = 4_096;

/// Which documents are returned if there are more than the limit, and in which order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Those with the highest score.
    #[default]
    Best,
    Newest,
    /// Those with the highest score, and the newest: recency may count for more than the words.
    BestAndNewest,
}

/// A passage and its score.
#[derive(Clone, Copy)]
pub struct Scored {
    pub passage: usize,
    pub score: f64,
}

impl Scored {
    /// A passage with a score of 0.
    pub fn nothing(passage: usize) -> Scored {
        Scored { passage, score: 0.0 }
    }
}

/// Passages in ranked order, sorted as they are taken.
pub struct Ranking<'p> {
    passages: &'p Passages,
    order: Order,
    /// The next passages, the best at the end; `rest` has the ones after these, unsorted.
    first: Vec<Scored>,
    rest: Vec<Scored>,
    /// Passages that rank after all others, see `put_last`.
    last: Vec<Scored>,
}

impl<'p> Ranking<'p> {
    /// Each passage may be in `scored` only once.
    pub fn new(passages: &'p Passages, order: Order, scored: Vec<Scored>) -> Ranking<'p> {
        Ranking { passages, order, first: Vec::new(), rest: scored, last: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.first.is_empty() && self.rest.is_empty() && self.last.is_empty()
    }

    /// Ranks some of the passages after all others.
    pub fn put_last(&mut self, is_last: impl Fn(&Scored) -> bool) {
        self.rest.append(&mut self.first);
        self.last.extend(self.rest.extract_if(.., |one| is_last(one)));
    }

    /// The next `count` passages.
    pub fn take(&mut self, count: usize) -> Vec<Scored> {
        let mut taken = Vec::new();
        while taken.len() < count {
            match self.first.pop() {
                Some(next) => taken.push(next),
                None if self.is_empty() => break,
                None => self.put_in_order(),
            }
        }
        taken
    }

    fn put_in_order(&mut self) {
        if self.rest.is_empty() {
            self.rest.append(&mut self.last);
        }
        let (passages, order) = (self.passages, self.order);
        let compare = |a: &Scored, b: &Scored| compare(passages, order, a, b);
        let behind = self.rest.len().saturating_sub(PART);
        if behind > 0 {
            self.rest.select_nth_unstable_by(behind, compare);
        }
        self.first = self.rest.split_off(behind);
        self.first.sort_unstable_by(compare);
    }
}

/// Which of two passages ranks higher; if they are equal, the newer one.
fn compare(passages: &Passages, order: Order, a: &Scored, b: &Scored) -> Ordering {
    match order {
        Order::Best | Order::BestAndNewest => {
            a.score.total_cmp(&b.score).then(a.passage.cmp(&b.passage))
        }
        Order::Newest => {
            let place = |one: &Scored| (passages.at(one.passage), passages.doc(one.passage));
            place(a).cmp(&place(b)).then(a.passage.cmp(&b.passage))
        }
    }
}

/// Every passage once, with its scores added up, in order of the passages.
pub fn added_up(mut scored: Vec<Scored>) -> Vec<Scored> {
    // Scores of words are in order and those of pairs in reverse order: the sort merges such runs.
    scored.sort_by_key(|one| one.passage);
    scored.dedup_by(|other, first| {
        let is_same = other.passage == first.passage;
        if is_same {
            first.score += other.score;
        }
        is_same
    });
    scored
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(of: &[(usize, f64)]) -> Vec<Scored> {
        of.iter().map(|(passage, score)| Scored { passage: *passage, score: *score }).collect()
    }

    #[test]
    fn scores_of_a_passage_are_added_up_wherever_they_occur() {
        let words: Vec<(usize, f64)> = (0..1_000).map(|i| (3 * i, 1.0)).collect();
        let pairs = [(2_997, 0.5), (2_998, 0.25), (30, 0.5), (31, 0.25), (31, 0.25), (0, 0.5)];
        let more: Vec<(usize, f64)> = (500..600).map(|i| (3 * i, 0.125)).collect();
        for given in [words, Vec::new()] {
            let all: Vec<(usize, f64)> = given.iter().chain(&pairs).chain(&more).copied().collect();
            let mut expected = std::collections::BTreeMap::<usize, f64>::new();
            all.iter().for_each(|(passage, score)| *expected.entry(*passage).or_default() += score);
            let found = added_up(scored(&all));
            assert!(found.iter().map(|one| (one.passage, one.score)).eq(expected));
        }
    }
}
