//! Sessions: the documents of each in order of time, and how many words it has.

use std::collections::HashMap;

/// The position of a document in its session: its time in seconds, its number, and its first passage. Numbers are
/// assigned in the order in which documents are written.
pub(super) type Place = (u32, u32, u32);

/// All sessions. They are numbered from 1 on in the order in which they are seen, so that scores of all of them fit
/// into a short array. Records without a session have the number 0.
pub struct SessionTable {
    numbers: HashMap<u32, usize>,
    rows: Vec<SessionRow>,
}

#[derive(Default)]
struct SessionRow {
    id: u32,
    /// The first passages of its documents, in order of time.
    documents: Vec<u32>,
    words: u64,
}

impl Default for SessionTable {
    fn default() -> SessionTable {
        SessionTable { numbers: HashMap::from([(0, 0)]), rows: vec![SessionRow::default()] }
    }
}

impl SessionTable {
    /// Counts a passage with so many words for a session, and returns the session's number.
    pub(super) fn add_words(&mut self, id: u32, words: u16) -> usize {
        let next = self.rows.len();
        let number = *self.numbers.entry(id).or_insert(next);
        if number == next {
            self.rows.push(SessionRow { id, ..SessionRow::default() });
        }
        if let Some(row) = self.row(number) {
            row.words += u64::from(words);
        }
        number
    }

    pub(super) fn remove_words(&mut self, number: usize, words: u16) {
        if let Some(row) = self.row(number) {
            row.words = row.words.saturating_sub(u64::from(words));
        }
    }

    /// Inserts a document, identified by its first passage, at its position in its session.
    pub(super) fn insert(&mut self, number: usize, passage: u32, place: impl Fn(u32) -> Place) {
        let Some(SessionRow { documents, .. }) = self.row(number) else { return };
        let at = documents.partition_point(|other| place(*other) < place(passage));
        documents.insert(at, passage);
    }

    pub(super) fn remove(&mut self, number: usize, passage: u32, place: impl Fn(u32) -> Place) {
        let Some(SessionRow { documents, .. }) = self.row(number) else { return };
        if let Ok(at) = documents.binary_search_by_key(&place(passage), |other| place(*other)) {
            documents.remove(at);
        }
    }

    /// The documents before and after a document of a session.
    pub(super) fn neighbours(
        &self,
        number: usize,
        passage: u32,
        place: impl Fn(u32) -> Place,
    ) -> [Option<u32>; 2] {
        let documents = self.rows.get(number).map(|row| row.documents.as_slice());
        let documents = documents.unwrap_or_default();
        match documents.binary_search_by_key(&place(passage), |other| place(*other)) {
            Ok(at) => [at.checked_sub(1), Some(at + 1)].map(|at| documents.get(at?).copied()),
            Err(_) => [None; 2],
        }
    }

    /// The row of a session; none for the number 0.
    fn row(&mut self, number: usize) -> Option<&mut SessionRow> {
        self.rows.get_mut(number).filter(|_| number != 0)
    }

    /// The id of a session in the store; 0 for none.
    pub(super) fn id(&self, number: usize) -> u32 {
        self.rows.get(number).map_or(0, |row| row.id)
    }

    /// The number of a session by its id in the store; 0 for one without passages.
    pub fn number(&self, id: i64) -> usize {
        u32::try_from(id).ok().and_then(|id| self.numbers.get(&id)).copied().unwrap_or_default()
    }

    /// How many words each session has, by its number; the first entry is for documents without a session.
    pub fn lengths(&self) -> Vec<u64> {
        self.rows.iter().map(|row| row.words).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_as_long_as_the_passages_that_are_left_of_it() {
        let mut sessions = SessionTable::default();
        let numbers = [(70, 10), (90, 5), (70, 7), (0, 100)]
            .map(|(session, words)| sessions.add_words(session, words));
        assert_eq!(numbers, [1, 2, 1, 0]);
        assert_eq!(numbers.map(|number| sessions.id(number)), [70, 90, 70, 0]);
        assert_eq!((sessions.number(90), sessions.number(5), sessions.number(-1)), (2, 0, 0));
        assert_eq!(sessions.lengths(), [0, 17, 5]);
        sessions.remove_words(1, 7);
        sessions.remove_words(0, 100);
        assert_eq!(sessions.lengths(), [0, 10, 5]);
    }

    #[test]
    fn documents_keep_their_order_through_additions_and_removals() {
        let mut sessions = SessionTable::default();
        // The place of a passage is its number turned round within each thousand.
        let place = |passage: u32| ((passage * 7) % 1_000, passage, passage);
        let mut there: Vec<u32> = Vec::new();
        let number = |passage: u32| 1 + passage as usize % 2;
        for passage in 1..1_000 {
            sessions.add_words(1 + passage % 2, 1);
            sessions.insert(number(passage), passage, place);
            there.push(passage);
            if passage % 3 == 0 {
                let gone = there.remove((passage as usize * 31) % there.len());
                sessions.remove(number(gone), gone, place);
                assert_eq!(sessions.neighbours(number(gone), gone, place), [None; 2]);
            }
        }
        for session in 1..=2 {
            let mut own: Vec<u32> =
                there.iter().copied().filter(|passage| number(*passage) == session).collect();
            own.sort_by_key(|passage| place(*passage));
            for (at, passage) in own.iter().enumerate() {
                let before = at.checked_sub(1).map(|at| own[at]);
                let beside = sessions.neighbours(session, *passage, place);
                assert_eq!(beside, [before, own.get(at + 1).copied()]);
            }
        }
    }
}
