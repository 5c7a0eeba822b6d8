//! Sessions as whole texts: which passages belong to each, and how many words it has.

use std::collections::HashMap;

/// The length of every session, and the session of every passage. Sessions are numbered from 1 on in the
/// order in which they are seen, so that scores of all of them fit into a short array.
#[derive(Default)]
pub struct SessionLengths {
    /// The session of each passage as its number here; 0 for a passage of none.
    of_passages: Vec<u32>,
    numbers: HashMap<u32, u32>,
    /// Words of each session, by its number.
    lengths: Vec<u64>,
}

impl SessionLengths {
    /// Counts a passage for its session; session 0 is none.
    pub(super) fn add(&mut self, passage: usize, session: u32, length: u16) {
        if session == 0 {
            return;
        }
        let next = u32::try_from(self.numbers.len() + 1).unwrap_or_default();
        let number = *self.numbers.entry(session).or_insert(next);
        if self.of_passages.len() <= passage {
            self.of_passages.resize(passage + 1, 0);
        }
        if let Some(place) = self.of_passages.get_mut(passage) {
            *place = number;
        }
        let at = usize::try_from(number).unwrap_or_default();
        if self.lengths.len() <= at {
            self.lengths.resize(at + 1, 0);
        }
        if let Some(sum) = self.lengths.get_mut(at) {
            *sum += u64::from(length);
        }
    }

    /// Takes a passage out of its session.
    pub(super) fn remove(&mut self, passage: usize, length: u16) {
        let number = self.of_passage(passage);
        if let Some(sum) = self.lengths.get_mut(number).filter(|_| number != 0) {
            *sum = sum.saturating_sub(u64::from(length));
        }
        if let Some(place) = self.of_passages.get_mut(passage) {
            *place = 0;
        }
    }

    /// The number of a passage's session; 0 for none.
    pub fn of_passage(&self, passage: usize) -> usize {
        let number = self.of_passages.get(passage).copied().unwrap_or_default();
        usize::try_from(number).unwrap_or_default()
    }

    /// The number of a session by its id in the store; 0 for one without passages.
    pub fn of_session(&self, session: i64) -> usize {
        let number = u32::try_from(session).ok().and_then(|id| self.numbers.get(&id));
        number.and_then(|number| usize::try_from(*number).ok()).unwrap_or_default()
    }

    /// Words of each session, by its number; the first belongs to none.
    pub fn lengths(&self) -> &[u64] {
        &self.lengths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_as_long_as_the_passages_that_are_left_of_it() {
        let mut sessions = SessionLengths::default();
        sessions.add(1, 70, 10);
        sessions.add(2, 90, 5);
        sessions.add(3, 70, 7);
        sessions.add(4, 0, 100);
        let numbers: Vec<usize> = (0..6).map(|passage| sessions.of_passage(passage)).collect();
        assert_eq!(numbers, [0, 1, 2, 1, 0, 0]);
        assert_eq!((sessions.of_session(90), sessions.of_session(5)), (2, 0));
        assert_eq!(sessions.lengths(), [0, 17, 5]);
        sessions.remove(3, 7);
        sessions.remove(4, 100);
        assert_eq!((sessions.lengths(), sessions.of_passage(3)), (&[0, 10, 5][..], 0));
    }
}
