//! A cache, by record id, of the answers to yes-or-no questions about the texts of records, and of the [`Statement`]
//! parsed from each text. Most searches and briefings return the same records, and parsing their texts costs more than
//! everything else.
//!
//! The cache holds no words of a text, only ids and the hashes of stems. When a change of a record's text is
//! committed, its entries are removed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{OpError, limits};
use text::Statement;

/// A question about the text of a record, or about those of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextQuestion {
    /// Whether one of two texts is not worth showing beside the other.
    Repeats,
    /// Whether the record's statement could be replaced by another one.
    MayBeReplaced,
    /// Whether the record's statement could replace another one.
    MayReplace,
    /// Whether the text states a decision or a change.
    Decides,
    /// Whether a prompt begins a new topic.
    BeginsSubject,
}

/// After this many changes in a row the whole cache is cleared.
const FORGOTTEN_APART: usize = 32;

/// Two records; the second is 0 for a question about one.
type Subject = (i64, i64);

/// Held by the store.
#[derive(Default)]
pub(crate) struct Verdicts(Mutex<Known>);

#[derive(Default)]
struct Known {
    verdicts: HashMap<(TextQuestion, Subject), bool>,
    statements: HashMap<i64, Arc<Statement>>,
    /// The number of changes of texts so far.
    changes: u64,
    /// How many of these changes happened since the last new verdict or statement.
    in_a_row: usize,
}

impl Verdicts {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of changes of texts so far. A snapshot that begins after this call sees all these changes.
    pub(crate) fn changes(&self) -> u64 {
        self.known().changes
    }

    /// Removes the entries of a record whose text was changed or deleted.
    pub(crate) fn forget(&self, id: i64) {
        let mut known = self.known();
        known.changes += 1;
        known.in_a_row += 1;
        // A purge of many records would otherwise scan all verdicts for each of them.
        if known.in_a_row > FORGOTTEN_APART {
            known.verdicts.clear();
            known.statements.clear();
        } else {
            known.verdicts.retain(|(_, (a, b)), _| *a != id && *b != id);
            known.statements.remove(&id);
        }
    }

    /// The answer to a question, for a snapshot that began after `changes` changes: cached, or from `judge`. It is not
    /// added to the cache if there were more changes since.
    pub(crate) fn answer(
        &self,
        changes: u64,
        asked: (TextQuestion, Subject),
        judge: impl FnOnce() -> Result<bool, OpError>,
    ) -> Result<bool, OpError> {
        let known = self.known();
        let verdict = known.verdicts.get(&asked).filter(|_| known.changes == changes).copied();
        drop(known);
        if let Some(verdict) = verdict {
            return Ok(verdict);
        }
        let verdict = judge()?;
        let mut known = self.known();
        if known.changes == changes {
            if known.verdicts.len() >= limits::VERDICTS_MAX {
                known.verdicts.clear();
            }
            known.in_a_row = 0;
            known.verdicts.insert(asked, verdict);
        }
        Ok(verdict)
    }

    /// The statement of a record's text, for a snapshot that began after `changes` changes: cached, or from `read`.
    pub(crate) fn statement(
        &self,
        changes: u64,
        id: i64,
        read: impl FnOnce() -> Statement,
    ) -> Arc<Statement> {
        let known = self.known();
        let statement = known.statements.get(&id).filter(|_| known.changes == changes).cloned();
        drop(known);
        if let Some(statement) = statement {
            return statement;
        }
        let statement = Arc::new(read());
        let mut known = self.known();
        if known.changes == changes {
            if known.statements.len() >= limits::STATEMENTS_MAX {
                known.statements.clear();
            }
            known.in_a_row = 0;
            known.statements.insert(id, Arc::clone(&statement));
        }
        statement
    }

    /// Forgets all verdicts and statements.
    pub(crate) fn clear(&self) {
        let mut known = self.known();
        *known = Known { changes: known.changes + 1, ..Known::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knows(verdicts: &Verdicts, id: i64) -> bool {
        verdicts.known().verdicts.keys().any(|(_, (a, b))| *a == id || *b == id)
    }

    #[test]
    fn a_record_that_changed_is_forgotten_and_so_are_all_after_many_changes() {
        let verdicts = Verdicts::default();
        for pair in [(1, 2), (2, 3), (4, 5)] {
            verdicts.known().verdicts.insert((TextQuestion::Repeats, pair), true);
        }
        let read = |id: i64, text: &str| {
            let statement = verdicts.statement(verdicts.changes(), id, || Statement::of(text));
            statement.states_decision()
        };
        assert!(read(2, "We decided to keep the carts in SQLite") && read(2, "") && !read(4, ""));
        verdicts.forget(2);
        assert!(!knows(&verdicts, 1) && !knows(&verdicts, 3) && knows(&verdicts, 4));
        assert!(!read(2, "") && !read(4, "We decided to keep the carts in SQLite"));
        (10..50).for_each(|id| verdicts.forget(id));
        assert!(!knows(&verdicts, 4));
        assert_eq!(verdicts.changes(), 41);
    }
}
