//! The index on passages that are made up here.

mod bm25;
mod catalogue;
mod filter;
mod nearest;
mod postings;
mod recipe;

use meaning::Vector;
use model::observation::ObsType;

use crate::postings::{self as lists, Division, TermLists};
use crate::{PassageRow, Passages};

/// Few passages, and several blocks of them.
const DIVISION: Division = Division { block: 16 };

/// A passage that is a document of its own.
fn row(id: usize) -> PassageRow {
    PassageRow {
        id,
        doc: u32::try_from(1_000 + id).unwrap(),
        session: 7,
        project: 1,
        at: u32::try_from(id).unwrap(),
        kind: ObsType::Command.into(),
        length: 10,
        words: 10,
        vector: None,
    }
}

fn passages(rows: impl IntoIterator<Item = PassageRow>) -> Passages {
    let mut passages = Passages::default();
    rows.into_iter().for_each(|row| passages.add(row));
    assert!(passages.is_sound());
    passages
}

/// The lists of a term that these passages have, each once.
fn term(of: &[usize]) -> TermLists {
    let mut found: Vec<(usize, Vec<u8>)> = Vec::new();
    for passage in of {
        let (block, place) = DIVISION.place_of(*passage);
        if found.last().is_none_or(|(last, _)| *last != block) {
            found.push((block, lists::empty()));
        }
        lists::push(&mut found.last_mut().unwrap().1, place, lists::ONE_WORD);
    }
    TermLists { division: DIVISION, lists: found }
}

/// Texts of two subjects, far from each other in meaning.
const NEAR: &str = "the database index of the search engine";
const FAR: &str = "a sunny holiday at the beach";

fn vector(text: &str) -> Vector {
    Vector::of(text).unwrap()
}
