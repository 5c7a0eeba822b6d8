//! The catalogue: document, session, project, time, lengths and vector of every passage, in memory.

mod sessions;

use std::collections::HashMap;
use std::ops::Range;

use meaning::{DIMENSIONS, Vector};
use model::observation::ObsType;

use crate::RecordKind;
use sessions::Place;
pub use sessions::SessionTable;

/// The columns of the catalogue, by passage number. A number without a document is unused.
#[derive(Default)]
pub struct Passages {
    docs: Vec<u32>,
    /// The numbers of their sessions in the table; 0 for none.
    session_numbers: Vec<u32>,
    projects: Vec<u32>,
    /// Seconds since 1970, UTC.
    times: Vec<u32>,
    kinds: Vec<RecordKind>,
    lengths: Vec<u16>,
    words: Vec<u16>,
    cells: Vec<[i8; DIMENSIONS]>,
    /// One divided by the vector's length; 0 for a passage without a vector.
    reciprocals: Vec<f32>,
    sessions: SessionTable,
    /// The runs of consecutive passages of each project, in ascending order.
    runs: HashMap<u32, Vec<Range<usize>>>,
    /// The runs of consecutive passages of each kind that is no type of observation, in ascending order.
    runs_of_kinds: HashMap<RecordKind, Vec<Range<usize>>>,
    /// The passages of each project that are talk, in ascending order. Few passages are.
    talk: HashMap<u32, Vec<u32>>,
    count: usize,
    length_sum: u64,
    /// The change counter of the database when the columns were read. The counter grows when stored passages change,
    /// and not when passages are added.
    changes: u64,
}

/// A passage as the database has it.
pub struct PassageRow {
    pub id: usize,
    pub doc: u32,
    /// 0 for none.
    pub session: u32,
    pub project: u32,
    /// Seconds since 1970, UTC.
    pub at: u32,
    pub kind: RecordKind,
    pub length: u16,
    /// How many words its document has.
    pub words: u16,
    pub vector: Option<Vector>,
}

impl Passages {
    /// One more than the highest number.
    pub fn end(&self) -> usize {
        self.docs.len().max(1)
    }

    /// Whether the catalogue already has everything of a snapshot. An older snapshot must not be added:
    /// its outdated values of passages that have changed since would stay.
    pub fn is_after(&self, last: usize, changes: u64) -> bool {
        self.changes > changes || (self.changes == changes && self.end() > last)
    }

    /// An empty catalogue for a snapshot with this change counter.
    pub fn after_changes(changes: u64) -> Passages {
        Passages { changes, ..Passages::default() }
    }

    /// The change counter of the database when the passages were read.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Adds a passage that comes after all others.
    pub fn add(&mut self, row: PassageRow) {
        let PassageRow { id, doc, session, project, at, kind, length, words, vector } = row;
        debug_assert!(id >= self.docs.len(), "a passage comes after all others");
        self.grow(id + 1);
        set(&mut self.docs, id, doc);
        set(&mut self.projects, id, project);
        set(&mut self.times, id, at);
        set(&mut self.kinds, id, kind);
        set(&mut self.lengths, id, length);
        set(&mut self.words, id, words);
        if let Some(vector) = vector {
            self.learn(id, &vector);
        }
        self.add_to_runs(id);
        if kind.obs_type().is_talk() {
            self.talk.entry(project).or_default().push(number(id));
        }
        // A damaged row may name no document. Its number is then not in use, and `remove` skips it.
        if doc != 0 {
            let session = self.sessions.add_words(session, length);
            set(&mut self.session_numbers, id, number(session));
            self.add_to_session(id);
            self.count += 1;
            self.length_sum += u64::from(length);
        }
    }

    /// Whether columns, totals and runs fit together.
    pub fn is_sound(&self) -> bool {
        self.columns_are_equally_long()
            && self.counts_add_up()
            && self.runs_are_sorted()
            && self.talk.values().all(|passages| passages.is_sorted())
    }

    /// Every passage has all columns; vectors exist up to the last passage that has one.
    fn columns_are_equally_long(&self) -> bool {
        let columns = [
            self.session_numbers.len(),
            self.projects.len(),
            self.times.len(),
            self.kinds.len(),
            self.lengths.len(),
            self.words.len(),
        ];
        columns.iter().all(|length| *length == self.docs.len())
            && self.cells.len() == self.reciprocals.len()
            && self.cells.len() <= self.docs.len()
    }

    /// The totals are those of the passages in use.
    fn counts_add_up(&self) -> bool {
        let used = || (0..self.docs.len()).filter(|passage| self.doc(*passage).is_some());
        used().count() == self.count
            && used().map(|passage| u64::from(self.length(passage))).sum::<u64>() == self.length_sum
    }

    fn runs_are_sorted(&self) -> bool {
        let is_sorted = |runs: &Vec<Range<usize>>| {
            runs.iter().all(|run| run.start < run.end)
                && runs.is_sorted_by(|one, next| one.end < next.start)
        };
        self.runs.values().chain(self.runs_of_kinds.values()).all(is_sorted)
    }

    /// Inserts a document into its session if this passage is the first one of the document.
    fn add_to_session(&mut self, passage: usize) {
        let goes_on = passage > 0 && self.doc(passage - 1) == self.doc(passage);
        if !goes_on {
            let session = self.session_number(passage);
            let place = place_of(&self.times, &self.docs);
            self.sessions.insert(session, number(passage), place);
        }
    }

    fn add_to_runs(&mut self, passage: usize) {
        let project = self.projects.get(passage).copied().unwrap_or_default();
        extend(self.runs.entry(project).or_default(), passage);
        if let Some(kind) = self.kind(passage).filter(|kind| kind.is_further()) {
            extend(self.runs_of_kinds.entry(kind).or_default(), passage);
        }
    }

    /// Adds the embedding of a passage that is already in the catalogue.
    pub fn learn(&mut self, passage: usize, vector: &Vector) {
        if self.doc(passage).is_none() {
            return;
        }
        // Without any vector, these two columns stay empty.
        if self.cells.len() <= passage {
            self.cells.resize(passage + 1, [0; DIMENSIONS]);
            self.reciprocals.resize(passage + 1, 0.0);
        }
        set(&mut self.cells, passage, *vector.cells());
        set(&mut self.reciprocals, passage, vector.reciprocal());
    }

    fn grow(&mut self, end: usize) {
        self.docs.resize(end, 0);
        self.session_numbers.resize(end, 0);
        self.projects.resize(end, 0);
        self.times.resize(end, 0);
        self.kinds.resize(end, ObsType::Marker.into());
        self.lengths.resize(end, 0);
        self.words.resize(end, 0);
    }

    /// Removes a passage that was deleted.
    pub fn remove(&mut self, passage: usize) {
        if self.doc(passage).is_some() {
            let session = self.session_number(passage);
            let place = place_of(&self.times, &self.docs);
            self.sessions.remove(session, number(passage), place);
            self.sessions.remove_words(session, self.length(passage));
            set(&mut self.session_numbers, passage, 0);
            self.count -= 1;
            self.length_sum -= u64::from(self.length(passage));
            set(&mut self.docs, passage, 0);
            set(&mut self.reciprocals, passage, 0.0);
            debug_assert!(
                self.count > 0 || self.length_sum == 0,
                "no passage is left, but words are"
            );
        }
    }

    /// How many passages there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The average length of a passage.
    pub fn average_length(&self) -> f64 {
        if self.count == 0 { 1.0 } else { (self.length_sum as f64 / self.count as f64).max(1.0) }
    }

    pub fn sessions(&self) -> &SessionTable {
        &self.sessions
    }

    /// The number of a passage's session in [`Self::sessions`]; 0 for none.
    pub fn session_number(&self, passage: usize) -> usize {
        self.session_numbers.get(passage).map_or(0, |number| *number as usize)
    }

    /// The document of a passage; none if there is no such passage.
    pub fn doc(&self, passage: usize) -> Option<i64> {
        self.docs.get(passage).filter(|doc| **doc != 0).map(|doc| i64::from(*doc))
    }

    pub fn length(&self, passage: usize) -> u16 {
        self.lengths.get(passage).copied().unwrap_or_default()
    }

    /// How many words its document has.
    pub fn words(&self, passage: usize) -> u16 {
        self.words.get(passage).copied().unwrap_or_default()
    }

    /// The session that its document is a part of; 0 for none.
    pub fn session(&self, passage: usize) -> u32 {
        self.sessions.id(self.session_number(passage))
    }

    pub fn project(&self, passage: usize) -> i64 {
        self.projects.get(passage).copied().map_or(0, i64::from)
    }

    /// The runs of this project's passages within `part`.
    pub fn of_project(
        &self,
        project: i64,
        part: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> {
        let all = u32::try_from(project).ok().and_then(|project| self.runs.get(&project));
        within(all, part)
    }

    /// The runs of passages of this kind within `part`. Types of observations have none.
    pub fn of_kind(
        &self,
        kind: RecordKind,
        part: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> {
        within(self.runs_of_kinds.get(&kind), part)
    }

    /// The passages of this project that are talk, in ascending order. Some of them may be deleted.
    pub fn talk_of(&self, project: i64) -> impl DoubleEndedIterator<Item = usize> {
        let all = u32::try_from(project).ok().and_then(|project| self.talk.get(&project));
        let all = all.map(Vec::as_slice).unwrap_or_default();
        all.iter().filter_map(|passage| usize::try_from(*passage).ok())
    }

    /// When its document happened: milliseconds since 1970, UTC, to the second.
    pub fn at(&self, passage: usize) -> i64 {
        self.times.get(passage).copied().map_or(0, |seconds| i64::from(seconds) * 1_000)
    }

    pub fn kind(&self, passage: usize) -> Option<RecordKind> {
        self.kinds.get(passage).copied()
    }

    /// The vectors from this passage on, with the reciprocals of their lengths.
    pub fn vectors(&self, from: usize, most: usize) -> (&[[i8; DIMENSIONS]], &[f32]) {
        let end = from.saturating_add(most).min(self.cells.len());
        (
            self.cells.get(from..end).unwrap_or_default(),
            self.reciprocals.get(from..end).unwrap_or_default(),
        )
    }

    /// The vector of a passage; none if it has none.
    pub fn vector(&self, passage: usize) -> Option<Vector> {
        Vector::from_parts(*self.cells.get(passage)?, *self.reciprocals.get(passage)?)
    }

    /// All passages of the document that this one belongs to; their numbers are consecutive.
    pub fn siblings(&self, passage: usize) -> Range<usize> {
        let doc = self.doc(passage);
        let same = |other: &usize| doc.is_some() && self.doc(*other) == doc;
        let first = (0..passage).rev().take_while(same).last().unwrap_or(passage);
        let last = (passage + 1..self.end()).take_while(same).last().unwrap_or(passage);
        first..last + 1
    }

    /// The first passages of the previous and the next document of the session, whatever their numbers are.
    pub fn neighbours(&self, passage: usize) -> [Option<usize>; 2] {
        let own = number(self.siblings(passage).start);
        let place = place_of(&self.times, &self.docs);
        self.sessions
            .neighbours(self.session_number(passage), own, place)
            .map(|other| usize::try_from(other?).ok())
    }
}

/// Returns a function from the first passage of a document to the document's position in its session.
fn place_of(times: &[u32], docs: &[u32]) -> impl Fn(u32) -> Place {
    |passage| {
        let at = |of: &[u32]| {
            usize::try_from(passage).ok().and_then(|at| of.get(at)).copied().unwrap_or_default()
        };
        (at(times), at(docs), passage)
    }
}

/// Adds a passage that comes after all others to runs.
fn extend(runs: &mut Vec<Range<usize>>, passage: usize) {
    match runs.last_mut().filter(|run| run.end == passage) {
        Some(run) => run.end += 1,
        None => runs.push(passage..passage + 1),
    }
}

/// The parts of sorted runs that are within `part`.
fn within(
    runs: Option<&Vec<Range<usize>>>,
    part: Range<usize>,
) -> impl Iterator<Item = Range<usize>> {
    let all = runs.map(Vec::as_slice).unwrap_or_default();
    let first = all.partition_point(|run| run.end <= part.start);
    let these = all.iter().skip(first).take_while(move |run| run.start < part.end);
    these.map(move |run| run.start.max(part.start)..run.end.min(part.end))
}

/// The number of a passage or session in four bytes; 0, which is no valid number, if it does not fit.
fn number(of: usize) -> u32 {
    u32::try_from(of).unwrap_or_default()
}

fn set<T>(values: &mut [T], at: usize, value: T) {
    if let Some(place) = values.get_mut(at) {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_catalogue_whose_parts_do_not_fit_is_unsound() {
        let broken: [fn(&mut Passages); 10] = [
            |known| known.times.push(0),
            |known| known.words.push(0),
            |known| known.reciprocals.push(1.0),
            |known| (known.cells, known.reciprocals) = (vec![[0; DIMENSIONS]; 9], vec![0.0; 9]),
            |known| known.count = 1,
            |known| known.length_sum = 1,
            |known| drop(known.runs.insert(1, vec![Range { start: 1, end: 1 }, 2..3])),
            |known| drop(known.runs.insert(1, vec![2..3, 0..1])),
            |known| drop(known.runs_of_kinds.insert(RecordKind::at(99), vec![2..3, 0..1])),
            |known| drop(known.talk.insert(1, vec![2, 1])),
        ];
        let mut known = Passages::default();
        known.grow(3);
        assert!(known.is_sound());
        for (at, damage) in broken.into_iter().enumerate() {
            let mut known = Passages::default();
            known.grow(3);
            damage(&mut known);
            assert!(!known.is_sound(), "{at}");
        }
    }
}
