//! The documents of each session in order of time, whatever the order in which they were indexed.

use std::collections::HashMap;

/// The position of a document in its session: its time in seconds, then its number. Numbers are assigned
/// in the order in which documents are written.
pub(super) type Place = (u32, u32);

/// Linked lists of documents, one for each session. A document is identified by its first passage. No passage
/// has the number 0: it marks the end of a list.
#[derive(Default)]
pub(super) struct Order {
    before: Vec<u32>,
    after: Vec<u32>,
    /// The document that was added last to the list of a session: the next one most likely belongs beside it.
    latest: HashMap<u32, u32>,
}

impl Order {
    /// Inserts a document at its position in its session.
    pub(super) fn add(&mut self, session: u32, passage: u32, place: impl Fn(u32) -> Place) {
        let Some(latest) = self.latest.insert(session, passage) else { return };
        let own = place(passage);
        let (mut before, mut after) = if place(latest) < own {
            (latest, self.after(latest))
        } else {
            (self.before(latest), latest)
        };
        while after != 0 && place(after) < own {
            (before, after) = (after, self.after(after));
        }
        while before != 0 && place(before) > own {
            (before, after) = (self.before(before), before);
        }
        self.link(before, passage);
        self.link(passage, after);
    }

    pub(super) fn remove(&mut self, session: u32, passage: u32) {
        let (before, after) = (self.before(passage), self.after(passage));
        self.link(before, after);
        self.link(0, passage);
        self.link(passage, 0);
        if self.latest.get(&session) == Some(&passage) {
            match before.max(after) {
                0 => drop(self.latest.remove(&session)),
                other => drop(self.latest.insert(session, other)),
            }
        }
    }

    pub(super) fn before(&self, passage: u32) -> u32 {
        other(&self.before, passage)
    }

    pub(super) fn after(&self, passage: u32) -> u32 {
        other(&self.after, passage)
    }

    fn link(&mut self, before: u32, after: u32) {
        set(&mut self.after, before, after);
        set(&mut self.before, after, before);
    }
}

fn other(of: &[u32], passage: u32) -> u32 {
    usize::try_from(passage).ok().and_then(|at| of.get(at)).copied().unwrap_or_default()
}

fn set(of: &mut Vec<u32>, passage: u32, other: u32) {
    let Ok(at) = usize::try_from(passage) else { return };
    if at == 0 || (other == 0 && at >= of.len()) {
        return;
    }
    if at >= of.len() {
        of.resize(at + 1, 0);
    }
    if let Some(place) = of.get_mut(at) {
        *place = other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chain that goes through a document, from its beginning to its end, as it is read from both ends.
    fn chain(order: &Order, through: u32) -> Vec<u32> {
        let next = |step: fn(&Order, u32) -> u32| {
            move |passage: &u32| Some(step(order, *passage)).filter(|passage| *passage != 0)
        };
        let first = std::iter::successors(Some(through), next(Order::before)).last();
        let forth: Vec<u32> = std::iter::successors(first, next(Order::after)).collect();
        let mut back: Vec<u32> =
            std::iter::successors(forth.last().copied(), next(Order::before)).collect();
        back.reverse();
        assert_eq!(forth, back);
        forth
    }

    #[test]
    fn documents_keep_their_order_through_additions_and_removals() {
        let mut order = Order::default();
        // The place of a passage is its number turned round within each thousand.
        let place = |passage: u32| ((passage * 7) % 1_000, passage);
        let mut there: Vec<u32> = Vec::new();
        for passage in 1..1_000 {
            order.add(passage % 2, passage, place);
            there.push(passage);
            if passage % 3 == 0 {
                let gone = there.remove((passage as usize * 31) % there.len());
                order.remove(gone % 2, gone);
            }
        }
        for session in 0..2 {
            let mut own: Vec<u32> =
                there.iter().copied().filter(|passage| passage % 2 == session).collect();
            own.sort_by_key(|passage| place(*passage));
            assert_eq!(chain(&order, own[0]), own);
        }
        for passage in there {
            order.remove(passage % 2, passage);
        }
        assert!(order.latest.is_empty());
    }
}
