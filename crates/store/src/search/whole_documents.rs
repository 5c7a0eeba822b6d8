//! Which documents fulfil a condition as a whole. The index finds passages, and a long document has several:
//! the matches of each part of the condition are combined here per document.

use index::bm25::Word;
use index::postings::count;
use index::{IdSet, Scored};
use model::OpError;
use text::query::{self, Beginning, Condition, Together};
use text::terms::term;

use super::Search;
use super::words::words;
use crate::cells::Cells as _;
use crate::deadline::{Deadline, LOOKS_GRANTED};
use crate::index_health;
use crate::postings::{self, DIVISION};

/// The score of a passage for a phrase, a prefix or words near each other, besides that for its words.
const OTHER_SCORE: f64 = 1.0;
/// Texts that are read even after the deadline, by all parts of a condition together.
const READS_GRANTED: u32 = 64;
/// Appended to a prefix, it sorts after all words with that prefix.
const BEHIND: char = char::MAX;
/// Rows of postings that are read between two checks of the deadline.
const ROWS_PER_LOOK: usize = 64;

/// A set of documents.
#[derive(Clone, Default)]
pub(super) struct Documents {
    chosen: IdSet,
    /// Documents with a passage before this one were not checked: unless they are chosen, it is unknown
    /// whether they belong to the set.
    known_from: usize,
}

impl Documents {
    pub(super) fn has(&self, doc: i64) -> bool {
        self.chosen.has(doc)
    }

    #[cfg(test)]
    pub(super) fn ids(&self) -> impl Iterator<Item = i64> + '_ {
        self.chosen.iter()
    }

    fn choose(&mut self, doc: Option<i64>) {
        if let Some(doc) = doc {
            self.chosen.add(doc);
        }
    }

    /// The intersection with the others, if there are others.
    fn and(self, others: Option<Documents>) -> Documents {
        match others {
            Some(others) => self.join(&others, |own, other| own & other),
            None => self,
        }
    }

    /// Combines two sets bitwise.
    fn join(mut self, other: &Documents, both: impl Fn(u64, u64) -> u64) -> Documents {
        self.chosen.join(&other.chosen, both);
        self.known_from = self.known_from.max(other.known_from);
        self
    }
}

/// Evaluates a condition.
pub(super) struct Look<'l, 'r> {
    search: &'l Search<'l, 'r>,
    /// Words that were looked up before.
    known: &'l [Word<'l>],
    deadline: Deadline,
    /// Parts of the condition that share the deadline, and how many of them are left.
    questions: u32,
    left: u32,
    /// Postings that may still be read. A time limit would not do: on a busy machine time passes without
    /// work.
    entries: usize,
    /// How many passages the full-text index may find, the newest first.
    pub(super) rows: usize,
    /// Passages found other than by the postings of a word.
    pub(super) scored: Vec<Scored>,
}

impl<'l, 'r> Look<'l, 'r> {
    /// Words and prefixes are looked up in the postings; phrases in the full-text index, newest first.
    pub(super) fn new(
        search: &'l Search<'l, 'r>,
        deadline: Deadline,
        known: &'l [Word<'l>],
    ) -> Look<'l, 'r> {
        Look {
            search,
            known,
            deadline,
            questions: 0,
            left: 0,
            entries: search.effort.entries,
            rows: usize::MAX,
            scored: Vec::new(),
        }
    }

    /// The documents that fulfil a condition. Some may be missing if a limit was reached, but none is
    /// listed that does not fulfil it.
    pub(super) fn documents(&mut self, condition: &Condition) -> Result<Documents, OpError> {
        self.questions = questions(condition);
        self.left = self.questions;
        self.fulfilling(condition)
    }

    fn fulfilling(&mut self, condition: &Condition) -> Result<Documents, OpError> {
        match condition {
            Condition::Has(expression, _) => self.matching(expression),
            Condition::Word(word) => self.with_word(word),
            Condition::Together(together) => self.having(together),
            Condition::Any(parts) => self.each(parts, |own, other| own | other),
            Condition::All(parts) => self.each(parts, |own, other| own & other),
            Condition::Without(wanted, unwanted) => {
                let wanted = self.fulfilling(wanted)?;
                let unwanted = self.fulfilling(unwanted)?;
                let known_from = unwanted.known_from;
                let mut rest = wanted.join(&unwanted, |wanted, unwanted| wanted & !unwanted);
                // Drop documents that were not checked for the excluded term.
                for doc in (0..known_from).filter_map(|passage| self.search.passages.doc(passage)) {
                    rest.chosen.remove(doc);
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
        // Words take the least time, so the other parts get the rest of it.
        let is_word = |part: &&Condition| matches!(part, Condition::Word(_));
        let words = parts.iter().filter(is_word);
        for part in words.chain(parts.iter().filter(|part| !is_word(part))) {
            let part = self.fulfilling(part)?;
            joined = Some(match joined {
                Some(joined) => joined.join(&part, both),
                None => part,
            });
        }
        Ok(joined.unwrap_or_default())
    }

    fn with_word(&mut self, word: &str) -> Result<Documents, OpError> {
        let asked = term(word).map(|term| (word, term)).into_iter().collect();
        let read;
        let words = match self.known.iter().position(|known| known.word == word) {
            Some(at) => self.known.get(at..=at).unwrap_or_default(),
            None => match words(self.search.rx, self.search.passages.end(), asked)? {
                Some(words) => {
                    read = words;
                    read.as_slice()
                }
                // Stop words have no postings; only the full-text index has them.
                None => return self.matching(&query::term(word)),
            },
        };
        self.left = self.left.saturating_sub(1);
        let mut documents = Documents::default();
        let count = words.iter().map(|word| word.count).sum();
        let Some(rest) = self.entries.checked_sub(count) else {
            return Ok(self.cut_off(documents, self.search.passages.end()));
        };
        self.entries = rest;
        for (passage, _) in words.iter().flat_map(|word| word.postings.entries()) {
            documents.choose(self.search.passages.doc(passage));
        }
        Ok(documents)
    }

    fn matching(&mut self, expression: &str) -> Result<Documents, OpError> {
        const MATCHING: &str =
            "SELECT rowid FROM passage_fts WHERE passage_fts MATCH ?1 ORDER BY rowid DESC";
        let mut documents = Documents::default();
        if expression.is_empty() {
            return Ok(documents);
        }
        // The last part of a condition gets as much time as the first.
        let _watch = self.deadline.share(self.left).watch(LOOKS_GRANTED / self.left.max(1));
        self.left = self.left.saturating_sub(1);
        let mut last = self.search.passages.end();
        let whole = self.search.full_text_rows(MATCHING, [expression], |row| {
            last = row.cell(0)?;
            documents.choose(self.search.passages.doc(last));
            self.scored.push(Scored { passage: last, score: OTHER_SCORE });
            Ok(self.scored.len() < self.rows)
        })?;
        Ok(if whole { documents } else { self.cut_off(documents, last) })
    }

    /// The documents with a phrase, with words near each other, or with a prefix. The index finds matches within
    /// one passage. A match may also be cut between two passages, or have a stem that does not show the prefix:
    /// then the text is read, the newest first.
    fn having(&mut self, wanted: &Together) -> Result<Documents, OpError> {
        let others = self.left.saturating_sub(1);
        let deadline = self.deadline.share(self.left);
        let mut found = match wanted.expression() {
            Some(expression) => self.matching(expression)?,
            None => Documents::default(),
        };
        if wanted.is_one_word() {
            return Ok(found);
        }
        let mut maybe: Option<Documents> = None;
        for word in wanted.whole_words() {
            let with_word = self.with_word(word)?;
            maybe = Some(with_word.and(maybe));
        }
        for beginning in wanted.beginnings() {
            let (sure, perhaps) = self.begun(&beginning, deadline)?;
            if wanted.is_beginning() {
                found = sure;
                maybe = Some(perhaps);
            } else {
                maybe = Some(sure.join(&perhaps, |sure, perhaps| sure | perhaps).and(maybe));
            }
        }
        self.left = others;
        let whole = wanted.expression().is_some();
        self.read(
            wanted,
            found,
            maybe,
            |look, passage| !whole || look.search.passages.siblings(passage).len() > 1,
            deadline,
        )
    }

    /// Reads the texts of possible matches and adds the documents that do match.
    fn read(
        &mut self,
        wanted: &Together,
        mut found: Documents,
        maybe: Option<Documents>,
        is_worth: impl Fn(&Self, usize) -> bool,
        deadline: Deadline,
    ) -> Result<Documents, OpError> {
        let cut_from = maybe.as_ref().map_or(0, |maybe| maybe.known_from);
        found.known_from = found.known_from.max(cut_from);
        let mut seen = Documents::default();
        let (mut reads, granted) = (0, READS_GRANTED / self.questions.max(1));
        // Usually there are few texts to read or none, and those are among the newest.
        let mut left =
            maybe.as_ref().map_or(u64::MAX, |maybe| maybe.chosen.count_besides(&found.chosen));
        for passage in (0..self.search.passages.end()).rev() {
            if left == 0 {
                break;
            }
            let may = |doc: &i64| maybe.as_ref().is_none_or(|maybe| maybe.has(*doc));
            let Some(doc) = self.search.passages.doc(passage).filter(may) else { continue };
            if found.has(doc) || seen.has(doc) {
                continue;
            }
            seen.choose(Some(doc));
            left -= 1;
            if !self.search.admits(passage) || !is_worth(self, passage) {
                continue;
            }
            if reads >= granted && deadline.is_over() {
                let known_from = found.known_from.max(passage + 1);
                return Ok(self.cut_off(found, known_from));
            }
            reads += 1;
            if crate::passages::text(self.search.rx, doc)?.is_some_and(|text| wanted.is_in(&text)) {
                found.choose(Some(doc));
                self.scored.push(Scored { passage, score: OTHER_SCORE });
            }
        }
        Ok(found)
    }

    /// The documents with a word of this prefix, and those that may have one, judging by their stems.
    fn begun(
        &mut self,
        beginning: &Beginning,
        deadline: Deadline,
    ) -> Result<(Documents, Documents), OpError> {
        let small: Vec<String> = beginning.small_words().map(query::term).collect();
        let (mut sure, mut perhaps) = (Documents::default(), self.matching(&small.join(" OR "))?);
        let stems = beginning.stems();
        let behind = format!("{}{BEHIND}", beginning.word());
        let blocks = postings::blocks(self.search.passages.end());
        for (at, block) in blocks.clone().rev().enumerate() {
            // The newest block is read unless other parts of the condition have used up all of the time.
            let deadline = if at > 0 { deadline } else { self.deadline };
            let is_over = || blocks.len() > 1 && deadline.is_over();
            let mut late = is_over();
            let (mut begun, mut maybe) = (Vec::new(), Vec::new());
            let (mut entries, mut rows) = (0, 0_usize);
            let add = |found: &mut Vec<usize>, blob: &[u8]| {
                found.extend(DIVISION.passages(block, blob).map(|(passage, _)| passage));
            };
            if !late {
                index_health::read_index(self.search.rx, |db| {
                    postings::range_in_block(
                        db,
                        block,
                        (beginning.word(), &behind),
                        |term, blob| {
                            entries += count(blob);
                            rows += 1;
                            let is_sure = beginning.is_sure(term);
                            add(if is_sure { &mut begun } else { &mut maybe }, blob);
                            late = rows.is_multiple_of(ROWS_PER_LOOK) && is_over();
                            !late && entries <= self.entries
                        },
                    )?;
                    let mut stems = stems.iter();
                    stems.try_for_each(|stem| {
                        postings::in_block(db, block, stem, |blob| add(&mut maybe, blob))
                    })
                })?;
            }
            for passage in maybe {
                perhaps.choose(self.search.passages.doc(passage));
            }
            if late || entries > self.entries {
                let known_from = sure.known_from.max((block + 1) * DIVISION.block);
                return Ok((self.cut_off(sure, known_from), perhaps));
            }
            self.entries -= entries;
            begun.sort_unstable();
            begun.dedup();
            for passage in begun {
                sure.choose(self.search.passages.doc(passage));
                self.scored.push(Scored { passage, score: OTHER_SCORE });
            }
        }
        Ok((sure, perhaps))
    }

    /// The documents found before a limit was reached. Marks the answer as partial.
    fn cut_off(&mut self, found: Documents, known_from: usize) -> Documents {
        self.search.lower();
        Documents { known_from, ..found }
    }
}

/// The number of parts of a condition that are looked up separately.
fn questions(condition: &Condition) -> u32 {
    match condition {
        Condition::Has(..) | Condition::Word(_) | Condition::Together(_) => 1,
        Condition::All(parts) | Condition::Any(parts) => parts.iter().map(questions).sum(),
        Condition::Without(wanted, unwanted) => questions(wanted) + questions(unwanted),
    }
}
