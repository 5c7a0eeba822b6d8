//! The catalogue of passages: totals, sessions, projects and vectors through additions and removals.

use super::{FAR, NEAR, passages, row, vector};
use crate::{PassageRow, Passages};

/// Passages of two documents in session 7: 1 and 2 of the first, 3 of the second; then one without a session.
fn known() -> Passages {
    passages([
        PassageRow { doc: 50, length: 4, words: 9, ..row(1) },
        PassageRow { doc: 50, length: 5, words: 9, ..row(2) },
        PassageRow { length: 12, ..row(3) },
        PassageRow { session: 0, project: 2, length: 7, ..row(5) },
    ])
}

#[test]
fn totals_follow_additions_and_removals() {
    let mut known = known();
    assert_eq!((known.end(), known.count(), known.average_length()), (6, 4, 7.0));
    assert_eq!((known.words(2), known.words(4), known.length(3)), (9, 0, 12));
    assert_eq!(
        (known.doc(2), known.doc(4), known.doc(0), known.doc(99)),
        (Some(50), None, None, None)
    );
    known.remove(3);
    known.remove(3);
    assert_eq!((known.count(), known.doc(3), known.session(3)), (3, None, 0));
    assert!((known.average_length() - 16.0 / 3.0).abs() < 1e-12 && known.is_sound());
    let none = Passages::default();
    assert_eq!((none.end(), none.count(), none.average_length()), (1, 0, 1.0));
    let empty = passages([PassageRow { length: 0, ..row(1) }]);
    assert_eq!(empty.average_length(), 1.0, "a length of 0 divides by nothing");
}

#[test]
fn a_passage_of_no_document_is_unused() {
    let mut known = passages([PassageRow { doc: 0, ..row(1) }, row(2)]);
    known.learn(1, &vector(NEAR));
    known.remove(1);
    assert_eq!((known.count(), known.vector(1), known.session(1)), (1, None, 0));
    assert_eq!(known.neighbours(2), [None, None]);
    assert_eq!(known.sessions().lengths(), [0, 10]);
    assert!(known.is_sound());
}

#[test]
fn the_passages_of_a_document_are_siblings() {
    let mut known = known();
    assert_eq!((known.siblings(1), known.siblings(2), known.siblings(3)), (1..3, 1..3, 3..4));
    assert_eq!(known.siblings(4), 4..5, "an unused number has none");
    known.remove(2);
    assert_eq!((known.siblings(1), known.siblings(2)), (1..2, 2..3));
}

#[test]
fn the_neighbours_of_a_document_are_the_next_ones_in_time_of_its_session() {
    let late = |id: usize, at: u32| PassageRow { at, ..row(id) };
    let other = PassageRow { session: 8, at: 25, ..row(5) };
    let none = PassageRow { session: 0, at: 26, ..row(6) };
    let mut known = passages([late(1, 10), late(2, 30), late(3, 20), late(4, 30), other, none]);
    assert_eq!(known.neighbours(1), [None, Some(3)]);
    assert_eq!(known.neighbours(3), [Some(1), Some(2)]);
    assert_eq!(known.neighbours(2), [Some(3), Some(4)], "of equal times, the older record first");
    assert_eq!((known.neighbours(5), known.neighbours(6)), ([None; 2], [None; 2]));
    known.remove(3);
    assert_eq!((known.neighbours(1), known.neighbours(2)), ([None, Some(2)], [Some(1), Some(4)]));
    // Any passage of a document leads to the first ones of the others.
    let known = self::known();
    assert_eq!((known.neighbours(2), known.neighbours(3)), ([None, Some(3)], [Some(1), None]));
}

#[test]
fn the_runs_of_a_project_are_clipped_to_the_part() {
    let of = |id: usize| PassageRow { project: 1 + u32::from(id.is_multiple_of(4)), ..row(id) };
    let known = passages((1..=11).map(of));
    let runs = |project: i64, part| known.of_project(project, part).collect::<Vec<_>>();
    assert_eq!(runs(1, 0..99), [1..4, 5..8, 9..12]);
    assert_eq!(runs(1, 2..6), [2..4, 5..6]);
    assert_eq!(runs(1, 4..5), [0..0; 0]);
    assert_eq!(runs(2, 0..9), [4..5, 8..9]);
    assert_eq!((runs(3, 0..99), runs(-1, 0..99)), (vec![], vec![]));
    assert_eq!((known.project(4), known.project(5), known.project(99)), (2, 1, 0));
}

#[test]
fn vectors_are_read_from_any_passage_on() {
    let mut known = known();
    assert_eq!(known.vectors(0, 9).1, [0.0; 0], "without any vector there is no room for them");
    known.learn(2, &vector(NEAR));
    known.learn(99, &vector(FAR));
    let (cells, reciprocals) = known.vectors(1, 9);
    assert_eq!((cells.len(), reciprocals.len(), reciprocals[0]), (2, 2, 0.0));
    assert_eq!((&cells[1], reciprocals[1]), (vector(NEAR).cells(), vector(NEAR).reciprocal()));
    assert_eq!((known.vectors(2, 0).1.len(), known.vectors(2, 1).1.len()), (0, 1));
    assert_eq!((known.vector(1), known.vector(2)), (None, Some(vector(NEAR))));
    known.remove(2);
    assert_eq!(known.vector(2), None);
}

#[test]
fn a_catalogue_is_newer_than_a_snapshot_with_fewer_passages_or_changes() {
    let mut known = Passages::after_changes(3);
    known.add(row(1));
    known.add(row(2));
    assert_eq!(known.changes(), 3);
    assert!(known.is_after(2, 3) && known.is_after(1, 3) && known.is_after(9, 2));
    assert!(!known.is_after(3, 3) && !known.is_after(1, 4));
}
