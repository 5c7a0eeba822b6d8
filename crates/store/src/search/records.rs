//! Which documents fulfil a condition as a whole. The index knows passages, of which a long document has
//! several: what each part of the condition finds is put together here, document by document.

use std::time::{Duration, Instant};

use model::OpError;
use text::query::{self, Condition};

use super::any_term::{self, Word};
use super::is_interrupt;
use crate::catalogue::Passages;
use crate::deadline::{self, Deadline};
use crate::tx::Rx;

/// Some of all documents.
pub(super) struct Documents {
    /// By the number of the document.
    chosen: Vec<bool>,
    /// Of a document with a passage before this one it is not known whether it belongs here, unless it is
    /// chosen.
    known_from: usize,
}

impl Documents {
    pub(super) fn has(&self, doc: i64) -> bool {
        usize::try_from(doc).is_ok_and(|doc| self.chosen.get(doc) == Some(&true))
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = i64> + '_ {
        (0_i64..).zip(&self.chosen).filter(|(_, chosen)| **chosen).map(|(doc, _)| doc)
    }

    fn choose(&mut self, doc: Option<i64>) {
        let place = doc.and_then(|doc| self.chosen.get_mut(usize::try_from(doc).ok()?));
        if let Some(chosen) = place {
            *chosen = true;
        }
    }

    /// Puts both together, document by document.
    fn join(mut self, other: &Documents, both: impl Fn(bool, bool) -> bool) -> Documents {
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
    /// When it has to end, if it has to.
    until: Option<Instant>,
    /// Questions that are still to be asked within this time.
    left: u32,
    /// Whether time was up before everything was found.
    pub(super) partial: bool,
}

impl<'l, 'r> Look<'l, 'r> {
    /// Whoever looks for something to do to all of it takes as long as it takes.
    pub(super) fn for_all(rx: &'l Rx<'r>, passages: &'l Passages) -> Look<'l, 'r> {
        Look { rx, passages, known: &[], until: None, left: 0, partial: false }
    }

    /// What is found within this time. Words are looked up in the postings; what only the full-text index
    /// knows is found the newest first.
    pub(super) fn within(
        patience: Duration,
        rx: &'l Rx<'r>,
        passages: &'l Passages,
        known: &'l [Word<'l>],
    ) -> Look<'l, 'r> {
        Look { until: Some(Instant::now() + patience), known, ..Look::for_all(rx, passages) }
    }

    /// The documents that fulfil a condition, and none that does not. Some may be missing if time was up.
    pub(super) fn documents(&mut self, condition: &Condition) -> Result<Documents, OpError> {
        self.left = questions(condition);
        self.fulfilling(condition)
    }

    fn fulfilling(&mut self, condition: &Condition) -> Result<Documents, OpError> {
        match condition {
            Condition::Has(expression) => self.matching(expression),
            Condition::Word(word) => self.with_word(word),
            Condition::Any(parts) => self.each(parts, |own, other| own || other),
            Condition::All(parts) => self.each(parts, |own, other| own && other),
            Condition::Without(wanted, unwanted) => {
                let wanted = self.fulfilling(wanted)?;
                let unwanted = self.fulfilling(unwanted)?;
                let known_from = unwanted.known_from;
                let mut rest = wanted.join(&unwanted, |wanted, unwanted| wanted && !unwanted);
                // What may have what is not wanted is not listed.
                for doc in (0..known_from).filter_map(|passage| self.passages.doc(passage)) {
                    if let Some(chosen) =
                        usize::try_from(doc).ok().and_then(|doc| rest.chosen.get_mut(doc))
                    {
                        *chosen = false;
                    }
                }
                Ok(rest)
            }
        }
    }

    fn each(
        &mut self,
        parts: &[Condition],
        both: fn(bool, bool) -> bool,
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
        Documents { chosen: vec![false; self.passages.documents_end()], known_from: 0 }
    }

    fn with_word(&mut self, word: &str) -> Result<Documents, OpError> {
        if self.until.is_some_and(|until| Instant::now() >= until) {
            let nothing = self.none();
            return Ok(self.cut_off(nothing, self.passages.end()));
        }
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
            }
        })?;
        Ok(if whole { documents } else { self.cut_off(documents, last) })
    }

    /// What was found of something until time was up.
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
