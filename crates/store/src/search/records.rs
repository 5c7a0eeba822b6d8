//! Which documents fulfil a condition as a whole. The index knows passages, of which a long document has
//! several: what each part of the condition finds is put together here, document by document.

use std::time::Instant;

use model::OpError;
use text::query::{self, Condition};

use super::any_term::{self, Word};
use super::{Effort, Scored, is_interrupt};
use crate::catalogue::Passages;
use crate::deadline::{self, Deadline};
use crate::tx::Rx;

/// What a passage counts that has a phrase, a beginning of a word or words near each other, beside its words.
const OTHER_SCORE: f64 = 1.0;

/// Some of all documents.
#[derive(Default)]
pub(super) struct Documents {
    /// A bit for each, by its number.
    chosen: Vec<u64>,
    /// Of a document with a passage before this one it is not known whether it belongs here, unless it is
    /// chosen.
    known_from: usize,
}

/// Where the bit of a document is.
fn bit_of(doc: i64) -> (usize, u64) {
    let doc = usize::try_from(doc).unwrap_or(usize::MAX);
    (doc / 64, 1 << (doc % 64))
}

impl Documents {
    pub(super) fn has(&self, doc: i64) -> bool {
        let (at, bit) = bit_of(doc);
        self.chosen.get(at).is_some_and(|bits| bits & bit != 0)
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = i64> + '_ {
        (0_i64..).take(self.chosen.len() * 64).filter(|doc| self.has(*doc))
    }

    fn choose(&mut self, doc: Option<i64>) {
        let Some((at, bit)) = doc.map(bit_of) else { return };
        if let Some(bits) = self.chosen.get_mut(at) {
            *bits |= bit;
        }
    }

    fn leave_out(&mut self, doc: i64) {
        let (at, bit) = bit_of(doc);
        if let Some(bits) = self.chosen.get_mut(at) {
            *bits &= !bit;
        }
    }

    /// Puts both together.
    fn join(mut self, other: &Documents, both: impl Fn(u64, u64) -> u64) -> Documents {
        for (own, other) in self.chosen.iter_mut().zip(&other.chosen) {
            *own = both(*own, *other);
        }
        self.known_from = self.known_from.max(other.known_from);
        self
    }
}

/// Looks for documents.
pub(super) struct Look<'l, 'r> {
    rx: &'l Rx<'r>,
    passages: &'l Passages,
    /// Words that were looked up before.
    known: &'l [Word<'l>],
    documents_end: usize,
    /// When it has to end, if it has to.
    until: Option<Instant>,
    /// Questions that are still to be asked within this time.
    left: u32,
    /// Passages with words that may still be looked at. Time would not do: on a busy machine it passes
    /// without work.
    entries: usize,
    /// Passages that were found otherwise than by words.
    pub(super) scored: Vec<Scored>,
    /// Whether it ended before everything was found.
    pub(super) partial: bool,
}

impl<'l, 'r> Look<'l, 'r> {
    /// Whoever looks for something to do to all of it takes as long as it takes.
    pub(super) fn for_all(rx: &'l Rx<'r>, passages: &'l Passages) -> Look<'l, 'r> {
        Look {
            rx,
            passages,
            known: &[],
            documents_end: passages.documents_end(),
            until: None,
            left: 0,
            entries: usize::MAX,
            scored: Vec::new(),
            partial: false,
        }
    }

    /// What is found with this effort. Words are looked up in the postings; what only the full-text index
    /// knows is found the newest first.
    pub(super) fn within(
        effort: &Effort,
        rx: &'l Rx<'r>,
        passages: &'l Passages,
        known: &'l [Word<'l>],
    ) -> Look<'l, 'r> {
        let until = Some(Instant::now() + effort.patience);
        Look { until, known, entries: effort.entries, ..Look::for_all(rx, passages) }
    }

    /// The documents that fulfil a condition, and none that does not. Some may be missing if it was too
    /// much work.
    pub(super) fn documents(&mut self, condition: &Condition) -> Result<Documents, OpError> {
        self.left = questions(condition);
        self.fulfilling(condition)
    }

    fn fulfilling(&mut self, condition: &Condition) -> Result<Documents, OpError> {
        match condition {
            Condition::Has(expression) => self.matching(expression),
            Condition::Word(word) => self.with_word(word),
            Condition::Any(parts) => self.each(parts, |own, other| own | other),
            Condition::All(parts) => self.each(parts, |own, other| own & other),
            Condition::Without(wanted, unwanted) => {
                let wanted = self.fulfilling(wanted)?;
                let unwanted = self.fulfilling(unwanted)?;
                let known_from = unwanted.known_from;
                let mut rest = wanted.join(&unwanted, |wanted, unwanted| wanted & !unwanted);
                // What may have what is not wanted is not listed.
                for doc in (0..known_from).filter_map(|passage| self.passages.doc(passage)) {
                    rest.leave_out(doc);
                }
                Ok(rest)
            }
        }
    }

    fn each(
        &mut self,
        parts: &[Condition],
        both: fn(u64, u64) -> u64,
    ) -> Result<Documents, OpError> {
        let mut joined: Option<Documents> = None;
        // Words take the least time, and leave the rest of it to others.
        let is_word = |part: &&Condition| matches!(part, Condition::Word(_));
        let words = parts.iter().filter(is_word);
        for part in words.chain(parts.iter().filter(|part| !is_word(part))) {
            let part = self.fulfilling(part)?;
            joined = Some(match joined {
                Some(joined) => joined.join(&part, both),
                None => part,
            });
        }
        Ok(joined.unwrap_or_else(|| self.none()))
    }

    fn none(&self) -> Documents {
        Documents { chosen: vec![0; self.documents_end.div_ceil(64)], known_from: 0 }
    }

    fn with_word(&mut self, word: &str) -> Result<Documents, OpError> {
        let asked = [word.to_owned()];
        let read;
        let words = match self.known.iter().position(|known| known.word == word) {
            Some(at) => self.known.get(at..=at).unwrap_or_default(),
            None => match any_term::words(self.rx, self.passages, &asked)? {
                Some(words) => {
                    read = words;
                    read.as_slice()
                }
                // Only the full-text index knows words that say nothing.
                None => return self.matching(&query::term(word)),
            },
        };
        self.left = self.left.saturating_sub(1);
        let mut documents = self.none();
        let count = words.iter().map(|word| word.count).sum();
        let Some(rest) = self.entries.checked_sub(count) else {
            return Ok(self.cut_off(documents, self.passages.end()));
        };
        self.entries = rest;
        for passage in words.iter().flat_map(Word::passages) {
            documents.choose(self.passages.doc(passage));
        }
        Ok(documents)
    }

    fn matching(&mut self, expression: &str) -> Result<Documents, OpError> {
        const MATCHING: &str =
            "SELECT rowid FROM passage_fts WHERE passage_fts MATCH ?1 ORDER BY rowid DESC";
        let mut documents = self.none();
        if expression.is_empty() {
            return Ok(documents);
        }
        // Who asks several questions has as much time for the last as for the first.
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        let _deadline = left.map(|left| Deadline::share(left, self.left));
        self.left = self.left.saturating_sub(1);
        let mut last = self.passages.end();
        let whole = self.rx.sql(|db| {
            let mut select = db.prepare_cached(MATCHING)?;
            let mut rows = select.query([expression])?;
            loop {
                match rows.next() {
                    Ok(Some(row)) => last = row.get(0)?,
                    Ok(None) => return Ok(true),
                    // What was found until time was up stays.
                    Err(error) if deadline::is_up() && is_interrupt(&error) => return Ok(false),
                    Err(error) => return Err(error),
                }
                documents.choose(self.passages.doc(last));
                self.scored.push(Scored { passage: last, score: OTHER_SCORE });
            }
        })?;
        Ok(if whole { documents } else { self.cut_off(documents, last) })
    }

    /// What was found of something before it became too much work.
    fn cut_off(&mut self, found: Documents, known_from: usize) -> Documents {
        self.partial = true;
        Documents { known_from, ..found }
    }
}

/// How many questions a condition is made of.
fn questions(condition: &Condition) -> u32 {
    match condition {
        Condition::Has(_) | Condition::Word(_) => 1,
        Condition::All(parts) | Condition::Any(parts) => parts.iter().map(questions).sum(),
        Condition::Without(wanted, unwanted) => questions(wanted) + questions(unwanted),
    }
}
